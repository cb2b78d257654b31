"""A unit with more rows than the L2 norm is worked out for has no weight in looks for quantiles."""

from __future__ import annotations

import duckdb
import pandas as pd
import pytest

from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.sql import run as engine
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.steps import ROW

MANY, CUT = 1_000, 100
LIMIT = 2 * ROW


def spots_of(question: str, rows: list[tuple[str, str, float]]) -> dict[str, int]:
    """The weighted rows of each group in a look with the limit, with Gaussian noise."""
    frame = pd.DataFrame(rows, columns=["person", "r", "x"])
    declared = table(
        frame, unit="person", columns={"x": column(bounds=(0, 10)), "r": column(keys=["a", "b"])}, version="1"
    )
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan(question, 1, Options(delta=1e-6, noise="gaussian"))
    run = engine.SqlRun(DuckdbSession(duckdb.connect()), plan)
    measure_all(plan, run, NoisyReleaser())
    found = run.spots(0, (LIMIT,), 0, {})
    return {str(key[0]): sum(spots.rows[:, 0]) for key, spots in found.items()}


def test_rows_beyond_what_a_norm_holds_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of rows in a group are cut at 2**31; the rows themselves are not, so such a unit must not count.

    Cut at a hundred rows instead, someone with a thousand would count ten times the limit.
    """
    monkeypatch.setattr(engine, "MOST_ROWS", CUT)
    question = "SELECT r, MEDIAN(x) AS m FROM t GROUP BY r"
    heavy = [("heavy", "a", 5.0)] * MANY + [("heavy", "b", 5.0)]
    assert spots_of(question, [*heavy, ("light", "a", 1.0)]) == {"a": ROW, "b": 0}
    light = [("light", "a", 5.0)] * (CUT - 1)
    assert LIMIT * 0.99 < spots_of(question, light)["a"] <= LIMIT
