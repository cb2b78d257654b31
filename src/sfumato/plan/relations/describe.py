"""Where the rows of a question come from, in words for people."""

from __future__ import annotations

from sfumato.plan.relations.relation import (
    Cap,
    Filtered,
    Grouped,
    Inherited,
    Joined,
    Looked,
    Relation,
    Stacked,
    Stored,
)
from sfumato.plan.syntax.node import How


def travels(relation: Relation) -> list[str]:
    """A drawing of where the unit travels: what is made of what, with the unit of each part."""
    return _drawn(relation, "", "")


def _drawn(relation: Relation, first: str, rest: str) -> list[str]:
    lines = [first + _said(relation)]
    parts = [*relation.inputs]
    others = [f"public table {relation.how.name}"] if isinstance(relation.how, Looked) else []
    for place, part in enumerate(parts):
        last = place == len(parts) - 1 and not others
        lines += _drawn(part, f"{rest}{'└─ ' if last else '├─ '}", f"{rest}{'   ' if last else '│  '}")
    return lines + [f"{rest}└─ {other}: no unit" for other in others]


def _said(relation: Relation) -> str:
    unit = ", ".join(relation.unit.columns) or "each row"
    most = relation.max_rows_per_unit if relation.unit.columns else None
    rows = f"; at most {most:,} row{'s' if most > 1 else ''} of a unit" if most else ""
    match relation.how:
        case Stored(name=name):
            what = f"private table {name}"
        case Inherited(name=name, parent=parent, on=on):
            through = ", ".join(f"{mine} = {parent.name}.{theirs}" for mine, theirs in on)
            what = f"private table {name}, its unit through {through}"
        case Filtered(where=where):
            what = f"rows where {where.expression.sql()}"
        case Grouped(keys=keys, aggregates=aggregates):
            others = [name for name, _ in keys if name not in relation.unit.columns]
            what = f"one row for each unit{''.join(f' and {name}' for name in others)}, computed exactly" + (
                f": {', '.join(name for name, _ in aggregates)}" if aggregates else ""
            )
        case Joined(how=how, on=on, left_cap=left, right_cap=right):
            words = {How.SEMI: "rows of units that are in both", How.ANTI: "rows of units that are not in the second"}
            what = words.get(how, f"{how.value} by the unit{'' if on is None else f' and {on.expression.sql()}'}")
            what += _taken(left, "first") + _taken(right, "second")
        case Looked(how=how, on=on, matches=matches):
            what = f"{how.value} with public rows on {on.expression.sql()}; at most {matches:,} match one row"
        case Stacked():
            what = "all rows, one after the other"
    return f"{what} [unit: {unit}{rows}]"


def _taken(cap: Cap | None, which: str) -> str:
    if cap is None:
        return ""
    apart = f" with the same {', '.join(cap.apart)}" if cap.apart else ""
    return f"; of the {which} at most {cap.rows:,} of a unit{apart}"
