"""Tables in PostgreSQL, asked there."""

from sfumato.engines.postgres.dialect import PostgresDialect
from sfumato.engines.postgres.session import HOUR, MEMORY, PostgresEngine, PostgresSession
from sfumato.engines.postgres.table import PostgresTable

Table, Engine = PostgresTable, PostgresEngine

__all__ = ["HOUR", "MEMORY", "Engine", "PostgresDialect", "PostgresEngine", "PostgresSession", "PostgresTable", "Table"]
