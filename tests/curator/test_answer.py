"""An answer as it is printed and drawn: no digit that means nothing, no infinity that is not seen, no note lost."""

from __future__ import annotations

import base64
import datetime
import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from sfumato.curator.answers.answer import Answer, Receipt
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee

PROMISE = Guarantee(epsilon=0.5)


def answer(rows: list[dict[str, Any]], intervals: dict[str, Any], notes: tuple[str, ...] = ()) -> Answer:
    """An answer of given rows; a column without intervals is a key."""
    names = tuple(rows[0]) if rows else tuple(intervals)
    pairs = {name: intervals.get(name, [None] * len(rows)) for name in names}
    return Answer(names, rows, pairs, PROMISE, Receipt("1", PROMISE, "all", notes), 0.95, "a long story")


def cell(value: float | None, low: float, high: float) -> str:
    return str(answer([{"n": value}], {"n": [(low, high)]})).splitlines()[1].strip()


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    (
        (1_849_500.0, 1_849_500 - 42_700.3, 1_849_500 + 42_700.3, "1,849,500 ± 43,000"),
        (1_849_500.0, 1_849_500 - 14_321.0, 1_849_500 + 14_321.0, "1,849,500 ± 14,400"),
        (12.34, 12.34 - 5.21, 12.34 + 5.21, "12.34 ± 5.3"),
        (0.12345, 0.12345 - 0.0021, 0.12345 + 0.0021, "0.12345 ± 0.0021"),
        (61.6, 47.34, math.inf, "61.6 [47.3, inf]"),
        (61.6, -math.inf, 70.01, "61.60 [-inf, 70.01]"),
        (61.6, 47.34, 99.12, "61.6 [47.3, 99.2]"),
        (-0.04, -36.04, 35.96, "0.0 ± 36"),
        (5.0, 5.0, 5.0, "5 [5, 5]"),
        (12, 8.4, 16.3, "12 ± 5"),
        (0, 0.0, 16.3, "0 [0, 17]"),
        (1_234, 1_000.2, 1_468.9, "1,234 ± 240"),
    ),
)
def test_a_cell_has_as_many_digits_as_mean_something(value: float, low: float, high: float, shown: str) -> None:
    """Two or three of the half-width, rounded up; none after the point of a whole number; no negative zero."""
    assert cell(value, low, high) == shown


def test_keys_are_printed_plainly() -> None:
    """Midnights as days, whole numbers without a point, nothing as NULL."""
    midnights = [{"d": datetime.datetime(2026, 1, day), "k": 20.0 * day, "t": None} for day in (1, 2)]
    assert str(answer(midnights, {})).split() == ["d", "k", "t", "2026-01-01", "20", "NULL", "2026-01-02", "40", "NULL"]
    times = [{"d": datetime.datetime(2026, 1, 1, hour)} for hour in (0, 12)]
    assert "2026-01-01 12:00:00" in str(answer(times, {}))


def test_the_notes_are_printed_below_the_table() -> None:
    """In lines of a hundred characters."""
    printed = str(answer([{"n": 1.0}], {"n": [(0, 2)]}, ("a word " * 30, "short")))
    lines = printed.splitlines()
    assert lines[2].startswith("Note: a word") and lines[-1] == "Note: short"
    assert max(map(len, lines)) <= 100 and lines[3].startswith("      word")


def test_a_long_table_is_printed_with_both_its_ends() -> None:
    """And a line that says how much is left out; up to sixty rows nothing is."""
    rows = [{"k": n, "n": float(n)} for n in range(72)]
    lines = str(answer(rows, {"n": [(n - 1, n + 1) for n in range(72)]})).splitlines()
    assert len(lines) == 42 and lines[21] == "... 32 of 72 rows are left out here; to_pandas() has all ..."
    assert lines[20].split()[0] == "19" and lines[22].split()[0] == "52"
    assert len(str(answer(rows[:60], {"n": [(n - 1, n + 1) for n in range(60)]})).splitlines()) == 61


def test_the_representation_is_short() -> None:
    """A notebook shows it; the story is in explain()."""
    assert repr(answer([{"r": "a", "n": 1.0}], {"n": [(0, 2)]})) == "Answer(columns=r, n; rows=1; epsilon=0.5)"


def test_exports_are_columns_with_their_intervals() -> None:
    """Whatever is printed, all digits of the values are here."""
    assert answer([{"r": "a", "n": 1.25}], {"n": [(0, 2)]}).to_dict() == {
        "r": ["a"], "n": [1.25], "n_low": [0], "n_high": [2],
    }  # fmt: skip


def test_a_plot_puts_dates_along_the_axis_and_other_keys_into_colors() -> None:
    """Whichever comes first in the question."""
    rows = [{"r": r, "s": s, "d": datetime.date(2026, m, 1), "n": 1.0} for r in "ab" for s in "wm" for m in (1, 2)]
    chart = answer(rows, {"n": [(0, 2)] * 8}, ("note",)).plot().to_dict()
    first = chart["layer"][0]["encoding"]
    assert first["x"]["title"] == "d" and first["color"]["title"] == "r / s"
    assert chart["layer"][0]["title"]["subtitle"] == ["note"]
    assert (
        answer(rows, {"n": [(0, 2)] * 8}, ("note",)).plot(notes=False).to_dict()["layer"][0]["title"]["subtitle"] == []
    )


def test_a_plot_needs_a_column_with_intervals() -> None:
    """And says which there are."""
    with pytest.raises(InvalidArgument, match=r"column must be one with intervals \(n\); got 'r'"):
        answer([{"r": "a", "n": 1.0}], {"n": [(0, 2)]}).plot("r")
    with pytest.raises(InvalidArgument, match="a column with intervals, and a row"):
        answer([], {"n": []}).plot()


def page(shown: Answer) -> ElementTree.Element:
    """What a notebook shows, read as strictly as XML is; the one picture is closed first."""
    return ElementTree.fromstring(re.sub(r"(<img [^>]*)>", r"\1/>", shown._repr_html_()))


def words(element: ElementTree.Element) -> list[str]:
    return [text for each in element.iter() if (text := (each.text or "").strip())]


HOSTILE = ("<script>alert(1)</script>", "\"' onload='alert(1)", "</td></table><b>", "&amp;", "$x$ to $y$")


def test_a_notebook_shows_a_table_with_error_bars_notes_and_a_chart() -> None:
    """Keys head their rows, every estimate has its bar, the caption has confidence and cost."""
    rows = [{"r": r, "n": 10.0 * n} for n, r in enumerate("abc")]
    shown = page(answer(rows, {"n": [(row["n"] - 5, row["n"] + 5) for row in rows]}, ("a note",)))
    assert [(head.get("scope"), head.text) for head in shown.iter("th")] == [
        *(("col", "r"), ("col", "n")), *(("row", "a"), ("row", "b"), ("row", "c")),
    ]  # fmt: skip
    assert words(shown)[0] == "95% intervals; epsilon 0.5"
    assert [cell.text for cell in shown.iter("td")] == ["0.00 ± 5.0", "10.00 ± 5.0", "20.00 ± 5.0"]
    assert [bar.get("aria-hidden") for bar in shown.iter("svg")] == ["true"] * 3
    assert [remark.text for remark in shown.iter("p")] == ["Note: a note", "Left: all."]
    (chart,) = shown.iter("img")
    assert chart.get("alt", "").startswith("Chart of the table above: 95% intervals")
    kind, drawn = chart.get("src", "").split(",", 1)
    assert kind == "data:image/svg+xml;base64" and b"<svg" in base64.b64decode(drawn)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_keys_hold_a_notebook_runs_nothing(text: str) -> None:
    """Names of columns, keys and notes are words and nothing else, in the picture as well; nothing is loaded."""
    rows = [{text: key, "n": 1.0} for key in (text, "b")]
    shown = page(answer(rows, {"n": [(0, 2)] * 2}, (text,)))
    assert {each.tag for each in shown.iter()} == {
        *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "span", "svg", "path", "circle", "img"),
    }
    assert words(shown).count(text) == 2 and f"Note: {text}" in words(shown)
    allowed = {"class", "style", "scope", "src", "alt", "aria-hidden", "width", "height", "fill", "stroke", "d", "r"}
    assert {name for each in shown.iter() for name in each.attrib} <= allowed | {"stroke-width", "cx", "cy"}
    (chart,) = shown.iter("img")
    drawn = base64.b64decode(chart.get("src", "").split(",", 1)[1]).decode()
    assert not {"script", "image", "foreignObject", "a"} & {
        each.tag.rpartition("}")[2] for each in ElementTree.fromstring(drawn).iter()
    }
    assert shown.get("class") == "tex2jax_ignore mathjax_ignore"  # else a notebook typesets $x$


def test_a_notebook_shows_what_has_no_end_or_no_value() -> None:
    """An arrow to the edge, in words inf; NULL without a bar; a number that is none without a dot."""
    values = [(5.0, (1.0, math.inf)), (None, None), (math.inf, (-math.inf, math.inf)), (1e308, (-1e308, 1.5e308))]
    rows = [{"d": datetime.date(2026, 1, day), "n": value} for day, (value, _) in enumerate(values, 1)]
    shown = page(answer(rows, {"n": [pair for _, pair in values]}))
    assert [cell.text for cell in shown.iter("td")][1] == "NULL" and "inf" in (next(shown.iter("td")).text or "")
    assert [row.text for row in shown.iter("th")][2:] == [f"2026-01-0{day}" for day in range(1, 5)]
    bars = list(shown.iter("svg"))
    assert [len(list(bar.iter("circle"))) for bar in bars] == [1, 0, 1]
    numbers = [float(x) for bar in bars for path in bar.iter("path") for x in re.findall(r"[\d.]+", path.get("d", ""))]
    assert all(0 <= x <= 120 for x in numbers)


def test_a_notebook_draws_a_chart_only_where_there_are_groups_to_compare() -> None:
    """Not for one number, nor for keys alone, nor for nothing; a long table has its gap."""
    one = page(answer([{"n": 1.0}], {"n": [(0, 2)]}))
    assert not list(one.iter("img")) and len(list(one.iter("svg"))) == 1
    for empty in (answer([], {"r": [], "n": []}), answer([{"r": "a"}, {"r": "b"}], {})):
        assert not list(page(empty).iter("img"))
    rows = [{"k": n, "n": float(n)} for n in range(500)]
    long = page(answer(rows, {"n": [(n - 1, n + 1) for n in range(500)]}))
    lines = [line for body in long.iter("tbody") for line in body]
    assert len(lines) == 41 and "460 of 500 rows are left out" in words(lines[20])[0] and not list(long.iter("img"))


def test_a_caption_says_delta_where_there_is_one() -> None:
    """And all digits of an unusual confidence."""
    promise = Guarantee(epsilon=0.5, delta=1e-9)
    shown = Answer(("n",), [{"n": 1.0}], {"n": [(0, 2)]}, promise, Receipt("1", promise, "all", ()), 0.999, "")
    assert words(page(shown))[0] == "99.9% intervals; epsilon 0.5 and delta 1e-09"
