"""What the mechanisms share that select keys by threshold: the promise, split by keys and by neighbour relation."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms.lattice import came
from sfumato.mechanisms.mechanism import ROW, Protected, read_epsilon
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours, Relation
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
        neighbours: Neighbours | Relation,
        unit: Protected = ROW,
    ) -> Promise:
        """Check and split what was declared."""
        e, d = read_epsilon(epsilon), checks.below_one(delta=delta)
        if d == 0:
            raise InvalidArgument("delta must be positive to show keys nobody listed; got 0; give for example 1e-9")
        count = checks.whole(least=1, keys=keys)
        whole = Guarantee(e, d, neighbours, unit)  # which also reads the relation by its name
        if whole.neighbours is Neighbours.REPLACE:
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
