"""Neighbors of the shared world, and what one unit moves between them on an engine, before noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sfumato.audit.sql.recorder import SCRIPTS, Group, record, violations
from sfumato.curator.curator import Curator, Options
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.testing.engine_tables import ROWS, named, rows

Tables = Mapping[str, Table | PublicTable]
HEAVY = 7  # who has many rows, and pets
OTHERS = rows(9, 90)


def _is_hers(row: Mapping[str, Any]) -> bool:
    return HEAVY in (row.get("pid"), row.get("who"))


# By what a unit is: whose rows go, and how the rows are changed that come instead.
UNITS: dict[str, tuple[Callable[[Mapping[str, Any]], bool], dict[str, Any]]] = {
    "person": (_is_hers, {"pid": HEAVY}),
    "text": (lambda row: row.get("r") == "a", {"r": "a"}),
    "row": (lambda row: row.get("place") == 11, {"place": 11}),
}


def _neighbor(table: pa.Table, unit: str, kind: str) -> pa.Table:
    gone, changed = UNITS[unit]
    listed = table.to_pylist()
    kept = [row for row in listed if not gone(row)]
    if kind == "replace" and len(kept) < len(listed) and "place" in table.column_names:
        most = len(listed) - len(kept) if unit == "row" else OTHERS.num_rows
        kept += [{**row, **changed} for row in OTHERS.to_pylist()[:most]]
    return pa.Table.from_pylist(kept, schema=table.schema)


WORLDS = {"": ROWS} | {  # by what their tables' names may end in
    f"{unit}_{kind}": {name: _neighbor(table, unit, kind) for name, table in ROWS.items()}
    for unit in UNITS
    for kind in ("add_remove", "replace")
}


def unit_of(question: str) -> str:
    """What a unit is in the tables of a question."""
    words = set(re.findall(r"\w+", question))
    return "text" if "by_text" in words else "row" if words & {"loose", "bare"} else "person"


def moved(worlds: Mapping[str, Tables], engine: Any, question: str, noise: str, kind: str, seed: int) -> list[str]:
    """What one unit moves further than is claimed; `kind` is that of neighbors."""
    script, shown, records = SCRIPTS[seed % len(SCRIPTS)](seed), dict[str, set[Group]](), []
    for world in ("", f"{unit_of(question)}_{kind}"):
        tables = {
            name: each if isinstance(each, PublicTable) else replace(each, neighbors=Neighbors[kind.upper()])
            for name, each in named(worlds[world], question).items()
        }
        options = Options(estimate_bounds=True, delta=1e-6, noise=noise)
        plan = Curator(tables, budget=Guarantee(9)).plan(question, 1, options)
        with engine.run(plan) as run:
            records.append(record(plan, run, script, shown))
    return violations(plan, *records)
