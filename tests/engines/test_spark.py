"""Spark: the same integers before noise as everywhere else, one copy of the rows, and nobody's session is changed.

A start takes some ten seconds and a question about one, so that there are few of them, each with many things in it.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.logger import PySparkLogger

import sfumato as sf
from engines.loading import load_spark
from sfumato.curator.curator import Curator, Options
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.spark import SparkDialect, SparkEngine, SparkSession
from sfumato.engines.spark import _disks as disks
from sfumato.engines.spark import _opening as opening
from sfumato.errors import EngineFailed, InvalidArgument, SourceNotFound
from sfumato.privacy.guarantee import Guarantee
from sfumato.testing.engine_tables import EXPRESSIONS, QUESTIONS, ROWS, recorded, values, world

Tables = dict[str, Table | PublicTable]
COUNT = "SELECT COUNT(*) AS n FROM t"
ASKED = (  # every question of all engines, with one noise and with the other by turns; and what only meets here
    *((question, ("laplace", "gaussian")[place % 2]) for place, question in enumerate(QUESTIONS)),
    ("SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(m) AS a, COUNT(DISTINCT pid) AS p FROM t GROUP BY r", "laplace"),
    ("SELECT d, COUNT(k) AS n, SUM(k) AS s, VARIANCE(x) AS v FROM t WHERE x > 0 OR b GROUP BY d", "gaussian"),
    ("SELECT w, COUNT(*) AS n, COUNT(DISTINCT k) AS q FROM loose GROUP BY w", "laplace"),
    (
        "SELECT pub.r, SUM(pub.w) AS n FROM (SELECT a.pid, a.r, a.x FROM t AS a JOIN few AS b ON a.pid = b.pid "
        "UNION ALL SELECT pid, r, x FROM few) AS q JOIN pub ON q.r = pub.r GROUP BY pub.r",
        "laplace",
    ),
    ("SELECT \"Mixed Case\" AS c, AVG(m) AS a FROM nothing WHERE r LIKE 'a\\_%' GROUP BY 1", "laplace"),
)


@pytest.fixture(scope="module")
def there(spark: Any) -> Tables:
    """The world in Spark."""
    load_spark(spark, ROWS)
    return world(lambda name: f"spark:{name}")


HERE = world(ROWS.__getitem__)


@pytest.mark.parametrize(("question", "noise"), ASKED)
def test_spark_says_what_duckdb_says(question: str, noise: str, there: Tables) -> None:
    """Every release, label by label."""
    assert recorded(there, SparkEngine(), question, noise) == recorded(HERE, DuckdbEngine(), question, noise)


def test_every_expression_is_total_on_spark(there: Tables) -> None:
    """All of them on all pairs of odd values: no error, and DuckDB's values."""
    found, expected = values(there, SparkEngine(), EXPRESSIONS), values(HERE, DuckdbEngine(), EXPRESSIONS)
    wrong = [
        (expression, mine[place], theirs[place])
        for place, expression in enumerate(EXPRESSIONS)
        for mine, theirs in zip(found, expected, strict=True)
        if mine[place] != theirs[place]
    ]
    assert not wrong, wrong[:9]


def test_all_passes_read_one_copy(spark: Any, tmp_path: Path) -> None:
    """The owner writes the table between two passes: the question does not see it, and its limits hold."""
    spark.sql(f"CREATE TABLE changing (p BIGINT) USING parquet LOCATION '{tmp_path / 'changing'}'")
    spark.sql("INSERT INTO changing VALUES (1), (2), (3)")
    plan = Curator({"t": sf.table("spark:changing", unit="p")}, budget=9).plan(COUNT, 1, Options(max_rows_per_unit=1))
    with SparkEngine().run(plan) as run:
        run.prepare(plan.measures)
        run.contributions(0)
        spark.sql("INSERT INTO changing SELECT 1 FROM range(100)")
        spark.catalog.refreshTable("changing")
        assert run.cells([2**20]) == {(): [3 * 2**20]}


def test_only_bins_are_collected_and_sessions_stay_as_they_are(
    spark: Any, there: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each bin and group; settings and views of the owner's session are what they were."""
    fetched: list[int] = []
    fetch = SparkSession.fetch

    def counting(session: SparkSession, sql: str) -> Any:
        rows = fetch(session, sql)
        fetched.append(len(rows))
        return rows

    monkeypatch.setattr(SparkSession, "fetch", counting)
    names = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.ansi.doubleQuotedIdentifiers")
    before = [spark.conf.get(name) for name in names], spark.sql("SHOW TABLES").collect()
    tables = {name: each for name, each in there.items() if name == "t"}
    Curator(tables, budget=Guarantee(9)).ask("SELECT r, COUNT(*) AS n FROM t GROUP BY r", epsilon=1)
    assert fetched and sum(fetched) <= 126 + 6
    assert ([spark.conf.get(name) for name in names], spark.sql("SHOW TABLES").collect()) == before


def test_what_goes_wrong_is_said_before_the_charge(spark: Any, there: Tables, tmp_path: Path) -> None:
    """A table that is gone, a view, and no table at all; the same rows by another name are the same people."""
    with pytest.raises(SourceNotFound, match="Spark has no such table"):
        sf.table("spark:default.nobody", unit="p")
    spark.range(3).createOrReplaceTempView("fleeting")
    with pytest.raises(SourceNotFound, match="save a temporary view, which is its session's alone"):
        sf.table("spark:fleeting", unit="id")
    with pytest.raises(InvalidArgument, match="then 'spark:visits'"):
        sf.table(spark.range(3), unit="id")
    with pytest.raises(InvalidArgument, match="write spark:catalog"):
        sf.table("spark:", unit="p")
    with pytest.raises(SourceNotFound, match="this process has another Spark already, and can have one only"):
        sf.table("spark:local[7]#t", unit="p")
    spark.sql("CREATE VIEW seen AS SELECT 1 AS p")
    with pytest.raises(InvalidArgument, match="must be a table; got a view"):
        sf.table("spark:seen", unit="p")
    rows = tmp_path / "people"
    rows.mkdir()
    pq.write_table(pa.table({"p": [1, 2]}), rows / "part.parquet")
    spark.sql(f"CREATE TABLE people USING parquet LOCATION '{rows}'")
    declared = sf.table("spark:people", unit="p")
    assert declared.source.identity & sf.table(rows / "part.parquet", unit="p").source.identity
    assert declared.source.identity == sf.table("spark:spark_catalog.default.people", unit="p").source.identity
    assert declared.source.anchor == sf.table("spark:default.people", unit="p").source.anchor
    for other in ("spark:spark_catalog.default.people", rows / "part.parquet"):
        with pytest.raises(InvalidArgument, match="a source must have one unit"):
            Curator({"t": declared, "raw": sf.table(other)}, budget=2)
    curator = Curator({"t": declared}, budget=2)
    spark.sql("DROP TABLE people")
    with pytest.raises(SourceNotFound, match="it is gone; nothing was charged"):
        curator.ask(COUNT, epsilon=1)
    assert curator.remaining().epsilon == 2


def test_a_misspelled_name_does_not_fill_the_screen(spark: Any) -> None:
    """Spark's client logs a stack of Java for it; another question of the same process is still heard."""
    heard: list[logging.LogRecord] = []
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    handler = logging.Handler()
    handler.emit = heard.append  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        with pytest.raises(SourceNotFound, match="Spark has no such table"):
            sf.table("spark:default.nobody", unit="p")
        assert not heard
        with pytest.raises(Exception, match="nobody"):
            spark.sql("SELECT * FROM default.nobody")
        assert heard
    finally:
        logger.removeHandler(handler)


def test_a_failure_is_charged_with_the_constant_message(
    there: Tables, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No value is in it, nor in what Spark's client writes; and the next question works."""
    curator = Curator({"t": there["t"]}, budget=3)

    def broken(session: SparkSession, sql: str) -> Any:
        return session._spark.sql("SELECT CAST('a value' AS INT)").collect()

    with monkeypatch.context() as patch:
        patch.setattr(SparkSession, "fetch", broken)
        with pytest.raises(EngineFailed, match=r"^the engine failed on this question; it is charged;") as caught:
            curator.ask(COUNT, epsilon=1)
    assert caught.value.__context__ is None and "value" not in str(caught.value)
    assert "a value" not in "".join(capfd.readouterr())
    curator.ledger.resume("analyst", "t")
    assert curator.remaining().epsilon == 2 and curator.ask(COUNT, epsilon=1).rows


def test_what_spark_writes_to_disks_is_its_owners_alone(there: Tables) -> None:
    """Spark makes the folder of its blocks for everybody to read; shuffles in it hold rows in plain."""
    places = (os.environ.get("SPARK_LOCAL_DIRS") or "/tmp").split(",")
    found = [folder for place in places for folder in Path(place).glob("blockmgr-*")]
    blocks = [folder for folder in found if folder.stat().st_uid == os.geteuid()]
    assert blocks
    for folder in blocks:
        folder.chmod(0o755)
    assert Curator({"t": there["t"]}, budget=3).ask(COUNT, epsilon=1).rows
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in blocks if folder.exists()} == {0o700}


def test_a_driver_that_is_started_encrypts_what_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a key in its memory: what a killed one leaves on disk is of no use."""

    class Builder:
        settings: dict[str, str] = {}  # noqa: RUF012

        def config(self, name: str, value: str) -> Builder:
            self.settings[name] = value
            return self

        def getOrCreate(self) -> dict[str, str]:  # noqa: N802
            return self.settings

    monkeypatch.setattr(opening, "wanting", lambda: "")
    assert opening._started(Builder()) == {"spark.io.encryption.enabled": "true"}


def test_the_owner_is_told_of_disks_that_are_in_plain(
    spark: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a Spark with other machines, once; of one that encrypts, never."""
    monkeypatch.setattr(disks, "_told", [])
    session = spark.newSession()
    with caplog.at_level("WARNING", "sfumato.owner"):
        disks.protect(session, remote=False)
        assert not caplog.records  # here they are closed to others
        for _ in "12":
            disks.protect(session, remote=True)
        (told,) = caplog.records
        assert "in plain; set spark.io.encryption.enabled to true" in told.message
        caplog.clear()
        disks._told.clear()
        disks.protect(_Encrypted(), remote=True)
        assert not caplog.records


class _Encrypted:
    """A session whose Spark encrypts."""

    class conf:  # noqa: N801
        @staticmethod
        def get(name: str, default: str) -> str:
            return "true" if name == "spark.io.encryption.enabled" else default


def test_sums_are_exact_to_their_edges(spark: Any) -> None:
    """Of rows in halves of 64 bits; of a unit in doubles below 2**53, and beyond it no less than the sum."""
    dialect = SparkDialect()
    rows = [2**31, -(2**31), 2**31 - 1, 1 - 2**31, 2**15, -(2**15), 2**15 - 1, 2**16, -1, 0, 1, 12345, -98765] * 3
    units = {1: [2**52, 2**52 - 1, 0], 2: [2**52, 2**52, 1], 3: [2**52] * 9, 4: [0], 5: [2**41 + 1] * 5}
    listed = ", ".join(f"(CAST({value} AS BIGINT))" for value in rows)
    halves = f"SELECT {dialect.row_sum('v')} AS s FROM (VALUES {listed}) AS those (v)"
    assert int(spark.sql(halves).collect()[0].s) == sum(rows)
    listed = ", ".join(f"({unit}, CAST({value} AS BIGINT))" for unit, those in units.items() for value in those)
    found = spark.sql(
        f"SELECT u, {dialect.unit_sum('v')} AS s FROM (VALUES {listed}) AS those (u, v) GROUP BY u"
    ).collect()
    for unit, total in found:
        exact = sum(units[unit])
        assert total == exact if exact < 2**53 else exact <= total <= 4 * exact
