"""Audit a question in SQL: by a recorder on made-up neighboring tables, and by sampling what it answers.

The recorder needs no statistics and sees every release of the question, so it is the sharper of the two. Sampling sees
only what an analyst sees, and so also what happens between the releases and the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sfumato import checks
from sfumato.audit.draw import Sample
from sfumato.audit.game import Game
from sfumato.audit.sql.cached_run import Remembered
from sfumato.audit.sql.neighborhood import Tables, neighborhood
from sfumato.audit.sql.noise import wrong_noise
from sfumato.audit.sql.recorder import SCRIPTS, Group, record, used, violations
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.curator.options import Options
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.engine import Engine
from sfumato.entropy import Entropy
from sfumato.plan.pricing.price import PricedPlan
from sfumato.plan.relations.relation import on_tables
from sfumato.privacy.neighbors import Neighbors

TABLES = 5  # as many as there are scripts
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recorder found: the pairs of neighboring tables that were tried, and what differs more than it may.

    used   by release, the largest part of its claimed distance that two neighbors used; 1 is all of it
    """

    question: str
    pairs: int
    used: dict[str, float]
    violations: tuple[str, ...]

    @property
    def refuted(self) -> bool:
        """Whether some release moved further than it claims."""
        return bool(self.violations)

    def describe(self) -> str:
        """In plain words."""
        if self.violations:
            return f"REFUTED: {len(self.violations)} of {self.pairs} pairs of neighbors; first: {self.violations[0]}"
        spent = ", ".join(f"{label} {part:.0%}" for label, part in self.used.items()) or "nothing"
        return (
            f"not refuted: on {self.pairs} pairs of neighboring tables every release moves by what it claims at most; "
            f"used of it: {spent}"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "question": self.question,
            "refuted": self.refuted,
            "pairs": self.pairs,
            "used": {label: round(part, 6) for label, part in self.used.items()},
            "violations": list(self.violations),
        }


def record_question(
    curator: Curator, question: str, *, epsilon: checks.Number = 1, tables: int = TABLES, **options: Any
) -> Recorded:
    """Audit a question of a curator's: nothing is charged, and no row of its tables is read.

    It runs on so many made-up tables of the declared schema and on all neighbors of each, with a recorder in the place
    of the noise. The options are those of `ask`.
    """
    return record_plan(curator.plan(question, epsilon, Options(**options)), tables=tables)


def record_plan(
    plan: PricedPlan, *, tables: int = TABLES, engine: Engine | None = None, progress: Told = lambda done, of: None
) -> Recorded:
    """Run a priced question with a recorder on so many made-up tables and on all neighbors of each."""
    count, runner = checks.whole(least=1, tables=tables), engine or DuckdbEngine()
    pairs, parts, found = 0, dict[str, float](), list[str]()
    for seed in range(count):
        progress(seed, count)
        with neighborhood(plan.bound.table.tables, seed) as around:
            script, shown = SCRIPTS[seed % len(SCRIPTS)](seed), dict[str, set[Group]]()

            def recorded(table: Tables) -> Any:
                with runner.run(_on(plan, table)) as run:
                    return record(plan, run, script, shown)  # noqa: B023 - called in this turn only

            base = recorded(around.base)
            found += [f"table {seed}: {each}" for each in wrong_noise(base)]
            for owner, table in around.neighbors.items():
                near, pairs = recorded(table), pairs + 1
                found += [f"table {seed}, unit {owner}: {each}" for each in violations(plan, base, near)]
                for label, part in used(base, near).items():
                    parts[label] = max(parts.get(label, 0.0), part)
    progress(count, count)
    return Recorded(plan.bound.canonical, pairs, parts, tuple(found))


@contextmanager
def question_game(plan: PricedPlan, seed: int = 0) -> Iterator[Game]:
    """A game of what a question answers on a made-up table and on that neighbor which moves its releases most."""
    with neighborhood(plan.bound.table.tables, seed) as around:
        engine = DuckdbEngine()
        zeros = SCRIPTS[0](0)

        def moved(table: Tables) -> float:
            with engine.run(_on(plan, around.base)) as here, engine.run(_on(plan, table)) as there:
                shown: dict[str, set[Group]] = {}
                return sum(used(record(plan, here, zeros, shown), record(plan, there, zeros, shown)).values())

        chosen = max(around.neighbors.values(), key=moved)
        comes = plan.promise.neighbors is Neighbors.ADD_REMOVE
        words = "a made-up table", "the same without one unit" if comes else "the same with other rows of one unit"
        yield Game(plan.bound.canonical, _answers(plan, engine), around.base, chosen, plan.promise, words)


def _answers(plan: PricedPlan, engine: Engine) -> Sample:
    """What the analyst sees, many times: the engine answers each thing once, the noise is new every time."""
    runs: dict[int, Remembered] = {}

    def sample(table: Tables, count: int, entropy: Entropy) -> list[Any]:
        run = runs.setdefault(id(table), Remembered(_on(plan, table), engine))
        return [_answer(plan, run, entropy) for _ in range(count)]

    return sample


def _answer(plan: PricedPlan, run: Remembered, entropy: Entropy) -> Any:
    run.begin()
    rows = rows_of(plan, measure_all(plan, run, NoisyReleaser(entropy)))
    names = [column.name for column in plan.bound.shown]
    shown = {(row.key, name): row.values[name] for row in rows for name in names if _is_number(row.values[name])}
    return shown if plan.key_discovery is not None or plan.bound.having is not None else tuple(shown.values())


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _on(plan: PricedPlan, tables: Tables) -> PricedPlan:
    return replace(plan, bound=replace(plan.bound, table=on_tables(plan.bound.table, tables)))
