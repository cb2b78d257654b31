"""`sfumato doctor`: what works here, what is missing, and what helps."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from sfumato import __version__, charts
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.failure import ANY_HINT, DEFECT, read
from sfumato.cli._shared.legibility import complaints
from sfumato.cli._shared.screen import output, say, show
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.embedded.spill import temporary
from sfumato.engines.spark._java import HELPS, LEAST, wanting
from sfumato.entropy import SYSTEM
from sfumato.errors import InvalidArgument, SfumatoError, SourceNotFound
from sfumato.ledger.ledger import system_clock
from sfumato.project import FILE, Project

_NEEDED = ("numpy", "scipy", "cryptography", "typer", "rich", "duckdb", "sqlglot", "altair", "sqlalchemy")
_EXTRAS = (  # package, extra, use
    ("pandas", "arrow", "pandas frames in Python"),
    ("polars", "arrow", "polars frames in Python"),
    ("pyarrow", "arrow", "--format arrow, Arrow tables and polars frames"),
    ("psycopg", "postgres", "a ledger or tables in PostgreSQL"),
    ("pyspark", "spark", "tables of Spark"),
)
_LEAST_SPACE = 100 << 20
_SINCE = 1_735_689_600  # 2025; a clock before it was never set


class Finding(NamedTuple):
    """One line: what was looked at, whether it works, and what was found or what helps."""

    what: str
    state: str
    said: str


OK, MISSING, FAULTY, OPTIONAL = "ok", "missing", "faulty", "-"


def doctor(where: given.Where = None) -> None:
    """Check what works here and what is missing.

    Reads the tables' files to count values that cannot be read as declared. The exit code is 0 if nothing is missing,
    otherwise 1. Items marked - are optional.
    """
    console, found = output(), list(_findings(where))
    show(console, [("what", "state", ""), *found])
    wrong = dict.fromkeys(finding.what for finding in found if finding.state in (MISSING, FAULTY))
    say(console, f"Problems: {', '.join(wrong)}." if wrong else "No problems found.")
    if wrong:
        raise typer.Exit(DEFECT)


def _findings(where: Path | None) -> Iterator[Finding]:
    is_new = sys.version_info >= (3, 11)
    version = platform.python_version()
    yield Finding("python", OK if is_new else MISSING, version if is_new else f"{version}; 3.11 or newer is needed")
    yield Finding("sfumato", OK, __version__)
    yield from (_package(name) for name in _NEEDED)
    yield from (_package(*each) for each in _EXTRAS)
    yield from _java()
    yield _tried("charts", _draw)
    yield _tried("randomness", _random)
    yield _clock()
    yield from _project(where)


def _package(name: str, extra: str = "", use: str = "") -> Finding:
    """A package of the default install, or of an extra, which is optional."""
    try:
        return Finding(name, OK, importlib.metadata.version(name) + (f", extra {extra}" if extra else ""))
    except importlib.metadata.PackageNotFoundError:
        if not extra:
            return Finding(name, MISSING, f"not installed: pip install {name}")
        return Finding(name, OPTIONAL, f"not installed; for {use}: pip install 'sfumato[{extra}]'")


def _java() -> Iterator[Finding]:
    """The Java of a driver of Spark, where Spark is installed."""
    if importlib.util.find_spec("pyspark") is None:
        return
    if wrong := wanting():
        yield Finding("java", OPTIONAL, f"{wrong}; for Spark with a driver here: {HELPS}")
    else:
        yield Finding("java", OK, f"{LEAST} or newer, for Spark with a driver here")


def _tried(what: str, attempt: Callable[[], str]) -> Finding:
    """What comes of an attempt; whatever it raises is what is wrong."""
    try:
        return Finding(what, OK, attempt())
    except SfumatoError as error:
        return _wrong(what, error)
    except Exception as error:
        return Finding(
            what, FAULTY, f"{type(error).__name__}; reinstall Sfumato: pip install --force-reinstall sfumato"
        )


def _wrong(what: str, error: SfumatoError, state: str | None = None) -> Finding:
    failure = read(error)
    said = failure.line if failure.hint == ANY_HINT else f"{failure.line}; {failure.hint}"
    return Finding(what, state or (MISSING if isinstance(error, SourceNotFound) else FAULTY), said)


def _draw() -> str:
    chart = charts.with_intervals([charts.Point("a", 2, 1, 3)], charts.Names("x", "y", "text"))
    svg, png = io.StringIO(), io.BytesIO()
    chart.save(svg, format="svg")
    chart.save(png, format="png")
    if "text" not in svg.getvalue() or not png.getvalue().startswith(b"\x89PNG"):
        raise RuntimeError
    return f"svg and png work, vl-convert {importlib.metadata.version('vl-convert-python')}"


def _random() -> str:
    SYSTEM.bits(64)
    return "from the operating system"


def _clock() -> Finding:
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    return Finding("clock", OK if time.time() > _SINCE else FAULTY, f"{now}; set the clock if this is wrong")


def _spilled(parent: str | os.PathLike[str] | None) -> Finding:
    """Where rows go that do not fit into memory."""
    try:
        with temporary(parent) as folder:
            place = os.path.dirname(os.path.dirname(folder))
    except InvalidArgument as error:
        return _wrong("spilled rows", error)
    return Finding("spilled rows", OK, f"rows that do not fit in memory go to {place}, readable by this user only")


def _project(where: Path | None) -> Iterator[Finding]:
    file = given.find_project(where)
    if not os.path.exists(file) and where is None:
        yield Finding("project", OPTIONAL, "none here; create one from a table: sfumato init data.csv")
        yield _spilled(None)
        return
    try:
        loaded = given.load_project(where)
    except SfumatoError as error:
        yield _wrong("project", error, FAULTY if os.path.isfile(file) or os.path.isfile(file / FILE) else MISSING)
        return
    yield Finding("project", OK, f"{file}; tables: {', '.join(loaded.tables)}")
    yield _spilled(loaded.resources.temp_directory)
    for name, table in loaded.tables.items():
        found = _tried(f"table {name}", partial(_found, table))
        yield found
        if found.state is OK:
            yield from _legible(found.what, table)
    yield from (_tried(f"public {name}", partial(_known, table)) for name, table in loaded.public.items())
    yield _ledger(loaded)
    yield _space(loaded)


def _found(table: Table) -> str:
    _ = table.source.identity  # refuses what is gone
    if table.inherits is not None:
        return (
            f"{table.source.label}; protected: what {table.inherits.table} protects, by {', '.join(table.unit.columns)}"
        )
    return f"{table.source.label}; protected: {table.unit}"


def _legible(what: str, table: Table) -> Iterator[Finding]:
    """What of a table's rows cannot be read, which a question must not say."""
    try:
        yield from (Finding(what, FAULTY if each.is_fault else OK, each.text) for each in complaints(table))
    except SfumatoError as error:
        yield _wrong(what, error)


def _known(table: PublicTable) -> str:
    return f"{table.label}; PUBLIC, {table.size:,} rows"


def _ledger(loaded: Project) -> Finding:
    if not given.has_ledger(loaded):
        folder = Path(loaded.ledger.rpartition(":///")[2]).parent
        writable = os.path.isdir(folder) and os.access(folder, os.W_OK)
        said = (
            "none yet; the first question creates it" if writable else f"{folder} must be a folder that can be written"
        )
        return Finding("ledger", OK if writable else FAULTY, said)
    return _tried("ledger", lambda: _verified(loaded))


def _verified(loaded: Project) -> str:
    with loaded.open_ledger(create=False) as ledger:
        found = ledger.verify()
    if found.balance.at > system_clock():
        raise InvalidArgument("in order, but its last entry lies in the future; set the clock")
    return f"in order, {found.entries} entries; head {found.head}"


def _space(loaded: Project) -> Finding:
    is_file = "://" not in loaded.ledger or loaded.ledger.startswith("sqlite")
    folder = Path(loaded.ledger.rpartition(":///")[2]).parent if is_file else Path.cwd()
    free = shutil.disk_usage(folder if os.path.isdir(folder) else Path.cwd()).free
    said = f"{free / (1 << 30):.1f} GB free" + (
        "" if free >= _LEAST_SPACE else "; free some space, or the ledger cannot grow"
    )
    return Finding("disk", OK if free >= _LEAST_SPACE else FAULTY, said)


COMMANDS = (Command(doctor, ("sfumato doctor",)),)
