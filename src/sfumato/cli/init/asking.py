"""The questions of `sfumato init` to the owner of the data, on a terminal; Enter always means: later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import typer

from sfumato.cli.init.declare import HOW, Said
from sfumato.cli.init.draft import SURE, TableDraft, surer
from sfumato.cli.screen import errors, output, say, show
from sfumato.dataset.kind import Kind
from sfumato.dataset.name import find
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee

_CHOICES = (0.1, 0.5, 1.0, 3.0, 10.0)
_ROW, _DONE = "row", "done"
_WANTED = {
    Kind.INTEGER: "lowest and highest possible value, as in 0 120; or keys, as in 1, 2, 3",
    Kind.REAL: "lowest and highest possible value, as in 0 200000",
    Kind.TEXT: "values that may be shown, as in north, south",
    Kind.DATE: "first and last day, as in 2026-01-01 2026-12-31",
    Kind.TIMESTAMP: "first and last day, as in 2026-01-01 2026-12-31",
}
_Answer = TypeVar("_Answer")


def ask_allowance(given: float | None, delta: float) -> Guarantee:
    """The allowance; an epsilon is put as risk."""
    if given is not None:
        return Guarantee(given, delta)
    say(output(), "\nHow much may all answers together tell about one person?", "bold")
    rows = [("epsilon", "promise", f"someone {SURE} becomes")]
    show(output(), rows + [(f"{each:g}", Guarantee(each).strength, surer(Guarantee(each))) for each in _CHOICES])
    return _ask("epsilon", lambda text: Guarantee(_number(text), delta), default="1")


def ask_table(draft: TableDraft) -> TableDraft:
    """What only the owner knows of a table."""
    say(output(), f"\nTable {draft.name}: {', '.join(draft.kinds)}", "bold")
    if draft.unit is None and not draft.one_row_each:
        say(output(), "Whose privacy is protected? All rows with one value in that column belong together.")
        draft = _ask(
            f"column of the person, or '{_ROW}' if every row is another person", _unit_in(draft), _guess(draft)
        )
    if draft.unit is not None and draft.most_rows is None:
        rows = _ask("most rows of one of them (Enter: not known)", _rows, default="")
        draft = replace(draft, most_rows=rows)
    say(output(), f"\nWhat you know of the columns beforehand. Enter: later; '{_DONE}': all others later.")
    if None in draft.kinds.values():
        say(output(), f"A CSV does not say what its columns hold. Write {HOW}.")
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
            say(errors(), f"  {error}", indent="  ")
