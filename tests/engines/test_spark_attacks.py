"""What a question, a table or one unit might do to a promise on Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from engines.loading import load_spark
from engines.neighbors import WORLDS, Tables, moved
from sfumato.audit.sql.recorder import record, zeros
from sfumato.curator.curator import Curator, Options
from sfumato.engines.spark import SparkEngine
from sfumato.engines.spark.session import SparkSession
from sfumato.engines.spark.table import place_of
from sfumato.errors import InvalidArgument
from sfumato.testing.engine_tables import COLUMNS

ASKED = (
    ("SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(m) AS a, COUNT(DISTINCT pid) AS p FROM t GROUP BY r", "laplace", 3),
    ("SELECT d, COUNT(k) AS n, SUM(k) AS s, VARIANCE(x) AS v FROM t WHERE x > 0 OR b GROUP BY d", "gaussian", 1),
    ("SELECT r, MEDIAN(x) AS m FROM t GROUP BY r", "laplace", 0),
    ('SELECT r, "größe", SUM(x) AS n FROM open GROUP BY 1, 2', "gaussian", 4),
)


@pytest.fixture(scope="module")
def worlds(spark: Any) -> dict[str, Tables]:
    """Table t of the shared world, as it is and without or with other rows of one person."""
    found: dict[str, Tables] = {}
    for world in ("", "person_add_remove", "person_replace"):
        load_spark(spark, {f"attacked_{world}": WORLDS[world]["t"]})
        whole = sf.table(f"spark:attacked_{world}", unit="pid", columns=COLUMNS)
        bare = {name: each if name == "r" else replace(each, bounds=None, keys=None) for name, each in COLUMNS.items()}
        found[world] = {"t": whole, "open": sf.table(f"spark:attacked_{world}", unit="pid", columns=bare)}
    return found


@pytest.mark.parametrize(("place", "kind"), ((0, "add_remove"), (1, "replace"), (2, "replace"), (3, "add_remove")))
def test_one_unit_moves_no_release_on_spark_further_than_claimed(
    place: int, kind: str, worlds: dict[str, Tables]
) -> None:
    question, noise, seed = ASKED[place]
    assert moved(worlds, SparkEngine(), question, noise, kind, seed) == []


def test_a_text_of_a_question_is_no_variable(spark: Any) -> None:
    """Spark puts values of settings and of the driver's environment into SQL: a question would read them."""
    assert spark.sql("SELECT '${env:PATH}'").first()[0] != "${env:PATH}"  # so it does, for its owner
    load_spark(spark, {"few_people": pa.table({"p": [1, 2, 3], "x": [1.0, 2.0, 3.0]})})
    declared = sf.table("spark:few_people", unit="p")
    question = "SELECT COUNT(*) AS n FROM t WHERE '${env:PATH}' LIKE '$%' AND '${spark.master}' = '${spark.master}'"
    plan = Curator({"t": declared}, budget=9).plan(question, 1, Options(max_rows_per_unit=1))
    with SparkEngine().run(plan) as run:
        shown = record(plan, run, zeros)
    assert shown.released[-1].exact == [3 * 2**20]
    named = SparkSession(spark.newSession()).fetch("SELECT '${env:PATH}', '${spark.master}'")  # and once more, as it is
    assert named == [("${env:PATH}", "${spark.master}")]


def test_no_row_makes_reading_fail(spark: Any, tmp_path: Path) -> None:
    """A table whose malformed rows fail is refused; settings by which old dates fail are not kept."""
    (tmp_path / "people.csv").write_text("1,2\n2,nothing\n")
    for place, options in enumerate(("OPTIONS (mode 'FailFast')", "")):
        spark.sql(
            f"CREATE TABLE malformed{place} (p BIGINT, x DOUBLE) USING csv {options} LOCATION '{tmp_path}/people.csv'"
        )
    with pytest.raises(InvalidArgument, match="must be read whatever its rows hold; got mode FAILFAST"):
        sf.table("spark:malformed0", unit="p")
    assert sf.table("spark:malformed1", unit="p")
    strict = spark.newSession()
    strict.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", "EXCEPTION")
    strict.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    SparkSession(strict)
    assert strict.conf.get("spark.sql.parquet.datetimeRebaseModeInRead") == "CORRECTED"
    assert strict.conf.get("spark.sql.legacy.timeParserPolicy") == "LEGACY"


def test_a_partition_on_its_own_is_the_same_source(spark: Any, tmp_path: Path) -> None:
    """Also where files are elsewhere, and are not known by their paths here: by the folders of partitions."""
    spark.sql(f"CREATE TABLE days (p BIGINT, day INT) USING parquet PARTITIONED BY (day) LOCATION '{tmp_path}/a b'")
    spark.sql("INSERT INTO days VALUES (1, 1), (2, 2)")
    spark.sql(f"CREATE TABLE one_day (p BIGINT) USING parquet LOCATION '{tmp_path}/a b/day=1'")
    whole, part = (
        {each for each in sf.table(f"spark:{name}", unit="p").source.identity if each.startswith("spark:")}
        for name in ("days", "one_day")
    )
    assert part == {f"spark:{place_of(f'file://{tmp_path}/a b/day=1')}"}
    assert part < whole and f"spark:{place_of(f'file:{tmp_path}/a%20b/')}" in whole
    assert not any(each == f"spark:{place_of(f'file:{tmp_path}')}" for each in whole)  # where others' tables are
