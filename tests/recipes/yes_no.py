"""A sample mechanism: a truth value, kept with probability e**epsilon / (1 + e**epsilon), else turned over.

Claim. Either output is at most e**epsilon times likelier for one value than for the other: epsilon-differentially
private under replace. Proof: docs/proofs/randomized_response.md.

>>> YesNo(1).release(True) in (True, False)
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import Example
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.randomized_response import RandomizedResponse
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors


@dataclass(frozen=True)
class YesNo(Declared):
    """The value is True or False, and so is the output.

    epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
    unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> YesNo(1).guarantee
    Guarantee(epsilon=1, neighbors='replace')
    """

    epsilon: checks.Number
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)

    @cached_property
    def _response(self) -> RandomizedResponse:
        return RandomizedResponse(self.epsilon, ("yes", "no"))

    @property
    def loss(self) -> Loss:
        """Pure epsilon."""
        return Loss.pure(Fraction(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbors=Neighbors.REPLACE, unit=self.unit)

    def release(self, value: bool, entropy: Entropy = SYSTEM) -> bool:
        """True or False."""
        return bool(self._response.release(self._word(value), entropy) == "yes")

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the share of True among one answer may be off."""
        return self._response.error(confidence)

    def log_probability(self, output: bool, value: bool) -> float:
        """The logarithm of the probability of an output."""
        return self._response.log_probability("yes" if output else "no", self._word(value))

    def _word(self, value: Any) -> Any:
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Both values."""
        return True, False

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no truth value."""
        return None, math.nan, "Rumpelstiltskin"

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Both values."""
        return (Example("yes or no", cls(Fraction(1, 2)), True, False, (True, False), misses=None),)
