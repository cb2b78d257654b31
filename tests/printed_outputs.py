"""Whether an output that a page shows is what a run gives, noise aside.

Words, layout of lines and plain numbers must be equal; blanks do not count. A number with an interval, `12.3 ± 0.5` or
`12.3 [11, 14]`, agrees with another if the half-widths differ by less than a factor of 2 and the values by less than 8
half-widths: Laplace noise exceeds that in less than one run of 10^9. Half-widths depend on a limit that is estimated
with noise, so a caller may try again. A line `...` stands for any lines.

>>> difference("n 5,171.7 ± 72", "  n   5,130.8 ± 75")
''
>>> difference("n 4.974 ± 0.35", "n 4.974 ± 0.15")
"written 'n 4.974 ± 0.35', printed 'n 4.974 ± 0.15'"
"""

from __future__ import annotations

import re

_NUMBER = r"-?[\d,]*\.?\d+"
_CELL = re.compile(rf"({_NUMBER})\s+(?:±\s*({_NUMBER})|\[({_NUMBER}),\s+({_NUMBER})\])")
_HALF_WIDTHS, _VALUES = 2.0, 8.0


def difference(written: str, printed: str) -> str:
    """How they differ, in words; empty: they agree."""
    parts = [part.strip("\n").splitlines() for part in re.split(r"^\.\.\.$", written, flags=re.MULTILINE)]
    lines, start = printed.strip("\n").splitlines(), 0
    for index, part in enumerate(parts):
        places = range(start, len(lines) - len(part) + 1) if index else [0]
        found = next((place for place in places if _first(part, lines[place : place + len(part)]) == ""), None)
        if found is None:
            return _first(part, lines[start : start + len(part)]) or f"lines are missing: {part!r}"
        start = found + len(part)
    if parts[-1] and start < len(lines):
        return f"more was printed: {lines[start]!r}"
    return ""


def _first(written: list[str], printed: list[str]) -> str:
    if len(printed) < len(written):
        return f"{len(written)} lines are written, {len(printed)} printed"
    pairs = zip(written, printed, strict=False)
    return next((f"written {one!r}, printed {other!r}" for one, other in pairs if not _agree(one, other)), "")


def _agree(written: str, printed: str) -> bool:
    if _CELL.sub("#", written).split() != _CELL.sub("#", printed).split():
        return False
    pairs = zip(_CELL.finditer(written), _CELL.finditer(printed), strict=True)
    return all(_close(_interval(one), _interval(other)) for one, other in pairs)


def _interval(cell: re.Match[str]) -> tuple[float, float]:
    """The value, and half of the width."""
    value, half, low, high = (None if text is None else float(text.replace(",", "")) for text in cell.groups())
    assert value is not None
    if half is not None:
        return value, half
    assert low is not None
    assert high is not None
    return value, (high - low) / 2


def _close(one: tuple[float, float], other: tuple[float, float]) -> bool:
    small, large = sorted((one[1], other[1]))
    return large <= _HALF_WIDTHS * small and abs(one[0] - other[0]) <= _VALUES * small
