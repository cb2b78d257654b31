"""Whether the product's releaser adds the noise that a release pays for, to every number, whatever the number is.

The recorder takes the releaser's place, so it does not see what that one does. Here the releaser itself is given what
was recorded, with words that can be repeated: what it adds must be the draws of the share's own noise, one for each
number and the same ones whatever the numbers are, and that noise must be as wide as the distance asks for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.sql.recorder import Recorder, Released, Selected
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.privacy.sensitivity import Norm


@dataclass
class Repeated:
    """Words that follow from a text: an `Entropy` for made-up tables, never for real ones."""

    text: str
    drawn: int = 0

    def _bytes(self, size: int) -> bytes:
        self.drawn += 1
        return hashlib.shake_256(f"{self.drawn} {self.text}".encode()).digest(size)

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite the words."""
        words[:] = np.frombuffer(self._bytes(words.nbytes), np.uint32).reshape(words.shape)

    def bits(self, count: int) -> int:
        """An integer of so many bits."""
        return int.from_bytes(self._bytes((count + 7) // 8), "little") >> (-count % 8)

    def stock(self) -> dict[object, list[int]]:
        """Nothing is kept."""
        return {}


def wrong_noise(recorded: Recorder) -> Iterator[str]:
    """What the releaser does otherwise than it should with what was recorded."""
    every: list[Released | Selected] = [*recorded.released, *recorded.selected]
    for each in every:
        if not _is_wide_enough(each):
            yield f"{each.label} has noise for less than {each.moves}"
        if not _is_added(each):
            yield f"{each.label}: what is added to exact numbers is not the noise of its share"


def _is_wide_enough(each: Released | Selected) -> bool:
    """The scale of Laplace noise is at least moves / epsilon, sigma**2 of Gaussian noise moves / (2 rho)."""
    noise = each.share.noise(each.moves)
    if isinstance(noise, LaplaceNoise):
        return each.share.norm is Norm.L1 and noise.scale * each.share.amount >= each.moves
    return each.share.norm is Norm.L2 and noise.variance * 2 * each.share.amount >= each.moves


def _is_added(each: Released | Selected) -> bool:
    drawn = each.share.noise(each.moves).sampler.draw(len(each.exact), Repeated(each.label)).tolist()
    releaser = NoisyReleaser(Repeated(each.label))
    if isinstance(each, Released):
        sums = [number + noise for number, noise in zip(each.exact, drawn, strict=True)]
        return releaser.release(each.label, each.exact, each.moves, each.share) == sums
    scores = {key: score + noise for (key, score), noise in zip(each.exact.items(), drawn, strict=True)}
    shown = {key: score for key, score in scores.items() if score > each.threshold}
    return releaser.select(each.label, each.exact, each.threshold, each.moves, each.share) == shown
