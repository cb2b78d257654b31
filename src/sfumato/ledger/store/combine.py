"""Many callers, one transaction: whoever gets the lock does the work of all who came by then.

A caller enqueues a piece of work and waits for the lock. Who gets it first takes the whole queue and works it off in
one transaction; the others find theirs done when the lock comes to them. Nobody has to be woken.

Python delivers Ctrl-C to the main thread, between any two instructions: in the middle of a transaction it would leave
locks and connections behind. So the main thread lets another one do it, waits, and may be interrupted in waiting. That
thread is kept, so that who could reserve can also settle: with no memory left, a new one could not be had.

A result counts only after the transaction that holds it was committed: until then a ticket says that it is not known.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sfumato.errors import LedgerUnavailable, SfumatoError
from sfumato.threads import aside

Work = TypeVar("Work")
_UNKNOWN = "the ledger was interrupted; whether it was written is not known; if it was, it counts as spent"
_NO_THREAD = (
    "the ledger needs a thread to write; none could be started; nothing was written; free memory, end other programs, "
    "or raise the limit of processes"
)


class Ticket(Generic[Work]):
    """A piece of work, and later its result or its error."""

    __slots__ = ("committed", "error", "result", "taken", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: object = None
        self.error: BaseException | None = None
        self.taken = False  # by somebody who leads
        self.committed = False


class Combiner(Generic[Work]):
    """A queue of work, and the lock of whoever leads."""

    def __init__(self, process: Callable[[Sequence[Ticket[Work]]], None]) -> None:
        self._process = process
        self._lead = threading.Lock()
        self._queue: list[Ticket[Work]] = []

    def submit(self, work: Work) -> object:
        """Have a piece of work done, by this caller or by another one."""
        ticket = Ticket(work)
        if threading.current_thread() is threading.main_thread():
            if not aside(lambda: self._serve(ticket)):
                raise LedgerUnavailable(_NO_THREAD)
        else:
            self._serve(ticket)
        if isinstance(ticket.error, MemoryError):
            raise LedgerUnavailable(_UNKNOWN)
        if ticket.error is not None:
            raise ticket.error
        if not ticket.committed:
            raise LedgerUnavailable(_UNKNOWN)
        return ticket.result

    def _serve(self, ticket: Ticket[Work]) -> None:
        self._queue.append(ticket)
        try:
            with self._lead:
                if not ticket.taken:
                    self._work_off()
        except BaseException as error:
            ticket.error = error

    def _work_off(self) -> None:
        batch = self._queue[:]
        del self._queue[: len(batch)]  # others only append, so these are the ones
        for ticket in batch:
            ticket.taken = True
        try:
            self._process(batch)
        except SfumatoError as error:
            for ticket in batch:
                ticket.error = _of_its_own(error)
            return
        for ticket in batch:
            ticket.committed = True


def _of_its_own(error: SfumatoError) -> SfumatoError:
    """An error for one caller, since a traceback belongs to one."""
    own: SfumatoError = type(error)(*error.args)
    own.__cause__ = error
    return own
