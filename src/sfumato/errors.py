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
        ├── UnsupportedQuery     SQL that is not answered
        ├── UnboundedColumn      a column whose values nobody bounded
        ├── NotGranted           nobody granted an allowance, or it has ended
        ├── Paused               a question failed after it was charged; the owner has to look first
        ├── EngineUnavailable    the engine cannot begin, or a source cannot be opened now; nothing was charged
        ├── OutOfReach           no epsilon that may be spent gives the wanted accuracy
        └── BudgetExhausted      it would cost more than is left

A message says what was expected, what came and what helps. Only `OutsideRange` and `WrongShape` may speak of a value
that a caller handed to a mechanism directly; no other message ever depends on private data.
"""

from __future__ import annotations


class SfumatoError(Exception):
    """The root: `except SfumatoError` catches every refusal of this package."""


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
    """SQL that is not answered."""


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
    """Nobody granted an allowance for this, or it has ended."""


class Paused(Refused):
    """A question failed after it was charged; the owner has to look first."""


class EngineUnavailable(Refused):
    """The engine cannot begin, or a source cannot be opened now; nothing was charged."""


class EngineTimeout(EngineFailed):
    """The engine took longer than it may; to the analyst it says the same."""
