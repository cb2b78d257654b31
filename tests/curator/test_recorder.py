"""What a question releases from neighbouring tables: never further apart than it claims, and nothing else differs.

A recorder stands in the place of the noise (`sfumato.audit.recorder`). One violation is a bug in the privacy of the
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
from sfumato.audit.recorder import large, record
from sfumato.curator import measure, zoom
from sfumato.dataset.frame import Frame
from sfumato.engines import run as engine
from sfumato.engines.dialect import DUCKDB
from sfumato.engines.duckdb import DuckdbEngine
from sfumato.plan import selection
from sfumato.plan.relation import stored

PAIRS = 1_680  # of a plan and a unit; six runs make more than 10,000
LOOKS = 420  # the same where keys, quantiles or values have to be looked for; twelve runs make more than 5,000


@pytest.fixture(autouse=True)
def remembered_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sees released numbers only, the same for all neighbours, is worked out once."""
    for released_only in ("choose", "_tails"):
        monkeypatch.setattr(measure, released_only, functools.cache(getattr(measure, released_only)))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbours", ("add-remove", "replace"))
def test_one_unit_moves_no_release_further_than_claimed(neighbours: str, unit: object) -> None:
    """Every vector of every random question, for every unit of every random table: the distance is at most moves."""
    pairs, found = search(Shared(), seed=2026, wanted=PAIRS, neighbours=neighbours, unit=unit)
    assert found[:5] == []
    assert pairs >= PAIRS


@pytest.mark.parametrize("most_keys", (selection.MOST_KEYS, 3))
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbours", ("add-remove", "replace"))
def test_one_unit_moves_no_look_further_than_claimed(
    neighbours: str, unit: object, most_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for what has to be looked for: quantiles, different values, and keys, of which few may count."""
    monkeypatch.setattr(selection, "MOST_KEYS", most_keys)
    monkeypatch.setattr(zoom, "_MOST", 64)  # cells of a stretch; more take more time and are no different
    pairs, found = search(Shared(), 2027, LOOKS, neighbours, unit, sought_question)
    assert found[:5] == []
    assert pairs >= LOOKS


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_whole_run_agrees(unit: object) -> None:
    """The engine as it is, on whole tables in databases of their own, records what the shared connection records."""
    for number in range(4):
        random = Random(number)
        case = random_case(random, neighbours="replace", unit=unit)
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


def test_a_weight_brings_every_influence_down_to_the_limit() -> None:
    """For influences up to 2**62 and any limit: rows of steps up to 2**31 add up to at most the limit, exactly."""
    random = Random(7)
    connection = duckdb.connect()
    for _ in range(300):
        limit = random.choice((1, 2, 3, 2**30, 2**60, 2**62, random.randint(1, 2**62)))
        influence = random.choice((limit, limit + 1, limit - 1, 2 * limit, random.randint(1, 2**63), 2**62 - 1))
        row = random.randint(-(2**31), 2**31)
        weight = engine.weight(DUCKDB, f"CAST({influence} AS HUGEINT)", limit)
        sql = f"SELECT f, CAST({row} AS BIGINT) * f // {engine.WEIGHT} FROM (SELECT {weight} AS f)"
        ((f, cell),) = connection.execute(sql).fetchall()
        assert influence * f <= limit * engine.WEIGHT or influence <= limit
        assert abs(cell) * engine.WEIGHT <= abs(row) * f
