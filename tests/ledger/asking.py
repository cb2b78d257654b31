"""What the tests of the ledger ask, and the clock they live by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Replay, Request, Reservation
from sfumato.privacy.loss import Loss

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def __call__(self) -> int:
        return int(self.at.timestamp()) * 1_000_000 + self.at.microsecond

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


def question(plan: str = "COUNT(*)", epsilon: Any = Fraction(1, 10), **changes: Any) -> Request:
    """A request that differs from the usual one in a few fields."""
    usual = {
        "population": "people",
        "analyst": "ana",
        "table": "visits",
        "version": "2026-11",
        "plan": plan,
        "promise": f"epsilon {epsilon}",
        "mechanisms": (["laplace", {"scale": "10"}],),
        "loss": Loss.pure(epsilon),
    }
    return Request(**{**usual, **changes})


def reserve(ledger: Ledger, request: Request | None = None) -> Reservation:
    """Reserve what must be new."""
    found = ledger.reserve(request or question())
    assert isinstance(found, Reservation)
    return found


def replay(ledger: Ledger, request: Request | None = None) -> Replay:
    """Ask what must have been answered before."""
    found = ledger.reserve(request or question())
    assert isinstance(found, Replay)
    return found
