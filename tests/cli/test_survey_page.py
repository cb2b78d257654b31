"""`sfumato survey page` and `words`: a design in, a page or a sheet of paper out, in English or in other words."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Call


def test_the_command_writes_page_and_sheet(call: Call) -> None:
    """From a design file to both, and a refusal in words."""
    assert call("survey", "design", "--question", "smoker=yes-no", "--odds", "3").code == 0
    made = call("survey", "page", "survey.toml", "--output", "survey.html", "--collect", "https://survey.example/r")
    assert made.code == 0 and "page: survey.html" in made.err
    text = Path("survey.html").read_text("utf-8")
    assert "connect-src https://survey.example/r;" in text and "Toss a coin" in text
    assert call("survey", "page", "--paper", "-o", "sheet.html").code == 0
    refused = call("survey", "page", "--paper")
    assert refused.code == 2 and "or --force" in refused.err
    both = call("survey", "page", "--paper", "--collect", "https://survey.example/r", "-o", "x.html")
    assert both.code == 2 and "--paper takes neither" in both.err


def test_the_words_of_a_page_are_written_translated_and_used(call: Call) -> None:
    """A phrase that is forgotten is named; the hint says what helps."""
    assert call("survey", "design", "--question", "smoker=yes-no", "--odds", "3").code == 0
    made = call("survey", "words", "-o", "de.toml")
    assert made.code == 0 and "sfumato survey page --words de.toml" in made.err
    again = call("survey", "words", "-o", "de.toml", "--quiet")
    assert again.code == 0 and again.err == ""  # the same file
    words = Path("de.toml").read_text("utf-8").replace('language = "en"', 'language = "de"')
    Path("de.toml").write_text(words.replace('"Randomize my answers"', '"Antworten verändern"'), "utf-8")
    assert call("survey", "words", "-o", "de.toml").code == 2
    for options in (("-o", "page.html"), ("-o", "sheet.html", "--paper")):
        assert call("survey", "page", "--words", "de.toml", *options).code == 0
        assert '<html lang="de">' in Path(options[1]).read_text("utf-8")
    assert ">Antworten verändern<" in Path("page.html").read_text("utf-8")
    Path("de.toml").write_text(words.replace("copied =", "kopiert ="), "utf-8")
    refused = call("survey", "page", "--words", "de.toml", "--force")
    assert refused.code == 2 and "unknown phrase 'kopiert'" in refused.err
