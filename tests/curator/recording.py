"""The recorder of the audit on one shared connection: thousands of neighboring tables in little time."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import duckdb

from curator.questions import Case, Question, random_case, random_plan, random_question
from sfumato.audit.sql import recorder
from sfumato.audit.sql.recorder import SCRIPTS, Group, Recorder, Script, record
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.sql import run as engine
from sfumato.plan.pricing.price import PricedPlan


class Fetched:
    """Rows that are already here."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def fetchall(self) -> list[Any]:
        return self._rows


class Viewed(engine.SqlRun):
    """A run whose rows are views with names, which `Shared` replaces."""

    def view(self, name: str, sql: str) -> str:
        assert isinstance(self.session, DuckdbSession)
        self.session.execute(f"CREATE TEMP VIEW {name} AS {sql}")
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
        """All rows, or those of a neighbor without the owner or with the owner's other rows."""
        self._owner, self._replaces = owner, case.declared.neighbors.value == "replace"

    def register(self, name: str, frame: object) -> None:
        assert name == "source"

    def execute(self, sql: str, values: object = None) -> Any:
        if sql.startswith("SET ") or sql in self._done:
            return self._done.get(sql)
        if (rows := re.match("CREATE TEMP VIEW (counted|kept) AS ", sql)) is not None:
            return self._keep(rows[1], sql[rows.end() :])
        public = re.match(
            r'CREATE (OR REPLACE TEMP TABLE atom|TEMP TABLE keys)|SELECT "k0".* FROM keys ORDER BY place$', sql
        )
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
    return record(plan, Viewed(DuckdbSession(shared), plan), script, shown)


def violations(shared: Shared, case: Case, plan: PricedPlan, script: Script) -> tuple[int, list[str]]:
    """The number of neighbors tried, and what differs more than it may."""
    shared.start()
    shown: dict[str, set[Group]] = {}
    base = recorded(shared, case, plan, None, script, shown)
    found = []
    for owner in shared.concerned() & set(case.owners):
        near = recorded(shared, case, plan, owner, script, shown)
        found += [f"owner {owner}: {each}" for each in recorder.violations(plan, base, near)]
    return len(case.owners), found


def search(
    shared: Shared, seed: int, wanted: int, neighbors: str, unit: object, question: Question = random_question
) -> tuple[int, list[str]]:
    """Violations among at least so many pairs of a plan and a unit, with words to find them again."""
    pairs, number, found = 0, 0, []
    while pairs < wanted:
        random = Random(f"{seed} {number} {neighbors} {unit}")
        case = random_case(random, neighbors=neighbors, unit=unit)
        shared.load(case)
        for place in range(6):
            plan = random_plan(random, case.declared, question)
            tried, wrong = violations(shared, case, plan, random.choice(SCRIPTS)(seed + place))
            pairs += tried
            found += [f"table {number}: {plan.bound.canonical}: {each}" for each in wrong]
        number += 1
    return pairs, found
