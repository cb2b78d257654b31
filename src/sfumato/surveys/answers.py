"""What was collected, read and checked before anything is estimated: nothing is dropped in silence.

A file has one row a respondent and a column for each question, and may have these beside them:

    design        the first digits of the design's hash, which each device adds
    respondent    who it was, so that nobody counts twice
    weight        how many people a respondent stands for
    stratum       the part of the population that a respondent is from

All of these are seen by whoever collects; only the answers are randomized.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DesignChanged, Duplicated, InvalidArgument, OutsideRange, UnknownName
from sfumato.phrases import Option, Phrase
from sfumato.suggestions import nearest
from sfumato.surveys.design import Design
from sfumato.surveys.design_file import SHORT, digest, short
from sfumato.surveys.question import is_missing
from sfumato.surveys.rows import Columns, read_file

DESIGN, RESPONDENT, WEIGHT, STRATUM = "design", "respondent", "weight", "stratum"
BESIDE = (DESIGN, RESPONDENT, WEIGHT, STRATUM)
Duplicates = Literal["refuse", "first"]
_EXACT = 2.0**53
_HUGE = 1 << 64
_HEAVIEST = 1e100  # of weights: their squares, added up, must stay far from the largest float
UNCHECKED = "the answers have no column 'design', so nothing shows that they belong to this design"


@dataclass(frozen=True, slots=True)
class Answers:
    """The columns of a survey's answers, as texts, what stands beside them, and the design they were read for."""

    columns: Mapping[str, list[str]] = field(hash=False)
    people: int
    weights: NDArray[np.float64] | None
    strata: list[str] | None
    notes: tuple[str, ...] = ()
    design: str = ""

    def chosen(self, rows: Sequence[int]) -> Answers:
        """Some of the rows."""
        columns = {name: [column[i] for i in rows] for name, column in self.columns.items()}
        weights = None if self.weights is None else self.weights[list(rows)]
        strata = None if self.strata is None else [self.strata[i] for i in rows]
        return Answers(columns, len(rows), weights, strata, self.notes, self.design)


def read_answers(survey: Design, source: Any, duplicates: Duplicates = "refuse") -> Answers:
    """Read a .csv or .jsonl file, a mapping of columns, dictionaries or a frame; see the head of this module.

    Answers that were read before are returned as they are, if they were read for this design.
    """
    if isinstance(source, Answers):
        return _read_before(survey, source)
    columns = read_columns(source)
    missing = [item.name for item in survey.items if item.name not in columns]
    if missing:
        raise UnknownName(
            f"answers must have a column for each question; got none for {', '.join(missing)}; "
            f"{nearest(missing[0], columns)}"
        )
    people = len(columns[survey.items[0].name])
    notes = [_check_design(survey, columns)]
    if RESPONDENT in columns:
        once, note = _once(columns[RESPONDENT], duplicates)
        if note:
            columns = {name: [column[i] for i in once] for name, column in columns.items()}
            people, notes = len(once), [*notes, note]
    texts = {item.name: list(map(_text, columns[item.name])) for item in survey.items}
    weights = _weights(columns[WEIGHT]) if WEIGHT in columns else None
    strata = list(map(_text, columns[STRATUM])) if STRATUM in columns else None
    return Answers(texts, people, weights, strata, tuple(filter(None, notes)), digest(survey))


def _read_before(survey: Design, answers: Answers) -> Answers:
    if answers.design != digest(survey):
        raise DesignChanged(
            f"answers must have been read for the design {short(survey)}; got answers of "
            f"{answers.design[:SHORT] or 'none named'}; read the file again, with this design"
        )
    return answers


def read_columns(source: Any) -> Columns:
    """The columns of a table, all of one length."""
    if isinstance(source, str | Path):
        return read_file(Path(source))
    if isinstance(source, Mapping):
        columns = {str(name): list(column) for name, column in source.items()}
    elif hasattr(source, "columns") and hasattr(source, "__getitem__"):  # a frame
        columns = {str(name): list(source[name]) for name in source.columns}
    elif isinstance(source, Iterable):
        rows = list(source)
        if not all(isinstance(row, Mapping) for row in rows):
            raise InvalidArgument("answers must be a file, columns, dictionaries or a frame; got something else")
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {str(name): [row.get(name) for row in rows] for name in names}
    else:
        raise InvalidArgument("answers must be a file, columns, dictionaries or a frame; got something else")
    if len({len(column) for column in columns.values()}) > 1:
        raise InvalidArgument("answers must have columns of one length; got several; one row is one respondent")
    return columns


def _check_design(survey: Design, columns: Columns) -> str:
    if DESIGN not in columns:
        return UNCHECKED
    mine = short(survey)
    strange = Counter(each for each in map(_text, columns[DESIGN]) if each != mine)
    if strange:
        other, _ = strange.most_common(1)[0]
        raise DesignChanged(
            f"answers must be of the design {mine}; got {strange.total()} of {len(columns[DESIGN])} rows of another, "
            f"{other or 'none named'}; was it changed after the survey began? Estimate each with its own design"
        )
    return ""


def _once(respondents: Sequence[Any], duplicates: Duplicates) -> tuple[list[int], str]:
    """The rows that are the first of their respondent; those without a name are all different."""
    first: dict[str, int] = {}
    once = [i for i, name in enumerate(map(_text, respondents)) if not name or first.setdefault(name, i) == i]
    again = len(respondents) - len(once)
    if again and duplicates != "first":
        raise Duplicated(
            f"each respondent must be there once; got {again} of {len(respondents)} rows from somebody who is there "
            "already",
            fix=Phrase("keep the first of each: ", Option("duplicates", "first")),
        )
    return once, f"{again} rows of respondents who were there already are left out" if again else ""


def _weights(given: Sequence[Any]) -> NDArray[np.float64]:
    try:
        weights = np.array([float(each) for each in given])
    except (TypeError, ValueError, OverflowError):
        weights = np.array([math.nan])
    if not ((weights >= 1 / _HEAVIEST) & (weights <= _HEAVIEST)).all():
        raise OutsideRange(
            f"weight must be a positive number in every row, between {1 / _HEAVIEST:g} and {_HEAVIEST:g}; got "
            "something else; correct it"
        )
    return weights


def _text(cell: Any) -> str:
    if is_missing(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:  # a column of whole numbers with gaps
        return str(int(cell))
    if isinstance(cell, int) and abs(cell) >= _HUGE:  # Python writes no number of thousands of digits
        return "(a number beyond 64 bits)"
    return cell.strip() if isinstance(cell, str) else str(cell)
