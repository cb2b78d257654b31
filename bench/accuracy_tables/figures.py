"""What is said of repeated answers, what is asked of them, and the table of both."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from accuracy_tables.repeated import Draws

ENORMOUS = 10  # times the truth


@dataclass(frozen=True, slots=True)
class Figures:
    """Errors and intervals of one question over all draws and groups.

    rmse      root mean square of the errors; a draw without a value counts as infinitely wrong
    half      the median of half an interval's width
    covered   how often an interval contains the truth
    below     how often the truth is below it, and `above` above it
    open      how often an interval has an end that says nothing: infinite, or at a declared bound
    enormous  how many errors are more than ten times the truth
    asks      how many answers were drawn

    """

    rmse: float
    half: float
    covered: float
    below: float
    above: float
    open: float
    enormous: int
    asks: int

    @property
    def half_over_rmse(self) -> float:
        """How wide an interval is for the error that it is about."""
        return self.half / self.rmse if self.rmse else math.inf


def figures(draws: Draws, bounds: tuple[float, float] = (-math.inf, math.inf)) -> Figures:
    """The figures of many answers; an interval that ends at one of the bounds is open there."""
    with np.errstate(invalid="ignore"):
        error = np.where(np.isnan(draws.value), np.inf, draws.value - draws.truth)
        half = (draws.high - draws.low) / 2
    below, above = draws.truth < draws.low, draws.truth > draws.high
    return Figures(
        rmse=float(np.sqrt(np.mean(error**2))),
        half=float(np.median(half)),
        covered=float(np.mean(~below & ~above)),
        below=float(np.mean(below)),
        above=float(np.mean(above)),
        open=float(np.mean((draws.low <= bounds[0]) | (draws.high >= bounds[1]))),
        enormous=int(np.sum(np.abs(error) > ENORMOUS * np.abs(draws.truth))),
        asks=len(draws.value),
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A figure beside its goal; `met` is None where nothing is asked."""

    question: str
    n: int
    measured: str
    goal: str = ""
    met: bool | None = None
    figure: float = math.nan


@dataclass(slots=True)
class Report:
    """All lines, printed as they come, and what is counted over all of them."""

    lines: list[Line] = field(default_factory=list)
    all_figures: dict[str, Figures] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Print and keep a line."""
        self.lines.append(line)
        said = {True: "met", False: "MISSED", None: ""}[line.met]
        print(f"{line.question:44s} | {line.n:>6,d} | {line.measured:67s} | {line.goal:10s} | {said}", flush=True)

    def head(self) -> None:
        """Print what the columns are."""
        print(f"{'question':44s} | {'n':>6s} | {'measured':67s} | {'goal':10s} | met")

    def know(self, question: str, n: int, found: Figures) -> Figures:
        """Keep the figures of a question."""
        self.all_figures[f"{question}, n = {n}"] = found
        return found

    def note(self, question: str, n: int, measured: str) -> None:
        """Say something without a goal."""
        self.add(Line(question, n, measured))

    def at_most(self, question: str, n: int, words: str, figure: float, goal: float, more: str = "") -> None:
        """A figure that should not exceed its goal."""
        self.add(Line(question, n, f"{words} {said(figure)}{more}", f"<= {said(goal)}", figure <= goal, figure))

    def covers(self, question: str, n: int, covered: float, least: float, most: float = 1.0) -> None:
        """A coverage in its range."""
        goal = f"{least:.0%} to {most:.0%}" if most < 1 else f">= {least:.0%}"
        self.add(Line(question, n, f"coverage {covered:.1%}", goal, least <= covered <= most, covered))

    def as_json(self) -> dict[str, Any]:
        """Everything, for a file."""
        return {
            "lines": [asdict(line) for line in self.lines],
            "figures": {name: asdict(each) for name, each in self.all_figures.items()},
        }


def said(number: float) -> str:
    """A number with three digits."""
    return f"{number:,.0f}" if abs(number) >= 1000 and math.isfinite(number) else f"{number:.3g}"
