"""SUM(COUNT(*)) OVER (): read, printed back, bound as a total of what was released; every other window is refused."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax.node import Call, MeasureAt, TotalAt
from sfumato.plan.syntax.parse import parse

FRAME = pd.DataFrame({"p": [1], "x": [1.0], "r": ["a"]})
T = table(FRAME, unit="p", columns={"x": column(bounds=(0, 9)), "r": column(keys=["a", "b"])})


@pytest.mark.parametrize("inside", ("COUNT(*)", 'COUNT("x")', 'SUM("x")', 'COUNT(DISTINCT "p")'))
def test_a_total_over_all_groups_is_read_and_printed(inside: str) -> None:
    """And is the same measure as the aggregate itself: it is priced once."""
    query = parse(f"select r, {inside} / sum({inside}) over () as share from t group by r")
    assert query.sql().startswith(f'SELECT "r", ({inside} / SUM({inside}) OVER ()) AS "share"')
    assert parse(query.sql()) == query
    bound = bind(query, {"t": T})
    assert len(bound.measures) == 1
    assert bound.shown[1].expression == Call("divide", (MeasureAt(0), TotalAt(0)))


def test_a_total_alone_is_a_measure_too() -> None:
    """It has the whole of epsilon."""
    plan = price(bind(parse("SELECT r, SUM(COUNT(*)) OVER () AS n FROM t GROUP BY r"), {"t": T}), epsilon=1)
    assert len(plan.measures) == 1 and plan.epsilon == 1


@pytest.mark.parametrize(
    ("question", "words"),
    (
        ("SELECT r, SUM(COUNT(*)) OVER (PARTITION BY r) FROM t GROUP BY r", "share_of_total"),
        ("SELECT r, SUM(COUNT(*)) OVER (ORDER BY r) FROM t GROUP BY r", "share_of_total"),
        ("SELECT r, SUM(COUNT(*)) OVER (ROWS UNBOUNDED PRECEDING) FROM t GROUP BY r", "share_of_total"),
        ("SELECT r, AVG(COUNT(*)) OVER () FROM t GROUP BY r", "share_of_total"),
        ("SELECT r, SUM(x) OVER () FROM t GROUP BY r", "share_of_total"),
        ("SELECT x, SUM(x) OVER () FROM t", "share_of_total"),
        ("SELECT r, RANK() OVER () FROM t GROUP BY r", "not supported"),
        ("SELECT r, SUM(DISTINCT COUNT(*)) OVER () FROM t GROUP BY r", "not supported|DISTINCT"),
        ("SELECT r, SUM(SUM(COUNT(*)) OVER ()) OVER () FROM t GROUP BY r", "not supported"),
        ("SELECT r, SUM(AVG(x)) OVER () FROM t GROUP BY r", "counts and sums add up"),
        ("SELECT r, SUM(COUNT(*)) OVER w FROM t GROUP BY r WINDOW w AS ()", "not supported"),
        ("SELECT r, COUNT(*) FROM t GROUP BY r HAVING SUM(COUNT(*)) OVER () > 1", "HAVING comes before windows"),
        ("SELECT r, SUM(COUNT(*)) OVER () FROM t GROUP BY r HAVING COUNT(*) > 1", "picks by noisy values"),
        ("SELECT r, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY r HAVING s > 1", "picks by noisy values"),
        ("SELECT COUNT(*) FROM t WHERE SUM(COUNT(*)) OVER () > 1", "WHERE filters rows"),
        ("SELECT COUNT(*) FROM t GROUP BY SUM(COUNT(*)) OVER ()", "GROUP BY takes columns"),
        ("SELECT COUNT(*) FROM (SELECT SUM(COUNT(*)) OVER () AS n FROM t) AS s", "."),
    ),
)
def test_every_other_window_is_refused(question: str, words: str) -> None:
    """With what to write instead."""
    with pytest.raises(UnsupportedQuery, match=words):
        bind(parse(question), {"t": T})
