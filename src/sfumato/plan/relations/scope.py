"""What names mean: a query over rows is a relation, a meaning for each name, and a filter.

Sub-queries and CTEs that only select and filter rows dissolve: each of their columns is an expression over the columns
of the relation below, and their filters are joined by AND. So every row keeps its unit, whatever was selected. Names
are matched whatever their case, in quotes or not, and shown as they were declared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sfumato.errors import UnsupportedQuery
from sfumato.plan.expressions.types import condition
from sfumato.plan.relations.relation import Relation, filtered
from sfumato.plan.syntax.functions import FUNCTIONS, Shape
from sfumato.plan.syntax.node import Call, Column, Expression, Literal, children, mapped, quoted, text_literal

MOST_NODES = 10_000  # of one expression: sub-queries that double it fifty times would never end
MOST_LEVELS = 150


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for, how it is spelled, and which table's it is; `qualified`: only together with that."""

    spelling: str
    meaning: Expression
    label: str
    qualified: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows of a relation that pass `where`; names in lower case have one meaning, or one for each table."""

    rows: Relation
    names: Mapping[str, tuple[Named, ...]]
    where: Expression | None = None

    @classmethod
    def of(cls, rows: Relation, named: Iterable[Named], where: Expression | None = None) -> Scope:
        """A scope of names in order."""
        names: dict[str, tuple[Named, ...]] = {}
        for each in named:
            names[each.spelling.lower()] = (*names.get(each.spelling.lower(), ()), each)
        return cls(rows, names, where)

    @property
    def listed(self) -> list[Named]:
        """All names."""
        return [each for alike in self.names.values() for each in alike]

    @property
    def labels(self) -> list[str]:
        """The names of its tables."""
        return list(dict.fromkeys(each.label for each in self.listed))

    def starred(self) -> list[Named]:
        """What * stands for: each name once; what USING joined is the left's."""
        found = []
        for alike in self.names.values():
            own = [each for each in alike if not each.qualified]
            if len({each.meaning for each in own}) > 1:
                raise UnsupportedQuery(
                    f"several tables have a column {own[0].spelling!r}; name the columns after SELECT"
                )
            found += own[:1]
        return found

    def filtered(self) -> Scope:
        """The same, its filter a part of the relation."""
        where = None if self.where is None else condition(self.where, self.rows.columns)
        return Scope(filtered(self.rows, where), self.names)

    def knows(self, column: Column) -> bool:
        """Whether a column's name has a meaning."""
        return column.name.lower() in self.names

    def named(self, column: Column, others: Iterable[str] = ()) -> Named:
        """What a column's name stands for; `others` are names that could have been meant as well."""
        if column.table is not None and column.table.lower() not in {label.lower() for label in self.labels}:
            raise unknown("table", column.table, self.labels)
        alike = self.names.get(column.name.lower(), ())
        if column.table is not None:
            alike = tuple(each for each in alike if each.label.lower() == (column.table or "").lower())
        elif any(not each.qualified for each in alike):
            alike = tuple(each for each in alike if not each.qualified)
        if not alike:
            self._refuse_unread(column.name)
            known = [each for each in self.listed if column.table is None or each.label.lower() == column.table.lower()]
            raise unknown("column", column.name, [*(each.spelling for each in known), *others])
        if len({each.meaning for each in alike}) > 1:
            offers = " or ".join(f"{each.label}.{each.spelling}" for each in alike)
            raise UnsupportedQuery(f"several tables have a column {column.name!r}; write {offers}")
        return alike[0]

    def resolve(self, expression: Expression) -> Expression:
        """The same expression over the relation's own columns."""
        if isinstance(expression, Column):
            return self.named(expression).meaning
        if isinstance(expression, Call) and FUNCTIONS[expression.function].shape in (Shape.COMPARISON, Shape.PATTERN):
            self._refuse_texts_as_names(expression.arguments)
        return mapped(expression, self.resolve)

    def _refuse_unread(self, name: str) -> None:
        """A column that is there, of a type that no question reads."""
        for table in self.rows.tables.values():
            for spelled, type in table.unread.items():
                if spelled.lower() == name.lower():
                    raise UnsupportedQuery(
                        f"column {spelled!r} must be a number, a text, a truth value, a date or a time; got {type}; "
                        "ask the owner for a column with what you need of it"
                    )

    def _refuse_texts_as_names(self, compared: tuple[Expression, ...]) -> None:
        """Two columns are compared by city = "München", and hardly ever meant."""
        columns = [each for each in compared if isinstance(each, Column) and each.table is None]
        strange = [column for column in columns if not self.knows(column)]
        if strange and len(columns) > len(strange):
            name = strange[0].name
            refusal = unknown("column", name, [each.spelling for each in self.listed])
            raise UnsupportedQuery(f"{refusal}; a text goes in single quotes: {text_literal(name)}")


def written(name: str) -> str:
    """A name as it stands in a question."""
    return name if name.isidentifier() else quoted(name)


def unknown(what: str, name: str, known: Iterable[str]) -> UnsupportedQuery:
    """A refusal that offers the nearest names, in quotes where SQL needs them."""
    offers = {each.lower(): written(each) for each in known}
    near = difflib.get_close_matches(name.lower(), offers, n=3, cutoff=0.5)
    listed = ", ".join(sorted(offers.values())[:10]) or "none"
    offer = f"did you mean {' or '.join(offers[each] for each in near)}?" if near else f"known: {listed}"
    return UnsupportedQuery(f"unknown {what} {name!r}; {offer}")


def both(first: Expression | None, second: Expression | None) -> Expression | None:
    """Two filters joined by AND."""
    if first is None or second is None:
        return first or second
    return Call("and", (first, second))


def small(expression: Expression) -> Expression:
    """The same expression, unless sub-queries made it grow beyond measure."""
    nodes, levels, level = 0, 0, [expression]
    while level:
        nodes, levels = nodes + sum(not isinstance(one, Literal) for one in level), levels + 1
        if nodes > MOST_NODES or levels > MOST_LEVELS:
            raise UnsupportedQuery("the sub-queries make an expression too long; compute it in fewer steps")
        level = [child for one in level for child in children(one)]
    return expression
