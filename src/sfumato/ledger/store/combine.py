"""Many callers, one transaction: whoever comes first does the work of all who came by then.

A caller enqueues a piece of work. If nobody leads, it leads: it takes the whole queue, works it off in one transaction,
and hands each caller its result. Meanwhile the others queue up; the first of them leads next. There is no thread in
the background, and nobody gets a result before the transaction that holds it has been committed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sfumato.errors import LedgerUnavailable, SfumatoError

Work = TypeVar("Work")


class Ticket(Generic[Work]):
    """A piece of work, and later its result or its error."""

    __slots__ = ("_wake", "done", "error", "leads", "result", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self.leads = False
        self._wake = threading.Lock()
        self._wake.acquire()

    def wait(self) -> None:
        """Sleep until this ticket is done or has to lead."""
        self._wake.acquire()

    def wake(self) -> None:
        """End the sleep; called once."""
        self._wake.release()


class Combiner(Generic[Work]):
    """A queue of work, and whoever leads."""

    def __init__(self, process: Callable[[Sequence[Ticket[Work]]], None]) -> None:
        self._process = process
        self._mutex = threading.Lock()
        self._queue: list[Ticket[Work]] = []
        self._led = False

    def submit(self, work: Work) -> object:
        """Have a piece of work done, by this caller or by another one."""
        ticket = Ticket(work)
        try:
            with self._mutex:
                self._queue.append(ticket)
                ticket.leads, self._led = not self._led, True
            if not ticket.leads:
                ticket.wait()
            if not ticket.done:
                self._lead(ticket)
        except BaseException:
            self._withdraw(ticket)
            raise
        if ticket.error is not None:
            raise ticket.error
        return ticket.result

    def _lead(self, leader: Ticket[Work]) -> None:
        with self._mutex:
            batch, self._queue = self._queue, []
        try:
            self._process(batch)
        except BaseException as error:
            for ticket in batch:
                ticket.error = _of_its_own(error)
            if not isinstance(error, SfumatoError):
                raise
        finally:
            for ticket in batch:
                ticket.done = True
            self._hand_over(leader)
            for ticket in batch:
                if ticket is not leader:
                    ticket.wake()

    def _hand_over(self, leader: Ticket[Work]) -> None:
        """Let the first in the queue lead, or nobody."""
        with self._mutex:
            leader.leads = False
            following = self._queue[0] if self._queue else None
            if following is None:
                self._led = False
            else:
                following.leads = True
        if following is not None:
            following.wake()

    def _withdraw(self, ticket: Ticket[Work]) -> None:
        """An interrupted caller neither stays in the queue nor keeps the lead."""
        with self._mutex:
            if ticket in self._queue:
                self._queue.remove(ticket)
        if ticket.leads:
            self._hand_over(ticket)


def _of_its_own(error: BaseException) -> SfumatoError:
    """An error for one caller, since a traceback belongs to one."""
    if isinstance(error, SfumatoError):
        own: SfumatoError = type(error)(*error.args)
    else:
        own = LedgerUnavailable("the ledger was interrupted; whether it was written is not known")
    own.__cause__ = error
    return own
