"""What sqlglot logs while a question is read is kept from the analyst, and what others make it log is not."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import sqlglot

from sfumato.errors import UnsupportedQuery
from sfumato.plan.syntax.parse import parse

NOISY = "EXPLAIN SELECT COUNT(*) FROM t"  # sqlglot says that it falls back to a command
REFUSED = f"""
import logging, sys
if "configured" in sys.argv:
    logging.basicConfig(level=logging.DEBUG)
from sfumato.errors import UnsupportedQuery
from sfumato.plan.syntax.parse import parse
try:
    parse({NOISY!r})
except UnsupportedQuery as refusal:
    print(refusal)
"""


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What a handler of the user's own gets from sqlglot."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("sqlglot")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(before)


@pytest.mark.parametrize("arguments", [(), ("configured",)])
def test_nothing_of_sqlglot_is_on_stderr(arguments: tuple[str, ...]) -> None:
    """Neither by Python's handler of last resort, nor by one that a user set up for everything."""
    done = subprocess.run([sys.executable, "-c", REFUSED, *arguments], capture_output=True, text=True, check=True)
    assert "ask with SELECT" in done.stdout
    assert "sqlglot" not in done.stderr and "unsupported syntax" not in done.stderr


def test_others_keep_their_log(logged: list[str]) -> None:
    """Sqlglot's own users in the same process, in this thread and in another one that works at the same time."""
    with pytest.raises(UnsupportedQuery):
        parse(NOISY)
    assert logged == []
    sqlglot.parse_one(NOISY, dialect="duckdb")
    assert len(logged) == 1
    thread = threading.Thread(target=sqlglot.parse_one, args=(NOISY, "duckdb"))
    thread.start()
    thread.join()
    assert len(logged) == 2
