"""What the analyst gets: values, intervals, the promise and the receipt."""

from __future__ import annotations

import datetime
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sfumato import charts, checks
from sfumato.curator.answers import html
from sfumato.curator.answers.compare import Basis, Groups
from sfumato.curator.answers.rows import Row
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.digits import rounded, shown
from sfumato.statistics.estimate import Estimate

AGAIN = "This was asked before. It is the same answer, at no further cost."
_LONGEST, _ENDS = 60, 20  # rows that are printed at all, and at both ends of a longer table
_WIDTH = 100
_DRAWN = 400  # rows of a chart that a notebook draws by itself
_SUBTITLE = 90  # characters of a note in a chart


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was charged, what is left, and what was not protected.

    `id` names the entry of the ledger that paid; `ledger.verify`, `ledger.entry` and `ledger.erase` take it.
    """

    id: str
    cost: Guarantee
    remaining: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A private answer; `rows` and `intervals` are all that the analyst may know, `receipt.notes` how to read them."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    intervals: dict[str, list[tuple[float, float] | None]]
    guarantee: Guarantee
    receipt: Receipt
    confidence: float
    explanation: str
    basis: Basis = field(default_factory=Basis, repr=False)

    def explain(self) -> str:
        """How the answer came about, step by step."""
        return self.explanation

    def difference(self, column: str, group: Mapping[str, Any], other: Mapping[str, Any]) -> Estimate:
        """One group less another, as in `difference("n", {"region": "north"}, {"region": "south"})`, with an interval.

        It costs nothing. Of counts and sums a group may be named by some of its keys: then it is the sum over the rest.
        """
        return self._groups().difference(column, group, other)

    def ratio(self, column: str, group: Mapping[str, Any], other: Mapping[str, Any]) -> Estimate:
        """One group divided by another, with an interval of its own; at no cost."""
        return self._groups().ratio(column, group, other)

    def share_of_total(self, column: str) -> Answer:
        """Each group's part of the sum over all groups, also those that HAVING or LIMIT left out; at no cost."""
        name, keys = f"{column}_share", self._keys()
        shares = self._groups().shares(column)
        rows = [
            {**{key: row[key] for key in keys}, name: None if share is None else rounded(share.value, share.interval)}
            for row, share in zip(self.rows, shares, strict=True)
        ]
        intervals: dict[str, list[tuple[float, float] | None]] = {key: [None] * len(rows) for key in keys}
        intervals[name] = [None if share is None else share.interval for share in shares]
        return replace(self, columns=(*keys, name), rows=rows, intervals=intervals, basis=Basis())

    def _groups(self) -> Groups:
        return Groups(self._keys(), self.rows, self.basis)

    def _keys(self) -> tuple[str, ...]:
        """The columns that are no estimates."""
        return tuple(name for name in self.columns if all(pair is None for pair in self.intervals[name]))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns of values, each estimate with its interval as NAME_low and NAME_high; notes: `receipt.notes`."""
        table: dict[str, list[Any]] = {}
        for name in self.columns:
            table[name] = [row[name] for row in self.rows]
            if any(interval is not None for interval in self.intervals[name]):
                table[f"{name}_low"] = [None if pair is None else pair[0] for pair in self.intervals[name]]
                table[f"{name}_high"] = [None if pair is None else pair[1] for pair in self.intervals[name]]
        return table

    def to_pandas(self) -> Any:
        """A pandas frame."""
        checks.installed("pandas", extra="arrow", needs="to_pandas")
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars frame."""
        checks.installed("polars", extra="arrow", needs="to_polars")
        import polars

        return polars.DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        """An Arrow table."""
        checks.installed("pyarrow", extra="arrow", needs="to_arrow")
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

    def plot(self, column: str | None = None, *, notes: bool = True) -> Any:
        """An Altair chart of one column with its error bars; the first one with intervals unless named.

        One key goes along the axis, dates and numbers first; others become colors. `save('chart.png')` writes it.
        """
        valued = self._valued()
        if not valued:
            raise InvalidArgument("a plot must have a column with intervals, and a row; got none; ask for another")
        chosen = column or valued[0]
        if chosen not in valued:
            raise InvalidArgument(
                f"column must be one with intervals ({', '.join(valued)}); got {column!r}; choose one"
            )
        keys = self._along([name for name in self.columns if name not in valued])
        points = [
            self._point(row, keys, row[chosen], pair or (row[chosen], row[chosen]))
            for row, pair in zip(self.rows, self.intervals[chosen], strict=True)
            if row[chosen] is not None
        ]
        title = f"{chosen}, with {self.confidence:.0%} intervals; epsilon {float(self.guarantee.epsilon):g}"
        noted = [note for note in self.receipt.notes if notes and note != AGAIN]  # a reader of charts did not ask
        said = tuple(textwrap.shorten(note, _SUBTITLE, placeholder=" ...") for note in noted)
        names = charts.Names(", ".join(keys[:1]), chosen, title, " / ".join(keys[1:]), said)
        return charts.with_intervals(points, names)

    def _point(self, row: dict[str, Any], keys: list[str], value: float, pair: tuple[float, float]) -> charts.Point:
        series = " / ".join(charts.in_words(row[name]) for name in keys[1:]) if len(keys) > 1 else None
        return charts.Point(row[keys[0]] if keys else "all", value, *pair, series=series)

    def _along(self, keys: list[str]) -> list[str]:
        """The keys, that first which goes along the axis: dates, else numbers, else the first."""
        ranks: tuple[charts.Kind, ...] = ("temporal", "quantitative", "nominal")
        kinds = {name: charts.kind_of([row[name] for row in self.rows]) for name in keys}
        return sorted(keys, key=lambda name: ranks.index(kinds[name]))

    def __repr__(self) -> str:
        """What it is; printing it shows the values."""
        epsilon = float(self.guarantee.epsilon)
        return f"Answer(columns={', '.join(self.columns)}; rows={len(self.rows)}; epsilon={epsilon:g})"

    def __str__(self) -> str:
        """A plain table: value ± half-width, or [low, high] where the interval is not centered; then the notes."""
        places, left_out = self._places()
        columns = [[name, *self.cells(name, places)] for name in self.columns]
        widths = [max(map(len, cells)) for cells in columns]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in zip(*columns, strict=True)
        ]
        if left_out:
            lines.insert(_ENDS + 1, left_out)
        for note in self.receipt.notes:
            lines += textwrap.wrap(f"Note: {note}", _WIDTH, subsequent_indent="      ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For a notebook: the table with error bars, the notes, and a chart where there are groups to compare."""
        places, left_out = self._places()
        columns = tuple(
            html.Column(name, tuple(map(html.Cell, self.cells(name, places), self._ends(name, places))))
            for name in self.columns
        )
        delta = f" and delta {float(self.guarantee.delta):g}" if self.guarantee.delta else ""
        caption = f"{100 * self.confidence:g}% intervals; epsilon {float(self.guarantee.epsilon):g}{delta}"
        remarks = (*(f"Note: {note}" for note in self.receipt.notes), f"Left: {self.receipt.remaining}.")
        has_chart = 0 < len(self._valued()) < len(self.columns) and 1 < len(self.rows) <= _DRAWN
        chart = self.plot(notes=False) if has_chart else None
        return html.written(html.Page(columns, caption, left_out, remarks, chart))

    def _valued(self) -> list[str]:
        """The columns that are estimates."""
        return [name for name in self.columns if any(pair is not None for pair in self.intervals[name])]

    def _places(self) -> tuple[list[int], str]:
        """The rows that are shown, and what to say in their middle if some are not."""
        places = list(range(len(self.rows)))
        if len(places) <= _LONGEST:
            return places, ""
        said = f"... {len(places) - 2 * _ENDS} of {len(places)} rows are left out here; to_pandas() has all ..."
        return [*places[:_ENDS], *places[-_ENDS:]], said

    def _ends(self, name: str, places: list[int]) -> list[html.Ends | None]:
        """Low, value and high of the rows that have them."""
        found = [(self.rows[place][name], self.intervals[name][place]) for place in places]
        return [None if pair is None or value is None else (pair[0], value, pair[1]) for value, pair in found]

    def cells(self, name: str, places: list[int]) -> list[str]:
        """A column of the table; times as days where all are midnights."""
        values = [row[name] for row in self.rows]
        times = [value for value in values if isinstance(value, datetime.datetime)]
        if times and all(time.time() == datetime.time() for time in times):
            values = [value.date() if isinstance(value, datetime.datetime) else value for value in values]
        return [shown(values[place], self.intervals[name][place]) for place in places]


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
