"""A second parser must read a question as the first one does: DuckDB's own, which loses no token of a text.

sqlglot is lenient: it forgets a third argument, a comma that separates nothing, a word that it does not know. So the
tree that it made is printed with every operator in parentheses, and DuckDB must understand that as it understands the
text itself. Then no token was lost and no operator bound differently. Where the two disagree, nothing is answered and
nothing is charged.

DuckDB parses without any data: an empty database in memory, without access to files and without extensions.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import TokenType

from sfumato.embedded.database import Database
from sfumato.errors import EngineUnavailable, UnsupportedQuery
from sfumato.plan.syntax.same_tree import Tree, plain
from sfumato.plan.syntax.syntax_errors import DIALECT

_CLOSED = (
    "SET autoload_known_extensions = false",
    "SET autoinstall_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_TREE = "json_serialize_sql(?::VARCHAR, skip_null := true, skip_empty := true)"
_RESERVED = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
_NOT_NOW = "DuckDB cannot parse the question now; nothing was charged; free some memory, then ask again"
# Operators, whose parts another parser might bind differently: every one that a question may have.
_OPERATORS = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or,
    exp.Not, exp.Like, exp.Is, exp.Between, exp.In,
)  # fmt: skip
# Names to version 0.1 and mostly to PostgreSQL, words of SQL to DuckDB; none of them joins, begins or ends anything.
_NAMES = frozenset(
    (
        "at",
        "both",
        "columns",
        "describe",
        "generated",
        "glob",
        "map",
        "only",
        "positional",
        "show",
        "struct",
        "summarize",
    )
)
# After one of these a colon names a column (n: COUNT(*)); else it begins a placeholder (:name).
_VALUES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN)


# Prints a tree as it was read: by itself sqlglot would write COUNT(DISTINCT a, b) differently.
_PRINTER: Any = type("_Printer", (DuckDB.Generator,), {"MULTI_ARG_DISTINCT": True})


class _Reader:
    """DuckDB's parser behind one connection, for all threads of a process."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.connection = Database(settings={"threads": 1}, spills=False).connection
        for setting in _CLOSED:
            self.connection.execute(setting)

    def rows(self, sql: str, *values: str) -> list[Any]:
        """What a statement gives."""
        with self.lock:
            found: list[Any] = self.connection.execute(sql, list(values)).fetchall()
        return found


_READERS: list[_Reader] = []  # the last one is in use; one of a parent process is kept, since its locks may be held


def _rows(sql: str, *values: str) -> list[Any]:
    import duckdb

    try:
        if not _READERS or _READERS[-1].process != os.getpid():
            _READERS.append(_Reader())
    except duckdb.Error:
        raise EngineUnavailable(_NOT_NOW) from None
    try:
        return _READERS[-1].rows(sql, *values)
    except duckdb.OutOfMemoryException:
        raise EngineUnavailable(_NOT_NOW) from None
    except duckdb.Error:  # a defect of DuckDB closes its database, so another one is made for the next question
        _READERS.pop()
        raise UnsupportedQuery("DuckDB's parser fails on the question; write it more simply") from None


def check_same(text: str, tree: exp.Expression) -> None:
    """Refuse a text of which sqlglot's tree, before any part of it was changed, is not what DuckDB reads.

    The tree is changed in place.
    """
    read, written = _parsed(_with_placeholders(text, tree), _printed(tree))
    if read.get("error"):
        (quoted,) = _parsed(_with_placeholders(_with_quoted_names(text, tree), tree))
        read = read if quoted.get("error") else quoted
    if read.get("error"):
        raise UnsupportedQuery(f"this is not SQL that can be read: {_stumbled(text, read)}")
    first, second = plain(read), plain(written)
    if first != second:
        raise UnsupportedQuery(_disagreement(*_difference(first, second)))


def _parsed(*texts: str) -> list[dict[str, Any]]:
    """What DuckDB reads in each text, as data; of one that it cannot read, what it says of it."""
    return [json.loads(tree) for tree in _rows(f"SELECT {', '.join([_TREE] * len(texts))}", *texts)[0]]


def _printed(tree: exp.Expression) -> str:
    """The tree as SQL: all names in quotes, all operators in parentheses, placeholders by name."""
    for node in reversed(list(tree.walk())):  # what is inside first
        if isinstance(node, exp.Placeholder):
            node.set("this", _placeholder(node.name))
        elif isinstance(node, _OPERATORS) and node.parent is not None and not isinstance(node.parent, exp.Paren):
            around = exp.Paren()
            node.replace(around)
            around.set("this", node)
    return str(_PRINTER(dialect=Dialect.get_or_raise(DIALECT), identify=True, comments=False).generate(tree))


def _placeholder(name: str) -> str:
    """The name of a placeholder for DuckDB; ?1 is the first that has none."""
    return f"number_{name[1:]}" if name.startswith("?") else name


def _with_placeholders(text: str, tree: exp.Expression) -> str:
    """The text with placeholders in the one way that DuckDB knows beside ?, which is $name."""
    if tree.find(exp.Placeholder) is None:
        return text
    tokens = Dialect.get_or_raise(DIALECT).tokenize(text)
    changed, done, number = "", 0, 0
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.PLACEHOLDER:
            number += 1
            written = f"${_placeholder(f'?{number}')}"
        elif token.token_type is TokenType.COLON and tokens[place - 1].token_type not in _VALUES:
            written = "$"
        else:
            continue
        changed, done = f"{changed}{text[done : token.start]}{written}", token.end + 1
    return changed + text[done:]


def _with_quoted_names(text: str, tree: exp.Expression) -> str:
    """The text with quotes around names that DuckDB alone takes for words of SQL."""
    names = {
        (int(node.meta["start"]), int(node.meta["end"]) + 1)
        for node in tree.find_all(exp.Identifier)
        if "start" in node.meta and not node.args.get("quoted") and node.name.lower() in _NAMES
    }
    changed, done = "", 0
    for start, end in sorted(names):
        changed, done = f'{changed}{text[done:start]}"{text[start:end]}"', end
    return changed + text[done:]


def _reserved() -> frozenset[str]:
    """The words that are no names in SQL."""
    return frozenset(str(word) for (word,) in _rows(_RESERVED))


def _stumbled(text: str, read: Mapping[str, Any]) -> str:
    """What DuckDB says of a text that it cannot read, in our words where that is possible."""
    said, place = str(read.get("error_message")), ""
    word = re.search(r'at or near "(.*)"$', said, re.DOTALL)
    if "position" in read and text.isascii():
        start = int(read["position"])
        place = f" (line {text.count(chr(10), 0, start) + 1}, column {start - text.rfind(chr(10), 0, start)})"
    if word is None:
        return f"{said}{place}"
    hint = f'; as a name it is written in double quotes: "{word[1]}"' if word[1].lower() in _reserved() else ""
    return f"{word[1]} was not expected there{place}{hint}"


def _difference(first: Tree, second: Tree) -> tuple[Tree, Tree]:
    """The innermost parts in which two trees differ, or the last ones that can still be compared."""
    match first, second:
        case dict(), dict() if first.keys() == second.keys():
            inside = [(first[name], second[name]) for name in first if first[name] != second[name]]
        case list(), list() if len(first) == len(second):
            inside = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
        case _:
            return first, second
    part = inside[0]
    deeper = isinstance(part[0], dict) or (isinstance(part[0], list) and len(part[0]) == len(part[1]))
    return _difference(*part) if len(inside) == 1 and deeper else (first, second)


def _disagreement(first: Tree, second: Tree) -> str:
    """Why a question is refused that two parsers read differently."""
    match first, second:
        case {"function_name": str(name), "arguments": [*given]}, {
            "function_name": str(same),
            "arguments": [*taken],
        } if name == same and len(given) > len(taken):
            takes = "one argument" if len(taken) == 1 else f"{len(taken)} arguments"
            return f"{name.upper()} takes {takes}; got {len(given)}; leave out what is too much"
    return (
        "two parsers read the question differently, so a part of it is out of place or would be lost; write it more "
        "simply, and put parentheses around what belongs together"
    )
