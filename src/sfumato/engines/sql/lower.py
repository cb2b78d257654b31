"""From expressions of a plan to SQL that an engine computes; every construct is total.

Numbers are compared and computed in doubles, or in 64-bit integers where nothing can overflow. Dates outside the years
1 to 9999 are read as NULL, since engines disagree on them and some fail; what is computed from others stays among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.engines.sql.dialect import Dialect
from sfumato.plan.expressions.types import DATES, same_kind, time_of, typed
from sfumato.plan.syntax.functions import FUNCTIONS, Shape
from sfumato.plan.syntax.node import Call, Case, Column, Exact, Expression, In, Literal, quoted

Known = Mapping[Expression, str]


class Lower:
    """Renders expressions over the columns of one table; `known` names what is already computed."""

    def __init__(self, dialect: Dialect, columns: Mapping[str, Declared], known: Known | None = None) -> None:
        self.dialect = dialect
        self.columns = columns
        self.known = known or {}

    def sql(self, expression: Expression) -> str:
        """The SQL of an expression."""
        if expression in self.known:
            return self.known[expression]
        match expression:
            case Column(name):
                return quoted(name)
            case Literal():
                return self._literal(expression)
            case Call(function, arguments):
                return self._call(expression, function, arguments)
            case Exact(value, scale):
                double = f"CAST({self.sql(value)} AS {self.dialect.type(Kind.REAL)})"
                return self.dialect.decimal(double, scale)
            case In(value, items):
                kind = self._common(expression, (value, *items))
                listed = ", ".join(self._as(item, kind) for item in items)
                return f"({self._as(value, kind)} IN ({listed}))"
            case Case(branches, otherwise):
                values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
                kind = self._common(expression, tuple(values))
                whens = " ".join(f"WHEN {self.sql(test)} THEN {self._as(value, kind)}" for test, value in branches)
                return f"CASE {whens} ELSE {'NULL' if otherwise is None else self._as(otherwise, kind)} END"
        raise AssertionError("an aggregate never reaches an engine as an expression")

    def value(self, value: Key, kind: Kind) -> str:
        """A value that is known beforehand, of any kind but a double's."""
        match kind:
            case Kind.BOOLEAN:
                return "TRUE" if value else "FALSE"
            case Kind.INTEGER:
                written = str(value)
            case Kind.TEXT:
                written = self.dialect.text(str(value))
            case _:
                written = f"'{value}'"
        return f"CAST({written} AS {self.dialect.type(kind)})"

    def _common(self, whole: Expression, parts: tuple[Expression, ...]) -> Kind | None:
        return same_kind(whole, tuple(typed(part, self.columns) for part in parts))

    def _as(self, expression: Expression, kind: Kind | None) -> str:
        """The SQL of an expression, in the kind that it is compared in."""
        own = typed(expression, self.columns).kind
        rendered = self.sql(expression)
        if kind is None or own is kind or own is None:
            return rendered
        return f"CAST({rendered} AS {self.dialect.type(kind)})"  # integer to double, date to timestamp: cannot fail

    def _literal(self, literal: Literal) -> str:
        known = typed(literal, self.columns)
        match literal.value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if literal.value else "FALSE"
        if literal.is_number:
            return self.dialect.numeral(str(literal.value), known.kind or Kind.REAL)
        if literal.is_time:  # written out, since engines differ in what they take for a time
            return f"CAST('{time_of(literal).isoformat(sep=' ')}' AS {self.dialect.type(Kind.TIMESTAMP)})"
        kind = Kind.DATE if literal.is_date else Kind.TEXT
        return f"CAST({self.dialect.text(str(literal.value))} AS {self.dialect.type(kind)})"

    def _call(self, expression: Call, function: str, arguments: tuple[Expression, ...]) -> str:
        known = FUNCTIONS[function]
        match known.shape:
            case Shape.ARITHMETIC | Shape.ROUNDING:
                parts = [f"CAST({self.sql(argument)} AS {self.dialect.type(Kind.REAL)})" for argument in arguments]
            case Shape.COMPARISON | Shape.SAME:
                kind = self._common(expression, arguments)
                parts = [self._as(argument, kind) for argument in arguments]
            case Shape.DATE_PART | Shape.DATE_NUMBER:
                kind = typed(arguments[0], self.columns).kind
                null = f"CAST(NULL AS {self.dialect.type(Kind.TIMESTAMP)})"  # NULL alone has no such part
                return self.dialect.date_part(function, null if kind is None else self.sql(arguments[0]), kind)
            case Shape.PATTERN:
                pattern = arguments[1]
                assert isinstance(pattern, Literal)
                text = f"CAST({self.dialect.pattern(str(pattern.value))} AS {self.dialect.type(Kind.TEXT)})"
                parts = [self.sql(arguments[0]), text]
            case _:
                parts = [self.sql(argument) for argument in arguments]
        return self.dialect.call(function, parts)


def _ordinary(date: str) -> str:
    """Whether a date or time is of the years 1 to 9999."""
    return f"{date} >= DATE '0001-01-01' AND {date} < DATE '10000-01-01'"


def read_column(dialect: Dialect, stored: str, declared: Declared, source: str = "") -> str:
    """A stored column as its declared kind; what does not fit is NULL, and so is what is no number (NaN).

    NaN must not reach a comparison: statistics of files leave it out, so that an engine which trusts them would compare
    one person's NaN differently when another person's value is in the same part of a file.
    """
    kind = declared.kind or Kind.TEXT
    if kind is Kind.TIMESTAMP:
        return dialect.only(dialect.read_time(stored, source), _ordinary)
    plain = dialect.read(stored, kind, source)
    if kind in DATES:
        return dialect.only(plain, _ordinary)
    return dialect.numbers(plain) if kind is Kind.REAL else plain


def used_columns(expressions: list[Expression], children: Callable[[Expression], tuple[Expression, ...]]) -> set[str]:
    """The names of all columns in some expressions."""
    found: set[str] = set()
    for expression in expressions:
        if isinstance(expression, Column):
            found.add(expression.name)
        found |= used_columns(list(children(expression)), children)
    return found
