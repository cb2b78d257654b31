"""Read calls of what was registered from outside, by name: statistics, and functions of rows."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase

from sqlglot import exp

from sfumato.plan.syntax.functions import FUNCTIONS, OUTSIDE
from sfumato.plan.syntax.node import Aggregate, Call, Expression
from sfumato.plan.syntax.tree import only, refuse
from sfumato.statistics import by_function


def read_registered(node: exp.Expression, read: Callable[[exp.Expression], Expression]) -> Expression | None:
    """The call of a statistic or function that was registered; None: it is none."""
    name = _name(node)
    if type(node) is exp.Anonymous and by_function(name) is not None:
        only(node, "this", "expressions")
        if len(node.expressions) != 1:
            raise refuse(node, f"say what to aggregate: {name.upper()}(column)")
        return Aggregate(name, (read(node.expressions[0]),))
    if name not in OUTSIDE:
        return None
    arguments = list(node.iter_expressions())  # what is lost here is missed when the plan is printed and read again
    if len(arguments) != FUNCTIONS[name].arity:
        raise refuse(node, f"write {FUNCTIONS[name].template.format(*ascii_lowercase)}")
    return Call(name, tuple(map(read, arguments)))


def _name(node: exp.Expression) -> str:
    """The name of a function in small letters, whether sqlglot knows it or not; "" for anything else."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""
