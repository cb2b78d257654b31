"""What OpenDP answers to some questions of `query.py`, as a line of JSON; it runs in an environment of its own.

Run by query.py: python query_opendp.py QUESTION ROWS BOUND REPEAT. BOUND is how many rows of a person are kept; it has
to be known beforehand. A median takes candidates, here whole numbers from 0 to 500. Keys that nobody listed are found
with a delta of 1e-9. Everything else is as in its documentation (`dp.polars`).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import metadata
from typing import Any

REGIONS = [f"R{i:02d}" for i in range(50)]
CANDIDATES = [float(value) for value in range(501)]


def release(name: str, path: str, bound: int) -> dict[str, float]:
    """One private answer for an epsilon of 1 per person."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_id"),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9 if name == "count by product" else 0.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=20_000_000)],
    )
    rows = context.query().truncate_per_group(bound)
    regions = pl.LazyFrame({"region": REGIONS})
    if name == "count by region":
        asked = rows.group_by("region").agg(dp.len(signed=True)).with_keys(regions)
    elif name == "median by region":
        spend = pl.col("spend").fill_null(0.0).fill_nan(0.0)
        asked = rows.group_by("region").agg(spend.dp.median(CANDIDATES)).with_keys(regions)  # type: ignore[attr-defined]
    else:
        asked = rows.group_by("product").agg(dp.len(signed=True))
    return {key: float(value) for key, value in asked.release().collect().iter_rows() if key is not None}


def main(name: str, path: str, bound: int, repeat: int) -> dict[str, Any]:
    """Answers, the least CPU seconds of one, and the peak of memory."""
    try:
        version = metadata.version("opendp")
        import polars  # noqa: F401
    except ImportError:
        return {"missing": "opendp is not installed here"}
    best, answers = float("inf"), []
    for _ in range(repeat):
        start = time.process_time()
        answers.append(release(name, path, bound))
        best = min(best, time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"peer": f"OpenDP {version.rpartition('.')[0]}", "cpu": best, "peak_gb": peak, "answers": answers}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
