"""One thing that is wrong with a table."""

from __future__ import annotations

from typing import NamedTuple

MOST_ROWS = 1_000_000  # of a file that are looked through: some seconds


class Complaint(NamedTuple):
    """What was found; a fault makes answers wrong or empty, anything else the owner may have meant."""

    text: str
    is_fault: bool = True


def some(count: int, of: int) -> str:
    """How many of how many.

    >>> some(3, 1200), some(7, 7)
    ('3 of 1,200', 'all 7')
    """
    return f"all {of:,}" if count == of else f"{count:,} of {of:,}"
