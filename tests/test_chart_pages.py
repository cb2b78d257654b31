"""The pages that Altair itself writes of our charts: no name and no value of a table runs in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair
import pandas as pd
import pytest

import sfumato as sf
from browser import started, visited
from sfumato.audit import draw_finding, game
from sfumato.charts import inert, save
from sources import Seeded

EVIL = "</script><script>document.title = 'broken'</script>"
COMMENT = "<!--<SCRIPT>"


def answer() -> Any:
    frame = pd.DataFrame({EVIL: [EVIL, "a"] * 40, COMMENT: [COMMENT, "b"] * 40})
    table = sf.table(frame, columns={EVIL: sf.column(keys=[EVIL, "a"]), COMMENT: sf.column(keys=[COMMENT, "b"])})
    return sf.ask(
        f'SELECT "{EVIL}", "{COMMENT}", COUNT(*) AS "n {EVIL}" FROM t GROUP BY "{EVIL}", "{COMMENT}"',
        data={"t": table}, epsilon=1,
    ).plot()  # fmt: skip


def survey() -> Any:
    asked = sf.survey.design("x", [sf.survey.one_of("q", EVIL, [EVIL, COMMENT]), sf.survey.yes_no("b")], 2)
    sent = sf.survey.randomize_all(asked, {"q": [EVIL, COMMENT] * 20, "b": ["yes", "no"] * 20}, Seeded(1))
    crossed = sf.survey.cross_table(asked, sent, "q", "b").plot()
    return altair.vconcat(sf.survey.estimate(asked, sent).plot(), crossed)


def attack() -> Any:
    found = sf.attacks.averaging(8, villages=5, epsilon=1)
    return replace(found, attack=EVIL, measure=EVIL, raw=replace(found.raw, name=EVIL)).plot()


def risk() -> Any:
    return sf.risk_report(pd.DataFrame({EVIL: [1, 2], COMMENT: [1, 1]}), columns=[EVIL, COMMENT]).plot()


def audit() -> Any:
    return draw_finding(game(lambda x: EVIL if x else COMMENT, EVIL, "", epsilon=1, name=EVIL).play(1_000))


CHARTS: dict[str, Callable[[], Any]] = {
    "ask": answer, "survey": survey, "attack": attack, "risk": risk, "audit": audit
}  # fmt: skip


@pytest.fixture(scope="module")
def charts() -> dict[str, Any]:
    return {name: chart() for name, chart in CHARTS.items()}


@pytest.mark.parametrize("name", CHARTS)
def test_no_text_of_a_chart_begins_markup(charts: dict[str, Any], name: str) -> None:
    """Wherever its description is written to; also where it is put beside another chart, or has a new size."""
    beside = charts[name].properties(title="mine") | charts[name]
    for text in (json.dumps(charts[name].to_dict()), beside.to_json(), charts[name].to_html(fullhtml=False)):
        assert "document.title" in text
        assert not re.search(r"</?script>document|<!--", text, re.IGNORECASE)


def test_nothing_runs_in_the_pages_that_altair_writes(charts: dict[str, Any], tmp_path: Path) -> None:
    """In a browser: its own page, one that holds its scripts, and ours; the chart is drawn all the same."""
    (tmp_path / "lit.html").write_text(f"<script>const spec = '{EVIL}';</script>")
    with started() as browser:
        with visited(browser, tmp_path / "lit.html") as (page, _):
            assert page.title() == "broken"  # it would run
        for name, chart in charts.items():
            chart.save(tmp_path / "bare.html")
            with visited(browser, tmp_path / "bare.html") as (page, _):
                assert page.title() == "", name
        together = altair.vconcat(*charts.values())
        together.save(tmp_path / "whole.html", inline=True)
        save(together, tmp_path / "ours.html")
        for file in ("whole.html", "ours.html"):
            with visited(browser, tmp_path / file) as (page, amiss):
                page.wait_for_selector("#vis svg, #vis canvas")
                assert (page.title(), amiss) == ("", [])


def test_a_text_looks_the_same() -> None:
    """But for a sign of no width, and that only where markup would begin."""
    assert inert(EVIL).replace("\N{WORD JOINER}", "") == EVIL != inert(EVIL)
    for text in ("age < 30", "<30", "a <= b", "x > y & z", "3<4", "<-"):
        assert inert(text) == text
