"""`sfumato demo`: one private count, its interval, and its guarantee in words."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from sfumato.mechanisms import Geometric

PEOPLE, SMOKERS = 12_000, 2_317  # a made-up town


def demo() -> None:
    """Release one private count and say what it promises: no set-up, no data of yours."""
    console = Console(highlight=False)
    mechanism = Geometric(sensitivity=1, epsilon=0.5)
    noisy, half_width = mechanism.release(SMOKERS), mechanism.error(confidence=0.95)
    console.print(f"How many of the {PEOPLE:,} people of a made-up town smoke?\n")
    table = Table("", "value", "95 % interval")
    table.add_row(
        "private answer", f"{noisy:,} ± {half_width:,.0f}", f"{noisy - half_width:,.0f} to {noisy + half_width:,.0f}"
    )
    table.add_row("exact (shown because this is a demo)", f"{SMOKERS:,}", "")
    console.print(table)
    console.print("\nWhat is promised to each of them:")
    console.print(mechanism.guarantee.describe(size=PEOPLE))
    console.print("\nRun it again: the noise is new each time, the promise is the same.")
