"""A survey among people who mean ill: devices at once, designs that lie, reports that no device sends."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import pytest

from sfumato import surveys as sv
from sfumato.errors import InvalidArgument, OutsideRange, SfumatoError
from sfumato.mechanisms import Geometric
from sfumato.mechanisms.local import BlockResponse, BoxResponse, DuchiResponse
from sources import Seeded

SMOKING = sv.design("x", [sv.yes_no("smoker")], 1)


class Interrupted(Seeded):
    """A source during whose first draw somebody else does something, for at most a moment."""

    def __init__(self, seed: int, meanwhile: Thread) -> None:
        super().__init__(seed)
        self.meanwhile: Thread | None = meanwhile

    def bits(self, count: int) -> int:
        if self.meanwhile is not None:
            started, self.meanwhile = self.meanwhile, None
            started.start()
            started.join(0.3)
        return super().bits(count)


def test_two_programs_at_once_send_the_same(tmp_path: Path) -> None:
    """Two draws for the same answers would cost twice, and the memory would know of one alone."""
    survey = sv.design("x", [sv.yes_no(f"q{i}") for i in range(20)], 1)
    answers, memory, others = {f"q{i}": "yes" for i in range(20)}, sv.Memory(tmp_path / "sent.json"), []
    other = Thread(target=lambda: others.append(sv.randomize(survey, answers, memory=memory, entropy=Seeded(2))))
    mine = sv.randomize(survey, answers, memory=memory, entropy=Interrupted(1, other))
    other.join()
    assert others == [mine]


def test_a_memory_adds_up_what_designs_and_periods_cost(tmp_path: Path) -> None:
    """A design of which one letter is another is another one: its answers are drawn anew."""
    memory = sv.Memory(tmp_path / "sent.json")
    assert memory.spent == 0
    for title, period in [("x", ""), ("x", ""), ("x", "2027"), ("X", "")]:
        survey = sv.design(title, [sv.yes_no("smoker")], 0.5)
        sv.randomize(survey, {"smoker": "yes"}, memory=memory, period=period)
    assert memory.spent == Fraction(3, 2)


@pytest.mark.parametrize("content", ['{"a": {"b": 3}}', '{"a": {"b": {"smoker": 3}}}'])
def test_a_memory_of_another_shape_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(content)
    with pytest.raises(SfumatoError, match="must be a memory of what was sent"):
        sv.randomize(SMOKING, {"smoker": "yes"}, memory=sv.Memory(tmp_path / "sent.json"))


@pytest.mark.parametrize("text", ["9" * 5_000, "--1", "-", "0_1", "\u0661", "+1", "0x1", "9" * 19])
def test_a_report_that_no_device_sends_is_refused_whatever_it_is(text: str) -> None:
    with pytest.raises(OutsideRange, match="got something else in 1 rows"):
        sv.estimate(SMOKING, {"smoker": ["0", "1", text]})


def test_cells_without_a_value_are_missing_answers() -> None:
    given = pd.array(["yes", None, "no"], dtype="string")
    sent = sv.randomize_all(SMOKING, pd.DataFrame({"smoker": given}))
    assert sent["smoker"][1] == "" and all(sent["smoker"][::2])
    rent = sv.design("x", [sv.number("rent", "?", (0, 10))], 1)
    numbers = sv.randomize_all(rent, pd.DataFrame({"rent": pd.array([1, None, 3], dtype="Int64")}))
    assert numbers["rent"][1] == ""
    received = pd.DataFrame({"smoker": pd.array([0, None, 1], dtype="Int64")})
    assert sv.estimate(SMOKING, received)["smoker"].missing == 1


@pytest.mark.parametrize(
    ("question", "mechanism"),
    [
        (sv.yes_no("q"), BlockResponse(5, ("yes", "no"))),
        (sv.yes_no("q"), BlockResponse(1, ("no", "yes"))),
        (sv.yes_no("q"), BlockResponse(1, ("yes", "no", "perhaps"))),
        (sv.yes_no("q"), BoxResponse(1, ("yes", "no"))),
        (sv.several_of("q", "?", list("abc"), most=3), BoxResponse(1, tuple("abc"), True, 1)),
        (sv.number("q", "?", (0, 10)), DuchiResponse(1, (0, 100))),
        (sv.number("q", "?", (0, 10)), Geometric(1, 1, neighbors="replace")),
    ],
)
def test_a_design_cannot_cost_more_than_it_says(question: Any, mechanism: Any) -> None:
    """Its mechanisms are for its questions, and at their price."""
    with pytest.raises(InvalidArgument, match="the mechanism must be one for its answers that costs at most epsilon 1"):
        sv.Item(question, Fraction(1), mechanism)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('epsilon = "1"', 'epsilon = "1e99999999"', "epsilon must be a number"),
        ('epsilon = "1"', 'epsilon = "1/0"', "epsilon must be a number"),
        ('odds = ["', f'odds = ["{"9" * 5_000}', "odds must be two whole numbers"),
        ("share = 1", f"share = {10**30}", "share must be at most 1,000,000"),
        ('epsilon = "1"', 'epsilon = "1001"', "epsilon must be at most 1,000"),
    ],
)
def test_a_file_that_would_take_for_ever_is_refused_at_once(old: str, new: str, words: str, tmp_path: Path) -> None:
    sv.save(SMOKING, tmp_path / "survey.toml")
    text = (tmp_path / "survey.toml").read_text()
    assert old in text
    (tmp_path / "survey.toml").write_text(text.replace(old, new))
    with pytest.raises(SfumatoError, match=words):
        sv.load(tmp_path / "survey.toml")


def test_rounds_of_different_confidence_are_not_combined() -> None:
    sent = {"smoker": ["0", "1", "1"]}
    rounds = [(SMOKING, sv.estimate(SMOKING, sent, confidence=each)) for each in (0.9, 0.95)]
    with pytest.raises(InvalidArgument, match="one confidence"):
        sv.combine(rounds)
