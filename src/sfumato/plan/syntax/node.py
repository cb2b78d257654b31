"""A question as data: the nodes of a plan, frozen, in the analyst's words.

Every expression prints itself as SQL (`sql()`), fully parenthesized. That is how `parse` proves that nothing was lost:
what is printed must parse to the tree it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from sfumato.errors import UnsupportedQuery
from sfumato.plan.syntax.functions import FUNCTIONS


def quoted(name: str) -> str:
    """A name as SQL, always in quotes."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Column:
    """A column by name, perhaps qualified by a table's name."""

    name: str
    table: str | None = None

    def sql(self) -> str:
        """The name in quotes."""
        return quoted(self.name) if self.table is None else f"{quoted(self.table)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; numbers, dates and times keep the text they were written with."""

    value: str | bool | None
    is_number: bool = False
    is_date: bool = False
    is_time: bool = False

    def sql(self) -> str:
        """The constant as it was written."""
        match self.value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if self.value else "FALSE"
        if self.is_number:
            return self.value
        kind = "DATE" if self.is_date else "TIMESTAMP" if self.is_time else None
        return text_literal(self.value) if kind is None else f"CAST({text_literal(self.value)} AS {kind})"

    @property
    def is_text(self) -> bool:
        """Whether it is a text in quotes, and nothing was said about what it means."""
        return isinstance(self.value, str) and not (self.is_number or self.is_date or self.is_time)


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator of the allow-list (`functions`) with its arguments."""

    function: str
    arguments: tuple[Expression, ...]

    def sql(self) -> str:
        """The function's own way of writing."""
        return FUNCTIONS[self.function].template.format(*(argument.sql() for argument in self.arguments))


@dataclass(frozen=True, slots=True)
class In:
    """Membership in a list of constants."""

    value: Expression
    items: tuple[Literal, ...]

    def sql(self) -> str:
        """As a list."""
        return f"({self.value.sql()} IN ({', '.join(item.sql() for item in self.items)}))"


@dataclass(frozen=True, slots=True)
class Case:
    """The first value whose condition holds."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None

    def sql(self) -> str:
        """As CASE WHEN."""
        whens = " ".join(f"WHEN {condition.sql()} THEN {value.sql()}" for condition, value in self.branches)
        return f"CASE {whens}{'' if self.otherwise is None else f' ELSE {self.otherwise.sql()}'} END"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG or another over the rows of a group; no argument: COUNT(*); `at`: the share of a quantile."""

    function: str
    argument: tuple[Expression, ...] = ()
    distinct: bool = False
    at: Literal | None = None

    def sql(self) -> str:
        """As a call."""
        inside = ", ".join(argument.sql() for argument in self.argument) or "*"
        if self.at is not None:
            inside += f", {self.at.sql()}"
        return f"{self.function.upper()}({'DISTINCT ' if self.distinct else ''}{inside})"


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of an aggregate over all groups: the one window that is answered."""

    aggregate: Aggregate

    def sql(self) -> str:
        """As a window without partitions."""
        return f"SUM({self.aggregate.sql()}) OVER ()"


@dataclass(frozen=True, slots=True)
class Exact:
    """A number as the nearest double of a decimal with so many digits after the point; see `plan.decimals`."""

    value: Expression
    scale: int

    def sql(self) -> str:
        """As the question has it, since there the number is a decimal."""
        return self.value.sql()


@dataclass(frozen=True, slots=True)
class KeyAt:
    """In a result: the value of a group's key."""

    position: int

    def sql(self) -> str:
        """For explanations."""
        return f"key {self.position + 1}"


@dataclass(frozen=True, slots=True)
class MeasureAt:
    """In a result: the private value of a measure; of quantiles, the one at a point."""

    position: int
    point: int = 0

    def sql(self) -> str:
        """For explanations."""
        return f"measure {self.position + 1}" + (f".{self.point + 1}" if self.point else "")


@dataclass(frozen=True, slots=True)
class TotalAt:
    """In a result: the sum of a measure over all groups that HAVING keeps."""

    position: int

    def sql(self) -> str:
        """For explanations."""
        return f"total of measure {self.position + 1}"


Expression = Column | Literal | Call | In | Case | Exact | Aggregate | Total | KeyAt | MeasureAt | TotalAt


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: an expression and the name given to it."""

    expression: Expression
    alias: str | None = None

    def sql(self) -> str:
        """With its alias."""
        return self.expression.sql() + (f" AS {quoted(self.alias)}" if self.alias else "")


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, by name."""

    name: str
    alias: str | None = None

    def tables(self) -> frozenset[str]:
        """Its name."""
        return frozenset((self.name,))

    def sql(self) -> str:
        """With its alias."""
        return quoted(self.name) + (f" AS {quoted(self.alias)}" if self.alias else "")


@dataclass(frozen=True, slots=True)
class Ordering:
    """One key of ORDER BY."""

    expression: Expression
    descending: bool = False

    def sql(self) -> str:
        """With its direction."""
        return self.expression.sql() + (" DESC" if self.descending else "")


@dataclass(frozen=True, slots=True)
class Query:
    """SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT; outputs None: SELECT *."""

    outputs: tuple[Output, ...] | None
    source: Source
    where: Expression | None = None
    groups: tuple[Expression, ...] = ()
    having: Expression | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    ctes: tuple[tuple[str, Rows], ...] = ()
    distinct: bool = False

    def tables(self) -> frozenset[str]:
        """The names of all tables that are read, which a sub-query of this one may define."""
        return self.source.tables().union(*(query.tables() for _, query in self.ctes))

    def sql(self) -> str:
        """All clauses in order."""
        listed = "*" if self.outputs is None else ", ".join(output.sql() for output in self.outputs)
        parts = [f"SELECT {'DISTINCT ' if self.distinct else ''}{listed} FROM {self.source.sql()}"]
        if self.ctes:
            parts.insert(0, "WITH " + ", ".join(f"{quoted(name)} AS ({query.sql()})" for name, query in self.ctes))
        if self.where is not None:
            parts.append(f"WHERE {self.where.sql()}")
        if self.groups:
            parts.append("GROUP BY " + ", ".join(group.sql() for group in self.groups))
        if self.having is not None:
            parts.append(f"HAVING {self.having.sql()}")
        if self.order:
            parts.append("ORDER BY " + ", ".join(key.sql() for key in self.order))
        if self.limit is not None:
            parts.append(f"LIMIT {self.limit}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Union:
    """The rows of several queries, one after the other."""

    parts: tuple[Query, ...]

    def tables(self) -> frozenset[str]:
        """The names of all tables that are read."""
        return frozenset[str]().union(*(part.tables() for part in self.parts))

    def sql(self) -> str:
        """With UNION ALL."""
        return " UNION ALL ".join(part.sql() for part in self.parts)


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query in the place of a table."""

    query: Rows
    alias: str | None = None

    def tables(self) -> frozenset[str]:
        """The names of all tables that are read."""
        return self.query.tables()

    def sql(self) -> str:
        """In parentheses."""
        return f"({self.query.sql()})" + (f" AS {quoted(self.alias)}" if self.alias else "")


class How(Enum):
    """How two tables are joined."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    SEMI = "SEMI JOIN"
    ANTI = "ANTI JOIN"


@dataclass(frozen=True, slots=True)
class Join:
    """Two sources joined, on a condition or by columns of the same name."""

    left: Source
    right: TableName | Subquery
    how: How
    on: Expression | None = None
    using: tuple[str, ...] = ()

    def tables(self) -> frozenset[str]:
        """The names of all tables that are read."""
        return self.left.tables() | self.right.tables()

    def sql(self) -> str:
        """From left to right."""
        joined = f"{self.left.sql()} {self.how.value} {self.right.sql()}"
        if self.using:
            return f"{joined} USING ({', '.join(map(quoted, self.using))})"
        return joined if self.on is None else f"{joined} ON {self.on.sql()}"


def check_names_differ(names: Iterable[str]) -> None:
    """Refuse a WITH that names two queries alike."""
    spelled = [name.lower() for name in names]
    if len(set(spelled)) < len(spelled):
        raise UnsupportedQuery("WITH names two queries alike; give them different names")


Rows = Query | Union
Source = TableName | Subquery | Join


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    match expression:
        case Call(_, arguments):
            return arguments
        case In(value, items):
            return (value, *items)
        case Case(branches, otherwise):
            inside = tuple(part for branch in branches for part in branch)
            return inside if otherwise is None else (*inside, otherwise)
        case Exact(value):
            return (value,)
        case Aggregate(_, argument):
            return argument
        case Total(aggregate):
            return (aggregate,)
    return ()


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same expression, each one directly inside it changed; the constants of IN stay."""
    match expression:
        case Call(_, arguments):
            return replace(expression, arguments=tuple(change(argument) for argument in arguments))
        case In(value) | Exact(value):
            return replace(expression, value=change(value))
        case Case(branches, otherwise):
            changed = tuple((change(condition), change(value)) for condition, value in branches)
            return Case(changed, None if otherwise is None else change(otherwise))
        case Aggregate(_, argument):
            return replace(expression, argument=tuple(change(part) for part in argument))
    return expression


def aggregates(expression: Expression) -> tuple[Aggregate, ...]:
    """Every aggregate in an expression, in order of appearance."""
    if isinstance(expression, Aggregate):
        return (expression,)
    return tuple(found for child in children(expression) for found in aggregates(child))
