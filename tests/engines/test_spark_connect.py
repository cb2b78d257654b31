"""Spark Connect: the same integers over a wire, one copy of the rows, and what happens when the server goes.

The server is the Spark of the other tests: one start for all. It is really stopped, and started again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from engines.loading import load_spark
from sfumato.curator.curator import Curator, Options
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.spark import SparkEngine, SparkSession
from sfumato.errors import EngineFailed, InvalidArgument, SourceNotFound
from sfumato.testing.engine_tables import EXPRESSIONS, ROWS, recorded, values, world

Tables = dict[str, Table | PublicTable]
COUNT = "SELECT COUNT(*) AS n FROM t"
ASKED = (
    ("SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(m) AS a, COUNT(DISTINCT pid) AS p FROM t GROUP BY r", "laplace"),
    ("SELECT r, MEDIAN(x) AS m FROM t GROUP BY r", "gaussian"),
    ('SELECT r, "größe", SUM(x) AS n FROM open GROUP BY 1, 2', "gaussian"),
    ("SELECT pub.r, SUM(pub.w) AS n FROM t JOIN pub ON t.r = pub.r GROUP BY pub.r", "laplace"),
)
HERE = world(ROWS.__getitem__)


@pytest.fixture(scope="module")
def address(spark: Any) -> str:
    """Where the server is."""
    load_spark(spark, ROWS)
    return f"sc://127.0.0.1:{spark.conf.get('spark.connect.grpc.binding.port')}"


@pytest.fixture(scope="module")
def there(address: str) -> Tables:
    """The world over Connect."""
    return world(lambda name: f"spark:{address}#{name}")


@contextmanager
def stopped(spark: Any) -> Iterator[None]:
    """The server is down, and all its sessions are gone."""
    jvm = spark._jvm
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    nothing = jvm.scala.Option.empty()
    service.stop(nothing, nothing)
    try:
        yield
    finally:
        service.start(spark._jsc.sc())


@pytest.mark.parametrize(("question", "noise"), ASKED)
def test_connect_says_what_duckdb_says(question: str, noise: str, there: Tables) -> None:
    """Every release, label by label."""
    assert recorded(there, SparkEngine(), question, noise) == recorded(HERE, DuckdbEngine(), question, noise)


def test_every_expression_is_total_over_connect(there: Tables) -> None:
    """All of them on all pairs of odd values: no error, and DuckDB's values."""
    assert values(there, SparkEngine(), EXPRESSIONS) == values(HERE, DuckdbEngine(), EXPRESSIONS)


def test_all_passes_read_one_copy_over_connect(spark: Any, address: str, tmp_path: Path) -> None:
    """The owner writes the table between two passes: the question does not see it, and its limits hold."""
    spark.sql(f"CREATE TABLE growing (p BIGINT) USING parquet LOCATION '{tmp_path / 'growing'}'")
    spark.sql("INSERT INTO growing VALUES (1), (2), (3)")
    declared = sf.table(f"spark:{address}#growing", unit="p")
    plan = Curator({"t": declared}, budget=9).plan(COUNT, 1, Options(max_rows_per_unit=1))
    with SparkEngine().run(plan) as run:
        run.prepare(plan.measures)
        run.contributions(0)
        spark.sql("INSERT INTO growing SELECT 1 FROM range(100)")
        spark.catalog.refreshTable("growing")
        assert run.cells([2**20]) == {(): [3 * 2**20]}
    assert declared.source.identity == sf.table("spark:growing", unit="p").source.identity


def test_a_session_that_is_there_stays_as_it_is(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An existing session of Connect is asked beside: its settings, views and tags are what they were, and it lives."""
    import pyspark.sql
    from pyspark.sql.connect.session import SparkSession as Remote

    theirs = Remote.builder.remote(address).create()
    monkeypatch.setattr(pyspark.sql, "SparkSession", Remote)  # as in a process whose Spark is remote
    try:
        theirs.createDataFrame(pa.table({"p": [1]})).createOrReplaceTempView("t")  # not the table of that name
        names = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.ansi.doubleQuotedIdentifiers")
        before = [theirs.conf.get(name) for name in names], theirs.sql("SHOW TABLES").collect(), theirs.getTags()
        curator = Curator({"t": sf.table("spark:t", unit="pid")}, budget=9)
        assert curator.ask(COUNT, epsilon=1).rows
        after = [theirs.conf.get(name) for name in names], theirs.sql("SHOW TABLES").collect(), theirs.getTags()
        assert after == before and Remote.getActiveSession() is theirs
    finally:
        theirs.client.close()
        Remote._default_session = Remote._active_session.session = None


def test_nothing_of_a_question_stays_in_the_server(spark: Any, address: str) -> None:
    """Its session is released, and nothing is cached any more."""
    service = getattr(spark._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
    sessions = getattr(service, "MODULE$").sessionManager()
    before = sessions.listActiveSessions().size()
    question = "SELECT r, COUNT(DISTINCT pid) AS n FROM t GROUP BY r"
    columns = {"r": sf.column(keys=["a", "b"])}
    curator = Curator({"t": sf.table(f"spark:{address}#t", unit="pid", columns=columns)}, budget=9)
    assert curator.ask(question, epsilon=1).rows
    assert sessions.listActiveSessions().size() == before
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def test_a_server_that_is_down_or_a_table_that_is_gone_costs_nothing(spark: Any, address: str) -> None:
    """Refused before the charge; no message has the address, which may hold a name or a token."""
    spark.sql("CREATE TABLE passing USING parquet AS SELECT 1L AS p")
    curator = Curator({"t": sf.table(f"spark:{address}/;user_id=secret#passing", unit="p")}, budget=2)
    spark.sql("DROP TABLE passing")
    with pytest.raises(SourceNotFound, match="it is gone; nothing was charged") as gone:
        curator.ask(COUNT, epsilon=1)
    with pytest.raises(SourceNotFound, match="Spark has no such table"):
        sf.table(f"spark:{address}#passing", unit="p")
    spark.sql("CREATE VIEW glimpse AS SELECT 1 AS p")
    with pytest.raises(InvalidArgument, match="must be a table; got a view"):
        sf.table(f"spark:{address}#glimpse", unit="p")
    with stopped(spark), pytest.raises(SourceNotFound, match=r"spark:t: no connection to Spark; check its") as down:
        sf.table(f"spark:{address}/;user_id=secret#t", unit="p")
    assert "secret" not in f"{gone.value!r}{down.value!r}{down.value.__context__!r}"
    assert curator.remaining().epsilon == 2


def test_a_connection_lost_midway_is_charged_and_the_next_question_works(
    spark: Any, address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The server stops after the copy is made; with its sessions the copy is gone, and no pass reads anything else."""
    curator = Curator({"t": sf.table(f"spark:{address}#t", unit="pid")}, budget=3)
    fetch = SparkSession.fetch

    def broken(session: SparkSession, sql: str) -> Any:
        return session._spark.sql("SELECT CAST('a value' AS INT)").collect()

    def lost(session: SparkSession, sql: str) -> Any:
        with stopped(spark):
            pass  # up again, without the session: what follows must not be answered by a new one
        return fetch(session, sql)

    for failing in (lost, broken):
        with monkeypatch.context() as patch:
            patch.setattr(SparkSession, "fetch", failing)
            with pytest.raises(EngineFailed, match=r"^the engine failed on this question; it is charged;") as caught:
                curator.ask(COUNT, epsilon=1)
        assert caught.value.__context__ is None
        curator.ledger.resume("analyst", "t")
    assert "a value" not in "".join(capfd.readouterr())
    assert curator.remaining().epsilon == 1 and curator.ask(COUNT, epsilon=1).rows
