"""When two trees of DuckDB's parser mean the same: without places in the text, and with one spelling for each thing.

Each rule below undoes one habit of sqlglot's printer (`CEILING` becomes `CEIL`, `x IS NOT NULL` becomes `NOT x IS
NULL`), and none drops an argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLACES = ("query_location", "query_location_length", "qualified_name")
# What sqlglot reads as one function, by the name under which it prints it.
_NAMES = {
    "@": "abs",
    "ceiling": "ceil",
    "countif": "count_if",
    "approx_distinct": "approx_count_distinct",
    "percentile_cont": "quantile_cont",
    "percentile_disc": "quantile_disc",
    "datetrunc": "date_trunc",
    "datepart": "date_part",
    "iif": "if",
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "stdev": "stddev",
    "var_samp": "variance",
    "variance_samp": "variance",
    "variance_pop": "var_pop",
}
_PARTS_OF_TIME = ("date_trunc", "date_part")  # their first argument is a word in quotes, of any case
_NULL = {"class": "CONSTANT", "type": "VALUE_CONSTANT", "literal": {"kind": "NULL_LITERAL"}}

Tree = Any  # what JSON gives: dictionaries, lists, texts, numbers


def plain(tree: Tree) -> Tree:
    """The same tree in the one spelling that two parsers must agree on."""
    if isinstance(tree, list):
        return [plain(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    node = {name: plain(part) for name, part in tree.items() if name not in _PLACES or _is_qualified(name, part)}
    match node:
        case {"class": "FUNCTION", "function_name": str(name)}:
            return _function({**node, "is_operator": node.get("is_operator") and name != "@"}, _NAMES.get(name, name))
        case {"type": "OPERATOR_IS_NOT_NULL", "children": children}:
            return _not({**node, "type": "OPERATOR_IS_NULL", "children": children}, node)
        case {"kind": "NUMERIC", "text": str(digits)} if digits.startswith("."):
            return {**node, "text": f"0{digits}"}
        case {"null_order": "NULLS LAST"}:
            return {**node, "null_order": "ORDER_DEFAULT"}  # which is DuckDB's
    return node


def _is_qualified(name: str, part: Tree) -> bool:
    """Whether a function is named with its schema, which sqlglot must have kept."""
    return name == "qualified_name" and len(part.get("path", ())) > 1


def _function(node: dict[str, Any], name: str) -> Tree:
    arguments = node.get("arguments", [])
    if name == "if" and len(arguments) in (2, 3) and not _has_more(node):
        when, then, *otherwise = (argument["expression"] for argument in arguments)
        checks = [{"when_expr": when, "then_expr": then}]
        alias = {"alias": node["alias"]} if "alias" in node else {}
        return {
            "class": "CASE",
            "type": "CASE_EXPR",
            **alias,
            "case_checks": checks,
            "else_expr": (*otherwise, _NULL)[0],
        }
    if name == "coalesce" and len(arguments) == 2 and not _has_more(node):
        children = [argument["expression"] for argument in arguments]
        return _renamed({"class": "OPERATOR", "type": "OPERATOR_COALESCE", "children": children}, node)
    if name in ("quantile_cont", "quantile_disc") and len(arguments) == 1:  # WITHIN GROUP
        orders = node.get("order_bys", {}).get("orders", [])
        arguments = [{"expression": orders[0]["expression"]}, *arguments] if len(orders) == 1 else arguments
    if name == "+" and len(arguments) == 1:
        return _renamed(arguments[0]["expression"], node)
    if name == "!~~":  # NOT LIKE
        return _not({**node, "function_name": "~~"}, node)
    if name in _PARTS_OF_TIME and len(arguments) == 2:
        arguments = [_in_capitals(arguments[0]), arguments[1]]
    return {**node, "function_name": name, **({"arguments": arguments} if arguments else {})}


def _has_more(node: Mapping[str, Any]) -> bool:
    """Whether a call has a FILTER, DISTINCT or an order inside."""
    return "filter" in node or bool(node.get("distinct")) or "orders" in node.get("order_bys", {})


def _not(inside: dict[str, Any], node: Mapping[str, Any]) -> Tree:
    inside = {name: part for name, part in inside.items() if name != "alias"}
    return _renamed({"class": "OPERATOR", "type": "OPERATOR_NOT", "children": [inside]}, node)


def _renamed(tree: Tree, node: Mapping[str, Any]) -> Tree:
    """A tree under the alias of the node that it stands for."""
    return {**tree, "alias": node["alias"]} if "alias" in node else tree


def _in_capitals(argument: dict[str, Any]) -> dict[str, Any]:
    match argument:
        case {"expression": {"literal": {"kind": "STRING", "text": str(text)} as literal} as constant}:
            return {"expression": {**constant, "literal": {**literal, "text": text.upper()}}}
    return argument
