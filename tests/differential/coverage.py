"""Which functions and clauses some hundreds of statements must have among them, and how these are drawn."""

from __future__ import annotations

from itertools import count

from differential.statement import Statement, draw
from sfumato.plan.syntax.functions import FUNCTIONS

CLAUSES = (
    "alias", "subquery", "with", "per_person", "inner_having", "inner_distinct", "nested", "through", "union_all",
    "join_public", "join_private", "join_totals", "JOIN", "INNER JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN",
    "USING", "where", "having", "having_count", "having_sum", "order_by", "order_by_alias", "order_by_position",
    "order_by_expression", "limit", "group_by_position", "group_by_expression", "group_by_alias", "key_column",
    "key_bin", "key_date", "key_truth", "key_coalesce", "key_unknown", "of_key", "case", "if", "in", "round_digits",
    "infinite", "filter", "count_if", "share", "arithmetic", "case_of_results", "count", "sum", "avg", "variance",
    "var_pop", "stddev", "stddev_samp", "stddev_pop", "median", "min", "max", "quantile", "count_distinct",
    "count_units",
)  # fmt: skip
WANTED = (*CLAUSES, *FUNCTIONS)
_APART = 10**9  # seeds of what is drawn until it has what is wanted


def draw_wanted(seed: int) -> Statement:
    """The statement of a seed: every other one uses what is next on the list, all others are as they come."""
    if seed % 2:
        return draw(seed)
    wanted = WANTED[seed // 2 % len(WANTED)]
    drawn = (draw(_APART * (seed + 1) + attempt) for attempt in count())
    return next(statement for statement in drawn if wanted in statement.uses)
