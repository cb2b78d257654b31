"""Texts as PostgreSQL reads them: never an error, and what it reads, DuckDB reads the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

import sfumato as sf
from engines.loading import Server, postgres_address
from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.postgres import PostgresDialect, PostgresEngine
from sfumato.engines.postgres.table import SETTINGS
from sfumato.engines.spark import SparkDialect
from sfumato.engines.spark.session import _SETTINGS as SPARK_SETTINGS
from sfumato.engines.sql.dialect import DUCKDB
from sfumato.engines.sql.lower import read_column
from sfumato.testing.engine_tables import recorded

LONG = ("1" * 400, "0." + "1" * 398, "1" * 401, "0." + "1" * 400, "0" * 600 + "1", "-" + "9" * 310)
NUMBERS = (
    "", "0", "5", "+5", "-5", " 5", "5 ", "\t5", "5\n", "\n5\r", "\x0b5", "\x0c5", "\xa05", "5\u2003", "٥", "５",
    "1_000", "_1", "1_", "1__0", "1,000", "1.5", "1.", "5.", ".5", "-.5", "+.5", ".", "-", "+", "--5", "+-5", "-+5",
    "1e5", "1E5", "1e+5", "1e-5", "1e", "1e+", "e5", "1e5.5", "1.e5", ".5e1", "1e05", "1e005", "1e308", "1e309",
    "1e-308", "1e-323", "1e-324", "1e-400", "1e400", "-1e400", "1.7976931348623157e308", "1.7976931348623158e308",
    "1.7976931348623159e308", "4.9e-324", "2.4e-324", "2.5e-324", "2.2250738585072014e-308",
    "2.2250738585072011e-308", "0.1", "0.30000000000000004", "9007199254740993", "9007199254740992.5",
    "123456789012345678901234567890", "0x10", "0X1F", "0xG", "0b101", "0o17", "017", "007", "-0", "-0.0", "+0", "inf",
    "Inf", "INF", "-inf", "+inf", "infinity", "Infinity", "INFINITY", "-Infinity", "infinit", "nan", "NaN", "NAN",
    "-nan", "+nan", "nan(1)", "NULL", "null", "None", "n/a", "1/2", "1 2", "1 000", "- 5", "5-", "(5)", "$5", "5%",
    "5€", "1d", "1f", "5L", "1e5f", "true", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "9223372036854775807.4", "9223372036854775807.5", "9223372036854775806.9", "1e18", "1e19",
    "9.2e18", "9.3e18", "92233720368547758070e-1", "0.5", "2.5", "-0.5", "-1.5", "-2.5", "1.4999", "1.5000001",
    "0.49999999999999999", "2.50", "3.50", "000000000000000000000000000005", "0000000000000000000.5",
    "1000000000000000000000000000000", "0.0000000000000000000000000000001", "1e-1", "15e-1", "25e-1", "5e-1", "1e0",
    "1e-0", "1e1", "12345e-2", "12350e-2", "100e-2", "1e-19", "1e-100", "0e400", "0e-400", "0.0e999999999999",
    "1e99999999999999999999", "1e-99999999999999999999", "5e0001", "1_0.5", "1.0_5", "1e1_0", "1_0e1", "1'000",
    "\u200b5", "\ufeff5", "1٫5", "−5", "1e٥", "½", "Ⅷ",
)  # fmt: skip
TRUTHS = (
    "true", "TRUE", "True", "tRuE", "t", "T", "tr", "tru", "false", "FALSE", "False", "f", "F", "fa", "yes", "YES",
    "Yes", "y", "Y", "no", "No", "NO", "n", "N", "on", "off", "ON", "of", "1", "0", "2", "-1", "01", "00", "1.0",
    "0.0", " true", "true ", "\ttrue\n", " 1", "1 ", "", "+1", "-0", "TRUE1", "oui", "ja", "truе",
)  # fmt: skip
DAYS = (
    "2026-01-05", "2026-1-5", "2026-01-5", "2026-1-05", "2026/01/05", "2026/1/5", "2026.01.05", "2026 01 05",
    "20260105", "2026-01", "2026", "26-01-05", "026-01-05", "0026-01-05", "02026-01-05", "12026-01-05", "99999-01-01",
    "5881580-07-10", "5881580-07-11", "5881581-01-01", "-2026-01-05", "+2026-01-05", "2026-02-28", "2026-02-29",
    "2024-02-29", "2000-02-29", "1900-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00",
    "2026-01-32", "2026-1-32", "0000-01-01", "0001-01-01", "0000-12-31", "9999-12-31", "10000-01-01",
    "2026-01-05 (BC)", "2026-01-05 BC", "0001-01-01 (BC)", "4714-11-24 BC", " 2026-01-05", "2026-01-05 ",
    "\t2026-01-05\n", "2026-01-05T00:00:00", "2026-01-05 00:00:00", "2026-01-05 12:30:59", "2026-01-05 23:59:59.999",
    "2026-01-05T23:59", "2026-01-05 x", "2026-01-05x", "05-01-2026", "01/05/2026", "5.1.2026", "Jan 5, 2026",
    "January 5 2026", "5 Jan 2026", "infinity", "-infinity", "epoch", "now", "today", "inf", "2026-01-05Z",
    "2026-01-05+00", "2026-01-05 00:00:00+00", "2026-01-05 23:00:00-05", "2026-01-05T23:00:00Z", "2026-W01",
    "2026-001", "2026-1/5", "2026/1-5", "2026- 1-5", "2026-01--5", "2026-01-5 ", "2026-001-05", "2026-01-005",
    "2026-01-5.", "２０２６-01-05", "2026‐01‐05", "", "1e3", "J2451187", "2026-01-05,", "2026-01-05 00:00",
    "2026-01-05 24:00:00", "2026-01-05 25:00:00", "2026-01-05 00:60:00",
)  # fmt: skip
TIMES = (
    "2026-01-05 12:30:59", "2026-01-05T12:30:59", "2026-01-05t12:30:59", "2026-01-05 12:30", "2026-01-05 12",
    "2026-01-05T12", "2026-01-05 1:2:3", "2026-1-5 1:2:3", "2026-01-05 01:02:3", "2026-01-05  12:30:59",
    "2026-01-05\t12:30:59", "2026-01-05", "2026-01-05 ", "2026-01-05T", "2026-01-05 12:30:59.1",
    "2026-01-05 12:30:59.", "2026-01-05 12:30:59.123", "2026-01-05 12:30:59.123456", "2026-01-05 12:30:59.1234567",
    "2026-01-05 12:30:59.1234565", "2026-01-05 12:30:59.1234575", "2026-01-05 12:30:59.999999",
    "2026-01-05 12:30:59.9999999", "2026-01-05 12:30:59.123456789", "2026-01-05 12:30:59.1234567891",
    "2026-01-05 12:30:59,5", "2026-01-05 23:59:59.9999999", "2026-12-31 23:59:59.9999999", "2026-01-05 24:00:00",
    "2026-01-05 24:00:01", "2026-01-05 23:59:60", "2026-01-05 23:60:00", "2026-01-05 25:00:00",
    "2026-01-05 00:00:00Z", "2026-01-05 00:00:00z", "2026-01-05 00:00:00 Z", "2026-01-05 00:00:00+00",
    "2026-01-05 00:00:00+0000", "2026-01-05 00:00:00+00:00", "2026-01-05 00:00:00-00", "2026-01-05 12:00:00+05",
    "2026-01-05 12:00:00+05:30", "2026-01-05 12:00:00+0530", "2026-01-05 12:00:00-05", "2026-01-05 12:00:00+5",
    "2026-01-05 12:00:00 +05", "2026-01-05 12:00:00 -05:00", "2026-01-05 12:00:00+15", "2026-01-05 12:00:00+16",
    "2026-01-05 12:00:00+15:59", "2026-01-05 12:00:00+14:00:30", "2026-01-05 12:00:00+24", "2026-01-05 12:00:00+99",
    "2026-01-05 12:00:00+05:60", "2026-01-05 12:00:00+05:99", "2026-01-05 12:00:00 UTC", "2026-01-05 12:00:00 utc",
    "2026-01-05 12:00:00UTC", "2026-01-05 12:00:00 GMT", "2026-01-05 12:00:00 CET", "2026-01-05 12:00:00 EST",
    "2026-01-05 12:00:00 Europe/Berlin", "2026-01-05 12:00:00 Nowhere/Land", "2026-01-05 12:00:00[Europe/Berlin]",
    "2026-01-05 12:00:00 PM", "2026-01-05 01:00 PM", "2026-01-05T12:30Z", "2026-01-05T12:30+01:00",
    "2026-01-05 12:30:59 ", "  2026-01-05 12:30:59", "2026-01-05 12:30:59\n", "2026/01/05 12:30:59",
    "2026.01.05 12:30", "20260105 123059", "20260105T123059", "2026-01-05 123059", "2026-02-30 00:00:00",
    "2026-13-01 00:00:00", "0000-01-01 00:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999",
    "9999-12-31 23:59:59.9999999", "10000-01-01 00:00:00", "9999-12-31 23:59:59-05", "0001-01-01 00:00:00+05",
    "294247-01-10 04:00:54.775806", "294247-01-10 04:00:54.775807", "294248-01-01", "290309-12-22 (BC) 00:00:00",
    "2026-01-05 (BC) 00:00:00", "infinity", "-infinity", "inf", "epoch", "now", "today", "12:30:59", "1700000000",
    "1e9", "Mon Jan 05 2026", "Jan 5 2026 12:00", "2026-01-05 12:30:59 x", "2026-01-05 12:30:x",
    "2026-01-05x12:30:59", "2026-01-05 -1:00:00", "2026-01-05 12:-1:00", "2026-01-05 012:00:00",
    "2026-01-05 12:000:00", "", "null", "2026-01-05 12:30:59+", "2026-01-05 12:30:59-", "2026-01-05+01",
    "2026-01-05 +01", "2026-01-05Z", "2026-01-05 Z", "2026-01-05 UTC", "2026-01-05 12:30:59.5+01:00",
    "2026-01-05 12:30:59.5Z", "2026-01-05 12+01", "2026-01-05 12:30+01",
)  # fmt: skip
ODD = tuple(dict.fromkeys((*LONG, *NUMBERS, *TRUTHS, *DAYS, *TIMES)))
# What DuckDB reads and PostgreSQL does not, of the texts above; the how-to page says so.
LEFT_OUT: dict[Kind, set[str]] = {
    Kind.REAL: {"+-5", "1e1_0", "0.0e999999999999", "1e99999999999999999999", "1e-99999999999999999999"},
    Kind.INTEGER: {"0x10", "0X1F", "0b101", "1e1_0", "2.2250738585072014e-308", "2.2250738585072011e-308"},
    Kind.BOOLEAN: set(),
    Kind.DATE: {"02026-01-05", "epoch", "2026-01-05 012:00:00"},
    Kind.TIMESTAMP: {"02026-01-05", "epoch", "2026-01-05 012:00:00"},
}


def read_there(address: str, texts: Sequence[str], kind: Kind) -> list[Any]:
    """As PostgreSQL reads them, in a session with the settings of a question."""
    with psycopg.connect(address, autocommit=True) as connection:
        for name, value in SETTINGS.items():
            connection.execute(f"SELECT set_config('{name}', '{value}', false)")
        connection.execute("CREATE TEMP TABLE s (i integer, x text)")
        with connection.cursor() as cursor, cursor.copy("COPY pg_temp.s FROM STDIN") as copy:
            for place, text in enumerate(texts):
                copy.write_row((place, text))
        read = read_column(PostgresDialect(), "s.x", Column(kind), "text")
        return [value for (value,) in connection.execute(f"SELECT {read} FROM pg_temp.s ORDER BY i").fetchall()]


def read_here(texts: Sequence[str], kind: Kind) -> list[Any]:
    """As DuckDB reads them."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        places = list(range(len(texts)))
        connection.execute(
            "CREATE TABLE s AS SELECT unnest(?::INTEGER[]) AS i, unnest(?::VARCHAR[]) AS x", [places, texts]
        )
        read = read_column(DUCKDB, "s.x", Column(kind))
        return [value for (value,) in connection.execute(f"SELECT {read} FROM s ORDER BY i").fetchall()]


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_every_text_is_read_as_duckdb_reads_it_or_not_at_all(kind: Kind, postgres: Callable[[], str]) -> None:
    """Which of them are not read is known by name."""
    address, _ = postgres_address(postgres())
    there, here = read_there(address, ODD, kind), read_here(ODD, kind)
    unlike = {text: (mine, theirs) for text, mine, theirs in zip(ODD, there, here, strict=True) if mine != theirs}
    assert {text: both for text, both in unlike.items() if both[0] is not None} == {}
    known = LEFT_OUT[kind] | {text for text in LONG if len(text) > 400}
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        known |= {text for text in unlike if text.endswith((" utc", " CET", " EST", " PM", " x", "in", "nd"))}  # zones
    assert set(unlike) <= known and LEFT_OUT[kind] <= set(unlike)
    assert sum(value is not None for value in there) > 20


def some_number(random: Random) -> str:
    parts = ("", "+", "-", " ", "\t", "0", "00", "5", "12", "_", ".", "e", "E", "e+", "e-", "1e", "308", "324", "inf",
             "nan", "x", str(2**63 - 1), str(2**63), "0" * 18, "\n", "\x0b")  # fmt: skip
    return "".join(random.choice(parts) for _ in range(random.randint(1, 6)))


def some_time(random: Random) -> str:
    some, number = random.choice, random.randint
    first = some("-/ --\\.")
    second = first if random.random() < 0.9 else some("-/ ")
    year = some(("2026", "2024", "1900", "2000", "1", "26", "026", "0000", "0001", "9999", "10000"))
    text = (
        f"{some(('', ' ', chr(9)))}{year}{first}{number(0, 13):0{number(1, 2)}}{second}{number(0, 33):0{number(1, 2)}}"
    )
    if random.random() < 0.7:
        text += f"{some((' ', 'T', '  ', chr(9), 't'))}{number(0, 25):0{number(1, 2)}}:{number(0, 61)}"
        text += f":{number(0, 61)}" if random.random() < 0.8 else ""
        text += "." + str(number(0, 10**9)) if random.random() < 0.5 else ""
        text += some(
            ("", "", "Z", " Z", "+00", "+01:00", " -0530", "+5", "UTC", " UTC", "  UTC", "-00:00:30", "Z ", "+")
        )
    return text + some(("", "", " ", "\n"))


@pytest.mark.parametrize(("kind", "some"), ((Kind.REAL, some_number), (Kind.INTEGER, some_number),
                                            (Kind.DATE, some_time), (Kind.TIMESTAMP, some_time)))  # fmt: skip
def test_no_text_fails_and_none_is_read_otherwise(
    kind: Kind, some: Callable[[Random], str], postgres: Callable[[], str]
) -> None:
    """Three thousand texts of pieces of numbers or times; one cast that fails would fail for all."""
    random = Random(7)
    texts = [some(random) for _ in range(3000)]
    there, here = read_there(postgres_address(postgres())[0], texts, kind), read_here(texts, kind)
    otherwise = [each for each in zip(texts, there, here, strict=True) if each[1] is not None and each[1] != each[2]]
    assert otherwise == []
    assert sum(value is not None for value in there) > 100


def test_texts_are_declared_as_what_they_hold(server: Server) -> None:
    """In any of the types that hold letters; the same integers as from a frame, and units keep their letters."""
    server.run(
        "CREATE TYPE size AS ENUM ('1', '2.5', 'large')",
        "CREATE TABLE t (p text, x varchar(9), k char(6), b text, d text, w text, s size)",
        "INSERT INTO t VALUES ('1', '1.5', ' 7', 'yes', '2026-1-5', '2026-01-05T12:30', '2.5'), "
        "('1.0', '1e9', '0x7', 'no', '2026-02-29', '2026-02-29', 'large'), "
        "('01', 'many', '-3', 'perhaps', 'soon', 'later', '1'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    )
    columns = {
        "p": sf.column(type="double"), "x": sf.column(type="double", bounds=(0, 100)),
        "k": sf.column(type="integer", bounds=(-9, 9)), "b": sf.column(type="boolean"), "d": sf.column(type="date"),
        "w": sf.column(type="timestamp"), "s": sf.column(type="double", bounds=(0, 9)),
    }  # fmt: skip
    there = sf.table(server.at("t"), unit="p", max_rows_per_unit=1, columns=columns)
    rows = [
        dict(zip("pxkbdws", row, strict=True)) for row in server.run("SELECT p, x, trim(k), b, d, w, s::text FROM t")
    ]

    here = sf.table(pa.Table.from_pylist(rows), unit="p", max_rows_per_unit=1, columns=columns)
    for question, expected in (
        ("SELECT COUNT(DISTINCT p) AS n FROM t", 3),
        ("SELECT COUNT(x) AS n FROM t", 2),
        ("SELECT COUNT(k) AS n FROM t", 2),
        ("SELECT COUNT(*) AS n FROM t WHERE b", 1),
        ("SELECT COUNT(d) AS n FROM t", 1),
        ("SELECT COUNT(*) AS n FROM t WHERE EXTRACT(HOUR FROM w) = 12", 1),
        ("SELECT COUNT(*) AS n FROM t WHERE s > 1", 1),
    ):
        found = recorded({"t": there}, PostgresEngine(), question, "laplace")
        assert found[-1][1] == [expected * 2**20], question
        if question != "SELECT COUNT(k) AS n FROM t":  # a hexadecimal number is one for DuckDB
            assert found == recorded({"t": here}, DuckdbEngine(), question, "laplace"), question
    sums = "SELECT SUM(x) AS x, AVG(s) AS s, MEDIAN(x) AS m FROM t"
    assert recorded({"t": there}, PostgresEngine(), sums, "laplace") == recorded(
        {"t": here}, DuckdbEngine(), sums, "laplace"
    )


ALIKE: dict[Kind, tuple[str, ...]] = {
    Kind.REAL: ("-12.5", "+3", ".5", "5.", "1.5e-3", "inf", "-Infinity", " 7 ", "1e400", "x", "", "1 2", "1,5"),
    Kind.INTEGER: ("-12", "+3", "\t7\n", "007", str(2**63 - 1), str(-(2**63)), str(2**63), "x", "", "1 2", "1,000"),
    Kind.BOOLEAN: ("true", "T", "yes", "Y", "1", "False", "f", "no", "N", "0", "on", "2", "", "tru"),
    Kind.DATE: ("2026-01-05", "2026-1-5", " 2026-01-05 ", "2024-02-29", "2026-02-29", "2026-01-05 12:30:59",
                "2026-1-5T9:05", "20260105", "05.01.2026", "soon", "0000-01-01", "9999-12-31", ""),
    Kind.TIMESTAMP: ("2026-01-05", "2026-01-05 12:30", "2026-1-5T9:05:00.25", "2026-01-05 12:30:59.123456",
                     "2026-01-05 12:30:59Z", "2026-01-05T12:30:59+05:30", "2026-01-05 12:30:60", "2026-02-30 00:00:00",
                     "soon"),
}  # fmt: skip


def test_the_forms_of_the_page_mean_the_same_on_every_engine(postgres: Callable[[], str], spark: Any) -> None:
    """Those that the how-to page lists, and what none of them reads."""
    address = postgres_address(postgres())[0]
    session = spark.newSession()
    for name, value in SPARK_SETTINGS.items():
        session.conf.set(name, value)
    for kind, texts in ALIKE.items():
        rows = session.createDataFrame(pa.table({"i": list(range(len(texts))), "x": list(texts)}))
        rows.createOrReplaceTempView("texts")
        read = read_column(SparkDialect(), "s.x", Column(kind), "string")
        found = [row[0] for row in session.sql(f"SELECT {read} FROM texts AS s ORDER BY i").collect()]
        assert found == read_here(texts, kind) == read_there(address, texts, kind), kind
        assert any(value is None for value in found) and any(value is not None for value in found)
