"""How many questions a budget allows, and how accurate they are: from their texts; free, no data is read.

Shares of epsilon add up, so n questions of an n-th each cost what one costs that has all. With delta and Gaussian noise
the ledger may admit more than that; it is never less.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato import checks
from sfumato.curator.budgeting.quote import Expected, quote_of
from sfumato.curator.budgeting.within import Within, epsilon_by_text
from sfumato.errors import InvalidArgument
from sfumato.plan.pricing.price import PricedPlan

TIMES = (1, 10, 100)
_UNKNOWN = "depends on data"
_QUESTION = 48  # characters of a question in the table
Questions = Sequence[str] | Mapping[str, checks.Number | str | None]
Plans = Callable[[str, Fraction], PricedPlan]


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """One question of a plan.

    share     the part of epsilon that it gets
    expected  the half-widths of its columns for that share
    repeated  the same, if there are to be 10 or 100 questions like it within the share
    wanted    the half-width that was wanted, None: none was
    needs     the epsilon that gives it; None: that depends on the data
    """

    question: str
    share: Fraction
    expected: dict[str, Expected]
    repeated: dict[int, dict[str, Expected]]
    wanted: Within | None = None
    needs: Fraction | None = None

    def often(self, epsilon: Fraction) -> int | None:
        """How many questions like it fit in an epsilon, each as accurate as wanted, else as its share makes it."""
        each = self.needs if self.wanted is not None else self.share
        return None if each is None else int(epsilon / each)


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """What an epsilon allows; printed as a table."""

    epsilon: Fraction
    questions: tuple[PlannedQuestion, ...]

    @property
    def needs(self) -> Fraction | None:
        """The epsilon of all wanted half-widths together; None: none was wanted, or one depends on the data."""
        wanted = [each for each in self.questions if each.wanted is not None]
        needed = [each.needs for each in wanted if each.needs is not None]
        return sum(needed, Fraction(0)) if wanted and len(needed) == len(wanted) else None

    @property
    def fits(self) -> bool | None:
        """Whether all wanted half-widths can be had; None: that cannot be told."""
        return None if self.needs is None else self.needs <= self.epsilon

    def rows(self) -> list[tuple[str, ...]]:
        """The table: a line for each question and column of its answer."""
        wants = any(each.wanted is not None for each in self.questions)
        asked = [_asked(times) for times in TIMES]
        head = ("question", "column", "share", *asked, *(("wanted", "needs") * wants), "questions")
        lines = [head]
        for each in self.questions:
            for name, expected in each.expected.items():
                ends = [_plain(expected), *(_plain(each.repeated[times][name]) for times in TIMES[1:])]
                wanted = ["", ""] if each.wanted is None else [str(each.wanted), _epsilon(each.needs)]
                often = each.often(self.epsilon)
                fitting = _UNKNOWN if often is None else f"{often:,}"
                share = _epsilon(each.share)
                lines.append((_short(each.question), name, share, *ends, *(wanted if wants else []), fitting))
        return lines

    def notes(self) -> list[str]:
        """What is to be known about the table."""
        said = [f"The shares add up to epsilon {float(self.epsilon):g}. Half-widths are expected values."]
        more = {expected.of for each in self.questions for expected in each.expected.values() if expected.of}
        said += [f"*{of}." for of in sorted(more)]
        if self.needs is not None:
            verdict = "which fits" if self.fits else "which does not fit"
            said.append(f"The half-widths you want need epsilon {float(self.needs):g} in total, {verdict}.")
        if any(each.wanted is not None and each.needs is None for each in self.questions):
            said.append("Where the cost depends on the data, ask(..., within=...) estimates it with a pilot.")
        return said

    def __str__(self) -> str:
        """The table and its notes."""
        columns = list(zip(*self.rows(), strict=True))
        widths = [max(map(len, column)) for column in columns]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in self.rows()]
        return "\n".join([line.rstrip() for line in lines] + self.notes())

    def _repr_html_(self) -> str:
        """For a notebook."""
        head, *rows = (
            "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
            for tag, row in [("th", self.rows()[0]), *(("td", row) for row in self.rows()[1:])]
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        said = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}</div>"


def plan_questions(
    questions: Questions, epsilon: Fraction, weights: Sequence[checks.Number] | None, plan: Plans
) -> BudgetPlan:
    """Share an epsilon among questions, by weights or evenly."""
    if isinstance(questions, str) or not isinstance(questions, (Sequence, Mapping)) or not questions:
        raise InvalidArgument(
            f"questions must be a list of texts, or map texts to half-widths; got {questions!r}; for example "
            "['SELECT COUNT(*) AS n FROM people']"
        )
    listed = list(questions)
    parts = [checks.positive(weight=weight) for weight in weights or [1] * len(listed)]
    if len(parts) != len(listed):
        raise InvalidArgument(f"weights must be as many as questions, {len(listed)}; got {len(parts)}; give each one")
    wanted = [questions[each] for each in listed] if isinstance(questions, Mapping) else [None] * len(listed)
    planned = [
        _planned(question, epsilon * part / sum(parts), want, plan)
        for question, part, want in zip(listed, parts, wanted, strict=True)
    ]
    return BudgetPlan(epsilon, tuple(planned))


def _planned(question: str, share: Fraction, wanted: checks.Number | str | None, plan: Plans) -> PlannedQuestion:
    def expected(epsilon: Fraction) -> dict[str, Expected]:
        return quote_of(plan(question, epsilon)).expected

    repeated = {times: expected(share / times) for times in TIMES[1:]}
    if wanted is None:
        return PlannedQuestion(question, share, expected(share), repeated)
    within = Within.read(wanted)
    needs = epsilon_by_text(within, lambda epsilon: plan(question, epsilon))
    return PlannedQuestion(question, share, expected(share), repeated, within, needs)


def _asked(times: int) -> str:
    return "one" if times == 1 else f"{times} like it"


def _short(question: str) -> str:
    return textwrap.shorten(question, _QUESTION, placeholder=" ...")


def _epsilon(epsilon: Fraction | None) -> str:
    return _UNKNOWN if epsilon is None else f"{float(epsilon):.3g}"


def _plain(expected: Expected) -> str:
    """A half-width to three digits; what else is to be said of it is in the notes."""
    if expected.half_width is None:
        return _UNKNOWN
    return f"± {float(f'{expected.half_width:.3g}'):,g}{'*' * bool(expected.of)}"
