"""What every mechanism can do.

To add one: its file, one line in `mechanisms/__init__.py`, its page in `docs/proofs/`; the shared suite then tests it
(loss, error bar, distribution) with one line of examples.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from sfumato.checks import Number
from sfumato.entropy import SYSTEM, Entropy
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.unit import Unit

Protected = Unit | str | tuple[str, ...]
ROW = Unit()
Value = TypeVar("Value", contravariant=True)
Output = TypeVar("Output")


class Mechanism(Protocol[Value, Output]):
    """A randomised release that knows its own loss, its own error and its own output distribution."""

    @property
    def loss(self) -> Loss:
        """What one release costs a unit."""

    @property
    def guarantee(self) -> Guarantee:
        """What one release promises a unit."""

    def release(self, value: Value, entropy: Entropy = SYSTEM) -> Output:
        """One private output for the exact `value`."""

    def error(self, confidence: Number = 0.95) -> float:
        """How far an output may be off with this confidence; each mechanism says in which sense."""

    def log_probability(self, output: Output, value: Value) -> float:
        """The logarithm of the probability that `value` is released as `output`."""


def settle(mechanism: Any) -> None:
    """Keep relation and unit as the guarantee read them, and refuse in the constructor what cannot be promised."""
    promise: Guarantee = mechanism.guarantee
    for name in ("neighbours", "unit"):
        object.__setattr__(mechanism, name, getattr(promise, name))
