"""UNION ALL: the rows of several queries one after the other, each with its unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.dataset.column import Bounds, Key
from sfumato.dataset.column import Column as Declared
from sfumato.errors import UnsupportedQuery
from sfumato.plan.expressions.decimals import common, scale_of
from sfumato.plan.expressions.types import Typed, dated, same_kind, typed
from sfumato.plan.relations.joins import bearable, paired_units, readable
from sfumato.plan.relations.relation import Relation, Stacked
from sfumato.plan.relations.scope import Named, Scope
from sfumato.plan.syntax.node import Column, Literal
from sfumato.privacy.unit import Unit
from sfumato.statistics.ranges import hull


def stack(parts: Sequence[Scope], label: str) -> Scope:
    """The rows of all parts; columns go by their places, and have the names of the first part."""
    first, *others = parts
    for other in others:
        if len(other.listed) != len(first.listed):
            raise UnsupportedQuery(
                f"queries between UNION ALL must have as many columns each; got {len(first.listed)} and "
                f"{len(other.listed)}; select the same ones"
            )
    paired = tuple(paired_units(first.rows, part.rows, "UNION ALL") for part in parts)
    if not first.rows.unit.columns:
        _check_apart([part.rows for part in parts])
    sides = [part.filtered() for part in parts]
    rows = [[_typed(each, side.rows) for each in side.listed] for side in sides]
    names = [each.spelling for each in first.listed]
    columns = {
        name: _declared([column[place] for column in rows], [side.rows for side in sides])
        for place, name in enumerate(names)
    }
    unit = Unit(tuple(_unit_name(place, sides, paired, rows, names) for place in range(len(first.rows.unit.columns))))
    most = [side.rows.max_rows_per_unit for side in sides]
    known = [each for each in most if each is not None]
    how = Stacked(
        tuple((side.rows, tuple(each.expression for each in column)) for side, column in zip(sides, rows, strict=True)),
        paired,
    )
    total = (sum(known) if unit.columns else 1) if len(known) == len(most) else None
    relation = replace(
        first.rows,
        how=how,
        columns=columns,
        unit=unit,
        max_rows_per_unit=total,
        sure=all(side.rows.sure for side in sides),
        growth=_growth([side.rows for side in sides]),
        reads=readable(sum(side.rows.reads for side in sides)),
    )
    return Scope.of(relation, [Named(name, Column(name), label) for name in names])


def _growth(parts: Sequence[Relation]) -> int:
    """How many rows one row of a table becomes in all parts that read it."""
    tables = {name for part in parts for name in part.tables}
    return bearable(max(sum(part.growth for part in parts if name in part.tables) for name in tables))


def _check_apart(parts: Sequence[Relation]) -> None:
    """Refuse rows of one source in two parts, where a row is a unit: each would be two."""
    seen: frozenset[str] = frozenset()
    for part in parts:
        sources = frozenset[str]().union(*(table.source.identity for table in part.tables.values()))
        if seen & sources:
            raise UnsupportedQuery(
                f"UNION ALL takes rows that are units from different tables; got {part.name!r} twice, so that one unit "
                "would count as two; ask of it once, or declare a unit"
            )
        seen |= sources


def _typed(named: Named, rows: Relation) -> Typed:
    return typed(dated(named.meaning, rows.columns), rows.columns)


def _declared(parts: Sequence[Typed], rows: Sequence[Relation]) -> Declared:
    """What is public about a column of several parts: the keys of all, if all have them, and bounds that hold all."""
    kind = same_kind(parts[0].expression, tuple(parts))
    if kind is None:
        raise UnsupportedQuery("a column of NULL alone has no kind; write CAST(NULL AS DOUBLE), or select a column")
    value_range = hull([part.value_range for part in parts if part.kind is not None])
    bounds = None if value_range is None else Bounds(value_range.low, value_range.high)
    found = [
        scale_of(part.expression, of.columns) for part, of in zip(parts, rows, strict=True) if part.kind is not None
    ]
    scale, misses = common(scale for scale, _ in found), any(missed for _, missed in found)
    keys = [_keys(part, of) for part, of in zip(parts, rows, strict=True)]
    listed = [each for each in keys if each is not None]
    if len(listed) < len(keys) or any(part.kind not in (kind, None) for part in parts):
        return Declared(kind, bounds, None, scale, misses)
    together = tuple(dict.fromkeys(key for each in listed for key in each)) or None
    return Declared(kind, bounds, together, scale, misses)


def _keys(part: Typed, rows: Relation) -> tuple[Key, ...] | None:
    match part.expression:
        case Column(name):
            return rows.columns[name].keys
        case Literal(str(value)) if part.expression.is_text:
            return (value,)
        case Literal(None):
            return ()
    return None


def _unit_name(
    place: int,
    sides: Sequence[Scope],
    paired: Sequence[Sequence[int]],
    rows: Sequence[Sequence[Typed]],
    names: Sequence[str],
) -> str:
    """The name of the column that is the unit's in every part; where there is none, one that no column has."""
    wanted = [Column(side.rows.unit.columns[each[place]]) for side, each in zip(sides, paired, strict=True)]
    for number, name in enumerate(names):
        if [column[number].expression for column in rows] == wanted:
            return name
    name = sides[0].rows.unit.columns[place]
    while name in names:
        name += "'"
    return name
