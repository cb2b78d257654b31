"""A wire between a ledger and PostgreSQL that can be cut, torn or fouled at a chosen moment."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from enum import Enum

_SIZE = 1 << 16


class Harm(Enum):
    """What happens to the message with the chosen words, or to the reply to it."""

    LOST = "the message never arrives"
    UNANSWERED = "the server acts on it, and its reply is lost"
    TORN = "half of the reply arrives"
    FOULED = "something else arrives in place of the reply"


class Wire:
    """Listens on a port of its own and passes everything on to the server's socket."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._harm: tuple[bytes, Harm] | None = None
        self.harmed = 0
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._listen, daemon=True).start()

    @contextmanager
    def harming(self, words: bytes, harm: Harm) -> Iterator[None]:
        """Harm every message to the server that holds these words."""
        self._harm, self.harmed = (words, harm), 0
        try:
            yield
        finally:
            self._harm = None

    def close(self) -> None:
        """Listen no more."""
        self._door.close()

    def _listen(self) -> None:
        with suppress(OSError):  # the door was closed
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with closing(client), closing(socket.socket(socket.AF_UNIX)) as server, suppress(OSError):
            server.connect(self._server)
            while True:
                ready, _, _ = select.select((client, server), (), ())
                for end, other in ((client, server), (server, client)):
                    if end not in ready:
                        continue
                    data = end.recv(_SIZE)
                    if not data:
                        return
                    if end is client and self._harm and self._harm[0] in data:
                        self.harmed += 1
                        self._hurt(data, client, server)
                        return
                    other.sendall(data)

    def _hurt(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        assert self._harm is not None
        harm = self._harm[1]
        if harm is Harm.LOST:
            return
        server.sendall(data)
        reply = server.recv(_SIZE)
        if harm is Harm.TORN:
            client.sendall(reply[: len(reply) // 2])
        if harm is Harm.FOULED:
            client.sendall(b"\x00\xffHTTP/1.1 502 Bad Gateway\r\n\r\n" * 20)
