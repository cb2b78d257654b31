"""The page: nothing runs, nothing is loaded, everything is escaped, and a browser shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from browser import opened
from sfumato import charts
from sfumato.errors import InvalidArgument
from sfumato.risk.report.report import Report

HOSTILE = "</td><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
NAME = "<svg onload=document.title='broken'>"


def hostile() -> Report:
    """Names, values and keys that would break out of a page."""
    table = pa.table(
        {
            NAME: [HOSTILE] * 3, "a'\"b": [HOSTILE, "\u202eevil", "=1+1"], "]]>": ["x"] * 3,
            "s": [HOSTILE] * 3, "v": [1.0, 2.0, 3.0],
        }
    )  # fmt: skip
    return sf.risk_report(
        table, columns=[NAME, "]]>"], sensitive="s", sums="v", by="a'\"b", link=table, on={"a'\"b": "a'\"b"}
    )


def test_no_name_and_no_value_becomes_markup(tmp_path: Path) -> None:
    """As text, in a real browser that would run it; nothing is asked from elsewhere and nothing is wrong."""
    hostile().to_html(tmp_path / "risk.html")
    with opened(tmp_path / "risk.html") as (page, amiss):
        page.wait_for_timeout(100)
        assert page.title().startswith("Risk report") and amiss == []
        assert page.locator("script, img, iframe, object, link").count() == 0
        assert "document.title='broken'" in page.inner_text("main")
        assert page.locator("svg[role=img]").count() == 2
        for alt in page.locator("svg[role=img]").all():
            assert (alt.get_attribute("aria-label") or "").startswith("Bar chart")
        assert page.locator("body > :first-child").inner_text().startswith("For the owner only: not private")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_forbids_scripts_and_anything_from_elsewhere() -> None:
    """Should escaping ever fail; and no address is in the page but the name of SVG's language."""
    page = hostile().to_html()
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"<(script|iframe|object|embed|link|img)\b", page) and "\u202e" not in page


def test_a_chart_as_a_page_runs_nothing_of_a_name(tmp_path: Path) -> None:
    """A name that ends the script in which a chart stands is a label of the chart; the chart is drawn all the same."""
    name = "</script><script>document.title = 'broken'</script>"
    charts.save(sf.risk_report(pa.table({name: [1, 2], "b": [1, 1]}), columns=[name, "b"]).plot(), tmp_path / "c.html")
    text = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "document.title" in text and "<script>document.title" not in text
    with opened(tmp_path / "c.html") as (page, amiss):
        page.wait_for_selector("#vis svg, #vis canvas")
        assert page.title() != "broken" and amiss == []


def test_charts_hold_names_as_they_are_and_other_kinds_are_refused() -> None:
    """A name that looks like a formula of the chart's language is a label."""
    table = pa.table({"datum.value": [1, 2], "'+1+'": [1, 1]})
    report = sf.risk_report(table, columns=table.column_names)
    assert "datum.value" in report.to_html()
    with pytest.raises(InvalidArgument, match="'growth' or 'sizes'"):
        report.plot("circles")
