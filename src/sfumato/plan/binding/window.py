"""Which totals over all groups, SUM(COUNT(*)) OVER (), can be answered.

It is arithmetic on what was released, and costs nothing. Groups that HAVING picks by noisy values would have a total
whose error follows from that choice, so there it is refused.
"""

from __future__ import annotations

from sfumato.errors import UnsupportedQuery
from sfumato.plan.plan import Measure
from sfumato.plan.syntax.node import Expression, MeasureAt, Query, Total, TotalAt, children


def check_total(total: Total, measure: Measure) -> None:
    """Refuse a total of what does not add up."""
    if not measure.statistic.adds_up:
        raise UnsupportedQuery(f"{total.sql()} is not supported: only counts and sums add up; ask for one of those")


def check_having(query: Query, having: Expression | None) -> None:
    """Refuse a total of groups that are picked by noisy values, and a window in HAVING, which SQL has not."""
    asked = [output.expression for output in query.outputs or ()] + [key.expression for key in query.order]
    if query.having is not None and has_total(query.having):
        raise UnsupportedQuery("HAVING comes before windows; got SUM(...) OVER () in it; filter the answer's rows")
    if having is not None and uses_measure(having) and any(map(has_total, asked)):
        raise UnsupportedQuery(
            "a total of groups that HAVING picks by noisy values is not supported; leave out HAVING, or use "
            "share_of_total of the answer, which is of all groups"
        )


def uses_measure(result: Expression) -> bool:
    """Whether an expression over results has a private number in it."""
    return isinstance(result, (MeasureAt, TotalAt)) or any(map(uses_measure, children(result)))


def has_total(expression: Expression) -> bool:
    """Whether a window is somewhere in an expression."""
    return isinstance(expression, Total) or any(map(has_total, children(expression)))
