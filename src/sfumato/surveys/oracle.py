"""Which mechanism a question gets: the one of least variance, among those whose outputs fit in eight bytes.

    one of k       response, subset (up to 63 answers), projective, hadamard; by name also unary, whose outputs are long
    several of k   one-box, every-box, padded; every-box only up to 63 boxes unless named
    a number       duchi, piecewise; by name also laplace

For one of k the variance is the mean squared error of all shares, which is the same whatever the truth is; for several
of k and for numbers it is the largest that any truth has. It depends on the question alone.

>>> from sfumato.surveys.question import one_of
>>> ten = one_of("party", "Which?", list("abcdefghij"))
>>> choose(ten, Fraction(1)).oracle, choose(ten, Fraction(2)).oracle
('subset', 'response')
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms import Geometric
from sfumato.mechanisms.local import (
    BlockResponse,
    Blocks,
    BoxResponse,
    DuchiResponse,
    Hyperplanes,
    PaddedResponse,
    PiecewiseResponse,
    Rows,
    Singles,
    Subsets,
    UnaryResponse,
)
from sfumato.mechanisms.local.blocks import WIDEST
from sfumato.mechanisms.local.field import LARGEST, prime_power
from sfumato.mechanisms.local.response import spread
from sfumato.surveys.item import Item, Randomizer
from sfumato.surveys.question import Boxes, Choice, Number, Question

CHOICE = ("response", "subset", "projective", "hadamard", "unary")
BOXES = ("one-box", "every-box", "padded")
NUMBER = ("duchi", "piecewise", "laplace")
KNOWN: dict[type, tuple[str, ...]] = {Choice: CHOICE, Boxes: BOXES, Number: NUMBER}


def choose(question: Question, epsilon: Fraction, oracle: str | None = None, share: int = 1) -> Item:
    """The question with its mechanism: the one named, or the one of least variance."""
    known = KNOWN[type(question)]
    if oracle is not None and oracle not in known:
        raise UnknownName(f"{question.name}: unknown oracle {oracle!r}; known are {', '.join(known)}")
    match question:
        case Choice():
            found = _for_choice(question, epsilon, oracle)
            question = replace(question, odds=None)  # they are the mechanism's from here on
        case Boxes():
            found = _for_boxes(question, epsilon, oracle)
        case Number():
            found = _for_number(question, epsilon, oracle)
    items = [Item(question, epsilon, mechanism, share) for mechanism in found]
    if not items:
        raise InvalidArgument(f"{question.name}: oracle {oracle!r} cannot carry so many answers; leave it out")
    return min(items, key=variance)


def variance(item: Item) -> Fraction:
    """The variance times n of one share or mean, from noise alone: on average over one of k, else the largest.

    Of a number it is that of the mean over the range between its bounds.
    """
    match item.mechanism, item.question:
        case (BlockResponse() | UnaryResponse()) as mechanism, _:
            return spread(mechanism.agree, mechanism.stray, len(mechanism.categories))
        case BoxResponse() as mechanism, Boxes(answers=answers):
            noise = mechanism.agree * mechanism.stray / (mechanism.agree - mechanism.stray) ** 2
            return noise if mechanism.every else len(answers) * (noise + Fraction(1, 4))
        case PaddedResponse() as mechanism, Boxes(most=most):
            inner = mechanism.inner
            return most**2 * spread(inner.agree, inner.stray, len(inner.categories)) + most
        case (DuchiResponse() | PiecewiseResponse()) as mechanism, Number(scale=scale):
            return max(mechanism.variance(0), mechanism.variance(scale.steps // 2)) / scale.steps**2
        case _, Number(scale=scale):
            return Fraction(laplace_variance(scale.steps / item.epsilon)) / scale.steps**2
    raise TypeError(item.oracle)


def laplace_variance(scale: Fraction) -> float:
    """Of discrete Laplace noise: 2 e**(-1/scale) / (1 - e**(-1/scale))**2.

    >>> round(laplace_variance(Fraction(10)), 1)
    199.8
    """
    decay = 1 / float(scale)
    return 2 * math.exp(-decay) / math.expm1(-decay) ** 2


def _for_choice(question: Choice, epsilon: Fraction, oracle: str | None) -> Iterator[Randomizer]:
    named = oracle or ("response" if question.odds is not None else None)
    count = len(question.categories)
    for blocks in _blocks(count, epsilon, named):
        yield BlockResponse(epsilon, question.categories, blocks, question.odds)
    if named == "unary":
        yield UnaryResponse(epsilon, question.categories, question.odds)


def _blocks(count: int, epsilon: Fraction, named: str | None) -> Iterator[Blocks]:
    growth = math.exp(min(float(epsilon), 60))
    if named in (None, "response"):
        yield Singles()
    if named in (None, "subset") and count <= WIDEST:
        best = count / (growth + 1)  # the best size is one of its neighbors (Ye, Barg 2018)
        yield from map(Subsets, sorted({min(count - 1, max(1, math.floor(best) + more)) for more in (0, 1)}))
    if named in (None, "projective"):
        yield from _spaces(count, growth)
    if named in (None, "hadamard"):
        yield Rows((count - 1).bit_length())


def _spaces(count: int, growth: float) -> Iterator[Hyperplanes]:
    """The spaces over the two prime powers next below and above e**epsilon + 1, and their neighbors."""
    middle = min(growth + 1, float(LARGEST))
    orders = [order for order in range(2, min(LARGEST, 2 * math.ceil(middle) + 8)) if prime_power(order)]
    for order in sorted(orders, key=lambda order: abs(math.log(order / middle)))[:6]:
        space = Hyperplanes.fitting(order, count)
        if space.is_small(count):
            yield space


def _for_boxes(question: Boxes, epsilon: Fraction, oracle: str | None) -> Iterator[Randomizer]:
    if oracle in (None, "one-box"):
        yield BoxResponse(epsilon, question.answers, False, question.most)
    if oracle == "every-box" or (oracle is None and len(question.answers) <= WIDEST):
        yield BoxResponse(epsilon, question.answers, True, question.most)
    if oracle in (None, "padded"):
        for blocks in _blocks(len(question.answers) + 1, epsilon, None):
            yield PaddedResponse(epsilon, question.answers, question.most, blocks)


def _for_number(question: Number, epsilon: Fraction, oracle: str | None) -> Iterator[Randomizer]:
    bounds, steps = (question.scale.low, question.scale.high), question.scale.steps
    if oracle in (None, "duchi"):
        yield DuchiResponse(epsilon, bounds, steps)
    if oracle in (None, "piecewise"):
        yield PiecewiseResponse(epsilon, bounds, steps)
    if oracle == "laplace":
        yield Geometric(steps, epsilon, neighbors="replace")
