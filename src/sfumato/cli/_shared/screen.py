"""What the reader sees: text and tables, drawn on a terminal, plain lines elsewhere.

Plain lines are whole and have no trailing blanks, so that another program can read them. Nothing that was given from
outside is taken for markup, and nothing unprintable reaches a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

Rows = Sequence[Sequence[str]]

WIDEST = 100  # characters of a line of text, also on a wide terminal
_PLAIN_SIGNS = {"±": "+/-", "█": "#", "░": ".", "├": "|", "┤": "|", "─": "-", "●": "+", "…": "...", "·": "-", "✓": "ok"}


def output() -> Console:
    """Where answers go."""
    return Console(highlight=False, markup=False, emoji=False)


def errors() -> Console:
    """Where everything else goes that must not disturb an answer in a pipe."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def can_ask() -> bool:
    """Whether somebody sits at a terminal and can be asked; a program without any input has nobody."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def say(console: Console, text: str, style: str | None = None, indent: str = "") -> None:
    """A text, wrapped to a terminal's width; by `textwrap`, for rich breaks a line at a no-break space too."""
    lines = fitting(console, text).splitlines()
    if console.is_terminal:
        width = min(console.width, WIDEST)
        lines = [fill(line, width, subsequent_indent=indent or _margin(line), break_on_hyphens=False) for line in lines]
    console.print(Text("\n".join(lines), style or ""), soft_wrap=True)


def show(console: Console, rows: Rows, right: Sequence[int] = ()) -> None:
    """A table whose first row is its head; the columns `right` are aligned to the right."""
    shown = [[fitting(console, cell) for cell in row] for row in rows]
    if console.is_terminal:
        table = Table(header_style="bold")
        for place, name in enumerate(shown[0]):
            table.add_column(Text(name), justify="right" if place in right else "left", overflow="fold")
        for row in shown[1:]:
            table.add_row(*map(Text, row))
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        console.out("  ".join(cells).rstrip(), highlight=False)


def fitting(console: Console, text: str) -> str:
    """The text in what the output can encode; a number and its percent sign stay on one line."""
    clean = "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)
    if console.encoding.lower().startswith("utf"):
        return clean.replace(" %", "\N{NO-BREAK SPACE}%")
    for sign, plain in _PLAIN_SIGNS.items():
        clean = clean.replace(sign, plain)
    return clean.encode(console.encoding, "replace").decode(console.encoding)


def _margin(line: str) -> str:
    return " " * (len(line) - len(line.lstrip(" ")))
