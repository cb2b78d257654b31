"""The recorder has power: each way of being subtly wrong makes some release move further than claimed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest

from curator.questions import random_case
from curator.recording import Shared, violations
from sfumato.audit.sql.recorder import Script, large, realistic
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement import quantile_search as zoom
from sfumato.engines.sql import run as engine
from sfumato.engines.sql.quantile_line import ADDRESS
from sfumato.plan.pricing import key_discovery as key_discovery
from sfumato.privacy.guarantee import Guarantee


def heavier(dialect: object, contribution: str, limit: int) -> str:
    """A weight rounded up."""
    scaled = f"(CAST({limit * engine.WEIGHT - 1} AS HUGEINT) // CAST({contribution} AS HUGEINT) + 1)"
    weight = f"CASE WHEN {contribution} <= CAST({limit} AS HUGEINT) THEN {engine.WEIGHT} ELSE {scaled} END"
    return f"CAST({weight} AS BIGINT)"


def forgetful(sql: str) -> str:
    """The norm of a unit without its rows of the first group."""
    return sql.replace(" FROM kept GROUP BY ", " FROM kept WHERE g <> 1 GROUP BY ") if "TABLE units" in sql else sql


def several(sql: str) -> str:
    """A histogram of rows where it should be one of units."""
    return sql.replace("max(abs(x", "(abs(x").replace(' GROUP BY "u0") AS those GROUP BY j', ") AS those GROUP BY j")


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
    "a norm that takes the largest group": lambda sql: re.sub(
        r"sum\((s\d+_0 \* |CAST\(s\d+_0 AS HUGEINT\) \* s)", r"max(\1", sql
    ),
    "a root that is rounded down": lambda sql: sql.replace("ceil(sqrt", "floor(sqrt").replace(">= q", ">= 0 * q"),
    "a sum that is not weighed": lambda sql: re.sub(r" \* f\d+ // 1073741824", "", sql),
}


POWER = (
    "SELECT k, SUM(x) AS s FROM t GROUP BY k",
    "SELECT k > 1 AS g, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY 1",
    "SELECT SUM(x / 3) AS s FROM t",
)


def power(
    shared: Shared,
    tables: int,
    questions: Sequence[str] = POWER,
    noise: str | None = None,
    script: Callable[[int], Script] = lambda _: large,
) -> Iterator[str]:
    """What is found of a broken engine by a few questions on a few tables."""
    for number in range(tables):
        case = random_case(Random(number), neighbors="add-remove", unit="pid")
        shared.load(case)
        curator = Curator({"t": case.declared}, budget=Guarantee(1))
        for bound, question in itertools.product((1, 3, None), questions):
            plan = curator.plan(
                question, 1, Options(max_rows_per_unit=bound, estimate_bounds=True, delta=1e-6, noise=noise)
            )
            yield from violations(shared, case, plan, script(number))[1]


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


PLACE = "SELECT k, MEDIAN(y) AS m FROM t GROUP BY k"
MEAN = "SELECT k, AVG(y) AS m FROM t GROUP BY k"
VALUES = "SELECT COUNT(DISTINCT y) AS n FROM t"
KEYS = "SELECT y, COUNT(*) AS n FROM t GROUP BY y"
PARITY = "CASE WHEN (SELECT count(*) FROM values0) % 2 = 0 THEN v ELSE -v END"
ROW_AT = f"spot & {ADDRESS} AS v"
SOUGHT: dict[str, tuple[str, Callable[[str], str]]] = {
    "spots that are not weighed": (PLACE, lambda sql: re.sub(r"sum\(d\d\)", "0", sql)),
    "a unit in both looks at averages": (MEAN, lambda sql: re.sub(r" HAVING max\(CASE.*?END\) = 0", "", sql)),
    "landmarks of rows": (PLACE, lambda sql: re.sub(r"CASE WHEN hash.*? FROM units", f"{ROW_AT} FROM spots0", sql)),
    "keys that weigh the same however many": (KEYS, lambda sql: re.sub(r"\[least\(count\(\*\), \d+\)\]", "[1]", sql)),
    "all keys of a unit": (KEYS, lambda sql: re.sub(r" WHERE place <= 3", "", sql)),
    "one key too many": (KEYS, lambda sql: re.sub(r" WHERE place <= 3", " WHERE place <= 4", sql)),
    "one value too many": (VALUES, lambda sql: re.sub(r"(WHERE place <= \d+)", r"\1 + 1", sql)),
    "values that units keep by what others have": (VALUES, lambda sql: re.sub(r"hash\(hash\(.*?\)\)", PARITY, sql)),
}


@pytest.fixture
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a unit's keys three count, since the units of small tables have no hundreds."""
    monkeypatch.setattr(key_discovery, "MOST_KEYS", 3)


@pytest.mark.usefixtures("few_keys")
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
@pytest.mark.parametrize("name", SOUGHT)
def test_an_engine_that_is_broken_where_it_looks_is_caught(name: str, noise: str) -> None:
    """Wrong spots, landmarks, keys or different values make some release move further than claimed."""
    question, mutate = SOUGHT[name]
    assert next(power(Shared(mutate), 9, [question], noise, realistic), None) is not None


def test_a_mean_whose_far_rows_count_as_one_is_caught() -> None:
    """A row that is far from the center moves the mean by more than one that is near."""
    mutated = Shared(lambda sql: re.sub(r"greatest(\(CAST\([\d.]+ AS DOUBLE\), abs\()", r"least\1", sql))
    assert next(power(mutated, 9, [MEAN], script=realistic), None) is not None


def test_an_opened_cell_that_counts_twice_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are in a cell or in those inside it, and never in both."""
    opened = zoom._Rows.opened
    monkeypatch.setattr(zoom._Rows, "opened", lambda rows, shut, inside: opened(rows, (), inside))
    assert next(power(Shared(), 9, [PLACE], script=realistic), None) is not None


def test_a_key_that_is_spelled_as_one_unit_spells_it_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.0 and -0.0 are the same key; which of them is shown must be nobody's secret."""
    monkeypatch.setattr(engine.SqlRun, "_key", lambda run, group: run.lower.sql(group.expression))
    assert any("spelled" in each for each in power(Shared(), 9, [KEYS], script=realistic))


@pytest.mark.usefixtures("few_keys")
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_a_sound_engine_is_not_accused_of_its_looks(noise: str) -> None:
    """The questions that catch engines which are broken there find nothing in this one."""
    assert list(power(Shared(), 1, [PLACE, MEAN, VALUES, KEYS], noise, realistic)) == []
