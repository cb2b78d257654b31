"""`sfumato migrate`: bring a project file of an earlier version up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._shared.command import Command
from sfumato.cli._shared.screen import output, say
from sfumato.errors import InvalidArgument
from sfumato.input_files import read_text
from sfumato.migration import migrate as migrated
from sfumato.project import FILE

ProjectFile = Annotated[Path, typer.Argument(metavar="FILE", help="The project file, or its folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")]


def migrate(file: ProjectFile = Path(FILE), dry_run: DryRun = False) -> None:
    """Rewrite a project file of version 0.1 with today's names.

    The earlier file is kept beside it, with .old at its end. The ledger is not touched.
    """
    target = file / FILE if file.is_dir() else file
    text = read_text(target, f"no project file at {str(target)!r}; give its path")
    written, changes = migrated(text, target.name)
    for line in changes:
        say(output(), line)
    if not changes:
        say(output(), f"{target.name} is up to date.")
    elif dry_run:
        say(output(), "Nothing was written.")
    else:
        _write(target, written)
        say(output(), f"Wrote {target.name}; the earlier file is {target.name}.old.")


def _write(target: Path, text: str) -> None:
    """Put the new file in place of the earlier one, which stays whole under another name whatever goes wrong."""
    beside = target.with_name(f"{target.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(target, target.with_name(f"{target.name}.old"))
        os.replace(beside, target)
    except OSError as error:
        raise InvalidArgument(
            f"{str(target)!r} cannot be replaced: {error.strerror}; move it to a folder that you may write to"
        ) from None


COMMANDS = (Command(migrate, ("sfumato migrate", "sfumato migrate city/sfumato.toml --dry-run")),)
