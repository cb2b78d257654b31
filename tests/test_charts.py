"""`charts`: what a picture shows, read from its own description."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

from sfumato.charts import Names, Point, in_words, kind_of, with_intervals

NAMES = Names("key", "n", "n, with 95% intervals", "sex", ("a note",))


def drawn(points: list[Point]) -> dict[str, Any]:
    return with_intervals(points, NAMES).to_dict()


def marks(chart: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in chart["layer"]]


def rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return chart["datasets"][chart["data"]["name"]]


def test_an_interval_without_an_end_reaches_the_edge_and_says_so(tmp_path: Path) -> None:
    """Infinity is no place on an axis: an arrow at the edge stands for it, and words below the title."""
    chart = with_intervals([Point("a", 5, 1, math.inf), Point("b", 4, -math.inf, 9)], NAMES)
    described = chart.to_dict()
    assert "arrow: no upper and no lower bound" in described["layer"][0]["title"]["subtitle"]
    first, second = rows(described)
    assert first["open_high"] and first["faded"] and first["high"] > 9
    assert second["open_low"] and second["low"] < 0
    assert described["layer"][0]["encoding"]["y"]["scale"]["domain"] == [second["low"], first["high"]]
    chart.save(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_labels_are_bars_numbers_points_and_dates_a_line() -> None:
    """Each with its error bars."""
    day = datetime.date(2026, 1, 1)
    for labels, mark in ((["a", "b"], "bar"), ([0.0, 10.0], "point"), ([day, day.replace(month=2)], "line")):
        found = marks(drawn([Point(label, 5, 4, 6) for label in labels]))
        assert found[0] == mark and "rule" in found[1:]


def test_many_dates_have_a_band_instead_of_bars_that_hide_each_other() -> None:
    """A year of days."""
    day = datetime.date(2026, 1, 1)
    found = marks(drawn([Point(day + datetime.timedelta(days=n), 5, 4, 6) for n in range(365)]))
    assert found == ["area", "line"]


def test_a_second_key_is_a_color_with_its_legend() -> None:
    """Beside each other at one label."""
    chart = drawn([Point(label, 5, 4, 6, series) for label in "ab" for series in "wm"])
    encoding = chart["layer"][0]["encoding"]
    assert encoding["color"]["field"] == encoding["xOffset"]["field"] == "series"
    assert encoding["color"]["title"] == "sex" and {row["label"] for row in rows(chart)} == {"a", "b"}


def test_dates_are_written_as_far_as_they_differ() -> None:
    """No time of the day where all are midnights, no day where all are the first of a month."""
    time = datetime.datetime
    cases = (
        ([time(2025, 1, 1), time(2026, 1, 1)], "%Y"),
        ([time(2026, 1, 1), time(2026, 2, 1)], "%b %Y"),
        ([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)], "%Y-%m-%d"),
        ([time(2026, 1, 1), time(2026, 1, 1, 12)], "%Y-%m-%d %H:%M"),
    )
    for labels, written in cases:
        axis = drawn([Point(label, 5, 4, 6) for label in labels])["layer"][0]["encoding"]["x"]["axis"]
        assert axis["format"] == written


def test_a_label_in_words_has_nothing_that_says_nothing() -> None:
    """Midnight, the point of a whole number."""
    assert [in_words(x) for x in (datetime.datetime(2026, 1, 1), 20.0, 0.5, None, "a")] == [
        "2026-01-01", "20", "0.5", "NULL", "a",
    ]  # fmt: skip
    assert kind_of([1]) == kind_of([True, False]) == "nominal" and kind_of([1, 2.5]) == "quantitative"
