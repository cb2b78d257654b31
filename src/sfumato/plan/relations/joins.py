"""Joins: private tables by the whole unit, so that a row is still of one unit; and public tables, by anything.

A join must not grow beyond measure because of what one unit's rows say: of private tables one side has few rows of each
unit, by how it came about or since the engine takes no more than the owner says; of a public table the matches of one
row are counted beforehand, in the public table alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.errors import UnsupportedQuery
from sfumato.phrases import Phrase, Setting
from sfumato.plan.expressions.types import condition
from sfumato.plan.relations.matching import Matching, conjuncts, matching
from sfumato.plan.relations.relation import Cap, Filtered, Inherited, Joined, Looked, Relation, Stored, filtered
from sfumato.plan.relations.scope import Named, Scope, both, small
from sfumato.plan.relations.scope import written as written_name
from sfumato.plan.syntax.node import Call, Column, Expression, How, Join, aggregates, children, mapped

MOST_BESIDE = 100  # rows of a unit on the smaller side of a join
MOST_GROWTH = 1_000  # rows that one may become by all joins together
MOST_READS = 100  # of tables in one question: WITH that doubles them twenty times would never end
COMPARED = (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN)  # whose values are equal in one way only


def join(left: Scope, right: Scope, written: Join) -> Scope:
    """Two private tables, by the whole unit; their filters are parts of their relations already."""
    _check_labels(left, right.labels)
    paired = paired_units(left.rows, right.rows, written.how.value)
    renamed = _renamed(left.rows, right.rows.columns, right.labels[0] if right.labels else "")
    beside = [_beside(each, renamed, written.using) for each in right.listed]
    columns = {**left.rows.columns, **{renamed[name]: each for name, each in right.rows.columns.items()}}
    parts = list(_conditions(Scope.of(left.rows, [*left.listed, *beside]), written, columns))
    same = {
        renamed[theirs]: Column(mine)
        for mine, place in zip(left.rows.unit.columns, paired, strict=True)
        if (theirs := right.rows.unit.columns[place]) in renamed
    }
    units = {frozenset((Column(theirs), mine)) for theirs, mine in same.items()}
    found = [_equal(part) in units for part in parts]
    key = _parent_key(left.rows, right.rows, renamed, parts)
    if key is None and len({_equal(part) for part in parts} & units) < len(paired):
        raise _not_by_unit(left, right, paired, written)
    rest = [part for part, is_unit in zip(parts, found, strict=True) if not is_unit]
    if written.how in (How.SEMI, How.ANTI):
        return _sought(left, right, written.how, rest, renamed, paired)
    if written.how is How.INNER:  # then both sides' units are the same
        beside = [replace(each, meaning=_replaced(each.meaning, same)) for each in beside]
        rest = [_replaced(part, same) for part in rest]
    on = _all(rest)
    beyond = None if on is None else condition(on, columns)
    caps = _caps(left.rows, right.rows, key, written)
    made = Joined(left.rows, right.rows, written.how, beyond, tuple(renamed.items()), paired, *caps)
    return Scope.of(_joined(made, columns, key is not None), [*left.listed, *beside])


def _joined(made: Joined, columns: Mapping[str, Declared], by_key: bool) -> Relation:
    left, right = made.left, made.right
    grown = [] if not by_key else [max(left.growth, right.growth)]
    for side, other, cap in ((left, right, made.left_cap), (right, left, made.right_cap)):
        if not by_key and side.max_rows_per_unit is not None and (cap or side.sure):  # nobody's word alone
            grown.append(max(other.growth * side.max_rows_per_unit, side.growth))
    growth = bearable(min(grown))
    most = (
        None
        if left.max_rows_per_unit is None or right.max_rows_per_unit is None
        else left.max_rows_per_unit * max(1, right.max_rows_per_unit)
    )
    return replace(
        left,
        how=made,
        columns=columns,
        max_rows_per_unit=most,
        sure=left.sure and right.sure,
        growth=growth,
        reads=readable(left.reads + right.reads),
    )


def readable(reads: int) -> int:
    """How many times tables are read, unless that is beyond measure."""
    if reads > MOST_READS:
        raise UnsupportedQuery(
            f"a question may read tables {MOST_READS} times; got more; use fewer joins and UNION ALL"
        )
    return reads


def bearable(growth: int) -> int:
    """How many rows one may become, unless that is beyond measure."""
    if growth > MOST_GROWTH:
        raise UnsupportedQuery(
            f"the joins could make {growth:,} rows of one; at most {MOST_GROWTH:,} are answered; join by more columns, "
            "or make one row of each unit by a sub-query first"
        )
    return growth


def _equal(part: Expression) -> frozenset[Expression] | None:
    """The two sides of an equality."""
    return frozenset(part.arguments) if isinstance(part, Call) and part.function == "equal" else None


def _sought(
    left: Scope,
    right: Scope,
    how: How,
    rest: Sequence[Expression],
    renamed: Mapping[str, str],
    paired: tuple[int, ...],
) -> Scope:
    """The rows of units that have, or have not, a row on the right; conditions may only be about that row."""
    own = {new: Column(old) for old, new in renamed.items()}
    if any(name not in own for part in rest for name in _names(part)):
        raise UnsupportedQuery(
            f"ON of {how.value} takes the unit and conditions on the right table alone; put others into WHERE"
        )
    where = _all([_replaced(part, own) for part in rest])
    wanted = None if where is None else condition(where, right.rows.columns)
    made = Joined(left.rows, filtered(right.rows, wanted), how, None, (), paired)
    growth = max(left.rows.growth, right.rows.growth)
    reads = readable(left.rows.reads + right.rows.reads)
    return replace(left, rows=replace(left.rows, how=made, growth=growth, reads=reads))


def join_public(
    left: Scope, written: Join, label: str, named: tuple[str, PublicTable], matches: Callable[[Matching], int]
) -> Scope:
    """A private table with a public one, whose columns may be compared with anything."""
    name, public = named
    if written.how not in (How.INNER, How.LEFT):
        instead = "LEFT JOIN, and WHERE with IS NULL for a column of it" if written.how is How.ANTI else "JOIN"
        raise UnsupportedQuery(
            f"a public table is joined by JOIN or LEFT JOIN; got {written.how.value}; write {instead}"
        )
    _check_labels(left, [label])
    renamed = _renamed(left.rows, public.columns, label)
    beside = [_beside(Named(each, Column(each), label), renamed, written.using) for each in public.columns]
    columns = {**left.rows.columns, **{renamed[each]: declared for each, declared in public.columns.items()}}
    on = _all(list(_conditions(Scope.of(left.rows, [*left.listed, *beside]), written, columns)))
    assert on is not None, "a join has a condition"
    checked = condition(on, columns)
    found = matches(matching(checked.expression, columns, public, {new: old for old, new in renamed.items()}))
    most = public.most_matches if left.rows.unit.columns else 1
    if found > most:
        raise UnsupportedQuery(_too_many(name, found, most, bool(left.rows.unit.columns)))
    made = Looked(left.rows, name, public, written.how, checked, tuple(renamed.items()), found)
    rows = left.rows.max_rows_per_unit
    max_rows_per_unit = None if rows is None else rows * max(1, found)
    growth = bearable(left.rows.growth * max(1, found))
    reads = readable(left.rows.reads + 1)
    joined = replace(
        left.rows, how=made, columns=columns, max_rows_per_unit=max_rows_per_unit, growth=growth, reads=reads
    )
    return Scope.of(joined, [*left.listed, *beside])


def _too_many(name: str, found: int, most: int, units: bool) -> str:
    if not units:
        return (
            f"a row is a unit here, so it may match one row of {name!r}; up to {found:,} match; join by all columns "
            "that tell its rows apart, or declare a unit"
        )
    return (
        f"a row may match {most:,} row{'s' if most > 1 else ''} of {name!r} at most; here up to {found:,} match; join "
        "by all columns that tell its rows apart, or declare a larger most_matches for it"
    )


def paired_units(left: Relation, right: Relation, what: str) -> tuple[int, ...]:
    """For each unit column of the left which one of the right means the same; refused where a unit is another thing."""
    mine, theirs = left.unit.columns, right.unit.columns
    if not mine and not theirs and what == "UNION ALL":
        return ()
    if not mine or not theirs:
        raise UnsupportedQuery(
            f"{what} needs tables with a unit, but in one of these a row is a unit; declare its column"
        )
    if sorted(left.means) != sorted(right.means):
        units = [Setting("unit", {"person": columns[0]}) for columns in (mine, theirs)]
        raise UnsupportedQuery(
            f"{what} needs tables with the same unit; got {', '.join(mine)} and {', '.join(theirs)}",
            fix=Phrase("if they mean the same people, the owner says so: ", units[0], " and ", units[1]),
        )
    paired = tuple(right.means.index(name) for name in left.means)
    for place, other in enumerate(paired):
        kept, given = left.stored[place], right.stored[other]
        if kept is not given or kept not in COMPARED:
            raise UnsupportedQuery(
                f"{what} needs unit columns of one type, whole numbers, texts, dates or truth values; got "
                f"{mine[place]} of type {kept} and {theirs[other]} of type {given}; the owner converts one"
            )
    return paired


def _check_labels(left: Scope, labels: Iterable[str]) -> None:
    known = {label.lower() for label in left.labels}
    for label in labels:
        if not label or "" in known:
            raise UnsupportedQuery("a sub-query that is joined needs a name; write (SELECT ...) AS something")
        if label.lower() in known:
            raise UnsupportedQuery(f"two joined tables are named {label!r}; give one another name: {label} AS other")


def _renamed(left: Relation, theirs: Mapping[str, Declared], label: str) -> dict[str, str]:
    """The columns of the right under names that the left does not have."""
    mine = {*left.columns, *left.unit.columns}
    renamed: dict[str, str] = {}
    for name in theirs:
        new = name if name not in mine else f"{label}.{name}"
        while new in mine or new in renamed.values():
            new += "'"
        renamed[name] = new
    return renamed


def _beside(named: Named, renamed: Mapping[str, str], using: Sequence[str]) -> Named:
    """A name of the right side; what USING names is the left's, unless it is asked for by its table."""
    meaning = _replaced(named.meaning, {old: Column(new) for old, new in renamed.items()})
    return replace(named, meaning=meaning, qualified=named.spelling.lower() in {name.lower() for name in using})


def _conditions(scope: Scope, written: Join, columns: Mapping[str, Declared]) -> Iterable[Expression]:
    """What must hold, over the columns of both sides."""
    for name in written.using:
        alike = scope.names.get(name.lower(), ())
        mine = [each for each in alike if not each.qualified]
        theirs = [each for each in alike if each.qualified]
        if len({each.meaning for each in mine}) != 1 or len(theirs) != 1:
            raise UnsupportedQuery(f"USING ({name}) needs a column of that name on both sides; write ON a.x = b.y")
        yield Call("equal", (mine[0].meaning, theirs[0].meaning))
    if written.on is None:
        return
    if aggregates(written.on):
        raise UnsupportedQuery("ON takes conditions on rows; got an aggregate; put it into HAVING of a sub-query")
    yield from conjuncts(condition(small(scope.resolve(written.on)), columns).expression)


def _not_by_unit(left: Scope, right: Scope, paired: Sequence[int], written: Join) -> UnsupportedQuery:
    """Why it is refused, and how the join is written."""
    mine, theirs = (side.labels[0] if side.labels else "" for side in (left, right))
    pairs = [(one, right.rows.unit.columns[place]) for one, place in zip(left.rows.unit.columns, paired, strict=True)]
    wanted = " AND ".join(f"{mine}.{written_name(one)} = {theirs}.{written_name(other)}" for one, other in pairs)
    return UnsupportedQuery(
        f"private tables are joined by the whole unit, else a row would be of two people; write {written.how.value} "
        f"{theirs} ON {wanted}, and other conditions after it with AND"
    )


def _caps(
    left: Relation, right: Relation, key: tuple[Cap | None, Cap | None] | None, written: Join
) -> tuple[Cap | None, Cap | None]:
    """What keeps the join from growing: a side with few rows of each unit."""
    if key is not None:
        return key
    few = [side.max_rows_per_unit is not None and side.max_rows_per_unit <= MOST_BESIDE for side in (left, right)]
    if (few[0] and left.sure) or (few[1] and right.sure):
        return None, None
    if few[1] and (not few[0] or (right.max_rows_per_unit or 0) <= (left.max_rows_per_unit or 0)):
        return None, Cap(right.max_rows_per_unit or 0)
    if few[0]:
        return Cap(left.max_rows_per_unit or 0), None
    raise UnsupportedQuery(
        f"{written.how.value} by the unit needs a table with few rows of each unit, else one unit's rows could make it "
        f"grow beyond measure; the owner declares max_rows_per_unit (up to {MOST_BESIDE}) for one, or a sub-query "
        "makes one row of each unit: (SELECT unit, SUM(x) AS x FROM t GROUP BY unit) AS t"
    )


def _parent_key(
    left: Relation, right: Relation, renamed: Mapping[str, str], parts: Sequence[Expression]
) -> tuple[Cap | None, Cap | None] | None:
    """The caps of a join of a table with the one it inherits its unit from, by the key; None: it is none."""
    mine, theirs = _origin(left), _origin(right)
    equal = {_equal(part) for part in parts}

    def by(pairs: Iterable[tuple[str, str]]) -> bool:
        return all(frozenset((Column(one), Column(renamed[other]))) in equal for one, other in pairs)

    if isinstance(mine, Inherited) and _origin(mine.parent) == theirs and by(mine.on):
        return None, Cap(1, tuple(key for _, key in mine.on))
    if isinstance(theirs, Inherited) and _origin(theirs.parent) == mine and by((key, own) for own, key in theirs.on):
        return Cap(1, tuple(key for _, key in theirs.on)), None
    return None


def _origin(rows: Relation) -> Stored | Inherited | None:
    """The table whose rows these are, filtered or not."""
    while isinstance(rows.how, Filtered):
        rows = rows.how.source
    return rows.how if isinstance(rows.how, (Stored, Inherited)) else None


def _names(expression: Expression) -> Iterable[str]:
    if isinstance(expression, Column):
        yield expression.name
    for child in children(expression):
        yield from _names(child)


def _replaced(expression: Expression, columns: Mapping[str, Column]) -> Expression:
    if isinstance(expression, Column):
        return columns.get(expression.name, expression)
    return mapped(expression, lambda part: _replaced(part, columns))


def _all(parts: Sequence[Expression]) -> Expression | None:
    found: Expression | None = None
    for part in parts:
        found = both(found, part)
    return found
