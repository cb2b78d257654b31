"""Composition laws and the known answers."""

from fractions import Fraction
from math import inf, isclose

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting import advanced, optimal, parallel, sequential, zcdp
from sfumato.errors import InvalidArgument
from sfumato.mechanisms import Laplace
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.pair import TwoPoint
from sfumato.privacy.shifts import GaussianShift, NormalSum

amounts = st.fractions(0, 3, max_denominator=1000)
losses = st.one_of(
    st.builds(Loss.pure, amounts, delta=st.fractions(0, Fraction(1, 100), max_denominator=10**6)),
    st.builds(Loss.concentrated, amounts),
)


def currencies(loss):
    return loss.epsilon, loss.rho, loss.delta


@given(losses, losses, losses)
def test_sequential_composition_is_associative_and_commutative(a, b, c):
    one, two = sequential([sequential([a, b]), c]), sequential([a, sequential([b, c])])
    assert currencies(one) == currencies(two) == currencies(sequential([c, b, a]))


@given(losses, losses)
def test_nothing_is_cheaper_together(a, b):
    both = sequential([a, b])
    for part in (a, b):
        for whole, alone in zip(currencies(both), currencies(part), strict=True):
            assert whole is None or (alone is not None and whole >= alone)


def test_epsilons_and_deltas_and_rhos_add_up():
    a = Loss.pure(Fraction(1, 2), delta=Fraction(1, 1000))
    b = Loss.pure(Fraction(1, 4), delta=Fraction(1, 2000))
    both = sequential([a, b])
    assert currencies(both) == (Fraction(3, 4), Fraction(1, 8) + Fraction(1, 32), Fraction(3, 2000))
    assert both.pair == TwoPoint(Fraction(3, 4))


def test_gaussian_pairs_add_their_squares():
    parts = [Loss.concentrated(mu * mu / 2, GaussianShift(mu)) for mu in (Fraction(3), Fraction(4))]
    together = sequential(parts)
    assert isinstance(together.pair, NormalSum) and together.pair.normal.square == 25


def test_a_table_of_counts_by_gender_and_hair_color():
    """3 x 4 cells: epsilon under add-remove, not 12 epsilon; 2 epsilon under replace."""
    cells = [Loss.pure(Fraction(1, 10))] * 12
    assert parallel(cells, Neighbors.ADD_REMOVE).epsilon == Fraction(1, 10)
    assert parallel(cells, Neighbors.REPLACE).epsilon == Fraction(2, 10)
    assert parallel(cells, Neighbors.REPLACE).pair == TwoPoint(Fraction(2, 10))


def test_under_replace_the_two_most_expensive_parts_count():
    cells = [Loss.pure(Fraction(n, 10), delta=Fraction(n, 100)) for n in (1, 5, 3)]
    moved = parallel(cells, Neighbors.REPLACE)
    assert moved.epsilon == Fraction(8, 10) and moved.delta == Fraction(8, 100)
    assert moved.rho == Fraction(25 + 9, 200)
    assert parallel(cells, Neighbors.ADD_REMOVE).rho == Fraction(25, 200)


def test_a_relation_by_its_name_is_that_relation():
    cells = [Loss.pure(Fraction(1, 10))] * 12
    for neighbors in Neighbors:
        assert parallel(cells, neighbors.value) == parallel(cells, neighbors)
    for nonsense in ("swap", None, 2):
        with pytest.raises(InvalidArgument, match="neighbors must be 'add-remove' or 'replace'; got"):
            parallel(cells, nonsense)


@pytest.mark.parametrize("wrong", [0.5, Guarantee(1), Laplace(1, 1), (Loss.pure(1), 50)])
@pytest.mark.parametrize("add", [sequential, zcdp, lambda losses: parallel(losses, "replace")])
def test_what_is_no_loss_is_refused_with_where_to_find_one(add, wrong):
    with pytest.raises(InvalidArgument, match=rf"loss must be a Loss; got a {type(wrong).__name__}; give mechanism"):
        add([wrong])


def test_a_loss_reads_its_numbers_exactly():
    assert Loss.pure(0.1) == Loss.pure(Fraction(1, 10))
    assert Loss.concentrated(0.1, delta=1e-9) == Loss.concentrated(Fraction(1, 10), delta=Fraction(1, 10**9))
    for wrong in (-1, "1", None):
        with pytest.raises(InvalidArgument, match="epsilon must be"):
            Loss.pure(wrong)


@given(st.lists(losses, min_size=1, max_size=5))
def test_parallel_is_never_dearer_than_sequential(parts):
    for neighbors in Neighbors:
        apart, together = parallel(parts, neighbors), sequential(parts)
        for one, all_ in zip(currencies(apart), currencies(together), strict=True):
            assert all_ is None or (one is not None and one <= all_)


def test_averaging_two_answers_is_worse_than_one_for_the_same_total():
    """Variance of the mean of Lap(1/e1) and Lap(1/e2) against that of Lap(1/(e1 + e2))."""
    for e1, e2 in ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 10), Fraction(2))):
        total = sequential([Loss.pure(e1), Loss.pure(e2)]).epsilon
        assert total == e1 + e2
        assert (2 / e1**2 + 2 / e2**2) / 4 > 2 / total**2


def test_advanced_composition_is_rounded_up():
    epsilon, delta = advanced(0.1, 0, 100, 1e-6)
    with mpmath.workdps(60):
        e = mpmath.mpf(1) / 10
        truth = e * mpmath.sqrt(200 * mpmath.log(10**6)) + 100 * e * mpmath.expm1(e)
        assert truth <= mpmath.mpf(epsilon.numerator) / epsilon.denominator <= truth + mpmath.mpf(10) ** -15
    assert delta == Fraction(1, 10**6)


def test_a_hundred_pure_releases_cost_the_known_optimum():
    assert isclose(float(optimal([(0.1, 0, 100)], 1e-6)), 4.774567588, abs_tol=5e-10)


def exact_delta(e, count, epsilon):
    """The formula of Kairouz, Oh and Viswanath, with 80 digits."""
    with mpmath.workdps(80):
        e, epsilon = (mpmath.mpf(x.numerator) / x.denominator for x in (e, epsilon))
        terms = (
            mpmath.binomial(count, i) * max(0, mpmath.exp((count - i) * e) - mpmath.exp(epsilon + i * e))
            for i in range(count + 1)
        )
        return mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** count


@given(st.fractions(Fraction(1, 100), 2, max_denominator=100), st.integers(1, 25), st.sampled_from([1, 3, 6, 12]))
@settings(max_examples=40, deadline=None)
def test_the_optimum_is_tight_and_never_below_the_truth(e, count, digits):
    delta = Fraction(1, 10**digits)
    found = optimal([(e, 0, count)], delta)
    with mpmath.workdps(80):
        target = mpmath.mpf(1) / 10**digits
        assert exact_delta(e, count, found) <= target
        assert found == 0 or exact_delta(e, count, found * (1 - Fraction(1, 10**9))) > target


def test_own_deltas_are_part_of_the_optimum():
    plain, failing = optimal([(0.1, 0, 100)], 1e-6), optimal([(0.1, 1e-9, 100)], 1e-6)
    assert plain < failing < plain * Fraction(102, 100)
    with pytest.raises(InvalidArgument, match="delta"):
        optimal([(0.1, 1e-7, 100)], 1e-6)
    with pytest.raises(InvalidArgument, match="delta"):
        optimal([(0.1, 1e-7, 100), (0.2, 0, 1)], 1e-6)


def test_unequal_parts_lie_between_equal_ones():
    low, mixed, high = (
        optimal(parts, 1e-6) for parts in ([(0.1, 0, 40)], [(0.1, 0, 20), (0.12, 0, 20)], [(0.12, 0, 40)])
    )
    assert low < mixed < high < inf


def test_rho_adds_up_or_is_refused():
    assert zcdp([Loss.concentrated(Fraction(1, 8)), Loss.pure(Fraction(1, 2))]) == Fraction(1, 4)
    with pytest.raises(InvalidArgument, match="rho"):
        zcdp([Loss(Fraction(1), None, None)])
