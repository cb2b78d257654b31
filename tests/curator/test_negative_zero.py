"""No surface shows a negative zero: not in rows and intervals, not in JSON, CSV or words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pandas as pd
import pytest

from sfumato.cli._shared.formats import _WRITERS, Format
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.digits import rounded
from sfumato.statistics.estimate import Estimate

ROWS = pd.DataFrame({"x": [0.0, 0.0, 0.0, 0.0] * 50, "k": [0, 0, 0, 0] * 50, "r": ["a", "b", "a", "b"] * 50})
QUESTIONS = (
    "SELECT AVG(x) FILTER (WHERE r = 'a') - AVG(x) FILTER (WHERE r = 'b') AS n FROM t",
    "SELECT AVG(x) - AVG(x) AS a, -SUM(x) AS b, SUM(x) * -2 AS c, ROUND(-AVG(x)) AS d, CEIL(SUM(x) - 0.5) AS e FROM t",
    "SELECT -k AS g, k * -1 AS h, COUNT(*) AS n FROM t GROUP BY k",
    "SELECT -k AS g, COUNT(*) AS n FROM t GROUP BY 1",
    "SELECT ROUND(-k * 0.1) AS g, -SUM(x) / COUNT(*) AS n FROM t GROUP BY 1",
    "SELECT 0 * -1 AS zero, CAST(-0.2 AS INTEGER) AS cast, COUNT(*) AS n FROM t",
    "SELECT -(COUNT(*) - COUNT(*)) AS n FROM t",
)


@pytest.fixture(scope="module")
def curator() -> Curator:
    """Rows of zeros, asked with an epsilon at which there is hardly any noise."""
    columns = {"x": column(bounds=(-1, 1)), "k": column(bounds=(-1, 1)), "r": column(keys=["a", "b"])}
    return Curator({"t": table(ROWS, columns=columns)}, budget=Guarantee(epsilon=10**6))


def _numbers(found: object) -> Iterator[float]:
    match found:
        case float():
            yield found
        case dict():
            yield from (number for part in found.values() for number in _numbers(part))
        case list() | tuple():
            yield from (number for part in found for number in _numbers(part))


def _negative_zeros(found: object) -> list[float]:
    return [number for number in _numbers(found) if number == 0 and math.copysign(1, number) < 0]


def _shown(answer: Answer) -> list[str]:
    return [
        str(answer),
        *(_WRITERS[format](answer, False).decode() for format in (Format.JSON, Format.CSV, Format.TABLE)),
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_has_no_negative_zero(curator: Curator, question: str) -> None:
    answer = curator.ask(question, epsilon=1000)
    assert list(_numbers(answer.rows))
    assert _negative_zeros(answer.rows) == _negative_zeros(answer.intervals) == []
    for text in _shown(answer):
        assert re.search(r"(?<![\w.])-0(\.0*)?(?![\w.])", text) is None, text


def test_arithmetic_and_rounding_leave_none() -> None:
    zero = Estimate(0.0, -1.0, 1.0)
    for found in (-zero, zero * Estimate(-1.0, -1.0, -1.0), Estimate(-0.0, -0.0, -0.0)):
        assert _negative_zeros([found.value, found.low, found.high]) == []
    assert _negative_zeros([rounded(-0.001, (-5.0, 5.0)), rounded(-0.0, (-0.0, 0.0))]) == []
