"""What the mechanisms share that select keys by threshold: the promise, split by keys and by neighbor relation."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms._examples.apart import check_near
from sfumato.mechanisms._noise.lattice import came
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, read_epsilon
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.sensitivity import Norm
from sfumato.rounding import exp_up


@dataclass(frozen=True, slots=True)
class Promise:
    """What one removal or one addition of a unit may cost, and what the whole mechanism then costs.

    Under replace a unit is removed and another one added. Two steps of (e, d) make (2e, d (1 + exp(e))), so each step
    gets half of epsilon and delta / (1 + exp(epsilon / 2)).
    """

    epsilon: Fraction
    delta: Fraction
    keys: int
    whole: Guarantee

    @classmethod
    def read(
        cls,
        epsilon: checks.Number,
        delta: checks.Number,
        keys: int,
        neighbors: Neighbors | Relation,
        unit: Protected = ROW,
    ) -> Promise:
        """Check and split what was declared."""
        e, d = read_epsilon(epsilon), checks.below_one(delta=delta)
        if d == 0:
            raise InvalidArgument("delta must be positive to show keys nobody listed; got 0; give for example 1e-9")
        count = checks.whole(least=1, keys=keys)
        whole = Guarantee(e, d, neighbors, unit)  # which also reads the relation by its name
        if whole.neighbors is Neighbors.REPLACE:
            return cls(e / 2, d / (1 + exp_up(e / 2)), count, whole)
        return cls(e, d, count, whole)

    def noise_scale(self) -> Fraction:
        """The scale of Laplace noise on each key's number of units."""
        return self.keys / self.epsilon

    def loss(self) -> Loss:
        """(epsilon, delta): pure epsilon, but for an event of probability delta."""
        return Loss.pure(self.whole.epsilon, delta=self.whole.delta)


def people(value: int) -> int:
    """Refuse what is no number of units."""
    odd = isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Integral)
    if odd or value < 0:
        got = came(value) if odd else "a negative one"
        raise OutsideRange(f"value must be a number of units, a whole number of at least 0; got {got}")
    return int(value)


class KeyMechanism(Declared):
    """A mechanism that shows a key, or does not, by the number of units that have it."""

    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "delta": 1e-6}

    def _half_shown(self) -> float:
        """How many people a key needs, about, to be shown half the time: there one of them is seen best."""
        raise NotImplementedError

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """A key that is shown half the time, and one unit less."""
        units = 1 + math.ceil(self._half_shown())
        return units, units - 1

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """One unit."""
        check_near(value, neighbor, Fraction(1), Norm.L1, "one unit of a key")

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no number of units."""
        return -1, 1.5, True, None, "Rumpelstiltskin", math.nan, np.timedelta64(1, "s"), [1]
