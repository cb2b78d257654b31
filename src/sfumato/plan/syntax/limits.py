"""How large a question may be: whatever is larger is refused before it takes seconds, or Python's stack."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sized

from sfumato.errors import UnsupportedQuery

MAX_WRITTEN = 400_000  # characters of a question with its parameters, names in quotes and all parentheses
MAX_COLUMNS = 1_000  # of an answer or a sub-query
MAX_KEYS = 100  # of one GROUP BY
MAX_ORDERINGS = 100  # of one ORDER BY
MAX_JOINS = 100  # of one FROM
MAX_NAMED = 250  # queries of one WITH
MAX_MEASURES = 100  # different aggregates of one question
MAX_LAYERS = 40  # queries inside each other, also by way of WITH
TOO_DEEP = "the question nests too deeply; use fewer sub-queries, fewer AND, OR and + in a row, or IN instead of OR"


def at_most(limit: int, listed: Sized, what: str) -> None:
    """Refuse more of something than the limit.

    >>> at_most(2, ["a", "b"], "keys after GROUP BY")
    """
    if len(listed) > limit:
        raise UnsupportedQuery(f"a question may have {limit:,} {what}; got {len(listed):,}; leave some out")


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Refuse what nests more deeply than Python can follow."""
    try:
        yield
    except RecursionError:
        raise UnsupportedQuery(TOO_DEEP) from None
