"""Who waits is told phases whose names follow from the plan alone, and cannot disturb the answer."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.curator.measurement.progress import Phase
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import InvalidArgument
from sfumato.ledger.records.entry import Kind

QUESTIONS = {
    "SELECT r, COUNT(*) AS n FROM t GROUP BY r": ["limiting contributions"],
    "SELECT AVG(x) AS a, AVG(x * 2) AS b FROM t": ["estimating the center of x, (x * 2)", "estimating limits"],
    "SELECT SUM(y) AS a FROM t": ["estimating bounds of y", "estimating limits"],
}


def curator(rows: int) -> Curator:
    frame = pd.DataFrame({"p": range(rows), "r": ["a"] * rows, "x": [1.0] * rows, "y": [1e9] * rows})
    columns = {"r": column(type="text", keys=["a", "b"]), "x": column(bounds=(0, 9))}
    return Curator({"t": table(frame, unit="p", max_rows_per_unit=1, columns=columns)}, budget=100)


def told(asked: Curator, question: str, **options: Any) -> list[Phase]:
    heard: list[Phase] = []
    asked.ask(question, epsilon=1, estimate_bounds=True, progress=heard.append, **options)
    return heard


@pytest.mark.parametrize("question", QUESTIONS)
def test_phases_come_in_order_and_are_the_same_whatever_the_data(question: str) -> None:
    """Numbered from 1 to the last; one row has the same ones as many."""
    heard = told(curator(5_000), question)
    names = ["reserving", "opening the table", *QUESTIONS[question], "counting", "adding noise"]
    assert [phase.name for phase in heard] == names
    assert [(phase.number, phase.of) for phase in heard] == [(place, len(names)) for place in range(1, len(names) + 1)]
    assert heard == told(curator(1), question)


def test_asked_before_has_one_phase() -> None:
    """The ledger has the answer, so no data is read."""
    asked, question = curator(10), next(iter(QUESTIONS))
    told(asked, question)
    assert [phase.name for phase in told(asked, question)] == ["reserving"]


def test_a_listener_that_fails_loses_no_answer() -> None:
    """It was paid for; but what cannot be called is refused before."""
    asked = curator(10)

    def fail(phase: Phase) -> None:
        raise RuntimeError(phase)

    assert asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=1, progress=fail).rows
    spent = [entry for entry in asked.ledger.entries() if entry.kind is Kind.RESERVED]
    wrong: Any = 5
    with pytest.raises(InvalidArgument, match="progress must be callable"):
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=2, progress=wrong)
    assert [entry for entry in asked.ledger.entries() if entry.kind is Kind.RESERVED] == spent
