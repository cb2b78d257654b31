"""What was collected: wrong input is refused in one clear line, and nothing is lost or dropped in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato import surveys as sv
from sfumato.errors import (
    DesignChanged,
    Duplicated,
    InvalidArgument,
    OutsideRange,
    SfumatoError,
    SourceNotFound,
    UnknownName,
)
from sfumato.surveys.answers import UNCHECKED
from sfumato.surveys.design_file import short
from sources import Seeded

SURVEY = sv.design(
    "x",
    [
        sv.yes_no("smoker"),
        sv.several_of("symptoms", "?", ["cough", "fever", "rash"], most=2),
        sv.number("rent", "?", (0, 3000), step=50),
    ],
    3,
    oracles={"symptoms": "every-box"},
)
TRUTH = {"smoker": ["yes", "no", "no"], "symptoms": ["cough", "none", "fever; rash"], "rent": [100, 2_000.0, "740.5"]}


def sent() -> dict[str, list[str]]:
    return sv.randomize_all(SURVEY, TRUTH, Seeded(1))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"smoker": ["yes", "perhaps", "no"]}, r"smoker must be one of yes, no; got another answer in 1 of 3 rows"),
        ({"smoker": ["yes", 1, 0]}, "in 2 of 3 rows"),
        (
            {"symptoms": ["cough", "flu", "none"]},
            r"some of cough, fever, rash, .*in 1 of 3 rows, the first in row 2",
        ),
        ({"symptoms": ["cough;fever;rash"]}, "at most 2 answers"),
        ({"symptoms": [7]}, "must be a list of answers"),
        ({"rent": [3_001, 5, -1]}, "rent must be a number between 0 and 3000; .* in 2 of 3 rows, the first in row 1"),
        ({"rent": ["1,250"]}, "must be a number"),
        ({"rent": ["inf"]}, "must be a number"),
    ],
)
def test_answers_outside_the_list_are_refused_with_their_number(answers: dict[str, Any], words: str) -> None:
    with pytest.raises(OutsideRange, match=words):
        sv.randomize_all(SURVEY, answers)


def test_capitals_and_decimal_commas_are_read_where_they_mean_one_thing() -> None:
    smoker, symptoms, rent = (SURVEY.item(name).question for name in ("smoker", "symptoms", "rent"))
    assert smoker.place(" YES ") == smoker.place("yes") and symptoms.place("Rash; Cough") == symptoms.place(
        "cough;rash"
    )
    assert rent.place("12,5") == rent.place("12.5")
    apart = sv.one_of("grade", "", ["a", "A", "b"])
    assert [apart.place(each) for each in ("a", "A", "B")] == [0, 1, 2]
    with pytest.raises(OutsideRange, match="must be one of"):
        sv.one_of("unit", "", ["ss", "SS"]).place("sS")


@pytest.mark.parametrize("apart", [";", "\t"])
def test_files_with_other_separators_say_the_same(tmp_path: Path, apart: str) -> None:
    columns = sent()
    pd.DataFrame(columns).to_csv(tmp_path / "sent.csv", index=False, sep=apart)
    assert sv.estimate(SURVEY, tmp_path / "sent.csv").rows == sv.estimate(SURVEY, columns).rows


def test_one_persons_answers_are_checked_alike() -> None:
    for wrong in ({"smoker": "perhaps"}, {"rent": 9_999}, {"symptoms": ["flu"]}):
        with pytest.raises(OutsideRange, match="must be"):
            sv.randomize(SURVEY, wrong)
    with pytest.raises(UnknownName, match="unknown question 'smoke'"):
        sv.randomize(SURVEY, {"smoke": "yes"})


def test_a_message_never_repeats_a_true_answer() -> None:
    with pytest.raises(OutsideRange) as refusal:
        sv.randomize_all(SURVEY, {"smoker": ["secretword"], "rent": [5]})
    assert "secretword" not in str(refusal.value)


def test_answers_of_another_design_are_refused() -> None:
    other = sv.design("x", [item.question for item in SURVEY.items], 2.5, oracles={"symptoms": "every-box"})
    with pytest.raises(
        DesignChanged, match=rf"answers must be of the design {short(other)}; got 3 of 3 rows of another"
    ):
        sv.estimate(other, sent())
    mixed = {**sent(), "design": [short(SURVEY), short(other), ""]}
    with pytest.raises(DesignChanged, match="got 2 of 3 rows"):
        sv.estimate(SURVEY, mixed)


def test_answers_without_a_design_are_estimated_with_a_note() -> None:
    columns = {name: column for name, column in sent().items() if name != "design"}
    assert sv.estimate(SURVEY, columns).notes == (UNCHECKED,)
    assert sv.estimate(SURVEY, sent()).notes == ()


def test_respondents_who_are_there_twice_are_refused_or_counted_once() -> None:
    columns = {name: column * 2 for name, column in sent().items()}
    columns["respondent"] = ["ann", "bob", "", "ann", "cleo", ""]
    with pytest.raises(Duplicated, match=r"got 1 of 6 rows .* keep the first of each: duplicates='first'"):
        sv.estimate(SURVEY, columns)
    found = sv.estimate(SURVEY, columns, duplicates="first")
    assert found.people == 5 and "1 rows of respondents who were there already are left out" in found.notes


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_answers_are_not_estimated(count: int) -> None:
    columns = {name: column[:count] for name, column in sent().items()}
    with pytest.raises(InvalidArgument, match=f"smoker must have at least 2 answers; got {count}"):
        sv.estimate(SURVEY, columns)


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        ("smoker", ["yes", "no", "0"]),
        ("smoker", ["0", "2", "1"]),
        ("smoker", ["0", "-1", "99999999999999999999"]),
        ("symptoms", ["00", "08", "01"]),
        ("symptoms", ["00", "1", "01"]),
        ("symptoms", ["00", "0000", "01"]),
        ("symptoms", ["0", "0x", "01"]),
        ("rent", ["0", "1", "1.5"]),
        ("rent", ["0", "1", "2"]),
    ],
)
def test_what_no_device_sends_is_refused(column: str, texts: list[str]) -> None:
    """True answers in the place of reports among it."""
    survey = sv.design(
        "x", [item.question for item in SURVEY.items], 3, oracles={"symptoms": "every-box", "rent": "duchi"}
    )
    columns = sv.randomize_all(survey, TRUTH, Seeded(1))
    with pytest.raises(OutsideRange, match=rf"{column} must hold what its .* mechanism sends; got something else in "):
        sv.estimate(survey, {**columns, column: texts})


@pytest.mark.parametrize("weight", [["1", "x", "2"], [1, 0, 2], [1, -1, 2], [1, None, 2], [1, float("inf"), 1]])
def test_weights_are_positive_numbers(weight: list[Any]) -> None:
    with pytest.raises(OutsideRange, match="weight must be a positive number in every row"):
        sv.estimate(SURVEY, {**sent(), "weight": weight})


def test_a_missing_column_is_named() -> None:
    columns = {name: column for name, column in sent().items() if name != "rent"}
    with pytest.raises(UnknownName, match="a column for each question; got none for rent"):
        sv.estimate(SURVEY, columns)


def test_files_frames_columns_and_rows_say_the_same(tmp_path: Path) -> None:
    columns = sent()
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "sent.csv", index=False)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "sent.JSONL").write_text("\ufeff" + "\r\n\r\n".join(map(json.dumps, rows)), encoding="utf-8")
    wanted = sv.estimate(SURVEY, columns).rows
    for source in (tmp_path / "sent.csv", str(tmp_path / "sent.csv"), tmp_path / "sent.JSONL", frame, rows):
        assert sv.estimate(SURVEY, source).rows == wanted


def test_whole_numbers_in_a_frame_with_gaps_are_read_and_inexact_ones_are_not() -> None:
    survey = sv.design("x", [sv.one_of("q", "?", [f"a{i}" for i in range(60)])], 0.2, oracles={"q": "subset"})
    sent = pd.DataFrame(sv.randomize_all(survey, {"q": ["a0", "a1", None]}, Seeded(1)))
    wanted = sv.estimate(survey, sent).rows
    small = sv.estimate(SURVEY, pd.DataFrame({"smoker": [1.0, 0.0, None], "symptoms": ["00"] * 3, "rent": [1, 0.0, 1]}))
    assert small["smoker"].missing == 1 and small["rent"].people == 3
    with pytest.raises(OutsideRange, match="q must hold what its subset mechanism sends"):
        sv.estimate(survey, {"q": [float(text or "nan") for text in sent["q"]]})  # a spreadsheet rounds 19 digits
    assert sv.estimate(survey, sent).rows == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got an empty file"),
        ("smoker,smoker\n1,1\n", "name each column once"),
        ("smoker,rent\n1\n", "2 fields a row; got others in 1 rows"),
        (b"\xff\xfe\x00", "must be written in UTF-8"),
        ('smoker\n"1\n', "is not CSV"),
    ],
)
def test_a_file_that_is_no_table_is_refused(text: str | bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "sent.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidArgument, match=words):
        sv.estimate(SURVEY, tmp_path / "sent.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got an empty file"),
        ("\n \n", "got an empty file"),
        ('{"smoker": "1", "smoker": "0"}', "each name once; got something else in line 1"),
        ('{"smoker": "1", " smoker": "0"}', "each name once; got something else in line 1"),
        ('{"smoker": "1"}\n{"smoker": "1", "rent": "1"}\n{}', "names of its first line .* got others in 2 lines"),
        (b"\xff\xfe\x00", "must be written in UTF-8"),
        ('{"smoker": "1"}\n\n["1"]', "got something else in line 3"),
        ("smoker\n1\n", "got something else in line 1"),
        ('{"smoker": true}', "got something else in line 1"),
        ('{"smoker": {"a": 1}}', "got something else in line 1"),
        ('{"smoker": NaN}', "got something else in line 1"),
        ('{"smoker": ' + "9" * 5_000 + "}", "got something else in line 1"),
        ('{"smoker": ' + "[" * 100_000, "got something else in line 1"),
    ],
)
def test_lines_that_are_no_reports_are_refused(text: str | bytes, words: str, tmp_path: Path) -> None:
    """As for CSV; and nothing that is in a line is told."""
    (tmp_path / "sent.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidArgument, match=words):
        sv.estimate(SURVEY, tmp_path / "sent.jsonl")


def test_lines_are_checked_as_a_table_is(tmp_path: Path) -> None:
    """Their design, respondents who are there twice, and reports that no device sends."""
    rows = [dict(zip(sent(), row, strict=True)) | {"respondent": "a"} for row in zip(*sent().values(), strict=True)]
    file = tmp_path / "sent.jsonl"

    def estimated(changes: dict[str, Any], **options: Any) -> sv.Estimates:
        file.write_text("\n".join(json.dumps(row | changes) for row in rows))
        return sv.estimate(SURVEY, file, **options)

    with pytest.raises(Duplicated, match="each respondent must be there once"):
        estimated({})
    with pytest.raises(DesignChanged, match="answers must be of the design"):
        estimated({"design": "0"}, duplicates="first")
    for strange in ("yes", 7, ["1"], 0.5):
        with pytest.raises(OutsideRange, match="smoker must hold what its response mechanism sends"):
            estimated({"smoker": strange, "respondent": None})
    assert estimated({"smoker": 1, "respondent": None})["smoker"].people == len(rows)
    assert estimated({"smoker": None, "rent": "1", "respondent": None}, questions=["rent"])["rent"].people == len(rows)


def test_true_answers_are_read_from_lines(tmp_path: Path) -> None:
    """A list where several answers are given; a null where none is."""
    lines = [
        {"smoker": "yes", "symptoms": ["cough", "rash"], "rent": 7},
        {"smoker": None, "symptoms": [], "rent": 1},
    ]
    (tmp_path / "true.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert sv.randomize_all(SURVEY, tmp_path / "true.jsonl", Seeded(3)) == sv.randomize_all(SURVEY, lines, Seeded(3))


def test_what_is_no_table_is_refused() -> None:
    for source in (3, [1, 2], {"smoker": ["1"], "rent": ["1", "2"]}):
        with pytest.raises(InvalidArgument, match="answers must"):
            sv.estimate(SURVEY, source)
    with pytest.raises(SourceNotFound, match=r"no file 'nowhere.csv'"):
        sv.estimate(SURVEY, "nowhere.csv")


def test_a_device_sends_the_same_again_whatever_the_answer_is_now(tmp_path: Path) -> None:
    """Within a period; a new one has new noise. Chance to see no change in 40 periods: below 1e-9."""
    memory = sv.Memory(tmp_path / "sent.json")
    first = sv.randomize(SURVEY, {"smoker": "yes", "rent": 700}, memory=memory, entropy=Seeded(1))
    for answer in ("no", "yes"):
        assert sv.randomize(SURVEY, {"smoker": answer, "rent": 1}, memory=memory) == first
    later = sv.randomize(SURVEY, {"smoker": "no", "symptoms": "none"}, memory=memory)
    assert later["smoker"] == first["smoker"] and later["symptoms"] != ""  # answered for the first time
    again = sv.randomize(SURVEY, {"symptoms": "cough; rash"}, memory=memory)
    assert again["symptoms"] == later["symptoms"]
    periods = {sv.randomize(SURVEY, {"smoker": "yes"}, memory=memory, period=str(i))["smoker"] for i in range(40)}
    assert periods == {"0", "1"}


def test_another_design_has_a_memory_of_its_own_and_no_true_answer_is_in_it(tmp_path: Path) -> None:
    memory, other = sv.Memory(tmp_path / "sent.json"), sv.design("y", [sv.yes_no("smoker", answers=["oui", "non"])], 1)
    sv.randomize(SURVEY, {"smoker": "yes"}, memory=memory)
    sv.randomize(other, {"smoker": "oui"}, memory=memory)
    kept = json.loads((tmp_path / "sent.json").read_text())
    assert len(kept) == 2 and "oui" not in (tmp_path / "sent.json").read_text()


def test_the_question_that_was_drawn_is_kept_too(tmp_path: Path) -> None:
    """Else a device that is asked often would answer all of them in the end."""
    survey = sv.design("x", [sv.yes_no(f"q{i}") for i in range(6)], 1, ask="one")
    memory, answers = sv.Memory(tmp_path / "sent.json"), {f"q{i}": "yes" for i in range(6)}
    rounds = [sv.randomize(survey, answers, memory=memory) for _ in range(20)]
    assert all(one == rounds[0] for one in rounds) and sum(bool(rounds[0][f"q{i}"]) for i in range(6)) == 1


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 3}'])
def test_a_broken_memory_is_refused_and_nothing_is_sent(content: str, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(content)
    with pytest.raises(SfumatoError, match="restore it: to answer without it costs epsilon again"):
        sv.randomize(SURVEY, {"smoker": "yes"}, memory=sv.Memory(tmp_path / "sent.json"))
    assert (tmp_path / "sent.json").read_text() == content


def test_a_memory_that_cannot_be_written_sends_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"cannot be written: .*; nothing was sent"):
        sv.randomize(SURVEY, {"smoker": "yes"}, memory=sv.Memory(tmp_path / "no folder" / "sent.json"))


def test_one_person_and_many_send_alike() -> None:
    """The same reports are possible, and equally likely: 4,000 of each, a difference above 5.6 deviations alarms.

    For 21 reports that is a false alarm of 5e-7; one with "c", half as likely as it should be, is found in 97 of 100.
    """
    survey = sv.design("x", [sv.one_of("q", "?", list("abcdefg"))], 1)
    source = Seeded(8)
    one = np.array([int(sv.randomize(survey, {"q": "c"}, entropy=source)["q"]) for _ in range(4_000)])
    many = np.array([int(text) for text in sv.randomize_all(survey, {"q": ["c"] * 4_000}, Seeded(9))["q"]])
    for output in np.unique(np.concatenate((one, many))):
        a, b = (one == output).sum(), (many == output).sum()
        assert abs(a - b) < 5.6 * np.sqrt(a + b)
