"""What stands after FROM: tables, sub-queries, and joins of them, read from a tree of sqlglot."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sfumato.plan.syntax.node import Expression, How, Join, Rows, Source, Subquery, TableName
from sfumato.plan.syntax.tree import name_of, only, refuse

_HOW = {
    ("", ""): How.INNER, ("", "INNER"): How.INNER, ("LEFT", ""): How.LEFT, ("LEFT", "OUTER"): How.LEFT,
    ("", "SEMI"): How.SEMI, ("", "ANTI"): How.ANTI, ("LEFT", "SEMI"): How.SEMI, ("LEFT", "ANTI"): How.ANTI,
}  # fmt: skip
_INSTEAD = "tables are joined by JOIN, LEFT JOIN, SEMI JOIN or ANTI JOIN with ON or USING"
_TURNED = "put the tables the other way round and write LEFT JOIN"


def read_from(
    select: exp.Expression, rows: Callable[[exp.Expression], Rows], expression: Callable[[exp.Expression], Expression]
) -> Source:
    """The source of a SELECT, its joins from left to right."""
    source: Source = _one(select.args["from_"].this, rows)
    for join in select.args.get("joins") or ():
        source = _joined(source, join, rows, expression)
    return source


def _one(node: exp.Expression, rows: Callable[[exp.Expression], Rows]) -> TableName | Subquery:
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, "this")
    name = None if alias is None else name_of(alias.this)
    if isinstance(node, exp.Subquery):
        only(node, "this", "alias")
        return Subquery(rows(node.this), name)
    if not isinstance(node, exp.Table):
        raise refuse(node)
    only(node, "this", "alias")
    return TableName(name_of(node.this), name)


def _joined(
    left: Source,
    node: exp.Expression,
    rows: Callable[[exp.Expression], Rows],
    expression: Callable[[exp.Expression], Expression],
) -> Join:
    side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
    if side == "RIGHT":
        raise refuse(node, _TURNED)
    if (side, kind) not in _HOW:
        raise refuse(node, _INSTEAD)
    only(node, "this", "on", "using", "side", "kind")
    on, using = node.args.get("on"), node.args.get("using") or []
    if on is None and not using:
        raise refuse(node, _INSTEAD)
    named = tuple(name_of(each.this if isinstance(each, exp.Column) else each) for each in using)
    how = _HOW[side, kind]
    return Join(left, _one(node.this, rows), how, None if on is None else expression(on), named)
