"""One question as SQL, on any engine.

The rows of a question are one view; a pass over it by unit gives the contributions, a second pass joins rows with their
unit's weight. A weight is an integer f of 2**30ths: f = 2**30 where the contribution n is at most C, else
floor(C * 2**30 / n). A row of v steps counts (v * f) // 2**30, which truncates toward zero; so a unit's rows add up to
at most n * f / 2**30 <= C in absolute value, exactly. Proof: docs/proofs/means.md.

For Gaussian noise the contribution is the L2 norm of what a unit has in all groups, so its rows are first collapsed to
one row by unit and group. There a sum is cut at 2**52 steps and a number of rows at 2**31; squares are whole numbers,
and the norm is the least whole number whose square is as large, or a little more. Scaled in the same way, a unit's sums
have at most the norm C.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

from sfumato.dataset.column import Key
from sfumato.engines.engine import Among, Cells, Spots
from sfumato.engines.sql.center import averages
from sfumato.engines.sql.distinct import count_values, list_values
from sfumato.engines.sql.group_keys import Keys
from sfumato.engines.sql.key_discovery import UndeclaredKeys
from sfumato.engines.sql.quantile_line import Opened, landmarks, place_rows, placed, spots
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.session import Session
from sfumato.engines.sql.weights import WEIGHT, contribution_bins, octave, root, taken, weight
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.contribution import BINS, MAGNITUDES, SIGNED
from sfumato.statistics.statistic import MOST_ROWS, Gathering
from sfumato.statistics.steps import ROW

MASK = 60  # groups that fit into the bits of one integer


class SqlRun(Rows):
    """One question on its data."""

    def __init__(self, session: Session, plan: PricedPlan) -> None:
        super().__init__(session, plan)
        counts_units = any(measure.statistic.gathering is Gathering.UNITS for measure in self.bound.measures)
        self.collapses = plan.norm is Norm.L2 and bool(self.units)
        grouped = counts_units and bool(self.groups) and not self.collapses
        self.masked = grouped and not self.bound.undeclared and len(self.keys()) <= MASK
        self.paired = grouped and not self.masked

    def keys(self) -> list[tuple[Key, ...]]:
        """The keys of all groups in the order they were declared."""
        return self.listed

    def magnitudes(self, measure: int) -> list[int]:
        """Units by the bin of their largest absolute value; units without a value are in no bin."""
        largest = (
            f"max(abs(x{measure})) AS m FROM {self.kept} WHERE x{measure} IS NOT NULL GROUP BY {', '.join(self.units)}"
        )
        if not self.units:
            largest = f"abs(x{measure}) AS m FROM {self.kept} WHERE x{measure} IS NOT NULL"
        place = f"CAST({octave(self.dialect, 'm')} AS BIGINT)"
        bins = f"SELECT {place} AS j, count(*) FROM (SELECT {largest}) AS those GROUP BY j"
        return _dense(self.fetch(bins), MAGNITUDES)

    def averages(self, measure: int, priced: PricedMeasure, among: Among) -> list[int]:
        """Units by the signed bin of their average value in any group."""
        return _dense(averages(self, measure, priced, among), 2 * SIGNED)

    def prepare(self, measures: Sequence[PricedMeasure]) -> None:
        """One pass by unit: the contribution to every measure, and for counts of units its groups, as a mask."""
        self.measures = tuple(measures)
        for i, each in enumerate(measures):
            if each.measure.points:
                place_rows(self, i)
        if not self.units:
            return
        distinct = [i for i, each in enumerate(measures) if each.measure.statistic.gathering is Gathering.VALUES]
        for i in distinct:
            list_values(self, i)
        if self.collapses and self._weighed():
            self._collapse()
        if self.collapses or not self._weighed():
            return
        columns = ", ".join([*self.units, *(f"{self._contribution(i)} AS n{i}" for i in self._weighed())])
        columns += self._ends()
        mask = f", {self._mask()} AS mask" if self.masked else ""
        rows = placed(self, 0) if self._only_quantiles() else self.addressed(grouped=self.masked)
        self.keep("units", f"SELECT {columns}{mask} FROM {rows} GROUP BY {', '.join(self.units)}")
        if self.paired:
            pair = ", ".join([*self.units, "g"])
            self.keep("pairs", f"SELECT DISTINCT {pair} FROM {self.kept}")
            units = ", ".join(self.units)
            count = f"CAST(count(*) AS {self.dialect.wide}) * {ROW}"
            self.keep("spread", f"SELECT {units}, {count} AS n FROM pairs GROUP BY {units}")

    def _mask(self) -> str:
        """The groups that a unit is in, as bits."""
        return f"bit_or({self.dialect.group_bit('g')})"

    def _collapse(self) -> None:
        """What each unit has in each group, and its L2 norm over the groups."""
        names = {i: self._part_names(i) for i in self._weighed()}
        by = ", ".join([*self.units, *(["g"] if self.groups else [])])
        if self.bound.undeclared and self.collapsed_at_once():
            parts = self._undeclared.parts()
        else:
            rows = placed(self, 0) if self._only_quantiles() else self.halved()
            parts = f"SELECT {by}, {self.part_sums()}{self._ends()} FROM {rows} GROUP BY {by}"
        self.keep("parts", parts)
        squares = [f"{self._squares(i)} AS q{i}" for i in names]
        squares += [f"max({name}) AS t{i}" for i in names for name in names[i] if self.measures[i].measure.points]
        norms = [f"{self._norm(i)} AS n{i}" for i in names]
        ends = [f"{end}{i}" for i in names if self.measures[i].measure.points for end in ("lo", "hi")]
        units = ", ".join(self.units)
        self.keep(
            "units",
            f"SELECT {', '.join([units, *ends, *norms])} FROM (SELECT {units}, {', '.join(squares)}"
            f"{self._ends(of_parts=True)} FROM parts GROUP BY {units}) AS squared",
        )

    def _squares(self, measure: int) -> str:
        """The sum of squares of a unit's parts, in steps: a whole number."""
        if self._counts_rows(measure):
            sums = [self.dialect.sum(f"{name} * {name}") for name in self._part_names(measure)]
            return " + ".join(f"{each} * {ROW * ROW}" for each in sums)
        wide = [f"CAST({name} AS {self.dialect.wide}) * {name}" for name in self._part_names(measure)]
        return self.dialect.sum(" + ".join(wide))

    def _norm(self, measure: int) -> str:
        """A unit's norm; rows on a line are counted without the cut at the largest part, so beyond it none counts."""
        norm = root(self.dialect, f"q{measure}")
        if not self.measures[measure].measure.points:
            return norm
        return f"CASE WHEN t{measure} >= {MOST_ROWS} THEN CAST({1 << 100} AS {self.dialect.wide}) ELSE {norm} END"

    def _only_quantiles(self) -> bool:
        """Whether quantiles of the same values are all that is asked: then their table has all that counts."""
        return self.dialect.narrow and len(self.measures) == 1 and bool(self.measures[0].measure.points)

    def _ends(self, of_parts: bool = False) -> str:
        """The addresses of a unit's least and of its largest value, for quantiles."""
        asked = [i for i, priced in enumerate(self.measures) if priced.measure.points]
        if of_parts:
            return "".join(f", min(lo{i}) AS lo{i}, max(hi{i}) AS hi{i}" for i in asked)
        return "".join(f", {self.end(i, 'min')} AS lo{i}, {self.end(i, 'max')} AS hi{i}" for i in asked)

    def _part_names(self, measure: int) -> list[str]:
        return [f"s{measure}_{cell}" for cell in range(max(1, self.measures[measure].cells))]

    def collapsed_at_once(self) -> bool:
        """Whether nothing has to be bought before rows are collapsed by unit and key."""
        together = (Gathering.ROWS, Gathering.UNITS)
        ready = [
            each.measure.statistic.gathering in together and not each.bounds_share and not each.center_share
            for each in self.plan.measures
        ]
        return self.collapses and all(ready)

    def part_sums(self) -> str:
        """A unit's lattice sums in one group, by their names."""
        named = [zip(self._part(i), self._part_names(i), strict=True) for i in self._weighed()]
        return ", ".join(f"{sql} AS {name}" for each in named for sql, name in each)

    def _counts_rows(self, measure: int) -> bool:
        """Whether parts are numbers of rows, or of units; others are in steps."""
        return self.measures[measure].measure.statistic.counts_rows

    def _part(self, measure: int) -> Sequence[str]:
        """A unit's lattice sums in one group, or how many rows it has there."""
        priced = self.measures[measure]
        return priced.measure.statistic.unit_sums(self.row(measure), priced)

    def _part_cells(self, limits: Sequence[int]) -> str:
        """Sums of all parts, and what weights take off those of units beyond a limit: few, so that is quick."""
        parts = [(name, i) for i in self._summed() for name in self._part_names(i)]
        scale = {i: ROW if self._counts_rows(i) else 1 for i in self._summed()}
        wide, total = self.dialect.wide, self.dialect.sum
        whole = [f"CAST({total(name)} AS {wide}) * {scale[i]} AS {name}" for name, i in parts]
        steps = {name: f"CAST({name} AS {wide}) * {scale[i]}" for name, i in parts}
        left = {name: self.dialect.wide_over(f"{steps[name]} * f{i}", WEIGHT) for name, i in parts}
        taken = [f"CAST({total(f'({left[name]}) - {steps[name]}')} AS {wide})" for name, _ in parts]
        joined = f"parts JOIN {self._heavy(self._summed(), limits)} USING ({', '.join(self.units)})"
        rows = f"SELECT {self.place} AS g, {', '.join(whole)} FROM parts{self.by} "
        rows += f"UNION ALL SELECT {self.place}, {', '.join(taken)} FROM {joined}{self.by}"
        return f"SELECT g, {', '.join(total(name) for name, _ in parts)} FROM ({rows}) AS summed GROUP BY g"

    def _heavy(self, which: Sequence[int], limits: Sequence[int]) -> str:
        """The units beyond a limit, with their weights; often few, so that the rows of all others find nobody in it."""
        weights = [f"{weight(self.dialect, f'n{i}', limits[i])} AS f{i}" for i in which]
        heavy = " OR ".join(f"n{i} > CAST({limits[i]} AS {self.dialect.wide})" for i in which)
        return f"(SELECT {', '.join([*self.units, *weights])} FROM units WHERE {heavy}) AS heavy"

    def _contribution(self, measure: int) -> str:
        """The contribution of a unit, over its rows."""
        priced = self.measures[measure]
        if priced.measure.statistic.gathering is Gathering.UNITS:
            groups = self.dialect.bits(self._mask())
            one = f"CAST({ROW} AS {self.dialect.wide})"
            return self.dialect.unit_steps(groups, ROW) if self.masked else one
        return priced.measure.statistic.unit_contribution(self.row(measure), priced)

    def contributions(self, measure: int) -> list[int]:
        """Units by the bin of their contribution; a unit without any is in no bin."""
        pairs = self.paired and self._gathers(measure, Gathering.UNITS)
        n, table = ("n", "spread") if pairs else (f"n{measure}", "units")
        if self._gathers(measure, Gathering.VALUES):
            table = f"having{measure}"
        if not self.units:
            table = f"(SELECT {self.row_contribution(measure)} AS n{measure} FROM {self.kept}) AS those"
        rows = f"SELECT CAST({n} AS {self.real}) / {self.measures[measure].row_steps} AS v FROM {table} WHERE {n} > 0"
        return _dense(self.fetch(contribution_bins(self.dialect, rows)), BINS)

    def cells(self, limits: Sequence[int]) -> Cells:
        """The weighted sums of every group: one pass over the rows, and one over the units where units are counted."""
        found: dict[tuple[Key, ...], list[int]] = {}
        places = [i for i, priced in enumerate(self.measures) for _ in range(priced.cells)]
        summed = self._summed()
        by_rows = [i for i in summed if not self._gathers(i, Gathering.UNITS)]
        if self.collapses and summed:
            by_rows = summed
            self._collect(found, places, by_rows, self.fetch(self._part_cells(limits)))
        elif by_rows:
            self._collect(found, places, by_rows, self.fetch(self._row_cells(by_rows, limits)))
        for i in set(summed) - set(by_rows):
            self._collect(found, places, [i], self._unit_cells(i, limits[i]))
        for i in set(range(len(self.measures))) - set(self._weighed()):
            self._collect(found, places, [i], count_values(self, i, limits[i]))
        self.check_unchanged()
        return found

    def _weighed(self) -> list[int]:
        """The measures that weigh units; a number of distinct values has them keep some."""
        return [i for i in range(len(self.measures)) if not self._gathers(i, Gathering.VALUES)]

    def _gathers(self, measure: int, what: Gathering) -> bool:
        return self.measures[measure].measure.statistic.gathering is what

    def _summed(self) -> list[int]:
        """Those of them that are sums over groups; quantiles are not."""
        return [i for i in self._weighed() if self.measures[i].cells]

    def _collect(self, found: dict[tuple[Key, ...], list[int]], places: list[int], which: list[int], rows: Any) -> None:
        """Put sums where they belong; a group is known by its place in the public list, whatever the rows spell."""
        into = [position for position, measure in enumerate(places) if measure in which]
        for place, *values in rows:
            cells = found.setdefault(self.listed[place - 1], [0] * len(places))
            for position, value in zip(into, values, strict=True):
                cells[position] = int(value or 0)

    def _row_cells(self, which: list[int], limits: Sequence[int]) -> str:
        steps = {i: self.steps(i) for i in which}
        if not self.units:  # a row is a unit: its own contribution is the sum of its absolute steps
            own = {i: self.row_contribution(i) for i in which}
            weights = {i: f"({weight(self.dialect, own[i], limits[i])})" for i in which}
            parts = [self._own_part(step, weights[i], self._wide(i)) for i in which for step in steps[i]]
            adding = [self._adding(i) for i in which for _ in steps[i]]
            sums = [add(part) for add, part in zip(adding, parts, strict=True)]
            return self._by_group(sums, self.halved(grouped=False))
        sums = [
            f"{whole} + {taken(self.dialect, step, i, self._wide(i))}"
            for i in which
            for whole, step in zip(self._whole(i), steps[i], strict=True)
        ]
        heavy = self._heavy(which, limits)
        return self._by_group(sums, f"{self.halved(grouped=False)} LEFT JOIN {heavy} USING ({', '.join(self.units)})")

    def _by_group(self, sums: Sequence[str], rows: str) -> str:
        """Sums of rows by the place of their group, which is looked up for sums rather than for rows, if it can be."""
        if self.among == self.kept:
            return f"SELECT {self.place}, {', '.join(sums)} FROM {rows}{self.by}"
        (key,) = self.groups
        named = ", ".join(f"{each} AS t{place}" for place, each in enumerate(sums))
        summed = f"(SELECT {key}, {named} FROM {rows} GROUP BY {key}) AS summed"
        return f"SELECT place, {', '.join(f't{i}' for i in range(len(sums)))} FROM {summed} JOIN keys USING ({key})"

    def _adding(self, measure: int) -> Callable[[str], str]:
        """How what rows give to a measure is added up."""
        return self.dialect.sum if self._wide(measure) else self.dialect.row_sum

    def _whole(self, measure: int) -> Sequence[str]:
        """The sums of a group's rows without weights: of the steps that each row has."""
        priced = self.measures[measure]
        return priced.measure.statistic.group_sums(self.row(measure), priced)

    def _own_part(self, step: str, weight: str, wide: bool) -> str:
        """A row's steps, weighed where a row is a unit."""
        if wide:
            return self.dialect.wide_over(f"(CAST({step} AS {self.dialect.wide})) * {weight}", WEIGHT)
        return self.dialect.over(f"({step}) * {weight}", WEIGHT)

    def _wide(self, measure: int) -> bool:
        """Whether a row may have so many steps that their product with a weight needs 128 digits."""
        return self.measures[measure].measure.statistic.is_wide

    def landmarks(self, measure: int, width: int) -> dict[int, int]:
        """Units by the cell of one of their values."""
        return landmarks(self, measure, width)

    def spots(
        self, measure: int, limits: Sequence[int], shift: int, opened: Opened, outer: int = 0
    ) -> dict[tuple[Key, ...], Spots]:
        """The weighted rows of every group by the address of their value; only of rows in opened cells, if any are."""
        return spots(self, measure, limits, shift, opened, outer)

    def scores(self, weights: Sequence[int], found: Collection[tuple[Key, ...]]) -> dict[tuple[Key, ...], int]:
        """The weighted units of every key that occurs and was not found before."""
        return self._undeclared.scores(weights, found)

    @cached_property
    def _undeclared(self) -> UndeclaredKeys:
        if not self.collapsed_at_once():
            return UndeclaredKeys(self, "", ())
        return UndeclaredKeys(self, self.part_sums(), [name for i in self._weighed() for name in self._part_names(i)])

    def choose(self, keys: Sequence[tuple[Key, ...]]) -> None:
        """Go on with these keys, which were found."""
        self.listed = list(keys)
        Keys(self.session, self.bound, self.groups).put(self.listed)

    def _unit_cells(self, measure: int, limit: int) -> list[tuple[Any, ...]]:
        """The weighted number of units in every group."""
        each = self.dialect.over(f"CAST({ROW} AS BIGINT) * f", WEIGHT)
        total = self.dialect.sum(each)
        own = f"{weight(self.dialect, f'n{measure}', limit)} AS f"
        if not self.groups:
            return self.fetch(f"SELECT 1, {total} FROM (SELECT {own} FROM units) AS weights")
        if self.paired:
            weights = f"SELECT {', '.join(self.units)}, {weight(self.dialect, 'n', limit)} AS f FROM spread"
            joined = f"pairs JOIN ({weights}) AS weights USING ({', '.join(self.units)})"
            return self.fetch(f"SELECT g, {total} FROM {joined} GROUP BY g")
        bits = [f"(({self.dialect.shifted('mask', place + 1)}) & 1)" for place in range(len(self.listed))]
        sums = ", ".join(self.dialect.sum(f"c * {bit}") for bit in bits)
        inner = f"SELECT mask, {each} AS c FROM (SELECT mask, {own} FROM units) AS weights"
        (totals,) = self.fetch(f"SELECT {sums} FROM ({self.dialect.once(inner)}) AS weighed")
        return [(place + 1, total) for place, total in enumerate(totals)]


def _dense(rows: list[tuple[Any, ...]], size: int) -> list[int]:
    counts = [0] * size
    for place, count in rows:
        counts[int(place)] = int(count)
    return counts
