"""`sensitivity`: every formula against the enumeration of all small data sets and all their neighbors."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import rounding
from sfumato.errors import InvalidArgument, OutsideRange, Refused
from sfumato.privacy import sensitivity
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.verify import excess

LAW = settings(deadline=None)
F = Fraction
ADD_REMOVE, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE
Data = tuple[int, ...]
Statistic = Callable[[Data], Fraction]

DOMAIN = (-2, -1, 0, 3)  # lopsided, so that no formula is right by symmetry alone
LOW, HIGH = DOMAIN[0], DOMAIN[-1]
MIDDLE = F(LOW + HIGH, 2)
LARGEST = 5
SETS = [data for size in range(LARGEST + 1) for data in combinations_with_replacement(DOMAIN, size)]


def neighbors_of(data: Data, relation: Neighbors) -> Iterator[Data]:
    shorter = [data[:i] + data[i + 1 :] for i in range(len(data))]
    if relation is REPLACE:
        yield from ((*rest, new) for rest in shorter for new in DOMAIN)
    else:
        yield from shorter
        yield from ((*data, new) for new in DOMAIN)


def farthest(statistic: Statistic, data: Data, relation: Neighbors) -> Fraction:
    return max((abs(statistic(data) - statistic(other)) for other in neighbors_of(data, relation)), default=F(0))


STATISTICS: dict[str, Statistic] = {
    "total": lambda data: F(sum(data)),
    "mean": lambda data: F(sum(data), len(data)) if data else MIDDLE,
    "maximum": lambda data: F(max(data, default=LOW)),
    "median": lambda data: F(statistics.median(map(F, data))) if data else MIDDLE,
}


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("name", STATISTICS)
def test_the_local_sensitivity_is_that_of_all_neighbors_of_every_small_data_set(name: str, relation: Neighbors) -> None:
    local = getattr(sensitivity, f"local_{name}")
    for data in SETS:
        assert local(data, LOW, HIGH, neighbors=relation) == farthest(STATISTICS[name], data, relation), data


@pytest.mark.parametrize(
    ("name", "relation", "declared"),
    [
        ("total", ADD_REMOVE, sensitivity.total(LOW, HIGH)),
        ("total", REPLACE, sensitivity.total(LOW, HIGH, neighbors=REPLACE)),
        ("maximum", ADD_REMOVE, sensitivity.maximum(LOW, HIGH)),
        ("maximum", REPLACE, sensitivity.maximum(LOW, HIGH)),
        ("median", ADD_REMOVE, sensitivity.median(LOW, HIGH)),
        ("median", REPLACE, sensitivity.median(LOW, HIGH, neighbors=REPLACE)),
    ],
)
def test_the_global_sensitivity_is_the_largest_local_one(name: str, relation: Neighbors, declared: Sensitivity) -> None:
    assert declared.value == max(farthest(STATISTICS[name], data, relation) for data in SETS)


@pytest.mark.parametrize("size", range(1, LARGEST + 1))
def test_the_mean_of_a_public_number_of_values_moves_by_the_width_over_that_number(size: int) -> None:
    worst = max(farthest(STATISTICS["mean"], data, REPLACE) for data in SETS if len(data) == size)
    assert sensitivity.mean(LOW, HIGH, size, neighbors=REPLACE).value == worst


def test_the_mean_under_add_remove_is_refused_with_what_helps() -> None:
    with pytest.raises(Refused, match="release a sum and a count"):
        sensitivity.mean(-4, 4, size=100)


def histogram(data: Data) -> list[int]:
    return [data.count(value) for value in DOMAIN]


def overlapping(data: Data) -> list[int]:
    return [sum(value >= least for value in data) for least in DOMAIN]


def farthest_vector(of: Callable[[Data], list[int]], relation: Neighbors, norm: Norm) -> Fraction:
    """The largest L1 distance, or the largest squared L2 distance."""
    power = 1 if norm is Norm.L1 else 2
    pairs = ((of(data), of(other)) for data in SETS for other in neighbors_of(data, relation))
    return F(max(sum(abs(a - b) ** power for a, b in zip(x, y, strict=True)) for x, y in pairs))


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("norm", Norm)
def test_disjoint_counts_move_as_a_histogram_does(relation: Neighbors, norm: Norm) -> None:
    value = sensitivity.disjoint_counts(norm=norm, neighbors=relation).value
    worst = farthest_vector(histogram, relation, norm)
    assert value == (worst if norm is Norm.L1 else rounding.sqrt_up(worst))


@pytest.mark.parametrize("norm", Norm)
def test_several_counts_move_one_each(norm: Norm) -> None:
    value = sensitivity.counts(len(DOMAIN), norm=norm).value
    worst = farthest_vector(overlapping, ADD_REMOVE, norm)
    assert value == (worst if norm is Norm.L1 else rounding.sqrt_up(worst))
    assert farthest_vector(overlapping, REPLACE, norm) <= worst


@pytest.mark.parametrize("relation", Neighbors)
def test_a_count_moves_by_one(relation: Neighbors) -> None:
    for data in SETS:
        holds = [value > 0 for value in data]
        assert sensitivity.local_count(holds, neighbors=relation) == farthest(
            lambda d: F(sum(v > 0 for v in d)), data, relation
        )
    assert sensitivity.count().value == 1


def test_incomes_from_20k_to_200k_move_a_sum_by_200k_or_under_replace_by_180k() -> None:
    assert sensitivity.total(20_000, 200_000).value == 200_000
    assert sensitivity.total(20_000, 200_000, neighbors=REPLACE).value == 180_000


@pytest.mark.parametrize("M", [1, 4, F(7, 2)])
def test_on_a_symmetric_range_mean_maximum_and_median_have_their_known_values(M: Fraction) -> None:
    assert sensitivity.mean(-M, M, 10, neighbors=REPLACE).value == 2 * F(M) / 10
    assert sensitivity.maximum(-M, M).value == sensitivity.median(-M, M, neighbors=REPLACE).value == 2 * F(M)


def test_linear_maps_stretch_the_sensitivity() -> None:
    assert [sensitivity.linear(a).value for a in (1, 2, 5, -5)] == [1, 2, 5, 5]
    assert [sensitivity.linear(a, moves=2 * 4).value for a in (1, 2, 5)] == [8, 16, 40]


@pytest.mark.parametrize("moves", [1, 2, 3, 5, 6, 10])
def test_the_square_on_a_bounded_range_by_enumeration(moves: int) -> None:
    bound, grain = 3, 2
    points = [F(i, grain) for i in range(-bound * grain, bound * grain + 1)]
    locally = {x: max(abs(x * x - y * y) for y in points if abs(x - y) <= moves) for x in points}
    assert {x: sensitivity.local_square(x, bound, moves) for x in points} == locally
    assert sensitivity.square(bound, moves).value == max(locally.values())


def test_roots_are_rounded_up_and_only_just() -> None:
    root = sensitivity.disjoint_counts(norm=Norm.L2, neighbors=REPLACE).value
    assert 2 < root**2 < 2 + F(1, 2**70)


def test_parts_are_joined_by_sum_in_l1_and_by_root_of_squares_in_l2() -> None:
    parts = [Sensitivity(3), Sensitivity(4)]
    assert sensitivity.together(parts).value == 7
    assert sensitivity.together(parts, norm=Norm.L2) == Sensitivity(5, Norm.L2)
    with pytest.raises(InvalidArgument, match="in L1"):
        sensitivity.together([Sensitivity(3, Norm.L2)])


@pytest.mark.parametrize("value", [0, -1, math.inf, -math.inf, math.nan])
def test_a_sensitivity_that_is_not_positive_and_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidArgument, match=r"sensitivity must be .*; say how far one unit can move the value"):
        Sensitivity(value)


def test_values_that_cannot_differ_have_no_sensitivity() -> None:
    for statistic in (sensitivity.maximum, sensitivity.median):
        with pytest.raises(InvalidArgument, match="sensitivity must be positive"):
            statistic(5, 5)


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="lower must not be above upper"):
        sensitivity.total(1, 0)


def test_data_beyond_the_bounds_are_refused_without_naming_a_value() -> None:
    with pytest.raises(OutsideRange, match="clip them") as refusal:
        sensitivity.local_maximum([1, 7_654_321], 0, 10)
    assert "7654321" not in str(refusal.value).replace(",", "")


values = st.lists(st.fractions(min_value=0, max_value=10, max_denominator=20), max_size=12)


@LAW
@given(values, st.sampled_from(Neighbors))
def test_no_local_sensitivity_exceeds_the_global_one(data: list[Fraction], relation: Neighbors) -> None:
    assert (
        sensitivity.local_total(data, 0, 10, neighbors=relation) <= sensitivity.total(0, 10, neighbors=relation).value
    )
    assert sensitivity.local_maximum(data, 0, 10, neighbors=relation) <= sensitivity.maximum(0, 10).value
    assert (
        sensitivity.local_median(data, 0, 10, neighbors=relation) <= sensitivity.median(0, 10, neighbors=relation).value
    )
    if data:
        assert (
            sensitivity.local_mean(data, 0, 10, neighbors=REPLACE)
            <= sensitivity.mean(0, 10, len(data), neighbors=REPLACE).value
        )


@pytest.mark.parametrize(
    ("name", "data", "neighbor"),
    [("maximum", (10, 10), (10, 0)), ("median", (0, 0, 0, 0, 10), (0, 0, 0, 10, 10))],
)
def test_noise_set_by_the_local_sensitivity_breaks_every_delta_below_one(name: str, data: Data, neighbor: Data) -> None:
    local = getattr(sensitivity, f"local_{name}")
    assert local(data, 0, 10, neighbors=REPLACE) == 0  # no noise at all: the exact answer, always
    assert local(neighbor, 0, 10, neighbors=REPLACE) == 10  # continuous noise: the exact answer, with probability 0
    here, there = {"the exact answer": 1}, {"any other answer": 1}
    assert excess(here, there, epsilon=10) == (1, 1)


# --- relation and norm: read once, remembered, never guessed

DEPENDING: list[Callable[..., Sensitivity]] = [
    lambda **more: sensitivity.total(20_000, 200_000, **more),
    lambda **more: sensitivity.median(-4, 4, **more),
    lambda **more: sensitivity.disjoint_counts(**more),
    lambda **more: sensitivity.disjoint_counts(norm="L2", **more),
]
LOCAL: list[Callable[..., Fraction]] = [
    lambda **more: sensitivity.local_count([True, False], **more),
    *(
        lambda name=name, **more: getattr(sensitivity, f"local_{name}")([1, 2, 7], 0, 10, **more)
        for name in ("total", "mean", "maximum", "median")
    ),
]


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("function", [*DEPENDING, *LOCAL])
def test_a_relation_by_its_name_is_that_relation(function: Callable[..., object], relation: Neighbors) -> None:
    assert function(neighbors=relation.value) == function(neighbors=relation)


@pytest.mark.parametrize("function", [*DEPENDING, *LOCAL, lambda **more: sensitivity.mean(0, 1, 9, **more)])
def test_what_is_no_relation_is_refused(function: Callable[..., object]) -> None:
    for nonsense in ("swap", "ADD_REMOVE", 12, None, Norm.L1):
        with pytest.raises(InvalidArgument, match="neighbors must be 'add-remove' or 'replace'; got"):
            function(neighbors=nonsense)


def test_a_sum_under_add_remove_by_name_is_not_the_width() -> None:
    assert sensitivity.total(20_000, 200_000, neighbors="add-remove").value == 200_000
    with pytest.raises(Refused, match="under add-remove"):
        sensitivity.mean(0, 1, 9, neighbors="add-remove")


@pytest.mark.parametrize(
    "call",
    [
        lambda: sensitivity.disjoint_counts("replace"),  # type: ignore[misc]
        lambda: sensitivity.disjoint_counts(12),  # type: ignore[misc]
        lambda: sensitivity.total(0, 1, "replace"),  # type: ignore[misc]
        lambda: sensitivity.counts(4, "L2"),  # type: ignore[misc]
        lambda: sensitivity.together([Sensitivity(1)], "L2"),  # type: ignore[misc]
        lambda: sensitivity.local_total([1], 0, 1, "replace"),  # type: ignore[misc]
    ],
)
def test_relation_and_norm_are_given_by_keyword(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="positional"):
        call()


def test_a_norm_by_its_name_is_that_norm_and_another_is_refused() -> None:
    assert Sensitivity(1, "L2").norm is Norm.L2
    assert sensitivity.counts(4, norm="L2") == sensitivity.counts(4, norm=Norm.L2)
    for nonsense in ("l2", 2, None, REPLACE):
        with pytest.raises(InvalidArgument, match="norm must be 'L1' or 'L2'; got"):
            Sensitivity(1, nonsense)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="norm must be"):
            sensitivity.disjoint_counts(norm=nonsense)  # type: ignore[arg-type]


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("function", DEPENDING)
def test_a_sensitivity_remembers_the_relation_it_depends_on(
    function: Callable[..., Sensitivity], relation: Neighbors
) -> None:
    found = function(neighbors=relation)
    assert found.neighbors is found.times(3).neighbors is relation


def test_a_sensitivity_that_is_the_same_under_both_relations_names_none() -> None:
    for found in (sensitivity.count(), sensitivity.counts(3), sensitivity.maximum(0, 1), Sensitivity(1)):
        assert found.neighbors is None
    assert sensitivity.mean(0, 1, 9, neighbors=REPLACE).neighbors is REPLACE


@pytest.mark.parametrize("norm", Norm)
def test_parts_under_contradicting_relations_are_not_joined(norm: Norm) -> None:
    added, replaced = (sensitivity.total(1, 5, neighbors=relation) for relation in Neighbors)
    assert sensitivity.together([sensitivity.count(), replaced], norm=norm).neighbors is REPLACE
    assert sensitivity.together([sensitivity.count()], norm=norm).neighbors is None
    with pytest.raises(InvalidArgument, match="under one relation; got both"):
        sensitivity.together([added, replaced], norm=norm)
    with pytest.raises(InvalidArgument, match="parts must be sensitivities"):
        sensitivity.together([1, 2], norm=norm)  # type: ignore[list-item]
