"""A small world: tables of made-up or given rows, which answer the same question twice: as they are, and by a curator.

An attacker sees a `Release`: a question goes in, rows come out, or None where it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, Protocol

from sfumato.attacks.outcome import Side
from sfumato.curator.answers.answer import AGAIN
from sfumato.curator.curator import Curator
from sfumato.dataset.column import Column
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table, table
from sfumato.embedded import spill
from sfumato.embedded.database import connected
from sfumato.errors import BudgetExhausted, InvalidArgument
from sfumato.plan.syntax.node import quoted, text_literal

Rows = list[dict[str, Any]]
Progress = Callable[[int, int], None]
_UNITS = 10**9  # of an epsilon of 1, in the ledger
Values = Mapping[str, Any]  # arrays of numbers or of texts, all of one length, by column


def silent(done: int, of: int) -> None:
    """Nobody wants to know."""


class Release(Protocol):
    """Whatever answers questions, and counts what became of them."""

    answered: int
    repeated: int
    refused: int

    def ask(self, question: str) -> Rows | None:
        """The rows of the answer; None: refused."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What is public about a table of a world."""

    columns: Mapping[str, Column]
    unit: str | None = None
    max_rows_per_unit: int | None = None


class World:
    """Tables in a database of their own and in files, which are gone when the world ends."""

    def __init__(
        self, folder: str, engine: Any, tables: Mapping[str, Values], declared: Mapping[str, Declared]
    ) -> None:
        self._engine = engine
        self._declared: dict[str, Table | PublicTable] = {}
        for name, values in tables.items():
            path, word = os.path.join(folder, f"{len(self._declared)}.parquet"), declared.get(name, Declared({}))
            engine.register("given", dict(values))
            engine.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM given")
            engine.unregister("given")
            engine.execute(f"COPY {quoted(name)} TO {text_literal(path)} (FORMAT parquet)")
            self._declared[name] = table(
                path, unit=word.unit, columns=word.columns, max_rows_per_unit=word.max_rows_per_unit
            )
        engine.execute("SET enable_external_access = false")

    def raw(self) -> Raw:
        """The tables as they are."""
        return Raw(self._engine)

    def guarded(self, epsilon: Fraction, questions: int = 1) -> Guarded:
        """A new curator, whose whole budget is shared by so many questions."""
        each = Fraction(floor(epsilon * _UNITS / questions), _UNITS)  # the ledger would round it up
        if not each:
            least = questions / _UNITS
            raise InvalidArgument(
                f"epsilon must be {least:g} or more for {questions:,} questions; got {float(epsilon):g}; ask fewer"
            )
        return Guarded(Curator(self._declared, budget=epsilon), each)


@contextmanager
def world(tables: Mapping[str, Values], declared: Mapping[str, Declared]) -> Iterator[World]:
    """Make a world of these tables."""
    with spill.temporary() as folder, connected() as engine:  # the rows may be a user's own
        yield World(folder, engine, tables, declared)


class Raw:
    """Exact answers, as of a release that protects nobody."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.answered = self.repeated = self.refused = 0

    def ask(self, question: str) -> Rows | None:
        """The exact rows."""
        found = self._engine.execute(question)
        names = [column[0] for column in found.description]
        self.answered += 1
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


class Guarded:
    """A curator, asked for the same price each time; it counts what became of the questions."""

    def __init__(self, curator: Curator, each: Fraction) -> None:
        self.curator, self._each = curator, each
        self.answered = self.repeated = self.refused = 0

    def ask(self, question: str) -> Rows | None:
        """The rows of a private answer; None once the budget is used up."""
        try:
            answer = self.curator.ask(question, epsilon=self._each, analyst="attacker")
        except BudgetExhausted:
            self.refused += 1
            return None
        if AGAIN in answer.receipt.notes:
            self.repeated += 1
        else:
            self.answered += 1
        return answer.rows


class Tally:
    """Counts right guesses, and what became of the questions."""

    def __init__(self) -> None:
        self._hits = self._trials = 0
        self._became = [0, 0, 0]

    def count(self, right: bool, release: Release | None = None) -> None:
        """One more guess, made from what a release said, if that has not been counted."""
        self._hits += bool(right)
        self._trials += 1
        if release is not None:
            self.add(release)

    def add(self, release: Release) -> None:
        """What became of a release's questions."""
        for place, name in enumerate(("answered", "repeated", "refused")):
            self._became[place] += getattr(release, name)

    def side(self, name: str, confidence: float) -> Side:
        """The share of right guesses, with its interval."""
        return Side.of(name, self._hits, self._trials, confidence, *self._became)


def number(rows: Rows | None, name: str) -> float | None:
    """The only number of an answer."""
    return None if rows is None else float(rows[0][name] or 0)


def in_digits(number: float | None) -> str:
    """As a table shows it.

    >>> in_digits(-0.4), in_digits(19_000.0), in_digits(None)
    ('0', '19,000', 'refused')
    """
    return "refused" if number is None else f"{round(number):,}"


def numbers(rows: Rows | None, key: str, name: str, keys: Sequence[Any]) -> list[float] | None:
    """A number for each key; 0 for a key that a release of rows does not have."""
    if rows is None:
        return None
    found = {row[key]: float(row[name] or 0) for row in rows}
    return [found.get(each, 0.0) for each in keys]
