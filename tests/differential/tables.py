"""Small tables with the worst of values, declared for a curator, and the same as plain DuckDB reads them.

What a declaration makes of values is documented, and done here for DuckDB: NaN is NULL, and rows without a unit are
left out. Infinities stay; `grammar` writes how they are cut at the bounds. Days and texts that are not declared stay as
well, and are left out as keys.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.curator.curator import Curator
from sfumato.dataset.column import Column, column
from sfumato.dataset.public_table import PublicTable, public
from sfumato.dataset.table import Table, table, through
from sfumato.privacy.guarantee import Guarantee

TEXTS = ["a", "b", "ä'b", "nobody"]
DAYS = [datetime.date(2026, 1, 28) + datetime.timedelta(days=n) for n in range(8)]
REACH = 100  # of `y`: what is infinite counts as this
COLUMNS: dict[str, Column] = {
    "x": column(bounds=(-10, 10)),
    "y": column(bounds=(-REACH, REACH)),
    "k": column(bounds=(-2, 4)),
    "m": column(bounds=(0, 100)),
    "r": column(keys=TEXTS),
    "d": column(keys=DAYS),
}
SCHEMA = pa.schema(
    [("pid", pa.int64()), ("x", pa.float64()), ("y", pa.float64()), ("k", pa.int32()), ("m", pa.decimal128(10, 2)),
     ("e", pa.int64()), ("r", pa.string()), ("q", pa.string()), ("b", pa.bool_()), ("d", pa.date32()),
     ("w", pa.timestamp("us"))]
)  # fmt: skip
BESIDE = pa.schema([("pid", pa.int64()), ("z", pa.float64()), ("s", pa.string())])
MOST_BESIDE = 3
MOST_OF_FEW = 8
EPSILON = 10_000


def _rows(random: Random, size: int, people: int) -> pa.Table:
    """Rows of some people and of nobody, with missing values, ties, infinities, and texts and days of no key."""

    def some(*values: Any) -> Any:
        return None if random.random() < 0.08 else random.choice(values)

    quarters = [n / 4 for n in range(-40, 41)]
    times = [datetime.datetime(2025, 11, 30, 22, 15) + datetime.timedelta(hours=401 * n) for n in range(12)]
    listed = [
        {
            "pid": some(*range(people)),
            "x": some(*quarters, 0.0, -0.0, 2.5, 2.5, math.nan),
            "y": some(*quarters, math.inf, -math.inf, math.nan, 99.5),
            "k": some(*range(-2, 5)),
            "m": some(*(decimal.Decimal(n) / 100 for n in (0, 10, 15, 29, 250, 333, 4999, 9999))),
            "e": some(3, 3, 3, 7, 20, -5, 41),
            "r": some("a", "a", "a", "b", "ä'b", "zz", ""),
            "q": some("red", "red", "green", "it's"),
            "b": some(True, False),
            "d": some(*DAYS, datetime.date(2030, 7, 1)),
            "w": some(*times),
        }
        for _ in range(size)
    ]
    return pa.Table.from_pylist(listed, schema=SCHEMA)


def _beside(random: Random, people: int) -> pa.Table:
    """A second table of the same people, at most three rows of each."""
    owners = [person for person in range(people + 3) for _ in range(random.randrange(MOST_BESIDE + 1))]
    listed = [
        {"pid": person, "z": random.choice((None, 0.5, 1.25, 7.0, 19.75)), "s": random.choice((None, "p", "q"))}
        for person in owners
    ]
    return pa.Table.from_pylist(listed, schema=BESIDE)


def _toys(random: Random, pets: int) -> pa.Table:
    """Rows that belong to somebody through a pet, or to nobody."""
    listed = [(random.randrange(pets + 2), random.choice((None, 1.5, 2.5, 9.0))) for _ in range(30)]
    return pa.table({"pet": [pet for pet, _ in listed], "price": pa.array([each for _, each in listed], pa.float64())})


def make(seed: int) -> dict[str, pa.Table]:
    """All rows, private and public."""
    random = Random(f"tables {seed}")
    return {
        "t": _rows(random, 80, 30),
        "few": _rows(random, 9, 6),
        "nothing": _rows(random, 0, 1),
        "loose": _rows(random, 40, 20),
        "u": _beside(random, 30),
        "pets": pa.table({"pet": [n % 12 for n in range(14)], "pid": [random.randrange(30) for _ in range(14)]}),
        "toys": _toys(random, 12),
        "pub": pa.table({"r": ["a", "b", "zz", "q"], "c": ["one", "two", "one", "none"], "v": [1.0, 2.5, -3.0, 4.0]}),
        "bands": pa.table({"low": [-2, 1, 3], "high": [1, 3, 9], "band": ["lower", "middle", "upper"]}),
    }


def _people(files: Mapping[str, Path], neighbors: str) -> dict[str, Table]:
    """The tables whose unit is a person."""

    def declared(name: str, **said: Any) -> Table:
        return table(files[name], neighbors=neighbors, **said)

    keys = {"z": column(bounds=(0, 20)), "s": column(keys=["p", "q", "nowhere"])}
    return {
        "t": declared("t", unit="pid", columns=COLUMNS),
        "few": declared("few", unit="pid", columns=COLUMNS, max_rows_per_unit=MOST_OF_FEW),
        "nothing": declared("nothing", unit="pid", columns=COLUMNS),
        "u": declared("u", unit="pid", max_rows_per_unit=MOST_BESIDE, columns=keys),
        "pets": declared("pets", unit="pid"),
        "toys": declared("toys", unit=through("pets", on="pet"), columns={"price": column(bounds=(0, 9))}),
    }


class World:
    """The tables of one seed: curators by unit and neighbors, which do not add up, and plain DuckDB."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rows = make(seed)
        files = {name: folder / f"{name}{seed}.parquet" for name in self.rows}
        for name, rows in self.rows.items():
            pq.write_table(rows, files[name])
        shared: Mapping[str, PublicTable] = {name: public(self.rows[name], most_matches=3) for name in ("pub", "bands")}
        loose = table(files["loose"], columns=COLUMNS)
        budget = Guarantee(EPSILON * 10**6, 0.5)
        self.people = Curator({**_people(files, "add-remove"), **shared}, budget=budget)
        self.replaced = Curator({**_people(files, "replace"), **shared}, budget=budget)
        self.loose = Curator({"loose": loose, **shared}, budget=budget)
        self.plain = duckdb.connect(config={"threads": 1})
        for name, rows in self.rows.items():
            self.plain.register(f"{name}_rows", rows)
            self.plain.execute(
                f"CREATE TABLE {name} AS SELECT {_read(name, rows)} FROM {name}_rows{_owned(name, rows)}"
            )
        self.plain.execute(
            "CREATE OR REPLACE TABLE toys AS SELECT * FROM toys_rows JOIN (SELECT DISTINCT * FROM pets) USING (pet)"
        )

    def curator(self, source: str, replaced: bool) -> Curator:
        """Who answers questions about a table."""
        if source == "loose":
            return self.loose
        return self.replaced if replaced else self.people


def _read(name: str, rows: pa.Table) -> str:
    """Columns as they are read: NaN is missing."""
    listed = []
    for field in rows.schema:
        plain = f'"{field.name}"'
        if pa.types.is_floating(field.type):
            plain = f"CASE WHEN isnan({plain}) THEN NULL ELSE {plain} END AS {plain}"
        listed.append(plain)
    return ", ".join(listed)


def _owned(name: str, rows: pa.Table) -> str:
    return " WHERE pid IS NOT NULL" if "pid" in rows.column_names and name != "loose" else ""
