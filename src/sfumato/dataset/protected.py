"""What a table protects, in words that never change: a ledger keeps them, and refuses others.

    meaning_of    of a population    all rows of one "person"; neighbors add-remove
    bindings_of   of each source     all rows of one "person" in column "person_id"; neighbors add-remove

Losses add up only where neighboring data sets are the same: those that differ by one unit, and by what that does. So
the tables of one population protect units of one meaning under one neighbor relation. One source also has its unit in
the same columns, whichever table it is: by another column the rows of one person would be those of many. That
different sources mean the same people by the same word is the owner's declaration.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from sfumato.dataset.one_file import check_one_file
from sfumato.dataset.sources.frame import Frame
from sfumato.dataset.table import Table
from sfumato.errors import InvalidArgument
from sfumato.phrases import Phrase, Setting
from sfumato.suggestions import find

Tables = Mapping[str, Table]
_ROW = "one row"
_HELPS = Phrase(
    "declare what the unit means alike in each, for example ",
    Setting("unit", {"person": "id"}),
    ", or put tables of other people into a population of their own",
)


def lineage(name: str, tables: Tables) -> Iterator[tuple[str, Table]]:
    """The table, the one that it inherits its unit from, and so on up to the one that has a unit of its own."""
    seen = [name]
    yield name, tables[name]
    while (link := tables[seen[-1]].inherits) is not None:
        parent = find(link.table, tables, what="table", where="this population")
        if parent in seen:
            raise InvalidArgument(
                f"a unit must come from a table that has one; got a circle: {' -> '.join([*seen, parent])}; "
                "one of them needs a column of its own for a unit"
            )
        seen.append(parent)
        yield parent, tables[parent]


def meaning_of(name: str, tables: Tables) -> str:
    """What the unit of a table is, whichever columns it has there."""
    *_, (_, root) = lineage(name, tables)
    words = " and ".join(_quoted(each) for each in sorted(root.means))
    return f"{f'all rows of one {words}' if words else _ROW}{_neighbors(tables[name])}"


def bindings_of(name: str, tables: Tables) -> dict[str, str]:
    """The unit of each source of a table, by its columns here, or by those that lead to the table it comes from."""
    line = [table for _, table in lineage(name, tables)]
    said = _neighbors(line[0])
    if isinstance(line[0].source, Frame):
        known = line[0].source.columns_by_source()
        return {source: f"{_unit(line, columns)}{said}" for source, columns in known.items()}
    return dict.fromkeys(sorted(line[0].source.identity), f"{_unit(line, {})}{said}")


def _unit(line: Sequence[Table], columns: Mapping[str, str]) -> str:
    """The unit of the first table in a lineage; `columns` are those that have another name than in the table."""
    table, *above = line
    if table.inherits is not None:
        (parent, *_) = above
        theirs = parent.source.columns_by_source()[parent.source.anchor] if isinstance(parent.source, Frame) else {}
        pairs = zip(table.inherits.columns, table.inherits.keys, strict=True)
        leads = [f"{_column(here, columns)} equal to {_column(parent.find(there), theirs)}" for here, there in pairs]
        return f"by {' and '.join(leads)} in {_quoted(parent.source.anchor)}: {_unit(above, theirs)}"
    if not table.unit.columns:
        return _ROW
    named = sorted(zip(table.means, table.unit.columns, strict=True))
    return f"all rows of one {' and one '.join(f'{_quoted(m)} in column {_column(c, columns)}' for m, c in named)}"


def _column(name: str, columns: Mapping[str, str]) -> str:
    return _quoted(columns.get(name, name.lower()))


def _quoted(name: str) -> str:
    return json.dumps(name)  # so that no name can be read as the words around it


def _neighbors(table: Table) -> str:
    return f"; neighbors {table.neighbors.value}"


def check_one_unit(tables: Tables, bindings: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse tables whose losses one budget cannot add up; `bindings` are those of each table."""
    if len({table.neighbors for table in tables.values()}) > 1:
        raise InvalidArgument(
            "tables of one population must have the same neighbors; got both; losses of the two do not add up"
        )
    seen: dict[str, tuple[str, str]] = {}
    for name, bound in bindings.items():
        for source, unit in bound.items():
            other, first = seen.setdefault(source, (name, unit))
            if first != unit:
                raise InvalidArgument(
                    f"a source must have one unit, by the same columns; got {tables[name].source.label} as {other!r}, "
                    f"where {_told(tables[other])} is protected, and as {name!r}, where it is {_told(tables[name])}: "
                    "one budget cannot add up their losses; declare it alike in both"
                )
    check_one_file(seen, seen)
    meanings = {name: meaning_of(name, tables) for name in tables}
    if not meanings:
        return
    first, *_ = meanings
    for name, meaning in meanings.items():
        if meaning != meanings[first]:
            raise InvalidArgument(
                f"tables of one population must protect the same unit; got {first!r}, where {_told(tables[first])} is "
                f"protected, and {name!r}, where it is {_told(tables[name])}: one budget cannot add up their losses",
                fix=_HELPS,
            )


def _told(table: Table) -> str:
    if table.inherits is not None:
        return f"what {table.inherits.table!r} protects"
    meant = " and ".join(table.means)
    return str(table.unit) + (f" (meaning {meant})" if meant != " and ".join(table.unit.columns).lower() else "")
