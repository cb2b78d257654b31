"""`sfumato survey page`: a design in, a page or a sheet of paper out."""

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
