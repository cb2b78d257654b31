"""How a module says which commands it has (`COMMANDS`, which `cli/__init__.py` adds), and how they share options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from sfumato.cli._shared.options import examples


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a function runs; its name is the function's, its help ends with examples."""

    run: Callable[..., Any]
    examples: tuple[str, ...]

    def add_to(self, app: typer.Typer) -> None:
        """Register it."""
        app.command(epilog=examples(*self.examples))(self.run)


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one name."""

    name: str
    app: typer.Typer

    def add_to(self, app: typer.Typer) -> None:
        """Register them."""
        app.add_typer(self.app, name=self.name)


def sharing(read: Callable[..., Any], before: int = 0) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `read` beside its own; what `read` makes of them is its first argument.

    In the help the first `before` of them stand before the command's own options, the others behind.
    """
    shared = list(inspect.signature(read, eval_str=True).parameters.values())

    def share(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            first = read(**{each.name: given.pop(each.name) for each in shared})
            command(first, **given)

        run.__signature__ = inspect.Signature([*shared[:before], *own, *shared[before:]])  # type: ignore[attr-defined]
        return run

    return share
