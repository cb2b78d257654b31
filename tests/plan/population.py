"""The tables of the tests of joins: a population in several tables, hardly a row, and public ones."""

from __future__ import annotations

import datetime

import pandas as pd

from sfumato.dataset.column import column
from sfumato.dataset.public_table import public
from sfumato.dataset.table import table, through
from sfumato.engines.duckdb._matches import most_matches
from sfumato.plan.relations.rows import Catalog

DAY = [datetime.date(2026, 1, 1)]
PRIVATE = {
    "people": table(
        pd.DataFrame({"id": [1], "age": [30], "region": ["n"]}),
        unit={"person": "id"},
        max_rows_per_unit=1,
        columns={"age": column(bounds=(0, 120)), "region": column(keys=["n", "s"])},
    ),
    "homes": table(pd.DataFrame({"id": [1], "size": [30]}), unit={"person": "id"}, max_rows_per_unit=100),
    "visits": table(pd.DataFrame({"visitor": [1], "spend": [1.0], "product": ["a"]}), unit={"person": "visitor"}),
    "calls": table(pd.DataFrame({"visitor": [1], "long": [1.0]}), unit={"person": "visitor"}),
    "staff": table(pd.DataFrame({"id": [1], "pay": [1.0]}), unit={"employee": "id"}, max_rows_per_unit=1),
    "named": table(pd.DataFrame({"id": ["x"], "pay": [1.0]}), unit={"person": "id"}, max_rows_per_unit=1),
    "timed": table(pd.DataFrame({"id": [1.5], "pay": [1.0]}), unit={"person": "id"}, max_rows_per_unit=1),
    "days": table(
        pd.DataFrame({"id": [1], "n": [1], "x": [1.0]}), unit={"person": "id", "day": "n"}, max_rows_per_unit=1
    ),
    "meals": table(pd.DataFrame({"n": [1], "who": [1], "x": [1.0]}), unit={"day": "n", "person": "who"}),
    "loose": table(pd.DataFrame({"id": [1], "x": [1.0]})),
    "other": table(pd.DataFrame({"id": [1], "x": [2.0]})),
    "orders": table(pd.DataFrame({"order": [7], "id": [1]}), unit={"person": "id"}),
    "items": table(pd.DataFrame({"order": [7], "price": [1.0]}), unit=through("orders", on="order")),
    "pets": table(pd.DataFrame({"id": [9], "owner": [1]}), unit=through("people", on="owner", key="id")),
    "toys": table(pd.DataFrame({"id": [9], "order": [7]}), unit=through("orders", on="order")),
}
PUBLIC = {
    "products": public(pd.DataFrame({"product": ["a", "b", "b"], "weight": [1.0, 2.0, 3.0]}), most_matches=1),
    "kinds": public(pd.DataFrame({"product": ["a", "b"], "kind": ["x", "y"]})),
    "bands": public(pd.DataFrame({"low": [0, 30, 60], "high": [30, 60, 120], "band": ["a", "b", "c"]})),
    "grid": public(pd.DataFrame({"one": [1] * 100, "cell": range(100)})),
}
KNOWN = Catalog(PRIVATE, PUBLIC, most_matches)
