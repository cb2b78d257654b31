"""What an owner says of a column in a few words, and the same in the project file.

    0 200000                        bounds of a number            { bounds = [0, 200000] }
    north, south                    keys to group by              { keys = ["north", "south"] }
    2026-01-01 2026-12-31           days to group by              { dates = ["2026-01-01", "2026-12-31"] }
    2026-01-01 2026-12-31 month     firsts of months              { dates = ["2026-01-01", "2026-12-31", "month"] }

>>> said = Said.read("0 200000")
>>> said.toml()
'{ bounds = [0, 200000] }'
>>> Said.read("north, south").toml()
'{ keys = ["north", "south"] }'
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from sfumato.dataset.column import Column, column
from sfumato.dataset.keys import dates
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument

HOW = "'0 200000' for bounds, 'north, south' for keys, '2026-01-01 2026-12-31' for dates"
_DAY = r"\d{4}-\d{2}-\d{2}"
_DATES = re.compile(rf"({_DAY})\s+(?:to\s+)?({_DAY})(?:\s+(day|week|month|year))?")
_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BOUNDS = re.compile(rf"({_NUMBER})\s*(?:\s|\.\.|\bto\b)\s*({_NUMBER})")


@dataclass(frozen=True, slots=True)
class Said:
    """A declaration: the word of the project file, and its value."""

    word: str
    value: list[Any]
    type: str | None = None

    @classmethod
    def read(cls, text: str, kind: Kind | None = None) -> Said:
        """The declaration that a text means for a column of a kind; None: of a file without types."""
        said = _read(text.strip())
        said = cls(said.word, said.value, "date") if said.word == "dates" and kind is Kind.TIMESTAMP else said
        declared = said.declared()  # what cannot be meant is refused now, not when a question is asked
        if kind is not None:
            declared.stored_as(kind)
        return said

    def declared(self) -> Column:
        """The declaration as the project file would read it."""
        if self.word == "bounds":
            return column(bounds=(self.value[0], self.value[1]))
        return column(type=self.type, keys=dates(*self.value) if self.word == "dates" else self.value)

    def toml(self) -> str:
        """The declaration in the project file."""
        type = "" if self.type is None else f'type = "{self.type}", '
        return f"{{ {type}{self.word} = [{', '.join(map(toml_value, self.value))}] }}"


def _read(text: str) -> Said:
    if found := _DATES.fullmatch(text):
        return Said("dates", [part for part in found.groups() if part])
    if found := _BOUNDS.fullmatch(text):
        return Said("bounds", [_number(part) for part in found.groups()])
    keys = [part.strip().strip("'\"") for part in text.split(",")]
    if not all(keys):
        raise InvalidArgument(f"a declaration must be bounds, keys or dates; got {text!r}; write {HOW}")
    numbers = [_number(key) for key in keys] if all(re.fullmatch(_NUMBER, key) for key in keys) else None
    return Said("keys", numbers or keys)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def toml_value(value: Any) -> str:
    """A value in the project file; a text as JSON writes it, which TOML reads."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


def toml_key(name: str) -> str:
    """A name in the project file."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)
