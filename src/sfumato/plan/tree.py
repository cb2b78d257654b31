"""SQL text as a tree of sqlglot, and what is refused of it: with its name, its place, and what to write instead."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from sfumato.errors import UnsupportedQuery

DIALECT = "duckdb"
LONGEST = 100_000
DEEPEST = 100  # of a tree, so that no walk over it is stopped by Python
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
    exp.SetOperation: "ask two questions",
    exp.Exists: "filter by the columns of the one table",
    exp.Placeholder: "write the value into the question",
    exp.Distinct: "GROUP BY the columns instead",
    exp.Star: "name the columns",
    exp.Median: "AVG for now",
    exp.Filter: "put the condition into CASE WHEN inside the aggregate",
    exp.Subquery: "a sub-query may only stand after FROM",
    exp.Cast: "compare numbers with numbers and dates with DATE 'yyyy-mm-dd'",
}


def read(text: str) -> exp.Expression:
    """The tree of one statement, not too long and not too deep."""
    if not isinstance(text, str) or not _encodes(text):
        raise UnsupportedQuery("a question must be text in Unicode; got something else; write it as SQL")
    if len(text) > LONGEST:
        raise UnsupportedQuery(f"a question may have {LONGEST:,} characters; got {len(text):,}; shorten it")
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect=DIALECT) if isinstance(tree, exp.Expression)]
    except Exception as error:  # sqlglot trips over some odd calls with errors of its own
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
    return "it ends too early, nests too deeply, or calls a function in an unknown way"


def bare(tree: exp.Expression) -> exp.Expression:
    """A copy without parentheses, spelling of names and notes, for comparison."""
    copied = tree.copy()
    for node in reversed(list(copied.walk())):  # what is inside first
        node.comments = None
        for note in NOTES & set(node.args):
            node.set(note, None)
        if isinstance(node, exp.Paren):
            node.replace(node.this)
        elif isinstance(node, exp.Identifier):
            node.set("this", node.name if node.quoted else node.name.lower())
            node.set("quoted", True)
        elif isinstance(node, exp.Like) and node.args.get("negate"):
            node.replace(exp.Not(this=exp.Like(this=node.this, expression=node.expression)))
    return copied


def refuse(node: exp.Expression, why: str | None = None) -> UnsupportedQuery:
    """The refusal of a node: what it is, where it stands, and what to write instead."""
    line, column = node.meta.get("line"), node.meta.get("col")
    for child in node.walk():
        if line is None:
            line, column = child.meta.get("line"), child.meta.get("col")
    place = f" (line {line}, column {column})" if line else ""
    instead = why or next((words for kind, words in INSTEAD.items() if isinstance(node, kind)), "write it differently")
    try:
        written = node.sql(DIALECT)
    except Exception:  # sqlglot cannot print all that it reads
        written = node.key
    return UnsupportedQuery(f"{node.key.upper()} is not answered{place}: {written[:80]}; {instead}")


def only(node: exp.Expression, *parts: str) -> None:
    """Refuse a node with parts beyond those that are taken over."""
    for name, value in node.args.items():
        if value not in (None, [], False, "") and name not in parts and name not in NOTES:
            part = value if isinstance(value, exp.Expression) else node
            raise refuse(part, PARTS.get(name, f"leave out {name.strip('_').upper()}"))


def name_of(identifier: exp.Expression | None) -> str:
    """A name, in lower case unless it was quoted."""
    if not isinstance(identifier, exp.Identifier):
        raise UnsupportedQuery("a name was expected; got something else; name every sub-query and column plainly")
    return identifier.name if identifier.quoted else identifier.name.lower()
