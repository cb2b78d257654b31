"""SQL text to plans: what is answered prints back to itself, and nothing else gets through."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from plan.people import TABLES
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax import parse as parsing
from sfumato.plan.syntax.functions import FUNCTIONS
from sfumato.plan.syntax.node import (
    Aggregate,
    Call,
    Case,
    Column,
    In,
    Literal,
    Ordering,
    Output,
    Query,
    Subquery,
    TableName,
)
from sfumato.plan.syntax.parse import parse
from sfumato.plan.syntax.spelling import NOTES, spell_out
from sfumato.plan.syntax.spelling import SPELLED_OUT as SPELLINGS
from sfumato.plan.syntax.tree import LONGEST, read

REFUSED = [
    tuple(line.split("  ==>  "))
    for line in (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").splitlines()
]
ALLOWED = {
    exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Subquery, exp.With, exp.CTE, exp.Where, exp.Group, exp.Having,
    exp.Order, exp.Ordered, exp.Limit, exp.Alias, exp.Star, exp.Identifier, exp.Column, exp.Literal, exp.Boolean,
    exp.Null, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE,
    exp.And, exp.Or, exp.Not, exp.Like, exp.Between, exp.In, exp.Is, exp.Case, exp.If, exp.Coalesce, exp.Abs, exp.Floor,
    exp.Ceil, exp.Round, exp.Extract, exp.Var, exp.TimestampTrunc, exp.DateTrunc, exp.Cast, exp.DataType, exp.Count,
    exp.Sum, exp.Avg, exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevSamp, exp.StddevPop,
    exp.Median, exp.Min, exp.Max, exp.PercentileCont, exp.Distinct, exp.DType,
}  # fmt: skip
ANSWERED = (
    "SELECT COUNT(*) FROM t WHERE x > 1 -- a comment",
    "SELECT /*+ no hint here */ COUNT(*) /* nor here */ FROM t",
    "FROM t SELECT COUNT(*)",
    'SELECT COUNT(*) AS "a""b" FROM t',
    "SELECT COUNT(*) AS größe, SUM(x) AS 数 FROM t",
    'SELECT "COUNT"(*) FROM "T"',
    "select count(*) n from T where X > +1 and not not B",
    "SELECT COUNT(*) FROM t WHERE x == 1 OR x != 2 OR x NOTNULL OR x ISNULL",
    "SELECT DATETRUNC('day', d) AS g, COUNT(*) AS n FROM t GROUP BY 1",
    "SELECT date_trunc('MONTH', d) AS g, COUNT(*) AS n FROM t GROUP BY g",
    "SELECT n: COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE d BETWEEN DATE '2026-01-01' AND '2026-02-01'::DATE",
    "SELECT CEILING(SUM(x)) AS c, -AVG(x) AS a FROM t",
    "SELECT r, COUNT(ALL x) AS n FROM t GROUP BY t.r HAVING n > 5 AND r NOT IN ('a') ORDER BY -n ASC, r NULLS LAST",
    "SELECT COUNT(*) FROM t WHERE r NOT LIKE 'a%' AND NOT r LIKE '_b' AND (((x))) > ((1))",
    "SELECT COUNT(*) FROM t WHERE r = 'it''s \\ \"quoted\" -- no comment' AND k IN (1, -2, NULL)",
    "WITH a AS (SELECT x + 1 AS z FROM t), b AS (SELECT z * 2 AS z FROM a WHERE z > 0) SELECT SUM(z) AS s FROM b AS c",
    "SELECT COUNT(*) FROM (SELECT * FROM (SELECT * FROM t) AS a WHERE x > 1) AS b",
    "SELECT SUM(CASE WHEN b THEN 1 WHEN x > 2 THEN .5 ELSE 1e3 END) AS s FROM t WHERE CASE WHEN b THEN TRUE END",
    "SELECT COUNT(*) FROM t;",
    "SELECT COUNT(*) AS n FROM t WHERE d >= '2026-01-01' AND d BETWEEN '2026-01-01 10:00' AND '2026-02-01T10:00:00.5'",
    "SELECT COUNT(*) AS n FROM t WHERE d > TIMESTAMP '2026-03-01 10:00:00' OR d IN ('2026-01-01', DATE '2026-01-02')",
    "SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d > '2026-01-01' ORDER BY COALESCE(d, '2026-01-01')",
)
SPELLED_OUT = (
    ("COUNT(MONTH(d)) + COUNT(Year(d)) + COUNT(day(d)) + COUNT(QUARTER(d)) + COUNT(HOUR(d))",
     "COUNT(EXTRACT(MONTH FROM d)) + COUNT(EXTRACT(YEAR FROM d)) + COUNT(EXTRACT(DAY FROM d)) "
     "+ COUNT(EXTRACT(QUARTER FROM d)) + COUNT(EXTRACT(HOUR FROM d))"),
    ("COUNT(DATE_PART('month', d))", "COUNT(EXTRACT(MONTH FROM d))"),
    ("MEAN(x)", "AVG(x)"),
    ("COUNT_IF(x > 1)", "COUNT(CASE WHEN x > 1 THEN 1 END)"),
    ("COUNT(*) FILTER (WHERE b)", "COUNT(CASE WHEN b THEN 1 END)"),
    ("SUM(x) FILTER (WHERE k > 1 OR b)", "SUM(CASE WHEN k > 1 OR b THEN x END)"),
    ("AVG(x + k) FILTER (WHERE b)", "AVG(CASE WHEN b THEN x + k END)"),
    ("SUM(IF(b, 1, 0))", "SUM(CASE WHEN b THEN 1 ELSE 0 END)"),
    ("SUM(CASE WHEN b THEN 1 ELSE IF(x > 1, IF(b, 2, 3), 4) END)",
     "SUM(CASE WHEN b THEN 1 ELSE CASE WHEN x > 1 THEN CASE WHEN b THEN 2 ELSE 3 END ELSE 4 END END)"),
    ("SUM(CASE k WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END)", "SUM(CASE WHEN k = 1 THEN 2 WHEN k = 2 THEN 3 ELSE 4 END)"),
    ("ROUND(SUM(x), 2)", "ROUND(SUM(x) * 100) / 100"),
    ("ROUND(SUM(x), -1)", "ROUND(SUM(x) / 10) * 10"),
    ("ROUND(SUM(x), 0)", "ROUND(SUM(x))"),
    ("SUM(COALESCE(x, k, 1))", "SUM(COALESCE(x, COALESCE(k, 1)))"),
    ("CAST(SUM(x) AS INTEGER) + COUNT(*)::INT", "CAST(SUM(x) AS BIGINT) + CAST(COUNT(*) AS BIGINT)"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Sqlglot logs what it does not know; that is no part of these tests."""
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@pytest.mark.parametrize(("question", "hint"), REFUSED, ids=[question for question, _ in REFUSED])
def test_what_is_not_answered_is_refused_with_a_hint(question: str, hint: str) -> None:
    """Every line of refused.txt: by the parser or by the binder, before any data, and with what to do instead."""
    with pytest.raises(UnsupportedQuery) as refusal:
        price(bind(parse(question), TABLES), epsilon=1)
    assert hint in str(refusal.value)


@pytest.mark.parametrize("question", ANSWERED)
def test_what_is_answered_prints_back_to_itself(question: str) -> None:
    """The printed plan parses to the same plan, and every node of its tree is on the list here."""
    plan = parse(question)
    assert parse(plan.sql()) == plan
    assert {type(node) for node in read(question).walk()} <= ALLOWED
    bind(plan, TABLES)


@pytest.mark.parametrize(("short", "long"), SPELLED_OUT)
def test_another_way_of_writing_is_the_same_question(short: str, long: str) -> None:
    """The plan is that of what it stands for, and prints back to it."""
    plan = parse(f"SELECT {short} AS n FROM t")
    assert plan == parse(f"SELECT {long} AS n FROM t") == parse(plan.sql())
    bind(plan, TABLES)


@pytest.mark.parametrize("kind", SPELLINGS)
def test_spelling_out_drops_no_part(kind: type[exp.Expression]) -> None:
    """Whatever a node may hold beside its usual parts: it is kept, or the node is left as it is."""
    usual = {"this": exp.column("x"), "to": exp.DataType.build("int"), "true": exp.column("y"), "ifs": [exp.If()]}
    usual["expression"] = exp.Where(this=exp.column("z"))
    given = {name: part for name, part in usual.items() if name in kind.arg_types}
    for name in set(kind.arg_types) - NOTES - {"ifs"}:
        strange = exp.column("strange")
        whole = exp.Paren(this=kind(**{**given, name: [strange] if name == "expressions" else strange}))
        spell_out(whole)
        assert any(column.name == "strange" for column in whole.find_all(exp.Column)), name


def test_a_refusal_names_no_part_of_the_parser_and_points_at_the_start() -> None:
    """Line and column are where the analyst wrote it, also below other lines."""
    with pytest.raises(UnsupportedQuery, match=r"^MODE\(x\) is not supported \(line 2, column 3\); "):
        parse("SELECT COUNT(*) AS größe,\n  MODE(x) AS m FROM t")
    with pytest.raises(UnsupportedQuery, match=r"^STRFTIME\(d, '%Y'\) is not supported \(line 1, column 16\); "):
        parse("SELECT COUNT(  STRFTIME( d, '%Y')) AS n FROM t")


def test_no_class_of_node_outside_the_list_is_read() -> None:
    """Every class of expression that sqlglot has, built with the usual parts, is refused unless it is on the list."""
    classes = {exp.Expression}
    while more := {each for known in classes for each in known.__subclasses__()} - classes:
        classes |= more
    assert len(classes) > 900
    passed = set()
    for kind in classes - {exp.Expression}:
        for parts in ({}, {"this": exp.column("x")}, {"this": exp.column("x"), "expression": exp.column("x")}):
            try:
                parsing._expression(kind(**parts))
            except UnsupportedQuery:
                continue
            except (AttributeError, TypeError, KeyError):
                assert kind in ALLOWED, kind  # only a listed class is looked into
            passed.add(kind)
    assert passed <= ALLOWED


@pytest.mark.parametrize("arguments", ("", "x", "x, 1", "'day', d", "DISTINCT x", "x ORDER BY x"))
def test_no_function_outside_the_list_gets_through(arguments: str) -> None:
    """Every function that sqlglot knows by name, as an argument and as an aggregate."""
    names = {name for kind in exp.ALL_FUNCTIONS for name in kind.sql_names()}
    assert len(names) > 400
    allowed = {kind for kind in exp.ALL_FUNCTIONS if kind in ALLOWED}
    for name in names:
        question = f"SELECT {name}({arguments}) AS n FROM t"
        try:
            parse(question)
        except UnsupportedQuery:
            continue
        assert {type(node) for node in read(question).walk()} <= ALLOWED, question
        assert any(isinstance(node, tuple(allowed)) for node in read(question).walk()), question


@pytest.mark.parametrize(
    "question",
    (
        "SELECT " + "(" * 20_000 + "1" + ")" * 20_000 + " FROM t",
        "SELECT COUNT(*) FROM t WHERE " + "(" * 60 + "x" + ")" * 60 + " > " + "(" * 400 + "1" + ")" * 400,
        "SELECT COUNT(*) FROM t WHERE x > " + "1 + " * 20_000 + "1",
        "SELECT COUNT(*) FROM t WHERE " + "b OR " * 5_000 + "b",
        "SELECT COUNT(*) FROM t WHERE " + "NOT " * 5_000 + "b",
        "SELECT COUNT(*) FROM t WHERE x > " + "- " * 5_000 + "1",
        "SELECT SUM(" + "ABS(" * 3_000 + "x" + ")" * 3_000 + ") FROM t",
        "SELECT SUM(" + "CASE WHEN b THEN " * 300 + "x" + " END" * 300 + ") FROM t",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 500 + "t" + ")" * 500,
        "SELECT COUNT(*) FROM t" + " " * LONGEST,
        "(" * 50_000,
        "SELECT COUNT(*) FROM t WHERE r = '\0'",
        "SELECT COUNT(*) FROM t WHERE r = '\ud800'",
        "SELECT COUNT(*) FROM t WHERE x > 1e-999999999",
        "SELECT COUNT(*) FROM t WHERE x > 0e999999999",
        "SELECT COUNT(*) FROM t WHERE x > 1__0",
        "SELECT COUNT(*) FROM t LIMIT ²",
        "",
        ";",
        "\n",
    ),
    ids=range(20),
)
def test_monstrous_text_is_refused_like_any_other(question: str) -> None:
    """No RecursionError, no hours of arithmetic, no crash of an engine: a refusal."""
    with pytest.raises(UnsupportedQuery):
        bind(parse(question), TABLES)


def test_sub_queries_cannot_grow_an_expression_without_end() -> None:
    """Fifty doublings would make 2**50 nodes; a hundred steps of one node each are as deep as a tree may be."""
    doubled = ", ".join(f"a{i} AS (SELECT x + x AS x FROM {f'a{i - 1}' if i else 't'})" for i in range(50))
    with pytest.raises(UnsupportedQuery, match="too long"):
        bind(parse(f"WITH {doubled} SELECT SUM(x) AS s FROM a49"), TABLES)
    chained = ", ".join(f"a{i} AS (SELECT x + 1 AS x FROM {f'a{i - 1}' if i else 't'})" for i in range(200))
    with pytest.raises(UnsupportedQuery, match="too long"):
        bind(parse(f"WITH {chained} SELECT SUM(x) AS s FROM a199"), TABLES)


def test_a_long_list_of_constants_is_fine() -> None:
    """Ten thousand constants in one IN."""
    plan = parse(f"SELECT COUNT(*) AS n FROM t WHERE k IN ({', '.join(map(str, range(10_000)))})")
    assert isinstance(plan.where, In) and len(plan.where.items) == 10_000
    bind(plan, TABLES)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
NUMBERS = st.from_regex(r"\A(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?(e[1-9])?\Z").map(
    lambda text: Literal(text, is_number=True)
)
LITERALS = (
    NUMBERS
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4).map(Literal)
    | st.sampled_from([Literal(None), Literal(True), Literal(False), Literal("2026-01-31", is_date=True)])
    | st.just(Literal("2026-01-31 10:00:00", is_time=True))
)
COLUMNS = st.builds(Column, NAMES, st.none() | NAMES)


def calls(inside: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Every function of the list, and every other node that holds expressions."""
    functions = [
        st.builds(Call, st.just(name), st.tuples(*[inside] * function.arity)) for name, function in FUNCTIONS.items()
    ]
    branches = st.lists(st.tuples(inside, inside), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        *functions,
        st.builds(In, inside, st.lists(LITERALS, min_size=1, max_size=3).map(tuple)),
        st.builds(Case, branches, st.none() | inside),
        st.builds(Aggregate, st.sampled_from(["count", "sum", "avg"]), st.tuples(inside), st.booleans()),
        st.just(Aggregate("count")),
    )


EXPRESSIONS = st.recursive(LITERALS | COLUMNS, calls, max_leaves=6)
SOURCES = st.builds(TableName, NAMES, st.none() | NAMES)


def queries(sources: st.SearchStrategy[object]) -> st.SearchStrategy[Query]:
    """All clauses, each perhaps."""
    return st.builds(
        Query,
        st.none() | st.lists(st.builds(Output, EXPRESSIONS, st.none() | NAMES), min_size=1, max_size=3).map(tuple),
        sources,
        st.none() | EXPRESSIONS,
        st.lists(EXPRESSIONS, max_size=2).map(tuple),
        st.none() | EXPRESSIONS,
        st.lists(st.builds(Ordering, EXPRESSIONS, st.booleans()), max_size=2).map(tuple),
        st.none() | st.integers(0, 10**9),
    )


QUERIES = queries(SOURCES | st.builds(Subquery, queries(SOURCES), st.none() | NAMES))
WITH = st.builds(
    lambda query, ctes: Query(
        query.outputs, query.source, query.where, query.groups, query.having, query.order, query.limit, ctes
    ),
    QUERIES,
    st.lists(st.tuples(NAMES, queries(SOURCES)), max_size=2).map(tuple),
)


@settings(max_examples=100)
@given(WITH)
def test_any_plan_prints_to_sql_that_parses_to_the_same_plan(plan: Query) -> None:
    """Names with quotes, texts with anything, every function, every clause."""
    assert parse(plan.sql()) == plan
