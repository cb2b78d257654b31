"""Every picture, as an Altair chart: the same in a notebook, a page and a file, without network.

A chart takes plain columns: a label or a number along one axis, values with low and high along the other.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal

BLUE, GREY = "#2b6a99", "#555555"
_WIDTH, _HEIGHT = 480, 300


def with_intervals(
    labels: Sequence[Any], values: Sequence[float], intervals: Sequence[tuple[float, float]], names: Mapping[str, str]
) -> Any:
    """Values with error bars: bars by label, or a line where labels are numbers or dates.

    `names` gives the titles of the two axes under "label" and "value", and the title of the chart under "title".
    """
    import altair

    rows = [
        {"label": _plain(label), "value": value, "low": low, "high": high}
        for label, value, (low, high) in zip(labels, values, intervals, strict=True)
    ]
    kind = _kind(labels)
    base = altair.Chart(altair.InlineData(values=rows), title=names["title"]).properties(width=_WIDTH, height=_HEIGHT)
    across = altair.X("label", type=kind, title=names["label"], sort=None)
    up = altair.Y("value", type="quantitative", title=names["value"])
    points = base.mark_bar(color=BLUE) if kind == "nominal" else base.mark_line(color=BLUE, point=True)
    bars = base.mark_rule(color=GREY, strokeWidth=2).encode(
        x=across, y=altair.Y("low", type="quantitative", title=names["value"]), y2="high"
    )
    return points.encode(x=across, y=up) + bars


def _plain(label: Any) -> Any:
    return label.isoformat() if isinstance(label, datetime.date) else label


def _kind(labels: Sequence[Any]) -> Literal["temporal", "quantitative", "nominal"]:
    if all(isinstance(label, datetime.date) for label in labels):
        return "temporal"
    numbers = all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels)
    return "quantitative" if numbers and len(labels) > 1 else "nominal"
