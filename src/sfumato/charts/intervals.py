"""Values with their intervals, beside each other, along time or over bins.

A chart takes plain points: a label or a number along one axis, a value with low and high along the other, and perhaps a
series, which is shown by color. What has no end is drawn to the edge, faded and with an arrow.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sfumato.charts.inert import inert

BLUE, PALE, GRAY, ORANGE = "#2b6a99", "#9cc3de", "#444444", "#d9822b"
WIDTH, HEIGHT = 480, 300
_FEW = 12  # labels of an axis that are all shown
_DENSE = 40  # dates beyond which intervals become a band
_MARGIN = 0.08  # of the height, for arrows
LINE = 60  # characters of all labels that stand beside each other
PADDING = 12  # points at both ends of an axis of numbers or dates
Kind = Literal["temporal", "quantitative", "nominal"]


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval, at its label; `series` tells points at one label apart."""

    label: Any
    value: float
    low: float
    high: float
    series: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval, over a bin from start to end."""

    start: float
    end: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Names:
    """The titles of a chart: along, up, of the series, above, and below that; none of them is markup."""

    label: str
    value: str
    title: str
    series: str = ""
    subtitle: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("label", "value", "title", "series"):
            object.__setattr__(self, name, inert(getattr(self, name)))
        object.__setattr__(self, "subtitle", tuple(map(inert, self.subtitle)))


def with_intervals(points: Sequence[Point], names: Names) -> Any:
    """Values with error bars: bars by label, points by number, a line by date; several series by color."""
    import altair

    kind = kind_of([point.label for point in points])
    has_series = any(point.series is not None for point in points)
    is_dense = kind == "temporal" and len({point.label for point in points}) > _DENSE
    bottom, top, scale = _scale(points, is_bar=kind == "nominal" and not has_series)
    title = altair.TitleParams(names.title, subtitle=[*names.subtitle, *_open_ends(points)], subtitleColor=GRAY)
    base = altair.Chart(altair.InlineData(values=[row(point, bottom, top) for point in points]), title=title)
    across = _across(points, names, kind, has_series)

    def up(field: str) -> Any:
        return altair.Y(field, type="quantitative", title=names.value, scale=scale)

    values = _values(base, kind, has_series, is_dense).encode(y=up("value"), **across)
    errors = _band(base, up, across, has_series) if is_dense else _error_bars(base, up, across, has_series)
    first, then = ([*errors], [values]) if is_dense else ([values], [*errors])  # a band lies behind its line
    return altair.layer(*first, *then).properties(width=WIDTH, height=HEIGHT)


def stacked(drawn: Sequence[Any]) -> Any:
    """Several charts below each other, each with axes of its own; a single one as it is."""
    import altair

    return drawn[0] if len(drawn) == 1 else altair.vconcat(*drawn).resolve_scale(color="independent")


def over_bins(bars: Sequence[Bar], names: Names) -> Any:
    """Bars as wide as their bins, with error bars; a bin without an end is drawn as wide as the narrowest.

    Where widths differ, heights are per unit along the axis, so that areas can be compared.
    """
    import altair

    bars, is_density = _comparable(bars)
    points = [Point(0.0, bar.value, bar.low, bar.high) for bar in bars]
    bottom, top, scale = _scale(points, is_bar=True)
    rows = [
        {**row(point, bottom, top), "start": bar.start, "end": bar.end, "middle": bar.start / 2 + bar.end / 2}
        for bar, point in zip(bars, points, strict=True)
    ]
    title = altair.TitleParams(names.title, subtitle=[*names.subtitle, *_open_ends(points)], subtitleColor=GRAY)
    base = altair.Chart(altair.InlineData(values=rows), title=title)
    along = altair.Scale(domain=[bars[0].start, bars[-1].end], nice=False, zero=False)
    height = f"{names.value} per unit of {names.label}" if is_density else names.value

    def across(field: str) -> Any:
        return altair.X(field, type="quantitative", title=names.label, scale=along)

    def up(field: str) -> Any:
        return altair.Y(field, type="quantitative", title=height, scale=scale)

    drawn = base.mark_bar(color=PALE, stroke="white", strokeWidth=0.5).encode(
        x=across("start"), x2="end", y=up("value"), y2=altair.datum(0)
    )
    errors = _error_bars(base, up, {"x": across("middle")}, has_series=False)
    return altair.layer(drawn, *errors).properties(width=WIDTH, height=HEIGHT)


def _comparable(bars: Sequence[Bar]) -> tuple[list[Bar], bool]:
    """Bars that all have ends, and heights per unit if their widths differ by more than a hundredth."""
    widths = [bar.end - bar.start for bar in bars if math.isfinite(bar.end - bar.start)] or [1.0]
    ended = [
        replace(
            bar,
            start=bar.start if math.isfinite(bar.start) else bar.end - min(widths),
            end=bar.end if math.isfinite(bar.end) else bar.start + min(widths),
        )
        for bar in bars
    ]
    if max(widths) <= 1.01 * min(widths):
        return ended, False
    scales = [1 / (bar.end - bar.start) for bar in ended]
    listed = zip(ended, scales, strict=True)
    return [replace(b, value=s * b.value, low=s * b.low, high=s * b.high) for b, s in listed], True


def _across(points: Sequence[Point], names: Names, kind: Kind, has_series: bool) -> dict[str, Any]:
    """What every mark has: its place along the axis, and its color where there are series."""
    import altair

    scale = altair.Undefined if kind == "nominal" else altair.Scale(padding=PADDING, zero=False)
    axis = _axis(points, kind)
    across: dict[str, Any] = {"x": altair.X("label", type=kind, title=names.label, sort=None, axis=axis, scale=scale)}
    if has_series:
        across["color"] = altair.Color("series", type="nominal", title=names.series, sort=None)
        if kind == "nominal":
            across["xOffset"] = altair.XOffset("series", type="nominal", sort=None)
    return across


def _error_bars(base: Any, up: Callable[[str], Any], across: dict[str, Any], has_series: bool) -> list[Any]:
    """A rule from low to high with a cap at each end, or an arrow where there is no end."""
    import altair

    gray: dict[str, Any] = {} if has_series else {"color": GRAY}
    faded = altair.Opacity(
        "faded", type="nominal", scale=altair.Scale(domain=[False, True], range=[1, 0.4]), legend=None
    )
    marks = [base.mark_rule(strokeWidth=2, **gray).encode(y=up("low"), y2="high", opacity=faded, **across)]
    for end, shape in (("high", "triangle-up"), ("low", "triangle-down")):
        arrows = base.transform_filter(f"datum.open_{end}").mark_point(shape=shape, filled=True, size=60, **gray)
        caps = base.transform_filter(f"!datum.open_{end}").mark_tick(thickness=2, size=8, orient="horizontal", **gray)
        marks += [arrows.encode(y=up(end), **across), caps.encode(y=up(end), **across)]
    return marks


def _band(base: Any, up: Callable[[str], Any], across: dict[str, Any], has_series: bool) -> list[Any]:
    """All intervals as one band, where single bars would hide each other."""
    blue: dict[str, Any] = {} if has_series else {"color": BLUE}
    return [base.mark_area(opacity=0.25, **blue).encode(y=up("low"), y2="high", **across)]


def kind_of(labels: Sequence[Any]) -> Kind:
    """Whether labels are dates, numbers or neither."""
    if all(isinstance(label, datetime.date) for label in labels):
        return "temporal"
    numbers = all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels)
    return "quantitative" if numbers and len(set(labels)) > 1 else "nominal"


def in_words(label: Any) -> str:
    """A label as a text: a midnight as its day, a whole number without a point, and nothing that moves a cursor."""
    if isinstance(label, datetime.datetime) and label.time() == datetime.time():
        return label.date().isoformat()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = "NULL" if label is None else str(label)
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _values(base: Any, kind: Kind, has_series: bool, is_dense: bool) -> Any:
    """The marks of the values themselves."""
    blue: dict[str, Any] = {} if has_series else {"color": BLUE}
    if kind == "temporal":
        return base.mark_line(point=False if is_dense else {"size": 45, **blue}, **blue)
    if kind == "quantitative" or has_series:
        return base.mark_point(filled=True, size=60, opacity=1, **blue)
    return base.mark_bar(color=PALE)


def _scale(points: Sequence[Point], is_bar: bool) -> tuple[float, float, Any]:
    """The ends of the upright axis; bars stand on zero, and where something has no end there is room for an arrow."""
    import altair

    finite = [x for point in points for x in (point.value, point.low, point.high) if math.isfinite(x)]
    finite += [0.0] if is_bar or not finite else []
    low, high = min(finite), max(finite)
    room = ((high - low) or abs(high) or 1.0) * _MARGIN
    top = high + room if any(point.high == math.inf for point in points) else high
    bottom = low - room if any(point.low == -math.inf for point in points) else low
    return bottom, top, altair.Scale(domain=[bottom, top], nice=not _open_ends(points), zero=is_bar)


def row(point: Point, bottom: float, top: float) -> dict[str, Any]:
    """What a chart is told about a point; an end that is none lies at the bottom or the top."""
    low_is_open, high_is_open = point.low == -math.inf, point.high == math.inf
    return {
        "label": _plain(point.label),
        "value": point.value if math.isfinite(point.value) else None,
        "low": bottom if low_is_open else point.low,
        "high": top if high_is_open else point.high,
        "open_low": low_is_open,
        "open_high": high_is_open,
        "faded": low_is_open or high_is_open,
        "series": None if point.series is None else inert(point.series),
    }


def _plain(label: Any) -> Any:
    """As vega reads it: a day at midnight, since it would take a bare date for one in Greenwich."""
    if isinstance(label, datetime.datetime):
        return label.isoformat()
    if isinstance(label, datetime.date):
        return f"{label.isoformat()}T00:00:00"
    return label if isinstance(label, (int, float)) and not isinstance(label, bool) else inert(in_words(label))


def _open_ends(points: Sequence[Point]) -> list[str]:
    ends = {"upper": any(p.high == math.inf for p in points), "lower": any(p.low == -math.inf for p in points)}
    return [f"arrow: no {' and no '.join(end for end, is_open in ends.items() if is_open)} bound"] * any(ends.values())


def _axis(points: Sequence[Point], kind: Kind) -> Any:
    """Dates as far as they differ, all of them where they are few."""
    import altair

    if kind == "quantitative":
        return altair.Axis(labelOverlap=True, format="~f")
    if kind == "nominal":
        length = sum(len(in_words(label)) + 2 for label in {point.label for point in points})
        return altair.Axis(labelAngle=0 if length < LINE else -45)
    dates = sorted({str(_plain(point.label)) for point in points})
    ends = ("-01-01T00:00:00", "%Y"), ("-01T00:00:00", "%b %Y"), ("T00:00:00", "%Y-%m-%d"), ("", "%Y-%m-%d %H:%M")
    written = next(form for end, form in ends if all(date.endswith(end) for date in dates))
    if len(dates) > _FEW:
        return altair.Axis(format=written, labelOverlap=True)
    shown = [_moment(datetime.datetime.fromisoformat(date)) for date in dates]
    return altair.Axis(format=written, values=shown, labelAngle=-45)


def _moment(time: datetime.datetime) -> Any:
    import altair

    return altair.DateTime(year=time.year, month=time.month, date=time.day, hours=time.hour, minutes=time.minute)
