"""An answer as it is printed and drawn: no digit that means nothing, no infinity that is not seen, no note lost."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from sfumato.curator.answer import Answer, Receipt
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


def test_a_plot_puts_dates_along_the_axis_and_other_keys_into_colours() -> None:
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
