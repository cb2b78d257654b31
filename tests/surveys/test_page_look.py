"""A survey's page for the eye, the keyboard, a screen reader, a phone and a printer; and the sheet of paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import sfumato as sf
from browser import started, visited
from sfumato.surveys.web.by_hand import on_paper, rule
from sfumato.surveys.web.collector import read_collector
from sfumato.surveys.web.document import MOST_LISTED
from sfumato.surveys.web.promise import said_chance, said_odds
from sfumato.surveys.web.words import english
from surveys.pages import VECTORS, answer, every_kind, ready, report

# Texts whose contrast with what lies behind them is below 4.5 : 1 (WCAG 2.2, level AA); what is locked is exempt.
FAINT = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  let seen = 0;
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some((each) => each.nodeType === 3 && each.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(":disabled") || element.closest("svg")) continue;
    seen++;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push([element.textContent.slice(0, 40), ratio]);
  }
  return [seen, faint];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sf.survey.page(every_kind(), tmp_path_factory.mktemp("page") / "survey.html", language="de")


def check_layout(page: Page) -> None:
    """Nothing is wider than the screen, and every text can be read."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen, faint = page.evaluate(FAINT)
    assert seen > 20 and faint == []


@pytest.mark.parametrize("width", [1100, 360, 320])
def test_a_page_fits_its_screen_and_can_be_read(browser: Browser, path: Path, width: int) -> None:
    """Before and after; with the trial open, whose words keep their size on a phone."""
    with visited(browser, path, width=width) as (page, amiss):
        ready(page)
        check_layout(page)
        answer(page)
        report(page)
        page.click("#trial summary")
        page.click("#ask")
        check_layout(page)
        assert re.fullmatch(r"True: 30\.0.%\. Sent: .*\. Estimated: .* ± .*\.", page.inner_text("#trial-told"))
        size = page.evaluate("document.querySelector('#chart text').getBoundingClientRect().height")
        assert size > 12 and page.locator("#chart svg[role=img]").count() == 1
        assert amiss == []


def test_a_page_can_be_used_by_keyboard_and_screen_reader(browser: Browser, path: Path) -> None:
    """Every control has its label, every group its question and promise; a visit needs no mouse."""
    with visited(browser, path) as (page, _):
        ready(page)
        assert page.get_attribute("html", "lang") == "en" and page.get_attribute("h1", "lang") == "de"
        labels = page.evaluate("[...document.querySelectorAll('input, select, textarea')].map((e) => e.labels.length)")
        assert len(labels) > 15 and set(labels) == {1}
        for each in page.locator("fieldset").all():
            assert each.locator("legend").inner_text()
            for name in (each.get_attribute("aria-describedby") or "").split():
                assert page.locator(f"#{name}").count() == 1
        assert page.get_by_role("group", name="Do you smoke?").count() == 1
        page.locator("#q0 input").first.focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("#q0 input:checked").get_attribute("value") == "1"
        page.locator("#randomize").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert page.locator("#report").is_visible()
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids))


def test_long_lists_unfold_and_boxes_stand_in_columns(browser: Browser, tmp_path: Path) -> None:
    """A thousand answers to choose from; the one chosen is the one that is read."""
    survey = sf.survey.design(
        "Long",
        [
            sf.survey.one_of("dish", "Which dish?", [f"dish {i}" for i in range(1000)]),
            sf.survey.several_of("shops", "Which shops?", [f"shop {i}" for i in range(40)], most=3),
        ],
        epsilon=2,
    )
    with visited(browser, sf.survey.page(survey, tmp_path / "long.html"), width=360) as (page, amiss):
        ready(page)
        page.locator("#q0 select").select_option(label="dish 700")
        page.locator("#q1").get_by_label("shop 39").check()
        assert (
            page.evaluate("(q) => Visit.read({ ...q, id: 'q0' }).place", {"kind": "one-of", "answers": ["?"] * 1000})
            == 700
        )
        sent = report(page)
        check_layout(page)
        assert page.locator("td.own").all_inner_texts() == ["dish 700", "shop 39"]
        assert amiss == []
    for item in survey.items:
        assert item.receive([sent[item.name]]).shape[0] == 1


def visible(page: Page) -> str:
    return page.evaluate("document.body.innerText")


def test_what_is_printed_is_the_sheet_alone(browser: Browser, path: Path, tmp_path: Path) -> None:
    """Nothing that was answered is on paper; a survey for which there is no sheet is printed as it stands."""
    with visited(browser, path) as (page, _):
        ready(page)
        answer(page)
        report(page)
        assert page.locator(".sheet").is_hidden()
        page.emulate_media(media="print")
        assert page.locator(".sheet").is_visible() and page.locator("main").is_hidden()
        text = visible(page)
        assert "Toss a coin. Heads: tick your own answer." in text and "Do you smoke?" in text
        assert "1225" not in text and "What is sent" not in text
        assert "4 of the survey's questions need other chances" in text
    survey = sf.survey.design("Rent", [sf.survey.number("rent", "Your rent?", (0, 3000))], epsilon=1)
    with visited(browser, sf.survey.page(survey, tmp_path / "rent.html")) as (page, _):
        assert page.locator(".sheet").count() == 0
        page.click("text=On paper?")
        assert "chances that coins and dice do not give" in page.inner_text("main")
        page.emulate_media(media="print")
        assert page.locator("main").is_visible()


def test_the_sheet_alone_has_no_script(browser: Browser, tmp_path: Path) -> None:
    """And its policy admits none."""
    survey = sf.survey.design("Health", [sf.survey.yes_no("smoker", "Do you smoke?", truth=0.5)])
    sheet = sf.survey.paper(survey, tmp_path / "sheet.html")
    assert "<script" not in sheet.read_text("utf-8") and "script-src 'none'" in sheet.read_text("utf-8")
    with visited(browser, sheet) as (page, amiss):
        assert page.locator(".sheet .box").count() == 2 and amiss == []
        assert "at most 75\N{NO-BREAK SPACE}% certain (odds of 3 to 1, epsilon 1.099)" in visible(page)


@pytest.mark.parametrize(("answers", "odds", "own"), [(2, 2, 4), (2, 5, 5), (3, 4, 4), (4, 3, 3), (5, 2, 2)])
def test_a_die_gives_the_chances_of_the_design(answers: int, odds: int, own: int) -> None:
    """Of six faces so many are the own answer, and equally many each other: in the ratio of the odds, all used."""
    item = response(answers, Fraction(odds))
    words = rule(item, english()) or ""
    faces = [
        [*range(int(start), int(end or start) + 1)]
        for start, _, end in re.findall(r"(\d)( or | to )?(\d)?: tick", words)
    ]
    assert [face for each in faces for face in each] == [1, 2, 3, 4, 5, 6] and len(faces) == answers
    assert len(faces[0]) == own and {len(each) * odds for each in faces[1:]} == {own}
    assert item.mechanism.agree == Fraction(own, 6)


def response(answers: int, odds: Fraction) -> sf.survey.Item:
    mechanism = sf.mechanisms.BlockResponse(20, tuple("abcdef"[:answers]), odds=odds)
    question = sf.survey.one_of("q", "?", tuple("abcdef"[:answers]))
    return sf.survey.Item(question, Fraction(20), mechanism)


def test_coins_give_the_chances_of_the_design() -> None:
    """Heads, or tails and the coin that says so: three of four cases for two answers, two for three."""
    assert response(2, Fraction(3)).mechanism.agree == Fraction(1, 2) + Fraction(1, 4)
    assert "“a” for heads, “b” for tails" in (rule(response(2, Fraction(3)), english()) or "")
    assert response(3, Fraction(2)).mechanism.agree == Fraction(1, 2)
    assert "the first of the other two answers for heads" in (rule(response(3, Fraction(2)), english()) or "")


@pytest.mark.parametrize("item", [response(2, Fraction(4)), response(2, Fraction(31, 10)), response(3, Fraction(3)),
                                  response(2, 3 - Fraction(1, 10**15)), every_kind().items[4]])  # fmt: skip
def test_other_chances_are_not_offered_on_paper(item: sf.survey.Item) -> None:
    """Nor are odds below those of the coin: paper would tell more than was promised."""
    assert rule(item, english()) is None


def test_a_survey_that_draws_its_question_is_not_on_paper() -> None:
    """And a sheet without questions is refused with words."""
    coins = [sf.survey.yes_no(name, truth=0.5) for name in ("a", "b")]
    assert on_paper(sf.survey.design("Two", coins, ask="one")) == ()
    assert len(on_paper(sf.survey.design("Two", coins))) == 2
    with pytest.raises(sf.errors.InvalidArgument, match="questions for two coins or a die"):
        sf.survey.paper(sf.survey.design("Two", coins, ask="one"), "never.html")


@pytest.mark.parametrize("address", [
    "http://survey.example/x", "https://a b/", "https://a;b/", "https://u:p@a.example/", "https://a.example/?who=me",
    "https://a.example/#x", "ftp://a.example/", "javascript:alert(1)", "https://a.example/'none'", "https://a.example/x,y",
    "//a.example", "", "https://a.example:99999/", "https://*.example/", "https://a.example/\n",
])  # fmt: skip
def test_a_collector_that_is_no_plain_address_is_refused(address: str) -> None:
    """Neither an open line nor anything that would widen the policy."""
    with pytest.raises(sf.errors.InvalidArgument, match="collect must be an https address"):
        read_collector(address)


def test_every_mechanism_has_its_chance_in_words() -> None:
    """One sentence each, with a percentage that lies between 0 and 100."""
    words = {}
    for each in VECTORS["vectors"]:
        item = sf.surveys.design_file._item({**each["question"], "text": "What?"})
        words[item.oracle] = said_chance(item, english())
        assert all(0 < float(part) < 100 for part in re.findall(r"([\d.]+)\N{NO-BREAK SPACE}%", words[item.oracle]))
    assert len(words) == 10 and len(set(words.values())) == 10
    for epsilon, grade in ((0.3, "learns little"), (1, "may suspect"), (2, "can guess"), (6, "protects little")):
        assert grade in said_odds(Fraction(str(epsilon)), english())


def test_what_a_page_cannot_show_is_refused(tmp_path: Path) -> None:
    """Too many answers; another file in its place; a name that is no page."""
    many = sf.survey.design("Many", [sf.survey.one_of("q", "?", [str(i) for i in range(MOST_LISTED + 1)])], epsilon=1)
    with pytest.raises(sf.errors.InvalidArgument, match="at most 5,000 answers"):
        sf.survey.page(many, tmp_path / "many.html")
    file = sf.survey.page(every_kind(), tmp_path / "survey.html")
    sf.survey.page(every_kind(), file)  # the same again
    with pytest.raises(sf.errors.InvalidArgument, match="must not be there already"):
        sf.survey.page(every_kind(), file, period="2027")
    for path in (tmp_path / "survey.toml", tmp_path / "none" / "survey.html", tmp_path):
        with pytest.raises(sf.errors.InvalidArgument):
            sf.survey.page(every_kind(), path)
    for options in ({"language": 'en"'}, {"period": "two\nlines"}, {"period": ""}):
        with pytest.raises(sf.errors.InvalidArgument):
            sf.survey.page(every_kind(), tmp_path / "other.html", **options)
