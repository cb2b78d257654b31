"""Who is asked where the values of a mean lie: a sample, and all others where that says too little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from sfumato.audit.sql.recorder import Recorder, Released, violations
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement import measure
from sfumato.curator.measurement.release import REST
from sfumato.dataset.table import table
from sfumato.engines.engine import Among
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.contribution import SIGNED

LABEL = "averages 0"
EMPTY = [0] * (2 * SIGNED)
OTHERS = [7] * (2 * SIGNED)


def planned(unit: str | None = "p") -> PricedPlan:
    rows = table(pa.table({"p": [1], "x": [1.0]}), unit=unit)
    return Curator({"t": rows}, budget=Guarantee(1)).plan("SELECT AVG(x) AS a FROM t", 1, Options(estimate_bounds=True))


class Stub:
    """A run that has averages only, and a releaser that adds no noise."""

    def __init__(self, sample: Sequence[int]) -> None:
        self.sample, self.labels = sample, list[str]()

    def averages(self, measure: int, priced: object, among: Among) -> list[int]:
        return list(self.sample) if among is Among.SAMPLE else OTHERS

    def release(self, label: str, exact: Sequence[int], moves: int, share: object) -> list[int]:
        self.labels.append(label)
        return list(exact)


def looked(sample: Sequence[int], unit: str | None = "p") -> tuple[list[int], list[str]]:
    """What is known of averages in the end, and the labels of what was released."""
    plan, stub = planned(unit), Stub(sample)
    found: Any = stub
    return measure._averages(plan, found, found, 0, plan.measures[0])[0], stub.labels


def bins(counts: Sequence[int], first: int = SIGNED + 70) -> list[int]:
    return [*EMPTY[:first], *counts, *EMPTY[first + len(counts) :]]


def test_a_sample_that_says_enough_decides_alone() -> None:
    """Thousands of units in few bins: nobody else is asked."""
    sample = bins([300, 2_000, 3_000, 900, 150])
    assert looked(sample) == (sample, [LABEL])


@pytest.mark.parametrize(
    "sample",
    (EMPTY, bins([3]), bins([300, 700, 200]), bins([90] * 12 + [300] * 14 + [90] * 12)),
    ids=("nobody", "one bin of few", "too few", "many magnitudes"),
)
def test_all_others_are_asked_where_a_sample_says_too_little(sample: list[int]) -> None:
    """Their averages are then all that counts."""
    assert looked(sample) == (OTHERS, [LABEL, LABEL + REST])


def test_where_a_row_is_a_unit_all_are_asked_at_once() -> None:
    """A row has no columns by which it would be in a sample."""
    assert looked(EMPTY, unit=None) == (OTHERS, [LABEL])


def recorded(plan: PricedPlan, *released: tuple[str, list[int]]) -> Recorder:
    recorder = Recorder(lambda label, exact: list(exact))
    recorder.released = [Released(label, exact, 1, plan.whole) for label, exact in released]
    return recorder


def test_a_recorder_adds_up_what_the_parts_of_a_vector_move() -> None:
    """Both have one share; by one unit one of them may move. Two releases of one label are two."""
    plan = planned()
    here = recorded(plan, (LABEL, [4, 4]), (LABEL + REST, [9, 9]))
    assert violations(plan, here, recorded(plan, (LABEL, [4, 4]), (LABEL + REST, [9, 8]))) == []
    (said,) = violations(plan, here, recorded(plan, (LABEL, [4, 3]), (LABEL + REST, [9, 8])))
    assert said == "averages 0 moved by 2, claimed 1"
    twice = recorded(plan, (LABEL, [4, 4]), (LABEL, [4, 4]))
    assert violations(plan, twice, twice) == ["something is released twice"]
