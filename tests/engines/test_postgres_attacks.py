"""What a hostile owner's table, a busy server or a password in an address might do to a promise on PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import make_url

import sfumato as sf
from engines.loading import Server
from sfumato.audit.sql.recorder import record, zeros
from sfumato.curator.curator import Curator, Options
from sfumato.engines.postgres import PostgresEngine
from sfumato.errors import InvalidArgument, SfumatoError

COUNT = "SELECT COUNT(*) AS n FROM t"
SECRET = "hunter-2-hunter"


@pytest.mark.parametrize(
    ("made", "attach"),
    (
        ("PARTITION BY LIST (k)", "ALTER TABLE t ATTACH PARTITION more FOR VALUES IN (2)"),
        ("", "ALTER TABLE more INHERIT t"),
    ),
)
def test_a_part_that_comes_between_two_passes_is_not_seen(server: Server, made: str, attach: str) -> None:
    """Its rows are older than the snapshot, so the server shows them at once: a thousand rows of a unit, unweighed."""
    server.run(
        f"CREATE TABLE t (p bigint, k int) {made}",
        "CREATE TABLE part PARTITION OF t FOR VALUES IN (1)" if made else "SELECT 1",
        "CREATE TABLE more (p bigint, k int)",
        "INSERT INTO t SELECT n, 1 FROM generate_series(1, 5) n",
        "INSERT INTO more SELECT 1, 2 FROM generate_series(1, 1000)",
    )
    declared = sf.table(server.at("t"), unit="p")
    plan = Curator({"t": declared}, budget=9).plan(COUNT, 1, Options(max_rows_per_unit=1))
    with PostgresEngine().run(plan) as run:
        run.prepare(plan.measures)
        server.run("SET lock_timeout = '5s'", attach)
        during = run.cells([2**20])
    with PostgresEngine().run(plan) as run:
        run.prepare(plan.measures)
        after = run.cells([2**40])
    assert during == {(): [5 * 2**20]} and after == {(): [1005 * 2**20]}  # the next question has it


def test_parts_must_be_told_apart(server: Server) -> None:
    """Which takes the right to a column of the system, where rights are given by columns."""
    role = f"{server.schema}_parts"
    server.run(
        "CREATE TABLE t (p bigint) PARTITION BY LIST (p)",
        "CREATE TABLE part PARTITION OF t FOR VALUES IN (1)",
        f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'",
        f"GRANT USAGE ON SCHEMA {server.schema} TO {role}",
        f"GRANT SELECT (p) ON t TO {role}",
    )
    try:
        with pytest.raises(InvalidArgument, match=r"permission was denied; .* GRANT SELECT \(tableoid\)"):
            sf.table(server.at("t", username=role, password=SECRET), unit="p")
        server.run(f"GRANT SELECT (tableoid) ON t TO {role}")
        declared = sf.table(server.at("t", username=role, password=SECRET), unit="p")
        assert Curator({"t": declared}, budget=1).ask(COUNT, epsilon=1).rows
    finally:
        server.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_row_security_is_refused(server: Server) -> None:
    """A policy may choose other rows in every pass, here by a coin; so no limit would hold. Its owner sees all."""
    role = f"{server.schema}_policy"
    server.run(
        "CREATE TABLE t (p bigint)",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY coin ON t USING (random() < 0.5)",
        f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'",
        f"GRANT USAGE ON SCHEMA {server.schema} TO {role}",
        f"GRANT SELECT ON t TO {role}",
    )
    try:
        with pytest.raises(InvalidArgument, match="got row-level security; create a table of the rows that count"):
            sf.table(server.at("t", username=role, password=SECRET), unit="p")
        assert sf.table(server.at("t"), unit="p")
        server.run("ALTER TABLE t DISABLE ROW LEVEL SECURITY")
        curator = Curator({"t": sf.table(server.at("t", username=role, password=SECRET), unit="p")}, budget=1)
        server.run("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
        with pytest.raises(InvalidArgument, match="got row-level security"):
            curator.ask(COUNT, epsilon=1)
        assert curator.remaining().epsilon == 1
    finally:
        server.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_column_that_is_computed_when_it_is_read_is_left_out(server: Server) -> None:
    """One person's zero would make every question about it fail."""
    try:
        server.run("CREATE TABLE t (p bigint, x float8, v float8 GENERATED ALWAYS AS (1 / x) VIRTUAL)")
    except psycopg.errors.SyntaxError:  # before version 18 there are none; what is stored is computed by the writer
        server.run("CREATE TABLE t (p bigint, x float8)")
    server.run("INSERT INTO t (p, x) VALUES (1, 0)")
    assert list(sf.table(server.at("t"), unit="p").columns) == ["p", "x"]
    with pytest.raises(SfumatoError, match="column 'v'"):
        sf.table(server.at("t"), unit="p", columns={"v": sf.column(bounds=(0, 1))})


SPELLINGS = (("numeric", "1", "1.00"), ("float8", "0", "-0"), ("float4", "-0", "0"))


@pytest.mark.parametrize(("kind", "one", "other"), SPELLINGS)
def test_it_does_not_matter_how_a_units_number_is_spelled_first(
    server: Server, kind: str, one: str, other: str
) -> None:
    """1 and 1.00 are one unit, whose landmark follows from a hash of it.

    Which comes first follows from the order of rows, and where the server sorts them, from the rows of others.
    """
    found = []
    for table, (first, second) in (("t", (one, other)), ("u", (other, one))):
        server.run(
            f"CREATE TABLE {table} (p {kind}, k int, x float8)",
            f"INSERT INTO {table} SELECT '{first}'::{kind}, n, -5 FROM generate_series(1, 40) n",
            f"INSERT INTO {table} SELECT '{second}'::{kind}, n, 5 FROM generate_series(1, 40) n",
        )
        declared = sf.table(server.at(table), unit=["p", "k"], columns={"x": sf.column(bounds=(-9, 9))})
        plan = Curator({"t": declared}, budget=9).plan("SELECT MEDIAN(x) AS m FROM t", 1, Options())
        with PostgresEngine().run(plan) as run:
            found.append([each for each in record(plan, run, zeros).released if each.label.startswith("landmarks")])
    (landmarks,) = found[0]
    assert sum(landmarks.exact) == 40 and 0 < max(landmarks.exact) < 40  # some chose the least, some the largest
    assert found[0] == found[1]


def test_it_does_not_matter_how_a_value_is_spelled_first(server: Server) -> None:
    """0 and -0 are one value, and a hash of it decides whether it counts or the person's other one."""
    found = []
    for table, zeros_of_all in (("t", ("0", "-0")), ("u", ("-0", "0"))):
        server.run(f"CREATE TABLE {table} (p bigint, r text, x float8)")
        for zero in zeros_of_all:
            server.run(f"INSERT INTO {table} SELECT n, 'a', '{zero}'::float8 FROM generate_series(1, 40) n")
        server.run(f"INSERT INTO {table} SELECT n, 'b' || n % 8, n FROM generate_series(1, 40) n")
        keys = ["a", *(f"b{n}" for n in range(8))]
        declared = sf.table(server.at(table), unit="p", columns={"r": sf.column(keys=keys)})
        question = "SELECT r, COUNT(DISTINCT x) AS n FROM t GROUP BY r"
        plan = Curator({"t": declared}, budget=9).plan(question, 1, Options(max_rows_per_unit=1))
        with PostgresEngine().run(plan) as run:
            found.append(record(plan, run, zeros).released[-1].exact)
    assert 2**20 < sum(found[0][1:]) < 40 * 2**20  # of 40 people, some count with 0, some with their own number
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "address",
    (
        f"postgresql://u:{SECRET} x@host/db#t",
        f"postgresql://u:{SECRET}@host/db?bogus=1#t",
        f"postgresql://u:pa#{SECRET}@localhost:9/db#t",
        f"postgresql://u:pa#{SECRET}@localhost:9/db",
        f"postgresql://u:{SECRET}@localhost:9/db?sslmode=bogus#t",
        f"postgresql://u@localhost:9/db?password={SECRET}#t",
        f"postgresql://u@localhost:9/db#x?password={SECRET}",
    ),
)
def test_no_password_is_in_what_is_said_of_an_address(address: str) -> None:
    """Nor in what an error is tied to: it would be in every traceback that is logged with its context."""
    with pytest.raises(SfumatoError) as caught:
        sf.table(address, unit="p")
    tied: BaseException | None = caught.value
    while tied is not None:
        assert SECRET not in str(tied) and "localhost" not in str(tied)
        tied = tied.__cause__ or tied.__context__


def test_names_may_have_signs_of_addresses_in_quotes(server: Server) -> None:
    server.run('CREATE TABLE "a#b.c@d" (p bigint)')
    address = make_url(server.address).render_as_string(hide_password=False)
    assert sf.table(f'{address}#{server.schema}."a#b.c@d"', unit="p").source.label.endswith(".a#b.c@d")
