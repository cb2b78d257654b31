"""What a survey found: a result for each question, as rows, CSV or a chart."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato import charts
from sfumato.errors import UnknownName
from sfumato.privacy.guarantee import Guarantee
from sfumato.surveys.estimates.statistic import BEYOND, Estimate, inside
from sfumato.surveys.question import Number, Question

_HEAD = ("question", "answer", "estimate", "error", "low", "high", "tidy", "people")
_MANY = 30  # answers beyond which a chart shows the largest


@dataclass(frozen=True, slots=True)
class Result:
    """The estimates for one question, from so many people who answered it, with what was left out."""

    question: Question
    oracle: str
    epsilon: float
    people: int
    missing: int
    confidence: float
    rows: tuple[Estimate, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> Estimate:
        for row in self.rows:
            if row.label == label:
                return row
        raise UnknownName(f"unknown answer {label!r} to {self.question.name}; known are {', '.join(self.labels[:10])}")

    @property
    def labels(self) -> list[str]:
        """The answers, or 'mean' for a number."""
        return [row.label for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "question": self.question.name,
            "kind": self.question.kind,
            "oracle": self.oracle,
            "epsilon": self.epsilon,
            "people": self.people,
            "missing": self.missing,
            "confidence": self.confidence,
            "estimates": [
                {
                    "answer": row.label,
                    "value": _finite(row.value),
                    "error": _finite(row.error),
                    "interval": list(row.interval),
                    "tidy": _finite(row.tidy),
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }

    def plot(self) -> Any:
        """The unbiased estimates with their intervals, as an Altair chart; of very many answers the largest."""
        shown = sorted(self.rows, key=lambda row: -row.value)[:_MANY] if len(self.rows) > _MANY else self.rows
        is_number = isinstance(self.question, Number)
        points = [charts.Point(row.label, inside(row), *row.interval) for row in shown if math.isfinite(row.value)]
        subtitle = [
            f"{self.people:,} people, each answer randomized at epsilon {self.epsilon:.3g}; "
            f"bars: {100 * self.confidence:.4g} % intervals"
        ]
        if any(inside(row) != row.value for row in shown if math.isfinite(row.value)):
            subtitle.append(BEYOND)
        if len(shown) < len(self.rows):
            subtitle.append(f"the largest {len(shown)} of {len(self.rows)} answers")
        value = "mean" if is_number else "share of people"
        return charts.with_intervals(points, charts.Names("", value, self.question.text, subtitle=tuple(subtitle)))


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a survey found, by question; `guarantee` is what each respondent was promised."""

    results: Mapping[str, Result] = field(hash=False)
    guarantee: Guarantee
    people: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Result:
        if name not in self.results:
            raise UnknownName(f"unknown question {name!r}; known are {', '.join(self.results)}")
        return self.results[name]

    def plot(self) -> Any:
        """The charts of all questions, below each other."""
        return charts.stacked([result.plot() for result in self.results.values()])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row an answer: question, answer, estimate, error, low, high, tidy, people."""
        return [
            dict(zip(_HEAD, (name, r.label, r.value, r.error, *r.interval, r.tidy, result.people), strict=True))
            for name, result in self.results.items()
            for r in result.rows
        ]

    def to_csv(self) -> str:
        """The rows as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "people": self.people,
            "epsilon": float(self.guarantee.epsilon),
            "questions": [result.to_dict() for result in self.results.values()],
            "notes": list(self.notes),
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
