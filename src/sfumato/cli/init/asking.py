"""The questions of `sfumato init` to the owner of the data, on a terminal; Enter always means: later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import typer

from sfumato.cli._shared.screen import errors, output, say, show
from sfumato.cli._shared.words import in_shell
from sfumato.cli.init.declare import HOW, Said
from sfumato.cli.init.draft import SURE, TableDraft, surer
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import find

_CHOICES = (0.1, 0.5, 1.0, 3.0, 10.0)
_ROW, _DONE = "row", "done"
_WANTED = {
    Kind.INTEGER: "lowest and highest possible value, such as 0 120; or values to group by, such as 1, 2, 3",
    Kind.REAL: "lowest and highest possible value, such as 0 200000",
    Kind.TEXT: "values to group by, such as north, south",
    Kind.DATE: "first and last day, such as 2026-01-01 2026-12-31",
    Kind.TIMESTAMP: "first and last day, such as 2026-01-01 2026-12-31",
}
_Answer = TypeVar("_Answer")


def ask_budget(given: float | None, delta: float) -> Guarantee:
    """The budget; an epsilon is put as risk."""
    if given is not None:
        return Guarantee(given, delta)
    say(output(), "\nHow much may all answers together reveal about one person?", "bold")
    rows = [("epsilon", "protection", f"someone {SURE} becomes")]
    show(output(), rows + [(f"{each:g}", Guarantee(each).strength, surer(Guarantee(each))) for each in _CHOICES])
    return _ask("epsilon", lambda text: Guarantee(_number(text), delta), default="1")


def ask_table(draft: TableDraft) -> TableDraft:
    """What only the owner knows of a table."""
    say(output(), f"\nTable {draft.name}: {', '.join(draft.kinds)}", "bold")
    if draft.unit is None and not draft.one_row_each:
        say(output(), "Whose privacy is protected? All rows with the same value in that column belong together.")
        draft = _ask(
            f"column that identifies a person, or '{_ROW}' if every row is a different person",
            _unit_in(draft),
            _guess(draft),
        )
    if draft.unit is not None and draft.max_rows_per_unit is None:
        rows = _ask("Most rows any one person has (Enter if unknown)", _rows, default="")
        draft = replace(draft, max_rows_per_unit=rows)
    say(output(), f"\nDeclare what you know about each column. Enter skips a column; '{_DONE}' skips the rest.")
    if None in draft.kinds.values():
        say(output(), f"A CSV file does not state the types of its columns. Write {HOW}.")
    for name, kind in draft.kinds.items():
        if name == draft.unit or name in draft.columns or kind is Kind.BOOLEAN:
            continue
        said = _ask(name if kind is None else f"{name} ({_WANTED[kind]})", _said_of(kind), default="")
        if said == _DONE:
            break
        if isinstance(said, Said):
            draft = draft.declare(name, said)
    return draft


def _guess(draft: TableDraft) -> str:
    return draft.likely_unit or _ROW


def _unit_in(draft: TableDraft) -> Callable[[str], TableDraft]:
    def read(text: str) -> TableDraft:
        if text.lower() == _ROW:
            return replace(draft, one_row_each=True)
        return replace(draft, unit=find(text, draft.kinds, what="column", where=draft.name))

    return read


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"a number is needed; got {text!r}; for example 1") from None


def _rows(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InvalidArgument(f"a whole number of at least 1 is needed; got {text!r}")
    return int(text)


def _said_of(kind: Kind | None) -> Callable[[str], Said | str]:
    return lambda text: text if text in ("", _DONE) else Said.read(text, kind)


def _ask(prompt: str, read: Callable[[str], _Answer], default: str) -> _Answer:
    """Ask until the answer can be read."""
    while True:
        text = typer.prompt(f"  {prompt}", default=default, show_default=bool(default)).strip()
        try:
            return read(text)
        except InvalidArgument as error:
            say(errors(), f"  {in_shell(error.text)}", indent="  ")
