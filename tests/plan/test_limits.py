"""How large a question may be: texts that would take seconds, or Python's stack, are refused or answered in order."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plan.people import ROWS, TABLES
from sfumato.cli._shared.question_options import read_question
from sfumato.curator.curator import Curator
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.plan import BoundPlan
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax import limits, tree
from sfumato.plan.syntax.node import Query
from sfumato.plan.syntax.parse import parse
from sfumato.plan.syntax.tree import LONGEST
from sfumato.privacy.guarantee import Guarantee


def _listed(pattern: str, many: int, between: str = ", ") -> str:
    return between.join(pattern.replace("#", str(place)) for place in range(many))


LARGE: dict[str, Callable[[int], str]] = {
    "keys": lambda n: f"SELECT r, COUNT(*) AS n FROM t GROUP BY {_listed('r', n)}",
    "different keys": lambda n: f"SELECT COUNT(*) AS n FROM t GROUP BY {_listed('k + #', n)}",
    "orderings": lambda n: f"SELECT r, COUNT(*) AS n FROM t GROUP BY r ORDER BY {_listed('n', n)}",
    "columns": lambda n: f"SELECT {_listed('COUNT(*) AS a#', n)} FROM t",
    "columns of rows": lambda n: f"SELECT COUNT(*) AS n FROM (SELECT {_listed('x AS a#', n)} FROM t) AS s",
    "measures": lambda n: f"SELECT {_listed('SUM(x + #) AS a#', n)} FROM t",
    "named queries": lambda n: f"WITH {_listed('c# AS (SELECT * FROM t)', n)} SELECT COUNT(*) AS n FROM c0",
    "joins": lambda n: f"SELECT COUNT(*) AS n FROM t {_listed('JOIN t AS t# ON t.pid = t#.pid', n, ' ')}",
    "ands": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {_listed('x > 1', n, ' AND ')}",
    "ors": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {_listed('x > 1', n, ' OR ')}",
    "sums": lambda n: f"SELECT SUM({_listed('x', n, '+')}) AS n FROM t",
    "coalesce": lambda n: f"SELECT SUM(COALESCE({_listed('x', n)})) AS n FROM t",
    "parentheses": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {'(' * n}x > 1{')' * n}",
    "open parentheses": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {'(' * n}",
    "functions": lambda n: f"SELECT SUM({'ABS(' * n}x{')' * n}) AS n FROM t",
    "cases inside": lambda n: f"SELECT SUM({'CASE WHEN b THEN ' * n}x{' END' * n}) AS n FROM t",
    "nots": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {'NOT ' * n}b",
    "minuses": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE {'- ' * n}x > 1",
    "casts": lambda n: f"SELECT SUM(x{'::INT' * n}) AS n FROM t",
    "sub-queries": lambda n: f"SELECT COUNT(*) AS n FROM {'(SELECT * FROM ' * n}t{') AS a' * n}",
    "unions": lambda n: f"SELECT COUNT(*) AS n FROM ({_listed('SELECT pid, x FROM t', n, ' UNION ALL ')}) AS u",
    "commas": lambda n: f"SELECT r, COUNT(*) AS n FROM t GROUP BY r{',' * n}",
    "brackets": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE x > {'[' * n}",
    "dots": lambda n: f"SELECT COUNT(a{'.a' * n}) AS n FROM t",
    "texts": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE r = {_listed(chr(39) + 'a' + chr(39), n, ' ')}",
    "placeholders": lambda n: f"SELECT COUNT(*) AS n FROM t WHERE x IN ({_listed('?', n)})",
}


def _bound(text: str) -> BoundPlan:
    return bind(parse(text), TABLES)


@pytest.mark.parametrize("what", LARGE)
def test_a_large_question_is_refused_in_words(what: str) -> None:
    """By a limit, or because it nests too deeply; never by Python's stack, and never with an error of another tree."""
    with pytest.raises(UnsupportedQuery) as refusal:
        price(_bound(LARGE[what](1_100)), epsilon=1)
    assert "; " in str(refusal.value)  # with what helps


@pytest.mark.parametrize(
    ("what", "limit"),
    [("keys", limits.MAX_KEYS), ("orderings", limits.MAX_ORDERINGS), ("columns", limits.MAX_COLUMNS),
     ("measures", limits.MAX_MEASURES), ("named queries", limits.MAX_NAMED)],
)  # fmt: skip
def test_what_is_as_large_as_a_limit_is_answered(what: str, limit: int) -> None:
    _bound(LARGE[what](limit))
    with pytest.raises(UnsupportedQuery, match=f"a question may have {limit:,} .*; got {limit + 1:,}; leave some out"):
        _bound(LARGE[what](limit + 1))


def test_long_lists_are_no_matter() -> None:
    """Constants, and branches of a CASE."""
    _bound(f"SELECT COUNT(*) AS n FROM t WHERE k IN ({_listed('#', 2_000)})")
    _bound(f"SELECT SUM(CASE {_listed('WHEN k = # THEN #', 300, ' ')} END) AS s FROM t")


def test_a_key_that_is_named_twice_is_one_key() -> None:
    once, often = _bound("SELECT r, COUNT(*) AS n FROM t GROUP BY r"), _bound(LARGE["keys"](90))
    assert often.groups == once.groups and often.shown == once.shown
    mixed = _bound("SELECT r AS g, t.r AS h, COUNT(*) AS n FROM t GROUP BY r, g, 1, t.r, h")
    assert mixed.groups == once.groups


def test_a_chain_of_queries_that_is_deeper_than_pythons_stack_is_refused() -> None:
    """Each name of WITH stands for the one before it, inside three more queries."""
    inside = "SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM c@) AS a) AS b) AS d"
    chained = ", ".join(f"c{i} AS ({inside.replace('c@', f'c{i - 1}' if i else 't')})" for i in range(240))
    query = parse(f"WITH {chained} SELECT COUNT(*) AS n FROM c239")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        with pytest.raises(UnsupportedQuery, match="nests too deeply"):
            bind(query, TABLES)
    finally:
        sys.setrecursionlimit(limit)


def test_the_limit_is_on_the_text_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments and spaces count, values of parameters and our own quotes do not."""
    text = "SELECT COUNT(*) AS n FROM t WHERE r = 'a'"
    for padded in (f"{text} -- {'x' * LONGEST}", f"{text}{' ' * LONGEST}", f"/*{'x' * LONGEST}*/ {text}"):
        with pytest.raises(UnsupportedQuery, match=r"may have 100,000 characters; got 1[0-9]{2},[0-9]{3}; shorten it"):
            parse(padded)
    parse(f"{text}{' ' * (LONGEST - len(text))}")
    monkeypatch.setattr(tree, "LONGEST", 300)
    compared = f"SELECT SUM(CASE k {_listed('WHEN # THEN x', 15, ' ')} END) AS s FROM t"
    assert len(compared) < 300 < len(parse(compared).sql())


def test_a_question_with_long_parameters_is_limited_too() -> None:
    """Text and values: 300,000 characters fit, 500,000 do not; nothing of that length was typed."""
    text = "SELECT COUNT(*) AS n FROM t WHERE r = ?"
    assert len(parse(text, ["a" * 300_000]).sql()) > 300_000
    with pytest.raises(UnsupportedQuery, match=r"400,000 characters with its parameters filled in .*; got 500,0"):
        parse(text, ["a" * 500_000])
    curator = Curator({"t": TABLES["t"]}, budget=Guarantee(epsilon=10))
    assert len(ROWS) == 1
    assert curator.ask(text, parameters=["a" * 150_000], epsilon=1).rows[0]["n"] is not None
    assert isinstance(parse(text, ["a"]), Query)


@pytest.mark.parametrize("where", ["typed", "stdin", "file"])
def test_the_command_line_counts_what_it_would_take_off(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Spaces and a semicolon at the end are a part of the text; a long one is refused and not cut."""
    long = f"SELECT COUNT(*) AS n FROM t{' ' * LONGEST};"
    monkeypatch.setattr(sys, "stdin", io.StringIO(long))
    (tmp_path / "long.sql").write_text(long, encoding="utf-8")
    given = {"typed": (long, None), "stdin": ("-", None), "file": (None, tmp_path / "long.sql")}[where]
    with pytest.raises(UnsupportedQuery, match="a question may have 100,000 characters; got "):
        read_question(*given)
