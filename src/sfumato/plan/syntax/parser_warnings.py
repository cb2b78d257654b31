"""Keep the log of sqlglot silent while a question is read: an analyst gets a refusal, and no second text beside it.

Only records that our own calls cause are dropped. Whoever uses sqlglot too, in this process, keeps its log, with
whatever handlers and levels were set for it.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
from collections.abc import Iterator

_READING = contextvars.ContextVar("sfumato_reads_a_question", default=False)


class _NotOurs(logging.Filter):
    """Let pass what was not caused by reading a question."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _READING.get()


logging.getLogger("sqlglot").addFilter(_NotOurs())


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Drop what sqlglot logs in this context: this thread or this task, and no other."""
    before = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(before)
