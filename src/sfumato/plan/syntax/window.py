"""Read the one window that is answered: SUM(COUNT(*)) OVER (), the total over all groups, for shares of it."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sfumato.plan.syntax.node import Aggregate, Expression, Total
from sfumato.plan.syntax.tree import only, refuse


def read_window(node: exp.Expression, read: Callable[[exp.Expression], Expression]) -> Expression:
    """SUM of an aggregate OVER (), and nothing else."""
    if type(node.this) is not exp.Sum or any(
        node.args.get(part) for part in ("partition_by", "order", "spec", "alias")
    ):
        raise refuse(node)
    only(node, "this", "over")
    only(node.this, "this")
    inside = read(node.this.this)
    if not isinstance(inside, Aggregate):
        raise refuse(node)
    return Total(inside)
