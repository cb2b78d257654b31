"""Options that several commands share: they are read once, into one value, which each command gets first."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


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
