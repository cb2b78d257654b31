"""What every mechanism can do.

To add one: its file, one line in `mechanisms/__init__.py`, its page in `docs/proofs/`. Its class has its own examples
(`Declared.examples`), by which the contract suite tests it: loss, error bar, distribution, odd parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar

from sfumato import checks
from sfumato.checks import Number
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import ScaleTooLarge
from sfumato.mechanisms._examples.example import Example
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.sensitivity import Sensitivity
from sfumato.privacy.unit import Unit

Protected = Unit | str | tuple[str, ...]
ROW = Unit()
LARGEST_EPSILON = 10_000  # beyond it nothing is promised, and exp(epsilon) has too many digits to work with
_LEAST_EPSILON = Fraction(1, 1 << 400)
Value = TypeVar("Value", contravariant=True)
Output = TypeVar("Output")


class Mechanism(Protocol[Value, Output]):
    """A randomized release that knows its own loss, its own error and its own output distribution."""

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


class Declared:
    """A mechanism: it is pickled and copied by its fields alone, and what was worked out from them stays behind."""

    example_parameters: ClassVar[Mapping[str, Any]] = {}  # all that have no default, for `sfumato audit NAME`
    absent_parameters: ClassVar[Mapping[str, str]] = {}  # what helps whoever gives a parameter that it does not have

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    # What a mechanism answers about itself, so that no list elsewhere has to know it. For the writer of a new one: give
    # `example_parameters`, `examples` and `invalid_inputs`; give `neighboring_inputs` and `check_neighbors` where one
    # unit can do less than change everything. `sfumato.testing.MechanismTests` then tests it, and `sfumato audit`,
    # `bench/timing.py` and the command line know it by its name.

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """An example of the mechanism, with some parameters changed."""
        return cls(**{**cls.example_parameters, **changes})

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Neighbors with all their outputs, by which the mechanism is tested."""
        return ()

    def neighboring_inputs(self) -> tuple[Any, Any] | None:
        """Two inputs as far apart as is declared, whose outputs tell most of them; None: nobody knows how far."""
        return None

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """Refuse inputs that are further apart than is declared; here any two may be neighbors."""

    def invalid_inputs(self) -> Sequence[Any]:
        """What must be refused as the value of a release: numbers that are none, and vectors of another length."""
        return ()


def read_epsilon(epsilon: Number) -> Fraction:
    """An epsilon that a mechanism can promise.

    >>> read_epsilon(0.1)
    Fraction(1, 10)
    """
    exact = checks.positive(epsilon=epsilon)
    if not _LEAST_EPSILON <= exact <= LARGEST_EPSILON:
        raise ScaleTooLarge(
            f"epsilon must lie between 2**-400 and {LARGEST_EPSILON}; got one beyond; {checks.HELP['epsilon']}"
        )
    return exact


def _read_sensitivity(sensitivity: Number | Sensitivity) -> Fraction | Sensitivity:
    return sensitivity if isinstance(sensitivity, Sensitivity) else checks.positive(sensitivity=sensitivity)


def _read_spacing(spacing: Number | None) -> Fraction | None:
    """A power of two is meant as it is stored; whether it is one, the lattice looks."""
    if spacing is None:
        return None
    exact = checks.positive(spacing=spacing)
    return Fraction(*float.as_integer_ratio(spacing)) if isinstance(spacing, float) else exact


_READ: dict[str, Callable[[Any], Any]] = {
    "sensitivity": _read_sensitivity,
    "epsilon": read_epsilon,
    "delta": lambda delta: checks.below_one(delta=delta),
    "keys": lambda keys: checks.whole(least=1, keys=keys),
    "size": lambda size: None if size is None else checks.whole(least=1, size=size),
    "spacing": _read_spacing,
    "monotonic": lambda monotonic: checks.flag(monotonic=monotonic),
}


def settle(mechanism: Any) -> None:
    """Keep what was read, not what came, so that equal mechanisms promise the same; refuse what cannot be promised."""
    for field in fields(mechanism):
        if field.name in _READ:
            object.__setattr__(mechanism, field.name, _READ[field.name](getattr(mechanism, field.name)))
    promise: Guarantee = mechanism.guarantee
    for name in ("neighbors", "unit"):
        if hasattr(mechanism, name):
            object.__setattr__(mechanism, name, getattr(promise, name))
