"""Text in which options, declarations and calls stay data, so that each surface spells them its own way.

    Option("epsilon", 0.5)             epsilon=0.5               --epsilon 0.5
    Setting("type", "double")          type='double'             type = 'double'  (a line of sfumato.toml)
    Action("ledger.reconcile()")       ledger.reconcile()        sfumato ledger reconcile

A `Phrase` is the text as Python spells it, so it can be matched, printed and compared as any other; its `parts` hold
what it was built from. Nothing below the command line knows how the command line spells a term: that is in
`cli/_shared/words.py`.

>>> phrase = Phrase("give ", Option("delta", 1e-9), ", or leave ", Option("noise"), " out")
>>> phrase
'give delta=1e-9, or leave noise out'
>>> phrase.spelled(lambda term: f"<{term.name}>" if isinstance(term, Option) else str(term))
'give <delta>, or leave <noise> out'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a question or a call; without a value it is only named."""

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A declaration by the owner: an argument in Python, a line in the project file."""

    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name}={literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Dates:
    """All days from one to another, as the keys of a column."""

    first: str
    last: str

    def __str__(self) -> str:
        return f"sf.dates({literal(self.first)}, {literal(self.last)})"


@dataclass(frozen=True, slots=True)
class ColumnSetting:
    """The declaration of one column."""

    column: str
    settings: tuple[Setting, ...]

    def __str__(self) -> str:
        return f"columns={{{self.column!r}: sf.column({', '.join(map(str, self.settings))})}}"


@dataclass(frozen=True, slots=True)
class Action:
    """A call of Python, for which another surface has a command, or something that only one of them has to say."""

    python: str

    def __str__(self) -> str:
        return self.python


Term = Option | Setting | ColumnSetting | Action


class Phrase(str):
    """Text as Python spells it, with the terms that it was built from."""

    parts: tuple[str | Term, ...]

    def __new__(cls, *parts: str | Term) -> Self:
        """Join texts, phrases and terms."""
        flat = tuple(inner for part in parts for inner in (part.parts if isinstance(part, Phrase) else (part,)))
        phrase = super().__new__(cls, "".join(map(str, flat)))
        phrase.parts = flat
        return phrase

    def __getnewargs__(self) -> tuple[str | Term, ...]:  # type: ignore[override]  # str would lose its terms
        return self.parts

    def spelled(self, spell: Callable[[Term], str]) -> str:
        """The text with each term spelled by `spell`."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)


def literal(value: Any) -> str:
    """A value as Python writes it, numbers in few digits.

    >>> literal(1e-9), literal(0.5), literal("5%"), literal(["age", "zip"])
    ('1e-9', '0.5', "'5%'", "['age', 'zip']")
    """
    if isinstance(value, Dates):
        return str(value)
    return number(value) if isinstance(value, float) else repr(value)


def number(value: float) -> str:
    """A number in few digits.

    >>> number(1e-9), number(2.0)
    ('1e-9', '2')
    """
    return f"{value:g}".replace("e-0", "e-")
