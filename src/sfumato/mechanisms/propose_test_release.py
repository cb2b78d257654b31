"""Propose, test, release: the median with noise for a proposed bound on what one unit moves, if the data allow it.

Claim. Let b be the proposed bound and D the least number of steps, each to a neighbor, from the data to a data set
where one more step moves the median by more than b. Test: D plus discrete Laplace noise of scale 1 / epsilon_1 lies
above a threshold T, the least whole number with Pr[noise > T] <= delta. If so, release the median with discrete Laplace
noise of scale b / epsilon_2, else None. That is (epsilon_1 + epsilon_2, delta)-differentially private. D takes
O(n log n). For continuous noise T is ln(1 / (2 delta)) / epsilon_1; half of that, as one lecture has it, is not
private: at D = 0 it passes with probability sqrt(delta / 2) / 2.
Proof: docs/proofs/propose_test_release.md. Papers: Dwork and Lei 2009; Nissim, Raskhodnikova, Smith 2007.

>>> mechanism = ProposeTestRelease(bound=1, bounds=(0, 100), epsilon=1, delta=1e-6)
>>> mechanism.threshold, mechanism.release([30, 70]) is None, abs(mechanism.release([50] * 1_000) - 50) < 60
(26, True, True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.mechanisms._examples.apart import check_one_row
from sfumato.mechanisms._examples.example import FEW, Example, shown
from sfumato.mechanisms._noise.noise import LARGEST_SCALE, LaplaceNoise
from sfumato.mechanisms._noise.span import Bounds, Span, read_bounds
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.samplers import Integers, draw_one
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.rounding import log_up, up

_MOST_ROWS = 5_000  # of the inputs for audits: where the test wants more, it is hardly ever passed


@dataclass(frozen=True)
class ProposeTestRelease(Declared):
    """The value is a list of numbers, one a unit; the output is a noisy median, or None: the test failed.

        bound         how far one unit is proposed to move the median: the noise is for it
        bounds        a lower and an upper bound that somebody declared; values beyond are moved onto them
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        delta         the probability that the promise may fail, far below 1 / number of people: 1e-9
        share         which part of epsilon the test gets
        spacing       the lattice's spacing, a power of two; left out: about a millionth of the bounds' distance
        neighbors    'add-remove' (one unit comes or goes) or 'replace' (one unit changes its contents)
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> ProposeTestRelease(bound=500, bounds=(0, 200_000), epsilon=1, delta=1e-9).guarantee
    Guarantee(epsilon=1, delta=1e-09)
    """

    bound: checks.Number
    bounds: Bounds
    epsilon: checks.Number
    delta: checks.Number
    share: checks.Number = Fraction(1, 2)
    spacing: checks.Number | None = None
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"bound": 2, "bounds": (0, 16), "epsilon": 1, "delta": 1e-6}

    def __post_init__(self) -> None:
        settle(self)
        if self.delta == 0:
            raise InvalidArgument("delta must be positive for a test that may err; got 0; give for example 1e-9")
        for name, read in (
            ("bound", checks.positive(bound=self.bound)),
            ("bounds", read_bounds(self.bounds)),
            ("share", checks.inside(share=self.share)),
        ):
            object.__setattr__(self, name, read)
        if not 1 <= self._steps < self._span.points - 1:
            raise InvalidArgument(
                "bound must be at least the lattice's spacing and below the distance of the bounds; got another; "
                "propose how far apart values near the median are"
            )
        if max(self._test.scale, self._noise.scale) > LARGEST_SCALE:
            raise ScaleTooLarge(
                "the noise must be at most 2**60 times the lattice's spacing; got more; give a larger epsilon"
            )

    @cached_property
    def _span(self) -> Span:
        return Span.between(self.bounds, self.spacing)

    @cached_property
    def _steps(self) -> int:
        """The proposed bound in multiples of the spacing, rounded down: what moves farther is unstable."""
        return math.floor(Fraction(self.bound) / self._span.lattice.spacing)

    @cached_property
    def _test(self) -> LaplaceNoise:
        return LaplaceNoise(1 / (Fraction(self.epsilon) * Fraction(self.share)))

    @cached_property
    def _noise(self) -> LaplaceNoise:
        return LaplaceNoise(self._steps / (Fraction(self.epsilon) * (1 - Fraction(self.share))))

    @cached_property
    def threshold(self) -> int:
        """What the noisy distance must exceed: Pr[noise > T] = a**(T + 1) / (1 + a) <= delta."""
        chance = Fraction(self.delta) * (1 + self._test.least_ratio)
        return max(0, math.ceil(self._test.scale * log_up(1 / chance)) - 1)

    @property
    def loss(self) -> Loss:
        """Pure epsilon, but for an event of probability delta."""
        return Loss.pure(Fraction(self.epsilon), delta=Fraction(self.delta))

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-differential privacy."""
        return Guarantee(self.epsilon, self.delta, neighbors=self.neighbors, unit=self.unit)

    def _exact(self, value: Any) -> tuple[int, int]:
        """The number of the median's point, and the distance to instability."""
        relation = Neighbors.read(self.neighbors)
        ranked = self._span.ranked(value, relation)
        padded = np.concatenate([[self._span.low], ranked, [self._span.high]]).astype(ranked.dtype)
        return int(padded[(len(ranked) + 1) // 2]), instability(padded, self._steps, relation)

    def distance(self, value: Any) -> int:
        """The number of steps to a data set where one more moves the median too far; private, like the value."""
        return self._exact(value)[1]

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> float | None:
        """The noisy median, or None where the test failed."""
        median, far = self._exact(value)
        # Both are always drawn, so that what was tested does not show in the time.
        tested, noise = draw_one(self._test.sampler, entropy), draw_one(self._noise.sampler, entropy)
        return self._span.lattice.value(median + noise) if far + tested > self.threshold else None

    def error(self, confidence: checks.Number = 0.95) -> float:
        """A half-width around a released median that covers the exact one, if the test always passed."""
        reach = self._noise.reach(checks.inside(confidence=confidence))
        return up((reach + Fraction(1, 2)) * self._span.lattice.spacing)

    def log_probability(self, output: float | None, value: Any) -> float:
        """The logarithm of the probability of an output."""
        median, far = self._exact(value)
        if output is None:
            return self._test.log_at_most(self.threshold - far)
        number = self._span.lattice.number(output)
        if number is None:
            return -math.inf
        passed = self._test.log_at_most(far - self.threshold - 1)  # the noise is symmetric
        return passed + self._noise.log_probability(number - median)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """The median moves by the whole bound, and the test passes about half the time."""
        low, high = (float(end) for end in self.bounds)
        comes = self.neighbors is Neighbors.ADD_REMOVE
        bound, many = float(self.bound), max(1, min(_MOST_ROWS, self.threshold // (2 if comes else 1)))
        first = (low + high - bound) / 2
        values = [first] * many + [first + bound] * many
        return values, values[1:] if comes else [*values[1:], first + bound]

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """One row."""
        check_one_row(value, neighbor, self.guarantee.neighbors)

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no list of numbers."""
        odd = (math.nan, None, "Rumpelstiltskin")
        return 3, "01", [[0, 1], [1, 0]], *([1, each] for each in odd)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A median that one unit moves far, one that it does not, and one under replace."""
        plain = cls(2, (0, 40), 2, 1e-3, spacing=1)
        other = cls(1, (0, 15), 2, 1e-3, Fraction(1, 3), 0.5, "replace")
        far, farther, near, nearer = (0, 40), (0, 40, 40), (5, 6, 6, 6, 8), (5, 6, 6, 6)
        five, changed = (2, 3, 3.5, 4, 9), (2, 3, 3.5, 15, 9)
        return (
            Example("propose-test-release, unstable", plain, far, farther, shown(-70, 110), 0.3, None, FEW),
            Example("propose-test-release, stable", plain, near, nearer, shown(-70, 90), 0.0, None, FEW),
            Example("propose-test-release, replace", other, five, changed, shown(-50, 70, 0.5), 0.0, None, FEW),
        )


def instability(padded: Integers, steps: int, neighbors: Neighbors) -> int:
    """The distance to a data set whose median one more step moves by more than `steps`.

    `padded` are the values in order between the two bounds; the bounds must be more than `steps` apart.

    >>> instability(np.array([0, 4, 4, 4, 9]), 3, Neighbors.REPLACE)
    1
    """
    n = len(padded) - 2
    left = np.arange(n + 1)
    # The first value more than `steps` above the left end of a gap; between them lies what has to go.
    right = np.searchsorted(padded, padded[:-1] + steps, side="right")
    left, right = left[right <= n + 1], right[right <= n + 1]
    if neighbors is Neighbors.REPLACE:
        rank = (n + 1) // 2
        left, right = np.minimum(left, rank), np.maximum(right, rank)
        return int((right - left - 1).min())
    # Half of the others must lie on either side: as many, or one more above.
    above = n + 1 - right
    return int((right - left - 1 + np.maximum(0, np.maximum(left - above, above - left - 1))).min())
