"""The table t of the tests of questions: a declared schema, and hardly a row."""

from __future__ import annotations

import datetime

import pandas as pd

from sfumato.dataset.column import column
from sfumato.dataset.table import table

ROWS = pd.DataFrame(
    {"pid": [1], "x": [1.0], "r": ["a"], "k": [1], "b": [True], "d": pd.to_datetime(["2026-01-01"]), "y": [0.5]}
)
TABLES = {
    "t": table(
        ROWS,
        unit="pid",
        columns={
            "x": column(bounds=(-10, 10)),
            "r": column(keys=["a", "b", "c"]),
            "k": column(bounds=(0, 3)),
            "d": column(keys=[datetime.datetime(2026, 1, 1)]),
        },
    )
}
