"""`sfumato demo`: one private count, its interval, and its guarantee in words."""

from __future__ import annotations

from textwrap import fill

from rich.console import Console
from rich.table import Table

from sfumato.mechanisms import Geometric

PEOPLE, SMOKERS = 12_000, 2_317  # a made-up town


def demo() -> None:
    """Release one private count and say what it promises."""
    console = Console(highlight=False)
    mechanism = Geometric(sensitivity=1, epsilon=0.5)
    noisy, half_width = mechanism.release(SMOKERS), mechanism.error(confidence=0.95)
    rows = (
        ("", "value", "95 % interval"),
        ("private answer", f"{noisy:,} ± {half_width:,.0f}", f"{noisy - half_width:,.0f} to {noisy + half_width:,.0f}"),
        ("exact (shown because this is a demo)", f"{SMOKERS:,}", ""),
    )
    _say(console, f"How many of the {PEOPLE:,} people of a made-up town smoke?\n")
    _show(console, rows)
    _say(console, "\nWhat is promised to each of them:")
    _say(console, mechanism.guarantee.describe(size=PEOPLE))
    _say(console, "\nRun it again: the noise is new each time, the promise is the same.")


def _show(console: Console, rows: tuple[tuple[str, ...], ...]) -> None:
    """A drawn table on a terminal; elsewhere columns of text that another program can read."""
    shown = [tuple(_fitting(console, cell) for cell in row) for row in rows]
    if console.is_terminal:
        table = Table(*shown[0])
        for row in shown[1:]:
            table.add_row(*row)
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        console.out(line.rstrip(), highlight=False)


def _say(console: Console, text: str) -> None:
    """A text, wrapped to a terminal's width; by `textwrap`, for rich breaks a line at a no-break space too."""
    lines = _fitting(console, text).splitlines()
    shown = [fill(line, console.width) for line in lines] if console.is_terminal else lines
    console.print("\n".join(shown), soft_wrap=True, markup=False)


def _fitting(console: Console, text: str) -> str:
    """The text in what the output can encode; a number and its percent sign stay on one line."""
    if not console.encoding.lower().startswith("utf"):
        return text.replace("±", "+/-")
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
