"""Whether an answer is what DuckDB says: groups, their order and number, and the truth inside every interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from differential.statement import Statement
from differential.tables import EPSILON, World
from differential.truth import Group, Truth, alike, true_groups, true_nothing
from sfumato.curator.answers.answer import Answer
from sfumato.errors import InvalidArgument, UnboundedColumn, UnsupportedQuery

REFUSALS = (UnsupportedQuery, UnboundedColumn, InvalidArgument)
CONFIDENCE = 1 - 1e-9
NULL = alike(None)
SEEN = 12  # units that have a key which is surely found


@dataclass(frozen=True)
class Verdict:
    """What came of a statement: it was refused, or answered with these differences."""

    refusal: str | None
    differences: tuple[str, ...] = ()
    numbers: int = 0


def ask(statement: Statement, world: World) -> Answer:
    """The answer at the largest epsilon; all its intervals hold at once but for once in 10^9."""
    options: dict[str, Any] = {"estimate_bounds": True, "confidence": CONFIDENCE, "simultaneous": True}
    if statement.unknown or statement.gaussian:
        options["delta"] = 1e-6
    if statement.gaussian:
        options["noise"] = "gaussian"
    return world.curator(statement.source.table, statement.replaced).ask(statement.sql, epsilon=EPSILON, **options)


def judge(statement: Statement, world: World) -> Verdict:
    """Ask, and compare; an error that is no refusal is a difference, and so is a question that DuckDB does not take."""
    try:
        answer = ask(statement, world)
    except REFUSALS as refusal:
        return Verdict(str(refusal))
    except Exception as error:
        return Verdict(None, (f"{type(error).__name__}: {error}",))
    try:
        world.plain.execute(f"EXPLAIN {statement.sql}")
    except Exception as error:
        return Verdict(None, (f"DuckDB refuses it: {error}",))
    return Verdict(
        None, tuple(_Case(statement, world, answer).differences()), len(answer.rows) * len(statement.measures)
    )


def shrink(statement: Statement, fails: Callable[[Statement], bool]) -> Statement:
    """A statement with fewer parts that still fails."""
    for less in statement.smaller():
        if fails(less):
            return shrink(less, fails)
    return statement


class _Case:
    def __init__(self, statement: Statement, world: World, answer: Answer) -> None:
        self.statement, self.world, self.answer = statement, world, answer
        self.true = true_groups(statement, world)
        wide = len(statement.keys)
        self.groups = [tuple(alike(row[name]) for name in statement.names[:wide]) for row in answer.rows]
        self._nothing: Truth | None = None

    def differences(self) -> Iterator[str]:
        if self.answer.columns != self.statement.names:
            yield f"columns {self.answer.columns}, expected {self.statement.names}"
            return
        if len(set(self.groups)) < len(self.groups):
            yield f"a group comes twice: {self.groups}"
        for row in self.answer.rows:
            if any(value == 0 and math.copysign(1, value) < 0 for value in row.values() if isinstance(value, float)):
                yield f"a negative zero: {row}"
        yield from self._listed()
        yield from self._number()
        yield from self._cells()
        yield from self._order()

    def truth(self, group: Group) -> Truth:
        if group not in self.true:
            self._nothing = self._nothing or true_nothing(self.statement, self.world)
            return self._nothing
        return self.true[group]

    def _listed(self) -> Iterator[str]:
        """Groups that HAVING leaves out are not there, and none is there that no row can have."""
        for group in self.groups:
            truth = self.truth(group)
            if not truth.unsure and not self._kept(group, truth):
                yield f"{group} is shown, but HAVING is {truth.kept} without the key"
            if self.statement.unknown and group not in self.true:
                yield f"{group} was found, and nobody has it"
        plain = [key.listed for key in self.statement.keys]
        if all(plain) and self.statement.having is None and self.statement.limit is None:
            expected = {()}
            for listed in plain:
                expected = {(*before, alike(value)) for before in expected for value in listed}
            if set(self.groups) != expected:
                yield f"groups {self.groups}, expected {sorted(expected, key=str)}"

    def _kept(self, group: Group, truth: Truth) -> bool:
        having = self.statement.having
        if having is not None and having.key is not None and group[having.key] == NULL:
            return False  # a comparison with NULL holds not
        return truth.kept is True and (having is None or having.key is None or having.keeps(group[having.key]))

    def _number(self) -> Iterator[str]:
        """Every group with rows is there, unless LIMIT is smaller."""
        limit = self.statement.limit
        sure = [group for group, truth in self.true.items() if self._kept(group, truth) and not truth.unsure]
        if self.statement.unknown:
            sure = [group for group in sure if self.true[group].units >= SEEN]
        if limit is not None and len(self.groups) > limit:
            yield f"{len(self.groups)} rows, LIMIT {limit}"
        if limit is not None and len(self.groups) < min(limit, len(sure)):
            yield f"{len(self.groups)} rows, of {len(sure)} groups and LIMIT {limit}"
        missing = [group for group in sure if group not in self.groups]
        if missing and (limit is None or len(self.groups) < limit):
            yield f"missing: {missing}"

    def _cells(self) -> Iterator[str]:
        for place, measure in enumerate(self.statement.measures):
            name = self.statement.names[len(self.statement.keys) + place]
            for group, row, interval in zip(self.groups, self.answer.rows, self.answer.intervals[name], strict=True):
                truth = self.truth(group)
                if self._is_blind(place, truth):
                    continue
                value, true = row[name], truth.values[place]
                same = (
                    interval is None and alike(value) == alike(true) if measure.exact else _holds(value, interval, true)
                )
                if not same:
                    yield f"{name} of {group}: {value} in {interval}, truly {true} ({measure.text.sql})"

    def _is_blind(self, place: int, truth: Truth) -> bool:
        if truth.values[place] is None or truth.blind[place]:
            return True
        return "share" in self.statement.measures[place].text.uses and self.statement.unknown

    def _order(self) -> Iterator[str]:
        """Each row is not before the one above it: keys as they are, measures but for what their intervals allow."""
        for above, below in zip(range(len(self.groups)), range(1, len(self.groups)), strict=False):
            for sort in self.statement.order:
                far = self._apart(sort.place, above, below)
                if far is None or far == 0:
                    if sort.place >= len(self.statement.keys):
                        break  # equal but for noise, which then decides
                    continue
                if (far > 0) == sort.descending:
                    yield f"rows {above} and {below} are not in order of {self.statement.names[sort.place]}"
                break

    def _apart(self, place: int, above: int, below: int) -> int | None:
        """1: the row below has surely more, -1: surely less; 0 or None: neither."""
        wide = len(self.statement.keys)
        if place < wide:
            one, two = self.groups[above][place], self.groups[below][place]
            if NULL in (one, two):  # which comes last, in either order
                last = (two == NULL) - (one == NULL)
                return -last if any(sort.place == place and sort.descending for sort in self.statement.order) else last
            return (one < two) - (one > two)
        first, second = (self.truth(self.groups[row]) for row in (above, below))
        if self.statement.measures[place - wide].exact:
            one, two = (alike(truth.values[place - wide]) for truth in (first, second))
            return None if None in (one, two) or ("truth", None) in (one, two) else (one < two) - (one > two)
        if self._is_blind(place - wide, first) or self._is_blind(place - wide, second):
            return None
        name = self.statement.names[place]
        ends = [self.answer.intervals[name][row] for row in (above, below)]
        slack = sum(high - low for low, high in (end or (0.0, 0.0) for end in ends)) + 1e-6
        gap = second.values[place - wide] - first.values[place - wide]
        return (gap > slack) - (gap < -slack)


def _holds(value: Any, interval: tuple[float, float] | None, truth: Any) -> bool:
    """Whether the truth is inside the interval, but for the last digits of doubles, and the value as well."""
    if interval is None or value is None:
        return False
    slack = 1e-7 + 1e-9 * abs(float(truth))
    low, high = interval
    return low - slack <= float(truth) <= high + slack and low <= value <= high
