"""What fails in PostgreSQL on some value, and that no question does: docs/concepts/what-fails-in-a-database.md."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psycopg
import pytest

import sfumato as sf
from engines.loading import Server
from sfumato.curator.curator import Options
from sfumato.dataset.kind import Kind
from sfumato.engines.postgres import PostgresDialect, PostgresEngine
from sfumato.errors import InvalidArgument, UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee
from sfumato.testing.engine_tables import recorded

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "what-fails-in-a-database.md"
LEAST = "(-9223372036854775807 - 1)"
FAILS = (
    "1::float8 / 0", "1e308::float8 + 1e308::float8", "-1e308::float8 - 1e308::float8", "1e308::float8 * 10",
    "1e-300::float8 * 1e-300::float8", "1e308::float8 / 0.1", "1e-308::float8 / 1e300::float8",
    "ln(0::float8)", "ln(-1::float8)", "sqrt(-1::float8)", "exp(1000::float8)", "exp(-1000::float8)",
    "power(10::float8, 400)", "power(0::float8, -1)", "power(-8::float8, 0.5)",
    "(SELECT sum(v) FROM (VALUES (1e308::float8), (1e308)) AS t(v))",
    "(SELECT avg(v) FROM (VALUES (1e308::float8), (1e308)) AS t(v))",
    "9223372036854775807 + 1", "9223372036854775807 * 2", f"-{LEAST}", f"abs({LEAST})", f"{LEAST} / (-1)", "1 % 0",
    "div(1::numeric, 0)", "CAST(1e19::float8 AS bigint)", "CAST('NaN'::float8 AS bigint)",
    "CAST('Infinity'::float8 AS bigint)", "CAST(1e400::numeric AS float8)", "CAST(1e-400::numeric AS float8)",
    "CAST('Infinity'::numeric AS bigint)", "CAST(1e40::float8 AS real)", "CAST('x'::text AS float8)",
    "CAST('1e400'::text AS float8)", "CAST('x'::text AS bigint)", "CAST('9223372036854775808'::text AS bigint)",
    "CAST('perhaps'::text AS boolean)", "CAST('2026-02-30'::text AS date)", "CAST('soon'::text AS timestamp)",
    "CAST(DATE '5874897-12-31' AS timestamp)", "DATE '5874897-12-31' + 1", "make_date(2026, 2, 30)",
    "TIMESTAMP '294276-12-31' + INTERVAL '1 year'", "date_trunc('century', TIMESTAMP '4714-11-24 BC')",
    "TIMESTAMPTZ '294276-12-31 23:00+00' AT TIME ZONE 'Asia/Tokyo'", "EXTRACT(hour FROM DATE '2026-01-01')",
    "CAST(EXTRACT(year FROM TIMESTAMP 'infinity') AS bigint)", "'ab' LIKE concat('a', chr(92))", "chr(0)",
    "(SELECT count(DISTINCT v) FROM (VALUES ('{}'::json)) AS t(v))", "(SELECT max(v) FROM (VALUES (true)) AS t(v))",
)  # fmt: skip
REFUSED = ("LN(x)", "LOG(x)", "SQRT(x)", "EXP(x)", "POWER(x, 2)", "x % 2", "MOD(k, 2)", "k << 2", "CHR(k)", "LENGTH(r)",
           "SUBSTRING(r, k)", "d + k", "CAST(r AS DOUBLE)", "CAST(r AS DATE)", "TO_DATE(r, 'YYYY')")  # fmt: skip


@pytest.mark.parametrize("expression", FAILS)
def test_the_list_is_of_what_fails(expression: str, server: Server) -> None:
    """Each of them does, in this version, and each is on the page."""
    with pytest.raises(psycopg.Error):
        server.run(f"SELECT {expression}")
    assert f"`{expression}`" in PAGE.read_text()


def odd_doubles(random: Random, number: int) -> list[float]:
    """Of all exponents alike, with those near both ends, and what is no ordinary number."""
    special = [0.0, -0.0, math.inf, -math.inf, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308,
               1.79e308, 1.0, -1.0, 0.5, 2.0**-1070, 2.0**-1022, 2.0**1023, 2.0**53, 1 - 2.0**-53]  # fmt: skip
    some = [struct.unpack("<d", random.randbytes(8))[0] for _ in range(number)]
    return [random.choice(special) if random.random() < 0.3 or math.isnan(each) else each for each in some]


@pytest.mark.parametrize("operation", ("add", "subtract", "multiply", "divide", "round", "floor", "as_integer"))
def test_no_pair_of_doubles_fails(operation: str, server: Server) -> None:
    """Twenty thousand pairs: what others compute, or infinite or zero where a result is near the ends of doubles."""
    random, dialect = Random(5), PostgresDialect()
    pairs = list(zip(odd_doubles(random, 20_000), odd_doubles(random, 20_000), strict=True))
    server.run("CREATE TABLE t (i int, x double precision, y double precision)")
    with psycopg.connect(server.address) as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY {server.schema}.t FROM STDIN") as copy:
            for place, pair in enumerate(pairs):
                copy.write_row((place, *pair))
        arity = 1 if operation in ("round", "floor", "as_integer") else 2
        short, long = ["s.x", "s.y"][:arity], [f"coalesce({each}, {'NULL, ' * 20}0)" for each in ("s.x", "s.y")][:arity]
        both = ", ".join(dialect.call(operation, arguments) for arguments in (short, long))
        found = cursor.execute(f"SELECT {both} FROM {server.schema}.t AS s ORDER BY i").fetchall()
    x, y = np.array(pairs).T
    with np.errstate(all="ignore"):
        expected = {
            "add": x + y, "subtract": x - y, "multiply": x * y, "divide": np.where(y == 0, np.nan, x / y),
            "round": np.where(np.abs(x) < 2**52, np.sign(x) * np.floor(np.abs(x) + 0.5), x), "floor": np.floor(x),
            "as_integer": np.rint(x),
        }[operation]  # fmt: skip
    for pair, (once, again), right in zip(pairs, found, expected, strict=True):
        assert once == again or (once != once and again != again)
        value = math.nan if once is None else once
        if math.isnan(right):
            assert math.isnan(value), pair
        elif abs(right) >= 1.79e308:
            assert value == right or value == math.copysign(math.inf, right), pair
        elif abs(right) < 1e-321:
            assert value in (0, right), pair
        elif operation == "round" and abs(abs(pair[0]) % 1 - 0.5) < 1e-9:
            assert abs(value - right) <= 1
        else:
            assert value == right, (pair, value, right)


def test_functions_that_fail_are_not_offered(server: Server) -> None:
    """Refused by their text, before the data."""
    server.run("CREATE TABLE t (p int, x double precision, k bigint, r text, d date)")
    curator = sf.Curator({"t": sf.table(server.at("t"), unit="p")}, budget=1)
    for expression in REFUSED:
        with pytest.raises((UnsupportedQuery, InvalidArgument)):
            curator.plan(f"SELECT COUNT(*) AS n FROM t WHERE {expression} IS NOT NULL", 1, Options())


ASKED: dict[str, tuple[str, Kind]] = {
    "smallint": ("-32768", Kind.INTEGER), "integer": ("2147483647", Kind.INTEGER), "bigint": (LEAST, Kind.INTEGER),
    "real": ("'NaN'", Kind.REAL), "double precision": ("'-Infinity'", Kind.REAL), "numeric": ("'Infinity'", Kind.REAL),
    "numeric(1000, 500)": ("1e499", Kind.REAL), "numeric(5, -2)": ("12345", Kind.REAL), "text": ("''", Kind.TEXT),
    "varchar(3)": ("'a  '", Kind.TEXT), "char(3)": ("'a'", Kind.TEXT), "uuid": ("gen_random_uuid()", Kind.TEXT),
    "mood": ("'it''s \"fine\"'", Kind.TEXT), "boolean": ("true", Kind.BOOLEAN), "date": ("'-infinity'", Kind.DATE),
    "timestamp": ("'infinity'", Kind.TIMESTAMP), "timestamptz": ("'294276-12-31 23:59:59+00'", Kind.TIMESTAMP),
    "whole": ("7", Kind.INTEGER), "nested": ("7", Kind.INTEGER), "moody": ("'sad'", Kind.TEXT),
    "integer GENERATED ALWAYS AS (1) STORED": ("DEFAULT", Kind.INTEGER),
    "integer GENERATED ALWAYS AS IDENTITY": ("DEFAULT", Kind.INTEGER),
}  # fmt: skip
UNASKED: dict[str, tuple[str, str]] = {
    "integer[]": ("'{1}'", r"int4\[\]"), "json": ("'{}'", "json"), "jsonb": ("'{}'", "jsonb"), "money": ("1", "money"),
    "interval": ("'1 day'", "interval"), "bytea": ("''", "bytea"), "time": ("'12:00'", "time"), "xml": ("NULL", "xml"),
    "inet": ("'::1'", "inet"), "bit(3)": ("B'101'", "bit"), "point": ("'(1,1)'", "point"), "oid": ("1", "oid"),
    "int4range": ("'[1,2)'", "pg_catalog.int4range"), "name": ("'a'", "name"), '"char"': ("'a'", '"char"'),
    "pair": ("ROW(1, 2)", r".*\.pair"),
}  # fmt: skip


def test_every_type_is_asked_or_refused(server: Server) -> None:
    """As a column and as a unit, with its worst value and without one; domains as what they are made of."""
    server.run(
        "CREATE TYPE mood AS ENUM ('sad', 'it''s \"fine\"')", "CREATE DOMAIN whole AS integer CHECK (VALUE > 0)",
        "CREATE DOMAIN nested AS whole", "CREATE DOMAIN moody AS mood", "CREATE TYPE pair AS (a int, b int)",
    )  # fmt: skip
    listed = [*ASKED, *UNASKED]
    columns = ", ".join(f"c{place} {type}" for place, type in enumerate(listed))
    values = ", ".join({**ASKED, **UNASKED}[type][0] for type in listed)
    given = [place for place, type in enumerate(listed) if "GENERATED" not in type]
    server.run(
        f"CREATE TABLE t (p int, {columns})", f"INSERT INTO t VALUES (1, {values})",
        f"INSERT INTO t (p, {', '.join(f'c{place}' for place in given)}) VALUES (2{', NULL' * len(given)})",
    )  # fmt: skip
    declared = sf.table(server.at("t"), unit="p", max_rows_per_unit=1)
    names = [f"c{place}" for place in range(len(ASKED))]
    assert [declared.kind(name) for name in names] == [kind for _, kind in ASKED.values()]
    counts = "SELECT " + ", ".join(f"COUNT({name}) AS n{name}" for name in names) + " FROM t"
    record = recorded({"t": declared}, PostgresEngine(), counts, "laplace")
    found = [cells[0] for label, cells, _ in record if label.startswith("cells")]
    for count, (type, (value, kind)) in zip(found, ASKED.items(), strict=True):
        missing = kind in (Kind.DATE, Kind.TIMESTAMP) or value in ("'NaN'", "1e499")
        assert count == (0 if missing else 2 if "GENERATED" in type else 1) * 2**20, type
    for several in (names[::2], names[1::2]):
        grouped = f"SELECT {', '.join(several)}, COUNT(*) AS n FROM t GROUP BY {', '.join(several)}"
        assert recorded({"t": declared}, PostgresEngine(), grouped, "laplace")
    for name, type in zip(names, ASKED, strict=True):
        by = {"t": sf.table(server.at("t"), unit=name, max_rows_per_unit=1)}
        (units,) = recorded(by, PostgresEngine(), f"SELECT COUNT(DISTINCT {name}) AS n FROM t", "laplace")[-1][1]
        assert units == 2**20 * (2 if type.endswith("IDENTITY") else 1), type
    for place, (_, named) in enumerate(UNASKED.values(), len(ASKED)):
        for refused in ({"unit": f"c{place}"}, {"unit": "p", "columns": {f"c{place}": sf.column(type="text")}}):
            with pytest.raises(InvalidArgument, match=rf"must be a number, a text, .*; got {named}; convert it"):
                sf.table(server.at("t"), **refused)  # type: ignore[arg-type]


def test_a_column_that_is_computed_when_it_is_read_is_refused(server: Server) -> None:
    """Its expression may fail on a row (version 18 on; before, there is none)."""
    try:
        server.run("CREATE TABLE t (p int, x int, y int GENERATED ALWAYS AS (100 / x) VIRTUAL)")
    except psycopg.errors.SyntaxError:
        assert server.run("SHOW server_version_num")[0][0] < "180000"
        return
    server.run("INSERT INTO t VALUES (1, 0)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        server.run("SELECT y FROM t")
    with pytest.raises(InvalidArgument, match="got virtual generated column; convert it, or leave it out"):
        sf.table(server.at("t"), unit="p", columns={"y": sf.column(bounds=(0, 9))})
    curator = sf.Curator({"t": sf.table(server.at("t"), unit="p")}, budget=1)
    assert curator.ask("SELECT SUM(x) AS x FROM t", epsilon=0.5, estimate_bounds=True).rows
    with pytest.raises(sf.errors.SfumatoError, match=r"column 'y' .* got virtual generated column"):
        curator.ask("SELECT COUNT(y) AS n FROM t", epsilon=0.5)


NAMES = ("g", "x0", "place", "u0", "c0", "k0", "s", "v", "t", "keys", "counted", "%", "%s", "{0}", "a b", "a.b", 'a"b',
         "a'b", "a;b", "--", "UPPER", "select", "größe", "n" * 63, "日本", "\\")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_asked(name: str, server: Server) -> None:
    """As a column, as the unit, and as a table in a schema of that name."""
    quoted = '"' + name.replace('"', '""') + '"'
    other = quoted if len(quoted) < 60 else '"schema"'
    try:
        server.run(
            f"CREATE SCHEMA {other}", f"CREATE TABLE {other}.{quoted} ({quoted} double precision, p int)",
            f"INSERT INTO {other}.{quoted} VALUES (1, 1), (2, 2), (NULL, 3)",
        )  # fmt: skip
        address = server.at("t").rpartition("#")[0]
        declared = sf.table(
            f"{address}#{other}.{quoted}", unit="p", max_rows_per_unit=1, columns={name: sf.column(bounds=(0, 4))}
        )
        question = f"SELECT SUM({quoted}) AS s, COUNT(*) AS n FROM t WHERE {quoted} > 1"
        assert recorded({"t": declared}, PostgresEngine(), question, "laplace")[-1][1][-1] == 2**20
        unit = sf.table(f"{address}#{other}.{quoted}", unit=name, max_rows_per_unit=1)
        found = recorded({"t": unit}, PostgresEngine(), f"SELECT COUNT(DISTINCT {quoted}) AS n FROM t", "laplace")
        assert found[-1][1] == [2 * 2**20]
    finally:
        server.run(f"DROP SCHEMA IF EXISTS {other} CASCADE")


def test_rows_of_parts_and_heirs_count_and_whoever_may_not_see_all_is_refused(server: Server) -> None:
    """Partitions, inheritance, row-level security."""
    role = f"{server.schema}_reader"
    server.run(
        "CREATE TABLE parted (p int, d date) PARTITION BY RANGE (d)",
        "CREATE TABLE early PARTITION OF parted FOR VALUES FROM (MINVALUE) TO ('2026-01-01')",
        "CREATE TABLE late PARTITION OF parted DEFAULT",
        "INSERT INTO parted VALUES (1, '2025-01-01'), (2, '2026-01-01'), (3, NULL)",
        "CREATE TABLE old (p int)", "CREATE TABLE young (more int) INHERITS (old)",
        "INSERT INTO old VALUES (1)", "INSERT INTO young VALUES (2, 2)",
        "CREATE TABLE hidden (p int, seen boolean)", "INSERT INTO hidden VALUES (1, true), (2, false)",
        "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY", "CREATE POLICY few ON hidden USING (seen)",
        f"CREATE ROLE {role} LOGIN", f"GRANT USAGE ON SCHEMA {server.schema} TO {role}",
        f"GRANT SELECT ON hidden TO {role}",
    )  # fmt: skip
    try:
        for name, expected in (("parted", 3), ("early", 1), ("old", 2), ("hidden", 2)):
            address = server.at(name)
            found = recorded(
                {"t": sf.table(address, unit="p", max_rows_per_unit=1)},
                PostgresEngine(),
                "SELECT COUNT(*) AS n FROM t",
                "laplace",
            )
            assert found[-1][1] == [expected * 2**20], name
        with pytest.raises(InvalidArgument, match="got row-level security"):
            sf.table(server.at("hidden", username=role), unit="p")
    finally:
        server.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_equal_units_are_one_however_they_are_written(server: Server) -> None:
    """1 and 1.00, 0 and -0: also where a hash chooses which of their rows count."""
    server.run(
        "CREATE TABLE t (n numeric, f double precision, v int)",
        "INSERT INTO t SELECT CASE i % 2 WHEN 0 THEN 1 ELSE 1.00 END, CASE i % 2 WHEN 0 THEN 0 ELSE '-0'::float8 END, "
        "i FROM generate_series(1, 40) i",
    )
    for unit in ("n", "f"):
        declared = sf.table(server.at("t"), unit=unit, max_rows_per_unit=40)
        found = recorded({"t": declared}, PostgresEngine(), f"SELECT COUNT(DISTINCT {unit}) AS n FROM t", "laplace")
        assert found[-1][1] == [2**20]
        plan = sf.Curator({"t": declared}, budget=Guarantee(9)).plan(
            "SELECT COUNT(DISTINCT v) AS n FROM t", 1, Options()
        )
        with PostgresEngine().run(plan) as run:
            hashes: list[Any] = run.fetch(f"SELECT DISTINCT {run.dialect.hash(run.units)} FROM {run.counted}")
        assert len(hashes) == 1, unit
