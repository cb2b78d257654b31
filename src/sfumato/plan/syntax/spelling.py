"""Other ways of writing the same, spelled out: MONTH(d) is EXTRACT(MONTH FROM d).

Each rule looks at every part of its node and leaves one alone that has more, which is then refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

MOST_DIGITS = 15  # of ROUND, as many as a double has
# What sqlglot notes beside the meaning: how a function was spelled, or what follows from the dialect.
NOTES = {"big_int", "typed", "safe", "nulls_first", "_type"}
FILTERED = (exp.Count, exp.Sum, exp.Avg, exp.Median, exp.Min, exp.Max, exp.PercentileCont)
_SHARE = re.compile(r"0|1|0?\.[0-9]{1,15}|1\.0{1,15}|0\.")


def spell_out(tree: exp.Expression) -> None:
    """Replace other ways of writing the same, in place."""
    for node in reversed(list(tree.walk())):  # what is inside first
        rule = SPELLED_OUT.get(type(node))
        plain = None if rule is None or node.parent is None else rule(node)
        if plain is not None:
            node.replace(plain)


def _has(node: exp.Expression, *parts: str) -> bool:
    return all(name in parts or name in NOTES or value in (None, [], False) for name, value in node.args.items())


def _when(condition: exp.Expression, value: exp.Expression, otherwise: exp.Expression | None = None) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def _date_part(node: exp.Expression) -> exp.Expression | None:
    """MONTH(d) as EXTRACT(MONTH FROM d)."""
    return exp.Extract(this=exp.Var(this=node.key.upper()), expression=node.this) if _has(node, "this") else None


def _named(node: exp.Expression) -> exp.Expression | None:
    """DATE_PART('month', d) as EXTRACT, and MEAN(x) as AVG."""
    match node.name.lower(), node.expressions:
        case "date_part" | "datepart", [exp.Literal(is_string=True) as part, date]:
            return exp.Extract(this=exp.Var(this=part.name.upper()), expression=date)
        case "mean", [exp.Expression() as value] if not isinstance(value, exp.Distinct):
            return exp.Avg(this=value)
    return None


def _count_if(node: exp.Expression) -> exp.Expression | None:
    """COUNT_IF(c) as COUNT of CASE WHEN c."""
    if not _has(node, "this") or isinstance(node.this, exp.Distinct):
        return None
    return exp.Count(this=_when(node.this, exp.Literal.number(1)))


def _filtered(node: exp.Expression) -> exp.Expression | None:
    """SUM(x) FILTER (WHERE c) as SUM of CASE WHEN c THEN x, and so for the others."""
    aggregate, clause = node.this, node.args.get("expression")
    if not _has(node, "this", "expression") or not isinstance(clause, exp.Where) or not _has(clause, "this"):
        return None
    if type(aggregate) not in FILTERED or not _has(aggregate, "this", "expression"):
        return None
    inside = aggregate.this
    if isinstance(inside, exp.Star) and isinstance(aggregate, exp.Count) and _has(inside):
        inside = exp.Literal.number(1)
    if inside is None or isinstance(inside, (exp.Star, exp.Distinct)):
        return None
    filtered: exp.Expression = aggregate.copy()
    filtered.set("this", _when(clause.this, inside))
    return filtered


def _approximate(node: exp.Expression) -> exp.Expression | None:
    """APPROX_COUNT_DISTINCT(x) as COUNT(DISTINCT x)."""
    return exp.Count(this=exp.Distinct(expressions=[node.this])) if _has(node, "this") else None


def _quantile(node: exp.Expression) -> exp.Expression | None:
    """QUANTILE(x, 0.5), APPROX_QUANTILE(x, 0.5) and QUANTILE_DISC(x, 0.5) as QUANTILE_CONT(x, 0.5): all are noisy."""
    share = node.args.get("quantile") or node.args.get("expression")
    if share is None or not _has(node, "this", "quantile", "expression"):
        return None
    return exp.PercentileCont(this=node.this, expression=share)


def _within_group(node: exp.Expression) -> exp.Expression | None:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) as QUANTILE_CONT(x, 0.5); falling order counts from above."""
    quantile, order = node.this, node.args.get("expression")
    if not isinstance(quantile, (exp.PercentileCont, exp.PercentileDisc)) or not isinstance(order, exp.Order):
        return None
    share, keys = quantile.this, order.expressions
    plain = _has(node, "this", "expression") and _has(quantile, "this") and _has(order, "expressions")
    if not plain or len(keys) != 1 or not _has(keys[0], "this", "desc") or not isinstance(share, exp.Literal):
        return None
    if keys[0].args.get("desc"):
        if share.is_string or not _SHARE.fullmatch(share.name):
            return None
        share = exp.Literal.number(str(1 - Decimal(share.name)))
    return exp.PercentileCont(this=keys[0].this, expression=share)


def _if(node: exp.Expression) -> exp.Expression | None:
    """IF(c, a, b) as CASE WHEN; the branches of a CASE are of this class too, and stay."""
    if node.arg_key == "ifs" or not _has(node, "this", "true", "false"):
        return None
    if node.args.get("true") is None or node.args.get("false") is None:
        return None
    return _when(node.this, node.args["true"], node.args["false"])


def _compared(node: exp.Expression) -> exp.Expression | None:
    """CASE k WHEN 1 as CASE WHEN k = 1, where k is a column: a longer expression would be copied too often."""
    if not isinstance(node.this, exp.Column) or not _has(node, "this", "ifs", "default"):
        return None
    for branch in node.args["ifs"]:
        branch.set("this", exp.EQ(this=node.this.copy(), expression=branch.this))
    spelled: exp.Expression = exp.Case(ifs=node.args["ifs"], default=node.args.get("default"))
    return spelled


def _rounded(node: exp.Expression) -> exp.Expression | None:
    """ROUND(x, 2) as ROUND(x * 100) / 100."""
    digits = node.args.get("decimals")
    sign, number = (-1, digits.this) if isinstance(digits, exp.Neg) else (1, digits)
    if not _has(node, "this", "decimals") or not isinstance(number, exp.Literal) or not number.is_int:
        return None
    places = sign * int(number.name)
    if number.is_string or abs(places) > MOST_DIGITS:
        return None
    scale, back = (exp.Mul, exp.Div) if places >= 0 else (exp.Div, exp.Mul)
    power = exp.Literal.number(10 ** abs(places))
    if places == 0:
        return exp.Round(this=node.this)
    return back(this=exp.Round(this=scale(this=node.this, expression=power)), expression=power.copy())


def _coalesced(node: exp.Expression) -> exp.Expression | None:
    """COALESCE(a, b, c) as COALESCE(a, COALESCE(b, c))."""
    if not _has(node, "this", "expressions") or len(node.expressions) < 2:
        return None
    *before, last = node.expressions
    for value in reversed(before):
        last = exp.Coalesce(this=value, expressions=[last])
    return exp.Coalesce(this=node.this, expressions=[last])


def _integer(node: exp.Expression) -> exp.Expression | None:
    """CAST(x AS INTEGER) as one to BIGINT: a number is never cut to its width."""
    if not _has(node, "this", "to") or node.args.get("to") != exp.DataType.build("int"):
        return None
    return exp.Cast(this=node.this, to=exp.DataType(this=exp.DataType.Type.BIGINT, nested=False))


SPELLED_OUT: dict[type[Any], Callable[[Any], exp.Expression | None]] = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour), _date_part),
    exp.Anonymous: _named,
    exp.CountIf: _count_if,
    exp.Filter: _filtered,
    **dict.fromkeys((exp.Quantile, exp.ApproxQuantile, exp.PercentileDisc), _quantile),
    exp.WithinGroup: _within_group,
    exp.ApproxDistinct: _approximate,
    exp.If: _if,
    exp.Case: _compared,
    exp.Round: _rounded,
    exp.Coalesce: _coalesced,
    exp.Cast: _integer,
}
