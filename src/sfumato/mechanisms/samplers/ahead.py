"""One draw at a time, from a block drawn ahead.

The block belongs to one thread and one process (`Entropy.stock`), so no two of them ever use the same draw.
"""

from __future__ import annotations

from typing import Protocol

from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers.coin import Integers

_BLOCK = 1024
_SAMPLERS = 64


class Sampler(Protocol):
    """Whatever draws independent integers."""

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """`count` independent draws."""


def draw_one(sampler: Sampler, entropy: Entropy) -> int:
    """One draw, at a fraction of a microsecond on average."""
    stock = entropy.stock()
    ahead = stock.get(sampler)
    if not ahead:
        if len(stock) >= _SAMPLERS:  # a process that asks at ever new scales keeps no old blocks
            stock.clear()
        ahead = stock[sampler] = sampler.draw(_BLOCK, entropy).tolist()
    return ahead.pop()
