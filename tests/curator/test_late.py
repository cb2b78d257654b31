"""A late answer is not given: its question has failed when the lease ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from curator.test_ledger import COUNT, visits
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import EngineTimeout, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.plan.pricing.price import PricedPlan


class Late:
    """Answers, but not before the lease of the question has ended."""

    def __init__(self, clock: list[int]) -> None:
        self._clock = clock

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Any]:
        with DuckdbEngine().run(plan) as run:
            self._clock[0] += 3_600_000_000
            yield run


@pytest.mark.parametrize("reachable", [True, False], ids=["ledger reachable", "ledger unreachable"])
def test_a_question_that_outlives_its_lease_returns_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reachable: bool
) -> None:
    """The ledger says, or will say, that it failed; it stays charged, and the analyst reads what every failure says."""
    now = [1_800_000_000_000_000]
    with Ledger.open(tmp_path / "ledger.db", clock=lambda: now[0]) as ledger:
        asked = Curator({"visits": visits(tmp_path)}, budget=2, ledger=ledger, engine=Late(now))

        def full(*_: object) -> None:
            raise LedgerUnavailable("the disk is full")

        if not reachable:
            monkeypatch.setattr(Ledger, "settle", full)
        with pytest.raises(EngineTimeout, match="it is charged") as failure:
            asked.ask(COUNT, epsilon=1)
        assert failure.value.__cause__ is None and failure.value.__context__ is None
        step = failure.value.__traceback__
        while step is not None:
            assert not [name for name, value in step.tb_frame.f_locals.items() if isinstance(value, Answer)]
            step = step.tb_next
        assert "outlived its lease" in caplog.text
        assert asked.remaining().epsilon == 1
        kinds = [entry.kind for entry in ledger.entries()]
        assert Kind.SETTLED not in kinds
