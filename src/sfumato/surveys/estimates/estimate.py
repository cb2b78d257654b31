"""Estimate a survey: all questions, by strata, in cross tables, and of several rounds together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.mechanisms.randomized_response import clipped
from sfumato.privacy.guarantee import Guarantee
from sfumato.rounding import down
from sfumato.surveys.answers import Answers, Duplicates, read_answers
from sfumato.surveys.design import Design
from sfumato.surveys.estimates.cross import CrossTable, cross, sums_below
from sfumato.surveys.estimates.result import Estimates, Result
from sfumato.surveys.estimates.statistic import Estimate, Weights, estimates
from sfumato.surveys.estimates.tidy import tidied
from sfumato.surveys.item import Item, Received
from sfumato.surveys.oracle import variance
from sfumato.surveys.question import Number

LEAST = 2  # answers below which nothing is estimated


def estimate(
    survey: Design,
    answers: Any,
    *,
    questions: Sequence[str] | None = None,
    confidence: checks.Number = 0.95,
    simultaneous: bool = False,
    strata: Mapping[str, checks.Number] | None = None,
    duplicates: Duplicates = "refuse",
) -> Estimates:
    """Estimate every question from what was collected.

    answers        what was sent: a .csv or .jsonl file, columns, dictionaries, a frame, or what `read_answers` returned
    questions      the names of some questions; all, unless said
    confidence     how often an interval covers
    simultaneous   whether it shall be so for all answers of a question at once
    strata         the share of the population in each stratum; then results are weighed by them
    duplicates     "refuse" respondents who are there twice, or keep the "first" row of each
    """
    sure = checks.inside(confidence=confidence)
    read = read_answers(survey, answers, duplicates)
    results = {}
    for item in survey.items if questions is None else map(survey.item, questions):
        miss = down((1 - sure) / (_labels(item) if simultaneous else 1))
        found = _result(item, read, miss) if strata is None else _stratified(item, read, miss, strata)
        if found.missing:
            unasked = "were not asked, or " if survey.ask == "one" else ""
            note = f"{found.missing:,} people {unasked}gave no answer; that they did not is seen, not protected"
            found = replace(found, notes=(*found.notes, note))
        results[item.name] = replace(found, confidence=float(sure))
    return Estimates(results, survey.guarantee, read.people, read.notes)


def cross_table(
    survey: Design,
    answers: Any,
    rows: str,
    columns: str,
    *,
    confidence: checks.Number = 0.95,
    duplicates: Duplicates = "refuse",
) -> CrossTable:
    """The share of people with each pair of answers to two questions, from those who answered both."""
    sure = float(checks.inside(confidence=confidence))
    read = read_answers(survey, answers, duplicates)
    first, second = survey.item(rows), survey.item(columns)
    if first is second:
        raise InvalidArgument(f"a cross table must be of two questions; got {rows!r} twice; name another")
    both = [i for i, pair in enumerate(zip(read.columns[rows], read.columns[columns], strict=True)) if all(pair)]
    _enough(f"{rows} and {columns}", len(both))
    chosen = read.chosen(both)
    received = [(item, item.receive(chosen.columns[item.name])) for item in (first, second)]
    return cross(received[0], received[1], chosen.weights, sure)


def at_most(
    survey: Design, answers: Any, question: str, *, confidence: checks.Number = 0.95, duplicates: Duplicates = "refuse"
) -> list[Estimate]:
    """For a question whose answers have an order: the share of people with each answer or a lower one."""
    item = survey.item(question)
    if item.question.kind != "ordinal":
        raise InvalidArgument(f"{question} must be ordinal; got {item.question.kind}; ask it as an ordinal one")
    received, weights, _ = _received(item, read_answers(survey, answers, duplicates))
    return sums_below(item, received, weights, float(checks.inside(confidence=confidence)))


def combine(rounds: Sequence[tuple[Design, Estimates]]) -> Estimates:
    """Estimates of several rounds with fresh noise as one, question by question.

    Rounds count by the people in them and by the variance that their design gives, neither of which depends on
    answers, so what comes out is unbiased for the average of the rounds. Rounds in which devices sent what they had
    kept are one round: combine them by keeping one row of each respondent. Whoever took part in all rounds paid for
    each, which is what `guarantee` says.
    """
    if len(rounds) < 2:
        raise InvalidArgument("rounds must be two or more; got fewer; estimate a single one")
    names = [name for name in rounds[0][1].results if all(name in found.results for _, found in rounds)]
    combined: dict[str, Result] = {}
    for name in names:
        results = [found[name] for _, found in rounds]
        if len({tuple(result.labels) for result in results}) > 1:
            raise InvalidArgument(f"{name} must have the same answers in all rounds; got others; combine them by hand")
        if len({result.confidence for result in results}) > 1:
            raise InvalidArgument("rounds must be estimated with one confidence; got several; estimate them anew")
        masses = [found[name].people / float(variance(survey.item(name))) for survey, found in rounds]
        found = tidied(results[0].question, _weighed(results, masses))
        people, missing = (sum(getattr(result, count) for result in results) for count in ("people", "missing"))
        combined[name] = replace(results[0], people=people, missing=missing, rows=tuple(found), notes=())
    paid = sum((survey.epsilon for survey, _ in rounds), Fraction(0))
    promise = Guarantee(paid, neighbors=rounds[0][1].guarantee.neighbors, unit=rounds[0][1].guarantee.unit)
    everybody = sum(found.people for _, found in rounds)
    notes = dict.fromkeys(note for _, found in rounds for note in found.notes)
    return Estimates(combined, promise, everybody, (f"{len(rounds)} rounds with fresh noise as one", *notes))


def _weighed(results: Sequence[Result], masses: Sequence[float]) -> list[Estimate]:
    """Means of estimates with given weights.

    An end of the interval lies as far off as the root of the sum of squares of how far those of the parts do (Zou,
    Donner 2008), which are no less than normal ones: a few people who all say the same leave a doubt.
    """
    from scipy.special import ndtri

    shares = np.array(masses) / sum(masses)
    reach = -float(ndtri((1 - results[0].confidence) / 2))
    question, found = results[0].question, []
    ends = (0.0, 1.0)
    if isinstance(question, Number):
        ends = (float(question.scale.low), float(question.scale.high))
    for place, label in enumerate(results[0].labels):
        values = np.array([result.rows[place].value for result in results])
        errors = np.array([result.rows[place].error for result in results])
        value, error = float(shares @ values), math.sqrt(float((shares**2) @ errors**2))
        below, above = (np.maximum(reach * errors, far) for far in _reaches(results, place))
        low, high = value - math.hypot(*(shares * below)), value + math.hypot(*(shares * above))
        found.append(Estimate(label, value, error, clipped(low, high, ends)))
    return found


def _reaches(results: Sequence[Result], place: int) -> tuple[Weights, Weights]:
    """How far the intervals of the parts reach below and above their values."""
    rows = [result.rows[place] for result in results]
    return (
        np.array([row.value - row.interval[0] for row in rows]),
        np.array([row.interval[1] - row.value for row in rows]),
    )


def _received(item: Item, read: Answers) -> tuple[Received, Weights | None, int]:
    """What was sent for a question by those who answered it, their weights, and how many did not."""
    texts = read.columns[item.name]
    rows = [i for i, text in enumerate(texts) if text]
    _enough(item.name, len(rows))
    received = item.receive([texts[i] for i in rows] if len(rows) < len(texts) else texts)
    weights = None if read.weights is None else read.weights[rows]
    return received, weights, read.people - len(rows)


def _result(item: Item, read: Answers, miss: float) -> Result:
    received, weights, missing = _received(item, read)
    found = tidied(item.question, estimates(item, received, weights, miss))
    return Result(item.question, item.oracle, float(item.epsilon), len(received), missing, 0.0, tuple(found))


def _stratified(item: Item, read: Answers, miss: float, strata: Mapping[str, checks.Number]) -> Result:
    """Each stratum on its own, then weighed by its share of the population."""
    if read.strata is None:
        raise InvalidArgument("answers must have a column 'stratum' where strata are given; got none; leave them out")
    shares = {name: checks.positive(strata=share) for name, share in strata.items()}
    if unknown := sorted(set(read.strata) - set(shares)):
        raise InvalidArgument(f"strata must name every stratum of the answers; got none for {', '.join(unknown[:5])}")
    parts = []
    for name in shares:
        chosen = read.chosen([i for i, each in enumerate(read.strata) if each == name])
        parts.append(replace(_result(item, chosen, miss), confidence=1 - miss))
    found = tidied(item.question, _weighed(parts, [float(share) for share in shares.values()]))
    people, missing = sum(part.people for part in parts), sum(part.missing for part in parts)
    notes = (f"weighted by the shares of {len(parts)} strata",)
    return Result(item.question, item.oracle, float(item.epsilon), people, missing, 0.0, tuple(found), notes)


def _enough(name: str, people: int) -> None:
    if people < LEAST:
        raise InvalidArgument(f"{name} must have at least {LEAST} answers; got {people}; collect more, or leave it out")


def _labels(item: Item) -> int:
    return len(getattr(item.question, "categories", getattr(item.question, "answers", ("mean",))))
