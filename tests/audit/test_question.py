"""Questions in SQL under audit: templates by the recorder, three by sampling; broken ones are caught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.audit.sql import neighborhood as made
from sfumato.audit.sql import recorder
from sfumato.audit.sql.noise import Repeated, wrong_noise
from sfumato.audit.sql.question import question_game, record_plan, record_question
from sfumato.curator.curator import Curator
from sfumato.curator.measurement import measure
from sfumato.curator.measurement.measure import Measured
from sfumato.curator.measurement.release import NoisyReleaser, Releaser
from sfumato.curator.options import Options
from sfumato.dataset.column import Key, column, dates
from sfumato.dataset.table import Table, table
from sfumato.engines.engine import Cells, Run
from sfumato.engines.sql import run as engine
from sfumato.engines.sql.weights import WEIGHT
from sfumato.plan.pricing.key_discovery import KeyDiscovery
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.share import Share
from sources import Seeded

GATE = 1 - 1e-7
RELEASE = NoisyReleaser.release
TEMPLATES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(spent) AS n FROM visits WHERE spent > 10",
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
    "SELECT region, COUNT(DISTINCT person) AS n FROM visits GROUP BY region",
    "SELECT SUM(spent) AS s FROM visits",
    "SELECT region, SUM(spent) AS s FROM visits WHERE NOT paid GROUP BY region",
    "SELECT SUM(CASE WHEN paid THEN spent ELSE 0 END) AS s FROM visits",
    "SELECT AVG(spent) AS m FROM visits",
    "SELECT region, AVG(spent) AS m FROM visits GROUP BY region",
    "SELECT VARIANCE(spent) AS v FROM visits",
    "SELECT region, STDDEV(items) AS d FROM visits GROUP BY region",
    "SELECT MEDIAN(spent) AS m FROM visits",
    "SELECT MIN(items) AS low, MAX(items) AS high FROM visits",
    "SELECT COUNT(DISTINCT note) AS n FROM visits",
    "SELECT day, COUNT(*) AS n FROM visits GROUP BY day HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 3",
    "SELECT DATE_TRUNC('month', day) AS month, SUM(items) AS s FROM visits GROUP BY 1",
    "SELECT FLOOR(items / 2) AS b, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT region, COUNT(*) AS n, SUM(spent) AS s, AVG(items) AS m FROM visits GROUP BY region",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    "SELECT AVG(s) AS m FROM (SELECT person, SUM(spent) AS s FROM visits GROUP BY person) AS t",
    "SELECT COUNT(*) AS n FROM visits JOIN (SELECT person, MAX(items) AS k FROM visits GROUP BY 1) AS t USING (person)",
    "WITH few AS (SELECT * FROM visits WHERE paid) SELECT region, SUM(items * 2) AS s FROM few GROUP BY region",
)
SAMPLED = (
    ("SELECT COUNT(*) AS n FROM visits", 1),
    ("SELECT region, COUNT(DISTINCT person) AS n, SUM(items) AS s FROM visits GROUP BY region", 1),
    ("SELECT AVG(items) AS m FROM visits", 1),
)


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A declared table, with one row that is never read."""
    path: Path = tmp_path_factory.mktemp("audit") / "visits.csv"
    path.write_text("person,region,spent,items,day,note,paid\n1,north,3.5,2,2026-01-30,hello,true\n", encoding="utf-8")
    return table(
        str(path),
        unit="person",
        columns={
            "region": column(keys=["north", "south", "it's"]),
            "spent": column(bounds=(-5, 100)),
            "items": column(bounds=(0, 4)),
            "paid": column(type="boolean"),
            "day": column(keys=dates("2026-01-30", "2026-02-02")),
        },
    )


def curator_of(declared: Table) -> Curator:
    return Curator({"visits": declared}, budget=Guarantee(9, 0.01))


def plan_of(declared: Table, text: str, bound: int | None = None, **options: object) -> PricedPlan:
    return curator_of(declared).plan(
        text, 1, Options(**{"max_rows_per_unit": bound, "delta": 1e-6, "noise": "laplace", **options})
    )


def test_there_are_twenty_templates() -> None:
    """Different ones, and two more with sub-queries and joins."""
    assert len(set(TEMPLATES)) == 22


@pytest.mark.parametrize("place", range(len(TEMPLATES)))
def test_no_release_of_a_question_moves_further_than_claimed(visits: Table, place: int) -> None:
    """On made-up neighbors, by the recorder; every third question under replace, every second with Gaussian noise."""
    declared = replace(visits, neighbors=type(visits.neighbors)("replace")) if place % 3 == 0 else visits
    plan = plan_of(declared, TEMPLATES[place], noise=("laplace", "gaussian")[place % 2])
    found = record_plan(plan, tables=2)
    assert found.violations == () and found.pairs >= 6
    assert found.used or plan.key_discovery is not None


@pytest.mark.parametrize(("text", "bound"), SAMPLED, ids=[text for text, _ in SAMPLED])
def test_answers_do_not_tell_neighbors_apart_more_than_claimed(visits: Table, text: str, bound: int) -> None:
    """By sampling what an analyst sees; few samples, since the noise of a question takes its time."""
    with question_game(plan_of(visits, text, max_rows_per_unit=bound)) as chosen:
        finding = chosen.play(1_000, GATE, entropy=Seeded(1))
    assert not finding.refuted and finding.could_refute


@pytest.mark.parametrize("text", (TEMPLATES[11], TEMPLATES[18], TEMPLATES[14]))
def test_answers_of_every_shape_are_sampled(visits: Table, text: str) -> None:
    """Quantiles, keys that nobody listed, groups that HAVING leaves out; few samples, for the way and not for power."""
    with question_game(plan_of(visits, text)) as chosen:
        assert not chosen.play(100, GATE, entropy=Seeded(4)).refuted


def test_a_count_is_certified_near_its_epsilon(visits: Table) -> None:
    """The sampling has power: a unit that moves the count by all that is claimed is nearly found out."""
    with question_game(plan_of(visits, SAMPLED[0][0], max_rows_per_unit=1)) as chosen:
        assert chosen.play(4_000, GATE, entropy=Seeded(2)).certified > 0.4


def test_a_question_without_enough_noise_is_found_by_sampling(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the noise."""
    from sfumato.statistics.share import Share

    honest = Share.noise
    plan = plan_of(visits, SAMPLED[0][0], max_rows_per_unit=1)
    monkeypatch.setattr(Share, "noise", lambda share, moves: honest(share, max(1, moves // 3)))
    with question_game(plan) as chosen:
        assert chosen.play(2_000, GATE, entropy=Seeded(3)).refuted


def test_a_weight_that_is_too_heavy_is_found_by_the_recorder(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the weight that keeps a unit below its limit."""
    honest = engine.weight
    monkeypatch.setattr(engine, "weight", lambda *known: f"(2 * {honest(*known)})")
    found = record_question(curator_of(visits), TEMPLATES[2], max_rows_per_unit=1)
    assert found.refuted and "moved by" in found.violations[0] and "REFUTED" in found.describe()


def no_noise_at_zero(releaser: NoisyReleaser, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
    return [
        number and noisy for number, noisy in zip(exact, RELEASE(releaser, label, exact, moves, share), strict=True)
    ]


def one_draw_for_all(releaser: NoisyReleaser, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
    drawn = RELEASE(releaser, label, [0], moves, share)[0]
    return [number + drawn for number in exact]


def none(releaser: NoisyReleaser, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
    return list(exact)


@pytest.mark.parametrize("wrong", (no_noise_at_zero, one_draw_for_all, none), ids=lambda wrong: wrong.__name__)
def test_a_releaser_that_adds_something_else_is_found(visits: Table, monkeypatch: Any, wrong: Any) -> None:
    """The recorder stands in its place, so it is looked at by itself."""
    monkeypatch.setattr(NoisyReleaser, "release", wrong)
    found = record_plan(plan_of(visits, TEMPLATES[2]), tables=1)
    assert "is not the noise of its share" in " ".join(found.violations)


def test_a_releaser_that_shows_keys_at_the_threshold_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by one: a key is shown at its threshold, and not only above it."""
    share, recorded = Share(Norm.L1, Fraction(1)), recorder.Recorder(recorder.zeros)
    (noise,) = NoisyReleaser(Repeated("keys 0")).release("keys 0", [0], 1, share)
    recorded.select("keys 0", {("a",): 3}, 3 + noise, 1, share)  # with its noise it lies just there
    assert list(wrong_noise(recorded)) == []
    select = NoisyReleaser.select
    monkeypatch.setattr(
        NoisyReleaser, "select", lambda own, label, exact, limit, *more: select(own, label, exact, limit - 1, *more)
    )
    assert len(list(wrong_noise(recorded))) == 1


@pytest.mark.parametrize("kind", ("laplace", "gaussian"))
def test_noise_for_a_shorter_distance_is_found_without_sampling(
    visits: Table, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One step less than a unit moves by."""
    honest = Share.noise
    plan = plan_of(visits, TEMPLATES[2], max_rows_per_unit=1, noise=kind)
    monkeypatch.setattr(Share, "noise", lambda share, moves: honest(share, max(1, moves - moves // 1_000)))
    assert "has noise for less than" in " ".join(record_plan(plan, tables=1).violations)


def broken_run(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Measured], Cells], list[Measured]]) -> None:
    """What is made of the released numbers is changed, knowing the exact cells."""
    honest = recorder.measure_all

    def leaking(plan: PricedPlan, run: Run, releaser: Releaser) -> list[Measured]:
        seen, cells = dict[tuple[Key, ...], Sequence[int]](), run.cells

        def kept(limits: Sequence[int]) -> Cells:
            seen.update(cells(limits))
            return seen

        run.cells = kept  # type: ignore[method-assign]
        return change(honest(plan, run, releaser), seen)

    monkeypatch.setattr(recorder, "measure_all", leaking)


def hide_empty(found: list[Measured], exact: Cells) -> list[Measured]:
    """Groups in which nobody is are left out: "there is nobody to protect"."""
    return [replace(each, cells={key: cells for key, cells in each.cells.items() if key in exact}) for each in found]


def round_to_exact(found: list[Measured], exact: Cells) -> list[Measured]:
    """A little of the exact number is added to the noisy one; without looking at it."""
    own = {key: int(sums[0]) for key, sums in exact.items()}
    return [
        replace(each, cells={key: tuple(c + own.get(key, 0) for c in cells) for key, cells in each.cells.items()})
        for each in found
    ]


def close_limit(found: list[Measured], exact: Cells) -> list[Measured]:
    """Not a number of the answer, but what its interval is made of."""
    return [replace(each, limit=replace(each.limit, closed=len(exact) % 2 == 0)) for each in found]


@pytest.mark.parametrize("change", (hide_empty, round_to_exact, close_limit), ids=lambda change: change.__name__)
def test_what_passes_by_the_noise_is_found(
    visits: Table, monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Measured], Cells], list[Measured]]
) -> None:
    """Every release is as it should be, and the answer has something exact all the same."""
    plan = plan_of(visits, TEMPLATES[2])
    assert not record_plan(plan, tables=1).refuted
    broken_run(monkeypatch, change)
    found = record_plan(plan, tables=1)
    assert found.refuted and "the answer differs" in " ".join(found.violations)


def test_a_decision_by_exact_numbers_is_found(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is chosen from the histogram without its noise; on tables this small it is mostly the same one."""
    honest = measure._contributions

    def exact(*arguments: Any) -> tuple[int, ...] | None:
        return None if honest(*arguments) is None else tuple(arguments[1].contributions(arguments[3]))

    monkeypatch.setattr(measure, "_contributions", exact)
    found = record_plan(plan_of(visits, TEMPLATES[2]), tables=1)
    assert any("an exact number was looked at" in each for each in found.violations)


def test_keys_in_the_order_of_their_exact_scores_are_found(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the rows is seen by everybody."""

    def by_score(discovery: KeyDiscovery, run: Run, releaser: Releaser) -> dict[tuple[Key, ...], int]:
        scores, found = dict[tuple[Key, ...], int](), dict[tuple[Key, ...], int]()
        for number, look in enumerate(discovery.rounds):
            new = run.scores(look.weights, found.keys())
            scores |= {key: int(score) for key, score in new.items()}
            found |= releaser.select(f"keys {number}", new, look.threshold, look.moves, look.share)
        listed = sorted(sorted(found), key=lambda key: scores.get(key, 0))
        run.choose(listed)
        return {key: found[key] for key in listed}

    monkeypatch.setattr(measure, "find_keys", by_score)
    assert record_plan(plan_of(visits, TEMPLATES[18]), tables=1).refuted


def test_keys_from_the_rows_are_found_and_told(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups without rows are missing among the keys: vectors of different lengths are a finding, no accident."""

    def there(run: engine.SqlRun) -> list[tuple[Key, ...]]:
        return [run.listed[place - 1] for (place,) in run.fetch(f"SELECT DISTINCT g FROM {run.kept} ORDER BY g")]

    monkeypatch.setattr(engine.SqlRun, "keys", there)
    found = record_plan(plan_of(visits, TEMPLATES[2]), tables=1)
    assert any("depend on data" in each for each in found.violations)


def test_a_weight_that_rounds_to_the_nearest_is_found(visits: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven rows of a seventh each, every one rounded up, are more than one row."""

    def nearest(dialect: object, step: str, measure: int, wide: bool = False) -> str:
        product = f"(({step}) * f{measure} + {WEIGHT // 2}) // {WEIGHT}"
        return f"coalesce(sum({product} - ({step})) FILTER (WHERE f{measure} IS NOT NULL), 0)"

    monkeypatch.setattr(engine, "taken", nearest)
    assert record_plan(plan_of(visits, TEMPLATES[2], max_rows_per_unit=1)).refuted


@pytest.mark.parametrize("unit", ("person", ("person", "day"), "day", "paid", None), ids=str)
@pytest.mark.parametrize("relation", ("add-remove", "replace"))
def test_made_up_neighbors_differ_by_one_unit(visits: Table, unit: object, relation: str) -> None:
    """Read back from the files: under add-remove one unit's rows are gone, under replace they are others."""
    import duckdb

    from sfumato.privacy.unit import Unit

    columns = () if unit is None else (unit,) if isinstance(unit, str) else unit
    declared = replace(visits, unit=Unit(columns), neighbors=type(visits.neighbors)(relation))  # type: ignore[arg-type]
    with made.neighborhood({"visits": declared}, seed=3) as around:

        def rows(each: made.Tables) -> list[tuple[object, ...]]:
            (path,) = each["visits"].source.paths()  # type: ignore[union-attr]
            return duckdb.sql(f"SELECT * FROM '{path}'").fetchall()

        names, base = list(declared.columns), rows(around.base)
        places = [names.index(name) for name in columns]  # type: ignore[attr-defined]
        assert len(around.neighbors) >= (2 if unit == "paid" else 3)
        for near in map(rows, around.neighbors.values()):
            here, there = Counter(map(repr, base)), Counter(map(repr, near))
            changed = [row for row in (*base, *near) if here[repr(row)] != there[repr(row)]]
            owners = {tuple(row[place] for place in places) for row in changed}
            assert len(owners) == 1 if places else len(changed) <= 2
