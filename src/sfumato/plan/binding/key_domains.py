"""The keys of groups, as far as they are public: the parts of a key whose values are listed, or follow from bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sfumato.dataset.kind import Kind
from sfumato.errors import UnsupportedQuery
from sfumato.phrases import ColumnSetting, Dates, Option, Phrase, Setting
from sfumato.plan.binding.bins import constants_of
from sfumato.plan.expressions.types import typed
from sfumato.plan.plan import Group, KeyDomain
from sfumato.plan.relations.relation import Relation
from sfumato.plan.syntax.functions import FUNCTIONS, Shape
from sfumato.plan.syntax.node import Call, Case, Column, Expression, Literal, children

MOST_GROUPS = 1_000_000
EXACT = 2**53  # whole numbers below have their own double
_YEAR = Setting("keys", Dates("2026-01-01", "2026-12-31"))
_NEEDS = Phrase(" needs public keys, or ", Option("delta", 1e-9), " to find those that enough units have")
_EXAMPLES = {
    Kind.INTEGER: (Setting("keys", [1, 2, 3]),),
    Kind.REAL: (Setting("keys", [1, 2, 3]),),
    Kind.TEXT: (Setting("keys", ["...", "..."]),),
    Kind.DATE: (_YEAR,),
    Kind.TIMESTAMP: (Setting("type", "date"), _YEAR),
}


class NoKeys(UnsupportedQuery):
    """The keys of a column are not public; they may be found, at a price."""


def key_domains(groups: Sequence[Group], table: Relation) -> tuple[KeyDomain, ...]:
    """The parts of all keys whose values are listed in public; their cross product bounds the number of groups."""
    found: dict[Expression, KeyDomain] = {}
    for group in (each for each in groups if each.keyless is None):
        for atom in key_domains_of(group.expression, table):
            known = found.setdefault(atom.expression, atom)
            if None in atom.values and None not in known.values:
                found[atom.expression] = replace(known, values=(*known.values, None))
    total = math.prod(len(atom.values) for atom in found.values())
    if total > MOST_GROUPS:
        raise UnsupportedQuery(
            f"at most {MOST_GROUPS:,} groups are answered; these keys make {total:,}; group more coarsely"
        )
    return tuple(found.values())


def key_domains_of(expression: Expression, table: Relation, caught: bool = False) -> list[KeyDomain]:
    """The atoms of a key; `caught`: a COALESCE around may turn NULL into a key, so that NULL is one of the values."""
    if (atom := _atom(expression, table)) is not None:
        return [replace(atom, values=(*atom.values, None))] if caught else [atom]
    match expression:
        case Call("coalesce", (first, second)):
            return [*key_domains_of(first, table, caught=True), *key_domains_of(second, table, caught)]
        case Case(branches, otherwise):
            # A condition that is NULL does not hold, as FALSE does not; TRUE first: keys in the order of the branches.
            tests = [atom for condition, _ in branches for atom in key_domains_of(condition, table)]
            tests = [replace(atom, values=(True, False)) if atom.kind is Kind.BOOLEAN else atom for atom in tests]
            values = [*(value for _, value in branches), *(() if otherwise is None else (otherwise,))]
            return [*tests, *(atom for value in values for atom in key_domains_of(value, table, caught))]
    return [atom for child in children(expression) for atom in key_domains_of(child, table, caught)]


def _atom(expression: Expression, table: Relation) -> KeyDomain | None:
    """A part of a key whose values are known in public; None: look at what it is computed of."""
    if isinstance(expression, Column):
        return _column_atom(expression, table)
    known = typed(expression, table.columns)
    if known.kind is Kind.BOOLEAN:
        return None if isinstance(expression, Literal) else KeyDomain(expression, Kind.BOOLEAN, (False, True))
    if isinstance(expression, Case) and known.kind is not None and (listed := constants_of(expression)):
        return KeyDomain(expression, known.kind, listed)
    if not isinstance(expression, Call) or known.value_range is None:
        return None
    whole = range(int(known.value_range.low), int(known.value_range.high) + 1)
    if FUNCTIONS[expression.function].shape is Shape.ROUNDING and known.value_range.largest < EXACT:
        return KeyDomain(expression, Kind.REAL, tuple(map(float, whole))) if len(whole) <= MOST_GROUPS else None
    if FUNCTIONS[expression.function].shape is Shape.DATE_NUMBER and _is_periodic(expression, table):
        return KeyDomain(expression, Kind.INTEGER, tuple(whole))
    return None


def _is_periodic(part: Call, table: Relation) -> bool:
    """Whether the part of a date has all its values for keys: hours, since keys are days; others without such keys."""
    (date,) = part.arguments
    if part.function == "extract_hour":
        return typed(date, table.columns).kind is Kind.TIMESTAMP
    return part.function != "extract_year" and isinstance(date, Column) and table.columns[date.name].keys is None


def _column_atom(column: Column, table: Relation) -> KeyDomain:
    declared = table.columns[column.name]
    assert declared.kind is not None  # every column of a table knows its kind
    if declared.keys is not None:
        return KeyDomain(column, declared.kind, declared.keys)
    if declared.kind is Kind.BOOLEAN:
        return KeyDomain(column, declared.kind, (False, True))
    bounds = declared.bounds
    if declared.kind is Kind.INTEGER and bounds is not None and bounds.high - bounds.low < MOST_GROUPS:
        whole = range(max(math.ceil(bounds.low), -(2**63)), min(math.floor(bounds.high), 2**63 - 1) + 1)
        if not whole:
            raise UnsupportedQuery(f"GROUP BY {column.name} has no keys: no whole number is within its bounds")
        return KeyDomain(column, declared.kind, tuple(whole))
    if column.name in table.unit.columns:
        raise UnsupportedQuery(
            f"GROUP BY {column.name} would show single people, since it is part of the unit; group by something else, "
            f"or aggregate each one's rows first: FROM (SELECT {', '.join(table.unit.columns)}, SUM(x) AS x FROM t "
            f"GROUP BY {', '.join(table.unit.columns)}) AS t"
        )
    if others := [name for name, each in table.columns.items() if name.endswith(f".{column.name}") and each.keys]:
        raise NoKeys(f"GROUP BY {column.name} needs public keys; write {others[0]}, which has them")
    computed = table.aggregates and not any(column.name in each.columns for each in table.tables.values())
    raise NoKeys(Phrase(f"GROUP BY {column.name}", _NEEDS), fix=_how_to_have_keys(column.name, declared.kind, computed))


def _how_to_have_keys(name: str, kind: Kind, computed: bool) -> str:
    if computed and not kind.is_number:
        example = f"{name} < DATE '2026-01-01'" if kind in (Kind.DATE, Kind.TIMESTAMP) else f"{name} = 'a'"
        return f"it is computed, which leaves no keys: write CASE WHEN {example} THEN 'one' ELSE 'other' END"
    if computed:  # nobody can declare it
        return (
            f"it is computed: write CASE WHEN {name} < 10 THEN 'few' ELSE 'many' END; if the owner declares "
            f"max_rows_per_unit, bounds follow and FLOOR({name} / 10) has keys"
        )
    how = f"declare bounds and group by FLOOR({name} / 10), or keys" if kind.is_number else "declare them"
    return Phrase(f"{how}: ", ColumnSetting(name, _EXAMPLES[kind]))
