"""What goes wrong, as one line and one hint, and the exit code that says which kind it was.

    0  an answer           2  usage        4  the engine failed; the question is charged
    1  doctor, or defect   3  refused      5  the ledger is unavailable or broken        130  interrupted
    6  an audit refuted a claim            7  the output cannot be written               141  its reader closed the pipe

Refused means that nothing was charged, but for the pilot of a `--within` where the message says so.
"""

from __future__ import annotations

import re
import traceback
from typing import NamedTuple

from sfumato.cli.screen import errors, say
from sfumato.cli.streams import KEPT, OutputLost
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
    (NotGranted, "see who may ask: sfumato allowance show"),
    (Paused, "the owner's command after looking: sfumato ledger looked ANALYST TABLE"),
    (LedgerBroken, "ask nothing until it is mended; a backup helps: sfumato ledger restore FILE"),
)
ANY_HINT = "sfumato --help lists the commands, sfumato COMMAND --help their options"
# The messages speak Python; on a command line the same is said by an option, a command or a line of the project file.
_OPTIONS = "epsilon|within|delta|bound|bounds|noise|confidence"
_COLUMN = r"""columns=\{(?:'([A-Za-z0-9_-]+)'|('[^']*'|"[^"]*")): (?:sf\.)?column\(([^()]*)\)\}"""
_IN_SHELL: tuple[tuple[str, str], ...] = (
    (r"quote\(\.\.\., (.*)\)", r"give \1"),
    (r"for example epsilon 0\.5, or within 5%", "for example --epsilon 0.5, or --within 5%"),
    (r"leave noise out", "leave --noise out"),
    (r"give it, or write the value", "write the value"),
    (r"an answer has to_csv, to_pandas and more", "--output writes an answer to a file"),
    (r"restore it into a new ledger, or merge it: ledger\.merge\(backup\)", "merge it: sfumato ledger merge FILE"),
    (r"make one by ledger\.backup\(path\)|see Ledger\.backup", "make one: sfumato ledger backup FILE"),
    (r"to grant a new one call grant", "to grant a new one: sfumato allowance grant"),
    (r"or change it by grant", "or change it: sfumato allowance grant"),
    (r"ledger\.reconcile\(\)", "sfumato ledger reconcile"),
    (r"see entries\(\)", "see the numbers: sfumato ledger show"),
    (r"take fewer samples, or allow more time", "take fewer: --samples, or allow more: --limit"),
    (
        r"take smaller sets \(subsets=2\), fewer columns, or confirm it: yes=True",
        "take smaller sets: --subsets 2, fewer columns, or confirm it: --yes",
    ),
    (r"take fewer columns, or more memory", "take fewer: --columns, or more: --memory"),
    (r"name them: columns=\[[^]]*\]", "name them: --columns age,zip"),
    (r"by and contributor belong to sums; got no sums", "--by and --contributor belong to --sum; got no --sum"),
    (r"for example on=\[[^]]*\]", "for example --on age,zip"),
    (r"duplicates='first'", "--duplicates first"),
    (r"link and on belong together", "--link and --on belong together"),
    (r"or allow it: patience=\w+", "or allow it: --yes"),
    (r"give data and other", "give both: --data and --other"),
    (r"for example uniform 2", "for example --noise uniform:2"),
    (r"^(column|columns|name|secret) must name", r"--\1 must name"),
    (r"^(value|target) must be (given where|one of) column", r"--\1 must be \2 column"),
    (r"^group must say", "--group must say"),
    (r"^other_group must say", "--other-group must say"),
    (r"keep it elsewhere", "keep it elsewhere: url = '/other/folder/ledger.db' below [ledger] in sfumato.toml"),
    (r"\bforce=True\b", "--force"),
    (
        r"restore a backup, or, if nothing was ever spent, begin a new one: create=True",
        "restore a backup: sfumato ledger restore FILE, or, if nothing was ever spent, begin a new one: "
        "sfumato ask --create",
    ),
    (r" \(pandas: to_csv\(index=False\)\)", ""),
    (r"unit=\{'(\w+)': '([^']*)'\}", r"unit = { \1 = '\2' }"),
    (r"write through\('orders', on='order_id'\)", "write unit = { through = 'orders', on = 'order_id' }"),
    (r"keys=(?:sf\.)?dates\(([^()]*)\)", r"dates = [\1]"),
    (r"\bbounds=\(([^()]*)\)", r"bounds = [\1]"),
    (r"\b(keys|type|unit|most_rows|version)=", r"\1 = "),
    (rf": {_COLUMN}", r" in sfumato.toml, below [tables.NAME.columns]:\n    \1\2 = { \3 }"),
    (rf"\b({_OPTIONS})='?([\w.]*\w%?)'?", r"--\1 \2"),
    (rf"\b({_OPTIONS})=", r"--\1"),
)


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
    message = str(error)
    apart = "\n" if "\n" in message else "; "
    line, _, hint = message.rpartition(apart)
    if not line or hint.startswith("got "):
        line, hint = message, ""
    line, hint = in_shell(line), in_shell(hint)
    own = next((own for kind, own in _HINTS if isinstance(error, kind)), "" if hint else ANY_HINT)
    return Failure(word, line, "; ".join(part for part in (hint, own) if part), code)


def in_shell(text: str) -> str:
    """A message in the words of the command line."""
    for python, shell in _IN_SHELL:
        text = re.sub(python, shell, text)
    return text


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
