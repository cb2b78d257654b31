"""SQL text as a tree of sqlglot, and what is refused of it: as it was written, its place, and what to write instead.

Other ways of writing the same are spelt out first (`SPELT_OUT`): MONTH(d) is EXTRACT(MONTH FROM d). Each rule looks at
every part of its node and leaves one alone that has more, which is then refused.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sfumato.errors import UnsupportedQuery

DIALECT = "duckdb"
LONGEST = 100_000
_NEAR = 100  # characters before its first name or constant in which a construct begins
_KEYWORDS = frozenset(sqlglot.Dialect.get_or_raise(DIALECT).tokenizer_class.KEYWORDS)
DEEPEST = 100  # of a tree, so that no walk over it is stopped by Python
MOST_DIGITS = 15  # of ROUND, as many as a double has
# What sqlglot notes beside the meaning: how a function was spelled, or what follows from the dialect.
NOTES = {"big_int", "typed", "safe", "nulls_first", "_type"}
JOINS = "joins are not answered yet; ask one table at a time"
PARTS = {
    "joins": JOINS,
    "laterals": JOINS,
    "db": "write the table's name without a schema",
    "catalog": "write the table's name without a schema",
    "query": "IN takes a list of constants",
    "field": "a name with a space is written in double quotes, and after IN stands a list: IN ('a', 'b')",
    "distinct": "GROUP BY the columns instead",
    "decimals": f"ROUND takes a constant number of digits from -{MOST_DIGITS} to {MOST_DIGITS}, FLOOR and CEIL none",
    "sample": "the whole table is asked; noise protects, not sampling",
    "windows": "windows over private rows are not answered",
    "qualify": "leave out QUALIFY; filter groups with HAVING",
    "offset": "leave out OFFSET",
    "all": "name the columns after GROUP BY",
    "rollup": "ask one question for each grouping",
    "cube": "ask one question for each grouping",
    "grouping_sets": "ask one question for each grouping",
    "totals": "leave out WITH TOTALS; ask for the total in a second question",
    "recursive": "leave out RECURSIVE",
    "into": "leave out INTO; an answer has to_csv, to_pandas and more",
    "expressions": "it takes one argument",
    "symmetric": "leave out SYMMETRIC",
    "locks": "leave out FOR UPDATE; nothing is changed",
    **dict.fromkeys(("except_", "replace", "rename"), "name the columns"),
    "columns": "name the columns in the sub-query: SELECT x AS a",
}
_AGGREGATE = "COUNT, SUM and AVG are answered, the other aggregates not yet"
_UPPER = "compare with LIKE or IN, or name both spellings in CASE WHEN"
_TODAY = "write the day as DATE 'yyyy-mm-dd'; an answer must not depend on the clock"
_TEXTS = "texts are compared as they are: =, IN, LIKE"
INSTEAD: dict[type[Any], str] = {
    exp.Window: "aggregate by group instead; windows over private rows are not answered; for a share of the total "
    "divide by SUM(COUNT(*)) OVER (), or use share_of_total of the answer",
    exp.Join: JOINS,
    exp.SetOperation: "ask two questions",
    exp.Exists: "filter by the columns of the one table",
    exp.Distinct: "GROUP BY the columns instead",
    exp.Star: "name the columns",
    exp.Filter: "put the condition into WHERE, or into CASE WHEN inside the aggregate",
    exp.Subquery: "a sub-query may only stand after FROM",
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
    exp.Nullif: "use CASE WHEN",
    exp.Greatest: "use CASE WHEN",
    exp.Least: "use CASE WHEN",
    exp.If: "use CASE WHEN",
    exp.Tuple: "write the columns one by one",
    exp.Var: "name the columns",
    exp.AggFunc: _AGGREGATE,
    exp.WithinGroup: _AGGREGATE,
}
BY_NAME = {
    **dict.fromkeys(("now", "today", "get_current_time"), _TODAY),
    **dict.fromkeys(("date_part", "datepart"), "use EXTRACT(MONTH FROM column)"),
}


def read(text: str) -> exp.Expression:
    """The tree of one statement, spelt out, not too long and not too deep."""
    if not isinstance(text, str) or not encodes(text):
        raise UnsupportedQuery("a question must be text in Unicode; got something else; write it as SQL")
    if len(text) > LONGEST:
        raise UnsupportedQuery(f"a question may have {LONGEST:,} characters; got {len(text):,}; shorten it")
    try:
        trees = [tree for tree in _trees(text) if isinstance(tree, exp.Expression)]
    except Exception as error:  # sqlglot trips over some odd calls with errors of its own
        raise UnsupportedQuery(f"this is not SQL that can be read: {_stumbled(error)}") from None
    if len(trees) != 1:
        raise UnsupportedQuery(f"ask one SELECT at a time; got {len(trees)} statements")
    trees[0].meta["text"] = text
    _check_truncations(text)
    spell_out(trees[0])
    if _depth(trees[0]) > 2 * DEEPEST:  # every level may come with a pair of parentheses
        raise UnsupportedQuery("the question nests too deeply; use fewer sub-queries, or IN instead of many ORs")
    return trees[0]


def _trees(text: str) -> list[Any]:
    """The statements of a text; every ? is numbered, since a tree does not keep the order in which it was written."""
    dialect, tokens, number = sqlglot.Dialect.get_or_raise(DIALECT), [], itertools.count(1)
    for token in dialect.tokenize(text):
        if token.token_type is TokenType.PLACEHOLDER:
            place = token.line, token.col, token.start, token.end
            tokens += [Token(TokenType.PARAMETER, "?", *place), Token(TokenType.NUMBER, f"?{next(number)}", *place)]
        else:
            tokens.append(token)
    return dialect.parser().parse(tokens, text)


def _check_truncations(text: str) -> None:
    """Refuse a third argument of DATE_TRUNC, which sqlglot forgets before there is a tree."""
    if "TRUNC" not in text.upper():
        return
    tokens = sqlglot.tokenize(text, dialect=DIALECT)
    for place, token in enumerate(tokens[:-1]):
        if token.text.upper() not in ("DATE_TRUNC", "DATETRUNC") or tokens[place + 1].text != "(":
            continue
        depth = commas = 0
        for later in tokens[place + 1 :]:
            depth += {"(": 1, ")": -1}.get(later.text, 0) if later.token_type is not TokenType.STRING else 0
            commas += later.text == "," and depth == 1 and later.token_type is not TokenType.STRING
            if depth == 0:
                break
        if commas > 1:
            raise UnsupportedQuery("DATE_TRUNC takes a part and a date; got more; times are in UTC")


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


def _stumbled(error: Exception) -> str:
    """Where the reader stumbled, in words that are not its own."""
    first = (getattr(error, "errors", None) or [{}])[0]
    if "line" not in first:
        return "it ends too early, nests too deeply, or calls a function in an unknown way"
    word, before = str(first.get("highlight") or ""), str(first.get("start_context") or "")
    place = f"line {first['line']}, column {max(1, int(first['col']) - len(word) + 1)}"
    match str(first.get("description")).split():
        case ["Expecting", ")", *_]:
            what = f"a closing parenthesis was expected before {word}"
        case ["Required", *_]:
            return f"something is missing after {word} ({place})"
        case _:
            what = f"{word} was not expected there"
    return f"{what} ({place}){_quotes(before, word)}"


def _quotes(before: str, word: str) -> str:
    """The advice where two words in a row could be one name."""
    last = re.search(r"(\w+) $", before)
    pair = () if last is None else (last[1], word)
    if not pair or not all(each.isidentifier() and not _is_keyword(each) for each in pair):
        return ""
    return f'; a name with a space is written in double quotes: "{" ".join(pair)}"'


def _is_keyword(word: str) -> bool:
    return word.isupper() or word.upper() in _KEYWORDS


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
            node.set("this", node.name.lower())
            node.set("quoted", True)
        elif isinstance(node, exp.Like) and node.args.get("negate"):
            node.replace(exp.Not(this=exp.Like(this=node.this, expression=node.expression)))
    return copied


def refuse(node: exp.Expression, why: str | None = None) -> UnsupportedQuery:
    """The refusal of a node: what it is, where it stands, and what to write instead."""
    hints = [BY_NAME.get(str(node.this).lower())] if isinstance(node, exp.Anonymous) else []
    hints += [words for kind, words in INSTEAD.items() if isinstance(node, kind)]
    instead = why or next((words for words in hints if words), "write it differently")
    return UnsupportedQuery(f"{_written(node)[:80]} is not answered{_place(node)}; {instead}")


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


def spell_out(tree: exp.Expression) -> None:
    """Replace other ways of writing the same, in place."""
    for node in reversed(list(tree.walk())):  # what is inside first
        rule = SPELT_OUT.get(type(node))
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
    """SUM(x) FILTER (WHERE c) as SUM of CASE WHEN c THEN x, and so for COUNT and AVG."""
    aggregate, clause = node.this, node.args.get("expression")
    if not _has(node, "this", "expression") or not isinstance(clause, exp.Where) or not _has(clause, "this"):
        return None
    if type(aggregate) not in (exp.Count, exp.Sum, exp.Avg) or not _has(aggregate, "this"):
        return None
    inside = aggregate.this
    if isinstance(inside, exp.Star) and isinstance(aggregate, exp.Count) and _has(inside):
        inside = exp.Literal.number(1)
    if inside is None or isinstance(inside, (exp.Star, exp.Distinct)):
        return None
    filtered: exp.Expression = type(aggregate)(this=_when(clause.this, inside))
    return filtered


def _if(node: exp.Expression) -> exp.Expression | None:
    """IF(c, a, b) as CASE WHEN; the branches of a CASE are of this class too, and stay."""
    if node.arg_key == "ifs" or not _has(node, "this", "true", "false") or "true" not in node.args:
        return None
    return _when(node.this, node.args["true"], node.args.get("false"))


def _compared(node: exp.Expression) -> exp.Expression | None:
    """CASE k WHEN 1 as CASE WHEN k = 1, where k is a column: a longer expression would be copied too often."""
    if not isinstance(node.this, exp.Column) or not _has(node, "this", "ifs", "default"):
        return None
    for branch in node.args["ifs"]:
        branch.set("this", exp.EQ(this=node.this.copy(), expression=branch.this))
    spelt: exp.Expression = exp.Case(ifs=node.args["ifs"], default=node.args.get("default"))
    return spelt


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


SPELT_OUT: dict[type[Any], Callable[[Any], exp.Expression | None]] = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour), _date_part),
    exp.Anonymous: _named,
    exp.CountIf: _count_if,
    exp.Filter: _filtered,
    exp.If: _if,
    exp.Case: _compared,
    exp.Round: _rounded,
    exp.Coalesce: _coalesced,
    exp.Cast: _integer,
}
