"""DB-API 2.0 (PEP 249) for tools that speak it: pandas.read_sql, polars.read_database, and whatever takes a cursor.

    connection = sfumato.dbapi.connect("sfumato.toml", epsilon=0.5)
    pandas.read_sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", connection)

Every execution is a question: it is charged before the data is touched, and an answer that was given before is given
again, free. Placeholders (`:name` with a mapping, `?` with a list) are bound as constants, never pasted.

    Error                        also a SfumatoError; its message is the house's own, and __cause__ the refusal itself
    ├── InterfaceError           a cursor or connection that is closed, or has nothing to fetch
    └── DatabaseError
        ├── ProgrammingError     a question or an argument that is refused; nothing was charged
        ├── OperationalError     not enough is left, nothing was granted, or engine or ledger failed
        ├── InternalError        the ledger is broken
        ├── NotSupportedError    what PEP 249 has and a private answer has not
        └── DataError, IntegrityError    never raised
"""

from __future__ import annotations

import datetime
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from sfumato import checks
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.curator.options import Options
from sfumato.errors import (
    BudgetExhausted,
    EngineFailed,
    EngineUnavailable,
    InvalidArgument,
    LedgerBroken,
    LedgerUnavailable,
    NotGranted,
    Paused,
    Refused,
    SfumatoError,
)
from sfumato.plan.syntax.parameters import Parameters
from sfumato.project import FILE, Project, load
from sfumato.suggestions import takes

apilevel = "2.0"
threadsafety = 2  # threads may share a connection, but not a cursor
paramstyle = "named"  # and "qmark" as well


class Warning(Exception):
    """Never raised: what is to be known about an answer is in its receipt."""


class Error(SfumatoError):
    """The root of what this module raises."""


class InterfaceError(Error):
    """A cursor or connection that is closed, or has nothing to fetch."""


class DatabaseError(Error):
    """The root of what the curator raises."""


class DataError(DatabaseError):
    """Never raised."""


class OperationalError(DatabaseError):
    """Not enough is left, nothing was granted, or engine or ledger failed."""


class IntegrityError(DatabaseError):
    """Never raised."""


class InternalError(DatabaseError):
    """The ledger is broken."""


class ProgrammingError(DatabaseError):
    """A question or an argument that is refused; nothing was charged."""


class NotSupportedError(DatabaseError):
    """What PEP 249 has and a private answer has not."""


# The first that fits.
_ERRORS: tuple[tuple[type[SfumatoError], type[DatabaseError]], ...] = (
    *(
        (kind, OperationalError)
        for kind in (BudgetExhausted, NotGranted, Paused, EngineFailed, EngineUnavailable, LedgerUnavailable)
    ),
    (LedgerBroken, InternalError),
    (Refused, ProgrammingError),
    (InvalidArgument, ProgrammingError),
    (SfumatoError, DatabaseError),
)


@contextmanager
def _in_its_words() -> Iterator[None]:
    """Refusals as errors of PEP 249, with their messages."""
    try:
        yield
    except Error:
        raise
    except SfumatoError as refusal:
        kind = next(wanted for given, wanted in _ERRORS if isinstance(refusal, given))
        raise kind(refusal.message, refusal.fix) from refusal


@dataclass(frozen=True, slots=True, eq=False)
class TypeObject:
    """A type object of PEP 249: equal to the Python types of the columns that it stands for."""

    types: tuple[type, ...]

    def __eq__(self, other: object) -> bool:
        return other in self.types if isinstance(other, type) else self is other

    __hash__ = None  # type: ignore[assignment]  # it would have to be that of several types


STRING = TypeObject((str,))
NUMBER = TypeObject((int, float, bool))
DATETIME = TypeObject((datetime.date, datetime.datetime))
BINARY, ROWID = TypeObject(()), TypeObject(())

Date, Time, Timestamp, Binary = datetime.date, datetime.time, datetime.datetime, bytes
DateFromTicks = datetime.date.fromtimestamp
TimestampFromTicks = datetime.datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802 - the name is the standard's
    """The time of day of a number of seconds since 1970."""
    return TimestampFromTicks(ticks).time()


@_in_its_words()
@takes("write sfumato.dbapi.connect('sfumato.toml', epsilon=0.5)")
def connect(
    project: str | os.PathLike[str] | Project = FILE,
    *,
    epsilon: checks.Number,
    delta: checks.Number = 0,
    analyst: str = "analyst",
    population: str | None = None,
    intervals: bool = False,
    noise: str | None = None,
    confidence: checks.Number = 0.95,
    max_rows_per_unit: int | None = None,
    estimate_bounds: bool = False,
    simultaneous: bool = False,
    tidy: bool = False,
) -> Connection:
    """Open a project for questions that cost `epsilon` each; a cursor may have another: `cursor.epsilon = 0.5`.

    project      a project file, its folder, or what `sfumato.project.load` returned
    population   whom the questions are about; left out: found by the table that a question names
    intervals    whether each estimate comes with two more columns, NAME_low and NAME_high
    delta, noise, confidence, max_rows_per_unit, estimate_bounds, simultaneous, tidy
                 as in `Curator.ask`

    """
    options: dict[str, Any] = {
        "delta": delta,
        "noise": noise,
        "confidence": confidence,
        "max_rows_per_unit": max_rows_per_unit,
        "estimate_bounds": estimate_bounds,
        "simultaneous": simultaneous,
        "tidy": tidy,
    }
    Options(**options)  # a wrong one is refused now
    checks.positive(epsilon=epsilon)
    opened = project if isinstance(project, Project) else load(project)  # type: ignore[arg-type]
    asking = _Asking(opened, analyst, population, intervals, options)
    return Connection(asking, epsilon)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What all questions of a connection have in common."""

    project: Project
    analyst: str
    population: str | None
    intervals: bool
    options: dict[str, Any]


class Connection:
    """A project and its ledger, until it is closed."""

    def __init__(self, asking: _Asking, epsilon: checks.Number) -> None:
        self.epsilon = epsilon
        self._asking = asking
        self._ledger = asking.project.open_ledger()
        self._curators: dict[str, Curator] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        try:
            self._curator(asking.population or next(iter(asking.project.populations)))  # an unknown one is refused now
        except BaseException:
            self._ledger.close()
            raise

    def cursor(self) -> Cursor:
        """A cursor with the epsilon of the connection."""
        self._check_open()
        return Cursor(self, self.epsilon)

    def commit(self) -> None:
        """Do nothing: what was spent was written down before the data was touched."""
        self._check_open()

    def rollback(self) -> None:
        """Do nothing: an answer that was seen cannot be unseen, so its cost stays."""
        self._check_open()

    def close(self) -> None:
        """Close the ledger; cursors of this connection fetch nothing more."""
        self._is_closed = True
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _ask(self, operation: str, parameters: Parameters, epsilon: checks.Number) -> Answer:
        """The answer; values are bound in the tree, and the text that is asked is printed from it."""
        self._check_open()
        asking = self._asking
        curator = self._curator(asking.population or asking.project.population_of(operation, parameters))
        return curator.ask(operation, parameters=parameters, epsilon=epsilon, analyst=asking.analyst, **asking.options)

    def _curator(self, population: str) -> Curator:
        with self._lock:
            if population not in self._curators:
                self._curators[population] = self._asking.project.curator(population, ledger=self._ledger)
            return self._curators[population]

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("a connection must be open; this one was closed; connect again")


class Cursor:
    """Questions, one after the other, and the rows of the last answer."""

    def __init__(self, connection: Connection, epsilon: checks.Number) -> None:
        self.connection = connection
        self.arraysize = 1
        self._epsilon = epsilon
        self._last: Answer | None = None
        self._columns: list[tuple[str, list[Any]]] = []
        self._next = 0
        self._is_closed = False

    @property
    def epsilon(self) -> checks.Number:
        """What the next question costs."""
        return self._epsilon

    @epsilon.setter
    def epsilon(self, epsilon: checks.Number) -> None:
        with _in_its_words():
            checks.positive(epsilon=epsilon)
        self._epsilon = epsilon

    @property
    def answer(self) -> Answer | None:
        """The answer to the last execution: intervals, notes, receipt; None before the first, and if it failed."""
        return self._last

    @property
    def description(self) -> list[tuple[str, type | None, None, None, None, None, None]] | None:
        """Name and type of each column; a column without values has no type."""
        if self._last is None:
            return None
        return [(name, _type_of(values), None, None, None, None, None) for name, values in self._columns]

    @property
    def rowcount(self) -> int:
        """The number of rows of the last answer."""
        return -1 if self._last is None else len(self._last.rows)

    def execute(self, operation: str, parameters: Parameters | None = None) -> Self:
        """Ask; it is charged unless it was asked before. Parameters: a mapping for `:name`, a list for `?`."""
        self._last, self._columns, self._next = None, [], 0  # whatever comes, the answer before is not this one's
        self._check_open()
        with _in_its_words():
            given = () if parameters is None else parameters
            self._last = self.connection._ask(operation, given, self._epsilon)
        self._columns = _columns_of(self._last, with_intervals=self.connection._asking.intervals)
        return self

    def executemany(self, operation: str, parameters: Sequence[Parameters]) -> None:
        """Refused: each would be charged, and only the last answer could be fetched."""
        raise NotSupportedError(
            "executemany is not for questions, since each one is charged; call execute for each, or ask once, with IN "
            "and GROUP BY"
        )

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        return next(iter(self._take(1)), None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, as many as `arraysize` unless said."""
        with _in_its_words():
            return self._take(checks.whole(size=self.arraysize if size is None else size))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return self._take(max(0, self.rowcount))

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Forget the answer."""
        self._is_closed, self._last, self._columns = True, None, []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _take(self, size: int) -> list[tuple[Any, ...]]:
        self._check_open()
        if self._last is None:
            raise InterfaceError("a fetch must come after a question that was answered; got none; call execute first")
        start = self._next
        self._next = min(start + size, len(self._last.rows))
        return [tuple(values[place] for _, values in self._columns) for place in range(start, self._next)]

    def _check_open(self) -> None:
        self.connection._check_open()
        if self._is_closed:
            raise InterfaceError("a cursor must be open; this one was closed; take another: connection.cursor()")


def _columns_of(answer: Answer, *, with_intervals: bool) -> list[tuple[str, list[Any]]]:
    """The columns in order, each estimate followed by the ends of its interval if wished."""
    columns = []
    for name in answer.columns:
        columns.append((name, [row[name] for row in answer.rows]))
        pairs = answer.intervals[name]
        if with_intervals and any(pair is not None for pair in pairs):
            columns.append((f"{name}_low", [None if pair is None else pair[0] for pair in pairs]))
            columns.append((f"{name}_high", [None if pair is None else pair[1] for pair in pairs]))
    return columns


def _type_of(values: Sequence[Any]) -> type | None:
    types = {type(value) for value in values if value is not None}
    return float if types == {int, float} else types.pop() if len(types) == 1 else None
