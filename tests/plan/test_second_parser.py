"""No token of a question is lost: what is answered is what DuckDB reads in the text, and all else is refused."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import threading
from random import Random

import duckdb
import pytest

from plan.people import TABLES
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.syntax import second_parser
from sfumato.plan.syntax.parse import parse

MALFORMED = (
    "SELECT QUANTILE_CONT(x, 0.,25) AS q FROM t",
    "SELECT QUANTILE_CONT(x, 0.5, 0.25) AS q FROM t",
    "SELECT , COUNT(*) FROM t",
    "SELECT COUNT(*), , SUM(x) FROM t",
    "SELECT COUNT(*) AS n, FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE x IN (1,, 2)",
    "SELECT COUNT(*) AS n FROM t WHERE x IN (1, 2,)",
    "SELECT SUM(IF(b, x)) AS n FROM t",
    "SELECT SUM(IF(b, x,)) AS n FROM t",
    "SELECT COUNT(* FROM t",
    "SELECT SUM(x AS s FROM t",
    "SELECT COUNT(*) FROM t WHERE (x > 1",
    "SELECT COUNT(*) FROM t WHERE x > 1)",
    "SELECT r, COUNT(*) FROM t GROUP BY r,,",
    "SELECT r, COUNT(*) FROM t GROUP BY r HAVING",
    "SELECT COUNT(*) FROM t WHERE x > 1 = TRUE = FALSE",
    "SELECT ABS(x, 2) FROM t",
    "SELECT AVG(x, k) FROM t",
    "SELECT SUM(x, 1) AS s FROM t",
    "SELECT MEDIAN(x, 0.5) AS s FROM t",
    "SELECT SUM(FLOOR(x, 1, 2)) AS s FROM t",
    "SELECT SUM(ROUND(x, 1, 2)) AS s FROM t",
    "SELECT COUNT_IF(b, x) AS s FROM t",
    "SELECT COUNT(MONTH(d, 1)) AS s FROM t",
    "SELECT COUNT(EXTRACT(MONTH FROM d, d)) AS s FROM t",
    "SELECT COUNT(DATE_PART('month', d, d)) AS s FROM t",
    "SELECT SUM(IF(b, 1, 2, 3)) AS s FROM t",
    "SELECT COUNT(*) AS n FROM t AS placing",
    "SELECT COUNT(*) AS n FROM t WHERE r = 'a' 'b'",
    "SELECT COUNT(*) AS n FROM t ORDER",
)


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_sql_is_refused(text: str) -> None:
    """Neither parser's leniency is used: 0., is a share and a comma, and a comma separates two things."""
    with pytest.raises(UnsupportedQuery):
        bind(parse(text), TABLES)


def test_too_many_arguments_are_named() -> None:
    with pytest.raises(UnsupportedQuery, match=r"^QUANTILE_CONT takes 2 arguments; got 3; leave out what is too much$"):
        parse("SELECT QUANTILE_CONT(x, 0.,25) AS q FROM t")


def test_a_reserved_word_is_a_name_in_quotes_only() -> None:
    with pytest.raises(UnsupportedQuery, match=r'placing was not expected there \(line 1, column 32\); .* "placing"'):
        parse("SELECT COUNT(*) AS n FROM t AS placing")
    assert parse('SELECT COUNT(*) AS n FROM t AS "placing"').tables() == {"t"}
    for text in (
        "SELECT COUNT({0}) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE {0} > 1", "SELECT COUNT(*) AS n FROM {0}",
        "SELECT {0}, COUNT(*) AS n FROM t GROUP BY 1", "WITH {0} AS (SELECT * FROM t) SELECT COUNT(*) AS n FROM t",
    ):  # fmt: skip
        with pytest.raises(UnsupportedQuery, match='as a name it is written in double quotes: "some"'):
            parse(text.format("some"))
        parse(text.format('"some"'))


@pytest.mark.parametrize("name", ["at", "both", "show", "struct", "position", "date"])
def test_a_word_that_sql_does_not_reserve_is_a_name(name: str) -> None:
    """DuckDB takes the first four for words of its own; PostgreSQL and others do not."""
    plan = parse(f"SELECT {name}, COUNT(*) AS n FROM t WHERE {name} > 1 GROUP BY {name}")
    assert plan.groups[0].sql() == f'"{name}"'


# Valid questions about t, by a small grammar, and what becomes of them when a token is lost, doubled, added or moved.

NUMBERS = ("x", "k", "x + k", "ABS(x)", "-x", "x * 2 - k", "COALESCE(x, k, 1)", "ROUND(x, 1)", "CASE WHEN b THEN x END",
           "IF(b, x, 0)", "CAST(k AS DOUBLE)", "MONTH(d)", "EXTRACT(DAY FROM d)", "y / 2", "FLOOR(x)")  # fmt: skip
TRUTHS = ("x > 1", "b", "r = 'a'", "r IN ('a', 'b')", "k BETWEEN 1 AND 2", "x IS NOT NULL", "NOT b", "r LIKE 'a%'",
          "d >= DATE '2026-01-02'", "(x > 1 OR k < 2) AND b", "x <= 1 AND NOT k = 2", "r NOT IN ('c')")  # fmt: skip
MEASURES = ("COUNT(*)", "COUNT({n})", "SUM({n})", "AVG({n})", "MIN({n})", "MEDIAN({n})", "COUNT(DISTINCT pid)",
            "QUANTILE_CONT({n}, 0.25)", "SUM({n}) FILTER (WHERE {t})", "COALESCE(COUNT_IF({t}), 0)", "STDDEV({n})",
            "PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY {n})", "2 * COUNT(*) + 1")  # fmt: skip
KEYS = ("r", "b", "k", "CASE WHEN x > 1 THEN 'high' ELSE 'low' END", "COALESCE(r, 'c')", "x > 0")
FROM = ("t", "t AS u", "(SELECT * FROM t WHERE {t}) AS s", "(SELECT pid, x, k, r, b, d, y FROM t) AS s")
ADDED = (",", ")", "(", "25", "0.", "x", "AND", "NOT", "*", "AS", "'a'", ".", "FROM", "BY", "-", "DISTINCT", ";", "ALL",
         "IN", "IS", "NULL", "CASE", "END", "%", ">", "=", "OR", "WHERE b")  # fmt: skip
TOKEN = re.compile(r"'[^']*'|\w+(?:\.\d*)?|<>|<=|>=|!=|[^\s\w]")


def _question(random: Random) -> str:
    def filled(pattern: str) -> str:
        return pattern.format(n=random.choice(NUMBERS), t=random.choice(TRUTHS))

    measures = [f"{filled(random.choice(MEASURES))} AS m{place}" for place in range(random.choice((1, 1, 2, 3)))]
    key = random.choice((None, None, *KEYS))
    listed = ([] if key is None else [f"{key} AS g"]) + measures
    text = f"SELECT {', '.join(listed)} FROM {filled(random.choice(FROM))}"
    text += f" WHERE {filled('{t}')}" if random.random() < 0.5 else ""
    if key is None:
        return text
    text += f" GROUP BY {random.choice(('1', 'g'))}"
    text += " HAVING m0 > 1" if random.random() < 0.3 else ""
    return text + (" ORDER BY m0 DESC, g LIMIT 3" if random.random() < 0.3 else "")


def _changed(random: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    place = random.randrange(len(tokens))
    match random.randrange(4):
        case 0:
            del tokens[place]
        case 1:
            tokens.insert(place, tokens[place])
        case 2:
            tokens.insert(place, random.choice(ADDED))
        case _:
            tokens[place], tokens[place - 1] = tokens[place - 1], tokens[place]
    return " ".join(tokens)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """A table t with rows that tell questions apart."""
    random, connection = Random(3), duckdb.connect()
    connection.execute("CREATE TABLE t (pid BIGINT, x DOUBLE, r VARCHAR, k BIGINT, b BOOLEAN, d TIMESTAMP, y DOUBLE)")
    for pid in range(60):
        day = datetime.datetime(2026, random.randint(1, 3), random.randint(1, 28))
        row = [
            pid % 20,
            random.choice((None, random.uniform(-9, 9))),
            random.choice((None, *"abcd")),
            random.randint(0, 3),
        ]
        row += [random.choice((None, True, False)), day, random.uniform(0, 1)]
        connection.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return connection


def _rows(database: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    rows = database.execute(text).fetchall()
    return sorted(str([round(value, 9) if isinstance(value, float) else value for value in row]) for row in rows)


def test_a_token_more_or_less_is_refused_or_changes_the_question_as_it_changes_the_text(
    database: duckdb.DuckDBPyConnection,
) -> None:
    """300 questions, each with 6 changes: what is accepted is answered by DuckDB, with the same rows as the plan."""
    random, accepted, refused = Random(18), 0, 0
    for _ in range(300):
        valid = _question(random)
        bind(parse(valid), TABLES)
        for text in [valid, *(_changed(random, valid) for _ in range(6))]:
            try:
                plan = parse(text)
                bind(plan, TABLES)
            except UnsupportedQuery:
                refused += 1
                continue
            accepted += 1
            assert _rows(database, text) == _rows(database, plan.sql()), text
    assert accepted > 350 and refused > 1000  # else the test would show little


def test_the_second_parser_reaches_no_file_and_loads_nothing() -> None:
    parse("SELECT COUNT(*) FROM t")
    reader = second_parser._READERS[-1]
    for text in ("SELECT * FROM read_text('/etc/hostname')", "LOAD httpfs", "SET enable_external_access = true"):
        with pytest.raises(duckdb.Error):
            reader.rows(text)
    assert reader.rows("SELECT table_name FROM information_schema.tables") == []


def test_threads_take_turns() -> None:
    text = "SELECT COUNT(*) AS n FROM t WHERE x > 1"
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.extend(parse(text).sql() for _ in range(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [parse(text).sql()] * 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_its_own_connection() -> None:
    """Also when the parent's was just in use, so that its lock is never free in the child."""
    parse("SELECT COUNT(*) AS n FROM t")
    with second_parser._READERS[-1].lock:
        child = os.fork()
        if child == 0:
            try:
                parse("SELECT COUNT(*) AS n FROM t WHERE x > 1")
                with contextlib.suppress(UnsupportedQuery):
                    parse("SELECT , COUNT(*) AS n FROM t")
                    os._exit(2)
            finally:
                os._exit(0 if len(second_parser._READERS) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
