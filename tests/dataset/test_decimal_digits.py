"""How many digits after the point a column's decimals have."""

from __future__ import annotations

import decimal
from pathlib import Path

import polars as pl
import pyarrow as pa

from sfumato.dataset.column import column
from sfumato.dataset.kind import scale_named
from sfumato.dataset.table import table


def test_the_digits_of_a_type_are_those_of_its_source(tmp_path: Path) -> None:
    """Declared digits are not relied on: nothing would round the values to them."""
    names = {
        "DECIMAL(10,2)": 2, "numeric(5)": 0, "numeric(3,-2)": 0, "decimal128(10, 2)": 2, "NUMERIC": 99,
        "Decimal(precision=None, scale=3)": 3, "DOUBLE": None, "INTEGER": None, "VARCHAR": None,
        "dictionary<values=decimal128(5, 1), indices=int32>": 1, "decimal(10,2)[]": None,
    }  # fmt: skip
    assert {name: scale_named(name) for name in names} == names
    four = pa.table({"pid": [1, 2], "m": pa.array([decimal.Decimal("0.1249"), None], pa.decimal128(10, 4))})
    (tmp_path / "four.csv").write_text("pid,m\n1,0.1249\n2,\n")
    for source, said, scale in (
        (four, None, 4), (four, "decimal(10,2)", 4), (four, "double", None), (pl.from_arrow(four), None, 4),
        (tmp_path / "four.csv", "decimal(10,2)", 99), (four.set_column(1, "m", [[0.5, 0.1]]), "decimal(10,2)", 99),
    ):  # fmt: skip
        made = table(source, unit="pid", columns={"m": column(type=said)})
        assert made.columns["m"].scale == scale, (source, said)
