"""Units travel: the rows of a question without a unit are its rows but those of the unit, bit for bit.

All else rests on it: whatever is weighed and released is computed of these rows (`counted`), and what one unit may move
is limited by its own rows there. So the databases are as nasty as they can be, and the questions join, stack and
aggregate in every way that is answered. Adding a unit is the same pair, seen from the other side.
"""

from __future__ import annotations

import functools
from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from curator.traveling import Traveling, search
from curator.worlds import KINDS, World, plan_of, random_plan, random_world
from sfumato.audit.sql.recorder import SCRIPTS, Recorder, Script, record, violations
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement import measure
from sfumato.dataset.public_table import public
from sfumato.dataset.table import table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import UnsupportedQuery
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics import center, contribution_histogram, statistic
from sfumato.statistics.quantile import quantile

PAIRS = 3_400  # of a question and a unit; three kinds of units make more than 10,000
WHOLE = 36  # the same, for runs of the engine as it is


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_unit_its_rows_are_gone_and_no_other_changes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every unit of every random database, also one that is in few of its tables, and every random question."""
    pairs, found = search(Traveling(monkeypatch), seed=2026, kind=kind, wanted=PAIRS)
    assert found[:5] == []
    assert pairs >= PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_parent_that_nobody_has_any_more_belong_to_nobody(kind: str) -> None:
    """Whether what a unit had by a key alone is taken out with the unit or stays behind makes no difference."""
    random, tried = Random(5), 0
    while tried < 20:
        world = random_world(random, kind)
        plan = random_plan(random, world)
        for gone in random.sample(world.units, 2):
            left = world.without(gone)
            keys = {row["o"] for row in left.rows["orders"].to_pylist()}
            items = left.rows["items"]
            kept = items.filter(pa.array([row["o"] in keys for row in items.to_pylist()], pa.bool_()))
            swept = left.over({**left.rows, "items": kept})
            assert _counted(left, plan.bound.canonical) == _counted(swept, plan.bound.canonical)
            tried += 1


def _counted(world: World, question: str) -> Counter[str]:
    """The rows that count, by the engine as it is."""
    with DuckdbEngine().run(plan_of(world, question)) as run:
        return Counter(map(repr, run.fetch(f"SELECT * FROM {run.counted}")))


@pytest.mark.parametrize("kind", KINDS)
def test_whole_runs_have_the_rows_that_are_compared_here(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine as it is, on frames of their own and with its optimizer, counts what the shared connection counts."""
    random = Random(11)
    for _ in range(4):
        world = random_world(random, kind)
        for _ in range(3):
            plan, gone = random_plan(random, world), random.choice(world.units)
            with monkeypatch.context() as patch:
                traveling = Traveling(patch)
                traveling.load(world)
                traveling.open(plan)
                expected = [traveling.counted(), traveling.counted(gone)]
            found = [_counted(each, plan.bound.canonical) for each in (world, world.without(gone))]
            assert found == [Counter({f"({', '.join(row)})": n for row, n in each.items()}) for each in expected]


@pytest.fixture
def remembered_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sees released numbers only, the same for all neighbors, is worked out once."""
    remembered = functools.cache(contribution_histogram.choose)
    for module in (statistic, center, quantile):
        monkeypatch.setattr(module, "choose", remembered)
    monkeypatch.setattr(measure, "_histogram", functools.cache(measure._histogram))


def _question(random: Random, world: World) -> str:
    """The rows of a random question, with other measures and perhaps keys that have to be found."""
    plan = random_plan(random, world)
    rows = plan.bound.canonical.split(" FROM ", 1)[1]
    wanted = random.choice(("COUNT(*) AS n", "SUM(x) AS s", "AVG(x) AS m", "COUNT(DISTINCT p) AS u", "MEDIAN(x) AS m"))
    wanted = wanted.replace("DISTINCT p", "DISTINCT p, d") if len(world.means) > 1 else wanted
    return random.choice((f"SELECT {wanted} FROM {rows}", f"SELECT r, {wanted} FROM {rows} GROUP BY r"))


def _recorded(plan: PricedPlan, script: Script, shown: dict[str, set[tuple[object, ...]]]) -> Recorder:
    with DuckdbEngine().run(plan) as run:
        return record(plan, run, script, shown)  # type: ignore[arg-type]


@pytest.mark.usefixtures("remembered_decisions")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_one_unit_moves_no_release_of_joined_rows_further_than_claimed(noise: str, kind: str) -> None:
    """Whole runs with a recorder in the place of the noise: every vector moves by what it claims at most."""
    random, pairs = Random(f"{noise} {kind}"), 0
    while pairs < WHOLE:
        world = random_world(random, kind)
        for _ in range(3):
            question, bound = _question(random, world), random.choice((None, 1, 3))
            plan = plan_of(world, question, noise, bound)
            script, shown = random.choice(SCRIPTS)(pairs), {}  # type: ignore[var-annotated]
            base = _recorded(plan, script, shown)
            for gone in random.sample(world.units, 6):
                near = _recorded(plan_of(world.without(gone), question, noise, bound), script, shown)
                assert violations(plan, base, near) == [], (question, gone)
                pairs += 1


ROWS = pa.table({"x": [1.0, 2.0, 3.0, None], "r": ["a", "b", "b", None]})
OTHERS = pa.table({"x": [5.0, 6.0], "r": ["a", None]})


def test_where_a_row_is_a_unit_it_never_becomes_two() -> None:
    """One row less in a table is at most one row less that counts: stacked, filtered, and beside public rows."""
    asked = (
        "SELECT SUM(x) AS s FROM (SELECT x FROM t UNION ALL SELECT x FROM u) AS q",
        "SELECT SUM(x) AS s FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x + 1 AS x FROM u) AS q WHERE x < 6",
        "SELECT SUM(x) AS s FROM t LEFT JOIN few ON t.r = few.r",
    )
    few = public(pa.table({"r": ["a", "b"], "w": [1.0, 2.0]}))
    for question in asked:
        sizes = []
        for rows in (ROWS, *(ROWS.filter([n != gone for n in range(4)]) for gone in range(4))):
            curator = Curator({"t": table(rows), "u": table(OTHERS), "few": few}, budget=Guarantee(1))
            with DuckdbEngine().run(curator.plan(question, 1, Options(estimate_bounds=True))) as run:
                sizes.append(len(run.fetch(f"SELECT * FROM {run.counted}")))
        assert all(sizes[0] - 1 <= size <= sizes[0] for size in sizes), question


@pytest.mark.parametrize(
    "question",
    (
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION ALL SELECT x FROM t) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x FROM same) AS q",
        "WITH c AS (SELECT x FROM t UNION ALL SELECT x FROM u) "
        "SELECT COUNT(*) AS n FROM (SELECT x FROM c UNION ALL SELECT x FROM u) AS q",
    ),
)
def test_a_row_that_is_a_unit_is_not_stacked_on_itself(question: str) -> None:
    """It would count as two units, whatever the names of the tables that hold it."""
    curator = Curator({"t": table(ROWS), "same": table(ROWS), "u": table(OTHERS)}, budget=Guarantee(1))
    with pytest.raises(UnsupportedQuery, match="twice, so that one unit would count as two; ask of it once, or"):
        curator.plan(question, 1, Options(estimate_bounds=True))
