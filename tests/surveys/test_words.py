"""The page and the sheet in other words: all of them, no English left, and read from the right where that is so."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import sfumato as sf
from browser import started, visited
from sfumato.errors import InvalidArgument, SfumatoError, SourceNotFound
from sfumato.surveys.web.document import page_text, paper_text
from sfumato.surveys.web.files import read
from sfumato.surveys.web.words import english, read_words
from surveys.pages import every_kind, ready

LETTERS = re.compile(r"\{[a-z]+\}|[A-Za-z]")
PARTS = re.compile(r"\{[a-z]+\}")
LEFT = re.compile("[A-Za-z]{2,}")
TAGS = re.compile(r"<(style|script|code)\b.*?</\1>|<span class=\"hash\">.*?</span>|<[^>]*>", re.DOTALL)
SIGN = "ж"
Change = Callable[[str], str]


def in_signs(phrase: str) -> str:
    """A translation that can be told from English: every letter is another one."""
    return LETTERS.sub(lambda found: found[0] if len(found[0]) > 1 else SIGN, phrase)


def write(folder: Path, change: Change = in_signs, language: str = "uk", **other: Any) -> Path:
    """A file of words, each changed."""
    tables = {name: {key: change(text) for key, text in table.items()} for name, table in english().tables.items()}
    lines = [f"language = {json.dumps(language)}", *(f"{key} = {json.dumps(value)}" for key, value in other.items())]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in table.items())]
    (folder / "words.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder / "words.toml"


def designs() -> Iterator[sf.survey.Design]:
    """Every oracle and every shape of a page, without a Latin letter of their own."""
    ask = sf.survey
    many = [f"α{i}" for i in range(1, 31)]
    for oracle in ("response", "subset", "projective", "hadamard", "unary"):
        yield ask.design("Α", [ask.one_of("q", "Β?", many[:9])], 1, oracles={"q": oracle})
    for oracle in ("one-box", "every-box", "padded"):
        yield ask.design("Α", [ask.several_of("q", "Β?", many, most=2)], 1, oracles={"q": oracle})
    for oracle in ("duchi", "piecewise", "laplace"):
        yield ask.design("Α", [ask.number("q", "Β?", (0, 3)), ask.one_of("r", "Γ?", many)], 20, oracles={"q": oracle})
    coins = ask.yes_no("q", "Β?", ["α", "β"], truth=0.5)
    yield ask.design("Α", [coins])
    yield ask.design("Α", [coins, ask.yes_no("r", "Γ?", ["α", "β"], keep=5 / 6)])
    yield ask.design("Α", [coins, *(ask.yes_no(f"r{i}", "Γ?", ["α", "β"], keep=0.6) for i in range(3))])
    yield ask.design("Α", [ask.one_of(f"q{n}", "Β?", many[:n]) for n in (3, 4)], 2, ask="one")


def visible(text: str) -> str:
    return html.unescape(TAGS.sub(" ", text))


def test_nothing_in_english_is_left(tmp_path: Path) -> None:
    """Of pages and sheets for all oracles; and English words are found by this test."""
    words, sheets = write(tmp_path), 0
    for survey in designs():
        for options in ({}, {"period": "1", "collect": "https://x.example/"}):
            page = page_text(survey, words=words, **options)
            assert '<html lang="uk">' in page and not LEFT.search(visible(page)), LEFT.search(visible(page))
            assert LEFT.search(visible(page_text(survey, **options)))
        if 'class="sheet"' in page:
            sheets += 1
            assert not LEFT.search(visible(paper_text(survey, words=words)))
    assert sheets == 3


def test_every_phrase_is_said_somewhere() -> None:
    """A key that nothing says would be translated for nothing; one that the script alone knows would fail there."""
    code = "".join(file.read_text("utf-8") for file in (Path(sf.__file__).parent / "surveys/web").glob("*.py"))
    templates, scripts = read("visit.html") + read("sheet.html"), read("visit.js") + read("trial.js")
    for table, phrases in english().tables.items():
        for key in phrases:
            in_code = f'"{key}"' in code or f"'{key}'" in code or re.search(rf"\${key}\b", templates)
            in_script = f'"{key}"' in scripts or f"words.{key}" in scripts
            assert in_script if table == "script" else in_code or key.startswith("die_other_"), key
    said = set(re.findall(r'say\("(\w+)"', scripts)) - {"you_answered", "sent"}
    assert said <= set(english().tables["script"]) and len(said) > 30
    keys = [key for phrases in english().tables.values() for key in phrases]
    assert len(keys) == len(set(keys))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


def test_a_visit_is_in_the_words_of_the_file(browser: Browser, tmp_path: Path) -> None:
    """Whatever the page says on the way: what is amiss, the report, copies, the simulation."""
    ask = sf.survey
    questions = [
        ask.yes_no("a", "Β?", ["α", "β"], truth=0.5), ask.several_of("b", "Γ?", ["α", "β", "γ"], most=2),
        ask.number("c", "Δ?", (0, 10)), ask.one_of("d", "Ε?", ["α", "β", "γ"], skip="private"),
    ]  # fmt: skip
    file = ask.page(ask.design("Α", questions, 4), tmp_path / "page.html", words=write(tmp_path))
    with visited(browser, file) as (page, amiss):
        ready(page)
        said = []

        def look(*waited: str) -> None:
            for each in waited:
                page.wait_for_selector(f"{each}:not([hidden]):has-text('{SIGN}')")
            said.append(page.inner_text("main"))

        page.click("#randomize")
        look("#amiss")
        page.fill("#q2 input", "x")
        page.click("#randomize")
        look("#q2-error")
        page.fill("#q2 input", "3")
        page.locator("#q1 input").first.check()
        page.click("#randomize")
        page.click("#randomize")
        look("#report", ".means")
        page.click("#forget")
        look("#told")
        page.click("#copy")
        look("#told")
        page.click("#trial summary")
        page.click("#ask")
        look("#trial-told", "#share-out", "#chart text")
        digits = page.inner_text(".hash >> nth=0")
        for text in said:
            assert not LEFT.search(text.replace(digits, "")), LEFT.search(text.replace(digits, ""))
        assert amiss == []


def test_a_page_is_read_from_the_right_where_its_language_is(browser: Browser, tmp_path: Path) -> None:
    """The whole page turns around, what it shows of others keeps its direction, its digits are read; all is seen."""
    survey = every_kind()
    words = write(tmp_path, lambda text: "كلمة " + " ".join(PARTS.findall(text)), "ar")
    file = sf.survey.page(survey, tmp_path / "page.html", words=words, language="en")
    assert '<html lang="ar" dir="rtl">' in file.read_text("utf-8")
    assert read_words(words).text("tick_most", most=2) == "كلمة \u20682\u2069"
    for width in (1000, 360):
        with visited(browser, file, width=width) as (page, amiss):
            ready(page)
            box, legend = (page.locator(each).first.bounding_box() for each in ("#q0 input", "#q0 label span"))
            assert box is not None and legend is not None and box["x"] > legend["x"]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.get_attribute("#q0 .asked", "lang") == "en" and amiss == []
            for typed, read in (("٧٥٠٫٥", 15), ("۱۲۰۰", 24), ("750", 15), ("٧٥٠٠", None)):
                page.fill("#q4 input", typed)
                asked = {"id": "q4", "kind": "number", "low": "0", "high": "3000", "steps": 60}
                assert page.evaluate("(asked) => Visit.read(asked).place ?? null", asked) == read
            page.click("#trial summary")
            page.click("#ask")
            starts = "[...document.querySelectorAll('#chart text')].map((each) => each.getBoundingClientRect().x)"
            assert min(page.evaluate(starts)) >= 0


def test_words_are_texts_whatever_they_hold(browser: Browser, tmp_path: Path) -> None:
    """No markup, no template, no script."""
    evil = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\"> $hash ${1} "
    survey = sf.survey.design("Α", [sf.survey.yes_no("a", "Β?", ["α", "β"], truth=0.5)])
    words = write(tmp_path, lambda text: evil + " ".join(PARTS.findall(text)))
    with visited(browser, sf.survey.page(survey, tmp_path / "page.html", words=words)) as (page, amiss):
        ready(page)
        assert page.title() == "Α" and page.locator("img").count() == 0 and amiss == []
        assert evil.strip() in page.inner_text("#randomize") and evil.strip() in page.inner_text("#checked")


def test_the_file_to_translate_says_what_a_page_says(tmp_path: Path) -> None:
    """As it is written it changes nothing; one that is there is not replaced."""
    survey = every_kind()
    file = sf.survey.words(tmp_path / "words.toml")
    assert page_text(survey, words=file) == page_text(survey) and paper_text(survey, words=file) == paper_text(survey)
    file.write_text(file.read_text("utf-8").replace('"en"', '"en-GB"'), "utf-8")
    assert 'lang="en-GB"' in page_text(survey, words=file)
    with pytest.raises(InvalidArgument, match="must not be there already"):
        sf.survey.words(file)
    with pytest.raises(InvalidArgument, match=r"ends in .toml"):
        sf.survey.words(tmp_path / "words.html")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('copy = "', 'copie = "', r"words.toml, \[page\]: unknown phrase 'copie'; did you mean 'copy'"),
        ('copy = "жжжж"\n', "", r"must have every phrase; got none for copy below \[page\]; translate them"),
        ("[paper]", "[papers]", r"words.toml: unknown phrase 'papers'; did you mean 'paper'"),
        ('copy = "жжжж"', "copy = 3", "words.toml, copy must be a text of one line"),
        ('copy = "жжжж"', 'copy = " "', "words.toml, copy must be a text of one line"),
        ('copy = "жжжж"', 'copy = "ж\\u202eж"', "words.toml, copy must be a text of one line"),
        ('copy = "жжжж"', 'copy = "{ж} {own}"', r"words.toml, copy must have no part in braces in it; got \{own\}"),
        ("{most}", "", r"words.toml, tick_most must have \{most\} in it; got no part in braces; keep what stands in"),
        ('language = "uk"', 'language = "u\\"k"', "language must be a tag"),
        ('language = "uk"', "", "words.toml must say its language"),
        ('language = "uk"', 'language = "uk"\ndirection = "up"', "direction must be 'ltr' or 'rtl'; got 'up'"),
        ("[page]", "[page", "words.toml is not TOML: .*line 2"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    file = write(tmp_path)
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SfumatoError, match=words):
        page_text(every_kind(), words=file)


def test_many_that_are_missing_are_counted(tmp_path: Path) -> None:
    (tmp_path / "words.toml").write_text('language = "de"\n[page]\nkicker = "x"\n')
    with pytest.raises(InvalidArgument, match=r"none for step_1, .* and \d+ more below \[page\]"):
        read_words(tmp_path / "words.toml")
    with pytest.raises(SourceNotFound, match=r"no file 'nowhere.toml' with words"):
        read_words("nowhere.toml")


@pytest.mark.parametrize(
    ("language", "other", "from_right"),
    [("ar", {}, True), ("fa-IR", {}, True), ("HE", {}, True), ("de", {}, False), ("az", {"direction": "rtl"}, True),
     ("ar", {"direction": "ltr"}, False)],
)  # fmt: skip
def test_the_direction_is_that_of_the_language(
    language: str, other: dict[str, str], from_right: bool, tmp_path: Path
) -> None:
    """Unless the file says another: some languages are written in two scripts."""
    assert read_words(write(tmp_path, language=language, **other)).is_from_right is from_right
