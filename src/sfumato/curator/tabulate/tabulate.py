"""`sf.histogram`: a private histogram of one or several columns, asked in SQL and charged like any question.

Rows are sorted into bins by a CASE, one group for each bin, so that a row moves one cell by one: the whole table costs
epsilon once. `Histogram.question` is the SQL; asked by `Curator.ask` it gives the same cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from sfumato import checks
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.progress import Progress
from sfumato.curator.tabulate import edges as bought
from sfumato.curator.tabulate.axis import Axis, binned, equal_width, keyed, read_edges
from sfumato.curator.tabulate.histogram import Histogram
from sfumato.dataset.column import Column, Key
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table
from sfumato.errors import BudgetExhausted, InvalidArgument, UnboundedColumn, UnknownName, UnsupportedQuery
from sfumato.plan.syntax.node import Query, TableName, quoted
from sfumato.plan.syntax.parse import parse
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import find, nearest, takes

AUTO = "auto"
_BINS = 10
_TENTH = Fraction(1, 10)
_UNIT = 10**9  # of the ledger: shares in these parts add up to epsilon there, too
Bins = int | str | Sequence[float] | Mapping[str, Any] | None


@takes("write sf.histogram(curator, 'people', 'age', bins=12, epsilon=0.5)")
def histogram(
    curator: Curator,
    table: str,
    columns: str | Sequence[str],
    *,
    bins: Bins = None,
    epsilon: checks.Number | None = None,
    count: str = "rows",
    where: str | None = None,
    tidy: bool = False,
    delta: checks.Number = 0,
    noise: str | None = None,
    confidence: checks.Number = 0.95,
    max_rows_per_unit: int | None = None,
    simultaneous: bool = False,
    analyst: str = "analyst",
    progress: Progress | None = None,
) -> Histogram:
    """A private histogram of a column, or of several together.

    curator   whose table it is
    table     its name
    columns   one name, or a list: the cells are then all combinations
    bins      how many of equal width in the declared bounds, or their edges, or 'auto', or a mapping by column
    epsilon   all that is charged
    count     'rows', or 'units': how many units have a row in the cell
    where     a condition in SQL on the rows that count
    tidy      whether counts are whole numbers of at least zero, which add up to the total
    delta, noise, confidence, max_rows_per_unit, simultaneous, analyst, progress
              as in `Curator.ask`

    A column with declared keys has these for bins, a truth value its two; any other has ten bins unless said. Bins hold
    their lower edge, the last one both. Values beyond declared bounds count in the outermost bins; values beyond given
    edges are left out, unless the first edge is -inf or the last inf. Missing values are left out.

    'auto' buys edges: a tenth of epsilon tells where the values lie, so that bins hold about equally many, and another
    tenth finds bounds first where none are declared. What lies beyond those counts in the outermost bins.
    """
    options = {
        "delta": delta,
        "noise": noise,
        "confidence": confidence,
        "max_rows_per_unit": max_rows_per_unit,
        "simultaneous": simultaneous,
        "analyst": analyst,
    }
    asked = _Asked(curator, *_known(curator, table), count, _condition(table, where), epsilon, options, progress)
    names = _names(columns, asked.table)
    chosen = _chosen(bins, names)
    if AUTO in chosen.values():
        return _tidied(_bought(asked, chosen), tidy)
    return _tidied(asked.ask([_axis(name, asked.table.columns[name], chosen[name]) for name in names]), tidy)


@dataclass(frozen=True, slots=True)
class _Asked:
    """All of a histogram but its axes."""

    curator: Curator
    name: str
    table: Table
    count: str
    where: str
    epsilon: checks.Number | None
    options: dict[str, Any]
    progress: Progress | None = None

    def question(self, axes: Sequence[Axis]) -> str:
        keys = ", ".join(f"{axis.sql} AS bin_{place}" for place, axis in enumerate(axes, 1))
        groups = ", ".join(str(place) for place in range(1, len(axes) + 1))
        return f"SELECT {keys}, {self._measure()} AS n FROM {quoted(self.name)}{self.where} GROUP BY {groups}"

    def _measure(self) -> str:
        if self.count not in ("rows", "units"):
            raise InvalidArgument(f"count must be 'rows' or 'units'; got {self.count!r}; choose one")
        units = ", ".join(map(quoted, self._owner().unit.columns))
        return f"COUNT(DISTINCT {units})" if self.count == "units" and units else "COUNT(*)"

    def _owner(self) -> Table:
        """The table whose unit it is."""
        table = self.table
        while table.inherits is not None:
            table = self.curator.tables[find(table.inherits.table, self.curator.tables, what="table", where="it")]
        return table

    def ask(self, axes: Sequence[Axis], **instead: Any) -> Histogram:
        """The histogram with these axes; refusals are those of `ask`."""
        question = self.question(axes)
        options = {"epsilon": self.epsilon, **self.options, **instead}
        answer = self.curator.ask(question, progress=self.progress, **options)
        return _assembled(question, axes, answer)


def _assembled(question: str, axes: Sequence[Axis], answer: Answer) -> Histogram:
    """The histogram of an answer, its cells in the order of the axes."""
    released = answer.basis.released["n"]
    keys: list[list[Key]] = [
        [*axis.labels] if axis.edges is None else [*range(len(axis.labels))]  # type: ignore[list-item]
        for axis in axes
    ]
    names = [f"bin_{place}" for place in range(1, len(axes) + 1)]
    found = {
        tuple(row[name] for name in names): number for row, number in zip(answer.rows, released.numbers, strict=True)
    }
    numbers = tuple(found[cell] for cell in product(*keys))
    counts = tuple(number * float(released.step) for number in numbers)
    released = replace(released, numbers=numbers)
    receipt, how = answer.receipt, answer.explanation
    return Histogram(tuple(axes), counts, released, 1, answer.guarantee, receipt, answer.confidence, question, how)


def _tidied(found: Histogram, tidy: bool) -> Histogram:
    return found.tidy() if tidy else found


def _known(curator: Curator, table: str) -> tuple[str, Table]:
    if not isinstance(curator, Curator):
        raise InvalidArgument(f"histogram must be given a Curator first; got a {type(curator).__name__}; make one")
    name = find(str(table), curator.tables, what="table", where="this curator")
    return name, curator.tables[name]


def _names(columns: str | Sequence[str], table: Table) -> list[str]:
    listed = [columns] if isinstance(columns, str) else list(columns)
    names = [table.find(str(name)) for name in listed]
    if not names or len(set(names)) < len(names):
        raise InvalidArgument(f"columns must be one or several different ones; got {columns!r}; name each once")
    return names


def _condition(table: str, where: str | None) -> str:
    """WHERE with the analyst's condition, and nothing but a condition."""
    if where is None:
        return ""
    query = parse(f"SELECT COUNT(*) FROM {quoted(str(table))} WHERE {where}")
    if query != Query(query.outputs, TableName(str(table)), query.where) or query.where is None:
        raise UnsupportedQuery("where must be one condition, such as \"age >= 18 AND region = 'north'\"; got more")
    return f" WHERE {query.where.sql()}"


def _chosen(bins: Bins, names: Sequence[str]) -> dict[str, Any]:
    """What was said about the bins of each column."""
    if not isinstance(bins, Mapping):
        return dict.fromkeys(names, bins)
    spelled = {name.lower(): name for name in names}
    for name in bins:
        if str(name).lower() not in spelled:
            raise UnknownName(f"bins: unknown column {name!r}; {nearest(str(name), names)}")
    given = {spelled[str(name).lower()]: each for name, each in bins.items()}
    return {name: given.get(name) for name in names}


def _axis(name: str, declared: Column, bins: Any) -> Axis:
    if declared.keys is not None and (bins is None or isinstance(bins, (int, str))):
        return keyed(name, sorted(declared.keys) if _are_numbers(declared) else declared.keys)
    if declared.kind is Kind.BOOLEAN:
        return keyed(name, (False, True))
    if bins is None or isinstance(bins, int):
        return binned(name, equal_width(_bounds(name, declared), _BINS if bins is None else bins), declared.bounds)
    if isinstance(bins, str) or not hasattr(bins, "__iter__"):
        raise InvalidArgument(f"bins must be a number, a list of edges or 'auto'; got {bins!r}; for example 20")
    _check_numbers(name, declared)
    return binned(name, read_edges(list(bins)), declared.bounds)


def _are_numbers(declared: Column) -> bool:
    return declared.kind is not None and declared.kind.is_number


def _check_numbers(name: str, declared: Column) -> None:
    if not _are_numbers(declared):
        raise UnsupportedQuery(f"{name} has no numbers to sort into bins, but {declared.kind}; declare keys for it")


def _bounds(name: str, declared: Column) -> Any:
    _check_numbers(name, declared)
    if declared.bounds is None:
        raise UnboundedColumn(
            f"{name} has no declared bounds in which bins could lie; declare them, give edges, or let the histogram "
            "estimate them: bins='auto'"
        )
    return declared.bounds


def _bought(asked: _Asked, chosen: Mapping[str, Any]) -> Histogram:
    """The histogram whose edges are estimated first, each with its share of epsilon."""
    if asked.epsilon is None or "within" in asked.options:
        raise InvalidArgument("bins='auto' must be given epsilon, and not within; it is shared among several steps")
    total = checks.positive(epsilon=asked.epsilon)
    analyst = asked.options.get("analyst", "analyst")
    if asked.curator.remaining(analyst).epsilon < total:
        raise BudgetExhausted(
            f"an epsilon of {float(total):g} is more than is left, and bins='auto' spends it in several steps; nothing "
            "was charged; take a smaller epsilon, or give edges"
        )
    names = [name for name, bins in chosen.items() if bins == AUTO and asked.table.columns[name].keys is None]
    share = Fraction(int(total * _TENTH / max(1, len(names)) * _UNIT), _UNIT)
    if names and not share:
        raise InvalidArgument("epsilon must be at least 1e-7 to be shared; got less; give a larger one, or edges")
    _check_all(asked, chosen, names)
    spent, costs, axes = Fraction(0), [], []

    def pilot(axis: Axis) -> Histogram:
        nonlocal spent
        spent += share
        found = asked.ask([axis], epsilon=share, delta=0, noise="laplace", simultaneous=False)
        costs.append(found.guarantee)
        return found

    for name, bins in chosen.items():
        declared = asked.table.columns[name]
        axes.append(_bought_axis(name, declared, pilot) if name in names else _axis(name, declared, bins))
    found = asked.ask(axes, epsilon=total - spent)
    return _charged(found, costs)


def _check_all(asked: _Asked, chosen: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse what is refused by the text before a step of it is charged: all columns, all options, and delta."""
    axes = []
    for name, bins in chosen.items():
        declared = asked.table.columns[name]
        if name in names:
            _check_numbers(name, declared)
        axes.append(binned(name, bought.OCTAVES, None) if name in names else _axis(name, declared, bins))
    options = {"epsilon": asked.epsilon, **asked.options}
    if not asked.curator.quote(asked.question(axes), **options).fits:
        raise BudgetExhausted("Not enough budget; nothing was charged.", fix="Take a smaller epsilon or delta.")


def _bought_axis(name: str, declared: Column, pilot: Callable[[Axis], Histogram]) -> Axis:
    _check_numbers(name, declared)
    if declared.bounds is None:
        bounds = bought.bounds_in(pilot(binned(name, bought.OCTAVES, None)))
        coarse = pilot(binned(name, equal_width(bounds, bought.COARSE), bounds, clipped=True))
        inner = bought.edges_in(coarse)[1:-1]  # nobody declared where values end
        return binned(name, [-math.inf, *inner, math.inf], None)
    coarse = pilot(binned(name, equal_width(declared.bounds, bought.COARSE), declared.bounds, clipped=True))
    return binned(name, bought.edges_in(coarse), declared.bounds, clipped=True)


def _charged(found: Histogram, costs: Sequence[Guarantee]) -> Histogram:
    """The histogram with the cost of all steps."""
    last = found.guarantee
    epsilon = sum((cost.epsilon for cost in costs), last.epsilon)
    whole = Guarantee(epsilon, last.delta, last.neighbors, last.unit)
    note = f"The edges were estimated first with epsilon {float(epsilon - last.epsilon):g}; the cost includes it."
    receipt = replace(found.receipt, cost=whole, notes=(*found.receipt.notes, *([note] if costs else [])))
    return replace(found, guarantee=whole, receipt=receipt)
