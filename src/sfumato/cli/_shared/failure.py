"""What goes wrong, as one line and one hint, and the exit code that says which kind it was.

    0  an answer           2  usage        4  the engine failed; the question is charged
    1  doctor, or defect   3  refused      5  the ledger is unavailable or broken        130  interrupted
    6  an audit refuted a claim            7  the output cannot be written               141  its reader closed the pipe

Refused means that nothing was charged, but for the pilot of a `--within` where the message says so.
"""

from __future__ import annotations

import traceback
from typing import NamedTuple

from sfumato.cli._shared.screen import errors, say
from sfumato.cli._shared.streams import KEPT, OutputLost
from sfumato.cli._shared.words import in_shell
from sfumato.errors import (
    BudgetExhausted,
    EngineFailed,
    LedgerBroken,
    LedgerUnavailable,
    NotGranted,
    Paused,
    Refused,
    SfumatoError,
)

DEFECT, USAGE, REFUSED, ENGINE, LEDGER, REFUTED, UNWRITTEN, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 130
PIPE_CLOSED = 141  # 128 and the number of SIGPIPE, as the shell says it of programs that this signal ends

_CODES: tuple[tuple[type[SfumatoError], int, str], ...] = (
    (Refused, REFUSED, "refused"),
    (EngineFailed, ENGINE, "engine"),
    (LedgerUnavailable, LEDGER, "ledger"),
    (LedgerBroken, LEDGER, "ledger"),
)
_HINTS: tuple[tuple[type[SfumatoError], str], ...] = (
    (BudgetExhausted, "see what was spent: sfumato ledger show"),
    (NotGranted, "see who may ask: sfumato budget show"),
    (Paused, "the owner's command after looking: sfumato ledger resume ANALYST TABLE"),
    (LedgerBroken, "ask nothing until it is mended; a backup helps: sfumato ledger restore FILE"),
)
ANY_HINT = "sfumato --help lists the commands, sfumato COMMAND --help their options"


class Failure(NamedTuple):
    """What is printed, and the exit code."""

    word: str
    line: str
    hint: str
    code: int


def read(error: Exception) -> Failure:
    """What an error comes to."""
    if isinstance(error, OutputLost):
        hint = f"write it to another place{f'. {KEPT}' if error.kept else ''}"
        return Failure("error", f"standard output cannot be written: {error}", hint, UNWRITTEN)
    if not isinstance(error, SfumatoError):
        line = f"something unexpected happened ({type(error).__name__}); this is a defect of Sfumato"
        return Failure("error", line, "run it again with --debug, and report what that shows", DEFECT)
    word, code = next(((word, code) for kind, code, word in _CODES if isinstance(error, kind)), ("usage", USAGE))
    line, hint = in_shell(error.message), in_shell(error.fix)
    if not hint:
        line, hint = _divided(line)
    own = next((own for kind, own in _HINTS if isinstance(error, kind)), "" if hint else ANY_HINT)
    return Failure(word, line, _joined(hint, own), code)


def _joined(hint: str, more: str) -> str:
    """Two hints in one: a sentence is followed by a sentence."""
    if hint.endswith("."):
        return f"{hint} {more[:1].upper()}{more[1:]}".strip()
    return "; ".join(part for part in (hint, more) if part)


def _divided(message: str) -> tuple[str, str]:
    """What was refused, and what helps, of a message that says both."""
    line, _, hint = message.rpartition("\n" if "\n" in message else "; ")
    return (message, "") if not line or hint.startswith("got ") else (line, hint)


def report(error: Exception, *, debug: bool) -> int:
    """Print an error, and give its exit code."""
    console, failure = errors(), read(error)
    if debug:
        console.out("".join(traceback.format_exception(error)), highlight=False)
    if isinstance(error, OutputLost) and error.is_closed_pipe:  # a reader who has seen enough needs no complaint
        if error.kept:
            say(console, KEPT)
        return PIPE_CLOSED
    say(console, f"{failure.word}: {failure.line}", "bold red", indent="  ")
    if failure.hint:
        say(console, f"  hint: {failure.hint}", indent="        ")
    return failure.code
