"""Names of earlier versions. A renamed name is refused with its new one, never ignored.

>>> current("argument", "allowance")
'allowance is called budget now'
>>> current("argument", "epsilon") is None
True
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType

KINDS = ("name", "argument", "command", "option", "key")
_LONGEST_COMMAND = 2  # words, as in `ledger resume`


@cache
def renamed(kind: str) -> Mapping[str, str]:
    """Old names of a kind with their new ones."""
    listed = tomllib.loads(resources.files("sfumato").joinpath("renames.toml").read_text("utf-8"))["renamed"]
    return MappingProxyType({each["old"]: each["new"] for each in listed if each["kind"] == kind})


def current(kind: str, name: str) -> str | None:
    """What to say about an old name; None: the name is not an old one."""
    new = renamed(kind).get(name)
    return None if new is None else f"{name} is called {new} now"


def current_command(arguments: Sequence[str]) -> str | None:
    """What to say about a command line that uses an old command or option; None: it uses none.

    >>> current_command(["allowance", "grant", "anna"])
    'allowance is called budget now'
    >>> current_command(["ask", "SELECT 1", "--bound=3"])
    '--bound is called --max-rows-per-unit now'
    """
    words = [each for each in arguments if not each.startswith("-")]
    for length in range(1, _LONGEST_COMMAND + 1):
        if said := current("command", " ".join(words[:length])):
            return said
    for each in arguments:
        option = each.partition("=")[0]
        if each.startswith("--") and words and (new := renamed("option").get(f"{words[0]} {option}")):
            return f"{option} is called {new} now"
    return None
