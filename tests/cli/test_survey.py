"""`sfumato survey`: from questions to estimates as a user would, and what is said where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Call
from sfumato.cli.failure import USAGE

DESIGN = ("survey", "design", "--question", "smoker=yes-no", "--question", "party=one-of: red, green, blue")


def write_answers(folder: Path, people: int = 600) -> None:
    rows = [f"p{i},{('yes', 'no', 'no')[i % 3]},{('red', 'green', '')[i % 3]}" for i in range(people)]
    (folder / "answers.csv").write_text("\n".join(["respondent,smoker,party", *rows]) + "\n")


def test_a_survey_from_questions_to_estimates(call: Call, folder: Path) -> None:
    """Design, randomise, estimate, cross, draw: each says what it did, and estimates lie inside [0, 1]."""
    designed = call(*DESIGN, "--epsilon", "4", "--people", "600", "--error", "0.02")
    assert designed.code == 0 and "A standard error of 0.02 from noise needs" in designed.out
    assert "with a trusted curator" in designed.out and "design: survey.toml" in designed.err
    write_answers(folder)
    randomised = call("survey", "randomise", "answers.csv", "--output", "sent.csv")
    assert randomised.code == 0 and "600 people, epsilon 4 each" in randomised.err
    head, *lines = (folder / "sent.csv").read_text().splitlines()
    assert head == "design,respondent,smoker,party" and len(lines) == 600
    shown = call("survey", "estimate", "sent.csv", "--plot", "chart.svg")
    assert shown.code == 0 and "tidy (biased)" in shown.out and "Note: party: 200 people gave no answer" in shown.out
    assert (folder / "chart.svg").exists()
    told = json.loads(call("survey", "estimate", "sent.csv", "--format", "json").out)
    assert told["people"] == 600 and 0 <= told["questions"][0]["estimates"][0]["interval"][0] <= 1
    crossed = call("survey", "estimate", "sent.csv", "--cross", "smoker,party")
    assert crossed.code == 0 and "smoker by party (400 people)" in crossed.out
    call("survey", "randomise", "answers.csv", "--output", "again.csv", "--quiet")
    both = json.loads(call("survey", "estimate", "sent.csv", "--round", "again.csv", "--format", "json").out)
    assert both["people"] == 1_200 and both["epsilon"] == 8 and "2 rounds with fresh noise as one" in both["notes"]
    only = call("survey", "estimate", "sent.csv", "--only", "smoker", "--format", "csv", "--output", "one.csv")
    assert only.code == 0 and (folder / "one.csv").read_text().count("\n") == 3


def test_one_person_with_a_memory(call: Call, folder: Path) -> None:
    call(*DESIGN, "--odds", "3")
    first = call("survey", "randomise", "--answer", "smoker=yes", "--memory", "mine.json", "--json")
    again = call("survey", "randomise", "--answer", "smoker=no", "--memory", "mine.json", "--json")
    assert first.code == 0 and json.loads(first.out) == json.loads(again.out)
    assert json.loads(first.out)["party"] == "" and (folder / "mine.json").exists()


def test_a_design_as_json_and_from_a_draft(call: Call, folder: Path) -> None:
    (folder / "draft.toml").write_text("epsilon = 1\n[[questions]]\nname = 'smoker'\nkind = 'yes-no'\n")
    made = call("survey", "design", "draft.toml", "--json")
    assert made.code == 0 and json.loads(made.out)["expected"][0]["question"] == "smoker"
    assert call("survey", "design", "draft.toml", "--epsilon", "1").code == USAGE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("survey", "design", "--question", "smoker", "--epsilon", "1"), "--question must be NAME=KIND"),
        (("survey", "design", "--question", "a=number: 0 x", "--epsilon", "1"), "--question must be NAME=KIND"),
        (("survey", "design", "--question", "a=yes-no", "--odds", "0.5"), "odds must be above 1"),
        (("survey", "design", "--question", "a=yes-no"), "epsilon must be given"),
        (("survey", "design", "--epsilon", "1"), "--question or a draft must be given"),
        ((*DESIGN, "--epsilon", "1", "--ask", "none"), "--ask must be 'all' or 'one'"),
        (("survey", "randomise"), "a file or --answer must be given"),
        (("survey", "randomise", "answers.csv", "--design", "no.toml"), "no design at 'no.toml'"),
        (("survey", "estimate", "sent.csv", "--design", "no.toml"), "no design at 'no.toml'"),
        (("survey", "estimate", "sent.csv", "--duplicates", "last"), "--duplicates must be"),
        (("survey", "estimate", "sent.csv", "--plot", "chart.gif"), "--plot must end in"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_a_hint(call: Call, arguments: tuple[str, ...], words: str) -> None:
    ran = call(*arguments)
    assert ran.code == USAGE and words in ran.err and "hint:" in ran.err
    assert "Traceback" not in ran.err


def test_nothing_is_overwritten_and_a_changed_design_is_found(call: Call, folder: Path) -> None:
    call(*DESIGN, "--epsilon", "4")
    write_answers(folder)
    call("survey", "randomise", "answers.csv", "--output", "sent.csv")
    kept = (folder / "sent.csv").read_text()
    again = call("survey", "randomise", "answers.csv", "--output", "sent.csv")
    assert (
        again.code == USAGE and "must not be there already" in again.err and (folder / "sent.csv").read_text() == kept
    )
    other = call(*DESIGN, "--epsilon", "2")
    assert other.code == USAGE and "answers may have been collected" in other.err
    design = folder / "survey.toml"
    design.write_text(design.read_text().replace('"red"', '"rot"'))
    changed = call("survey", "estimate", "sent.csv")
    assert changed.code == USAGE and "got one that was changed" in changed.err
    assert call(*DESIGN, "--epsilon", "2", "--force").code == 0
    moved = call("survey", "estimate", "sent.csv")
    assert moved.code == USAGE and "got 600 of 600 rows of another" in moved.err


def test_a_bad_answer_leaves_no_file_behind(call: Call, folder: Path) -> None:
    call(*DESIGN, "--epsilon", "1")
    (folder / "answers.csv").write_text("smoker,party\nyes,red\nmaybe,red\n")
    ran = call("survey", "randomise", "answers.csv", "--output", "sent.csv")
    assert ran.code == USAGE and "in 1 of 2 rows" in ran.err and not (folder / "sent.csv").exists()
