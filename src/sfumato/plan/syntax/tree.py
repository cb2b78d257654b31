"""SQL text as a tree of sqlglot, and what is refused of it: as it was written, its place, and what to write instead."""

from __future__ import annotations

import itertools
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sfumato.errors import UnsupportedQuery
from sfumato.phrases import Action, Phrase
from sfumato.plan.syntax.limits import TOO_DEEP
from sfumato.plan.syntax.spelling import MOST_DIGITS, NOTES, spell_out
from sfumato.plan.syntax.syntax_errors import DIALECT, stumbled

LONGEST = 100_000  # characters of a question as it was typed, with comments and without values of parameters
_NEAR = 100  # characters before its first name or constant in which a construct begins
_AFTER_A_LIST = (
    TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
    TokenType.ORDER_BY, TokenType.LIMIT, TokenType.SEMICOLON, TokenType.UNION, TokenType.END,
)  # fmt: skip
DEEPEST = 100  # of a tree, so that no walk over it is stopped by Python
JOINS = "tables are joined by JOIN, LEFT JOIN, SEMI JOIN or ANTI JOIN with ON or USING"
PARTS = {
    "joins": JOINS,
    "laterals": JOINS,
    "db": "write the table's name without a schema",
    "catalog": "write the table's name without a schema",
    "query": "IN takes a list of constants; rows of another table are sought by SEMI JOIN or ANTI JOIN with "
    "ON, of a public one by JOIN",
    "field": "a name with a space is written in double quotes, and after IN stands a list: IN ('a', 'b')",
    "distinct": "GROUP BY the columns instead",
    "decimals": f"ROUND takes a constant number of digits from -{MOST_DIGITS} to {MOST_DIGITS}, FLOOR and CEIL none",
    "sample": "the whole table is asked; noise protects, not sampling",
    "windows": "windows over private rows are not supported",
    "method": JOINS,
    "on": "GROUP BY the columns instead",
    "qualify": "leave out QUALIFY; filter groups with HAVING",
    "offset": "leave out OFFSET",
    "all": "name the columns after GROUP BY",
    "rollup": "ask one question for each grouping",
    "cube": "ask one question for each grouping",
    "grouping_sets": "ask one question for each grouping",
    "totals": "leave out WITH TOTALS; ask for the total in a second question",
    "recursive": "leave out RECURSIVE",
    "into": Phrase("leave out INTO; ", Action("an answer has to_csv, to_pandas and more")),
    "expressions": "it takes one argument",
    "symmetric": "leave out SYMMETRIC",
    "locks": "leave out FOR UPDATE; nothing is changed",
    **dict.fromkeys(("except_", "replace", "rename"), "name the columns"),
    "columns": "name the columns in the sub-query: SELECT x AS a",
}
_AGGREGATE = "COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE_CONT, MIN and MAX are answered, other aggregates not"
_UPPER = "compare with LIKE or IN, or name both spellings in CASE WHEN"
_TODAY = "write the day as DATE 'yyyy-mm-dd'; an answer must not depend on the clock"
_TEXTS = "texts are compared as they are: =, IN, LIKE"
_SHOWN = 80  # characters of what is refused
INSTEAD: dict[type[Any], str] = {
    exp.Window: "aggregate by group instead; windows over private rows are not supported; for a share of the total "
    "divide by SUM(COUNT(*)) OVER (), or use share_of_total of the answer",
    exp.Join: JOINS,
    exp.SetOperation: "ask two questions; units that are in a second table, or not in it, are sought by SEMI JOIN or "
    "ANTI JOIN",
    exp.Exists: "join instead, by the columns of the unit: FROM a SEMI JOIN b ON a.unit = b.unit, or ANTI JOIN for NOT "
    "EXISTS",
    exp.Distinct: "GROUP BY the columns instead",
    exp.Star: "name the columns",
    exp.Filter: "put the condition into WHERE, or into CASE WHEN inside the aggregate",
    exp.Subquery: "a sub-query may only stand after FROM; a number of all people is asked for first, then written as a "
    "constant",
    exp.Cast: "numbers are cast to INTEGER or DOUBLE; a day is DATE_TRUNC('day', column), a constant DATE 'yyyy-mm-dd'",
    exp.IntDiv: "write FLOOR(a / b)",
    exp.Mod: "write a - FLOOR(a / b) * b",
    exp.Pow: "multiply: a * a",
    exp.ILike: _UPPER,
    exp.Lower: _UPPER,
    exp.Upper: _UPPER,
    exp.RegexpLike: "use LIKE with % and _",
    exp.SimilarTo: "use LIKE with % and _",
    exp.DPipe: _TEXTS,
    exp.Concat: _TEXTS,
    exp.Substring: _TEXTS,
    exp.Length: _TEXTS,
    exp.TimeToStr: "use DATE_TRUNC('month', column) or EXTRACT(MONTH FROM column)",
    exp.Rollup: "ask one question for each grouping",
    exp.Cube: "ask one question for each grouping",
    exp.GroupingSets: "ask one question for each grouping",
    exp.CurrentDate: _TODAY,
    exp.CurrentTimestamp: _TODAY,
    exp.Interval: _TODAY,
    **dict.fromkeys(
        (exp.DateDiff, exp.TimestampDiff),
        "days between dates are not counted; compare them, or take parts such as EXTRACT(YEAR FROM column)",
    ),
    exp.Nullif: "use CASE WHEN",
    exp.Greatest: "use CASE WHEN",
    exp.Least: "use CASE WHEN",
    exp.If: "use CASE WHEN",
    exp.Struct: "a value is given by a placeholder, ? or :name",
    exp.Tuple: "write the columns one by one",
    exp.Var: "name the columns",
    exp.AggFunc: _AGGREGATE,
    exp.WithinGroup: _AGGREGATE,
}
BY_NAME = {
    **dict.fromkeys(("now", "today", "get_current_time"), _TODAY),
    **dict.fromkeys(("date_part", "datepart"), "use EXTRACT(MONTH FROM column)"),
}


def check_typed(text: str) -> None:
    """Refuse what is no text, or too long a one: as it was typed, with its comments, before values are filled in."""
    if not isinstance(text, str) or not encodes(text):
        raise UnsupportedQuery("a question must be text in Unicode; got something else; write it as SQL")
    if len(text) > LONGEST:
        raise UnsupportedQuery(f"a question may have {LONGEST:,} characters; got {_counted(text)}; shorten it")


def _counted(text: str) -> str:
    return f"{len(text):,}" if len(text) > LONGEST + 1 else "more"  # a reader of files stops there


def read(text: str) -> exp.Expression:
    """The tree of one statement, spelled out, not too deep."""
    return spelled(read_raw(text))


def read_raw(text: str) -> exp.Expression:
    """The tree of one statement as sqlglot reads it."""
    try:
        trees = [tree for tree in _trees(text) if isinstance(tree, exp.Expression)]
    except UnsupportedQuery:
        raise
    except RecursionError:
        raise UnsupportedQuery(TOO_DEEP) from None
    except Exception as error:  # sqlglot trips over some odd calls with errors of its own
        raise UnsupportedQuery(f"this is not SQL that can be read: {stumbled(text, error)}") from None
    if len(trees) != 1:
        raise UnsupportedQuery(f"ask one SELECT at a time; got {len(trees)} statements")
    trees[0].meta["text"] = text
    if _depth(trees[0]) > 2 * DEEPEST:  # every level may come with a pair of parentheses
        raise UnsupportedQuery(TOO_DEEP)
    return trees[0]


def spelled(tree: exp.Expression) -> exp.Expression:
    """The same tree, other ways of writing spelled out in it."""
    spell_out(tree)
    if _depth(tree) > 2 * DEEPEST:
        raise UnsupportedQuery(TOO_DEEP)
    return tree


def _trees(text: str) -> list[Any]:
    """The statements of a text; every ? is numbered, since a tree does not keep the order in which it was written."""
    dialect, tokens, number = sqlglot.Dialect.get_or_raise(DIALECT), [], itertools.count(1)
    read = dialect.tokenize(text)
    _check_commas(text, read)
    for token in read:
        if token.token_type is TokenType.PLACEHOLDER:
            place = token.line, token.col, token.start, token.end
            tokens += [Token(TokenType.PARAMETER, "?", *place), Token(TokenType.NUMBER, f"?{next(number)}", *place)]
        else:
            tokens.append(token)
    return dialect.parser().parse(tokens, text)


def _check_commas(text: str, tokens: list[Token]) -> None:
    """Refuse a comma that separates nothing: parsers pass over it, and what was meant to follow it is missing."""
    for token, following in itertools.pairwise([*tokens, None]):
        if token is None or token.token_type is not TokenType.COMMA:
            continue
        if following is None or following.token_type in _AFTER_A_LIST:
            raise UnsupportedQuery(
                f"a comma is followed by nothing{_at(text, token.start)}; leave it out, or go on after it"
            )


def encodes(text: str) -> bool:
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


def bare(tree: exp.Expression) -> exp.Expression:
    """The same tree, changed in place: without parentheses, spelling of names and notes, for comparison."""
    for node in reversed(list(tree.walk())):  # what is inside first
        node.comments = None
        for note in NOTES & set(node.args):
            node.set(note, None)
        if isinstance(node, exp.Paren):
            node.replace(node.this)
        elif isinstance(node, exp.Identifier):
            node.set("this", node.name.lower())
            node.set("quoted", True)
        elif isinstance(node, exp.Join):  # JOIN is INNER JOIN, LEFT JOIN is LEFT OUTER JOIN
            spelled = str(node.args.get("kind") or "").upper()
            node.set("kind", None if spelled in ("", "INNER", "OUTER") else spelled)
            node.set("side", None if spelled in ("SEMI", "ANTI") else node.args.get("side") or None)
        elif isinstance(node, exp.Like) and node.args.get("negate"):
            node.replace(exp.Not(this=exp.Like(this=node.this, expression=node.expression)))
    return tree


def refuse(node: exp.Expression, why: str | None = None) -> UnsupportedQuery:
    """The refusal of a node: what it is, where it stands, and what to write instead."""
    hints = [BY_NAME.get(str(node.this).lower())] if isinstance(node, exp.Anonymous) else []
    hints += [words for kind, words in INSTEAD.items() if isinstance(node, kind)]
    written = _written(node)
    if instead := why or next((words for words in hints if words), None):
        shown = written if len(written) <= _SHOWN else f"{written[:_SHOWN].rstrip()}…"
        return UnsupportedQuery(f"{shown} is not supported{_place(node)}", fix=instead)
    name, bracket, _ = written.partition("(")
    is_function = isinstance(node, exp.Func) and bool(bracket) and name.isidentifier()
    known = name if is_function else written[:_SHOWN]
    inside = any(isinstance(each, exp.AggFunc) for child in node.iter_expressions() for each in child.walk())
    on_results = is_function and inside and node.find_ancestor(exp.AggFunc) is None
    helps = "Apply it to the result in Python." if on_results else "Write it differently."
    return UnsupportedQuery(f"{known} is not supported yet{_place(node)}.", fix=helps)


def _written(node: exp.Expression) -> str:
    try:
        return node.sql(DIALECT) or "this"
    except Exception:  # sqlglot cannot print all that it reads
        return "this"


def _place(node: exp.Expression) -> str:
    """Where a node begins in the analyst's text, as line and column from 1."""
    text = str(node.root().meta.get("text", ""))
    start = _start(node, text)
    if start is None:
        return ""
    return _at(text, start)


def _at(text: str, start: int) -> str:
    return f" (line {text.count(chr(10), 0, start) + 1}, column {start - text.rfind(chr(10), 0, start)})"


def _start(node: exp.Expression, text: str) -> int | None:
    """The offset of a node; sqlglot knows those of names and constants, and words may stand before the first one."""
    starts = [int(each.meta["start"]) for each in node.walk() if "start" in each.meta]
    written = _written(node)
    if not starts:
        return text.upper().find(written.upper()) if text.upper().count(written.upper()) == 1 else None
    first, begins = min(starts), _squeezed(written)
    before = [at for at in range(max(0, first - _NEAR), first) if begins.startswith(_squeezed(text[at:first]))]
    whole = [at for at in before if not text[at].isspace() and (at == 0 or not text[at - 1].isalnum())]
    return min(whole, default=first)


def _squeezed(sql: str) -> str:
    return "".join(sql.split()).upper()


def only(node: exp.Expression, *parts: str) -> None:
    """Refuse a node with parts beyond those that are taken over."""
    for name, value in node.args.items():
        if value not in (None, [], False, "") and name not in parts and name not in NOTES:
            first = value[0] if isinstance(value, list) else value
            is_clause = isinstance(first, exp.Expression) and name != "expressions"
            raise refuse(first if is_clause else node, PARTS.get(name, "leave that out"))


def name_of(identifier: exp.Expression | None) -> str:
    """A name as it was written."""
    if not isinstance(identifier, exp.Identifier):
        raise UnsupportedQuery("a name was expected; got something else; name every sub-query and column plainly")
    return identifier.name
