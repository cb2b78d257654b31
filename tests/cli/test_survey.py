"""`sfumato survey`: from questions to estimates as a user would, and what is said where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Call
from sfumato.cli._shared.failure import USAGE

DESIGN = ("survey", "design", "--question", "smoker=yes-no", "--question", "party=one-of: red, green, blue")


def write_answers(folder: Path, people: int = 600) -> None:
    rows = [f"p{i},{('yes', 'no', 'no')[i % 3]},{('red', 'green', '')[i % 3]}" for i in range(people)]
    (folder / "answers.csv").write_text("\n".join(["respondent,smoker,party", *rows]) + "\n")


def test_a_survey_from_questions_to_estimates(call: Call, folder: Path) -> None:
    """Design, randomize, estimate, cross, draw: each says what it did, and estimates lie inside [0, 1]."""
    designed = call(*DESIGN, "--epsilon", "4", "--people", "600", "--error", "0.02")
    assert designed.code == 0 and "A standard error of 2\xa0% from noise needs" in designed.out
    assert "A curator's noise" in designed.out and "design: survey.toml" in designed.err
    write_answers(folder)
    randomized = call("survey", "randomize", "answers.csv", "--output", "sent.csv")
    assert randomized.code == 0 and "600 people, epsilon 4 each" in randomized.err
    head, *lines = (folder / "sent.csv").read_text().splitlines()
    assert head == "design,respondent,smoker,party" and len(lines) == 600
    shown = call("survey", "estimate", "sent.csv", "--plot", "chart.svg")
    assert shown.code == 0 and "tidy (biased)" in shown.out and "Note: party: 200 people gave no answer" in shown.out
    assert (folder / "chart.svg").exists()
    told = json.loads(call("survey", "estimate", "sent.csv", "--format", "json").out)
    assert told["people"] == 600 and 0 <= told["questions"][0]["estimates"][0]["interval"][0] <= 1
    crossed = call("survey", "estimate", "sent.csv", "--cross", "smoker,party")
    assert crossed.code == 0 and "smoker by party (400 people)" in crossed.out
    call("survey", "randomize", "answers.csv", "--output", "again.csv", "--quiet")
    both = json.loads(call("survey", "estimate", "sent.csv", "--round", "again.csv", "--format", "json").out)
    assert both["people"] == 1_200 and both["epsilon"] == 8 and "2 rounds with fresh noise as one" in both["notes"]
    only = call("survey", "estimate", "sent.csv", "--only", "smoker", "--format", "csv", "--output", "one.csv")
    assert only.code == 0 and (folder / "one.csv").read_text().count("\n") == 3


def test_one_person_with_a_memory(call: Call, folder: Path) -> None:
    call(*DESIGN, "--odds", "3")
    first = call("survey", "randomize", "--answer", "smoker=yes", "--memory", "mine.json", "--json")
    again = call("survey", "randomize", "--answer", "smoker=no", "--memory", "mine.json", "--json")
    assert first.code == 0 and json.loads(first.out) == json.loads(again.out)
    assert json.loads(first.out)["party"] == "" and (folder / "mine.json").exists()
    assert "epsilon 1.099 was spent in total" in again.err


def test_an_answer_can_be_asked_for_so_that_no_history_holds_it(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(*DESIGN, "--odds", "3")
    monkeypatch.setattr("typer.prompt", lambda name, **how: "yes" if how["hide_input"] else "shown")
    asked = call("survey", "randomize", "--answer", "smoker", "--json")
    assert asked.code == 0 and json.loads(asked.out)["smoker"] in ("0", "1")


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
        (("survey", "design", "--question", "a=yes-no"), "epsilon must be given, or --odds"),
        (("survey", "design", "--question", "a=yes-no", "--odds", "3", "--epsilon", "1"), "not both"),
        (("survey", "design", "--question", "a=yesno", "--epsilon", "1"), "did you mean 'yes-no'?"),
        (("survey", "design", "--question", "a=number: 0 100 30", "--epsilon", "1"), "the step of a must divide"),
        (("survey", "design", "--question", "a=number: 9 1", "--epsilon", "1"), "a low bound, a high one and a step"),
        (("survey", "design", "--question", "a=one-of: x, x", "--epsilon", "1"), "got 'x' twice"),
        ((*DESIGN, "--epsilon", "1", "--text", "smokr=Do you?"), "did you mean 'smoker'?"),
        ((*DESIGN, "--epsilon", "1", "--share", "smoker=half"), "--share must be a whole number"),
        (("survey", "design", "--epsilon", "1"), "--question or a draft must be given"),
        ((*DESIGN, "--epsilon", "1", "--ask", "none"), "--ask must be 'all' or 'one'"),
        (("survey", "randomize"), "a file or --answer must be given"),
        (("survey", "randomize", "answers.csv", "--design", "no.toml"), "no design at 'no.toml'"),
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
    call("survey", "randomize", "answers.csv", "--output", "sent.csv")
    kept = (folder / "sent.csv").read_text()
    again = call("survey", "randomize", "answers.csv", "--output", "sent.csv")
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
    ran = call("survey", "randomize", "answers.csv", "--output", "sent.csv")
    assert ran.code == USAGE and "in 1 of 2 rows" in ran.err and not (folder / "sent.csv").exists()


def test_a_design_says_what_is_asked_and_which_way_is_closer(call: Call, folder: Path) -> None:
    ran = call(*DESIGN, "--text", "smoker=Do you smoke?", "--share", "smoker=3", "--epsilon", "1", "--error", "0.01")
    assert 'text = "Do you smoke?"' in (folder / "survey.toml").read_text()
    assert "More accurate at the same epsilon" in ran.out and "A standard error of 1\xa0%" in ran.out
    assert "e+" not in ran.out and "next: sfumato survey page survey.toml" in " ".join(ran.err.split())
    alone = call("survey", "design", "--question", "a=yes-no", "--epsilon", "1", "--output", "one.toml")
    assert "Closer" not in alone.out


def test_a_file_without_rows_or_columns_is_not_passed_over_in_silence(call: Call, folder: Path) -> None:
    call(*DESIGN, "--epsilon", "1")
    (folder / "answers.csv").write_text("smoker,party\n")
    ran = call("survey", "randomize", "answers.csv", "--output", "sent.csv")
    assert ran.code == USAGE and "a row for each person" in ran.err and not (folder / "sent.csv").exists()
    (folder / "answers.csv").write_text("smoker\nyes\n")
    ran = call("survey", "randomize", "answers.csv", "--output", "sent.csv")
    assert ran.code == 0 and "1 person," in ran.err and "no answers to party" in ran.err
