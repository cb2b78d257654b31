"""A made-up city: 200,000 visits to its libraries in 2026, by 40,000 people of seven regions. No one in it exists.

The same city in every run, so that its exact values are known; see `made_up.spread`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.cli._shared.simulation import spread, write_parquet
from sfumato.embedded.database import connected
from sfumato.plan.syntax.node import text_literal

ROWS, PEOPLE, HOUSEHOLDS = 200_000, 40_000, 17_500
REGIONS = ("north", "east", "south", "west", "center", "harbour", "islands")
_SHARES = (0.25, 0.205, 0.19, 0.16, 0.12, 0.06, 0.015)
_INCOMES = (41_000, 34_000, 38_000, 52_000, 61_000, 29_000, 45_000)
_MONTHS = (1.2, 1.1, 1.15, 1.0, 0.9, 0.8, 0.6, 0.65, 0.95, 1.1, 1.2, 0.85)
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_FAITHFUL = 1.3  # the larger, the more visits the most faithful reader makes

_QUERY = f"""
SELECT person, household, [{", ".join(f"'{name}'" for name in REGIONS)}][1 + region] AS region, age, income,
DATE '2026-01-01' + CAST(day AS INTEGER) AS day FROM made
"""

PROJECT = f"""# The project of `sfumato demo`: a made-up city. You may change anything here; the data is not real.

[budget]
epsilon = 5.0                         # the most that all answers together may cost

[tables.visits]
source = "visits.parquet"             # {ROWS:,} visits to the libraries of a city
unit = "person"                       # all visits of one reader belong together: the reader is protected

[tables.visits.columns]
region = {{ keys = [{", ".join(f'"{name}"' for name in REGIONS)}] }}
age    = {{ bounds = [0, 110] }}
income = {{ bounds = [0, 200000] }}
day    = {{ dates = ["2026-01-01", "2026-12-31"] }}
"""


def build(folder: Path) -> None:
    """Write the city's table and its project file into a folder."""
    write_parquet(str(folder / "visits.parquet"), _QUERY, _visits())
    (folder / "sfumato.toml").write_text(PROJECT, encoding="utf-8")


def exact(folder: Path, question: str) -> list[tuple[Any, ...]]:
    """The exact answer to a question: only for data that is nobody's."""
    source = text_literal(str(folder / "visits.parquet"))
    with connected() as engine:
        engine.execute(f"CREATE VIEW visits AS SELECT * FROM read_parquet({source})")
        found: list[tuple[Any, ...]] = engine.execute(question).fetchall()
        return found


def _visits() -> dict[str, NDArray[Any]]:
    """Columns of one row per visit; who reads much comes often."""
    people = _people()
    person = (PEOPLE * spread(ROWS, 1) ** _FAITHFUL).astype(np.int64)
    household = (person * HOUSEHOLDS) // PEOPLE
    return {
        "person": person + 100_001,
        "household": household,
        "day": _days(),
        **{name: values[person] for name, values in people.items()},
    }


def _people() -> dict[str, NDArray[Any]]:
    region = _chosen(spread(PEOPLE, 2), np.array(_SHARES))
    age = np.clip(18 + 70 * spread(PEOPLE, 3) ** 1.3, 0, 110).astype(np.int64)
    bell = np.sqrt(-2 * np.log1p(-spread(PEOPLE, 4))) * np.cos(2 * np.pi * spread(PEOPLE, 5))
    income = np.array(_INCOMES)[region] * np.exp(0.45 * bell)
    return {"region": region, "age": age, "income": np.round(np.clip(income, 0, 199_000), -2)}


def _days() -> NDArray[np.int64]:
    month = _chosen(spread(ROWS, 6), np.array(_MONTHS))
    first: NDArray[np.int64] = np.concatenate([[0], np.cumsum(_DAYS)[:-1]]).astype(np.int64)
    within: NDArray[np.int64] = np.floor(spread(ROWS, 7) * _DAYS[month]).astype(np.int64)
    return first[month] + within


def _chosen(numbers: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each number in [0, 1) the place of a weight, as often as it weighs."""
    return np.searchsorted(np.cumsum(weights / weights.sum())[:-1], numbers, side="right").astype(np.int64)
