"""The only door for randomness: words from AES-256 in counter mode, keyed by the operating system.

Each thread has its own key, so two threads never share words; a key is dropped after `REKEY_AFTER` bytes, and at a
fork, so a parent and its child never share words either; what was drawn ahead (`stock`) is dropped at a fork too.
There is no seed: tests pass a source of their own.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.errors import InvalidArgument

REKEY_AFTER = 1 << 26
_PIECE = 1 << 20
_BLOCK = 16
_ZEROS = memoryview(bytes(_PIECE))


class Entropy(Protocol):
    """A source of independent, uniform random words."""

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite `words`, a contiguous array, with fresh random words."""

    def bits(self, count: int) -> int:
        """A fresh uniform integer of `count` bits."""

    def stock(self) -> dict[object, list[int]]:
        """What this thread has drawn ahead, by sampler; empty after a fork."""


class _Stream:
    """One key and what was drawn with it."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.process = os.getpid()
        self.stock: dict[object, list[int]] = {}
        self.rekey()

    def rekey(self) -> None:
        self._update = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
        self.left = REKEY_AFTER

    def fill(self, out: memoryview) -> None:
        # The cipher wants room for a block more than it writes, so a piece's last block is written on its own.
        for start in range(0, len(out), _PIECE):
            piece = out[start : start + _PIECE]
            if self.left < len(piece):
                self.rekey()
            self.left -= len(piece)
            body = max(0, len(piece) - _BLOCK)
            self._update.update_into(_ZEROS[:body], piece)
            piece[body:] = self._update.update(_ZEROS[: len(piece) - body])


class SystemEntropy:
    """The product's source: one stream per thread, none survives a fork."""

    def __init__(self) -> None:
        self._generation = 0
        self._local = threading.local()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._generation += 1

    def process(self) -> tuple[int, int]:
        """What is another one in every process: a secret that must not be used twice is kept together with it.

        The process number catches forks that Python was not told of, the generation those that reuse a number.
        """
        return self._generation, os.getpid()

    def _stream(self) -> _Stream:
        stream: Any = getattr(self._local, "stream", None)
        if stream is None or (stream.generation, stream.process) != self.process():
            stream = self._local.stream = _Stream(self._generation)
        assert isinstance(stream, _Stream)
        return stream

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite `words`, a contiguous array, with fresh random words."""
        if not words.flags.c_contiguous:  # only a copy of it would be filled
            raise InvalidArgument("words must be a contiguous array; got one with gaps; fill a new one and copy it")
        self._stream().fill(words.reshape(-1).view(np.uint8).data)

    def bits(self, count: int) -> int:
        """A fresh uniform integer of `count` bits."""
        size = (count + 7) // 8
        buffer = bytearray(size)
        self._stream().fill(memoryview(buffer))
        return int.from_bytes(buffer, "little") >> (8 * size - count)

    def stock(self) -> dict[object, list[int]]:
        """What this thread has drawn ahead, by sampler."""
        return self._stream().stock


SYSTEM = SystemEntropy()
