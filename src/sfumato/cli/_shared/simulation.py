"""Numbers that look random and are not, and tables made of them: for the demo, and for questions that are tried out.

A made-up table follows from the declarations of a real one alone (kinds, bounds, keys), so that it says nothing about
anybody. Nothing here protects anyone; noise comes from `sfumato.entropy`.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.curator.curator import Curator
from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind
from sfumato.dataset.population import Population
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table, table
from sfumato.embedded.database import connected
from sfumato.ledger.ledger import Ledger
from sfumato.plan.syntax.node import quoted, text_literal

UNITS, MOST_ROWS, MOST_KEYS = 20_000, 3, 1_000  # so many units that intervals have two ends
_TEXTS = ("alpha", "beta", "gamma", "delta")
_FIRST_DAY = datetime.date(2026, 1, 1)
_ROUND, _MIX, _MIX_AGAIN = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def spread(size: int, stream: int) -> NDArray[np.float64]:
    """Numbers in [0, 1), the same in every run: counters, mixed by Steele, Lea and Flood's splitmix64."""
    start = np.uint64((stream + 1) << 40)
    state = (np.arange(size, dtype=np.uint64) + start) * _ROUND
    state = (state ^ (state >> np.uint64(30))) * _MIX
    state = (state ^ (state >> np.uint64(27))) * _MIX_AGAIN
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def write_parquet(path: str, query: str, made: Mapping[str, NDArray[Any]]) -> None:
    """Write what a query makes of the arrays, which it finds as the table `made`."""
    with connected() as engine:
        engine.register("made", dict(made))
        engine.execute(f"COPY ({query}) TO {text_literal(path)} (FORMAT parquet)")


@contextmanager
def made_up_curator(people: Population, public: Mapping[str, PublicTable], ledger: Ledger) -> Iterator[Curator]:
    """A curator of made-up tables that are declared as those of a population, and of the public ones as they are."""
    with tempfile.TemporaryDirectory(prefix="sfumato-dry-run-") as folder:
        tables = {
            name: _made_up(each, _referred(name, people), os.path.join(folder, f"{place}.parquet"))
            for place, (name, each) in enumerate(people.tables.items())
        }
        yield Curator({**tables, **public}, budget=people.budget, ledger=ledger, population=people.name)


def _referred(name: str, people: Population) -> set[str]:
    """The columns of a table by which rows of others belong to its own."""
    links = [each.inherits for each in people.tables.values() if each.inherits is not None]
    return {key.lower() for link in links if link.table.lower() == name.lower() for key in link.keys}


def _made_up(real: Table, referred: set[str], path: str) -> Table:
    rows_each = min(real.max_rows_per_unit or MOST_ROWS, MOST_ROWS)
    size = UNITS * rows_each
    made: dict[str, NDArray[Any]] = {"unit": np.arange(size) // rows_each}
    parts = []
    for place, (name, column) in enumerate(real.columns.items()):
        made[f"x{place}"] = spread(size, place)
        tells = name in real.unit.columns or name.lower() in referred
        unit = "made.unit" if tells and column.keys is None else None
        parts.append(f"{_value(column, unit, f'x{place}')} AS {quoted(name)}")
    write_parquet(path, f"SELECT {', '.join(parts)} FROM made", made)
    return table(
        path,
        unit=real.inherits or (dict(zip(real.means, real.unit.columns, strict=True)) or None),
        columns=dict(real.columns),
        neighbors=real.neighbors,
        version=real.version,
        max_rows_per_unit=real.max_rows_per_unit,
    )


def _value(column: Column, unit: str | None, number: str) -> str:
    """SQL for a value: the unit's own, one of the keys, one within the bounds, or any of its kind."""
    assert column.kind is not None, "a table knows the kinds of its columns"
    kind = column.kind.value
    if unit is not None:
        return f"CAST({_from_number(column.kind, unit)} AS {kind})"
    if column.keys is not None:
        return _one_of([f"CAST({text_literal(str(key))} AS {kind})" for key in column.keys[:MOST_KEYS]], number)
    if column.bounds is not None:
        low, high = float(column.bounds.low), float(column.bounds.high)
        return f"TRY_CAST({low!r}::DOUBLE + {number} * {high - low!r}::DOUBLE AS {kind})"
    if column.kind is Kind.TEXT:
        return _one_of([text_literal(each) for each in _TEXTS], number)
    return f"CAST({_from_number(column.kind, f'floor({number} * 365)')} AS {kind})"


def _one_of(values: list[str], number: str) -> str:
    return f"([{', '.join(values)}])[1 + CAST(floor({number} * {len(values)}) AS BIGINT)]"


def _from_number(kind: Kind, number: str) -> str:
    """SQL for a value of a kind from a whole number."""
    whole = f"CAST({number} AS BIGINT)"
    match kind:
        case Kind.BOOLEAN:
            return f"({whole} % 2 = 0)"
        case Kind.DATE | Kind.TIMESTAMP:
            return f"(DATE '{_FIRST_DAY}' + CAST({whole} AS INTEGER))"
    return whole
