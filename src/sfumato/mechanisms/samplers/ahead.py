"""One draw at a time, from a block drawn ahead.

The block belongs to one thread and one process (`Entropy.stock`), so no two of them ever use the same draw.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers.coin import Integers

LIFT = 1 << 63
_BLOCK = 1024
_SAMPLERS = 64


class Sampler(Protocol):
    """Whatever draws independent integers."""

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """`count` independent draws."""


def draw_one(sampler: Sampler, entropy: Entropy) -> int:
    """One draw, at a fraction of a microsecond on average."""
    return draw_lifted(sampler, entropy) - LIFT


def draw_lifted(sampler: Sampler, entropy: Entropy) -> int:
    """One draw plus `LIFT`, to be taken off after the draw was added to something.

    Python adds a zero, a negative number and a long one in other steps than a short positive one. Draws wait lifted, so
    that how long an addition takes tells nothing of the draw; what it tells of the sum is part of the output.
    """
    stock = entropy.stock()
    ahead = stock.get(sampler)
    if not ahead:
        if len(stock) >= _SAMPLERS:  # a process that asks at ever new scales keeps no old blocks
            stock.clear()
        ahead = stock[sampler] = _lifted(sampler.draw(_BLOCK, entropy))
    return ahead.pop()


def _lifted(drawn: Integers) -> list[int]:
    if drawn.dtype == object:
        return [each + LIFT for each in drawn.tolist()]
    lifted: list[int] = (drawn.astype(np.uint64) + np.uint64(LIFT)).tolist()  # modulo 2**64, which is right
    return lifted
