"""Answers that were read once are estimated as they are; an empty cell never stands for people who ticked nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato import survey as sv
from sfumato.errors import DesignChanged, OutsideRange
from sfumato.mechanisms import RandomizedResponse
from sources import Seeded

SYMPTOMS = sv.several_of("symptoms", "Which do you have?", ["cough", "fever", "rash"], most=2)
SURVEY = sv.design("Health", [sv.yes_no("smoker"), SYMPTOMS], 2)
ORACLES = ("one-box", "every-box", "padded")


def test_answers_that_were_read_are_estimated_as_their_file_is(tmp_path: Path) -> None:
    """By `estimate` and `cross_table`; what was left out or noted when they were read stays so."""
    truth = {"smoker": ["yes", "no"] * 100, "symptoms": ["cough", "none", "fever; rash", "none"] * 50}
    sent = sv.randomize_all(SURVEY, truth, Seeded(3)) | {"respondent": [str(i // 2) for i in range(200)]}
    file = tmp_path / "sent.jsonl"
    rows = zip(*sent.values(), strict=True)
    file.write_text("\n".join(json.dumps(dict(zip(sent, row, strict=True))) for row in rows), "utf-8")
    read = sv.read_answers(SURVEY, file, "first")
    assert sv.estimate(SURVEY, read) == sv.estimate(SURVEY, file, duplicates="first")
    assert sv.estimate(SURVEY, read).people == 100
    first, second = (
        sv.cross_table(SURVEY, each, "smoker", "symptoms", duplicates="first").cells for each in (read, file)
    )
    assert first == second
    assert sv.read_answers(SURVEY, read) is read


def test_answers_read_for_another_design_are_refused() -> None:
    """Even one that differs by a word, and reads the same columns."""
    other = sv.design("Health!", [sv.yes_no("smoker"), SYMPTOMS], 2)
    sent = sv.randomize_all(SURVEY, {"smoker": ["yes"] * 10, "symptoms": ["none"] * 10}, Seeded(1))
    del sent["design"]
    read = sv.read_answers(SURVEY, sent)
    with pytest.raises(DesignChanged, match=r"must have been read for the design .*with this design"):
        sv.estimate(other, read)


EMPTY: dict[str, Any] = {"text": "", "blanks": "  ", "nan": math.nan, "numpy": np.nan, "pandas": pd.NA}


@pytest.mark.parametrize("cell", EMPTY.values(), ids=EMPTY)
def test_an_empty_cell_of_several_answers_is_refused(cell: Any) -> None:
    """Whatever a table writes for it; the message counts the rows and names both ways out."""
    answers = {"smoker": ["yes", "no", "no"], "symptoms": ["cough", cell, cell]}
    said = r"symptoms must be .* got an empty cell in 2 of 3 rows, the first in row 2; write 'none' .*'\(no answer\)'"
    with pytest.raises(OutsideRange, match=said):
        sv.randomize_all(SURVEY, answers)
    with pytest.raises(OutsideRange, match="got an empty cell"):
        sv.randomize(SURVEY, {"smoker": "yes", "symptoms": cell})


def test_an_empty_cell_in_a_file_is_refused_too(tmp_path: Path) -> None:
    """The file of a spreadsheet in which whoever has no symptom has an empty cell."""
    (tmp_path / "true.csv").write_text("smoker,symptoms\nyes,cough\nno,\n", "utf-8")
    with pytest.raises(OutsideRange, match="in 1 of 2 rows, the first in row 2"):
        sv.randomize_all(SURVEY, tmp_path / "true.csv")


def test_both_meanings_of_an_empty_cell_can_be_said() -> None:
    """No box ticked is randomized like every answer; not answered is left out, which is seen."""
    for none in ("none", [], ()):
        assert SYMPTOMS.place(none) == ()
    for skipped in (None, "(no answer)", " (No answer) "):
        assert SYMPTOMS.place(skipped) is None
    sent = sv.randomize_all(SURVEY, {"smoker": ["yes"] * 3, "symptoms": ["none", "(no answer)", None]})
    assert [bool(text) for text in sent["symptoms"]] == [True, False, False]
    assert not sv.randomize(SURVEY, {"smoker": "yes"})["symptoms"]


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("epsilon", [0.3, 1, 4, 12])
def test_an_interval_is_never_a_point(oracle: str, epsilon: float) -> None:
    """Where everybody or nobody has an answer, estimates lie beyond what is possible; intervals keep a width.

    On 0.1 an interval that lay wholly beyond 0 or 1, as one in twenty does at this confidence, was a point.
    """
    survey = sv.design("x", [SYMPTOMS], epsilon, oracles={"symptoms": oracle})
    beyond = 0
    for seed in range(40):
        sent = sv.randomize_all(survey, {"symptoms": ["cough; rash"] * 60}, Seeded(seed))
        for row in sv.estimate(survey, sent, confidence=0.9)["symptoms"].rows:
            low, high = row.interval
            assert 0 <= low < high <= 1
            beyond += not low <= row.value <= high
    assert beyond > 0


@pytest.mark.parametrize("oracle", ["duchi", "piecewise", "laplace"])
def test_the_interval_of_a_mean_is_never_a_point(oracle: str) -> None:
    """Everybody at the upper bound: noise takes the mean beyond it."""
    survey = sv.design("x", [sv.number("rent", "?", (0, 100), step=1)], 1, oracles={"rent": oracle})
    for seed in range(60):
        sent = sv.randomize_all(survey, {"rent": [100] * 60}, Seeded(seed))
        (row,) = sv.estimate(survey, sent, confidence=0.9)["rent"].rows
        assert 0 <= row.interval[0] < row.interval[1] <= 100


def test_no_interval_of_strata_cross_tables_or_two_coins_is_a_point() -> None:
    """All that is clipped is clipped alike."""
    survey = sv.design("x", [sv.yes_no("a"), sv.yes_no("b")], 6)
    for seed in range(40):
        sent = sv.randomize_all(
            survey, {"a": ["yes"] * 60, "b": ["yes"] * 60, "stratum": ["u", "v"] * 30}, Seeded(seed)
        )
        parts = sv.estimate(survey, sent, confidence=0.8, strata={"u": 1, "v": 2})
        cells = [cell for line in sv.cross_table(survey, sent, "a", "b", confidence=0.8).cells for cell in line]
        for row in (*parts["a"].rows, *parts["b"].rows, *cells):
            assert 0 <= row.interval[0] < row.interval[1] <= 1
    coins = RandomizedResponse.keep(0.75)
    for yes in range(101):
        for share in coins.estimate(
            dict(zip(coins.categories, (yes, 100 - yes), strict=True)), confidence=0.9
        ).values():
            assert 0 <= share.interval[0] < share.interval[1] <= 1
