"""A first `sfumato.toml`: written from names and types alone, one comment for each choice."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sfumato.cli.init.declare import Said, toml_key, toml_value
from sfumato.dataset.kind import Kind, unread
from sfumato.dataset.sources.server import SERVERS
from sfumato.dataset.sources.source import CsvFiles, DuckdbTable, ParquetFiles, ServerTable, Source, read_source
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import names_a_person

_EXAMPLES = {
    Kind.INTEGER: "{ bounds = [LOWEST, HIGHEST] }",
    Kind.REAL: "{ bounds = [LOWEST, HIGHEST] }",
    Kind.TEXT: '{ keys = ["FIRST", "SECOND"] }',
    Kind.DATE: '{ dates = ["2026-01-01", "2026-12-31"] }',
    Kind.TIMESTAMP: '{ type = "date", dates = ["2026-01-01", "2026-12-31"] }',
}
_UNTYPED = "{ ... }"
_FORMS = (
    "# A column needs bounds to be summed or averaged, and keys or dates to be grouped by. Declare what you know",
    "# without looking at the data: a bound read from the data reveals the largest value. Write, for example:",
    "#   income = { bounds = [0, 200000] }",
    '#   region = { keys = ["north", "south"] }',
    '#   day = { dates = ["2026-01-01", "2026-12-31"] }',
)
SURE = "10 % sure that you are in the data"
_WIDTH = 46  # characters before a comment


@dataclass(frozen=True, slots=True)
class TableDraft:
    """What is known of a table: its names and types from the source, the rest from its owner."""

    name: str
    source: str
    kinds: Mapping[str, Kind | None] = field(hash=False)
    unit: str | None = None
    one_row_each: bool = False  # the owner said that every row is another person
    max_rows_per_unit: int | None = None
    columns: Mapping[str, Said] = field(default_factory=dict, hash=False)
    unread: Mapping[str, str] = field(default_factory=dict, hash=False)  # types that cannot be asked about

    @property
    def likely_unit(self) -> str | None:
        """The column whose name sounds like a person's number."""
        return next((name for name in self.kinds if names_a_person(name)), None)

    def declare(self, name: str, said: Said) -> TableDraft:
        """The draft with a column declared."""
        return replace(self, columns={**self.columns, name: said})


def read_table(address: str, folder: Path) -> TableDraft:
    """A table's names and types; its rows are not read."""
    path = glob.escape(address) if os.path.isfile(address) else address  # a name such as data[1].csv is no pattern
    source = read_source(path)
    typed = not isinstance(source, CsvFiles)
    kinds: dict[str, Kind | None] = {name: kind if typed else None for name, kind in source.schema().items()}
    return TableDraft(_name(source), _relative(source, path, folder), kinds, unread=unread(source.types()))


def _name(source: Source) -> str:
    """A name for SQL, from that of the file or table."""
    match source:
        case DuckdbTable():
            stem = source.table
        case ServerTable():
            stem = re.split(r"[.#:]", source.label)[-1]
        case _:
            stem = re.split(r"[.*?\[]", source.label)[0]
    plain = re.sub(r"\W+", "_", stem).strip("_").lower()
    return plain if plain and not plain[0].isdigit() else f"table_{plain}".rstrip("_")


def _relative(source: Source, address: str, folder: Path) -> str:
    """The address as it is found from the project file's folder."""
    if isinstance(source, ParquetFiles | CsvFiles) and not os.path.isabs(address):
        return Path(os.path.relpath(address, folder)).as_posix()
    if isinstance(source, DuckdbTable) and not os.path.isabs(source.path.removeprefix(os.getcwd() + os.sep)):
        return f"duckdb:///{Path(os.path.relpath(source.path, folder)).as_posix()}#{source.table}"
    return without_password(address) if isinstance(source, ServerTable) else address


def without_password(address: str) -> str:
    """An address as a file may have it, which others read.

    >>> without_password("postgresql://ann:secret@host/db?password=secret&sslmode=require#t")
    'postgresql://ann@host/db?sslmode=require#t'
    >>> without_password("postgresql://ann@host/db?sslpassword=secret&oauth_client_secret=secret&sslmode=require#t")
    'postgresql://ann@host/db?sslmode=require#t'
    """
    secret = r"(?<=[?&])[^=&#]*(?:password|secret|_key)[^=&#]*=[^&#]*&?"  # also that of a certificate or a token
    return re.sub(secret, "", re.sub(r"(//[^/@:]*):[^@/]*@", r"\1@", address))


def write_draft(tables: Sequence[TableDraft], budget: Guarantee, ledger: str | None = None) -> str:
    """The whole project file."""
    epsilon = f"{float(budget.epsilon)!r}"
    lines = [
        "# What is public about these tables, and the privacy budget of the people in them.",
        "# Drafted by `sfumato init` from column names and types. Nothing here was read from the rows.",
        "",
        "[ledger]",
        _commented(
            f"url = {toml_value(ledger or 'ledger.db')}", "every answer's cost is recorded here; keep it and back it up"
        ),
        "",
        "[budget]",
        _commented(f"epsilon = {epsilon}", f"all answers together: {risk(budget)}"),
    ]
    delta = f"delta = {float(budget.delta)!r}" if budget.delta else "# delta = 1e-9"
    lines.append(
        _commented(
            delta, "optional: the probability that the guarantee fails; allows Gaussian noise and undeclared keys"
        )
    )
    for table in tables:
        lines += ["", *_table_lines(table)]
    return "\n".join(lines) + "\n"


def risk(promise: Guarantee) -> str:
    """An epsilon as risk.

    >>> risk(Guarantee(epsilon=1))
    'someone 10 % sure that you are in the data becomes at most 23.2 % sure'
    """
    return f"someone {SURE} becomes {surer(promise)}"


def surer(promise: Guarantee) -> str:
    """How sure that someone can become."""
    after = math.ceil(promise.posterior(0.1)[1] * 1000) / 10  # outward: at most means at most
    return f"at most {after:g} % sure"


def _table_lines(table: TableDraft) -> list[str]:
    return [
        f"[tables.{toml_key(table.name)}]",
        _commented(f"source = {toml_value(table.source)}", _said_of(table.source)),
        '# version = "1"'.ljust(_WIDTH) + "# optional: a label of the data; change it when the data changes",
        *_unit_lines(table),
        "",
        f"[tables.{toml_key(table.name)}.columns]",
        *_FORMS,
        *(_column_line(name, kind, table) for name, kind in table.kinds.items()),
        *(_commented(f"# {toml_key(name)}", f"cannot be queried: {type}") for name, type in table.unread.items()),
    ]


def _said_of(source: str) -> str:
    if source.startswith(tuple(SERVERS)):
        return "queried in place; passwords are not stored here: for PostgreSQL set PGPASSWORD or use ~/.pgpass"
    return "relative to this file; only its schema was read"


def _unit_lines(table: TableDraft) -> list[str]:
    if table.one_row_each:
        return ["# no unit: every row is a different person"]
    if table.unit is None:
        example = toml_value(table.likely_unit or "person_id")
        return [
            _commented(
                f"# unit = {example}",
                "to declare: the column that identifies a person; until then each row is a person",
            ),
            _commented(
                "# max_rows_per_unit = 10",
                "to declare with it: the most rows any one person has; makes intervals two-sided",
            ),
        ]
    rows = (
        "# max_rows_per_unit = 10"
        if table.max_rows_per_unit is None
        else f"max_rows_per_unit = {table.max_rows_per_unit}"
    )
    why = (
        "to declare: the most rows any one person has; without it"
        if table.max_rows_per_unit is None
        else "the most rows any one person has; without it"
    )
    return [
        _commented(f"unit = {toml_value(table.unit)}", "all rows with the same value belong to one protected unit"),
        _commented(rows, f"{why} part of epsilon is spent to estimate a limit"),
    ]


def _column_line(name: str, kind: Kind | None, table: TableDraft) -> str:
    if name in table.columns:
        said = table.columns[name]
        why = {"bounds": "anything outside counts as the nearest bound"}.get(
            said.word, "every value listed here appears in results, even with no rows"
        )
        return _commented(f"{toml_key(name)} = {said.toml()}", why)
    if kind is Kind.BOOLEAN:
        return _commented(f"{toml_key(name)} = {{ keys = [true, false] }}", "known from the type")
    if name == table.unit:
        return _commented(f"# {toml_key(name)}", "the unit; nothing to declare")
    example = _UNTYPED if kind is None else _EXAMPLES[kind]
    return _commented(f"# {toml_key(name)} = {example}", f"to declare: {_reason(kind)}")


def _reason(kind: Kind | None) -> str:
    if kind is None:
        return "bounds if it is a number, keys to group by it; a CSV file does not say"
    return "needed to sum or average it" if kind.is_number else "needed to group by it"


def _commented(text: str, comment: str) -> str:
    return f"{text.ljust(_WIDTH - 1)} # {comment}"
