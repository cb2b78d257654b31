"""What may be erased: the question, its plan, the answer.

The chain holds sha256(salt || replay key || text). The salt is random and is erased with the text, so the digest that
stays says nothing: not even a reader who guesses the text right can check the guess.

The replay key finds the answer to a question that was asked before. It is an HMAC under a secret of the ledger: it can
be compared, but not computed, by whoever sees it, and it is erased with the answer.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.entropy import Entropy
from sfumato.errors import LedgerBroken
from sfumato.ledger.records.entry import GUARANTEE, canonical
from sfumato.ledger.records.request import Request

_SALT_BITS = 256


@dataclass(frozen=True, slots=True)
class Payload:
    """A text that belongs to an entry."""

    salt: bytes
    text: str
    replay: str | None = None

    @classmethod
    def of(cls, content: Mapping[str, object], entropy: Entropy, replay: str | None = None) -> Payload:
        """A payload under a fresh salt."""
        return cls(fresh(entropy), canonical(content), replay)

    @classmethod
    def stored(cls, salt: object, text: object, replay: object, number: int) -> Payload:
        """A payload as a database or a backup has it; `number` is that of its entry."""
        salt = bytes(salt) if isinstance(salt, bytes | bytearray | memoryview) else salt
        if isinstance(salt, bytes) and isinstance(text, str) and (replay is None or isinstance(replay, str)):
            return cls(salt, text, replay)
        raise LedgerBroken(f"the payload of entry {number} was changed: it holds what was never written there")

    @property
    def digest(self) -> str:
        """What the chain holds of it."""
        return hashlib.sha256(self.salt + canonical([self.replay, self.text]).encode("ascii")).hexdigest()


def fresh(entropy: Entropy) -> bytes:
    """Random bytes for a salt, a secret or an identity."""
    return entropy.bits(_SALT_BITS).to_bytes(_SALT_BITS // 8, "big")


def replay_key(secret: bytes, request: Request, renewed: int) -> str:
    """The same for the same question on the same data with the same promise, since the units were last renewed."""
    r = request
    return key_of(secret, (renewed, r.population, r.table, r.version, r.plan, r.promise, GUARANTEE))


def key_of(secret: bytes, same: tuple[object, ...]) -> str:
    """The replay key of what must be the same, in the order of `replay_key`."""
    return hmac.new(secret, canonical(same).encode("ascii"), hashlib.sha256).hexdigest()
