"""A broken mechanism: what it claims, the story of its mistake, how it is caught, and how it is mended.

All noise here is the exact one of `mechanisms.samplers`, so that a mechanism is caught for its own mistake and not for
another; but for the one whose mistake it is to add floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.audit.draw import Sample
from sfumato.audit.exact import Masses
from sfumato.audit.game import Game
from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers import discrete_laplace
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors, Relation

Release = Callable[..., Any]


@dataclass(frozen=True)
class Broken:
    """A mechanism that claims more than it keeps.

    name       by which `sfumato audit` finds it
    story      two sentences: what somebody did, and why it fails
    game       the mechanism with two neighbors on which it fails
    samples    how many outputs a side show it
    mended     the same without the mistake, which is not refuted; None where no small change mends it
    masses     for events too rare to be sampled: lower bounds of the probabilities of both sides, exactly
    """

    name: str
    story: str
    game: Game
    samples: int = 100_000
    mended: Game | None = None
    masses: tuple[Masses, Masses] | None = None


def broken(
    name: str,
    story: str,
    sample: Sample,
    both: tuple[Any, Any],
    *,
    epsilon: checks.Number = 1,
    delta: checks.Number = 0,
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE,
    samples: int = 100_000,
    mended: Sample | None = None,
    masses: tuple[Masses, Masses] | None = None,
) -> Broken:
    """A broken mechanism on two neighbors."""
    claim = Guarantee(epsilon, delta, neighbors)
    whole = None if mended is None else Game(f"{name}, mended", mended, *both, claim)
    return Broken(name, story, Game(name, sample, *both, claim), samples, whole, masses)


def noise(size: int, scale: Fraction | float | int, entropy: Entropy) -> NDArray[np.int64]:
    """Discrete Laplace noise of a scale."""
    return np.asarray(discrete_laplace(Fraction(scale)).draw(size, entropy), np.int64)


def uniform(size: int, entropy: Entropy) -> NDArray[np.float64]:
    """Floats in (0, 1), as most programs draw them: multiples of 2**-53."""
    words = np.empty(2 * size, np.uint32)
    entropy.fill(words)
    high, low = words[:size].astype(np.uint64), words[size:].astype(np.uint64)
    return (((high << np.uint64(32)) | low) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
