"""Amounts: whole numbers that never say less than the loss."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument
from sfumato.ledger.records.amount import DELTA_UNIT, NOTHING, UNIT, Amount, plain
from sfumato.privacy.loss import Loss

currencies = st.none() | st.fractions(min_value=0, max_value=10**6)
losses = st.builds(
    lambda epsilon, rho, delta: Loss(epsilon, rho, None, delta),
    currencies,
    currencies,
    st.fractions(min_value=0, max_value=1),
)


@given(losses)
def test_an_amount_is_never_below_its_loss_and_less_than_a_unit_above(loss: Loss) -> None:
    """Rounded up, and no further than the next unit."""
    back = Amount.of(loss).loss
    for ours, theirs, unit in ((back.epsilon, loss.epsilon, UNIT), (back.rho, loss.rho, UNIT)):
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert 0 <= ours - theirs < Fraction(1, unit)
    assert 0 <= back.delta - loss.delta < Fraction(1, DELTA_UNIT)


@given(losses)
def test_an_amount_read_back_is_the_same_amount(loss: Loss) -> None:
    """What is in units stays as it is."""
    assert Amount.of(Amount.of(loss).loss) == Amount.of(loss)


@given(losses, losses, losses)
def test_sums_do_not_depend_on_the_order(a: Loss, b: Loss, c: Loss) -> None:
    """And a currency without bound in one has none in the sum."""
    one, two, three = map(Amount.of, (a, b, c))
    assert one.plus(two).plus(three) == three.plus(one.plus(two))
    assert one.plus(NOTHING) == one
    assert (one.plus(two).epsilon is None) == (one.epsilon is None or two.epsilon is None)


def test_a_typed_epsilon_is_charged_as_typed() -> None:
    """Ten times 0.1 is 1."""
    tenth = Amount.of(Loss.pure(0.1))
    total = NOTHING
    for _ in range(10):
        total = total.plus(tenth)
    assert total.epsilon == UNIT


@given(st.integers(min_value=0, max_value=10**40), st.sampled_from([UNIT, DELTA_UNIT]))
def test_a_printed_amount_reads_back_exactly(value: int, unit: int) -> None:
    """What a refusal prints can be typed."""
    assert Fraction(plain(value, unit)) == Fraction(value, unit)


def test_what_is_no_loss_is_refused() -> None:
    """A number alone does not say in which currency."""
    with pytest.raises(InvalidArgument, match="loss must be a Loss"):
        Amount.of(0.5)  # type: ignore[arg-type]
