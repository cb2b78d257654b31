"""One question on DuckDB.

The rows of a question are one view; a pass over it by unit gives the influences, a second pass joins rows with their
unit's weight. A weight is an integer f of 2**30ths: f = 2**30 where the influence n is at most C, else
floor(C * 2**30 / n). A row of v steps counts (v * f) // 2**30, which truncates towards zero; so a unit's rows add up to
at most n * f / 2**30 <= C in absolute value, exactly.

For Gaussian noise the influence is the L2 norm of what a unit has in all groups, so its rows are first collapsed to one
row by unit and group: a sum there is cut at 2**52 steps, squares are whole numbers, and the norm is the least whole
number whose square is as large, or a little more. Weighed in the same way, a unit's sums have at most the norm C.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sfumato.dataset.column import Key
from sfumato.engines.duckdb_keys import Keys
from sfumato.engines.duckdb_source import open_source, reading, signature
from sfumato.engines.engine import FAILED, Cells
from sfumato.engines.lower import Lower, number, used_columns
from sfumato.engines.weights import WEIGHT, address, octave, or_zero, root, weighed, weight
from sfumato.errors import EngineFailed
from sfumato.plan.bound import Measure, Statistic
from sfumato.plan.influence import BINS, CLOSE, FINE, HALVES, LAST_FINE, MAGNITUDES, ROW_BIN, SIGNED
from sfumato.plan.node import Column, children, quoted
from sfumato.plan.price import ROW, PricedMeasure, PricedPlan, sum_step
from sfumato.privacy.sensitivity import Norm

PART = 8  # one unit in so many tells where the values of a mean lie
LARGEST_PART = 1 << 52  # steps of one unit in one group; a million squares of it fit 128 bits
SPOT = 40  # binary digits of an address
MASK = 60  # groups that fit into the bits of one integer
_MASK = "bit_or(CAST(1 AS BIGINT) << g)"  # the groups that a unit is in


class DuckdbRun:
    """One question on its data."""

    def __init__(self, connection: Any, plan: PricedPlan) -> None:
        self.connection, self.plan, self.bound = connection, plan, plan.bound
        self.opened = signature(plan.bound.table)
        self.statements: list[str] = []
        self.table = plan.bound.table
        self.lower = Lower(self.table.columns, {Column(name): own for name, own in self._names().items()})
        self.units = [quoted(f"u{i}") for i in range(len(self.table.unit.columns))]
        self.groups = [quoted(f"k{i}") for i in range(len(self.bound.groups))]
        self.place, self.by = ("g", " GROUP BY g") if self.groups else ("1", "")
        self.measures: tuple[PricedMeasure, ...] = plan.measures
        self.source = open_source(connection, self.table, self._names())
        self.listed = Keys(self._execute, self.bound, self.groups).listed()
        counts_units = any(measure.statistic is Statistic.UNITS for measure in self.bound.measures)
        self.collapses = plan.norm is Norm.L2 and bool(self.units)
        grouped = counts_units and bool(self.groups) and not self.collapses
        self.masked = grouped and len(self.keys()) <= MASK
        self.paired = grouped and not self.masked
        self.counted = self.view("counted", self._counted())
        self.kept = self.view("kept", self._kept())

    def view(self, name: str, sql: str) -> str:
        """Rows by a query, for other queries: written into them, which is quicker than a view with a name."""
        return f"({sql}) AS {name}"

    def keys(self) -> list[tuple[Key, ...]]:
        """The keys of all groups in the order they were declared."""
        return self.listed

    def _execute(self, sql: str, values: Sequence[Any] | None = None) -> Any:
        self.statements.append(sql)
        return self.connection.execute(sql, values)

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._execute(sql).fetchall()
        return rows

    def _counted(self) -> str:
        """The rows that may count: with a unit, and passing WHERE; with keys and the arguments of all measures."""
        parts = list(self.units)
        parts += [f"{self.lower.sql(g.expression)} AS {k}" for g, k in zip(self.bound.groups, self.groups, strict=True)]
        parts += [f"{self._argument(i)} AS x{i}" for i in range(len(self.bound.measures))]
        where = [f"{unit} IS NOT NULL" for unit in self.units]
        where += [self.lower.sql(self.bound.where.expression)] if self.bound.where else []
        rows = f"SELECT {', '.join(parts)} FROM ({reading(self.table, self.source, self._names(), self.units)})"
        return rows + (f" WHERE {' AND '.join(where)}" if where else "")

    def _kept(self) -> str:
        """The rows that count: those in a declared group."""
        if not self.groups:
            return f"SELECT * FROM {self.counted}"
        same = " AND ".join(f"counted.{key} = keys.{key}" for key in self.groups)
        # Keys are listed once each, so the join keeps or drops a row, and never doubles it.
        return f"SELECT counted.*, keys.place AS g FROM {self.counted} JOIN keys ON {same}"

    def _names(self) -> dict[str, str]:
        """The columns that the question reads, with the names they get here."""
        expressions = [group.expression for group in self.bound.groups]
        expressions += [measure.argument.expression for measure in self.bound.measures if measure.argument]
        expressions += [self.bound.where.expression] if self.bound.where else []
        used = sorted(used_columns(expressions, children))
        return {name: quoted(f"c{i}") for i, name in enumerate(used)}

    def _argument(self, measure: int) -> str:
        """What a row gives to a measure: a number, or for a count whether it counts; NULL and NaN give nothing."""
        argument = self.bound.measures[measure].argument
        if argument is None:
            return "TRUE"
        rendered = self.lower.sql(argument.expression)
        if self.bound.measures[measure].statistic is Statistic.COUNT:
            return f"({rendered} IS NOT NULL)"
        double = f"CAST({rendered} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({double}) THEN {double} END"

    def _steps(self, measure: int) -> list[str]:
        """The lattice values of a row: one column, or two for a mean, whose absolute values add up to its influence.

        Of a mean's row there is `p{measure}` already: see `_halved`.
        """
        priced, x = self.measures[measure], f"x{measure}"
        if priced.measure.statistic is Statistic.COUNT:
            return [f"CASE WHEN {x} THEN CAST({ROW} AS BIGINT) ELSE 0 END"]
        if priced.measure.statistic is Statistic.QUANTILES:
            return [or_zero(x, f"CAST({ROW} AS BIGINT)")]
        interval = priced.interval
        assert interval is not None
        clipped = f"greatest(least({x}, {number(interval.high)}), {number(interval.low)})"
        if priced.measure.statistic is Statistic.SUM:
            return [or_zero(x, f"CAST(floor({clipped} * {number(1 / priced.step)} + 0.5) AS BIGINT)")]
        row, p, q = priced.row_steps, f"p{measure}", f"q{measure}"
        parts = [q, f"{row} - {p} - {q}", p] if priced.measure.statistic.is_spread else [p, f"{row} - {p}"]
        return [f"coalesce({part}, 0)" for part in parts]

    def _halved(self) -> str:
        """The rows that count, with what is released of y, the distance from the centre in spreads.

        Of a mean (1 + y) / 2 and 1 minus it; rounded towards zero, their absolute values add up to max(1, |y|) at most.
        Of a variance (1 + y)**2 / 4, (1 - y)**2 / 4 and 1 minus both, which have max(1, y**2) together at most.
        """
        halves = []
        for i, priced in enumerate(self.measures):
            row = priced.row_steps if priced.measure.statistic.is_centred else 0
            if priced.measure.statistic is Statistic.MEAN:
                halves.append(f"CASE WHEN x{i} IS NOT NULL THEN ({row} + {self._away(i)}) // 2 END AS p{i}")
            elif priced.measure.statistic.is_spread:
                for name, sign in (("p", "+"), ("q", "-")):
                    side = f"({row} {sign} {self._away(i)})"
                    halves.append(f"CASE WHEN x{i} IS NOT NULL THEN {side} * {side} // {4 * row} END AS {name}{i}")
        if not halves:
            return self.kept
        return f"(SELECT *, {', '.join(halves)} FROM {self.kept}) AS halved"

    def _away(self, measure: int) -> str:
        """The distance of a value from the centre in steps, at most 2**30 by the choice of the steps."""
        priced = self.measures[measure]
        assert priced.interval is not None
        assert priced.centre is not None
        clipped = f"greatest(least(x{measure}, {number(priced.interval.high)}), {number(priced.interval.low)})"
        scale = number(priced.row_steps / priced.centre.spread)
        return f"CAST(floor(({clipped} - {number(priced.centre.middle)}) * {scale} + 0.5) AS BIGINT)"

    def magnitudes(self, measure: int) -> list[int]:
        """Units by the bin of their largest absolute value; units without a value are in no bin."""
        largest = (
            f"max(abs(x{measure})) AS m FROM {self.kept} WHERE x{measure} IS NOT NULL GROUP BY {', '.join(self.units)}"
        )
        if not self.units:
            largest = f"abs(x{measure}) AS m FROM {self.kept} WHERE x{measure} IS NOT NULL"
        place = f"CAST({octave('m')} AS BIGINT)"
        return _dense(self._fetch(f"SELECT {place} AS j, count(*) FROM (SELECT {largest}) GROUP BY j"), MAGNITUDES)

    def averages(self, measure: int, priced: PricedMeasure) -> list[int]:
        """Units, one in eight by a hash of their own columns, by the signed bin of their average value in any group.

        The average is a quotient of integers: a sum of doubles would depend on the order of rows, so on other units.
        """
        assert priced.interval is not None
        step = sum_step(priced.interval.largest)
        clipped = f"greatest(least(x{measure}, {number(priced.interval.high)}), {number(priced.interval.low)})"
        steps = f"CAST(floor({clipped} * {number(1 / step)} + 0.5) AS BIGINT)"
        units = ", ".join(self.units)
        averages = f"CAST(sum({steps}) // count(*) AS DOUBLE) AS m FROM {self.counted} WHERE x{measure} IS NOT NULL"
        averages += f" AND hash({units}) % {PART} = 0 GROUP BY {units}"
        if not self.units:
            averages = f"CAST({steps} AS DOUBLE) AS m FROM {self.counted} WHERE x{measure} IS NOT NULL"
        size = octave(f"(abs(m) * {number(step)})", HALVES)
        place = f"CAST(CASE WHEN m < 0 THEN {SIGNED - 1} - {size} ELSE {SIGNED} + {size} END AS BIGINT)"
        return _dense(self._fetch(f"SELECT {place} AS j, count(*) FROM (SELECT {averages}) GROUP BY j"), 2 * SIGNED)

    def prepare(self, measures: Sequence[PricedMeasure]) -> None:
        """One pass by unit: the influence on every measure, and for counts of units the groups it is in, as a mask."""
        self.measures = tuple(measures)
        if not self.units:
            return
        if self.collapses:
            self._collapse()
            return
        columns = ", ".join([*self.units, *(f"{self._influence(i)} AS n{i}" for i in range(len(self.measures)))])
        columns += self._ends("x{0}", "x{0}")
        mask = ", bit_or(CAST(1 AS BIGINT) << g) AS mask" if self.masked else ""
        self._execute(
            f"CREATE TEMP TABLE units AS SELECT {columns}{mask} FROM {self.kept} GROUP BY {', '.join(self.units)}"
        )
        if self.paired:
            pair = ", ".join([*self.units, "g"])
            self._execute(f"CREATE TEMP TABLE pairs AS SELECT DISTINCT {pair} FROM {self.kept}")
            units = ", ".join(self.units)
            self._execute(
                f"CREATE TEMP TABLE spread AS SELECT {units}, CAST(count(*) AS HUGEINT) * {ROW} AS n "
                f"FROM pairs GROUP BY {units}"
            )

    def _collapse(self) -> None:
        """What each unit has in each group, and its L2 norm over the groups."""
        names = [self._part_names(i) for i in range(len(self.measures))]
        sums = [
            f"{sql} AS {name}"
            for i, listed in enumerate(names)
            for sql, name in zip(self._part(i), listed, strict=True)
        ]
        by = ", ".join([*self.units, *(["g"] if self.groups else [])])
        sums[-1] += self._ends("x{0}", "x{0}")
        self._execute(f"CREATE TEMP TABLE parts AS SELECT {by}, {', '.join(sums)} FROM {self._halved()} GROUP BY {by}")
        squares = [
            f"sum({' + '.join(f'{name} * {name}' for name in listed)}) AS q{i}" for i, listed in enumerate(names)
        ]
        norms = [f"{root(f'q{i}')} AS n{i}" for i in range(len(self.measures))]
        units = ", ".join(self.units)
        self._execute(
            f"CREATE TEMP TABLE units AS SELECT * EXCLUDE ({', '.join(f'q{i}' for i in range(len(norms)))}), "
            f"{', '.join(norms)} FROM "
            f"(SELECT {units}, {', '.join(squares)}{self._ends('lo{0}', 'hi{0}')} FROM parts GROUP BY {units})"
        )

    def _ends(self, low: str, high: str) -> str:
        """The least and the largest value of a unit, for quantiles."""
        asked = [i for i, priced in enumerate(self.measures) if priced.measure.points]
        return "".join(f", min({low.format(i)}) AS lo{i}, max({high.format(i)}) AS hi{i}" for i in asked)

    def _part_names(self, measure: int) -> list[str]:
        return [f"s{measure}_{cell}" for cell in range(max(1, self.measures[measure].cells))]

    def _part(self, measure: int) -> list[str]:
        """A unit's lattice sums in one group."""
        if self.measures[measure].measure.statistic is Statistic.UNITS:
            return [f"CAST({ROW} AS HUGEINT)"]
        sums = [f"CAST(sum({step}) AS HUGEINT)" for step in self._steps(measure)]
        return [f"least(greatest({sum}, {-LARGEST_PART}), {LARGEST_PART})" for sum in sums]

    def _part_cells(self, limits: Sequence[int]) -> str:
        weights = [f"{weight(f'n{i}', limit)} AS f{i}" for i, limit in enumerate(limits)]
        sums = [f"sum({name} * f{i} // {WEIGHT})" for i in self._summed() for name in self._part_names(i)]
        joined = f"parts JOIN (SELECT {', '.join([*self.units, *weights])} FROM units) USING ({', '.join(self.units)})"
        return f"SELECT {self.place}, {', '.join(sums)} FROM {joined}{self.by}"

    def _influence(self, measure: int) -> str:
        """The influence of a unit, over its rows."""
        match self.measures[measure].measure:
            case Measure(Statistic.UNITS):
                return f"CAST(bit_count({_MASK}) AS HUGEINT) * {ROW}" if self.masked else f"CAST({ROW} AS HUGEINT)"
            case Measure(Statistic.COUNT, None):
                return f"CAST(count(*) AS HUGEINT) * {ROW}"
            case Measure(Statistic.QUANTILES):
                return f"CAST(count(x{measure}) AS HUGEINT) * {ROW}"
        return f"CAST(sum({self._row_influence(measure)}) AS HUGEINT)"

    def _row_influence(self, measure: int) -> str:
        """At least the sum of the absolute steps of a row; see `_halved` for a mean and a variance."""
        priced = self.measures[measure]
        if priced.measure.statistic.is_centred:
            row, away = priced.row_steps, self._away(measure)
            size = f"({away} * {away} + {row - 1}) // {row}" if priced.measure.statistic.is_spread else f"abs({away})"
            influence = f"greatest({row}, {size})"
            return or_zero(f"x{measure}", influence)
        return f"abs({self._steps(measure)[0]})"

    def influences(self, measure: int) -> list[int]:
        """Units by the bin of their influence; a unit without any is in no bin."""
        pairs = self.paired and self.measures[measure].measure.statistic is Statistic.UNITS
        n, table = ("n", "spread") if pairs else (f"n{measure}", "units")
        if not self.units:
            table = f"(SELECT {self._row_influence(measure)} AS n{measure} FROM {self.kept})"
        rows = f"log2(CAST({n} AS DOUBLE) / {self.measures[measure].row_steps})"
        fine, coarse = f"ceil({FINE} * e - 1e-6) + {ROW_BIN}", f"ceil(e - {CLOSE} - 1e-6) + {LAST_FINE}"
        place = f"CASE WHEN e <= {CLOSE} THEN greatest({fine}, 0) ELSE least({coarse}, {BINS - 1}) END"
        exponents = f"SELECT {rows} AS e FROM {table} WHERE {n} > 0"
        return _dense(self._fetch(f"SELECT CAST({place} AS BIGINT) AS j, count(*) FROM ({exponents}) GROUP BY j"), BINS)

    def cells(self, limits: Sequence[int]) -> Cells:
        """The weighted sums of every group: one pass over the rows, and one over the units where units are counted."""
        found: dict[tuple[Key, ...], list[int]] = {}
        places = [i for i, priced in enumerate(self.measures) for _ in range(priced.cells)]
        summed = self._summed()
        by_rows = [i for i in summed if self.measures[i].measure.statistic is not Statistic.UNITS]
        if self.collapses and summed:
            by_rows = summed
            self._collect(found, places, by_rows, self._fetch(self._part_cells(limits)))
        elif by_rows:
            self._collect(found, places, by_rows, self._fetch(self._row_cells(by_rows, limits)))
        for i in set(summed) - set(by_rows):
            self._collect(found, places, [i], self._unit_cells(i, limits[i]))
        self._check_unchanged()
        return found

    def _summed(self) -> list[int]:
        """The measures that are sums over groups; quantiles are not."""
        return [i for i, priced in enumerate(self.measures) if priced.cells]

    def _check_unchanged(self) -> None:
        """Weights come from one pass and rows from another: had the files changed between them, no limit would hold."""
        if signature(self.table) != self.opened:
            raise EngineFailed(FAILED)

    def _collect(self, found: dict[tuple[Key, ...], list[int]], places: list[int], which: list[int], rows: Any) -> None:
        """Put sums where they belong; a group is known by its place in the public list, whatever the rows spell."""
        into = [position for position, measure in enumerate(places) if measure in which]
        for place, *values in rows:
            cells = found.setdefault(self.listed[place - 1], [0] * len(places))
            for position, value in zip(into, values, strict=True):
                cells[position] = int(value or 0)

    def _row_cells(self, which: list[int], limits: Sequence[int]) -> str:
        steps = {i: self._steps(i) for i in which}
        if not self.units:  # a row is a unit: its own influence is the sum of its absolute steps
            own = {i: self._row_influence(i) for i in which}
            sums = [f"sum(({step}) * ({weight(own[i], limits[i])}) // {WEIGHT})" for i in which for step in steps[i]]
            return f"SELECT {self.place}, {', '.join(sums)} FROM {self._halved()}{self.by}"
        sums = [f"sum({weighed(step, i)})" for i in which for step in steps[i]]
        # Only those beyond a limit are weighed, and they are few: the rows of all others find nobody in a small table.
        weights = ", ".join([*self.units, *(f"{weight(f'n{i}', limits[i])} AS f{i}" for i in which)])
        heavy = " OR ".join(f"n{i} > CAST({limits[i]} AS HUGEINT)" for i in which)
        joined = (
            f"{self._halved()} LEFT JOIN (SELECT {weights} FROM units WHERE {heavy}) USING ({', '.join(self.units)})"
        )
        return f"SELECT {self.place}, {', '.join(sums)} FROM {joined}{self.by}"

    def landmarks(self, measure: int, width: int) -> dict[int, int]:
        """Units by the cell of their least or of their largest value, as a hash of their own columns decides."""
        one = f"SELECT x{measure} AS v FROM {self.kept}"
        if self.units:
            coin = f"hash({', '.join(self.units)}) % 2 = 0"
            one = f"SELECT CASE WHEN {coin} THEN lo{measure} ELSE hi{measure} END AS v FROM units"
        cell = f"{address(self.measures[measure].ruler, 'v')} // {width}"
        found = self._fetch(f"SELECT {cell} AS j, count(*) FROM ({one}) WHERE v IS NOT NULL GROUP BY j")
        return {int(cell): int(count) for cell, count in found}

    def spots(
        self,
        measure: int,
        limits: Sequence[int],
        shift: int,
        opened: Mapping[tuple[Key, ...], Collection[int]],
        outer: int = 0,
    ) -> dict[tuple[Key, ...], dict[int, tuple[int, ...]]]:
        """The weighted rows of every group by the address of their value; only of rows in opened cells, if any are.

        All rows of a unit count alike: as much as a full row, less what the weight of a heavy unit takes away.
        """
        x, sums = f"x{measure}", [f"sum(d{which})" for which in range(len(limits))]
        rows = f"(SELECT *, {address(self.measures[measure].ruler, x)} AS a FROM {self.kept}) AS placed"
        if opened:
            listed = [(self.listed.index(key) + 1, cell) for key, cells in opened.items() for cell in cells]
            columns = [[place for place, _ in listed], [cell for _, cell in listed]]
            names = "SELECT unnest(CAST(? AS BIGINT[])) AS h, unnest(CAST(? AS BIGINT[])) AS c"
            self._execute(f"CREATE OR REPLACE TEMP TABLE opened AS {names}", columns)
            rows += f" SEMI JOIN opened ON h = {self.place} AND c = (a >> {outer})"
        least = min(limits)
        if self.units:
            taken = [f"{_less(f'n{measure}', limit)} AS d{which}" for which, limit in enumerate(limits)]
            heavy = f"SELECT {', '.join([*self.units, *taken])} FROM units WHERE n{measure} > CAST({least} AS HUGEINT)"
            rows += f" LEFT JOIN ({heavy}) USING ({', '.join(self.units)})"
        elif least < ROW:
            sums = [f"sum({_less(f'CAST({ROW} AS BIGINT)', limit)})" for limit in limits]
        else:
            sums = ["0" for _ in limits]
        found: dict[tuple[Key, ...], dict[int, tuple[int, ...]]] = {}
        spot = f"(CAST({self.place} AS BIGINT) << {SPOT}) + (a >> {shift})"
        counted = f"SELECT {spot} AS spot, count(*), {', '.join(sums)} FROM {rows} WHERE {x} IS NOT NULL GROUP BY spot"
        for place, count, *less_of in self._fetch(counted):
            cells = found.setdefault(self.listed[(place >> SPOT) - 1], {})
            cells[place & ((1 << SPOT) - 1)] = tuple(count * ROW + int(less or 0) for less in less_of)
        self._check_unchanged()
        return found

    def _unit_cells(self, measure: int, limit: int) -> list[tuple[Any, ...]]:
        """The weighted number of units in every group."""
        each = f"CAST({ROW} AS BIGINT) * f // {WEIGHT}"
        if not self.groups:
            return self._fetch(f"SELECT 1, sum({each}) FROM (SELECT {weight(f'n{measure}', limit)} AS f FROM units)")
        if self.paired:
            weights = f"SELECT {', '.join(self.units)}, {weight('n', limit)} AS f FROM spread"
            joined = f"pairs JOIN ({weights}) USING ({', '.join(self.units)})"
            return self._fetch(f"SELECT g, sum({each}) FROM {joined} GROUP BY g")
        sums = ", ".join(f"sum(c * ((mask >> {place + 1}) & 1))" for place in range(len(self.listed)))
        inner = f"SELECT mask, {each} AS c FROM (SELECT mask, {weight(f'n{measure}', limit)} AS f FROM units)"
        (totals,) = self._fetch(f"SELECT {sums} FROM ({inner})")
        return [(place + 1, total) for place, total in enumerate(totals)]


def _less(influence: str, limit: int) -> str:
    """How much less than a full row each row of a unit counts, in steps."""
    return f"CAST(CAST({ROW} AS BIGINT) * ({weight(influence, limit)}) // {WEIGHT} - {ROW} AS INTEGER)"


def _dense(rows: list[tuple[Any, ...]], size: int) -> list[int]:
    counts = [0] * size
    for place, count in rows:
        counts[int(place)] = int(count)
    return counts
