"""Budgets for adaptive questions."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting import Filter, Odometer, zcdp_epsilon, zcdp_rho
from sfumato.errors import BudgetExhausted, InvalidArgument
from sfumato.privacy.loss import Loss

DELTA = Fraction(1, 10**9)
losses = st.one_of(
    st.builds(Loss.pure, st.fractions(0, 1, max_denominator=50), delta=st.sampled_from([Fraction(0), DELTA / 20])),
    st.builds(Loss.concentrated, st.fractions(0, Fraction(1, 50), max_denominator=500)),
)


def test_one_question_for_the_whole_epsilon_is_admitted():
    assert Filter(Fraction(3), DELTA).admits(Loss.pure(Fraction(3)))
    assert Filter(Fraction(3)).admits(Loss.pure(Fraction(3)))
    assert not Filter(Fraction(3), DELTA).admits(Loss.pure(Fraction(3001, 1000)))


def test_many_small_questions_get_further_than_their_sum():
    budget, count = Filter(Fraction(1), DELTA), 0
    while budget.admits(Loss.pure(Fraction(1, 1000))):
        budget, count = budget.spend(Loss.pure(Fraction(1, 1000))), count + 1
    assert count > 10_000
    assert budget.spent.rho <= zcdp_rho(Fraction(1), DELTA / 4)


def test_without_delta_only_the_sum_counts():
    budget = Filter(Fraction(1)).spend(Loss.pure(Fraction(9, 10)))
    assert budget.remaining == (Fraction(1, 10), 0, 0)
    assert not budget.admits(Loss.concentrated(Fraction(1, 10**9)))
    assert not budget.admits(Loss.pure(Fraction(1, 100), delta=Fraction(1, 10**12)))


@given(st.lists(losses, max_size=30))
@settings(max_examples=60, deadline=None)
def test_what_is_admitted_fits_one_arm_to_the_end(asked):
    budget, admitted = Filter(Fraction(2), DELTA), []
    for loss in asked:
        if budget.admits(loss):
            budget = budget.spend(loss)
            admitted.append(loss)
    failure = sum((loss.delta for loss in admitted), Fraction(0))
    pure = all(loss.epsilon is not None for loss in admitted)
    basic = pure and sum(loss.epsilon for loss in admitted) <= 2 and failure <= DELTA / 2
    total = sum((loss.rho for loss in admitted), Fraction(0))
    assert basic or ((zcdp_epsilon(total, DELTA / 4) <= 2 if total else True) and failure <= DELTA / 4)


@given(st.lists(losses, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_order_of_spends_does_not_matter(asked):
    one = two = Filter(Fraction(100), 1000 * DELTA)
    for loss, other in zip(asked, reversed(asked), strict=True):
        one, two = one.spend(loss), two.spend(other)
    assert one == two


@given(st.lists(losses, min_size=1, max_size=12), losses)
@settings(max_examples=40, deadline=None)
def test_what_is_refused_stays_refused(asked, last):
    budget = Filter(Fraction(1), DELTA)
    for loss in asked:
        after = budget.spend(loss) if budget.admits(loss) else budget
        assert budget.admits(last) or not after.admits(last)
        budget = after


def test_a_refusal_says_what_was_requested_what_remains_and_the_difference():
    budget = Filter(Fraction(1)).spend(Loss.pure(Fraction(3, 4)))
    with pytest.raises(BudgetExhausted, match=r"^Not enough budget: epsilon 0\.5 requested, 0\.25 left;"):
        budget.spend(Loss.pure(Fraction(1, 2)))
    with pytest.raises(BudgetExhausted, match="epsilon without bound requested"):
        budget.spend(Loss.concentrated(Fraction(1)))


def test_spending_leaves_the_old_budget_as_it_was():
    budget = Filter(Fraction(1))
    budget.spend(Loss.pure(Fraction(1)))
    assert budget.remaining.epsilon == 1


def test_an_overrun_arm_has_nothing_left():
    budget = Filter(Fraction(1), DELTA).spend(Loss.concentrated(Fraction(1, 1000)))
    assert budget.remaining.epsilon == 0 and budget.remaining.rho > 0


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), (1, 1), (1, -1)])
def test_a_budget_that_cannot_be_meant_is_refused(epsilon, delta):
    with pytest.raises(InvalidArgument):
        Filter(epsilon, delta)


@given(st.lists(losses, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_odometer_never_runs_backwards(asked):
    odometer, last = Odometer(DELTA), Fraction(0)
    for loss in asked:
        odometer = odometer.after(loss)
        now = odometer.epsilon
        assert now is None or now >= last
        last = last if now is None else now


@given(st.lists(losses, min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_the_odometer_reports_no_less_than_a_filter_would_need(asked):
    """A report is the price of a filter fixed in advance, so it is at least the best conversion at the whole delta."""
    odometer = Odometer(DELTA)
    for loss in asked:
        odometer = odometer.after(loss)
    spent, report = odometer.spent, odometer.epsilon
    if report is not None:
        known = [spent.epsilon] if spent.epsilon is not None else []
        known += [zcdp_epsilon(spent.rho, DELTA)] if spent.rho else [Fraction(0)]
        assert report >= min(known)


def test_the_odometer_adds_pure_losses_and_gains_from_many_small_ones():
    one = Odometer(DELTA).after(Loss.pure(Fraction(1, 2)))
    assert one.epsilon == Fraction(1, 2)
    many = Odometer(DELTA)
    for _ in range(3000):
        many = many.after(Loss.pure(Fraction(1, 100)))
    assert many.epsilon < 10
    assert Odometer().after(Loss.concentrated(Fraction(1))).epsilon is None


@pytest.mark.parametrize("wrong", [0.5, Fraction(1, 2), None, (Loss.pure(Fraction(1)), 2)])
def test_what_is_no_loss_is_not_spent(wrong):
    for take in (Filter(1).spend, Filter(1).admits, Odometer().after):
        with pytest.raises(InvalidArgument, match=r"loss must be a Loss; got a .*; give mechanism\.loss"):
            take(wrong)
