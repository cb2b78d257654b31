"""A visit to a survey's page in a real browser: what is asked, shown, sent, kept; and what is refused."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import sfumato as sf
from browser import started, visited
from sfumato.surveys import design_file as written
from sfumato.surveys.web.files import read
from surveys.pages import answer, every_kind, ready, report

STORED = "() => [localStorage.length, sessionStorage.length, document.cookie, location.search, location.hash]"
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A page of a design, by default of every kind of question."""

    def make(survey: sf.survey.Design | None = None, **options: Any) -> Path:
        return sf.survey.page(survey or every_kind(), tmp_path / "survey.html", force=True, **options)

    return make


def one_question(text: str = "Do you smoke?", **options: Any) -> sf.survey.Design:
    return sf.survey.design("Health", [sf.survey.yes_no("smoker", text, truth=0.5, **options)])


def people(survey: sf.survey.Design, sent: list[dict[str, str]], **options: Any) -> int:
    """How many people Python estimates from: those of a page, and one whose answers Python randomized."""
    asked = [item.question for item in survey.items]
    answers = {each.name: 1 if isinstance(each, sf.survey.Number) else each.answers[0] for each in asked}
    found = sf.survey.estimate(survey, [*sent, sf.survey.randomize(survey, answers)], **options)
    return max(result.people for result in found.results.values())


def test_a_whole_visit(browser: Browser, write: Write) -> None:
    """Answers are read once, the report is shown beside them and taken by Python, and nothing else leaves or stays."""
    with visited(browser, write()) as (page, amiss):
        ready(page)
        assert page.locator("#refusal").is_hidden()
        assert "Checked: these digits match" in page.inner_text("#checked")
        answer(page)
        sent = report(page)
        assert page.locator(".own").all_inner_texts()[1:6] == ["no", "green", "good", "cough; rash", "1225"]
        assert page.evaluate(STORED) == [0, 0, "", "", ""]
        assert amiss == []
    survey = every_kind()
    assert list(sent) == ["design", "respondent", *(item.name for item in survey.items)]
    assert len(sent["respondent"]) == 16 and all(sent.values())
    assert people(survey, [sent]) == 2


def test_what_is_sent_follows_the_draws_alone(browser: Browser, write: Write) -> None:
    """With bytes of 0 every draw is 0: the report is the one that Python gives for those draws."""
    zeros = "crypto.getRandomValues = (bytes) => bytes.fill(0);"
    with visited(browser, write(), first=zeros) as (page, _):
        ready(page)
        answer(page)
        sent = report(page)
    survey = every_kind()
    assert sent["smoker"] == "1" and sent["respondent"] == "0" * 16
    for name, place in (("party", 1), ("health", 2)):
        assert sent[name] == str(survey.item(name).mechanism.output(place, 0))
    assert [survey.item(name).oracle for name in ("symptoms", "rent")] == ["one-box", "duchi"]
    assert (sent["symptoms"], sent["rent"]) == ("1", "1")  # box 0 as it is ticked; 0 is below the edge


def test_answers_are_locked_and_a_second_click_changes_nothing(browser: Browser, write: Write) -> None:
    """To draw again would give the answer away, by clicks of people and of programs."""
    with visited(browser, write()) as (page, _):
        ready(page)
        answer(page)
        sent = report(page)
        assert page.locator("#questions input:enabled, #questions select:enabled").count() == 0
        assert page.locator("#randomize").is_hidden()
        page.evaluate("() => { for (let i = 0; i < 50; i++) document.getElementById('randomize').click(); }")
        assert json.loads(page.input_value("#line")) == sent
        assert page.evaluate("document.activeElement.id") == "report-title"


def test_a_report_is_copied_downloaded_and_the_answers_are_cleared(browser: Browser, write: Write) -> None:
    """Files hold the report alone, and Python reads the CSV; cleared answers are nowhere on the page."""
    with visited(browser, write()) as (page, _):
        ready(page)
        answer(page)
        sent = report(page)
        with page.expect_download() as download:
            page.click("#download-json")
        assert json.loads(Path(download.value.path()).read_text("utf-8")) == sent
        assert download.value.suggested_filename == f"report-{sent['design']}.json"
        with page.expect_download() as download:
            page.click("#download-csv")
        rows = list(csv.DictReader(Path(download.value.path()).read_text("utf-8").splitlines()))
        assert rows == [sent] and people(every_kind(), rows) == 2
        page.click("#copy")
        page.wait_for_selector("#told:not([hidden])")
        page.click("#forget")
        assert page.locator("#questions input:checked").count() == 0
        assert page.locator("#questions input[type=text]").input_value() == ""
        assert "1225" not in page.inner_text("body") and page.locator(".own").count() == 0
        assert json.loads(page.input_value("#line")) == sent


@contextmanager
def collecting(statuses: list[int]) -> Iterator[tuple[str, list[tuple[str, dict[str, str], str]]]]:
    """A collector on this machine that answers with these statuses, and what came."""
    came: list[tuple[str, dict[str, str], str]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            self._answer(204)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            came.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self._answer(statuses.pop(0))

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "Content-Type")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/reports", came
    finally:
        server.shutdown()
        server.server_close()


def test_the_same_report_is_sent_again_after_a_failure(browser: Browser, write: Write) -> None:
    """Nothing is sent before the click; a failure is said; what was received is not sent twice."""
    with (
        collecting([500, 200]) as (address, came),
        visited(browser, write(collect=address), offline=False) as (page, _),
    ):
        ready(page)
        answer(page)
        sent = report(page)
        assert came == []
        page.click("#send")
        page.wait_for_selector("#told:has-text('answered 500')")
        assert page.inner_text("#send") == "Send the same report again"
        page.click("#send")
        page.wait_for_selector("#told:has-text('Received')")
        assert page.locator("#send").is_disabled()
        assert [json.loads(body) for _, _, body in came] == [sent, sent]
        for path, headers, _ in came:
            assert path == "/reports" and headers["content-type"] == "application/json"
            assert not {"cookie", "referer", "authorization"} & set(headers)
    twice = [json.loads(body) for _, _, body in came]
    with pytest.raises(sf.errors.Duplicated):
        people(every_kind(), twice)
    assert people(every_kind(), twice, duplicates="first") == 2


def test_a_page_reaches_its_collector_and_no_other_address(browser: Browser, write: Write) -> None:
    """The policy forbids the rest, also to a script that would try; a collector that is away is said to be."""
    with collecting([200]) as (other, came):
        path = write(collect="https://survey.invalid/reports")
        with visited(browser, path, offline=False) as (page, amiss):
            ready(page)
            answer(page)
            report(page)
            page.click("#send")
            page.wait_for_selector("#told:has-text('could not be reached')")
            for tried in (other, "https://survey.invalid/else"):
                script = "(url) => fetch(url, { method: 'POST' }).then(() => 'sent', () => 'refused')"
                assert page.evaluate(script, tried) == "refused"
            assert came == [] and sum("Content Security Policy" in each for each in amiss) >= 2


def test_empty_answers_are_sent_as_such_only_when_meant(browser: Browser, write: Write) -> None:
    """That a question was left out is seen, so the page asks once more; where this is private it is randomized."""
    with visited(browser, write()) as (page, _):
        ready(page)
        page.locator("#q0").get_by_label("yes", exact=True).check()
        page.click("#randomize")
        assert page.locator("#report").is_hidden()
        assert page.inner_text("#amiss").startswith("You did not answer 3 questions (3, 4, 5)")
        page.locator("#q3").get_by_label("none of these").check()
        page.click("#randomize")
        assert page.inner_text("#amiss").startswith("You did not answer 2 questions")
        sent = report(page)
    assert [name for name, text in sent.items() if not text] == ["health", "rent"]


def test_what_is_no_answer_is_refused_with_words(browser: Browser, write: Write) -> None:
    """A number beyond the bounds, too many boxes; and "none of these" goes with no other box."""
    with visited(browser, write()) as (page, _):
        ready(page)
        answer(page)
        page.locator("#q3").get_by_label("fever").check()
        page.locator("#q4 input").fill("3000.5")
        page.click("#randomize")
        assert page.locator("#report").is_hidden()
        assert page.inner_text("#q3-error") == "Tick at most 2."
        assert page.inner_text("#q4-error").startswith("Write one number within these bounds")
        assert page.get_attribute("#q4 input", "aria-invalid") == "true"
        page.locator("#q3").get_by_label("none of these").check()
        assert page.locator("#q3 input:checked").count() == 1
        page.locator("#q4 input").fill("3000")
        assert report(page)["rent"] in ("0", "1")


def test_one_question_is_drawn_where_each_device_asks_one(browser: Browser, write: Write) -> None:
    """The others are not shown and sent empty; bytes of 0 draw the first."""
    survey = sf.survey.design(
        "Two", [sf.survey.yes_no("a", "First?"), sf.survey.yes_no("b", "Second?")], epsilon=1, ask="one"
    )
    with visited(browser, write(survey), first="crypto.getRandomValues = (bytes) => bytes.fill(0);") as (page, _):
        ready(page)
        assert page.locator("#q0").is_visible() and page.locator("#q1").is_hidden()
        assert "One of 2 questions was chosen" in page.inner_text("#drawn")
        page.locator("#q0").get_by_label("yes", exact=True).check()
        sent = report(page)
    assert (sent["a"], sent["b"]) == ("0", "")


def test_within_a_period_the_same_report_is_sent_again(browser: Browser, write: Write) -> None:
    """What was sent is kept, never what was answered; another period draws anew."""
    path = write(one_question(), period="2027")
    with visited(browser, path) as (page, _):
        ready(page)
        assert "this browser stores what it sent" in page.inner_text("main")
        page.locator("#q0").get_by_label("no", exact=True).check()
        first = report(page)
        kept = page.evaluate("() => Object.entries(localStorage)")
        for _ in range(2):
            page.reload()
            page.wait_for_selector("#report:not([hidden])")
            again = json.loads(page.input_value("#line"))
            assert {**again, "respondent": ""} == {**first, "respondent": ""}
        assert page.locator("#questions").is_hidden() and page.locator("#randomize").is_hidden()
        survey = one_question()
        assert kept == [
            [f"sfumato {written.digest(survey)} 2027", json.dumps({"smoker": first["smoker"]}).replace(" ", "")]
        ]
        write(one_question(), period="2028")
        page.reload()
        ready(page)


def test_a_browser_that_cannot_remember_is_not_asked_to(browser: Browser, write: Write) -> None:
    """A survey that asks again would be answered with fresh noise each time: nothing is drawn."""
    broken = "Storage.prototype.setItem = () => { throw new Error('full'); };"
    with visited(browser, write(one_question(), period="2027"), first=broken) as (page, _):
        ready(page)
        page.locator("#q0").get_by_label("no", exact=True).check()
        page.click("#randomize")
        assert "cannot store what it sent" in page.inner_text("#refusal")
        assert page.locator("#report").is_hidden() and page.locator("#q0 input:enabled").count() == 0


@pytest.mark.parametrize("first", ["delete Crypto.prototype.getRandomValues;",
                                   "Object.defineProperty(globalThis, 'crypto', { value: undefined });"])  # fmt: skip
def test_a_browser_without_secure_chance_is_refused(browser: Browser, write: Write, first: str) -> None:
    """Nothing is asked, and no other generator is taken."""
    with visited(browser, write(), first=first) as (page, _):
        page.wait_for_selector("#refusal:has-text('no secure source of randomness')")
        assert page.locator("#questions input:enabled").count() == 0 and page.locator("#act").is_hidden()


def test_a_page_whose_design_or_script_was_changed_asks_nothing(browser: Browser, write: Write) -> None:
    """Other questions than those of the hash, and other lines than those that the policy admits."""
    path = write()
    text = path.read_text("utf-8")
    path.write_text(text.replace('"odds":["3","1"]', '"odds":["300","1"]'), "utf-8")
    with visited(browser, path) as (page, _):
        page.wait_for_selector("#refusal:has-text('not those of the published design')")
        assert page.locator("#questions input:enabled").count() == 0
    path.write_text(text.replace("crypto.getRandomValues(bytes)", "bytes.fill(0)"), "utf-8")
    with visited(browser, path) as (page, amiss):
        assert "has not started" in page.inner_text("#refusal")
        assert page.locator("#questions input:enabled").count() == 0
        assert any("Content Security Policy" in each for each in amiss)


def test_a_page_by_plain_http_says_that_it_cannot_check_itself(browser: Browser, write: Write) -> None:
    """Browsers have neither SHA-256 nor the clipboard there; drawing is secure all the same, and copying has a way."""
    text = write().read_text("utf-8")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.route("http://survey.invalid/**", lambda route: route.fulfill(body=text, content_type="text/html"))
        page.goto("http://survey.invalid/survey.html")
        ready(page)
        assert page.evaluate("[isSecureContext, crypto.subtle === undefined]") == [False, True]
        assert "Not checked:" in page.inner_text("#checked")
        answer(page)
        assert all(report(page).values())
        page.click("#copy")
        page.wait_for_selector("#told:has-text('Copy it with Ctrl + C')")
    finally:
        context.close()


HOSTILE = (
    "</script><script>document.title='hit'</script>",
    "<img src=x onerror=\"document.title='hit'\">",
    "'\"><svg/onload=alert(1)>",
    "${alert(1)} $hash $$title {{7*7}}",
    "<!-- --> &lt;b&gt; &amp;",
    "שלום? (1) <b>",
)


def test_hostile_texts_are_shown_as_they_are(browser: Browser, write: Write) -> None:
    """In the title, the question, the answers, the table and the sheet; nothing of them runs or is an element."""
    question = sf.survey.one_of("q", HOSTILE[0], HOSTILE)
    coins = sf.survey.yes_no("__proto__", HOSTILE[1], HOSTILE[:2], truth=0.5)
    survey = sf.survey.design(HOSTILE[0], [question, coins], epsilon=3)
    with visited(browser, write(survey)) as (page, amiss):
        ready(page)
        assert page.locator("h1").first.inner_text() == HOSTILE[0] == page.title()
        assert tuple(page.locator("#q0 label span").all_inner_texts())[:-1] == HOSTILE
        page.locator("#q0").get_by_label(HOSTILE[4]).check()
        page.locator("#q1 input").first.check()
        sent = report(page)
        assert page.locator(".own").all_inner_texts()[1] == HOSTILE[4]
        page.click("#trial summary")
        page.click("#ask")
        assert page.locator("img, b b, #questions svg").count() == 0
        assert page.evaluate("getComputedStyle(document.querySelector('#q0 label span')).unicodeBidi") == "isolate"
        assert amiss == []
    assert sent["__proto__"] in ("0", "1")
    assert people(survey, [sent]) == 2


@pytest.mark.parametrize("sign", ["\N{RIGHT-TO-LEFT OVERRIDE}", "\N{RIGHT-TO-LEFT ISOLATE}", "\n", "\0"])
def test_signs_that_turn_lines_around_are_refused_by_the_design(sign: str) -> None:
    """So that no page shows an answer other than it is."""
    with pytest.raises(sf.errors.InvalidArgument):
        one_question(f"Do you{sign} smoke?")


def test_the_scripts_use_no_weak_chance_and_write_no_html() -> None:
    """And nothing in them ends the element that they stand in."""
    for name in ("randomize.js", "visit.js", "trial.js"):
        text = read(name)
        assert not re.search(
            r"Math\.random|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", text
        )
        assert not re.search(r"</script|<!--|XMLHttpRequest|sendBeacon|WebSocket|import\(", text, re.IGNORECASE)
    assert 'credentials: "omit", referrerPolicy: "no-referrer"' in read("visit.js")
    assert sum(read(name).count("fetch(") for name in ("randomize.js", "visit.js", "trial.js")) == 1
