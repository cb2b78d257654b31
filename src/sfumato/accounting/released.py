"""A released value and what it cost: post-processing as a type.

Claim: whatever is computed from a private answer, without the data, costs nothing more and gives nothing back. So a
function maps the value and keeps the loss, values together cost their losses together, and nothing lowers a loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sfumato.accounting.compose import sequential
from sfumato.privacy.loss import Loss

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Released(Generic[T]):
    """A private answer with its loss.

    >>> from fractions import Fraction
    >>> count = Released(-3, Loss.pure(Fraction(1, 2)))
    >>> count.map(lambda n: max(n, 0))
    Released(value=0, loss=Loss(epsilon=Fraction(1, 2), ...
    """

    value: T
    loss: Loss

    def map(self, function: Callable[[T], U]) -> Released[U]:
        """Post-processing: a new value at the same loss."""
        return Released(function(self.value), self.loss)


def together(first: Released[T], second: Released[U]) -> Released[tuple[T, U]]:
    """Both values, at the sum of their losses."""
    return Released((first.value, second.value), sequential([first.loss, second.loss]))
