"""Joins, sub-queries and UNION ALL: what is refused says what was expected, what came and what helps."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plan.population import KNOWN, PRIVATE, PUBLIC
from plan.test_parse import EXPRESSIONS, NAMES, SOURCES, queries
from sfumato.curator.tables import read_tables
from sfumato.dataset.public_table import public
from sfumato.dataset.table import Table, table, through
from sfumato.errors import InvalidArgument, UnknownName, UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.binding.replay_text import relation_text
from sfumato.plan.pricing.price import price
from sfumato.plan.relations.relation import Relation
from sfumato.plan.syntax.node import How, Join, Query, Subquery, Union
from sfumato.plan.syntax.parse import parse

REFUSED = [
    tuple(line.split("  ==>  "))
    for line in (Path(__file__).parent / "refused_joins.txt").read_text(encoding="utf-8").splitlines()
]
EACH = "(SELECT visitor AS id, SUM(spend) AS s FROM visits GROUP BY visitor)"
ANSWERED = (
    "SELECT COUNT(*) FROM people JOIN homes ON people.id = homes.id AND age > size WHERE region = 'n'",
    "SELECT COUNT(*) FROM people AS p LEFT JOIN homes AS h ON h.id = p.id AND h.size BETWEEN 1 AND p.age",
    "SELECT SUM(size) FROM people JOIN homes USING (id)",
    "SELECT COUNT(DISTINCT id) FROM people JOIN homes USING (ID)",
    "SELECT COUNT(*) FROM visits JOIN calls USING (visitor) JOIN people ON people.id = visitor".replace(
        "calls", "(SELECT visitor, COUNT(*) AS n FROM calls GROUP BY visitor) AS calls"
    ),
    "SELECT COUNT(*) FROM people SEMI JOIN visits ON visitor = id AND spend > 3 ANTI JOIN calls ON calls.visitor = id",
    "SELECT COUNT(*) FROM days JOIN meals ON days.n = meals.n AND who = id",
    "SELECT SUM(s) FROM people JOIN " + EACH + " AS v USING (id)",
    "SELECT COUNT(*) FROM visits JOIN kinds USING (product) WHERE kind = 'x'",
    "SELECT COUNT(*) FROM kinds JOIN visits USING (product)",
    "SELECT band, COUNT(*) FROM people LEFT JOIN bands ON age >= low AND age < high GROUP BY band",
    "SELECT COUNT(*) FROM loose LEFT JOIN bands ON x >= low AND x < high",
    "SELECT SUM(x) FROM (SELECT x FROM loose UNION ALL SELECT x FROM other) AS t",
    "SELECT SUM(a) FROM (SELECT id, age AS a FROM people UNION ALL SELECT visitor, spend FROM visits) AS t",
    "SELECT COUNT(*) FROM (SELECT * FROM people JOIN homes USING (id) UNION ALL SELECT * FROM people JOIN homes "
    "USING (id)) AS t",
    "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM people JOIN homes USING (id)) AS t",
    "SELECT SUM(price) FROM items JOIN orders ON items.order = orders.order",
    "SELECT SUM(n) FROM (SELECT owner, COUNT(*) AS n FROM pets GROUP BY owner) AS t",
    "SELECT COUNT(DISTINCT id) FROM pets",
    'SELECT SUM(n) FROM (SELECT "orders.id", COUNT(*) AS n FROM toys GROUP BY "orders.id") AS t',
    "WITH a AS (SELECT id, COUNT(*) AS n FROM orders GROUP BY id HAVING n > 1), b AS (SELECT * FROM a WHERE n < 9) "
    "SELECT AVG(b.n) FROM b JOIN people USING (id)",
)


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Sqlglot logs what it does not know; that is no part of these tests."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@pytest.mark.parametrize(("question", "hint"), REFUSED, ids=[question for question, _ in REFUSED])
def test_what_is_not_joined_is_refused_with_a_hint(question: str, hint: str) -> None:
    """Every line of refused_joins.txt, before any data is touched."""
    with pytest.raises(UnsupportedQuery) as refusal:
        price(bind(parse(question), KNOWN), epsilon=1)
    assert hint in str(refusal.value)


@pytest.mark.parametrize("question", ANSWERED)
def test_what_is_answered_prints_back_to_itself(question: str) -> None:
    """The neighbors of what is refused; printed, they are the same question."""
    plan = parse(question)
    assert parse(plan.sql()) == plan
    assert relation_text(bind(plan, KNOWN).table) == relation_text(bind(parse(plan.sql()), KNOWN).table)


JOINS = st.builds(
    Join, SOURCES, SOURCES | st.builds(Subquery, queries(SOURCES), NAMES), st.sampled_from(How), EXPRESSIONS
) | st.builds(
    Join, SOURCES, SOURCES, st.sampled_from(How), st.none(), st.lists(NAMES, min_size=1, max_size=3).map(tuple)
)
PARTS = queries(SOURCES | JOINS).map(lambda query: replace(query, order=(), limit=None))
STACKS = st.builds(Union, st.lists(PARTS, min_size=2, max_size=3).map(tuple))


@settings(max_examples=60)
@given(queries(JOINS | st.builds(Join, JOINS, SOURCES, st.sampled_from(How), EXPRESSIONS)))
def test_any_join_prints_to_sql_that_parses_to_the_same_plan(plan: Query) -> None:
    """Of tables and sub-queries, one after the other, on any condition or by names with anything in them."""
    assert parse(plan.sql()) == plan


@settings(max_examples=40)
@given(queries(st.builds(Subquery, STACKS, NAMES)))
def test_any_stack_prints_to_sql_that_parses_to_the_same_plan(plan: Query) -> None:
    """UNION ALL of any queries in the place of a table."""
    assert parse(plan.sql()) == plan


def _bound(question: str) -> Relation:
    return bind(parse(question), KNOWN).table


@pytest.mark.parametrize("side", ("v JOIN people ON v.id = people.id", "people JOIN v ON v.id = people.id"))
def test_growth_is_counted_by_what_is_sure(side: str) -> None:
    """One side has two rows of a unit by how it came about; what the owner says of the other takes no rows away."""
    source = side.replace("v JOIN", f"({EACH[1:-1]} UNION ALL {EACH[1:-1]}) AS v JOIN", 1)
    source = source.replace("JOIN v ON", f"JOIN ({EACH[1:-1]} UNION ALL {EACH[1:-1]}) AS v ON", 1)
    assert _bound(f"SELECT COUNT(*) FROM {source}").growth == 2


def test_growth_multiplies_along_a_chain() -> None:
    """A thousand at most; the last join of a longer chain is refused, whatever the tables hold."""
    chain = "SELECT COUNT(*) FROM visits JOIN grid AS a ON spend = a.one"
    assert _bound(chain).growth == 100
    with pytest.raises(UnsupportedQuery, match="could make 10,000 rows of one; at most 1,000"):
        _bound(f"{chain} JOIN homes ON visitor = homes.id")


def test_growth_adds_up_in_a_stack_of_one_table() -> None:
    """A row of it is in every part; rows of different tables are in one each."""
    same = " UNION ALL ".join(["SELECT visitor AS id FROM visits"] * 3)
    assert _bound(f"SELECT COUNT(*) FROM ({same}) AS v").growth == 3
    assert _bound("SELECT COUNT(*) FROM (SELECT visitor AS id FROM visits UNION ALL SELECT id FROM homes)").growth == 1
    grown = " UNION ALL ".join(["SELECT visitor AS id FROM visits JOIN grid AS a ON spend = a.one"] * 11)
    with pytest.raises(UnsupportedQuery, match="could make 1,100 rows of one"):
        _bound(f"SELECT COUNT(*) FROM ({grown}) AS v")


@pytest.mark.parametrize(
    ("one", "other"),
    (
        ("SELECT id, age AS a, age + 1 AS b FROM people UNION ALL SELECT id, size, id AS c FROM homes",
         "SELECT id, age AS b, age + 1 AS a FROM people UNION ALL SELECT id, size, id AS c FROM homes"),
        ("SELECT id, age AS a FROM people SEMI JOIN homes USING (id)",
         "SELECT id, age AS a FROM people ANTI JOIN homes USING (id)"),
        ("SELECT people.id, size AS a FROM people LEFT JOIN homes ON people.id = homes.id",
         "SELECT people.id, size AS a FROM people JOIN homes ON people.id = homes.id"),
        ("SELECT id, MIN(age) AS a FROM people GROUP BY id", "SELECT id, MAX(age) AS a FROM people GROUP BY id"),
        ("SELECT id, COUNT(age) AS a FROM people GROUP BY id",
         "SELECT id, COUNT(DISTINCT age) AS a FROM people GROUP BY id"),
        ("SELECT visitor, spend AS a FROM visits JOIN kinds USING (product)",
         "SELECT visitor, spend AS a FROM visits JOIN kinds ON kind = visits.product"),
    ),
)  # fmt: skip
def test_different_rows_are_different_questions(one: str, other: str) -> None:
    """Else a stored answer would be given to a question that it does not answer."""
    assert relation_text(_bound(f"SELECT SUM(a) FROM ({one}) AS t")) != relation_text(
        _bound(f"SELECT SUM(a) FROM ({other}) AS t")
    )


ORDERS = pd.DataFrame({"order": [1], "id": [1], "text": ["a"]})


@pytest.mark.parametrize(
    ("tables", "said", "error"),
    (
        ({"a": table(ORDERS, unit=through("b", on="order")), "b": table(ORDERS, unit=through("a", on="order"))},
         "got a circle: a -> b -> a", InvalidArgument),
        ({"a": table(ORDERS, unit=through("a", on="order"))}, "got a circle: a -> a", InvalidArgument),
        ({"a": table(ORDERS, unit=through("b", on="order"))}, "unknown table 'b'", UnknownName),
        ({"a": table(ORDERS, unit=through("b", on="order")), "b": table(ORDERS)},
         "through must lead to a table with a unit; got 'b', in which a row is a unit", InvalidArgument),
        ({"a": table(ORDERS, unit=through("b", on="order", key="text")), "b": table(ORDERS, unit="id")},
         "through must compare columns of one type; got order of type integer and b.text of type text; declare one",
         InvalidArgument),
        ({"a": table(ORDERS, unit=through("b", on="order", key="zzz")), "b": table(ORDERS, unit="id")},
         "unknown column 'zzz'", UnknownName),
    ),
)  # fmt: skip
def test_a_unit_comes_through_a_table_that_has_one(tables: dict[str, Table], said: str, error: type[Exception]) -> None:
    """No circle, no missing table, no keys of other types."""
    with pytest.raises(error) as refusal:
        read_tables(tables)
    assert said in str(refusal.value)


def test_a_source_is_public_or_private() -> None:
    """The same frame in both roles is refused, and a frame that took the place of one that is gone is not."""
    frame = pd.DataFrame({"id": [1]})
    with pytest.raises(InvalidArgument, match="a source must be public or private"):
        read_tables({"a": table(frame, unit="id"), "b": public(frame)})
    for _ in range(20):
        shown = public(pd.DataFrame({"id": [1]}))
        read_tables({"a": table(pd.DataFrame({"id": [1]}), unit="id"), "b": shown})


def test_a_public_table_may_hold_any_number() -> None:
    """Also the least whole number, whose size is no whole number of 64 bits."""
    least = public(pd.DataFrame({"k": [-(2**63), 2**63 - 1]}))
    assert str(least.columns["k"].bounds) != ""
    assert set(PRIVATE) & set(PUBLIC) == set()
