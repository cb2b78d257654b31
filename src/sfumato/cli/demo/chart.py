"""A chart of letters: bars from zero, and over the end of each its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from sfumato.charts import Point, in_words
from sfumato.cli._shared.screen import fitting

_LEAST, _MOST = 20, 60  # letters of a bar


def draw(console: Console, points: Sequence[Point]) -> None:
    """Draw values with their intervals; an interval narrower than a letter is a dot."""
    labels = [in_words(point.label) for point in points]
    margin = max(map(len, labels))
    room = console.width - margin - 16 if console.is_terminal else _MOST
    width = max(_LEAST, min(_MOST, room))
    top = max(x for point in points for x in (point.value, point.high) if math.isfinite(x))
    for label, point in zip(labels, points, strict=True):
        bar = Text(fitting(console, bar_with_whisker(point, top, width)), "bold yellow")
        bar.highlight_regex("[█#]+", "blue")
        line = Text(f"  {label.rjust(margin)} ").append_text(bar).append(f" {point.value:,.0f}")
        console.print(line, soft_wrap=True)


def bar_with_whisker(point: Point, top: float, width: int) -> str:
    """The bar of one point, `width` letters for `top`.

    >>> bar_with_whisker(Point("north", 6, 4, 8), top=10, width=20)
    '███████├───●───┤    '
    """

    def place(x: float) -> int:
        return max(0, min(width - 1, math.ceil(min(x, top) / top * width) - 1))

    low, middle, high = place(max(point.low, 0)), place(point.value), place(point.high)
    letters = list("█" * (middle + 1) + " " * (width - middle - 1))
    if high > low:
        letters[low : high + 1] = ["├", *"─" * (high - low - 1), "┤"]
    letters[middle] = "●"
    return "".join(letters)
