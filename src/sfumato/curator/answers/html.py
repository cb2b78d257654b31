"""An answer as HTML for a notebook: a table with error bars, the notes, and a chart.

Everything is escaped, and nothing is loaded or run: no script, no style sheet, no font, no address. The table says all
in words; the bars repeat it for the eye, so they are hidden from a screen reader.
"""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.charts import BLUE

Ends = tuple[float, float, float]  # low, value, high

_WIDTH, _HEIGHT, _EDGE = 120, 12, 12  # of a bar in its cell, with room for an arrow at both ends
_MIDDLE = _HEIGHT / 2
_NO_BAR = f'<span style="display:inline-block;width:{_WIDTH}px;margin-left:1em"></span>'  # aligns numbers
# Notebooks typeset what stands between dollars, also in a key such as '$5 to $10'.
_NOT_TYPESET = "tex2jax_ignore mathjax_ignore"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value in words, and for an estimate its interval."""

    text: str
    ends: Ends | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A name and its cells; a column without intervals heads its rows."""

    name: str
    cells: tuple[Cell, ...]

    @property
    def is_key(self) -> bool:
        """Whether it has no estimates."""
        return all(cell.ends is None for cell in self.cells)

    def span(self) -> tuple[float, float]:
        """The smallest and the largest number that is drawn."""
        drawn = [end for cell in self.cells for end in cell.ends or () if math.isfinite(end)] or [0.0]
        return min(drawn), max(drawn)


@dataclass(frozen=True, slots=True)
class Page:
    """All that is shown: a table, what is left out in its middle, remarks below, and perhaps a chart."""

    columns: tuple[Column, ...]
    caption: str
    left_out: str = ""
    remarks: tuple[str, ...] = ()
    chart: Any = None  # of Altair


def written(page: Page) -> str:
    """The page in HTML.

    >>> written(Page((Column("<n>", (Cell("7 ± 1", (6, 7, 8)),)),), "95% intervals")).count("<n>")
    0
    """
    heads = "".join(_head(column) for column in page.columns)
    rows = _rows(page.columns)
    if page.left_out:
        gap = f'<tr><td colspan="{len(page.columns)}" style="text-align:center">{_safe(page.left_out)}</td></tr>'
        rows.insert(len(rows) // 2, gap)
    caption = f'<caption style="text-align:left">{_safe(page.caption)}</caption>'
    table = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    remarks = "".join(f'<p style="max-width:60em">{_safe(remark)}</p>' for remark in page.remarks)
    return f'<div class="{_NOT_TYPESET}">{table}{remarks}{_picture(page.chart, page.caption)}</div>'


def _rows(columns: Sequence[Column]) -> list[str]:
    drawn = [[_cell(column, cell, column.span()) for cell in column.cells] for column in columns]
    return [f"<tr>{''.join(row)}</tr>" for row in zip(*drawn, strict=True)]


def _head(column: Column) -> str:
    return f'<th scope="col" style="{_style(column)}">{_safe(column.name)}{"" if column.is_key else _NO_BAR}</th>'


def _cell(column: Column, cell: Cell, span: tuple[float, float]) -> str:
    if column.is_key:
        return f'<th scope="row" style="{_style(column)};font-weight:normal">{_safe(cell.text)}</th>'
    bar = _NO_BAR if cell.ends is None else _bar(cell.ends, span)
    return f'<td style="{_style(column)};white-space:nowrap">{_safe(cell.text)}{bar}</td>'


def _style(column: Column) -> str:
    return f"text-align:{'left' if column.is_key else 'right'};padding:0.2em 0.7em"


def _safe(text: str) -> str:
    return html.escape(text)


def _bar(ends: Ends, span: tuple[float, float]) -> str:
    """A line from low to high with a cap at each end, or an arrow where there is no end, and a dot at the value."""
    low, value, high = (_across(end, span) for end in ends)
    marks = [f'<path d="M{low} {_MIDDLE}H{high}"/>']
    for place, end, outward in ((low, ends[0], -1), (high, ends[2], 1)):
        tip = f"M{place - 4 * outward} 2L{place} {_MIDDLE}L{place - 4 * outward} {_HEIGHT - 2}"
        marks.append(f'<path d="{f"M{place} 2V{_HEIGHT - 2}" if math.isfinite(end) else tip}"/>')
    dot = f'<circle cx="{value}" cy="{_MIDDLE}" r="2.5" fill="{BLUE}" stroke="none"/>' if math.isfinite(ends[1]) else ""
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true" style="margin-left:1em;vertical-align:middle" '
        f'fill="none" stroke="currentColor" stroke-width="1.5">{"".join(marks)}{dot}</svg>'
    )


def _across(end: float, span: tuple[float, float]) -> float:
    """Where a number is drawn; halves, since the distance of two large numbers may be infinite."""
    low, high = span[0] / 2, span[1] / 2
    if not math.isfinite(end):
        return _WIDTH - 1.0 if end > 0 else 1.0
    share = (end / 2 - low) / (high - low) if high > low else 0.5
    return round(_EDGE + share * (_WIDTH - 2 * _EDGE), 1)


def _picture(chart: Any, caption: str) -> str:
    """A chart as a picture inside the page: nothing in it can run, and its names meet no others."""
    if chart is None:
        return ""
    import vl_convert

    drawn = base64.b64encode(vl_convert.vegalite_to_svg(chart.to_dict()).encode()).decode()
    described = _safe(f"Chart of the table above: {caption}")
    return f'<img alt="{described}" style="max-width:100%" src="data:image/svg+xml;base64,{drawn}">'
