"""Every file that a command takes, unreadable in every way: one line, one hint, an exit code that is no defect's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from sfumato.cli._shared.failure import LEDGER, REFUSED, USAGE

QUESTION = ("ask", COUNT, "--epsilon", "0.1")
FILES: dict[str, tuple[str, tuple[str, ...]]] = {  # a suffix, and a command in which FILE is to be read
    "project": (".toml", (*QUESTION, "--project", "FILE")),
    "project of doctor": (".toml", ("doctor", "--project", "FILE")),
    "question": (".sql", ("ask", "--epsilon", "0.1", "--file", "FILE")),
    "question by @": (".sql", ("quote", "@FILE", "--epsilon", "0.1")),
    "table": (".csv", ("init", "FILE", "--output", "new.toml")),
    "parquet": (".parquet", ("init", "FILE", "--output", "new.toml")),
    "risk": (".csv", ("risk", "FILE")),
    "linked": (".csv", ("risk", "visits.csv", "--columns", "region,day", "--link", "FILE", "--on", "region")),
    "ledger": (".db", ("ledger", "verify", "--ledger", "FILE")),
    "ledger shown": (".db", ("ledger", "show", "--ledger", "FILE")),
    "restored": (".jsonl", ("ledger", "restore", "FILE", "--ledger", "new.db")),
    "restored database": (".db", ("ledger", "restore", "FILE", "--ledger", "new.db")),
    "merged": (".jsonl", ("ledger", "merge", "FILE")),
    "draft": (".toml", ("survey", "design", "FILE", "--output", "new.toml")),
    "design": (".toml", ("survey", "page", "FILE")),
    "words": (".toml", ("survey", "page", "survey.toml", "--words", "FILE", "--force")),
    "true answers": (".csv", ("survey", "randomize", "FILE")),
    "memory": (".json", ("survey", "randomize", "--answer", "smoker=yes", "--memory", "FILE")),
    "reports": (".csv", ("survey", "estimate", "FILE")),
    "reports in lines": (".jsonl", ("survey", "estimate", "FILE")),
    "attacked": (".csv", ("attack", "averaging", "--data", "FILE", "--column", "spent")),
}
CONTENTS: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "nothing in it": Path.touch,
    "NULs": lambda file: file.write_bytes(b"\0" * 5000),
    "latin-1": lambda file: file.write_bytes("naïve = é,1\n".encode("latin-1")),
    "deep": lambda file: file.write_bytes(b"a = " + b"[" * 4000),
    "digits": lambda file: file.write_bytes(b'{"a": ' + b"9" * 6000 + b"}\na = " + b"9" * 6000),
}


@pytest.fixture
def prepared(folder: Path, call: Call) -> Path:
    """A ledger with an answer, and a survey."""
    assert call(*QUESTION).code == 0
    assert call("survey", "design", "--question", "smoker=yes-no", "--epsilon", "1", "--quiet").code == 0
    return folder


@pytest.mark.parametrize("name", FILES)
def test_an_unreadable_file_is_one_line_and_one_hint(name: str, prepared: Path, call: Call) -> None:
    """Whatever is in its place, also nothing, and a name that no file has."""
    suffix, arguments = FILES[name]
    named = {what: f"{i}{suffix}" for i, what in enumerate(CONTENTS)}
    for what, file in named.items():
        CONTENTS[what](prepared / file)
    for what, file in {**named, "no file": f"none{suffix}", "long": f"{'a' * 300}{suffix}"}.items():
        if (name, what) == ("memory", "no file") or (name in ("table", "risk") and what in ("deep", "digits")):
            continue  # a memory is made where there is none; and these are tables, of odd names
        if name == "project of doctor" and what not in ("latin-1", "long"):
            continue  # it draws charts each time
        shown = call(*(each.replace("FILE", file) for each in arguments))
        expected = (1,) if name == "project of doctor" else (USAGE, REFUSED, LEDGER)
        assert shown.code in expected, f"{name}, {what}: {shown.code} {shown.out} {shown.err}"
        assert "defect" not in shown.err and "Traceback" not in shown.err, f"{name}, {what}: {shown.err}"


def test_a_question_from_standard_input_must_be_text(
    prepared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes that are no UTF-8 are told as such."""
    from sfumato.cli import main

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT \xff\xfe"), encoding="utf-8"))
    with pytest.raises(SystemExit) as ended:
        main(["ask", "-", "--epsilon", "0.1"])
    assert ended.value.code == USAGE
    assert "standard input must be SQL in UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["1e999999999", "9" * 5000, "0x10", "1/0", "nan", "1e-400", "٣", ""])
def test_a_whole_number_that_is_none_is_refused_at_once(number: str, call: Call) -> None:
    """One with a thousand million digits is not worked out."""
    shown = call("audit", "laplace", "--epsilon", "1", "--samples", number)
    assert shown.code == USAGE and "--samples must be a whole number" in shown.err


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "{[]: 1}", "\0", "(" * 200 + ")" * 200])
def test_a_value_of_an_audit_is_a_literal_or_a_text(value: str, call: Call) -> None:
    """What Python's parser says of it is nobody's business."""
    shown = call("audit", "laplace", "--epsilon", "1", "--samples", "100", "--value", value, "--neighbor", "1")
    assert shown.code == USAGE and "defect" not in shown.err, shown.err
