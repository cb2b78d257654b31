"""Shares of a whole, and two distributions over each other."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.charts.inert import inert
from sfumato.charts.intervals import BLUE, GRAY, HEIGHT, LINE, ORANGE, PALE, WIDTH, Names, in_words


@dataclass(frozen=True, slots=True)
class Share:
    """A share by its label, written beside its bar; `series` puts bars into a panel of their own."""

    label: str
    share: float
    written: str
    series: str = ""


def shares(bars: Sequence[Share], names: Names) -> Any:
    """Shares of a whole as bars from left to right, in their order, each series in a panel below the last one."""
    import altair

    title = altair.TitleParams(names.title, subtitle=list(names.subtitle), subtitleColor=GRAY)
    panels = []
    for series in dict.fromkeys(bar.series for bar in bars):
        rows = [
            {"place": place, "label": inert(in_words(bar.label)), "share": bar.share, "written": inert(bar.written)}
            for place, bar in enumerate(each for each in bars if each.series == series)
        ]
        base = altair.Chart(altair.InlineData(values=rows))
        # by place, for two labels may be equal; shown by an expression that reads no label as a format
        texts = altair.Axis(labelExpr=f"{json.dumps([row['label'] for row in rows])}[datum.value]", labelLimit=260)
        down = altair.Y("place", type="ordinal", title=inert(series) or names.label, axis=texts)
        along = altair.X(
            "share", type="quantitative", title=names.value, scale=altair.Scale(domain=[0, 1]),
            axis=altair.Axis(format="%"),
        )  # fmt: skip
        drawn = base.mark_bar(color=PALE).encode(x=along, y=down)
        written = base.mark_text(align="left", dx=4, color=GRAY).encode(x=along, y=down, text="written:N")
        panels.append(altair.layer(drawn, written).properties(width=WIDTH, height=24 * len(rows)))
    return altair.vconcat(*panels, title=title)


def two_sides(bars: Sequence[tuple[str, float, float, float, float, bool]], few: bool, names: Names) -> Any:
    """Two distributions over each other: label, start and end of a bin, its two shares, and whether it is shaded.

    Few bins are drawn as bars beside each other, by their labels; many as steps along an axis.
    """
    import altair

    sides = ("value", "neighbor")
    rows = [
        {"label": inert(label), "start": start, "end": end, "share": share, "side": side, "shaded": shaded}
        for label, start, end, *shares, shaded in bars
        if few or math.isfinite(start)
        for side, share in zip(sides, shares, strict=True)
    ]
    title = altair.TitleParams(names.title, subtitle=list(names.subtitle), subtitleColor=GRAY)
    base = altair.Chart(altair.InlineData(values=[_without_ends(row) for row in rows]), title=title)
    color = altair.Color(
        "side", type="nominal", title=names.series, sort=None, scale=altair.Scale(domain=sides, range=[BLUE, ORANGE])
    )
    shade = altair.Opacity(
        "shaded", type="nominal", scale=altair.Scale(domain=[False, True], range=[0.35, 0.95]), legend=None
    )
    up = altair.Y("share", type="quantitative", title=names.value)
    if few:
        longest, labels = max((len(str(row["label"])) for row in rows), default=0), len(rows) // 2
        angle = 0 if labels * longest <= LINE else -45
        across = altair.X("label", type="nominal", title=names.label, sort=None, axis=altair.Axis(labelAngle=angle))
        drawn = base.mark_bar().encode(
            x=across, xOffset=altair.XOffset("side", type="nominal", sort=None), y=up, color=color, opacity=shade
        )
        return drawn.properties(width=WIDTH, height=HEIGHT)
    x = altair.X("start", type="quantitative", title=names.label, scale=altair.Scale(zero=False, nice=False))
    shaded = (
        base.transform_filter("datum.shaded")
        .mark_bar(opacity=0.35)
        .encode(
            x=x,
            x2="end",
            y=altair.Y("share", type="quantitative", stack=None, title=names.value),
            y2=altair.datum(0),
            color=color,
        )
    )
    lines = base.mark_line(interpolate="step-after", strokeWidth=1.5).encode(x=x, y=up, color=color)
    return altair.layer(shaded, lines).properties(width=WIDTH, height=HEIGHT)


def _without_ends(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no word for what is no number."""
    return {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in row.items()}
