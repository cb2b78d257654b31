"""What a question releases from neighboring tables: never further apart than it claims, and nothing else differs.

A recorder stands in the place of the noise (`sfumato.audit.sql.recorder`). One violation is a bug in the privacy of the
product, so the tables are as nasty as the declarations allow.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from random import Random

import duckdb
import pytest

from curator.questions import UNITS, random_case, random_plan, sought_question
from curator.recording import Shared, recorded, search
from sfumato.audit.sql.recorder import large, record
from sfumato.curator.measurement import measure
from sfumato.curator.measurement import quantile_search as zoom
from sfumato.dataset.sources.frame import Frame
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.sql import run as engine
from sfumato.engines.sql.dialect import DUCKDB
from sfumato.plan.pricing import key_discovery as key_discovery
from sfumato.plan.relations.relation import stored
from sfumato.statistics import center, contribution_histogram, statistic
from sfumato.statistics.quantile import quantile

PAIRS = 1_680  # of a plan and a unit; six runs make more than 10,000
LOOKS = 420  # the same where keys, quantiles or values have to be looked for; twelve runs make more than 5,000


@pytest.fixture(autouse=True)
def remembered_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sees released numbers only, the same for all neighbors, is worked out once."""
    remembered = functools.cache(contribution_histogram.choose)
    for module in (statistic, center, quantile):
        monkeypatch.setattr(module, "choose", remembered)
    monkeypatch.setattr(measure, "_histogram", functools.cache(measure._histogram))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbors", ("add-remove", "replace"))
def test_one_unit_moves_no_release_further_than_claimed(neighbors: str, unit: object) -> None:
    """Every vector of every random question, for every unit of every random table: the distance is at most moves."""
    pairs, found = search(Shared(), seed=2026, wanted=PAIRS, neighbors=neighbors, unit=unit)
    assert found[:5] == []
    assert pairs >= PAIRS


@pytest.mark.parametrize("most_keys", (key_discovery.MOST_KEYS, 3))
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbors", ("add-remove", "replace"))
def test_one_unit_moves_no_look_further_than_claimed(
    neighbors: str, unit: object, most_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for what has to be looked for: quantiles, different values, and keys, of which few may count."""
    monkeypatch.setattr(key_discovery, "MOST_KEYS", most_keys)
    monkeypatch.setattr(zoom, "_MOST", 64)  # cells of a stretch; more take more time and are no different
    pairs, found = search(Shared(), 2027, LOOKS, neighbors, unit, sought_question)
    assert found[:5] == []
    assert pairs >= LOOKS


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_whole_run_agrees(unit: object) -> None:
    """The engine as it is, on whole tables in databases of their own, records what the shared connection records."""
    for number in range(4):
        random = Random(number)
        case = random_case(random, neighbors="replace", unit=unit)
        shared = Shared()
        shared.load(case)
        plan = random_plan(random, case.declared)
        for owner in [None, *case.owners[:2]]:
            shared.start()
            mine = (case.rows["side"] == 0) & (case.rows["owner"] != owner)
            if owner is not None:
                mine |= (case.rows["side"] == 1) & (case.rows["owner"] == owner)
            frame = case.rows[mine].drop(columns=["owner", "side"])
            rows = stored("t", replace(case.declared, source=Frame(frame)))
            whole = replace(plan, bound=replace(plan.bound, table=rows))
            with DuckdbEngine().run(whole) as run:
                recorder = record(whole, run, large)
            expected = recorded(shared, case, plan, owner, large)
            assert (recorder.released, recorder.selected) == (expected.released, expected.selected)


def test_a_weight_brings_every_contribution_down_to_the_limit() -> None:
    """For contributions up to 2**62 and any limit: rows of steps up to 2**31 add up to at most the limit, exactly."""
    random = Random(7)
    connection = duckdb.connect()
    for _ in range(300):
        limit = random.choice((1, 2, 3, 2**30, 2**60, 2**62, random.randint(1, 2**62)))
        contribution = random.choice((limit, limit + 1, limit - 1, 2 * limit, random.randint(1, 2**63), 2**62 - 1))
        row = random.randint(-(2**31), 2**31)
        weight = engine.weight(DUCKDB, f"CAST({contribution} AS HUGEINT)", limit)
        sql = f"SELECT f, CAST({row} AS BIGINT) * f // {engine.WEIGHT} FROM (SELECT {weight} AS f)"
        ((f, cell),) = connection.execute(sql).fetchall()
        assert contribution * f <= limit * engine.WEIGHT or contribution <= limit
        assert abs(cell) * engine.WEIGHT <= abs(row) * f
