"""Two questions crossed: how many people gave this answer to one and that answer to the other.

Both answers of a person are randomized independently of each other, so the product of the two unbiased scores of that
person is an unbiased score of the pair; its mean over all people estimates the share of the pair. Its variance follows
from the mechanisms and the shares: what is seen of it would miss scores that are large and rare. Proof:
docs/proofs/survey_estimates.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import charts
from sfumato.errors import InvalidArgument
from sfumato.mechanisms.local import BlockResponse, BoxResponse, PaddedResponse, UnaryResponse
from sfumato.mechanisms.randomized_response import clipped
from sfumato.surveys.estimates.score import Scores
from sfumato.surveys.estimates.statistic import BEYOND, Estimate, Weights, effective, inside
from sfumato.surveys.item import Item, Received
from sfumato.surveys.question import Boxes, Choice

MOST_CELLS = 250_000
_PIECE = 1 << 22  # scores held at once
Table = NDArray[np.float64]
Moments = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CrossTable:
    """The share of people with each pair of answers, from those who answered both questions."""

    rows: str
    columns: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    cells: tuple[tuple[Estimate, ...], ...]
    people: int
    confidence: float

    def cell(self, row: str, column: str) -> Estimate:
        """The estimate for a pair."""
        return self.cells[self.row_labels.index(row)][self.column_labels.index(column)]

    @property
    def reach(self) -> float:
        """How many standard errors an interval reaches to either side."""
        from scipy.special import ndtri

        return -float(ndtri((1 - self.confidence) / 2))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        listed = [
            {
                self.rows: row,
                self.columns: column,
                "value": cell.value,
                "error": cell.error,
                "interval": list(cell.interval),
            }
            for row, line in zip(self.row_labels, self.cells, strict=True)
            for column, cell in zip(self.column_labels, line, strict=True)
        ]
        return {"rows": self.rows, "columns": self.columns, "people": self.people, "cells": listed}

    def plot(self) -> Any:
        """Shares of pairs with their intervals, as an Altair chart; the second question by color."""
        points = [
            charts.Point(row, inside(cell), *cell.interval, column)
            for row, line in zip(self.row_labels, self.cells, strict=True)
            for column, cell in zip(self.column_labels, line, strict=True)
        ]
        subtitle: tuple[str, ...] = (f"{self.people:,} people; bars: {100 * self.confidence:.4g} % intervals",)
        if any(inside(cell) != cell.value for line in self.cells for cell in line):
            subtitle = (*subtitle, BEYOND)
        title = f"{self.rows} by {self.columns}"
        return charts.with_intervals(points, charts.Names(self.rows, "share of people", title, self.columns, subtitle))


def cross(
    first: tuple[Item, Received], second: tuple[Item, Received], weights: Weights | None, confidence: float
) -> CrossTable:
    """The table of two questions, from people who answered both, in the same order."""
    from scipy.special import ndtri

    labels = [_labels(item) for item, _ in (first, second)]
    if len(labels[0]) * len(labels[1]) > MOST_CELLS:
        raise InvalidArgument(f"a cross table must have at most {MOST_CELLS:,} cells; got more; cross other questions")
    mass = np.ones(len(first[1])) if weights is None else weights
    sums, margins = np.zeros((len(labels[0]), len(labels[1]))), [np.zeros(len(each)) for each in labels]
    for chosen in _pieces(len(mass), max(map(len, labels))):
        mine, theirs = (scores(item, received[chosen]) for item, received in (first, second))
        sums += (mass[chosen, None] * mine).T @ theirs
        margins = [margins[0] + mass[chosen] @ mine, margins[1] + mass[chosen] @ theirs]
    means = sums / mass.sum()
    one, other = moments(first[0]), moments(second[0])
    shares = [np.clip(margin / mass.sum(), 0, 1) for margin in margins]
    people, reach = effective(mass), -float(ndtri((1 - confidence) / 2))
    errors = np.sqrt(np.maximum(_squares(means, shares[0], shares[1], one, other) - means**2, 0) / people)
    bases = np.maximum(_without(shares[0][:, None], shares[1][None], one, other), 0)
    slope = (one[0] - one[1]) * (other[0] - other[1])
    cells = tuple(
        tuple(
            _cell(label, float(m), float(e), Scores(float(base), slope).interval(float(m), people, reach))
            for label, m, e, base in zip(labels[1], *line, strict=True)
        )
        for line in zip(means, errors, bases, strict=True)
    )
    return CrossTable(first[0].name, second[0].name, labels[0], labels[1], cells, len(mass), confidence)


def _squares(pairs: Table, rows: Table, columns: Table, mine: Moments, theirs: Moments) -> Table:
    """The mean square of the product of two scores, for these shares of pairs and of single answers."""
    first, second = rows[:, None], columns[None]
    both = np.clip(pairs, np.maximum(0, first + second - 1), np.minimum(first, second))
    return np.asarray(_without(first, second, mine, theirs) + both * (mine[0] - mine[1]) * (theirs[0] - theirs[1]))


def _without(first: Table, second: Table, mine: Moments, theirs: Moments) -> Table:
    """The part of that mean square which does not depend on the share of the pair."""
    one, other = first * mine[0] * theirs[1], second * mine[1] * theirs[0]
    return np.asarray(one + other + (1 - first - second) * mine[1] * theirs[1])


def moments(item: Item) -> Moments:
    """The mean square of a person's score for an answer, if it is the true one, and if not."""
    times, agree, boxes = 1, Fraction(0), 1
    match item.mechanism:
        case PaddedResponse() as mechanism:
            times, stray = mechanism.most, mechanism.inner.stray
            agree = stray + (mechanism.inner.agree - stray) / times
        case BlockResponse() | UnaryResponse() as mechanism:
            agree, stray = mechanism.agree, mechanism.stray
        case BoxResponse() as mechanism:
            agree, stray, boxes = mechanism.agree, mechanism.stray, 1 if mechanism.every else len(mechanism.boxes)
        case _:
            raise TypeError(item.oracle)
    gain = (agree - stray) if times == 1 else (agree - stray) * times
    true, other = (chance * (1 - stray) ** 2 + (1 - chance) * stray**2 for chance in (agree, stray))
    scale = boxes * times**2 / gain**2
    return float(true * scale), float(other * scale)


def _cell(label: str, mean: float, error: float, interval: tuple[float, float]) -> Estimate:
    return Estimate(label, mean, error, clipped(*interval, (0.0, 1.0)), min(1.0, max(0.0, mean)))


def _pieces(people: int, wide: int) -> Iterator[slice]:
    rows = max(1, _PIECE // wide)
    return (slice(start, start + rows) for start in range(0, people, rows))


def _labels(item: Item) -> tuple[str, ...]:
    match item.question:
        case Choice() as question:
            return question.categories
        case Boxes(answers=answers):
            return answers
    raise InvalidArgument(f"a cross table must be of answers; got the number {item.name!r}; cross other questions")


def scores(item: Item, received: Received) -> Table:
    """What each person's report says about each answer: on average 1 if it is the true one, else 0."""
    match item.mechanism:
        case BlockResponse() as mechanism:
            every = np.arange(len(mechanism.categories))
            agrees = mechanism.blocks.agrees(every[None], received[:, None])
            return _unbiased(agrees, mechanism.agree, mechanism.stray)
        case UnaryResponse() as mechanism:
            bits = np.unpackbits(received, axis=1, count=len(mechanism.categories), bitorder="little")
            return _unbiased(bits, mechanism.agree, mechanism.stray)
        case PaddedResponse() as mechanism:
            every = np.arange(len(mechanism.boxes))
            agrees = mechanism.blocks.agrees(every[None], received[:, None])
            return mechanism.most * _unbiased(agrees, mechanism.inner.agree, mechanism.inner.stray)
        case BoxResponse(every=True) as mechanism:
            bits = np.unpackbits(received, axis=1, count=len(mechanism.boxes), bitorder="little")
            return _unbiased(bits, mechanism.agree, mechanism.stray)
        case BoxResponse() as mechanism:
            about = received[:, None] >> 1 == np.arange(len(mechanism.boxes))
            ticks = _unbiased(received[:, None] & 1, mechanism.agree, mechanism.stray)
            return np.asarray(len(mechanism.boxes) * about * ticks)
    raise TypeError(item.oracle)


def _unbiased(agrees: NDArray[Any], agree: Any, stray: Any) -> Table:
    scaled: Table = (agrees - float(stray)) / float(agree - stray)
    return scaled


def sums_below(item: Item, received: Received, weights: Weights | None, confidence: float) -> list[Estimate]:
    """For an ordered question: the share of people with this answer or a lower one."""
    from scipy.special import ndtri

    mass = np.ones(len(received)) if weights is None else weights
    labels = _labels(item)
    total, squares = np.zeros(len(labels)), np.zeros(len(labels))
    for chosen in _pieces(len(mass), len(labels)):
        running = np.cumsum(scores(item, received[chosen]), axis=1)
        total += mass[chosen] @ running
        squares += mass[chosen] @ running**2
    means = total / mass.sum()
    true, other = moments(item)
    noise = min(true - 1, other)  # of a single answer: no sum but the last has less
    seen = np.maximum(squares / mass.sum() - means**2, noise)
    people, reach = effective(mass), -float(ndtri((1 - confidence) / 2))
    found = []
    for label, mean, variance in zip(labels, map(float, means), map(float, seen), strict=True):
        scores_of = Scores(max(noise, variance - mean * (1 - mean)), 1.0)
        found.append(_cell(label, mean, math.sqrt(variance / people), scores_of.interval(mean, people, reach)))
    return [*found[:-1], Estimate(labels[-1], 1.0, 0.0, (1.0, 1.0), 1.0)]
