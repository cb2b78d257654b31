"""Post-processing is free, and nothing lowers a loss."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting import Released, sequential, together
from sfumato.privacy.loss import Loss

releases = st.builds(Released, st.integers(), st.builds(Loss.pure, st.fractions(0, 5, max_denominator=100)))


@given(releases, st.functions(like=lambda value: None, returns=st.integers(), pure=True))
def test_any_function_of_the_value_keeps_the_loss(released, function):
    assert released.map(function).loss == released.loss


@given(releases, releases)
def test_two_values_cost_their_losses_together(a, b):
    both = together(a, b)
    assert both.value == (a.value, b.value)
    assert both.loss == sequential([a.loss, b.loss])
    assert both.map(lambda pair: pair[0]).loss.epsilon == a.loss.epsilon + b.loss.epsilon


def test_a_loss_cannot_be_overwritten():
    released = Released(1, Loss.pure(Fraction(1)))
    with pytest.raises((FrozenInstanceError, AttributeError)):
        released.loss = Loss.pure(Fraction(0))
