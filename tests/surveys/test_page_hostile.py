"""A page among people who mean ill: several tabs, a memory that was spoilt, the next person at the same screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import sfumato as sf
from browser import started, visited
from sfumato.surveys import design_file as written
from surveys.pages import answer, every_kind, ready, report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


def test_two_tabs_of_a_period_send_one_report(browser: Browser, tmp_path: Path) -> None:
    """The second was open before the first had drawn: it must not draw as well."""
    survey = sf.survey.design("Health", [sf.survey.yes_no(f"q{i}") for i in range(24)], 1)
    with visited(browser, sf.survey.page(survey, tmp_path / "survey.html", period="2027")) as (page, _):
        ready(page)
        second = page.context.new_page()
        second.goto(page.url)
        ready(second)
        sent = []
        for tab in (page, second):
            tab.evaluate(
                "document.querySelectorAll('fieldset').forEach((q) => (q.querySelector('input').checked = true))"
            )
            sent.append({**report(tab), "respondent": ""})
        assert sent[0] == sent[1] and second.locator("input:checked").count() == 0


def test_what_was_kept_and_cannot_be_read_is_no_leave_to_draw_anew(browser: Browser, tmp_path: Path) -> None:
    survey = sf.survey.design("Health", [sf.survey.yes_no("smoker", truth=0.5)])
    first = f"localStorage.setItem('sfumato {written.digest(survey)} 2027', '{{');"
    with visited(browser, sf.survey.page(survey, tmp_path / "survey.html", period="2027"), first=first) as (page, _):
        page.wait_for_selector("#refusal:has-text('cannot read the report it stored')")
        assert page.locator("#act").is_hidden() and page.locator("#q0 input:enabled").count() == 0


def test_whoever_goes_back_to_a_page_finds_no_answers(browser: Browser, tmp_path: Path) -> None:
    """Browsers keep a page that is left as it was."""
    with visited(browser, sf.survey.page(every_kind(), tmp_path / "survey.html")) as (page, _):
        ready(page)
        answer(page)
        sent = report(page)
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        assert page.locator("input:checked").count() == 0 and page.input_value("#q4 input") == ""
        assert page.locator(".own").count() == 0 and json.loads(page.input_value("#line")) == sent
