"""`sfumato init`: draft a project file from the schema of one or several tables."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sfumato import project
from sfumato.cli import given
from sfumato.cli.init.asking import ask_allowance, ask_table
from sfumato.cli.init.declare import HOW, Said
from sfumato.cli.init.draft import TableDraft, read_table, risk, write_draft
from sfumato.cli.screen import can_ask, output, say
from sfumato.dataset.name import distinct, find
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.privacy.guarantee import Guarantee


def init(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Parquet or CSV files, globs, or tables: duckdb:///file.db#table, "
            "postgresql://user@host/database#table, spark:catalog.table.",
        ),
    ],
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="COLUMN", help="All rows with one value here belong to one person.")
    ] = None,
    row_each: Annotated[
        bool, typer.Option("--row-each", help="Every row is another person: there is no unit.")
    ] = False,
    most_rows: Annotated[
        int | None, typer.Option("--most-rows", metavar="ROWS", min=1, help="Nobody has more rows; needs --unit.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="NAME=WHAT", help="Declare a column, as in 'income=0 200000'; may be repeated."
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=given.number("--epsilon"),
            metavar="NUMBER",
            help="What may be spent in all; 1 unless asked and answered.",
        ),
    ] = None,
    delta: given.Delta = 0,
    ledger: Annotated[
        str | None, typer.Option("--ledger", metavar="URL", help="Where spends are written; ledger.db beside the file.")
    ] = None,
    output_file: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The project file to write.")
    ] = Path(project.FILE),
    force: Annotated[bool, typer.Option("--force", help="Replace a project file that is there.")] = False,
    no_questions: Annotated[
        bool, typer.Option("--no-questions", help="Ask nothing, also on a terminal; mark what is to be declared.")
    ] = False,
) -> None:
    """Draft a project file from names and types alone.

    No value of the data is read. On a terminal it asks for what only the owner knows: unit, bounds, keys, epsilon.
    """
    target = output_file / project.FILE if os.path.isdir(output_file) else output_file
    drafts = [read_table(source, target.absolute().parent) for source in sources]
    if os.path.exists(target) and not force:
        raise InvalidArgument(f"{str(target)!r} must not exist yet; it does; choose another --output, or give --force")
    distinct((draft.name for draft in drafts), where="the files", what="table")
    drafts = _declare(drafts, unit, row_each, most_rows, columns or [])
    if can_ask() and not no_questions:
        drafts = [ask_table(draft) for draft in drafts]
        allowance = ask_allowance(epsilon, delta)
    else:
        allowance = Guarantee(1.0 if epsilon is None else epsilon, delta)
    _write(target, write_draft(drafts, allowance, ledger))
    loaded = project.load(target)
    _say_next(target, drafts, allowance)
    if ledger is None and given.has_ledger(loaded):
        said = "ledger.db is there already, and what was spent in it counts; for other people give --ledger other.db"
        say(output(), f"\nNote: {said}")


def _declare(
    drafts: list[TableDraft], unit: str | None, row_each: bool, most_rows: int | None, columns: list[str]
) -> list[TableDraft]:
    """The drafts with what the options say; a name that no table has is refused."""
    if unit is not None and row_each:
        raise InvalidArgument("the unit must be said once; got --unit and --row-each; leave one out")
    if most_rows is not None and unit is None:
        raise InvalidArgument("--most-rows must come with a unit; got none; give --unit COLUMN")
    if unit is not None:
        _check_known(unit, drafts)
    drafts = [_with_unit(replace(draft, one_row_each=row_each), unit, most_rows) for draft in drafts]
    for text in columns:
        name, parted, what = text.partition("=")
        if not parted:
            raise InvalidArgument(f"--column must be NAME=WHAT; got {text!r}; write {HOW} after the =")
        _check_known(name.strip(), drafts)
        drafts = [_with_column(draft, name.strip(), what) for draft in drafts]
    return drafts


def _with_unit(draft: TableDraft, unit: str | None, most_rows: int | None) -> TableDraft:
    spelt = None if unit is None else _spelt(draft, unit)
    return draft if spelt is None else replace(draft, unit=spelt, most_rows=most_rows)


def _with_column(draft: TableDraft, name: str, what: str) -> TableDraft:
    spelt = _spelt(draft, name)
    return draft if spelt is None else draft.declare(spelt, Said.read(what, draft.kinds[spelt]))


def _spelt(draft: TableDraft, name: str) -> str | None:
    try:
        return find(name, draft.kinds, what="column", where=draft.name)
    except UnknownName:
        return None


def _check_known(name: str, drafts: list[TableDraft]) -> None:
    if all(_spelt(draft, name) is None for draft in drafts):
        known = [column for draft in drafts for column in draft.kinds]
        find(name, known, what="column", where=", ".join(draft.name for draft in drafts))


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"{str(target)!r} cannot be written: {error.strerror}; choose another --output") from None


def _say_next(target: Path, drafts: list[TableDraft], allowance: Guarantee) -> None:
    console, first = output(), drafts[0]
    say(console, f"Wrote {target}: {', '.join(draft.name for draft in drafts)}; no value was read.", "bold")
    say(console, f"Allowance: epsilon {float(allowance.epsilon):g}: {risk(allowance)}.")
    undeclared = [draft for draft in drafts if draft.unit is None and not draft.one_row_each]
    for draft in undeclared:
        say(console, f"To declare first: the unit of {draft.name}. Until then each row is protected as one person.")
    if any("# to declare" in line for line in target.read_text(encoding="utf-8").splitlines()):
        say(console, f"Look for 'to declare' in {target.name}: keys to group by, bounds to add up.")
    where = (
        ""
        if target.name == project.FILE and target.absolute().parent == Path.cwd()
        else f" -p {shlex.quote(str(target))}"
    )
    question = f'"SELECT COUNT(*) AS n FROM {first.name}"'
    say(console, "\nNext:")
    for line in (
        f"sfumato ask {question} --epsilon 0.1 --dry-run{where}",
        f"sfumato quote {question} --epsilon 0.1{where}",
        f"sfumato ask {question} --epsilon 0.1{where}",
    ):
        console.print(f"  {line}", soft_wrap=True)
