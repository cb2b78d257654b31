"""Every refusal, drawn as a tree.

    SfumatoError
    ├── InvalidArgument          an argument that cannot be meant (also a ValueError)
    │   ├── UnknownName          a name that is not there; the nearest ones are offered
    │   ├── SourceNotFound       no file, or no table in it
    │   ├── OutsideRange         a value outside what was declared
    │   ├── WrongShape           a vector where a number was declared, or of another length
    │   ├── ScaleTooLarge        more noise than the lattice, or more work than the arithmetic can carry
    │   ├── TakesLong            work that would take longer than is allowed
    │   ├── DesignChanged        a survey's design, or answers, that are not those of the design published
    │   └── Duplicated           respondents who are in the answers more than once
    ├── EngineFailed             the engine could not finish; one constant message
    │   └── EngineTimeout        it took longer than it may
    ├── MechanismFailed          a mechanism under audit raised, took too long or returned what cannot be compared
    ├── LedgerUnavailable        the ledger cannot be read or written now
    ├── LedgerBroken             the ledger was changed, is torn, or is not the one that is known
    └── Refused                  a request that is understood and denied
        ├── UnsupportedQuery     SQL that is not supported
        ├── UnboundedColumn      a column whose values nobody bounded
        ├── NotGranted           nobody granted a budget, or it has ended
        ├── Paused               a question failed after it was charged; the owner has to look first
        ├── EngineUnavailable    the engine cannot begin, or a source cannot be opened now; nothing was charged
        ├── OutOfReach           no epsilon that may be spent gives the wanted accuracy
        └── BudgetExhausted      it would cost more than is left

A message says what was expected, what came and what helps. What helps may be given apart, as `fix`. Options in either
are data (`sfumato.phrases`): Python spells `epsilon=0.5`, the command line `--epsilon 0.5`.

>>> from sfumato.phrases import Option, Phrase
>>> error = InvalidArgument("epsilon must be given; got none", fix=Phrase("for example ", Option("epsilon", 0.5)))
>>> print(error)
epsilon must be given; got none; for example epsilon=0.5
>>> error.fix.parts[1]
Option(name='epsilon', value=0.5)

Only `OutsideRange` and `WrongShape` may speak of a value
that a caller handed to a mechanism directly; no other message ever depends on private data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from sfumato.phrases import Phrase, Term


class SfumatoError(Exception):
    """The root: `except SfumatoError` catches every refusal of this package.

    message   what was refused, what was expected and what came; text, or a `Phrase`
    fix       what helps; "" where the message says it, or nothing does
    """

    def __init__(self, message: str = "", fix: str | Term = "") -> None:
        helps = fix if isinstance(fix, str) else Phrase(fix)
        super().__init__(*((message, helps) if helps else (message,)))  # args reach copies and other processes

    @property
    def message(self) -> str:
        """The refusal without what helps."""
        first = self.args[0] if self.args else ""
        return first if isinstance(first, str) else str(first)

    @property
    def fix(self) -> str:
        """What helps, if it was given apart."""
        return self.args[1] if len(self.args) > 1 else ""

    @property
    def text(self) -> Phrase:
        """The message and what helps, in one."""
        apart = " " if self.message.endswith(".") else "; "
        return Phrase(self.message, apart, self.fix) if self.fix else Phrase(self.message)

    def __str__(self) -> str:
        return str(self.text)

    def at(self, place: str) -> Self:
        """The same error with the place before its message."""
        return type(self)(Phrase(f"{place}: ", self.message), self.fix)

    def reworded(self, change: Callable[[str], str]) -> Self:
        """The same error with the text between its terms changed."""
        return type(self)(_reworded(self.message, change), _reworded(self.fix, change))


def _reworded(text: str, change: Callable[[str], str]) -> Phrase:
    return Phrase(*(change(part) if isinstance(part, str) else part for part in Phrase(text).parts))


class InvalidArgument(SfumatoError, ValueError):
    """An argument that cannot be meant."""


class UnknownName(InvalidArgument):
    """A name that is not there; the message offers the nearest ones."""


class SourceNotFound(InvalidArgument):
    """A file that is not there, or a table that is not in it."""


class OutsideRange(InvalidArgument):
    """A value outside what was declared."""


class WrongShape(InvalidArgument):
    """A vector where a number was declared, or a vector of another length."""


class ScaleTooLarge(InvalidArgument):
    """More noise than the lattice can carry, or numbers so far out that the arithmetic would not end."""


class DesignChanged(InvalidArgument):
    """A survey's design that was changed after it was published, or answers that belong to another one."""


class Duplicated(InvalidArgument):
    """Respondents who are in the answers of a survey more than once."""


class TakesLong(InvalidArgument):
    """Work that would take longer than is allowed; how many seconds is in the message."""


class Refused(SfumatoError):
    """A request that is understood and denied."""


class BudgetExhausted(Refused):
    """A request that would cost more than is left."""


class OutOfReach(Refused):
    """An accuracy that no epsilon which may be spent can give."""


class UnsupportedQuery(Refused):
    """SQL that is not supported."""


class UnboundedColumn(Refused):
    """A column whose values nobody bounded."""


class EngineFailed(SfumatoError):
    """The engine could not finish; the message is always the same, since the engine's own may hold values."""


class MechanismFailed(SfumatoError):
    """A mechanism under audit that raised, took too long or returned what cannot be compared."""


class LedgerUnavailable(SfumatoError):
    """The ledger cannot be read or written now; no question is asked of the data without it."""


class LedgerBroken(SfumatoError):
    """The ledger was changed, is torn, or is not the one that is known."""


class NotGranted(Refused):
    """Nobody granted a budget for this, or it has ended."""


class Paused(Refused):
    """A question failed after it was charged; the owner has to look first."""


class EngineUnavailable(Refused):
    """The engine cannot begin, or a source cannot be opened now; nothing was charged."""


class EngineTimeout(EngineFailed):
    """The engine took longer than it may; to the analyst it says the same."""
