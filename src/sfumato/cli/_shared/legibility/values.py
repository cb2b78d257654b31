"""The values of a table's columns: how many cannot be read as their declared type, and how they look instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.cli._shared.legibility.complaint import MOST_ROWS, Complaint, some
from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table
from sfumato.embedded.database import connected
from sfumato.engines.duckdb._source import lock, open_source
from sfumato.engines.sql.dialect import DUCKDB
from sfumato.engines.sql.lower import Lower, read_column
from sfumato.errors import InvalidArgument
from sfumato.plan.syntax.node import quoted, text_literal

_MOST_KEYS = 1_000  # declared keys with which values are compared
_SIGN = r"\s*[+-]?"
_DECIMAL_COMMA = (
    rf"{_SIGN}(\d+,(\d|\d\d|\d\d\d\d+)|0,\d+|\d{{1,3}}(\.\d{{3}})+,\d+|,\d+)\s*"  # after three digits it may be another
)
_THOUSANDS = (
    rf"{_SIGN}\d{{1,3}}((,\d{{3}})+(\.\d+)?|([ '’\x{{00a0}}\x{{202f}}]\d{{3}})+([.,]\d+)?|(\.\d{{3}}){{2,}})\s*"
)
_HELPS_NUMBERS = (
    "write numbers with a decimal point and without thousands separators, or convert the file to parquet: "
    "docs/how-to/declare-a-project.md"
)
_HELPS = {
    Kind.INTEGER: "write whole numbers with digits alone, or declare another type",
    Kind.REAL: "write numbers with digits and a decimal point alone",
    Kind.DATE: "write dates as 2026-12-31",
    Kind.TIMESTAMP: "write times as 2026-12-31 23:59:59",
    Kind.BOOLEAN: "write true or false",
}


@dataclass(frozen=True, slots=True)
class _Counts:
    """Of one column: values that are there, that cannot be read, that look oddly, that are no declared key."""

    full: int
    unread: int
    commas: int
    thousands: int
    strange: int


def unread_values(table: Table, *, undeclared: bool) -> list[Complaint]:
    """What of each column cannot be read as it is declared."""
    looked_at = [name for name, column in table.columns.items() if undeclared or not _is_bare(column)]
    if not looked_at:
        return []
    counts = _count(table, looked_at)
    return [
        complaint
        for name, each in zip(looked_at, counts, strict=True)
        for complaint in _said(name, table.columns[name], each)
    ]


def _is_bare(column: Column) -> bool:
    """Whether nothing is declared of a column of texts."""
    return column.kind is Kind.TEXT and column.keys is None


def _count(table: Table, names: Sequence[str]) -> list[_Counts]:
    import duckdb

    with connected() as engine:
        lock(engine, [table.source])
        rows = f"(SELECT * FROM {open_source(engine, table, names)} LIMIT {MOST_ROWS})"
        counted = ", ".join(sql for name in names for sql in _counters(name, table.columns[name]))
        try:
            found = engine.execute(f"SELECT {counted} FROM {rows} AS s").fetchone() or ()
        except duckdb.Error:
            raise InvalidArgument(
                f"{table.source.label} must be a table that can be read; it cannot; mend it"
            ) from None
    wide = len(_Counts.__slots__)
    return [_Counts(*found[start : start + wide]) for start in range(0, len(found), wide)]


def _counters(name: str, column: Column) -> Iterator[str]:
    """What is counted of a column, in the order of `_Counts`."""
    text = f"CAST(s.{quoted(name)} AS VARCHAR)"
    read = read_column(DUCKDB, f"s.{quoted(name)}", column)
    is_full = f"trim({text}) <> ''"
    unread = f"{is_full} AND ({read}) IS NULL"
    is_odd = "TRUE" if _is_bare(column) else unread
    for condition in (is_full, unread, _matches(text, _DECIMAL_COMMA, is_odd), _matches(text, _THOUSANDS, is_odd)):
        yield f"count(*) FILTER (WHERE {condition})"
    yield f"count(*) FILTER (WHERE {is_full} AND {_is_strange(read, column)})"


def _matches(text: str, pattern: str, condition: str) -> str:
    return f"{condition} AND regexp_full_match({text}, {text_literal(pattern)})"


def _is_strange(read: str, column: Column) -> str:
    """Whether a value is none of the declared keys; many keys, and doubles, are not compared."""
    if column.keys is None or column.kind is None or column.kind is Kind.REAL or len(column.keys) > _MOST_KEYS:
        return "FALSE"
    known = ", ".join(Lower(DUCKDB, {}).value(key, column.kind) for key in column.keys)
    return f"({read}) NOT IN ({known})"


def _said(name: str, column: Column, found: _Counts) -> Iterator[Complaint]:
    odd = found.commas + found.thousands
    how = "a decimal comma" if found.commas else "thousands separators"
    if _is_bare(column):
        if odd and 2 * odd >= found.full:  # a few may be texts that happen to look so
            yield Complaint(
                f"column {name!r}: {some(odd, found.full)} values look like numbers with {how}; a declaration of "
                f"bounds would read none of them; {_HELPS_NUMBERS}"
            )
        return
    if found.unread:
        like = f"; {some(odd, found.unread)} look like numbers with {how}; {_HELPS_NUMBERS}" if odd else ""
        helps = like or f"; {_HELPS.get(column.kind or Kind.TEXT, 'correct them')}"
        yield Complaint(
            f"column {name!r}: {some(found.unread, found.full)} values cannot be read as {column.kind} and count as "
            f"missing{helps}",
            bool(odd) or 2 * found.unread >= found.full,
        )
    if found.strange:
        yield Complaint(
            f"column {name!r}: {some(found.strange, found.full)} values are none of the declared keys and are left out "
            "of groups; declare them too if they may be shown",
            found.strange == found.full,
        )
