"""DuckDB: questions on files and frames of one machine."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.engines.duckdb_pool import Databases
from sfumato.engines.duckdb_run import DuckdbRun
from sfumato.engines.engine import FAILED
from sfumato.errors import EngineFailed, EngineTimeout
from sfumato.plan.price import PricedPlan

OWNER_LOG = logging.getLogger("sfumato.owner")
_DATABASES = Databases()


class DuckdbEngine:
    """Runs questions on DuckDB, each on a connection of its own, for `timeout` seconds at most."""

    def __init__(self, timeout: float | None = None) -> None:
        self._timeout = timeout

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[DuckdbRun]:
        """Open the data of one question."""
        failed, interrupted, limit = False, False, _Limit(self._timeout)
        try:
            with _DATABASES.connect(list(plan.bound.table.tables.values())) as connection:
                limit.begin(connection)
                yield DuckdbRun(connection, plan)
        except RuntimeError as error:
            if "interrupted" in str(error).lower() and not limit.passed:  # DuckDB's way to say Ctrl-C
                interrupted = True
            else:
                OWNER_LOG.error("the engine failed: %s", type(error).__name__)
            failed = True
        except Exception as error:
            OWNER_LOG.error("the engine failed: %s", type(error).__name__)  # its message may hold values
            failed = True
        finally:
            limit.end()
        # Raised out here: what failed may hold values or paths, also as the context of another error.
        if interrupted:
            raise KeyboardInterrupt
        if failed:
            raise EngineTimeout(FAILED) if limit.passed else EngineFailed(FAILED)


class _Limit:
    """Interrupts a connection after some seconds."""

    def __init__(self, seconds: float | None) -> None:
        self.passed = False
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def begin(self, connection: Any) -> None:
        """The work begins."""
        if self._seconds is not None:
            self._timer = threading.Timer(self._seconds, self._pass, [connection])
            self._timer.daemon = True
            self._timer.start()

    def _pass(self, connection: Any) -> None:
        self.passed = True
        connection.interrupt()

    def end(self) -> None:
        """The work is done."""
        if self._timer is not None:
            self._timer.cancel()
