"""What OpenDP answers to questions of `accuracy.py`, as a line of JSON; it runs in an environment of its own.

Run by accuracy.py: python accuracy_opendp.py TABLE QUESTION REPEAT, with a table in Parquet and a question in JSON:
kind (mean, sum, count, quantile), column, unit, bound, bounds, level, key and keys. Epsilon is 1 for a person. A mean
is the ratio of a sum and of a number of rows, asked together; a quantile takes 501 candidates, evenly over the bounds.
Everything else is as in its documentation (`dp.polars`).
"""

from __future__ import annotations

import json
import sys
from typing import Any

CANDIDATES = 501


def release(rows: Any, asked: dict[str, Any]) -> list[float]:
    """One private answer: a number for each key, or one."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    unit = {"contributions": 1, "identifier": asked["unit"]} if asked.get("unit") else {"contributions": 1}
    context = dp.Context.compositor(
        data=rows,
        privacy_unit=dp.unit_of(**unit),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=20_000_000)],
    )
    query = context.query()
    if asked.get("unit"):
        query = query.truncate_per_group(asked["bound"])
    column = pl.col(asked.get("column", "x")).fill_null(0.0).fill_nan(0.0)
    low, high = asked.get("bounds", (0.0, 1.0))
    if asked["kind"] == "quantile":
        step = (high - low) / (CANDIDATES - 1)
        wanted = [column.dp.quantile(asked["level"], [low + step * i for i in range(CANDIDATES)]).alias("v")]  # type: ignore[attr-defined]
    elif asked["kind"] == "count":
        wanted = [dp.len(signed=True).alias("v")]
    else:
        wanted = [column.dp.sum((low, high)).alias("s")]  # type: ignore[attr-defined]
        wanted += [dp.len(signed=True).alias("n")] if asked["kind"] == "mean" else []
    if asked.get("key"):
        keys = pl.LazyFrame({asked["key"]: asked["keys"]})
        found = query.group_by(asked["key"]).agg(*wanted).with_keys(keys).release().collect().sort(asked["key"])
    else:
        found = query.select(*wanted).release().collect()
    if asked["kind"] == "mean":
        return [min(high, max(low, s / max(n, 1))) for s, n in found.select("s", "n").iter_rows()]
    return [float(value) for value in found["s" if asked["kind"] == "sum" else "v"]]


def main(path: str, asked: dict[str, Any], repeat: int) -> dict[str, Any]:
    """All answers."""
    try:
        import opendp  # noqa: F401
        import polars as pl
    except ImportError:
        return {"missing": "opendp is not installed here"}
    rows = pl.read_parquet(path).lazy()
    return {"answers": [release(rows, asked) for _ in range(repeat)]}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))))
