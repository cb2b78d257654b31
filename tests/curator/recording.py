"""A recorder in the place of the noise, and what it finds in runs on neighbouring tables.

It returns the same outputs on both sides, whatever the data, so that all that the curator decides from outputs is
decided alike; what it recorded is then compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import duckdb

from curator.questions import Case, Question, random_case, random_plan, random_question
from sfumato.curator.measure import measure_all
from sfumato.dataset.column import Key
from sfumato.engines import duckdb_run as engine
from sfumato.plan.price import PricedPlan
from sfumato.plan.share import Share
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

    def select(self, label: str, exact: Scores, threshold: int, moves: int, share: Share) -> dict[Group, int]:
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

    What is public, and the rows that may count and those of groups (`counted` and `kept`, which the engine computes row
    by row), is computed once per plan and then only filtered; `test_a_whole_run_agrees` compares with whole runs.
    `mutate` breaks the SQL on purpose.
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
        if (rows := re.match("CREATE TEMP VIEW (counted|kept) AS ", sql)) is not None:
            return self._keep(rows[1], sql[rows.end() :])
        public = re.match(r'CREATE TEMP TABLE (atom|keys)|SELECT "k0".* FROM keys ORDER BY place$', sql)
        made = self._mutate(re.sub(r"^CREATE TEMP ", "CREATE OR REPLACE TEMP ", sql))
        result = self._connection.execute(made, values) if values is not None else self._connection.execute(made)
        if public:
            self._done[sql] = Fetched(result.fetchall())
            return self._done[sql]
        return result

    def _keep(self, name: str, sql: str) -> None:
        """The rows that count: computed for all at once with their owners, then filtered."""
        if name not in self._done:
            if name == "counted":
                outer, _, inner = sql.rpartition(" FROM (SELECT ")
                inner = inner.replace(" FROM source AS s)", ", owner, side FROM source AS s)", 1)
                sql = f"{outer}, owner, side FROM (SELECT {inner}"
            else:
                sql = sql.replace(" FROM counted", " FROM counted_by_all AS counted", 1)
            self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name}_by_all AS {sql}")
            self._done[name] = Fetched([])
        other = f" OR (side = 1 AND owner = {self._owner})" if self._replaces else ""
        rows = "side = 0" if self._owner is None else f"(side = 0 AND owner <> {self._owner}){other}"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {name}_by_all WHERE {rows}")


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
        if {repr(key) for key in here if key in there} != {repr(key) for key in there if key in here}:
            found.append(f"{label}: a key is spelled as one unit spells it")
        for own in (here.keys() - there.keys(), there.keys() - here.keys()):
            scores = [here.get(key, 0) + there.get(key, 0) for key in own]
            if len(scores) > len(look.weights):
                found.append(f"{label}: {len(scores)} keys of one unit, {len(look.weights)} may count")
            elif scores and max(scores) > look.weights[len(scores) - 1]:
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


SCRIPTS: tuple[Callable[[int], Script], ...] = (lambda _: zeros, lambda _: large, seeded, realistic, realistic)


def search(
    shared: Shared, seed: int, wanted: int, neighbours: str, unit: object, question: Question = random_question
) -> tuple[int, list[str]]:
    """Violations among at least so many pairs of a plan and a unit, with words to find them again."""
    pairs, number, found = 0, 0, []
    while pairs < wanted:
        random = Random(f"{seed} {number} {neighbours} {unit}")
        case = random_case(random, neighbours=neighbours, unit=unit)
        shared.load(case)
        for place in range(6):
            plan = random_plan(random, case.declared, question)
            tried, wrong = violations(shared, case, plan, random.choice(SCRIPTS)(seed + place))
            pairs += tried
            found += [f"table {number}: {plan.bound.canonical}: {each}" for each in wrong]
        number += 1
    return pairs, found
