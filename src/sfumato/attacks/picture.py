"""The pictures of attacks: right guesses beside guessing and the bound, and errors by number of answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.charts import BLUE, GRAY, ORANGE, PALE, Names, Point, inert

_WIDTH, _HEIGHT, _PADDING = 480, 300, 12


@dataclass(frozen=True, slots=True)
class Level:
    """A height that a whole chart is compared with, its words and its color."""

    value: float
    words: str
    color: str


def with_levels(points: Sequence[Point], levels: Sequence[Level], names: Names) -> Any:
    """Shares in percent with error bars, lying, and upright lines at the levels, which a legend explains."""
    import altair

    title = altair.TitleParams(names.title, subtitle=list(names.subtitle), subtitleColor=GRAY)
    base = altair.Chart(altair.InlineData(values=_rows(points)), title=title)
    along = altair.Scale(domain=[0, 100], nice=False)
    up = altair.Y("label", type="nominal", title=names.label or None, sort=None, axis=altair.Axis(labelLimit=220))

    def across(field: str) -> Any:
        return altair.X(field, type="quantitative", title=names.value, scale=along)

    is_last = f"datum.label === {json.dumps(inert(points[-1].label))}"
    bars = base.mark_bar(height={"band": 0.6}).encode(
        x=across("value"),
        y=up,
        color=altair.condition(is_last, altair.value(BLUE), altair.value(PALE)),
    )
    errors = base.mark_rule(strokeWidth=2, color=GRAY).encode(x=across("low"), x2="high", y=up)
    caps = [base.mark_tick(thickness=2, size=8, color=GRAY).encode(x=across(end), y=up) for end in ("low", "high")]
    told = altair.Scale(domain=[each.words for each in levels], range=[each.color for each in levels])
    rows = [{"level": each.value, "words": each.words} for each in levels]
    lines = (
        altair.Chart(altair.InlineData(values=rows))
        .mark_rule(strokeWidth=2, strokeDash=[6, 3])
        .encode(
            x=across("level"),
            color=altair.Color(
                "words", type="nominal", title=None, scale=told, legend=altair.Legend(orient="bottom", labelLimit=400)
            ),
        )
    )
    return altair.layer(bars, errors, *caps, lines).properties(width=_WIDTH, height=60 + 40 * len(points))


def by_powers(points: Sequence[Point], names: Names) -> Any:
    """Lines with error bars on two axes of powers, on which a power law is straight; series by color."""
    import altair

    title = altair.TitleParams(names.title, subtitle=list(names.subtitle), subtitleColor=GRAY)
    base = altair.Chart(altair.InlineData(values=_rows(points)), title=title)
    powers = altair.Scale(type="log", nice=True)
    color = altair.Color(
        "series", type="nominal", title=names.series or None, sort=None, scale=altair.Scale(range=[ORANGE, GRAY, BLUE])
    )
    along = altair.Scale(type="log", nice=False, padding=_PADDING)
    across = altair.X("label", type="quantitative", title=names.label, scale=along)

    def up(field: str) -> Any:
        return altair.Y(field, type="quantitative", title=names.value, scale=powers)

    lines = base.mark_line(point=True).encode(x=across, y=up("value"), color=color)
    errors = base.mark_rule(strokeWidth=2).encode(x=across, y=up("low"), y2="high", color=color)
    return altair.layer(lines, errors).properties(width=_WIDTH * 2 // 3, height=_HEIGHT)


def beside(*charts: Any) -> Any:
    """Charts beside each other, each with its own colors."""
    import altair

    return altair.hconcat(*charts).resolve_scale(color="independent")


def _rows(points: Sequence[Point]) -> list[dict[str, Any]]:
    names = ("label", "value", "low", "high", "series")
    return [{name: _inert(getattr(point, name)) for name in names} for point in points]


def _inert(value: Any) -> Any:
    return inert(value) if isinstance(value, str) else value
