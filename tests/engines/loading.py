"""The rows of a world, brought to servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
import pyarrow as pa
from sqlalchemy import make_url

_TYPES = {
    pa.int64(): "bigint", pa.float64(): "double precision", pa.string(): "text", pa.bool_(): "boolean",
    pa.date32(): "date", pa.timestamp("us"): "timestamp", pa.decimal128(10, 2): "numeric(10, 2)",
}  # fmt: skip


def postgres_address(address: str) -> tuple[str, str]:
    """The address of a new schema's database as libpq has it, and the schema."""
    url = make_url(address)
    schema = str(url.query["options"]).removeprefix("-csearch_path=")
    plain = url.set(drivername="postgresql").difference_update_query(["options"])
    return plain.render_as_string(hide_password=False), schema


class Server:
    """A schema of one's own, and the address of its database."""

    def __init__(self, address: str) -> None:
        self.address, self.schema = postgres_address(address)

    def run(self, *statements: str) -> list[Any]:
        with psycopg.connect(self.address, autocommit=True, options=f"-csearch_path={self.schema}") as connection:
            found: list[Any] = []
            for statement in statements:
                cursor = connection.execute(statement)
                found = cursor.fetchall() if cursor.description else []
        return found

    def at(self, table: str, **changed: Any) -> str:
        """The address of a table, of another user, say."""
        url = make_url(self.address).difference_update_query([name for name in ("host", "port") if name in changed])
        return f"{url.set(**changed).render_as_string(hide_password=False)}#{self.schema}.{table}"


def load_postgres(address: str, schema: str, tables: Mapping[str, pa.Table]) -> None:
    """Tables in a schema."""
    with psycopg.connect(address, autocommit=True) as connection:
        for name, rows in tables.items():
            columns = ", ".join(f'"{field.name}" {_TYPES[field.type]}' for field in rows.schema)
            connection.execute(f'CREATE TABLE {schema}."{name}" ({columns})')
            with connection.cursor() as cursor, cursor.copy(f'COPY {schema}."{name}" FROM STDIN') as copy:
                for row in rows.to_pylist():
                    copy.write_row(tuple(row.values()))


def load_spark(spark: Any, tables: Mapping[str, pa.Table]) -> None:
    """Tables in the catalog."""
    for name, rows in tables.items():
        spark.createDataFrame(rows).coalesce(1).write.mode("overwrite").saveAsTable(name)
