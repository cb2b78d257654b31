"""An example of a mechanism, which the contract suite (`sfumato.testing.MechanismTests`) tests it by.

An example has two values that are neighbors at the declared distance, and outputs that carry all but a negligible part
of the probability under both. Lattices are coarse here, so that all outputs can be listed.

>>> around(-1, 1), around(0, 1, 0.5), shown(1, 2)
((-1, 0, 1), (0.0, 0.5, 1.0), (None, 1, 2))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

FEW = 5_000  # draws, where a draw is slow


def largest_miss(output: Any, value: Any) -> float:
    """How far the worst number of an output is off."""
    return float(np.max(np.abs(np.asarray(output, float) - np.asarray(value, float))))


@dataclass(frozen=True, eq=False)
class Example:
    """A mechanism with two neighboring values and all its outputs.

    name        what the test is called
    mechanism   the mechanism, with its parameters
    value       one input, and `neighbor` another one at the declared distance
    outputs     all that comes out of either, but for a part of 1e-8
    tight       which part of the promised loss these neighbors really cost, at least
    misses      how far an output is off a value, in the sense of `error`; None: it speaks of no single output
    draws       how many releases are compared with `log_probability`
    """

    name: str
    mechanism: Any
    value: Any
    neighbor: Any
    outputs: tuple[Any, ...]
    tight: float = 1.0
    misses: Callable[[Any, Any], float] | None = largest_miss
    draws: int = 20_000


def around(low: float, high: float, step: float = 1) -> tuple[Any, ...]:
    """All multiples of `step` from `low` to `high`."""
    numbers = range(int(low / step), int(high / step) + 1)
    return tuple(n if step == 1 else n * step for n in numbers)


def floats(numbers: Iterable[Any]) -> tuple[float, ...]:
    """The same numbers as floats."""
    return tuple(float(n) for n in numbers)


def square(side: Iterable[Any]) -> tuple[Any, ...]:
    """All pairs."""
    return tuple(itertools.product(side, repeat=2))


def shown(low: float, high: float, step: float = 1) -> tuple[Any, ...]:
    """The outputs of a mechanism that shows a number, or None."""
    return (None, *around(low, high, step))
