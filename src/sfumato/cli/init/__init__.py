"""`sfumato init`: draft a project file from the schema of one or several tables."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sfumato import project
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.legibility import complaints
from sfumato.cli._shared.screen import can_ask, output, say
from sfumato.cli.init.asking import ask_budget, ask_table
from sfumato.cli.init.declare import HOW, Said
from sfumato.cli.init.draft import TableDraft, read_table, risk, write_draft
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import distinct, find


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
        str | None,
        typer.Option(
            "--unit",
            metavar="COLUMN",
            help="The column that identifies a person; all rows with the same value belong to one person.",
        ),
    ] = None,
    row_each: Annotated[
        bool, typer.Option("--row-each", help="Every row is a different person; there is no unit column.")
    ] = False,
    max_rows_per_unit: Annotated[
        int | None,
        typer.Option("--max-rows-per-unit", metavar="ROWS", min=1, help="The most rows any one person has."),
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
            help="Total epsilon for this project (default 1).",
        ),
    ] = None,
    delta: given.Delta = 0,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger", metavar="URL", help="Where spending is recorded (default: ledger.db beside the file)."
        ),
    ] = None,
    output_file: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The project file to write.")
    ] = Path(project.FILE),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing project file.")] = False,
    no_questions: Annotated[
        bool, typer.Option("--no-questions", help="Ask nothing, even on a terminal; mark what you have to declare.")
    ] = False,
) -> None:
    """Draft a project file from column names and types.

    The draft contains nothing read from the rows. On a terminal, init asks you for the unit, bounds, keys and epsilon.
    It also checks the files for values that cannot be read, and tells you how many there are.
    """
    target = output_file / project.FILE if os.path.isdir(output_file) else output_file
    drafts = [read_table(source, target.absolute().parent) for source in sources]
    if os.path.exists(target) and not force:
        raise InvalidArgument(f"{str(target)!r} must not exist yet; it does; choose another --output, or give --force")
    distinct((draft.name for draft in drafts), where="the files", what="table")
    drafts = _declare(drafts, unit, row_each, max_rows_per_unit, columns or [])
    if can_ask() and not no_questions:
        drafts = [ask_table(draft) for draft in drafts]
        budget = ask_budget(epsilon, delta)
    else:
        budget = Guarantee(1.0 if epsilon is None else epsilon, delta)
    _write(target, write_draft(drafts, budget, ledger))
    loaded = project.load(target)
    _say_unread(loaded)
    _say_next(target, drafts, budget)
    if ledger is None and given.has_ledger(loaded):
        said = "ledger.db exists already, and what was spent in it counts; for other people give --ledger other.db"
        say(output(), f"\nNote: {said}")


def _declare(
    drafts: list[TableDraft], unit: str | None, row_each: bool, max_rows_per_unit: int | None, columns: list[str]
) -> list[TableDraft]:
    """The drafts with what the options say; a name that no table has is refused."""
    if unit is not None and row_each:
        raise InvalidArgument("the unit must be said once; got --unit and --row-each; leave one out")
    if max_rows_per_unit is not None and unit is None:
        raise InvalidArgument("--max-rows-per-unit must come with a unit; got none; give --unit COLUMN")
    if unit is not None:
        _check_known(unit, drafts)
    drafts = [_with_unit(replace(draft, one_row_each=row_each), unit, max_rows_per_unit) for draft in drafts]
    for text in columns:
        name, parted, what = text.partition("=")
        if not parted:
            raise InvalidArgument(f"--column must be NAME=WHAT; got {text!r}; write {HOW} after the =")
        _check_known(name.strip(), drafts)
        drafts = [_with_column(draft, name.strip(), what) for draft in drafts]
    return drafts


def _with_unit(draft: TableDraft, unit: str | None, max_rows_per_unit: int | None) -> TableDraft:
    spelled = None if unit is None else _spelled(draft, unit)
    return draft if spelled is None else replace(draft, unit=spelled, max_rows_per_unit=max_rows_per_unit)


def _with_column(draft: TableDraft, name: str, what: str) -> TableDraft:
    spelled = _spelled(draft, name)
    return draft if spelled is None else draft.declare(spelled, Said.read(what, draft.kinds[spelled]))


def _spelled(draft: TableDraft, name: str) -> str | None:
    try:
        return find(name, draft.kinds, what="column", where=draft.name)
    except UnknownName:
        return None


def _check_known(name: str, drafts: list[TableDraft]) -> None:
    if all(_spelled(draft, name) is None for draft in drafts):
        known = [column for draft in drafts for column in draft.kinds]
        find(name, known, what="column", where=", ".join(draft.name for draft in drafts))


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"{str(target)!r} cannot be written: {error.strerror}; choose another --output") from None


def _say_unread(loaded: project.Project) -> None:
    """What the owner should mend before anybody asks: a question takes what it cannot read for missing, silently."""
    found = [(name, each.text) for name, table in loaded.tables.items() for each in complaints(table, undeclared=True)]
    if found:
        say(output(), "Fix these first (only you see this; none of it is in the project file):", "bold yellow")
    for name, text in found:
        say(output(), f"  table {name}: {text}", indent="    ")


def _say_next(target: Path, drafts: list[TableDraft], budget: Guarantee) -> None:
    console, first = output(), drafts[0]
    say(
        console,
        f"Wrote {target}: {', '.join(draft.name for draft in drafts)}; drafted from column names and types.",
        "bold",
    )
    say(console, f"Budget: epsilon {float(budget.epsilon):g}: {risk(budget)}.")
    undeclared = [draft for draft in drafts if draft.unit is None and not draft.one_row_each]
    for draft in undeclared:
        say(console, f"Declare the unit of {draft.name} first. Until then, each row is protected as one person.")
    if any("# to declare" in line for line in target.read_text(encoding="utf-8").splitlines()):
        say(
            console,
            f'Next: fill in the lines marked "to declare" in {target.name} (values to group by, ranges to sum).',
        )
    where = (
        ""
        if target.name == project.FILE and target.absolute().parent == Path.cwd()
        else f" -p {shlex.quote(str(target))}"
    )
    question = f'"SELECT COUNT(*) AS n FROM {first.name}"'
    say(console, "\nThen:")
    for line in (
        f"sfumato ask {question} --epsilon 0.1 --dry-run{where}",
        f"sfumato quote {question} --epsilon 0.1{where}",
        f"sfumato ask {question} --epsilon 0.1{where}",
    ):
        console.print(f"  {line}", soft_wrap=True)


_EXAMPLES = (
    "sfumato init visits.csv",
    'sfumato init visits.csv --unit person --column "spent=0 100" --no-questions',
)
COMMANDS = (Command(init, _EXAMPLES),)
