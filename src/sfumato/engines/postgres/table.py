"""A table in PostgreSQL; its catalog is read, not its rows.

An address is `postgresql://user@host/database#schema.table`, as libpq reads it; the schema may be left out where it is
`public`, and a name that holds a point or another sign of addresses is written in double quotes. A password is better
not in it: PGPASSWORD and ~/.pgpass are read. No message, label or identity has the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from sfumato import checks
from sfumato.dataset.sources.server import MOST_PUBLIC, ServerTable, too_many
from sfumato.engines.postgres._whole import whole
from sfumato.engines.postgres.errors import why
from sfumato.errors import InvalidArgument, SourceNotFound
from sfumato.plan.syntax.node import quoted
from sfumato.suggestions import distinct, nearest

OLDEST = 15
_PLAIN = r'"(?:[^"]|"")+"|[^"#@/:.?]+'  # a password may hold a # of its own, and must not be taken for a name
_ADDRESS = re.compile(rf"(?P<address>.+)#(?:(?P<schema>{_PLAIN})\.)?(?P<table>{_PLAIN})", re.DOTALL)
_WAIT = 10  # seconds for a connection
# Whatever the server's or the user's settings are: names mean the catalog's functions, texts what they say, and times
# are in UTC.
SETTINGS = {
    "search_path": "pg_catalog",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "client_min_messages": "error",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "15min",
}
_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relkind::text, pg_catalog.row_security_active(c.oid) FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
AND n.nspname NOT LIKE 'pg\\_temp%%' AND pg_catalog.lower(n.nspname) = pg_catalog.lower(%s)
"""
_PARTS = """
WITH RECURSIVE parts AS (
  SELECT %s::pg_catalog.oid AS oid
  UNION SELECT each.part FROM parts JOIN (
    SELECT inhparent AS whole, inhrelid AS part FROM pg_catalog.pg_inherits
    UNION ALL SELECT r.ev_class, d.refobjid FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d
    ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass WHERE r.ev_type = '1'
  ) AS each ON each.whole = parts.oid
) SELECT parts.oid, c.relkind::text FROM parts JOIN pg_catalog.pg_class c ON c.oid = parts.oid
"""
_COLUMNS = """
WITH RECURSIVE own AS (
  SELECT a.attname, a.attnum, a.attgenerated, a.atttypid AS type, a.atttypmod AS size FROM pg_catalog.pg_attribute a
  WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
), based AS (
  SELECT attname, attnum, attgenerated, type, size FROM own
  UNION ALL SELECT b.attname, b.attnum, b.attgenerated, t.typbasetype, t.typtypmod FROM based b
  JOIN pg_catalog.pg_type t ON t.oid = b.type AND t.typtype = 'd'
) SELECT b.attname, CASE WHEN b.attgenerated = 'v' THEN 'virtual generated column'
    WHEN t.typtype = 'e' THEN 'enum'
    WHEN t.oid = 'pg_catalog.numeric'::pg_catalog.regtype THEN pg_catalog.format_type(t.oid, b.size)
    WHEN t.typtype = 'b' AND n.nspname = 'pg_catalog' THEN t.typname
    ELSE n.nspname || '.' || t.typname END
FROM based b JOIN pg_catalog.pg_type t ON t.oid = b.type JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
_TELLS = "SELECT pg_catalog.has_column_privilege(%s::pg_catalog.oid, 'tableoid', 'SELECT')"
_PLACE = """
SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()), d.oid, pg_catalog.pg_is_in_recovery(),
pg_catalog.has_database_privilege(d.oid, 'TEMP'), pg_catalog.current_setting('server_version_num')::int,
pg_catalog.current_setting('server_encoding') FROM pg_catalog.pg_database d
WHERE d.datname = pg_catalog.current_database()
"""
_TYPES = {
    "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double",
    "varchar": "varchar", "bpchar": "char", "char": '"char"', "bool": "boolean", "timestamptz": "timestamptz",
}  # fmt: skip
_LET = "let the database's owner"
_KINDS = {"v": "a view", "m": "a materialized view", "f": "a foreign table"}


class Described(NamedTuple):
    """A table as its database spells it: schema and name, and the types of the columns that this user may read.

    `parts` are the numbers of the table and of all tables that are parts of it.
    """

    name: tuple[str, str]
    types: dict[str, str]
    parts: tuple[int, ...]

    @property
    def rows(self) -> tuple[str, str]:
        """What stands after FROM, and after WHERE: the rows of these parts.

        A part that is attached meanwhile is seen at once, whatever the snapshot, if its rows are older than that.
        """
        name = ".".join(map(quoted, self.name))
        if len(self.parts) == 1:
            return f"ONLY {name}", ""
        return name, f"s.tableoid IN ({', '.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class PostgresTable(ServerTable):
    """A table in PostgreSQL; `address` is that of its database."""

    address: str = field(repr=False)  # may hold a password
    namespace: str
    table: str
    public: bool = False  # then all of it may be read, and a view as well

    begins: ClassVar[str] = "postgresql:"
    written: ClassVar[str] = "postgresql://user@host/database#table"

    @classmethod
    def read(cls, text: str) -> PostgresTable:
        """The table that an address means."""
        checks.installed("psycopg", extra="postgres", needs="a table in PostgreSQL")
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        found = _ADDRESS.fullmatch(text)
        if found is None:
            raise InvalidArgument(
                "source must name a database and a table; got no table; write postgresql://user@host/database#table"
            )
        read = None
        with suppress(psycopg.ProgrammingError):  # it quotes the address, also as the context of another error
            read = conninfo_to_dict(found["address"])
        if read is None:
            raise InvalidArgument(
                "source must be an address that PostgreSQL reads; got another; write postgresql://user@host/database#table"
            )
        return cls(found["address"], _unquoted(found["schema"] or "public"), _unquoted(found["table"]))

    @property
    def label(self) -> str:
        """The database's name and the table's."""
        from psycopg.conninfo import conninfo_to_dict

        return f"{conninfo_to_dict(self.address).get('dbname', 'postgres')}#{self.namespace}.{self.table}"

    @property
    def place(self) -> str:
        """The database, by its address."""
        return f"PostgreSQL {self.address}"

    @property
    def identity(self) -> frozenset[str]:
        """The table and its parts by their numbers in the server, however its address is spelled; a view's tables."""
        return frozenset(self._numbers())

    @property
    def anchor(self) -> str:
        """The table by its number, without its parts."""
        return self._numbers()[0]

    def _numbers(self) -> tuple[str, ...]:
        """The table first, then its parts."""
        with self._asking() as connection:
            system, database, *_ = connection.execute(_PLACE).fetchone()
            (oid, *_) = self._find(connection)
            parts = self._parts(connection, oid)
        return tuple(f"postgresql:{system}/{database}/{part}" for part in sorted(parts, key=lambda part: part != oid))

    def _parts(self, connection: Any, oid: int) -> tuple[int, ...]:
        """The numbers of the table and of its parts, all of which must be here, and be told apart, if it is private."""
        parts = connection.execute(_PARTS, [oid]).fetchall()
        if any(kind == "f" for _, kind in parts) and not self.public:
            raise InvalidArgument(f"{self.label} must be in this server; a part of it is a foreign table; copy it")
        if len(parts) > 1 and not self.public and not connection.execute(_TELLS, [oid]).fetchone()[0]:
            raise InvalidArgument(
                f"{self.label} has parts, which this user must be able to tell apart; permission was denied; "
                "let the database's owner GRANT SELECT (tableoid) on it"
            )
        return tuple(part for part, _ in parts)

    def types(self) -> dict[str, str]:
        """The type of every column that this user may read, by its own name."""
        with self._asking() as connection:
            self._check(connection)
            columns = self.described(connection).types
        if not columns:
            raise InvalidArgument(f"{self.label} must be readable; permission was denied; {_LET} GRANT SELECT on it")
        distinct(columns, where=self.label)
        return columns

    def described(self, connection: Any) -> Described:
        """What the catalog says of it, on a connection that is there."""
        oid, schema, table = self._find(connection)
        columns = connection.execute(_COLUMNS, [oid]).fetchall()
        types = {name: _TYPES.get(type) or _array(type) for name, type in columns}
        return Described((schema, table), types, self._parts(connection, oid))

    def as_public(self) -> PostgresTable:
        """The same as a PUBLIC one."""
        return replace(self, public=True)

    def rows(self, columns: Sequence[str] = ()) -> Any:
        """All rows of a PUBLIC one."""
        if not self.public:
            return ServerTable.rows(self, columns)
        checks.installed("pyarrow", extra="arrow", needs="a public table")
        with self._asking() as connection:
            name, types, _ = self.described(connection)
            found = whole(connection, ".".join(map(quoted, name)), types, columns, MOST_PUBLIC)
        if found.num_rows > MOST_PUBLIC:
            raise too_many(self.label)
        return found

    def _find(self, connection: Any) -> tuple[int, str, str]:
        """Its number, its schema and its name as they are spelled; one that differs only in case is taken for it."""
        found = connection.execute(_TABLES, [self.namespace]).fetchall()
        exact = [row for row in found if row[1:3] == (self.namespace, self.table)]
        alike = [
            row for row in found if (row[1].lower(), row[2].lower()) == (self.namespace.lower(), self.table.lower())
        ]
        chosen = exact or alike
        if len(chosen) != 1:
            advice = (
                "two are spelled alike; write it as it is" if chosen else nearest(self.table, (r[2] for r in found))
            )
            raise SourceNotFound(f"{self.label}: unknown table {self.namespace}.{self.table}; {advice}")
        oid, schema, table, kind, hidden = chosen[0]
        if kind in _KINDS and not self.public:
            # a query may tie the rows of many people together, so that one of them moves the rows of all
            raise InvalidArgument(f"{self.label} must be a table; got {_KINDS[kind]}; create a table from it")
        if hidden and not self.public:
            # so may a policy, which may fail on a value, too, or choose other rows in every pass
            raise InvalidArgument(
                f"{self.label} must be all that this user may read of it; got row-level security; "
                "create a table of the rows that count, or ask as a user whom no policy concerns"
            )
        return oid, schema, table

    def _check(self, connection: Any) -> None:
        """What a question needs of the server."""
        _, _, standby, temporary, version, encoding = connection.execute(_PLACE).fetchone()
        if version < OLDEST * 10_000:
            raise InvalidArgument(f"{self.label} must be in PostgreSQL {OLDEST} or newer; got {version // 10_000}")
        if encoding != "UTF8":
            raise InvalidArgument(f"{self.label} must be in a database of encoding UTF8; got {encoding}; convert it")
        if (standby or not temporary) and not self.public:
            got = "a user without TEMP; let the database's owner GRANT TEMPORARY on it"
            if standby:
                got = "a standby; name its primary server"
            raise InvalidArgument(f"{self.label} must be where temporary tables may be made; got {got}")

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """A connection for what is public; what the server says when it fails may hold names or values."""
        import psycopg

        try:
            with self.connect() as connection:
                yield connection
        except psycopg.Error:
            raise SourceNotFound(
                f"{self.label} must be readable; the database could not read it, or ended the connection; "
                "try it in psql as this user"
            ) from None

    @contextmanager
    def connect(self) -> Iterator[Any]:
        """A connection of its own, with settings of ours; what goes wrong is said without the address."""
        import psycopg

        reason = ""
        try:
            connection = psycopg.connect(
                self.address, connect_timeout=_WAIT, autocommit=True, application_name="sfumato", client_encoding="UTF8"
            )
        except psycopg.Error as error:
            reason = why(error)
        if reason:
            raise SourceNotFound(f"{self.label}: no connection to the database: {reason}")
        with connection:
            wanted = ", ".join(f"pg_catalog.set_config('{name}', '{value}', false)" for name, value in SETTINGS.items())
            connection.execute(f"SELECT {wanted}")
            yield connection


def _array(type: str) -> str:
    """The catalog calls text[] `_text`."""
    return f"{type[1:]}[]" if type.startswith("_") and "." not in type else type


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
