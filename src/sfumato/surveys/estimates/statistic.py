"""From what was received to an unbiased estimate with its interval, question by question.

Most mechanisms send something that either agrees with an answer or does not. Of n people a share m agrees; the share of
people with that answer is an affine function of it, (m - stray) / (agree - stray), and so is the interval of Clopper
and Pearson for m, which covers for every n. Where people have weights, n is the effective number of people (Kish, or
less where the weighted mean spreads more), and the interval is that of Korn and Graubard. Numbers that are sent as such
have the interval of the normal distribution with the variance seen, or the one known from the noise if that is larger;
for fewer than `FEW` people Hoeffding's or Chebyshev's. Proof: docs/proofs/survey_estimates.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms import Geometric
from sfumato.mechanisms.local import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    PaddedResponse,
    PiecewiseResponse,
    UnaryResponse,
)
from sfumato.mechanisms.randomized_response import clipped, seen_interval
from sfumato.surveys.item import Item, Received
from sfumato.surveys.oracle import laplace_variance
from sfumato.surveys.question import Boxes, Choice, Number

FEW = 30
MEAN = "mean"
BEYOND = "estimates beyond what is possible (below 0, above 1) are drawn at the edge"
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate: unbiased `value`, its standard error, and an interval that covers, inside what is possible.

    `tidy` is the value put in order with the others (shares not below 0 that add up to 1, a mean between its bounds):
    it looks better and is a little biased, so it is marked.
    """

    label: str
    value: float
    error: float
    interval: tuple[float, float]
    tidy: float = math.nan


def inside(estimate: Estimate) -> float:
    """The value as a chart shows it: at the edge of what is possible where it lies beyond, as its interval does."""
    low, high = estimate.interval
    return min(high, max(low, estimate.value))


@dataclass(frozen=True, slots=True)
class Affine:
    """estimate = (mean - start) * scale, between two ends; noise gives one person's output at least this variance."""

    start: float
    scale: float
    ends: tuple[float, float]
    least: float = 0.0

    def value(self, mean: float) -> float:
        """The estimate for a mean."""
        return (mean - self.start) * self.scale

    def inside(self, low: float, high: float) -> tuple[float, float]:
        """Two means as estimates, clipped to what is possible."""
        return clipped(self.value(low), self.value(high), self.ends)


def effective(weights: Weights) -> float:
    """The number of people who would tell as much without weights: (sum of w)**2 / (sum of w**2)."""
    squares = float((weights * weights).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def proportion(label: str, mean: float, people: float, affine: Affine, miss: float) -> Estimate:
    """An estimate from how often something was sent that agrees."""
    if people <= 0:
        return Estimate(label, math.nan, math.inf, affine.ends)
    mean = float(mean)  # not one of numpy's
    error = math.sqrt(max(affine.least, mean * (1 - mean)) / people) * affine.scale
    low, high = seen_interval(mean * people, people, miss)
    return Estimate(label, affine.value(mean), error, affine.inside(low, high))


def estimates(item: Item, received: Received, weights: Weights | None, miss: float) -> list[Estimate]:
    """The estimates of one question, from those who answered it."""
    match item.mechanism, item.question:
        case (BlockResponse() | UnaryResponse()) as mechanism, Choice() as question:
            seen = _supported(mechanism, received, weights)
            affine = _share(mechanism.agree, mechanism.stray)
            return [proportion(*row, affine, miss) for row in zip(question.categories, *seen, strict=True)]
        case PaddedResponse() as mechanism, Boxes(answers=answers, most=most):
            seen = _supported(mechanism, received, weights)
            affine = _share(mechanism.inner.agree, mechanism.inner.stray, most)
            return [proportion(*row, affine, miss) for row in zip(answers, *seen, strict=True)]
        case BoxResponse() as mechanism, Boxes() as question:
            return _boxes(mechanism, question, received, weights, miss)
        case DuchiResponse() as mechanism, Number(scale=scale):
            mean = float(np.average(received, weights=weights))
            people = _people(mean, received, weights)
            least, greatest = scale.number(mechanism.value(0)), scale.number(mechanism.value(1))
            noise = float(mechanism.chance(0) * (1 - mechanism.chance(0)))
            affine = Affine(-least / (greatest - least), greatest - least, _ends(scale), noise)
            return [proportion(MEAN, mean, people, affine, miss)]
        case ((PiecewiseResponse() | Geometric()), Number()):
            return [_number(item, received, weights, miss)]
    raise TypeError(item.oracle)


def _supported(
    mechanism: BlockResponse | UnaryResponse | PaddedResponse, received: Received, weights: Weights | None
) -> tuple[Weights, Weights]:
    """For each answer the share of what agrees with it, and of how many people it tells."""
    if weights is None:
        shares = mechanism.support(received) / len(received)
        return shares, np.full(len(shares), float(len(received)))
    shares = mechanism.support(received, weights) / weights.sum()
    return shares, informative(shares, weights, mechanism.support(received, weights**2))


def _people(share: float, agrees: Received, weights: Weights | None) -> float:
    if weights is None or not len(agrees):
        return float(len(agrees))
    return float(informative(share, weights, float((weights**2) @ agrees)))


def informative(shares: Any, weights: Weights, squares: Any) -> Weights:
    """How many people would tell as much about shares without weights; `squares`: of the weights of those who agree.

    Kish's number, or less where those of large weight answer unlike the others: the one that gives the variance of a
    weighted mean, sum of w**2 (z - share)**2 / (sum of w)**2 (Korn, Graubard 1998).
    """
    variance = (squares * (1 - 2 * shares) + shares**2 * (weights**2).sum()) / weights.sum() ** 2
    inside = (shares > 0) & (shares < 1) & (variance > 0)
    people = np.where(inside, shares * (1 - shares) / np.where(inside, variance, 1), np.inf)
    return np.asarray(np.minimum(effective(weights), people))


def _share(agree: Fraction, stray: Fraction, times: int = 1) -> Affine:
    """Whoever has the answer agrees with probability `agree`, or in one of so many slots alone; others stray."""
    true = stray + (agree - stray) / times
    noise = float(min(true * (1 - true), stray * (1 - stray)))
    return Affine(float(stray), times / float(agree - stray), (0.0, 1.0), noise)


def _ends(scale: Any) -> tuple[float, float]:
    return float(scale.low), float(scale.high)


def _boxes(
    mechanism: BoxResponse, question: Boxes, received: Received, weights: Weights | None, miss: float
) -> list[Estimate]:
    """Of those who sent something about a box, how many sent a tick."""
    affine = _share(mechanism.agree, mechanism.stray)
    mass = np.ones(len(received)) if weights is None else weights
    found = []
    for box, label in enumerate(question.answers):
        if mechanism.every:
            about, ticks = mass, (received[:, box // 8] >> (box % 8)) & 1
        else:
            chosen = received >> 1 == box
            about, ticks = mass[chosen], received[chosen] & 1
        mean = float((about * ticks).sum() / about.sum()) if len(about) else 0.0
        people = _people(mean, ticks, None if weights is None else about)
        found.append(proportion(label, mean, people, affine, miss))
    return found


def _number(item: Item, received: Received, weights: Weights | None, miss: float) -> Estimate:
    """A mean of numbers that were sent as such."""
    assert isinstance(item.question, Number)
    scale = item.question.scale
    line, least = number_line(item)
    values = line[0] + line[1] * received.astype(float)
    mass = np.ones(len(received)) if weights is None else weights
    people = effective(mass)
    mean = float(np.average(values, weights=mass))
    spread = max(float(np.average((values - mean) ** 2, weights=each)) for each in (mass, mass**2))
    error = math.sqrt(max(spread * people / max(1.0, people - 1), least) / people)
    reach = _reach(item, people, miss, error, line)
    return Estimate(MEAN, mean, error, clipped(mean - reach, mean + reach, _ends(scale)))


def number_line(item: Item) -> tuple[tuple[float, float], float]:
    """Which number an output stands for, as start + step * output; and the least variance that noise gives it."""
    assert isinstance(item.question, Number)
    scale = item.question.scale
    unit = float(scale.high - scale.low) / scale.steps
    if isinstance(item.mechanism, Geometric):
        return (float(scale.low), unit), laplace_variance(scale.steps / item.epsilon) * unit**2
    assert isinstance(item.mechanism, PiecewiseResponse | DuchiResponse)
    start, step = scale.number(item.mechanism.value(0)), item.mechanism.value(1) - item.mechanism.value(0)
    noise = min(item.mechanism.variance(0), item.mechanism.variance(scale.steps // 2))
    return (start, float(step) * unit), float(noise) * unit**2


def _reach(item: Item, people: float, miss: float, error: float, line: tuple[float, float]) -> float:
    from scipy.special import ndtri

    if people >= FEW:
        return float(-ndtri(miss / 2)) * error
    assert isinstance(item.question, Number)
    scale = item.question.scale
    if isinstance(item.mechanism, PiecewiseResponse):
        wide = line[1] * (scale.steps + int(item.mechanism.width or 0) - 1)
        return wide * math.sqrt(math.log(2 / miss) / (2 * people))
    unit = float(scale.high - scale.low) / scale.steps
    worst = laplace_variance(scale.steps / item.epsilon) * unit**2 + float(scale.high - scale.low) ** 2 / 4
    return math.sqrt(worst / (people * miss))
