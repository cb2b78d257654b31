"""Schemas of one's own in PostgreSQL, and a server that asks for passwords."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines.loading import Server

GUARDED = """local all sfumato_asked,sfumato_expired,sfumato_limited scram-sha-256
local all sfumato_rejected reject
host all sfumato_asked,sfumato_expired,sfumato_limited 127.0.0.1/32 scram-sha-256
host all sfumato_rejected 127.0.0.1/32 reject
"""


@pytest.fixture
def server(postgres: Callable[[], str]) -> Server:
    """A schema of one's own."""
    return Server(postgres())


@pytest.fixture
def guarded(server: Server, request: pytest.FixtureRequest) -> Iterator[Server]:
    """The same in a server that asks some roles for a password, and rejects others.

    The file that says so must be writable here: of a server elsewhere (SFUMATO_TEST_POSTGRES) it is not, so another one
    is started on this machine.
    """
    ((named,),) = server.run("SHOW hba_file")
    file = Path(named)
    if not os.access(file, os.W_OK):
        server = Server(request.getfixturevalue("own_postgres")())
        ((named,),) = server.run("SHOW hba_file")
        file = Path(named)
    before = file.read_text()
    try:
        file.write_text(GUARDED + before)
        server.run("SELECT pg_reload_conf()", "SELECT pg_sleep(0.2)")
        yield server
    finally:
        file.write_text(before)
        server.run("SELECT pg_reload_conf()")
