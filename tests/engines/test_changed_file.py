"""A file that is written while a question runs: the question fails, since its limits would not hold."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import EngineFailed
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax.parse import parse


def test_a_file_that_changes_between_the_passes_fails_the_question(tmp_path: Path) -> None:
    """Contributions are from one pass, rows from another: a person who gains rows in between would exceed the limit."""
    path = tmp_path / "visits.csv"
    pandas.DataFrame({"person": [1, 2]}).to_csv(path, index=False)
    visits = sf.table(path, unit="person")
    plan = price(bind(parse("SELECT COUNT(*) AS n FROM visits"), {"visits": visits}), epsilon=1)
    with pytest.raises(EngineFailed, match="it is charged"), DuckdbEngine().run(plan) as run:
        run.prepare(plan.measures)
        pandas.DataFrame({"person": [1] * 50 + [2]}).to_csv(path, index=False)
        run.cells([plan.measures[0].row_steps])


def test_a_file_that_stays_gives_its_cells(tmp_path: Path) -> None:
    """The same run without the change ends well, with each person weighed down to one row."""
    path = tmp_path / "visits.csv"
    pandas.DataFrame({"person": [1, 1, 1, 2]}).to_csv(path, index=False)
    visits = sf.table(path, unit="person")
    plan = price(bind(parse("SELECT COUNT(*) AS n FROM visits"), {"visits": visits}), epsilon=1)
    with DuckdbEngine().run(plan) as run:
        run.prepare(plan.measures)
        row = plan.measures[0].row_steps
        (cell,) = run.cells([row])[()]
    assert 2 * row - 3 <= cell <= 2 * row
