"""A table that Spark knows; its catalog is read, not its rows.

An address is `spark:catalog.schema.table` in the session that is there, or `spark:WHERE#catalog.schema.table`, where
WHERE is a master (`local[4]`, `spark://host:7077`, `yarn`) or a server of Spark Connect (`sc://host:15002`).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import unquote, urlparse

from sfumato import checks
from sfumato.dataset.sources.server import MOST_PUBLIC, ServerTable, too_many
from sfumato.engines.spark._opening import Unreachable, opened
from sfumato.errors import InvalidArgument, SourceNotFound
from sfumato.suggestions import distinct

SCHEME = "spark:"
_NAME = re.compile(r"(?:`[^`]+`|[^`.]+)(?:\.(?:`[^`]+`|[^`.]+)){0,3}")
_PART = re.compile(r"`[^`]+`|[^`.]+")
_OPTIONS = ("Storage Properties", "Table Properties", "Options")
_FAILS = re.compile(r"\bmode=failfast\b", re.IGNORECASE)
_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasbs": "wasb", "abfss": "abfs"}
_TYPES = {"timestamp": "timestamptz", "timestamp_ntz": "timestamp"}


@dataclass(frozen=True, slots=True)
class SparkTable(ServerTable):
    """A table in a catalog of Spark; `address` says which Spark, none: the session that is there."""

    address: str = field(repr=False)
    table: str
    public: bool = False  # then all of it may be read, and a view as well

    begins: ClassVar[str] = SCHEME
    written: ClassVar[str] = "spark:catalog.table"

    @classmethod
    def read(cls, text: str) -> SparkTable:
        """The table that an address means."""
        checks.installed("pyspark", extra="spark", needs="a table of Spark")
        address, _, name = text.removeprefix(SCHEME).rpartition("#")
        if _NAME.fullmatch(name) is None:
            raise InvalidArgument("source must name a table of Spark; got none; write spark:catalog.schema.table")
        return cls(address, name)

    @property
    def label(self) -> str:
        """The table's name."""
        return f"spark:{self.table}"

    @property
    def place(self) -> str:
        """The Spark that is meant."""
        return f"Spark {self.address}"

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of its name."""
        return tuple(part.strip("`") for part in _PART.findall(self.table))

    @property
    def quoted(self) -> str:
        """The name in SQL."""
        return ".".join(f"`{part}`" for part in self.parts)

    @property
    def identity(self) -> frozenset[str]:
        """Where its rows lie, and the files if they are on this machine; without a place, its full name.

        Folders inside are those of partitions, which another table may have on its own. Of a public view also the
        folders of all files that it reads: they may be a private table's.
        """
        with self.session() as session:
            said = self._described(session)
            place = said.get("Location")
            listed = session.table(self.quoted).inputFiles() if place or self.public else []
        own = {self._own(said)}
        files = [urlparse(file) for file in listed]
        local = {os.path.realpath(unquote(file.path)) for file in files if file.scheme in ("", "file")}
        above = {f"spark:{folder}" for file in listed for folder in _folders(place_of(file))}
        if not self.public:
            above = {folder for folder in above if folder.startswith(min(own) + "/")}
        return frozenset(own | local | above)

    @property
    def anchor(self) -> str:
        """Where its rows lie, or its full name, whichever files it has."""
        with self.session() as session:
            return self._own(self._described(session))

    def _own(self, said: Mapping[str, str]) -> str:
        if place := said.get("Location"):
            return f"spark:{place_of(place)}"
        full = [said.get("Catalog") or "spark_catalog", said.get("Database") or "", self.parts[-1]]
        return f"spark:{'.'.join(full).lower()}"

    def types(self) -> dict[str, str]:
        """The type of every column by its own name."""
        with self.session() as session:
            return self.types_in(session)

    def types_in(self, session: Any) -> dict[str, str]:
        """The same, in a session that is open."""
        self._described(session)
        fields = [(each.name, each.dataType.simpleString()) for each in session.table(self.quoted).schema.fields]
        distinct((name for name, _ in fields), where=self.label)
        return {name: _TYPES.get(type, "string" if type.startswith("string") else type) for name, type in fields}

    def as_public(self) -> SparkTable:
        """The same as a PUBLIC one."""
        return replace(self, public=True)

    def rows(self, columns: Sequence[str] = ()) -> Any:
        """All rows of a PUBLIC one."""
        if not self.public:
            return ServerTable.rows(self, columns)
        asked = [f"`{name.replace('`', '``')}`" for name in self.schema() if not columns or name in columns]
        found = None
        with contextlib.suppress(Exception), self.session() as session:  # of several classes, with others' values
            session.conf.set("spark.sql.session.timeZone", "UTC")
            frame = session.table(self.quoted).select(*asked)
            found = (frame.distinct() if columns else frame).limit(MOST_PUBLIC + 1).toArrow()
        if found is None:
            raise InvalidArgument(f"{self.label} must be readable; Spark could not read it; try SELECT * there")
        if found.num_rows > MOST_PUBLIC:
            raise too_many(self.label)
        return found

    def _described(self, session: Any) -> dict[str, str]:
        """What the catalog says of it."""
        try:
            rows = session.sql(f"DESCRIBE TABLE EXTENDED {self.quoted}").collect()
        except Exception:  # of several classes, and with names of others in its message
            rows = None
        if rows is None:
            raise SourceNotFound(
                f"{self.label}: Spark has no such table, or this user may not read it; check its name, and save a "
                "temporary view, which is its session's alone: frame.write.saveAsTable"
            )
        said = {str(row[0]): str(row[1]) for row in rows if row[0]}
        if said.get("Type", "").upper() not in ("MANAGED", "EXTERNAL") and not self.public:
            # a query may tie the rows of many people together, so that one of them moves the rows of all
            raise InvalidArgument(f"{self.label} must be a table; got a view; save it by frame.write.saveAsTable")
        if any(_FAILS.search(said.get(where, "")) for where in _OPTIONS) and not self.public:
            raise InvalidArgument(
                f"{self.label} must be read whatever its rows hold; got mode FAILFAST; set another, or save it anew"
            )
        return said

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A session of our own on the Spark that is meant: its settings and names are nobody else's."""
        with ExitStack() as stack:
            session, why = None, "no connection to Spark; check its address, and that it runs"
            try:
                session = stack.enter_context(opened(self.address))
            except Unreachable as error:
                why = str(error)
            except Exception:  # of several classes; said below, without what it says
                session = None
            if session is None:
                raise SourceNotFound(f"{self.label}: {why}")
            yield session


def place_of(address: str) -> str:
    """A folder or file by one spelling: of slashes, of letters in percent, and of schemes that mean the same.

    >>> place_of("s3a://lake/web//clicks/"), place_of("s3://lake/web/clicks"), place_of("file:///data/a%20b")
    ('s3:/lake/web/clicks', 's3:/lake/web/clicks', 'file:/data/a b')
    >>> place_of("hdfs://name:8020/data") == place_of("hdfs://name/data")
    True
    """
    scheme, _, rest = unquote(address).partition(":/")
    scheme, parts = scheme.lower(), [part for part in rest.split("/") if part]
    if scheme == "hdfs" and parts:
        parts[0] = parts[0].removesuffix(":8020")
    return "/".join([f"{_SCHEMES.get(scheme, scheme)}:", *parts])


def _folders(file: str) -> Iterator[str]:
    """All folders above a file."""
    while "/" in file:
        file = file.rpartition("/")[0].rstrip("/")
        yield file
