"""From SQL text to a plan: an allow-list over every node, and proof by printing back.

sqlglot reads the text. Only node types named here are taken over, and only with the parts named here; everything else
is refused with its name, its position and what to write instead. At the end the plan is printed and read again: if that
is not the tree it came from, something was lost on the way, and the question is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from sfumato.errors import UnsupportedQuery
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.node import (
    Aggregate,
    Call,
    Case,
    Column,
    Expression,
    In,
    Literal,
    Ordering,
    Output,
    Query,
    Subquery,
    TableName,
)

DIALECT = "duckdb"
LONGEST = 100_000
DEEPEST = 100  # of a tree, so that no walk over it is stopped by Python
LARGEST, LEAST = Decimal("1e300"), Decimal("1e-300")

OPERATORS: dict[type[exp.Expression], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.EQ: "equal", exp.NEQ: "unequal",
    exp.LT: "less", exp.LTE: "at_most", exp.GT: "greater", exp.GTE: "at_least", exp.And: "and", exp.Or: "or",
}  # fmt: skip
UNARY: dict[type[exp.Expression], str] = {
    exp.Neg: "negate", exp.Not: "not", exp.Abs: "abs", exp.Floor: "floor", exp.Ceil: "ceil", exp.Round: "round",
}  # fmt: skip
AGGREGATES: dict[type[exp.Expression], str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}
# What sqlglot notes beside the meaning: how a function was spelled, or what follows from the dialect.
NOTES = {"big_int", "typed", "safe", "nulls_first", "_type"}
PARTS = {
    "joins": "one table at a time",
    "db": "write the table's name without a schema",
    "catalog": "write the table's name without a schema",
    "query": "IN takes a list of constants",
    "distinct": "GROUP BY the columns instead",
    "decimals": "ROUND takes one argument; multiply and divide instead",
    "sample": "the whole table is asked; noise protects, not sampling",
}
INSTEAD = {
    exp.Window: "aggregate by group instead; windows over private rows are not answered",
    exp.Join: "one table for now",
    exp.Union: "ask two questions",
    exp.Distinct: "GROUP BY the columns instead",
    exp.Star: "name the columns",
    exp.Median: "AVG for now",
    exp.Filter: "put the condition into CASE WHEN inside the aggregate",
    exp.Subquery: "a sub-query may only stand after FROM",
    exp.Cast: "compare numbers with numbers and dates with DATE 'yyyy-mm-dd'",
}


def parse(text: str) -> Query:
    """The plan of a question, or a refusal that names what is not answered.

    >>> parse("select count(*) as n from people where age > 30").sql()
    'SELECT COUNT(*) AS "n" FROM "people" WHERE ("age" > 30)'
    """
    tree = _read(text)
    plan = _query(tree, 0)
    if _bare(_read(plan.sql())) != _bare(tree):
        raise UnsupportedQuery("the question uses something that would be lost on the way; write it more simply")
    return plan


def _read(text: str) -> exp.Expression:
    if not isinstance(text, str) or (not text.isprintable() and not _encodes(text)):
        raise UnsupportedQuery("a question must be text in Unicode; got something else; write it as SQL")
    if len(text) > LONGEST:
        raise UnsupportedQuery(f"a question may have {LONGEST:,} characters; got {len(text):,}; shorten it")
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=DIALECT) if isinstance(tree, exp.Expression)]
    except (ParseError, TokenError, RecursionError) as error:
        raise UnsupportedQuery(f"this is not SQL that can be read: {_place(error)}") from None
    if len(trees) != 1:
        raise UnsupportedQuery(f"ask one SELECT at a time; got {len(trees)} statements")
    if _depth(trees[0]) > 2 * DEEPEST:  # every level may come with a pair of parentheses
        raise UnsupportedQuery("the question nests too deeply; use fewer sub-queries, or IN instead of many ORs")
    return trees[0]


def _encodes(text: str) -> bool:
    """Whether an engine can be given the text; half a surrogate pair has no UTF-8, and NUL ends a text in C."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _depth(tree: exp.Expression) -> int:
    """The levels of a tree, counted without recursion."""
    levels, level = 0, [tree]
    while level:
        levels, level = levels + 1, [child for node in level for child in node.iter_expressions()]
    return levels


def _place(error: Exception) -> str:
    details = getattr(error, "errors", None) or [{}]
    first = details[0]
    if "line" in first:
        return f"{first['description']} at line {first['line']}, column {first['col']}"
    return "it ends too early or nests too deeply"


def _bare(tree: exp.Expression) -> exp.Expression:
    """The tree without parentheses, spelling of names and notes, for comparison."""

    def strip(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Paren):
            inside: exp.Expression = node.this
            return inside
        if isinstance(node, exp.Like) and node.args.get("negate"):
            return exp.Not(this=exp.Like(this=node.this, expression=node.expression))
        if isinstance(node, exp.Identifier):
            return exp.to_identifier(node.name if node.quoted else node.name.lower(), quoted=True)
        for note in NOTES & set(node.args):
            node.set(note, None)
        node.comments = None
        return node

    previous, current = None, tree.copy()
    while previous != current:  # nested parentheses go one layer at a time
        previous, current = current, current.transform(strip)
    return current


def _refuse(node: exp.Expression, why: str | None = None) -> UnsupportedQuery:
    line, column = node.meta.get("line"), node.meta.get("col")
    for child in node.walk():
        if line is None:
            line, column = child.meta.get("line"), child.meta.get("col")
    place = f" (line {line}, column {column})" if line else ""
    instead = why or next((words for kind, words in INSTEAD.items() if isinstance(node, kind)), "write it differently")
    written = node.sql(DIALECT)
    return UnsupportedQuery(f"{node.key.upper()} is not answered{place}: {written[:80]}; {instead}")


def _only(node: exp.Expression, *parts: str) -> None:
    """Refuse a node with parts beyond those that are taken over."""
    for name, value in node.args.items():
        if value not in (None, [], False, "") and name not in parts and name not in NOTES:
            part = value if isinstance(value, exp.Expression) else node
            raise _refuse(part, PARTS.get(name, f"leave out {name.strip('_').upper()}"))


def _name(identifier: exp.Expression | None) -> str:
    if not isinstance(identifier, exp.Identifier):
        raise UnsupportedQuery("a name was expected; got something else; name every sub-query and column plainly")
    return identifier.name if identifier.quoted else identifier.name.lower()


def _query(tree: exp.Expression, depth: int) -> Query:
    if not isinstance(tree, exp.Select):
        raise _refuse(tree, "ask with SELECT")
    if depth > DEEPEST:
        raise UnsupportedQuery("the question nests too deeply; use fewer sub-queries")
    _only(tree, "expressions", "from_", "where", "group", "having", "order", "limit", "with_")
    if tree.args.get("from_") is None:
        raise UnsupportedQuery("a question needs FROM and a table; got none")
    return Query(
        _outputs(tree),
        _source(tree.args["from_"].this, depth),
        _optional(tree.args.get("where")),
        _groups(tree.args.get("group")),
        _optional(tree.args.get("having")),
        tuple(_ordering(key) for key in (tree.args["order"].expressions if tree.args.get("order") else ())),
        _limit(tree.args.get("limit")),
        _ctes(tree.args.get("with_"), depth),
    )


def _outputs(tree: exp.Select) -> tuple[Output, ...] | None:
    if len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star):
        _only(tree.expressions[0])
        return None
    return tuple(_output(node) for node in tree.expressions)


def _output(node: exp.Expression) -> Output:
    if isinstance(node, exp.Alias):
        _only(node, "this", "alias")
        return Output(_expression(node.this), _name(node.args["alias"]))
    return Output(_expression(node))


def _optional(clause: exp.Expression | None) -> Expression | None:
    if clause is None:
        return None
    _only(clause, "this")
    return _expression(clause.this)


def _groups(clause: exp.Expression | None) -> tuple[Expression, ...]:
    if clause is None:
        return ()
    _only(clause, "expressions")
    return tuple(_expression(node) for node in clause.expressions)


def _ordering(key: exp.Expression) -> Ordering:
    _only(key, "this", "desc")
    if key.args.get("nulls_first"):
        raise _refuse(key, "leave out NULLS FIRST")
    return Ordering(_expression(key.this), bool(key.args.get("desc")))


def _limit(clause: exp.Expression | None) -> int | None:
    if clause is None:
        return None
    _only(clause, "expression")
    count = clause.expression
    if not isinstance(count, exp.Literal) or count.is_string or not count.this.isdecimal() or not count.this.isascii():
        raise _refuse(clause, "LIMIT takes a whole number")
    return int(count.this)


def _ctes(clause: exp.Expression | None, depth: int) -> tuple[tuple[str, Query], ...]:
    if clause is None:
        return ()
    _only(clause, "expressions")
    named = []
    for cte in clause.expressions:
        _only(cte, "this", "alias")
        _only(cte.args["alias"], "this")
        named.append((_name(cte.args["alias"].this), _query(cte.this, depth + 1)))
    return tuple(named)


def _source(node: exp.Expression, depth: int) -> TableName | Subquery:
    alias = node.args.get("alias")
    if alias is not None:
        _only(alias, "this")
    name = None if alias is None else _name(alias.this)
    if isinstance(node, exp.Subquery):
        _only(node, "this", "alias")
        return Subquery(_query(node.this, depth + 1), name)
    if not isinstance(node, exp.Table):
        raise _refuse(node)
    _only(node, "this", "alias")
    return TableName(_name(node.this), name)


def _expression(node: exp.Expression) -> Expression:
    for kind, read in READERS:
        if isinstance(node, kind):
            return read(node)
    if type(node) in OPERATORS:
        _only(node, "this", "expression")
        return Call(OPERATORS[type(node)], (_expression(node.this), _expression(node.expression)))
    if type(node) in UNARY:
        _only(node, "this")
        return Call(UNARY[type(node)], (_expression(node.this),))
    if type(node) in AGGREGATES:
        return _aggregate(node)
    raise _refuse(node)


def _column(node: exp.Expression) -> Expression:
    _only(node, "this", "table")
    if isinstance(node.this, exp.Star):
        raise _refuse(node, "name the columns")
    table = node.args.get("table")
    return Column(_name(node.this), None if table is None else _name(table))


def _literal(node: exp.Expression) -> Expression:
    if node.args.get("is_string"):
        return Literal(node.this)
    try:
        size = abs(Decimal(node.this))
    except InvalidOperation:
        raise _refuse(node, "write numbers in digits, such as 0.5") from None
    # an exponent of nine digits would take hours to multiply out, also below 1 and before a zero
    if not node.this.isascii() or not (LEAST <= size <= LARGEST or node.this.strip("0.") == ""):
        raise _refuse(node, "numbers lie between -1e300 and 1e300, and are 0 or at least 1e-300")
    return Literal(node.this, is_number=True)


def _aggregate(node: exp.Expression) -> Expression:
    _only(node, "this")
    function, inside = AGGREGATES[type(node)], node.this
    if isinstance(inside, exp.Star) and function == "count":
        _only(inside)
        return Aggregate(function)
    if isinstance(inside, exp.Distinct):
        _only(inside, "expressions")
        return Aggregate(function, tuple(_expression(part) for part in inside.expressions), distinct=True)
    if inside is None:
        raise _refuse(node, f"say what to aggregate: {function.upper()}(column)")
    return Aggregate(function, (_expression(inside),))


def _like(node: exp.Expression) -> Expression:
    _only(node, "this", "expression", "negate")
    like = Call("like", (_expression(node.this), _expression(node.expression)))
    return Call("not", (like,)) if node.args.get("negate") else like


def _between(node: exp.Expression) -> Expression:
    _only(node, "this", "low", "high")
    return Call("between", tuple(_expression(node.args[part]) for part in ("this", "low", "high")))


def _in(node: exp.Expression) -> Expression:
    _only(node, "this", "expressions")
    items = tuple(_expression(item) for item in node.expressions)
    if not items or not all(isinstance(item, Literal) for item in items):
        raise _refuse(node, "IN takes a list of constants")
    return In(_expression(node.this), tuple(item for item in items if isinstance(item, Literal)))


def _is(node: exp.Expression) -> Expression:
    _only(node, "this", "expression")
    if not isinstance(node.expression, exp.Null):
        raise _refuse(node, "compare with = TRUE, or use IS NULL")
    return Call("is_null", (_expression(node.this),))


def _case(node: exp.Expression) -> Expression:
    if node.this is not None:
        raise _refuse(node, "write CASE WHEN column = value THEN ...")
    _only(node, "ifs", "default")
    for branch in node.args["ifs"]:
        _only(branch, "this", "true")
    branches = tuple((_expression(branch.this), _expression(branch.args["true"])) for branch in node.args["ifs"])
    default = node.args.get("default")
    return Case(branches, None if default is None else _expression(default))


def _coalesce(node: exp.Expression) -> Expression:
    _only(node, "this", "expressions")
    if len(node.expressions) != 1:
        raise _refuse(node, "COALESCE takes two arguments")
    return Call("coalesce", (_expression(node.this), _expression(node.expressions[0])))


def _extract(node: exp.Expression) -> Expression:
    _only(node, "this", "expression")
    return _dated(node, "extract", node.this.name, node.expression)


def _truncate(node: exp.Expression) -> Expression:
    _only(node, "this", "unit")
    return _dated(node, "truncate", node.args["unit"].name, node.this)


def _dated(node: exp.Expression, function: str, part: str, argument: exp.Expression) -> Expression:
    name = f"{function}_{part.lower()}"
    if name not in FUNCTIONS:
        known = ", ".join(key.split("_")[1] for key in FUNCTIONS if key.startswith(function))
        raise _refuse(node, f"choose one of {known}")
    return Call(name, (_expression(argument),))


def _cast(node: exp.Expression) -> Expression:
    _only(node, "this", "to")
    is_text = isinstance(node.this, exp.Literal) and node.this.is_string
    if isinstance(node, exp.TryCast) or not is_text or node.args["to"].this != exp.DataType.Type.DATE:
        raise _refuse(node)
    return Literal(node.this.this, is_date=True)


READERS: tuple[tuple[type[exp.Expression], Callable[[exp.Expression], Expression]], ...] = (
    (exp.Paren, lambda node: _expression(node.this)),
    (exp.Column, _column),
    (exp.Literal, _literal),
    (exp.Boolean, lambda node: Literal(bool(node.this))),
    (exp.Null, lambda node: Literal(None)),
    (exp.Like, _like),
    (exp.Between, _between),
    (exp.In, _in),
    (exp.Is, _is),
    (exp.Case, _case),
    (exp.Coalesce, _coalesce),
    (exp.Extract, _extract),
    (exp.TimestampTrunc, _truncate),
    (exp.DateTrunc, _truncate),
    (exp.Cast, _cast),
)
