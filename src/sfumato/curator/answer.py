"""What the analyst gets: values, intervals, the promise and the receipt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato import charts
from sfumato.curator.result import Row
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was charged, what is left, and what was not protected."""

    id: str
    cost: Guarantee
    remaining: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A private answer; `rows` and `intervals` are all that the analyst may know."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    intervals: dict[str, list[tuple[float, float] | None]]
    guarantee: Guarantee
    receipt: Receipt
    confidence: float
    explanation: str

    def explain(self) -> str:
        """How the answer came about, step by step."""
        return self.explanation

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of values, each estimate with its interval as NAME_low and NAME_high."""
        table: dict[str, list[Any]] = {}
        for name in self.columns:
            table[name] = [row[name] for row in self.rows]
            if any(interval is not None for interval in self.intervals[name]):
                table[f"{name}_low"] = [None if pair is None else pair[0] for pair in self.intervals[name]]
                table[f"{name}_high"] = [None if pair is None else pair[1] for pair in self.intervals[name]]
        return table

    def to_pandas(self) -> Any:
        """A pandas frame."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars frame."""
        import polars

        return polars.DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        """An Arrow table."""
        import pyarrow

        return pyarrow.table(self.to_dict())

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file with intervals beside the values."""
        import csv

        table = self.to_dict()
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))

    def plot(self, column: str | None = None) -> Any:
        """An Altair chart of one column with its error bars; the first one with intervals unless named."""
        valued = [name for name in self.columns if any(pair is not None for pair in self.intervals[name])]
        chosen = column or valued[0]
        if chosen not in valued:
            raise InvalidArgument(
                f"column must be one with intervals ({', '.join(valued)}); got {column!r}; choose one"
            )
        keys = [name for name in self.columns if name not in valued]
        labels = [" / ".join(str(row[name]) for name in keys) if len(keys) != 1 else row[keys[0]] for row in self.rows]
        title = f"{chosen}, with {self.confidence:.0%} intervals; epsilon {float(self.guarantee.epsilon):g}"
        names = {"label": ", ".join(keys) or "all", "value": chosen, "title": title}
        bars = [pair or (row[chosen], row[chosen]) for row, pair in zip(self.rows, self.intervals[chosen], strict=True)]
        return charts.with_intervals(labels or ["all"], [row[chosen] for row in self.rows], bars, names)

    def __str__(self) -> str:
        """A plain table: value ± half-width, or [low, high] where the interval is not centred."""
        cells = [list(self.columns)]
        for place, row in enumerate(self.rows):
            cells.append([_shown(row[name], self.intervals[name][place]) for name in self.columns])
        widths = [max(len(line[i]) for line in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        return "\n".join(lines)


def rounded(value: float, interval: tuple[float, float] | None) -> float:
    """A number without the digits that are only noise: rounded to a hundredth of the half-width, about."""
    if interval is None or not math.isfinite(value):
        return value
    sides = [side for side in (value - interval[0], interval[1] - value) if 0 < side < math.inf]
    return round(value, 2 - math.floor(math.log10(max(sides)))) if sides else value


def _shown(value: Any, interval: tuple[float, float] | None) -> str:
    if interval is None or value is None:
        return f"{value:g}" if isinstance(value, float) else str(value)
    below, above = value - interval[0], interval[1] - value
    finite = [side for side in (below, above) if 0 < side < math.inf]
    digits = max(0, 1 - math.floor(math.log10(max(finite)))) if finite else 0
    number = f"{value:,.{digits}f}"
    if math.isfinite(below) and math.isfinite(above) and abs(below - above) <= 0.01 * max(below, above):
        return f"{number} ± {above:,.{digits}f}"
    return f"{number} [{interval[0]:,.{digits}f}, {interval[1]:,.{digits}f}]"


def answer_rows(rows: Sequence[Row], columns: tuple[str, ...]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows with noise digits rounded away, and their intervals by column."""
    intervals = {name: [row.intervals[name] for row in rows] for name in columns}
    listed = [
        {
            name: rounded(row.values[name], row.intervals[name]) if row.intervals[name] else row.values[name]
            for name in columns
        }
        for row in rows
    ]
    return listed, intervals
