"""PostgreSQL as it is: what leaves it, what its owner may have set, and what goes wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from sqlalchemy import make_url

import sfumato as sf
from engines.loading import Server
from sfumato.curator.curator import Curator, Options
from sfumato.engines import postgres as engine
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.postgres import PostgresEngine, PostgresSession, PostgresTable
from sfumato.engines.registry import EngineOfTables
from sfumato.errors import EngineFailed, InvalidArgument, Refused, SourceNotFound, UnsupportedQuery
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee
from sfumato.testing.engine_tables import COLUMNS, ROWS, recorded

COUNT = "SELECT COUNT(*) AS n FROM t"
SECRET = "hunter-2-hunter"


@pytest.fixture
def few(server: Server) -> Server:
    """With five people in table t."""
    server.run(
        "CREATE TABLE t (p bigint, x double precision)", "INSERT INTO t SELECT n, n FROM generate_series(1, 5) n"
    )
    return server


def exact(declared: sf.Table, question: str = COUNT) -> list[Any]:
    return recorded({"t": declared}, PostgresEngine(), question, "laplace")[-1][1]


def test_only_integers_for_groups_and_bins_are_fetched(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand rows of three thousand people, what is fetched is as much as there are groups and bins."""
    server.run(
        "CREATE TABLE t (p int, x double precision, r text)",
        "INSERT INTO t SELECT n % 3000, sqrt(n), CASE n % 2 WHEN 0 THEN 'a' ELSE 'b' END "
        "FROM generate_series(1, 10000) n",
    )
    fetched: list[int] = []
    query = PostgresSession._query

    def counting(session: PostgresSession, sql: str) -> Any:
        rows, width = query(session, sql)
        fetched.append(len(rows))
        assert all(isinstance(value, int) or value == int(value) for row in rows for value in row)
        return rows, width

    monkeypatch.setattr(PostgresSession, "_query", counting)
    declared = sf.table(
        server.at("t"), unit="p", columns={"r": sf.column(keys=["a", "b"]), "x": sf.column(bounds=(0, 100))}
    )
    curator = Curator({"t": declared}, budget=Guarantee(100))
    curator.ask("SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t GROUP BY r", epsilon=1)
    assert sum(fetched) <= 2 + 2 * 384 + 3 * 126  # groups, bins of averages in two looks, bins of contributions
    fetched.clear()
    curator.ask("SELECT MEDIAN(x) AS m FROM t", epsilon=1)
    assert max(fetched) <= 4096


def test_the_owners_settings_change_nothing(few: Server) -> None:
    """Functions of the same name, another search path, time zone and style of dates; settings of the role itself."""
    few.run(
        "CREATE TABLE times (p bigint, w timestamptz, r text)",
        "INSERT INTO times VALUES (1, '2026-01-31 23:30:00+00', 'a'), (2, '2026-02-01 00:30:00+00', 'b')",
        "CREATE FUNCTION abs(double precision) RETURNS double precision LANGUAGE sql AS 'SELECT 1 / 0.0::float8'",
        "CREATE FUNCTION count_up(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'",
        "CREATE AGGREGATE count(bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '7')",
    )
    unusual = (
        "TimeZone=Asia/Tokyo",
        "DateStyle=SQL,DMY",
        "transform_null_equals=on",
        "default_transaction_read_only=on",
    )
    options = " ".join(f"-c{each}" for each in (f"search_path={few.schema},pg_catalog", *unusual))
    address = make_url(few.address).update_query_dict({"options": options}).render_as_string(hide_password=False)
    declared = sf.table(f"{address}#{few.schema}.times", unit="p", max_rows_per_unit=1)
    month = "SELECT COUNT(*) AS n FROM t WHERE EXTRACT(MONTH FROM w) = 1 AND w < TIMESTAMP '2026-02-01 00:00:00'"
    assert exact(declared, month) == [2**20]
    numbers = sf.table(
        f"{address}#{few.schema}.t", unit="p", max_rows_per_unit=1, columns={"x": sf.column(bounds=(0, 9))}
    )
    assert exact(numbers, "SELECT SUM(ABS(x)) AS s FROM t") == exact(
        sf.table(few.at("t"), unit="p", max_rows_per_unit=1, columns={"x": sf.column(bounds=(0, 9))}),
        "SELECT SUM(x) AS s FROM t",
    )


def test_letters_decide_whatever_the_collation(server: Server) -> None:
    """People whose names a collation takes for equal are two people, and keys are compared by their letters."""
    try:
        server.run("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    except psycopg.errors.FeatureNotSupported:  # a build without one that takes letters for equal; the rest must hold
        server.run("CREATE COLLATION loose (locale = 'C')")
    server.run(
        "CREATE TABLE t (p text COLLATE loose, r varchar(9) COLLATE loose, c char(4))",
        "INSERT INTO t VALUES ('anna', 'a', 'x'), ('ANNA', 'A', 'x')",
    )
    columns = {"r": sf.column(keys=["a", "A"]), "c": sf.column(keys=["x", "x   "])}
    declared = sf.table(server.at("t"), unit="p", max_rows_per_unit=1, columns=columns)
    assert exact(declared, "SELECT COUNT(DISTINCT p) AS n FROM t") == [2 * 2**20]
    assert exact(declared, "SELECT r, COUNT(*) AS n FROM t WHERE r LIKE '_' GROUP BY r") == [2**20, 2**20]
    assert exact(declared, "SELECT c, COUNT(*) AS n FROM t GROUP BY c") == [2 * 2**20, 0]


def test_what_does_not_fit_is_missing(server: Server) -> None:
    """Numbers of any size, dates before and after all years, infinities: no error, and no value in a message."""
    server.run(
        "CREATE TABLE t (p numeric, n numeric, f real, d date, w timestamp, z timestamptz, u uuid)",
        "INSERT INTO t VALUES (1, 1e400, 1e38, 'infinity', '-infinity', 'infinity', gen_random_uuid()), "
        "(1.0, -1e400, 'NaN', '4714-11-24 BC', '294276-12-31', '4714-11-24 00:00:00+00 BC', NULL), "
        "(2, 1e-400, '-Infinity', '5874897-12-31', '4714-11-24 BC', '294276-12-31', NULL), "
        "(3, 'NaN', NULL, NULL, NULL, NULL, NULL), "
        "(4, 'Infinity', 0.5, '2026-01-01', '2026-01-01', '2026-01-01', NULL)",
    )
    bounds = {"n": sf.column(bounds=(0, 8)), "f": sf.column(bounds=(0, 8)), "d": sf.column(type="timestamp")}
    bounds |= {"z": sf.column(type="date")}
    declared = sf.table(server.at("t"), unit="p", max_rows_per_unit=2, columns=bounds)
    assert exact(declared, "SELECT COUNT(n) AS n FROM t") == [2 * 2**20]  # 1e-400 is 0; an infinity counts
    assert exact(declared, "SELECT COUNT(DISTINCT p) AS n FROM t") == [4 * 2**20]  # 1 and 1.0 are one
    for name, expected in (("d", 1), ("w", 1), ("z", 1), ("f", 3), ("u", 1)):
        assert exact(declared, f"SELECT COUNT({name}) AS n FROM t") == [expected * 2**20], name
    assert exact(declared, "SELECT COUNT(*) AS n FROM t WHERE EXTRACT(YEAR FROM d) = 2026") == [2**20]
    record = recorded(
        {"t": declared}, PostgresEngine(), "SELECT SUM(n) AS n, AVG(f) AS f, MEDIAN(n) AS m FROM t", "laplace"
    )
    assert record


def test_two_spellings_are_one_source(server: Server) -> None:
    """However the address is written, and also a part of a table that is declared on its own."""
    server.run("CREATE TABLE t (p bigint) PARTITION BY LIST (p)", "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1)")
    whole = sf.table(server.at("t"), unit="p").source.identity
    address = make_url(server.address).update_query_dict({"keepalives": "1"}).render_as_string(hide_password=False)
    assert sf.table(f"{address}#{server.schema.upper()}.T", unit="p").source.identity == whole
    part = sf.table(server.at("t1"), unit="p").source.identity
    assert part < whole
    tables = {"a": sf.table(server.at("t"), unit="p"), "b": sf.table(server.at("t1"), unit="p")}
    ledger = Ledger.in_memory()
    Curator({"a": tables["a"]}, budget=1, ledger=ledger, population="one")
    with pytest.raises(InvalidArgument):
        Curator({"b": tables["b"]}, budget=1, ledger=ledger, population="two")


def test_one_table_has_one_unit_under_all_spellings(server: Server) -> None:
    """Also by a part of it; a table through it stays bound to it when it gets one more part."""
    server.run(
        "CREATE TABLE t (p bigint, v bigint) PARTITION BY LIST (p)",
        "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1)",
        "CREATE TABLE items (v bigint)",
        "CREATE TABLE others (p bigint, v bigint)",
    )
    address = make_url(server.address).update_query_dict({"keepalives": "1"}).render_as_string(hide_password=False)
    person = sf.table(server.at("t"), unit="p")
    for other in (f"{address}#{server.schema.upper()}.T", server.at("t1")):
        for unit in (None, {"p": "v"}, ("p", "v")):
            with pytest.raises(InvalidArgument, match="a source must have one unit"):
                Curator({"a": person, "b": sf.table(other, unit=unit)}, budget=1)
    ledger = Ledger.in_memory()
    items = sf.table(server.at("items"), unit=sf.through("t", on="v"))
    Curator({"t": person, "items": items}, budget=1, ledger=ledger)
    server.run("CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2)")
    Curator({"t": sf.table(f"{address}#{server.schema}.T", unit="p"), "items": items}, budget=1, ledger=ledger)
    with pytest.raises(Refused, match="must keep the unit"):
        Curator({"t": sf.table(server.at("others"), unit="p"), "items": items}, budget=1, ledger=ledger)
    with pytest.raises(Refused, match="must keep the unit"):
        Curator({"t2": sf.table(server.at("t2"), unit={"p": "v"})}, budget=1, ledger=ledger)


def test_views_are_refused(few: Server) -> None:
    few.run("CREATE VIEW v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW m AS SELECT * FROM t")
    for name, word in (("v", "a view"), ("m", "a materialized view")):
        with pytest.raises(InvalidArgument, match=f"must be a table; got {word}"):
            sf.table(few.at(name), unit="p")


def test_tables_of_one_question_are_in_one_place(few: Server) -> None:
    here = sf.table(pa.table({"p": [1], "y": [1.0]}), unit="p", max_rows_per_unit=1)
    curator = Curator({"t": sf.table(few.at("t"), unit="p"), "h": here}, budget=1)
    with pytest.raises(UnsupportedQuery, match="must be in one place"):
        curator.quote("SELECT COUNT(*) AS n FROM t JOIN h ON t.p = h.p", epsilon=1)
    assert curator.quote(COUNT, epsilon=1)


def test_a_server_that_is_down_or_refuses_costs_nothing(few: Server) -> None:
    """Gone, renamed, forbidden, another password: refused before the charge, and no address or password is shown."""
    curator = Curator({"t": sf.table(few.at("t"), unit="p")}, budget=1)
    few.run("ALTER TABLE t RENAME TO other")
    with pytest.raises(SourceNotFound, match="it is gone; nothing was charged"):
        curator.ask(COUNT, epsilon=1)
    assert curator.remaining().epsilon == 1
    few.run("ALTER TABLE other RENAME TO t")
    assert curator.ask(COUNT, epsilon=1).rows
    with pytest.raises(SourceNotFound, match=r"the server cannot be reached") as caught:
        sf.table(few.at("t", host="127.0.0.1", port=9, username="someone", password=SECRET), unit="p")
    assert SECRET not in str(caught.value) and "127.0.0.1" not in str(caught.value) and caught.value.__context__ is None
    with pytest.raises(SourceNotFound, match="no such database"):
        sf.table(few.at("t", database="nowhere"), unit="p")
    with pytest.raises(SourceNotFound, match=r"unknown table .*; did you mean 'people'"):
        few.run("CREATE TABLE people (p bigint)")
        sf.table(few.at("poeple"), unit="p")
    with pytest.raises(InvalidArgument, match="got no table"):
        sf.table(f"postgresql://x:{SECRET}@host/db", unit="p")


def test_a_user_who_may_not_read_is_told_so(few: Server) -> None:
    """A role without rights, and one with some columns."""
    role = f"{few.schema}_reader"
    few.run(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'", f"GRANT USAGE ON SCHEMA {few.schema} TO {role}")
    address = few.at("t", username=role, password=SECRET)
    try:
        with pytest.raises(InvalidArgument, match=r"permission was denied; .* GRANT SELECT") as caught:
            sf.table(address, unit="p")
        assert SECRET not in str(caught.value)
        few.run(f"GRANT SELECT (p) ON t TO {role}")
        declared = sf.table(address, unit="p")
        assert list(declared.columns) == ["p"] and SECRET not in repr(declared) and SECRET not in declared.source.label
        curator = Curator({"t": declared}, budget=9)
        answer = curator.ask(COUNT, epsilon=1)
        told = f"{answer.explain()} {answer.receipt} {curator.ledger.balance()} {curator!r}"
        assert SECRET not in told + curator.explain(COUNT, epsilon=1)
    finally:
        few.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_connection_that_is_lost_is_charged_with_the_constant_message(
    few: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next question works."""
    curator = Curator({"t": sf.table(few.at("t"), unit="p")}, budget=4)
    fetch = PostgresSession.fetch

    def killed(session: PostgresSession, sql: str) -> Any:
        pid = session._connection.info.backend_pid
        few.run(f"SELECT pg_terminate_backend({pid})")
        return fetch(session, sql)

    with monkeypatch.context() as broken:
        broken.setattr(PostgresSession, "fetch", killed)
        with pytest.raises(EngineFailed, match=r"^the engine failed on this question; it is charged;") as caught:
            curator.ask(COUNT, epsilon=1)
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert curator.remaining().epsilon == 3
    curator.ledger.resume("analyst", "t")
    assert curator.ask(COUNT, epsilon=1).rows


def test_what_reads_cannot_write_and_leaves_nothing(few: Server) -> None:
    """A function of the owner's in a default is not called, a query that writes fails, and no table stays."""
    declared = sf.table(few.at("t"), unit="p")
    plan = Curator({"t": declared}, budget=9).plan(COUNT, 1, Options())
    with pytest.raises(EngineFailed), PostgresEngine().run(plan) as run:
        run.fetch(f"WITH gone AS (DELETE FROM {few.schema}.t RETURNING p) SELECT count(*) FROM gone")
    assert few.run("SELECT count(*) FROM t") == [(5,)]
    with PostgresEngine().run(plan) as run:
        run.prepare(plan.measures)
        assert few.run("SELECT count(*) FROM pg_class WHERE relname = 'units'") == [(0,)]  # not yet committed
    assert few.run("SELECT count(*) FROM pg_class WHERE relname = 'units'") == [(0,)]


def test_a_question_sees_one_state(few: Server) -> None:
    """Rows that come between its passes are not seen, so that limits hold."""
    declared = sf.table(few.at("t"), unit="p")
    plan = Curator({"t": declared}, budget=9).plan(COUNT, 1, Options(max_rows_per_unit=1))
    with PostgresEngine().run(plan) as run:
        run.prepare(plan.measures)
        few.run("INSERT INTO t SELECT 1, 1 FROM generate_series(1, 100)")
        assert run.cells([2**20]) == {(): [5 * 2**20]}


def test_a_question_that_takes_too_long_ends(few: Server) -> None:
    declared = sf.table(few.at("t"), unit="p")
    plan = Curator({"t": declared}, budget=9).plan(COUNT, 1, Options())
    with pytest.raises(EngineFailed), PostgresEngine(timeout=0.3).run(plan) as run:
        run.fetch("SELECT pg_sleep(60)")


def test_a_project_has_tables_in_postgres(few: Server, tmp_path: Path) -> None:
    """The same words as for files."""
    text = f"""
[budget]
epsilon = 3.0
[tables.t]
source = "{few.at("t")}"
unit = "p"
[tables.t.columns]
x = {{ bounds = [0, 9] }}
"""
    (tmp_path / "sfumato.toml").write_text(text)
    from sfumato.project import load

    answer = load(tmp_path).curator().ask("SELECT SUM(x) AS s FROM t", epsilon=1)
    assert isinstance(answer.rows[0]["s"], float)


def test_the_engine_follows_from_the_tables(few: Server) -> None:
    """A curator has both kinds of tables, and asks each where it is."""
    tables = {"t": sf.table(few.at("t"), unit="p"), "here": sf.table(ROWS["t"], unit="pid", columns=COLUMNS)}
    for name, own in (("t", PostgresEngine()), ("here", DuckdbEngine())):
        question = f"SELECT COUNT(*) AS n FROM {name}"
        assert recorded(tables, EngineOfTables(), question, "laplace") == recorded(tables, own, question, "laplace")


def test_statements_are_shown_without_the_address(few: Server) -> None:
    curator = Curator({"t": sf.table(few.at("t"), unit="p")}, budget=9)
    shown = curator.ask(COUNT, epsilon=1).explain()
    assert re.search(rf'FROM ONLY "{few.schema}"."t" AS s', shown)
    assert "host=" not in shown and "postgresql://" not in shown
    assert engine.HOUR == 3600


def test_the_role_of_the_page_may_ask_and_do_nothing_else(server: Server) -> None:
    """The statements to copy, run as they are but for names."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "outgrow-one-machine.md").read_text()
    (recipe,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    role, ((database,),) = f"{server.schema}_reader", server.run("SELECT current_database()")
    names = {"sfumato_reader": role, "DATABASE clinic": f'DATABASE "{database}"', "public": server.schema}
    for there, here in names.items():
        recipe = recipe.replace(there, here)
    server.run(
        "CREATE TABLE visits (patient int, visited date, ward text, cost numeric, name text)",
        "INSERT INTO visits SELECT n, '2026-01-05', 'a', n, 'x' FROM generate_series(1, 9) n",
        *filter(str.strip, recipe.split(";")),
    )
    try:
        address = server.at("visits", username=role, password="choose-one")
        declared = sf.table(address, unit="patient", columns={"cost": sf.column(bounds=(0, 9))})
        assert list(declared.columns) == ["patient", "visited", "ward", "cost"]
        assert Curator({"t": declared}, budget=2).ask("SELECT AVG(cost) AS c FROM t", epsilon=1).rows
        with psycopg.connect(address.partition("#")[0], autocommit=True) as connection:
            for forbidden in (f"SELECT name FROM {server.schema}.visits", f"DELETE FROM {server.schema}.visits"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(forbidden)
    finally:
        server.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_password_with_a_number_sign_is_no_name() -> None:
    """What stands before the last # is the address, whatever it holds."""
    for address in (f"postgresql://u:a#{SECRET}@127.0.0.1:9/db#t", f"postgresql://u:a#{SECRET}@127.0.0.1:9/db"):
        with pytest.raises(InvalidArgument) as caught:
            sf.table(address, unit="p")
        assert SECRET not in str(caught.value) and "127.0.0.1" not in str(caught.value)
    found = PostgresTable.read('postgresql://u@h/db#"a.b"."c#""d"')
    assert (found.address, found.namespace, found.table) == ("postgresql://u@h/db", "a.b", 'c#"d')
