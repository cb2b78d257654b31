"""A table of one's own to attack: a file or a frame, read whole, since it is the owner's.

The attack runs on a copy on this machine. Nothing of it is sent, kept or charged; what is printed may be private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.attacks.settings import MOST_ROWS
from sfumato.dataset.public import open_public
from sfumato.dataset.sources.source import read_source
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.suggestions import find


@dataclass(frozen=True, slots=True)
class Own:
    """The rows of a table by column, and what it is called in messages."""

    label: str
    columns: Mapping[str, Sequence[Any]]

    @classmethod
    def read(cls, data: object, needs: int) -> Own:
        """All rows; refuses a table of fewer than an attack needs, and what is no table. Of a CSV all are texts."""
        source = read_source(data)
        with open_public(source, detect=False) as (engine, rows):
            (size,) = engine.execute(f"SELECT count(*) FROM {rows}").fetchone()
            if size > MOST_ROWS:
                raise InvalidArgument(
                    f"{source.label} must have at most {MOST_ROWS:,} rows for an attack; got {size:,}; take a part"
                )
            found = engine.execute(f"SELECT * FROM {rows}")
            names = [each[0] for each in found.description]
            listed = found.fetchall()
        if len(listed) < needs:
            raise InvalidArgument(
                f"{source.label} must have at least {needs} rows for this attack; got {len(listed)}; take another table"
            )
        return cls(source.label, {name: [row[place] for row in listed] for place, name in enumerate(names)})

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    def column(self, name: str | None, option: str) -> str:
        """The column's name as the table spells it."""
        if name is None:
            known = ", ".join(self.columns)
            raise InvalidArgument(
                Phrase(Option(option), f" must name a column of {self.label}; got none"), fix=f"choose of {known}"
            )
        return find(name, self.columns, what="column", where=self.label)

    def values(self, name: str) -> Sequence[Any]:
        """The values of a column, in order."""
        return self.columns[name]

    def value(self, name: str, wanted: object, option: str = "value") -> Any:
        """A value of a column, as the table has it; without a wish the first one of a column that has two."""
        known = list(dict.fromkeys(each for each in self.columns[name] if each is not None))
        if wanted is None and len(known) == 2:
            return max(known)
        if wanted is None:
            raise InvalidArgument(
                Phrase(Option(option), f" must be given where column {name!r} has not just two; got none"),
                fix="name one of its values",
            )
        for each in known:
            if each == wanted or str(each) == str(wanted):
                return each
        raise InvalidArgument(
            Phrase(Option(option), f" must be one of column {name!r} of {self.label}; got {wanted!r}"),
            fix="name another",
        )

    def numbers(self, name: str) -> list[float]:
        """The values of a column of numbers."""
        try:
            found = [float(each) for each in self.columns[name]]
        except (TypeError, ValueError):
            found = [math.nan]
        if not all(map(math.isfinite, found)):
            raise InvalidArgument(
                f"column {name!r} of {self.label} must be numbers, none missing; got others; choose another column"
            )
        return found
