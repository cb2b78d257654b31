"""Rewrite a project file of an earlier version: only names change, and comments stay.

The rewritten text is read back and compared with what it has to say; a file that is written in a way that this module
does not know is refused with the line to change by hand, rather than half rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sfumato.errors import InvalidArgument
from sfumato.input_files import parse_toml
from sfumato.renames import renamed

_HEADER = re.compile(r"^(\s*\[\s*)([^\]]+?)(\s*\].*)$", re.DOTALL)
_KEY = re.compile(r"^(\s*)([A-Za-z0-9_-]+)(\s*=.*)$", re.DOTALL)


def migrate(text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a project file with today's names, and what was changed, as lines to print."""
    keys = renamed("key")
    expected = _today(parse_toml(text, name), keys)
    written, changes = _rewritten(text, keys)
    if parse_toml(written, name) != expected:
        old = ", ".join(f"{old} is called {new} now" for old, new in keys.items())
        raise InvalidArgument(
            f"{name}: its old names must stand one to a line, as init writes them; got another layout; change them by "
            f"hand: {old}"
        )
    return written, changes


def _today(raw: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """What the file says, with today's names: of sections, and of what a table declares. Names of columns stay."""
    top = {keys.get(key, key): value for key, value in raw.items()}
    for section in ("tables", "public"):
        if isinstance(top.get(section), dict):
            top[section] = {
                name: {keys.get(key, key): value for key, value in table.items()} if isinstance(table, dict) else table
                for name, table in top[section].items()
            }
    return top


def _rewritten(text: str, keys: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    lines, changes, depth = [], [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        new = line
        if header := _HEADER.match(line):
            parts = header[2].split(".")
            depth = len(parts)
            renames_here = depth == 1 and parts[0].strip() in keys
            new = f"{header[1]}{keys[parts[0].strip()]}{header[3]}" if renames_here else line
        elif (key := _KEY.match(line)) and key[2] in keys and depth in (0, 2):
            new = f"{key[1]}{keys[key[2]]}{key[3]}"
        if new != line:
            changes.append(f"line {number}: {line.strip()}  ->  {new.strip()}")
        lines.append(new)
    return "".join(lines), tuple(changes)
