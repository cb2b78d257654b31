"""Whose privacy is protected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Unit:
    """All rows that share the values of `columns` belong to one protected unit; no columns: a row is a person.

    >>> str(Unit(("person_id", "day"))), str(Unit("person_id")), str(Unit())
    ('all rows of one (person_id, day)', 'all rows of one person_id', 'one row')
    """

    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = (self.columns,) if isinstance(self.columns, str) else self.columns
        listed = tuple(columns) if isinstance(columns, Iterable) else (columns,)
        wrong = [column for column in listed if not isinstance(column, str) or not column]
        if wrong:
            raise InvalidArgument(
                f"columns must be names of columns; got {wrong[0]!r}; for example Unit('person_id'), or Unit()"
            )
        object.__setattr__(self, "columns", listed)

    @classmethod
    def read(cls, value: Unit | str | Iterable[str]) -> Unit:
        """The unit, given as itself, as the name of a column, or as several names.

        >>> Unit.read("person_id")
        Unit(columns=('person_id',))
        """
        return value if isinstance(value, cls) else cls(value)  # type: ignore[arg-type]

    def __str__(self) -> str:
        match self.columns:
            case ():
                return "one row"
            case (column,):
                return f"all rows of one {column}"
            case columns:
                return f"all rows of one ({', '.join(columns)})"
