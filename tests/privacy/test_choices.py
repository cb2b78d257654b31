"""The economic window of an epsilon (Hsu et al. 2014)."""

from __future__ import annotations

import math

import pytest

from sfumato.errors import InvalidArgument
from sfumato.privacy import Window, affordable, window


def test_the_window_lies_between_accuracy_and_budget() -> None:
    """At the lower end the noise of a count of 1,000 exceeds 20 with probability 5 %; the upper end pays everyone."""
    low, high = window(budget=30_000, people=1_000, cost=100, within=0.02)
    assert math.exp(-low * 20) == pytest.approx(0.05, rel=1e-12) and math.exp(-low * 20) <= 0.05
    assert high == affordable(30_000, 1_000, 100)
    assert (math.exp(high) - 1) * 100 * 1_000 == pytest.approx(30_000)


def test_more_people_open_a_window_only_if_the_budget_is_above_a_bar() -> None:
    """N ln(1 + B / (N E)) grows with N, but not beyond B / E; accuracy asks for ln(1 / miss) / within, here 149.8."""
    for budget, opens in ((160 * 200, True), (140 * 200, False)):
        few, many = (window(budget, people, 200, within=0.02) for people in (10, 1_000_000))
        assert not few.is_open and many.is_open is opens
        assert many.low < few.low and many.high < few.high


def test_a_dear_risk_closes_the_window() -> None:
    assert window(budget=30_000, people=1_000, cost=100, within=0.02).is_open
    assert not window(budget=30_000, people=1_000, cost=1_000, within=0.02).is_open
    assert Window(0.5, 0.5).is_open and not Window(0.6, 0.5).is_open


@pytest.mark.parametrize(
    "wrong", [{"budget": 0}, {"people": 0}, {"cost": -1}, {"within": 0}, {"within": 1}, {"confidence": 1}]
)
def test_what_is_no_study_is_refused(wrong: dict[str, float]) -> None:
    usual = {"budget": 1_000, "people": 100, "cost": 10, "within": 0.1}
    with pytest.raises(InvalidArgument, match=rf"{next(iter(wrong))} must be .*; got "):
        window(**{**usual, **wrong})  # type: ignore[arg-type]
