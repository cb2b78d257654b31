"""What a mechanism is told about relation, norm and unit, it promises, or it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import InvalidArgument
from sfumato.mechanisms import MECHANISMS, Exponential, Gaussian, Geometric, Laplace, RandomizedResponse
from sfumato.privacy import sensitivity
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.unit import Unit
from test_bad_input import MAKERS, SENSITIVE, makers_with

ADD_REMOVE, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE
RELATED = makers_with("neighbors")
Maker = Callable[..., Any]


@pytest.mark.parametrize("make", RELATED)
def test_the_relation_may_be_given_by_its_name_and_is_kept_as_itself(make: Maker) -> None:
    for relation in Neighbors:
        mechanism = make(neighbors=relation.value)
        assert mechanism.neighbors is mechanism.guarantee.neighbors is relation
        assert mechanism == make(neighbors=relation)
    assert make().guarantee.neighbors is ADD_REMOVE


@pytest.mark.parametrize("nonsense", ["nonsense", "REPLACE", 2, Norm.L1])
@pytest.mark.parametrize("make", RELATED)
def test_what_is_no_relation_is_refused_in_the_constructor(make: Maker, nonsense: object) -> None:
    with pytest.raises(InvalidArgument, match="neighbors must be 'add-remove' or 'replace'; got"):
        make(neighbors=nonsense)


@pytest.mark.parametrize("make", SENSITIVE)
def test_a_mechanism_promises_the_relation_of_its_sensitivity(make: Maker) -> None:
    for relation in Neighbors:
        moves = Sensitivity(1, neighbors=relation)
        assert make(sensitivity=moves).guarantee.neighbors is relation
        assert make(sensitivity=moves, neighbors=relation.value).guarantee.neighbors is relation
    assert make(sensitivity=Sensitivity(1)).guarantee.neighbors is ADD_REMOVE
    assert make(sensitivity=Sensitivity(1), neighbors=REPLACE).guarantee.neighbors is REPLACE


@pytest.mark.parametrize("make", SENSITIVE)
def test_a_mechanism_refuses_a_relation_that_contradicts_its_sensitivity(make: Maker) -> None:
    for relation, other in ((ADD_REMOVE, REPLACE), (REPLACE, ADD_REMOVE)):
        with pytest.raises(InvalidArgument, match=rf"must be '{relation.value}'.*; got '{other.value}'; leave it out"):
            make(sensitivity=Sensitivity(1, neighbors=relation), neighbors=other)


def test_a_sum_worked_out_under_replace_is_promised_under_replace() -> None:
    incomes = sensitivity.total(20_000, 200_000, neighbors=REPLACE)
    assert Laplace(incomes, epsilon=1).guarantee.neighbors is REPLACE
    with pytest.raises(InvalidArgument, match="monotonic must be False under replace"):
        Exponential(tuple("ab"), incomes, 1, monotonic=True)


def test_a_norm_by_its_name_is_that_norm() -> None:
    named, meant = (Laplace(Sensitivity(1, norm), 1, size=4) for norm in ("L2", Norm.L2))  # type: ignore[arg-type]
    assert named.scale == meant.scale > 1.99  # the L1 distance may be sqrt(4) times as large


@pytest.mark.parametrize("make", MAKERS)
def test_a_unit_is_passed_on_to_the_guarantee(make: Maker) -> None:
    assert make().guarantee.unit == Unit()
    for unit in (Unit("person_id"), "person_id", ("person_id",)):
        mechanism = make(unit=unit)
        assert mechanism.unit == mechanism.guarantee.unit == Unit(("person_id",))
    with pytest.raises(InvalidArgument, match="names of columns"):
        make(unit=3)


def test_the_other_constructors_of_randomized_response_take_a_unit_too() -> None:
    for mechanism in (
        RandomizedResponse.truth_or_coin(unit="person_id"),
        RandomizedResponse.keep(0.75, unit="person_id"),
    ):
        assert mechanism.guarantee.unit == Unit("person_id")


def test_the_geometric_mechanism_takes_a_whole_sensitivity_in_l1() -> None:
    assert Geometric(sensitivity.counts(3), 1, size=3).error() == Geometric(3, 1, size=3).error()
    assert Geometric(sensitivity.counts(3), 1, size=3).loss == Geometric(3, 1, size=3).loss
    with pytest.raises(InvalidArgument, match=r"whole number.*; got 1\.5; use Laplace"):
        Geometric(Sensitivity(1.5), 1)
    with pytest.raises(InvalidArgument, match=r"in L1.*; got one in L2; give norm='L1'"):
        Geometric(sensitivity.counts(4, norm="L2"), 1, size=4)


@pytest.mark.parametrize("norm", Norm)
def test_scores_move_no_farther_than_a_sensitivity_in_any_norm(norm: Norm) -> None:
    scores = [0, 3]
    plain, given = Exponential(tuple("ab"), 2, 1), Exponential(tuple("ab"), Sensitivity(2, norm), 1)
    assert given.log_probability("b", scores) == plain.log_probability("b", scores)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_help_shows_every_parameter_with_its_meaning_and_an_example(kind: type) -> None:
    text = kind.__doc__ or ""
    for field in fields(kind):
        if not field.name.startswith("_"):
            assert any(line.split()[:1] == [field.name] and len(line.split()) > 3 for line in text.splitlines()), field
    assert ">>> " in text


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("make", [Laplace, Geometric, lambda *a, **k: Gaussian(*a, delta=1e-6, **k)])
def test_one_number_has_the_same_error_bar_alone_and_at_once(make: Maker, confidence: float) -> None:
    alone = make(1, epsilon=1).error(confidence)
    assert make(1, epsilon=1).error(confidence, simultaneous=True) == alone
    assert make(1, epsilon=1, size=1).error(confidence, simultaneous=True) == make(1, epsilon=1, size=1).error(
        confidence
    )


@pytest.mark.parametrize("make", MAKERS)
def test_equal_mechanisms_promise_the_same_and_different_ones_differ(make: Maker) -> None:
    tenth, binary = make(epsilon=Fraction(1, 10)), make(epsilon=Fraction(0.1))
    assert make(epsilon=0.1) == make(epsilon=np.float64(0.1)) == tenth != binary
    assert make(epsilon=0.1).loss == tenth.loss
    assert make(epsilon=0.1).guarantee == tenth.guarantee != binary.guarantee
    assert hash(make(epsilon=0.1)) == hash(tenth)
    assert type(tenth.epsilon) is Fraction


def test_other_fields_are_kept_as_they_were_read() -> None:
    assert Laplace(0.1, 1, size=np.int8(3), spacing=0.25) == Laplace(Fraction(1, 10), 1, size=3, spacing=Fraction(1, 4))
    assert Gaussian(1, 1, delta=1e-6) == Gaussian(np.int8(1), 1.0, delta=Fraction(1, 10**6))
    assert Laplace(1, 1, spacing=2.0**-60) == Laplace(1, 1, spacing=Fraction(1, 2**60))
