"""Spark: questions on tables that outgrew one machine; nothing is collected but integers for groups, keys and bins.

Each question has a session of its own, so that its settings and views are nobody else's. The rows that count are copied
into the cluster once (a local checkpoint): all passes read the copy, also when the table changes meanwhile, and where
a part of the copy is lost the question fails.
"""

from __future__ import annotations

import contextlib
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.embedded.database import Database
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.engine import Integers
from sfumato.engines.guard import Limit, OpenedLater, failing, limited
from sfumato.engines.spark._opening import active
from sfumato.engines.spark.dialect import SparkDialect
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.run import SqlRun
from sfumato.engines.sql.server_table import reading
from sfumato.engines.sql.session import Listed
from sfumato.plan.pricing.price import PricedPlan

DAY = 86_400.0
COPIED = "counted"  # the rows of a question, from which all else follows
_DIALECT = SparkDialect()
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.groupByAliases": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    # a text of the question such as ${env:NAME} means itself, not what the driver's environment has there
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
}
_FAILING = (  # where these are EXCEPTION, one person's old date would make a question fail
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInRead",
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.legacy.timeParserPolicy",
)


class SparkEngine:
    """Runs questions on Spark, each in a session of its own, for `timeout` seconds at most."""

    def __init__(self, timeout: float | None = DAY) -> None:
        self._timeout = timeout

    def open(self, plan: PricedPlan) -> AbstractContextManager[OpenedLater]:
        """Start the thread that ends a question; Spark was asked for its tables just before."""
        return limited(self._timeout, lambda limit: self._run(plan, limit))

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[SqlRun]:
        """Open the data of one question."""
        with self._run(plan, Limit(self._timeout)) as run:
            yield run

    @contextmanager
    def _run(self, plan: PricedPlan, given: Limit) -> Iterator[SqlRun]:
        table = next(iter(plan.bound.table.tables.values()))
        assert isinstance(table.source, SparkTable)
        with failing(given) as limit, table.source.session() as spark:
            tag = f"sfumato-{uuid.uuid4()}"
            spark.addTag(tag)
            session = SparkSession(spark)
            limit.begin(lambda: spark.interruptTag(tag))
            try:
                yield SqlRun(session, plan)
            finally:
                session.close()
                spark.removeTag(tag)


class SparkSession:
    """One question's session."""

    def __init__(self, spark: Any) -> None:
        for name, value in _SETTINGS.items():
            with warnings.catch_warnings():  # over Connect Spark warns of one that is old; it is set as Spark has it
                warnings.simplefilter("ignore")
                spark.conf.set(name, value)
        for name in _FAILING:
            if (spark.conf.get(name) or "").upper() == "EXCEPTION":
                spark.conf.set(name, "CORRECTED")
        self._spark = spark
        self._kept: dict[str, Any] = {}
        self.dialect: Dialect = _DIALECT
        self.statements: list[str] = []

    def reading(self, table: Table, names: Mapping[str, str], units: Sequence[str], alias: str) -> str:
        """A query for columns of a table."""
        assert isinstance(table.source, SparkTable)
        return reading(_DIALECT, table, table.source.quoted, table.source.types_in(self._spark), names, units)

    def public(self, table: PublicTable, alias: str) -> str:
        """The rows of a public table, shipped."""
        self._frame(table.rows).createOrReplaceTempView(alias)
        return alias

    def keep(self, name: str, sql: str, *, again: bool = False) -> None:
        """The rows that count are copied for good; what follows from them is kept as long as there is room."""
        self.statements.append(f"CREATE TEMPORARY VIEW {name} AS {sql}")
        rows = self._spark.sql(sql)
        if name == COPIED:
            with active(self._spark):
                rows = rows.localCheckpoint(eager=True)
        else:
            rows = rows.persist()
        if name in self._kept:
            self._kept.pop(name).unpersist()
        self._kept[name] = rows
        rows.createOrReplaceTempView(name)

    def ship(self, name: str, columns: Sequence[Listed]) -> None:
        """A view of listed values."""
        import pyarrow as pa

        types = {Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
                 Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us")}  # fmt: skip
        arrays = {each.name.strip('"'): pa.array(list(each.values), types[each.kind]) for each in columns}
        self.statements.append(f"CREATE TEMPORARY VIEW {name} ({', '.join(arrays)})")
        self._frame(pa.table(arrays)).createOrReplaceTempView(name)

    def _frame(self, rows: Any) -> Any:
        """Rows of Arrow in Spark; over Connect no types are taken from a table without rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        if rows.num_rows:
            return self._spark.createDataFrame(rows)
        return self._spark.createDataFrame([], from_arrow_schema(rows.schema, prefer_timestamp_ntz=True))

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        self.statements.append(sql)
        return [tuple(row) for row in self._spark.sql(sql).collect()]

    def columns(self, sql: str) -> list[Integers]:
        """The columns of a query."""
        self.statements.append(sql)
        found = self._spark.sql(sql)
        rows = [tuple(row) for row in found.collect()]
        return list(np.array(rows, dtype=np.int64).reshape(len(rows), len(found.columns)).T)

    def keys(self) -> DuckdbSession:
        """Keys are public, and worked out without the cluster."""
        return DuckdbSession(Database(settings={"threads": 1}, spills=False).connection)

    def check_unchanged(self) -> None:
        """All passes read one copy."""

    def close(self) -> None:
        """Give back what is kept, the last first; a copy is given back by Spark, when nobody names it any more."""
        for name, rows in reversed(self._kept.items()):
            if name != COPIED:
                with contextlib.suppress(Exception):  # the answer is there; what stays ends with Spark
                    rows.unpersist()
        self._kept.clear()
