"""What a question releases from neighbouring tables: never further apart than it claims, and nothing else differs.

A recorder stands in the place of the noise. It returns the same outputs on both sides, whatever the data, so that all
that the curator decides from outputs is decided alike; what it recorded is then compared. One violation is a bug in the
privacy of the product, so the tables are as nasty as the declarations allow.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pytest

from curator.questions import UNITS, Case, random_case, random_plan
from sfumato.curator import measure
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measure import measure_all
from sfumato.dataset.column import Key
from sfumato.dataset.frame import Frame
from sfumato.engines import duckdb_run as engine
from sfumato.engines.duckdb import DuckdbEngine
from sfumato.plan.price import PricedPlan
from sfumato.plan.share import Share
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.sensitivity import Norm

Group = tuple[Key, ...]
Scores = Mapping[Group, int]
Record = list[tuple[str, list[int], int, Share]]
Script = Callable[[str, Sequence[int]], list[int]]


class Recorder:
    """Keeps what arrives, and returns what a script says, which sees labels and lengths only.

    Which keys are shown is decided by the first table: every second key, and nearly none of a second look.
    """

    def __init__(self, script: Script, shown: dict[str, set[Group]] | None = None) -> None:
        self.record: Record = []
        self.selected: list[tuple[str, dict[Group, int], int, int, Share]] = []
        self._script = script
        self._shown = {} if shown is None else shown

    def select(
        self, label: str, exact: Mapping[Group, int], threshold: int, moves: int, share: Share
    ) -> dict[Group, int]:
        self.selected.append((label, dict(exact), threshold, moves, share))
        first = label == "keys 0"
        shown = {key for key in exact if len(repr(key)) % (2 if first else 7) == 0}
        return dict.fromkeys(self._shown.setdefault(label, shown), threshold + 1)

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        self.record.append((label, list(exact), moves, share))
        return self._script(label, exact)


def zeros(label: str, exact: Sequence[int]) -> list[int]:
    return [0] * len(exact)


def large(label: str, exact: Sequence[int]) -> list[int]:
    return [10**9] * len(exact)


def seeded(seed: int) -> Script:
    def script(label: str, exact: Sequence[int]) -> list[int]:
        random = Random(f"{seed} {label} {len(exact)}")
        size = random.choice((10, 10**4, 10**12))
        return [random.choice((0, 0, random.randint(-size, size))) for _ in exact]

    return script


def realistic(seed: int) -> Script:
    """The first table's exact values with heavy noise; on all tables after it the same outputs again."""
    first: dict[str, list[int]] = {}

    def script(label: str, exact: Sequence[int]) -> list[int]:
        random = Random(f"{seed} {label}")
        if label not in first:
            boost = 1 if label.startswith("cells") else random.choice((1, 10**4))
            first[label] = [value * boost + random.randint(-3, 3) for value in exact]
        return first[label]

    return script


class Fetched:
    """Rows that are already here."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def fetchall(self) -> list[Any]:
        return self._rows


class Viewed(engine.DuckdbRun):
    """A run whose rows are views with names, which `Shared` replaces."""

    def view(self, name: str, sql: str) -> str:
        self.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return name


class Shared:
    """One connection for all runs: the engine's own SQL, on filters of one table instead of a new database each time.

    What is public, and the rows that may count (`counted`, which the engine computes row by row), is computed once per
    plan and then only filtered; `test_a_whole_run_agrees` compares with whole runs. `mutate` breaks the SQL on purpose.
    """

    def __init__(self, mutate: Callable[[str], str] = str) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("SET TimeZone = 'UTC'; SET pandas_analyze_sample = 0; PRAGMA disable_optimizer")
        self._mutate = mutate
        self._done: dict[str, Fetched] = {}

    def load(self, case: Case) -> None:
        self._connection.register("rows", case.rows)
        self._connection.execute("CREATE OR REPLACE TEMP TABLE source AS SELECT * FROM rows")
        self._connection.unregister("rows")

    def start(self) -> None:
        """A new plan: nothing is known of it."""
        self._done = {}

    def concerned(self) -> set[int]:
        """The owners of rows that count; without the others the rows that count are the same, and so is the run."""
        return {owner for (owner,) in self._connection.execute("SELECT DISTINCT owner FROM counted_by_all").fetchall()}

    def show(self, case: Case, owner: int | None) -> None:
        """All rows, or those of a neighbour without the owner or with the owner's other rows."""
        self._owner, self._replaces = owner, case.declared.neighbours.value == "replace"

    def register(self, name: str, frame: object) -> None:
        assert name == "source"

    def execute(self, sql: str, values: object = None) -> Any:
        if sql.startswith("SET ") or sql in self._done:
            return self._done.get(sql)
        if sql.startswith("CREATE TEMP VIEW counted AS "):
            return self._keep(sql)
        public = re.match(r'CREATE TEMP TABLE (atom|keys)|SELECT "k0".* FROM keys ORDER BY place$', sql)
        made = self._mutate(re.sub(r"^CREATE TEMP ", "CREATE OR REPLACE TEMP ", sql))
        result = self._connection.execute(made, values) if values is not None else self._connection.execute(made)
        if public:
            self._done[sql] = Fetched(result.fetchall())
            return self._done[sql]
        return result

    def _keep(self, sql: str) -> None:
        """The rows that count: computed for all at once with their owners, then filtered."""
        if "counted" not in self._done:
            outer, _, inner = sql.replace(
                "CREATE TEMP VIEW counted ", "CREATE OR REPLACE TEMP TABLE counted_by_all "
            ).rpartition(" FROM (SELECT ")
            inner = inner.replace(" FROM source AS s)", ", owner, side FROM source AS s)", 1)
            self._connection.execute(f"{outer}, owner, side FROM (SELECT {inner}")
            self._done["counted"] = Fetched([])
        other = f" OR (side = 1 AND owner = {self._owner})" if self._replaces else ""
        rows = "side = 0" if self._owner is None else f"(side = 0 AND owner <> {self._owner}){other}"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW counted AS SELECT * FROM counted_by_all WHERE {rows}")


def recorded(
    shared: Shared,
    case: Case,
    plan: PricedPlan,
    owner: int | None,
    script: Script,
    shown: dict[str, set[Group]] | None = None,
) -> Recorder:
    shared.show(case, owner)
    recorder = Recorder(script, shown)
    measure_all(plan, Viewed(shared, plan), recorder)
    return recorder


def violations(shared: Shared, case: Case, plan: PricedPlan, script: Script) -> tuple[int, list[str]]:
    """The number of neighbours tried, and what differs more than it may."""
    shared.start()
    shown: dict[str, set[Group]] = {}
    base = recorded(shared, case, plan, None, script, shown)
    found = []
    if sum(share.amount for *_, share in [*base.record, *base.selected]) != plan.whole.amount:
        found.append("the shares do not add up")
    for owner in shared.concerned() & set(case.owners):
        near = recorded(shared, case, plan, owner, script, shown)
        wrong = differences(base.record, near.record) + misplaced_keys(plan, base, near)
        found += [f"owner {owner}: {each}" for each in wrong]
    return len(case.owners), found


def misplaced_keys(plan: PricedPlan, base: Recorder, near: Recorder) -> list[str]:
    """What is wrong with scores of keys: those on both sides moved too far, or one side's own are too heavy."""
    found = []
    looks = () if plan.selection is None else plan.selection.rounds
    for look, (label, here, threshold, moves, share), (_, there, *same) in zip(
        looks, base.selected, near.selected, strict=True
    ):
        if same != [threshold, moves, share]:
            found.append(f"{label}: threshold, moves or share depend on data")
        power = 1 if share.norm is Norm.L1 else 2
        distance = sum(abs(here[key] - there[key]) ** power for key in here.keys() & there.keys())
        if distance > moves:
            found.append(f"{label} moved by {distance}, claimed {moves}")
        for own in (here.keys() - there.keys(), there.keys() - here.keys()):
            scores = [here.get(key, 0) + there.get(key, 0) for key in own]
            if scores and max(scores) > look.weights[min(len(scores), len(look.weights)) - 1]:
                found.append(f"{label}: {len(scores)} keys of one unit have {max(scores)}")
    return found


def differences(base: Record, near: Record) -> list[str]:
    """What two neighbours release differently, beyond what is claimed."""
    if [(a, len(b), c, d) for a, b, c, d in near] != [(a, len(b), c, d) for a, b, c, d in base]:
        return ["labels, lengths, moves or shares depend on data"]
    found = []
    for (label, here, moves, share), (_, there, _, _) in zip(base, near, strict=True):
        power = 1 if share.norm is Norm.L1 else 2  # in L2 the squares are compared
        distance = sum(abs(a - b) ** power for a, b in zip(here, there, strict=True))
        if distance > moves:
            found.append(f"{label} moved by {distance}, claimed {moves}")
    return found


PAIRS = 1_680  # of a plan and a unit; six runs make more than 10,000
SCRIPTS: tuple[Callable[[int], Script], ...] = (lambda _: zeros, lambda _: large, seeded, realistic, realistic)


def search(shared: Shared, seed: int, wanted: int, neighbours: str, unit: object) -> tuple[int, list[str]]:
    """Violations among at least so many pairs of a plan and a unit, with words to find them again."""
    pairs, number, found = 0, 0, []
    while pairs < wanted:
        random = Random(f"{seed} {number} {neighbours} {unit}")
        case = random_case(random, neighbours=neighbours, unit=unit)
        shared.load(case)
        for place in range(6):
            plan = random_plan(random, case.declared)
            tried, wrong = violations(shared, case, plan, random.choice(SCRIPTS)(seed + place))
            pairs += tried
            found += [f"table {number}: {plan.bound.canonical}: {each}" for each in wrong]
        number += 1
    return pairs, found


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("neighbours", ("add-remove", "replace"))
def test_one_unit_moves_no_release_further_than_claimed(
    neighbours: str, unit: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every vector of every random question, for every unit of every random table: the distance is at most moves."""
    for released_only in ("choose", "_tails"):  # they see released numbers, the same for all neighbours
        monkeypatch.setattr(measure, released_only, functools.cache(getattr(measure, released_only)))
    pairs, found = search(Shared(), seed=2026, wanted=PAIRS, neighbours=neighbours, unit=unit)
    assert found[:5] == []
    assert pairs >= PAIRS


def heavier(influence: str, limit: int) -> str:
    """A weight rounded up."""
    scaled = f"(CAST({limit * engine.WEIGHT - 1} AS HUGEINT) // CAST({influence} AS HUGEINT) + 1)"
    weight = f"CASE WHEN {influence} <= CAST({limit} AS HUGEINT) THEN {engine.WEIGHT} ELSE {scaled} END"
    return f"CAST({weight} AS BIGINT)"


def forgetful(sql: str) -> str:
    """The norm of a unit without its rows of the first group."""
    return sql.replace(" FROM kept GROUP BY ", " FROM kept WHERE g <> 1 GROUP BY ") if "TABLE units" in sql else sql


def several(sql: str) -> str:
    """A histogram of rows where it should be one of units."""
    return sql.replace("max(abs(x", "(abs(x").replace(' GROUP BY "u0") GROUP BY j', ") GROUP BY j")


MUTATIONS: dict[str, Callable[[str], str]] = {
    "floor instead of truncation": lambda sql: re.sub(r" \* f(\d+) // 1073741824", r" * f\1 >> 30", sql),
    "a norm that forgets a group": forgetful,
    "a norm that takes the largest row": lambda sql: sql.replace("CAST(sum(abs(", "CAST(max(abs("),
    "a norm without absolute values": lambda sql: sql.replace("CAST(sum(abs(", "CAST(sum((", 1),
    "a sum that is not weighed": lambda sql: re.sub(r" \* f\d+ // 1073741824", "", sql),
    "a unit in several bins": several,
}


GAUSSIAN_MUTATIONS: dict[str, Callable[[str], str]] = {
    "floor instead of truncation": lambda sql: re.sub(r" \* f(\d+) // 1073741824", r" * f\1 >> 30", sql),
    "a norm that takes the largest group": lambda sql: re.sub(r"sum\((CAST\(s\d+_0 AS HUGEINT\) \* )", r"max(\1", sql),
    "a root that is rounded down": lambda sql: sql.replace("ceil(sqrt", "floor(sqrt").replace(">= q", ">= 0 * q"),
    "a sum that is not weighed": lambda sql: re.sub(r" \* f\d+ // 1073741824", "", sql),
}


def power(shared: Shared, tables: int, neighbours: str = "add-remove", noise: str | None = None) -> Iterator[str]:
    """What is found of a broken engine by a few questions on a few tables."""
    for number in range(tables):
        case = random_case(Random(number), neighbours=neighbours, unit="pid")
        shared.load(case)
        curator = Curator({"t": case.declared}, allowance=Guarantee(1))
        for bound, question in itertools.product((1, 3, None), POWER):
            plan = curator.plan(question, 1, Options(bound=bound, bounds="auto", delta=1e-6, noise=noise))
            yield from violations(shared, case, plan, large)[1]


POWER = (
    "SELECT k, SUM(x) AS s FROM t GROUP BY k",
    "SELECT k > 1 AS g, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY 1",
    "SELECT SUM(x / 3) AS s FROM t",
)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_engine_is_caught(name: str) -> None:
    """Each way of being subtly wrong makes some release move further than claimed."""
    assert next(power(Shared(MUTATIONS[name]), 9), None) is not None


@pytest.mark.parametrize("name", GAUSSIAN_MUTATIONS)
def test_a_broken_engine_is_caught_with_gaussian_noise(name: str) -> None:
    """Each way of being subtly wrong about L2 norms makes some release move further than claimed."""
    assert next(power(Shared(GAUSSIAN_MUTATIONS[name]), 30, noise="gaussian"), None) is not None


def test_a_weight_that_is_rounded_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step of 2**-30 too much is seen, since a unit's rows then add up to more than the limit."""
    monkeypatch.setattr(engine, "weight", heavier)
    assert next(power(Shared(), 9), None) is not None


def test_a_sound_engine_is_not_accused() -> None:
    """The questions that catch broken engines find nothing in this one."""
    assert list(power(Shared(), 2)) == []
    assert list(power(Shared(), 2, noise="gaussian")) == []


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
            whole = replace(plan, bound=replace(plan.bound, table=replace(case.declared, source=Frame(frame))))
            recorder = Recorder(large)
            with DuckdbEngine().run(whole) as run:
                measure_all(whole, run, recorder)
            expected = recorded(shared, case, plan, owner, large)
            assert (recorder.record, recorder.selected) == (expected.record, expected.selected)


def test_a_weight_brings_every_influence_down_to_the_limit() -> None:
    """For influences up to 2**62 and any limit: rows of steps up to 2**31 add up to at most the limit, exactly."""
    random = Random(7)
    connection = duckdb.connect()
    for _ in range(300):
        limit = random.choice((1, 2, 3, 2**30, 2**60, 2**62, random.randint(1, 2**62)))
        influence = random.choice((limit, limit + 1, limit - 1, 2 * limit, random.randint(1, 2**63), 2**62 - 1))
        row = random.randint(-(2**31), 2**31)
        weight = engine.weight(f"CAST({influence} AS HUGEINT)", limit)
        sql = f"SELECT f, CAST({row} AS BIGINT) * f // {engine.WEIGHT} FROM (SELECT {weight} AS f)"
        ((f, cell),) = connection.execute(sql).fetchall()
        assert influence * f <= limit * engine.WEIGHT or influence <= limit
        assert abs(cell) * engine.WEIGHT <= abs(row) * f
