"""What of a table cannot be read as it is declared: told to its owner by `init` and `doctor`.

A question takes what it cannot read for missing, and must not say so: that is a property of private rows. The owner may
look at the rows, and is told counts and line numbers; no value is shown, and nothing of it gets into the project file.
"""

from __future__ import annotations

from sfumato.cli._shared.legibility.complaint import Complaint
from sfumato.cli._shared.legibility.lines import odd_lines
from sfumato.cli._shared.legibility.values import unread_values
from sfumato.dataset.sources.duckdb_table import DuckdbTable
from sfumato.dataset.sources.files import CsvFiles, ParquetFiles
from sfumato.dataset.table import Table

__all__ = ["Complaint", "complaints"]


def complaints(table: Table, *, undeclared: bool = False) -> list[Complaint]:
    """What cannot be read in the files of a table; servers and frames are not looked through.

    `undeclared`: also numbers that are written oddly in columns of which nothing is declared yet.
    """
    if not isinstance(table.source, CsvFiles | ParquetFiles | DuckdbTable):
        return []
    lines = odd_lines(table.source) if isinstance(table.source, CsvFiles) else []
    return [*lines, *unread_values(table, undeclared=undeclared)]
