"""Whose privacy is protected."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """All rows that share the values of `columns` belong to one protected unit; no columns: a row is a person.

    >>> str(Unit(("person_id", "day"))), str(Unit())
    ('all rows of one (person_id, day)', 'one row')
    """

    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.columns:
            case ():
                return "one row"
            case (column,):
                return f"all rows of one {column}"
            case columns:
                return f"all rows of one ({', '.join(columns)})"
