"""From SQL text to a plan: an allow-list over every node, and proof by printing back.

sqlglot reads the text. Only node types named here are taken over, and only with the parts named here; everything else
is refused with its place and what to write instead. At the end the plan is printed and read again: if that
is not the tree it came from, something was lost on the way, and the question is refused. DuckDB's parser must read the
text as sqlglot does (`second_parser`).

Placeholders become constants of the tree before all that (`parameters`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from sfumato.errors import UnsupportedQuery
from sfumato.plan.syntax.from_clause import read_from
from sfumato.plan.syntax.functions import FUNCTIONS
from sfumato.plan.syntax.limits import (
    MAX_COLUMNS,
    MAX_JOINS,
    MAX_KEYS,
    MAX_NAMED,
    MAX_ORDERINGS,
    MAX_WRITTEN,
    TOO_DEEP,
    at_most,
    bounded,
)
from sfumato.plan.syntax.node import (
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
    Rows,
    Union,
    check_names_differ,
)
from sfumato.plan.syntax.parameters import LARGEST, LEAST, Parameters, bind_values
from sfumato.plan.syntax.parser_warnings import quietly
from sfumato.plan.syntax.registered import read_registered
from sfumato.plan.syntax.second_parser import check_same
from sfumato.plan.syntax.tree import (
    DEEPEST,
    bare,
    check_typed,
    name_of,
    only,
    read,
    read_raw,
    refuse,
    spelled,
)
from sfumato.plan.syntax.window import read_window

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

OPERATORS: dict[type[exp.Expression], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.EQ: "equal", exp.NEQ: "unequal",
    exp.LT: "less", exp.LTE: "at_most", exp.GT: "greater", exp.GTE: "at_least", exp.And: "and", exp.Or: "or",
}  # fmt: skip
UNARY: dict[type[exp.Expression], str] = {
    exp.Neg: "negate", exp.Not: "not", exp.Abs: "abs", exp.Floor: "floor", exp.Ceil: "ceil", exp.Round: "round",
}  # fmt: skip
CASTS = {exp.DataType.Type.BIGINT: "as_integer", exp.DataType.Type.DOUBLE: "as_double"}
DATED = (exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMPNTZ)  # TIMESTAMP without a zone
AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Variance: "variance", exp.VariancePop: "var_pop",
    exp.Stddev: "stddev", exp.StddevSamp: "stddev_samp", exp.StddevPop: "stddev_pop", exp.Median: "median",
    exp.Min: "min", exp.Max: "max",
}  # fmt: skip


def parse(text: str, parameters: Parameters = ()) -> Query:
    """The plan of a question, or a refusal that names what is not supported.

    >>> parse("select count(*) as n from people where age > 30").sql()
    'SELECT COUNT(*) AS "n" FROM "people" WHERE ("age" > 30)'

    `parameters` are the values of its placeholders: a sequence for `?`, a mapping for `:name` or `$name`.

    >>> parse("select count(*) as n from people where age > :age", {"age": 30}).sql()
    'SELECT COUNT(*) AS "n" FROM "people" WHERE ("age" > 30)'
    """
    with quietly(), bounded():
        check_typed(text)
        raw = read_raw(text)
        tree = spelled(raw.copy())
        bind_values(tree, parameters, (*OPERATORS, *UNARY, *AGGREGATES, exp.PercentileCont))
        plan = _query(tree, 0)
        _check_printed(plan, tree)
        check_same(text, raw)
        return plan


def _check_printed(plan: Query, tree: exp.Expression) -> None:
    """Refuse a plan that is not, when it is printed and read again, the tree that it came from."""
    written = plan.sql()
    if len(written) > MAX_WRITTEN:
        raise UnsupportedQuery(
            f"a question may have {MAX_WRITTEN:,} characters with its parameters filled in and all names in quotes; "
            f"got {len(written):,}; shorten it"
        )
    try:
        again = read(written)
    except UnsupportedQuery:  # it is sound SQL, so only its parentheses can be too many for the parser
        raise UnsupportedQuery(TOO_DEEP) from None
    if bare(again) != bare(tree):
        raise UnsupportedQuery("the question uses something that would be lost on the way; write it more simply")


def _query(tree: exp.Expression, depth: int) -> Query:
    if not isinstance(tree, exp.Select):
        raise refuse(tree, None if isinstance(tree, exp.SetOperation) else "ask with SELECT")
    if depth > DEEPEST:
        raise UnsupportedQuery(TOO_DEEP)
    only(tree, "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "distinct")
    at_most(MAX_COLUMNS, tree.expressions, "columns after SELECT")
    at_most(MAX_JOINS, tree.args.get("joins") or (), "joins after FROM")
    if tree.args.get("from_") is None:
        raise UnsupportedQuery("a question needs FROM and a table; got none")
    return Query(
        _outputs(tree),
        read_from(tree, lambda inside: _rows(inside, depth + 1), _expression),
        _optional(tree.args.get("where")),
        _groups(tree.args.get("group")),
        _optional(tree.args.get("having")),
        _orderings(tree.args.get("order")),
        _limit(tree.args.get("limit")),
        _ctes(tree.args.get("with_"), depth),
        _distinct(tree.args.get("distinct")),
    )


def _rows(tree: exp.Expression, depth: int) -> Rows:
    """A query in the place of a table: one SELECT, or several with UNION ALL between them."""
    if type(tree) is not exp.Union:
        return _query(tree, depth)
    if tree.args.get("distinct") is not False:
        raise refuse(tree, "UNION ALL keeps every row; take what is double out of it by GROUP BY with the unit")
    only(tree, "this", "expression", "distinct")
    before = _rows(tree.this, depth)
    return Union(((before,) if isinstance(before, Query) else before.parts) + (_query(tree.expression, depth),))


def _distinct(clause: exp.Expression | None) -> bool:
    if clause is not None:
        only(clause)
    return clause is not None


def _outputs(tree: exp.Select) -> tuple[Output, ...] | None:
    if len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star):
        only(tree.expressions[0])
        return None
    return tuple(_output(node) for node in tree.expressions)


def _output(node: exp.Expression) -> Output:
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        return Output(_expression(node.this), name_of(node.args["alias"]))
    return Output(_expression(node))


def _optional(clause: exp.Expression | None) -> Expression | None:
    if clause is None:
        return None
    only(clause, "this")
    return _expression(clause.this)


def _groups(clause: exp.Expression | None) -> tuple[Expression, ...]:
    if clause is None:
        return ()
    only(clause, "expressions")
    at_most(MAX_KEYS, clause.expressions, "keys after GROUP BY")
    return tuple(_expression(node) for node in clause.expressions)


def _orderings(clause: exp.Expression | None) -> tuple[Ordering, ...]:
    listed = () if clause is None else clause.expressions
    at_most(MAX_ORDERINGS, listed, "keys after ORDER BY")
    return tuple(map(_ordering, listed))


def _ordering(key: exp.Expression) -> Ordering:
    only(key, "this", "desc")
    if key.args.get("nulls_first"):
        raise refuse(key, "leave out NULLS FIRST")
    return Ordering(_expression(key.this), bool(key.args.get("desc")))


def _limit(clause: exp.Expression | None) -> int | None:
    if clause is None:
        return None
    only(clause, "expression")
    count = clause.expression
    if not isinstance(count, exp.Literal) or count.is_string or not count.this.isdecimal() or not count.this.isascii():
        raise refuse(clause, "LIMIT takes a whole number")
    return int(count.this)


def _ctes(clause: exp.Expression | None, depth: int) -> tuple[tuple[str, Rows], ...]:
    if clause is None:
        return ()
    only(clause, "expressions")
    at_most(MAX_NAMED, clause.expressions, "queries after WITH")
    named = []
    for cte in clause.expressions:
        only(cte, "this", "alias")
        only(cte.args["alias"], "this")
        named.append((name_of(cte.args["alias"].this), _rows(cte.this, depth + 1)))
    check_names_differ(name for name, _ in named)
    return tuple(named)


def _expression(node: exp.Expression | None) -> Expression:
    if node is None:
        raise UnsupportedQuery("a function was called without its argument; say of what, such as ABS(column)")
    for kind, reader in READERS:
        if type(node) is kind:
            return reader(node)
    if type(node) in OPERATORS:
        only(node, "this", "expression")
        return Call(OPERATORS[type(node)], (_expression(node.this), _expression(node.expression)))
    if type(node) in UNARY:
        only(node, "this")
        return Call(UNARY[type(node)], (_expression(node.this),))
    if type(node) in AGGREGATES:
        return _aggregate(node)
    if (registered := read_registered(node, _expression)) is not None:
        return registered
    raise refuse(node)


def _column(node: exp.Expression) -> Expression:
    only(node, "this", "table")
    if isinstance(node.this, exp.Star):
        raise refuse(node, "name the columns")
    table = node.args.get("table")
    return Column(name_of(node.this), None if table is None else name_of(table))


def _literal(node: exp.Expression) -> Expression:
    if node.args.get("is_string"):
        return Literal(node.this)
    if not _NUMBER.fullmatch(node.this):
        raise refuse(node, "write numbers in digits, such as 1000 or 0.5")
    # an exponent of nine digits would take hours to multiply out, also below 1 and before a zero
    number = Decimal(node.this)
    if not LEAST <= number <= LARGEST and not (number == 0 and -300 <= int(number.as_tuple().exponent) <= 300):
        raise refuse(node, "numbers lie between -1e300 and 1e300, and are 0 or at least 1e-300")
    return Literal(node.this, is_number=True)


def _aggregate(node: exp.Expression) -> Expression:
    only(node, "this")
    function, inside = AGGREGATES[type(node)], node.this
    if isinstance(inside, exp.Star) and function == "count":
        only(inside)
        return Aggregate(function)
    if isinstance(inside, exp.Distinct):
        only(inside, "expressions")
        return Aggregate(function, tuple(_expression(part) for part in inside.expressions), distinct=True)
    if inside is None:
        raise refuse(node, f"say what to aggregate: {function.upper()}(column)")
    return Aggregate(function, (_expression(inside),))


def _quantile(node: exp.Expression) -> Expression:
    only(node, "this", "expression")
    if node.expression is None:
        raise refuse(node, "write QUANTILE_CONT(column, 0.5), or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)")
    at = _expression(node.expression) if isinstance(node.expression, exp.Literal) else None
    if not isinstance(at, Literal) or not at.is_number or Decimal(str(at.value)) > 1:
        raise refuse(node, "a quantile is asked for one share of rows from 0 to 1: QUANTILE_CONT(column, 0.25), ...")
    if isinstance(node.this, exp.Distinct):
        raise refuse(node, "leave out DISTINCT")
    return Aggregate("quantile_cont", (_expression(node.this),), at=at)


def _like(node: exp.Expression) -> Expression:
    only(node, "this", "expression", "negate")
    like = Call("like", (_expression(node.this), _expression(node.expression)))
    return Call("not", (like,)) if node.args.get("negate") else like


def _between(node: exp.Expression) -> Expression:
    only(node, "this", "low", "high")
    return Call("between", tuple(_expression(node.args[part]) for part in ("this", "low", "high")))


def _in(node: exp.Expression) -> Expression:
    only(node, "this", "expressions")
    items = tuple(_signed(_expression(item)) for item in node.expressions)
    if not items or not all(isinstance(item, Literal) for item in items):
        raise refuse(node, "IN takes a list of constants, texts in single quotes: IN ('a', 'b')")
    return In(_expression(node.this), tuple(item for item in items if isinstance(item, Literal)))


def _signed(item: Expression) -> Expression:
    """A negative number as one constant."""
    match item:
        case Call("negate", (Literal(str(digits), is_number=True),)):
            return Literal(f"-{digits}", is_number=True)
    return item


def _is(node: exp.Expression) -> Expression:
    only(node, "this", "expression")
    if not isinstance(node.expression, exp.Null):
        raise refuse(node, "compare with = TRUE, or use IS NULL")
    return Call("is_null", (_expression(node.this),))


def _case(node: exp.Expression) -> Expression:
    if node.this is not None:
        raise refuse(node, "write CASE WHEN column = value THEN ...")
    only(node, "ifs", "default")
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
    branches = tuple((_expression(branch.this), _expression(branch.args["true"])) for branch in node.args["ifs"])
    default = node.args.get("default")
    return Case(branches, None if default is None else _expression(default))


def _coalesce(node: exp.Expression) -> Expression:
    only(node, "this", "expressions")
    if len(node.expressions) != 1:
        raise refuse(node, "COALESCE takes two arguments")
    return Call("coalesce", (_expression(node.this), _expression(node.expressions[0])))


def _extract(node: exp.Expression) -> Expression:
    only(node, "this", "expression")
    return _dated(node, "extract", node.this.name, node.expression)


def _truncate(node: exp.Expression) -> Expression:
    only(node, "this", "unit")
    return _dated(node, "truncate", node.args["unit"].name, node.this)


def _dated(node: exp.Expression, function: str, part: str, argument: exp.Expression) -> Expression:
    name = f"{function}_{part.lower()}"
    if name not in FUNCTIONS:
        known = ", ".join(key.split("_")[1] for key in FUNCTIONS if key.startswith(function))
        raise refuse(node, f"choose one of {known}")
    return Call(name, (_expression(argument),))


def _cast(node: exp.Expression) -> Expression:
    only(node, "this", "to")
    only(node.args["to"], "this")
    kind = node.args["to"].this
    if isinstance(node.this, exp.Literal) and node.this.is_string and kind in DATED:
        return Literal(node.this.this, is_date=kind == exp.DataType.Type.DATE, is_time=kind != exp.DataType.Type.DATE)
    if kind not in CASTS:
        raise refuse(node)
    return Call(CASTS[kind], (_expression(node.this),))


READERS: tuple[tuple[type[exp.Expression], Callable[[exp.Expression], Expression]], ...] = (
    (exp.Paren, lambda node: _expression(node.this)),
    (exp.Column, _column),
    (exp.Literal, _literal),
    (exp.Boolean, lambda node: Literal(bool(node.this))),
    (exp.Null, lambda node: Literal(None)),
    (exp.PercentileCont, _quantile),
    (exp.Like, _like),
    (exp.Between, _between),
    (exp.In, _in),
    (exp.Is, _is),
    (exp.Case, _case),
    (exp.Coalesce, _coalesce),
    (exp.Window, lambda node: read_window(node, _expression)),
    (exp.Extract, _extract),
    (exp.TimestampTrunc, _truncate),
    (exp.DateTrunc, _truncate),
    (exp.Cast, _cast),
)
