"""A budget decides in whole numbers what the accountant's filter decides in fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.filter import Filter
from sfumato.ledger.records.amount import DELTA_UNIT, NOTHING, UNIT, Amount
from sfumato.ledger.records.budget import Budget, moment
from sfumato.privacy.loss import Loss

budgets = st.builds(
    Budget,
    st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5, 2)]),
    st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 3 * 10**5)]),
)
amounts = st.builds(
    Amount,
    st.none() | st.integers(min_value=0, max_value=UNIT),
    st.none() | st.integers(min_value=0, max_value=UNIT // 10),
    st.just(0) | st.integers(min_value=0, max_value=DELTA_UNIT // 10**9),
)


@given(budgets, st.lists(amounts, max_size=6))
def test_the_decisions_are_those_of_the_filter(budget: Budget, asked: list[Amount]) -> None:
    """Question by question, with everything that was admitted before."""
    spent, model = NOTHING, Filter(budget.epsilon, budget.delta)
    for amount in asked:
        assert budget.admits(spent.plus(amount)) == model.admits(amount.loss)
        if model.admits(amount.loss):
            spent, model = spent.plus(amount), model.spend(amount.loss)
            assert budget.filter(spent) == model
            left, exact = budget.left(spent), model.remaining
            assert Fraction(left.epsilon or 0, UNIT) <= exact.epsilon < Fraction((left.epsilon or 0) + 1, UNIT)
            assert Fraction(left.rho or 0, UNIT) <= exact.rho < Fraction((left.rho or 0) + 1, UNIT)
            assert Fraction(left.delta, DELTA_UNIT) <= exact.delta < Fraction(left.delta + 1, DELTA_UNIT)


@given(budgets, st.lists(amounts, max_size=4), st.sampled_from([0, DELTA_UNIT // 10**10]))
def test_the_greatest_epsilon_that_is_said_to_fit_fits_and_no_greater_one(
    budget: Budget, asked: list[Amount], delta: int
) -> None:
    """For pure questions, whose rho is at most epsilon**2 / 2."""
    spent = NOTHING
    for amount in asked:
        spent = spent.plus(amount) if budget.admits(spent.plus(amount)) else spent
    greatest = budget.greatest_epsilon(spent, delta)

    def fits(epsilon: int) -> bool:
        pure = Amount.of(Loss.pure(Fraction(epsilon, UNIT)))
        return budget.admits(spent.plus(Amount(pure.epsilon, pure.rho, delta)))

    assert greatest == 0 or fits(greatest)
    assert not fits(greatest + 1)


def test_a_question_for_the_whole_budget_fits() -> None:
    """Nothing is lost by rounding."""
    for epsilon in (Fraction(1), Fraction(1, 4), Fraction(123456789, 10**9)):
        assert Budget(epsilon).admits(Amount.of(Loss.pure(epsilon)))
        assert Budget(epsilon, Fraction(1, 10**9)).admits(Amount.of(Loss.pure(epsilon)))


def test_an_budget_ends_at_its_moment() -> None:
    """The last microsecond before it still counts."""
    budget = Budget(Fraction(1), until=1000)
    assert not budget.ended(999) and budget.ended(1000)
    assert moment(0) == "1970-01-01 00:00:00 UTC"
