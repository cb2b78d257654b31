"""Everything that reads a file from outside: what a good file is, how it is mutated, and how it is read.

`COVERED` says which functions of the source each of them goes through; tests/fuzz/test_readers.py finds those that are
missing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from fuzz.mutations import mutate, mutate_json, mutate_lines, mutate_toml, mutate_tree
from sfumato import project
from sfumato import survey as sv
from sfumato.attacks.user_table import Own
from sfumato.cli._shared.legibility.lines import odd_lines
from sfumato.cli._shared.question_options import read_question
from sfumato.curator.answers.stored_answer import read_answer, write_answer
from sfumato.dataset.sources.files import CsvFiles
from sfumato.input_files import read_text
from sfumato.ledger.backup.verify import verify
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records import entry
from sfumato.ledger.records.portable import read_json
from sfumato.migration import migrate
from sfumato.plan.syntax.parse import parse
from sfumato.renames import renamed
from sfumato.surveys import design_file as written
from sfumato.surveys.web.words import read_words
from sources import Seeded

SOAK = bool(os.environ.get("SFUMATO_SOAK"))
MANY = 1000
FEW = 1000 if SOAK else 24  # where each file needs an engine of its own, which takes ten milliseconds and more

PROJECT = """
[ledger]
url = "sqlite:///ledger.db"
[budget]
epsilon = 3.0
delta = 1e-9
[populations.staff]
tables = ["payroll"]
epsilon = 1.0
[tables.people]
source = "people.csv"
version = "2026-11"
unit = "person"
neighbors = "add-remove"
max_rows_per_unit = 50
[tables.payroll]
source = "payroll.csv"
unit = { person = "person" }
[tables.people.columns]
income = { type = "double", bounds = [0, 200000] }
region = { keys = ["north", "south"] }
person = { range = [0, 120] }
day = { dates = ["2026-01-01", "2026-12-31", "month"] }
"""
PUBLIC = PROJECT + '[public.regions]\nsource = "regions.csv"\nmost_matches = 1\n'
DRAFT = """
title = "Health"
epsilon = 2
ask = "all"
[[questions]]
name = "smoker"
kind = "yes-no"
truth = 0.5
[[questions]]
name = "rent"
kind = "number"
low = 0
high = 3000
steps = 60
share = 2
oracle = "duchi"
[[questions]]
name = "symptoms"
kind = "several-of"
answers = ["cough", "fever"]
most = 1
"""
QUESTION = "SELECT region, AVG(income) AS a FROM people WHERE day >= DATE '2026-01-01' GROUP BY region"
PEOPLE = "person,region,income,day\n" + "".join(f"{i},north,{i * 10.5},2026-01-{1 + i % 28:02d}\n" for i in range(30))
TRUE = "smoker,party,symptoms,rent,mood\n" + "yes,red,cough;rash,740,good\nno,green,none,20.5,bad\n" * 5


@cache
def survey() -> Any:
    """A design with every kind of question."""
    questions = [
        sv.yes_no("smoker"),
        sv.one_of("party", "?", ["red", "green", "blue"]),
        sv.several_of("symptoms", "?", ["cough", "fever", "rash"], most=2),
        sv.number("rent", "?", (0, 3000), step=50),
        sv.ordinal("mood", "?", ["bad", "ok", "good"]),
    ]
    return sv.design("Health", questions, 3)


def _sent() -> list[dict[str, str]]:
    truth = {
        "smoker": ["yes", "no"],
        "party": ["red", "blue"],
        "symptoms": ["none", "rash"],
        "rent": [100, 900],
        "mood": ["ok", "bad"],
    }
    sent = sv.randomize_all(survey(), {name: cells * 10 for name, cells in truth.items()}, Seeded(5))
    beside = {"respondent": [str(i) for i in range(20)], "weight": ["1.5"] * 20, "stratum": ["u", "v"] * 10}
    columns = sent | beside
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _sent_lines() -> bytes:
    return "\n".join(map(json.dumps, _sent())).encode()


def _sent_csv() -> bytes:
    rows = _sent()
    return "\n".join(",".join(cells) for cells in (rows[0], *(row.values() for row in rows))).encode()


def _memory(folder: Path) -> bytes:
    sv.randomize(survey(), {"smoker": "yes"}, memory=sv.Memory(folder / "seed.json"), period="2026")
    return (folder / "seed.json").read_bytes()


def _ledger(folder: Path) -> tuple[Path, str]:
    """A ledger with answers, and one of these as it is stored."""
    file = folder / "seed.db"
    (folder / "seed.csv").write_text(PEOPLE, "utf-8")
    days = sf.column(keys=sf.dates("2026-01-01", "2026-01-05"))
    income = sf.column(bounds=(0, 400))
    table = sf.table(folder / "seed.csv", unit="person", max_rows_per_unit=1, columns={"income": income, "day": days})
    with Ledger.open(file) as ledger:
        curator = sf.Curator({"people": table}, budget=sf.Guarantee(5, 1e-6), ledger=ledger)
        curator.ask("SELECT AVG(income) AS a FROM people", epsilon=1)
        answer = curator.ask("SELECT day, COUNT(*) AS n FROM people GROUP BY day", epsilon=1)
        ledger.erase(3)
        ledger.backup(folder / "backup.jsonl")
        ledger.backup(folder / "copy.db")
    return file, write_answer(answer)


def _stored(folder: Path) -> bytes:
    return _ledger(folder)[1].encode()


def _backup(folder: Path) -> bytes:
    _ledger(folder)
    return (folder / "backup.jsonl").read_bytes()


def _copy(folder: Path) -> bytes:
    _ledger(folder)
    return (folder / "copy.db").read_bytes()


def forge(seed: bytes, number: int) -> bytes:
    """A backup in which an entry says something else, and all hashes fit: nothing but its meaning is wrong."""
    chance, (*rows, _) = random.Random(number), [json.loads(line) for line in seed.splitlines()]
    chosen = chance.randrange(1, len(rows))
    row = rows[chosen]
    if chance.random() < 0.5:
        detail = mutate_tree(json.loads(row["detail"]) or {"a": 1}, number)
        row["detail"] = json.dumps(detail, default=str)
        row["kind"] = chance.choice(list(entry.Kind)).value if chance.random() < 0.3 else row["kind"]
    else:
        changed = mutate_tree(row, number)
        rows[chosen] = changed if isinstance(changed, dict) else row
    previous = rows[chosen].get("previous")
    for each in rows[chosen:]:
        each["previous"] = previous
        previous = each["hash"] = _hash(each)
    rows.append({"end": f"{rows[-1].get('number')}-{previous}", "entries": rows[-1].get("number")})  # where it ends
    return "\n".join(json.dumps(each, default=str) for each in rows).encode()


def _hash(row: dict[str, Any]) -> str:
    fields = [row.get(name) for name in entry.COLUMNS]
    try:
        amounts = [None if value is None else int(value) for value in fields[7:10]]
        return entry._digest((*fields[:7], *amounts, *fields[10:17]))
    except (TypeError, ValueError, OverflowError):
        return str(row.get("hash"))


def _restore(file: Path) -> None:
    for old in file.parent.glob("into.db*"):
        old.unlink()
    with Ledger.restore(file, file.parent / "into.db") as ledger:
        ledger.verify()


def _merge(file: Path) -> None:
    for old in file.parent.glob("merged.db*"):
        old.unlink()
    shutil.copy(file.parent / "copy.db", file.parent / "merged.db")
    with Ledger.open(file.parent / "merged.db") as ledger:
        ledger.merge(file)
        ledger.verify()


def _walk(file: Path) -> None:
    copy = read_json(file)
    verify(copy.identity, copy.lines)


def _open_ledger(file: Path) -> None:
    try:
        with Ledger.open(file, create=False) as ledger:
            ledger.verify()
    finally:
        for old in file.parent.glob(f"{file.name}-*"):
            old.unlink()


def _ask(file: Path) -> None:
    table = sf.table(file, unit="person", columns={"income": sf.column(bounds=(0, 400), type="double")})
    curator = sf.Curator({"people": table}, budget=sf.Guarantee(epsilon=1))
    curator.ask("SELECT AVG(income) AS a FROM people", epsilon=1)


def _remember(file: Path) -> None:
    memory = sv.Memory(file)
    assert memory.spent >= 0
    sv.randomize(survey(), {"smoker": "yes"}, memory=memory, period="2026")


def _written(sql: str, name: str) -> Callable[[Path], bytes]:
    def make(folder: Path) -> bytes:
        (folder / "seed.csv").write_text(PEOPLE, "utf-8")
        with duckdb.connect(str(folder / name) if name.endswith("duckdb") else ":memory:") as engine:
            engine.execute(sql.format(csv=folder / "seed.csv", out=folder / name))
        return (folder / name).read_bytes()

    return make


_parquet = _written("COPY (SELECT * FROM '{csv}') TO '{out}'", "seed.parquet")
_duckdb = _written("CREATE TABLE people AS SELECT * FROM '{csv}'", "seed.duckdb")


def _text(text: str) -> Callable[[Path], bytes]:
    return lambda folder: text.encode()


@dataclass(frozen=True)
class Reader:
    """How a good file is made in a folder, its name, how it is read, mutated and how often."""

    seed: Callable[[Path], bytes]
    file: str
    read: Callable[[Path], Any]
    mutated: Callable[[bytes, int], bytes] = mutate
    times: int = MANY


def _csv(table: Any) -> CsvFiles:
    assert isinstance(table.source, CsvFiles)
    return table.source


def _english(folder: Path) -> bytes:
    from sfumato.surveys.web.files import read

    return read("english.toml").encode()


OLD_BUDGET = f"[{next(iter(renamed('key')))}]"


def _migrated(file: Path) -> object:
    return migrate(read_text(file, "it is gone"), file.name)


READERS: dict[str, Reader] = {
    "project": Reader(_text(PROJECT), "sfumato.toml", project.load, mutate_toml),
    "project with a public table": Reader(_text(PUBLIC), "sfumato.toml", project.load, mutate_toml, FEW),
    "project of 0.1": Reader(_text(PROJECT.replace("[budget]", OLD_BUDGET)), "sfumato.toml", _migrated, mutate_toml),
    "design": Reader(lambda _: written.write(survey()).encode(), "survey.toml", written.load, mutate_toml),
    "draft": Reader(_text(DRAFT), "survey.toml", written.load_draft, mutate_toml),
    "words": Reader(_english, "words.toml", read_words, mutate_toml),
    "reports, CSV": Reader(lambda _: _sent_csv(), "sent.csv", lambda file: sv.estimate(survey(), file)),
    "reports, JSON": Reader(
        lambda _: _sent_lines(), "sent.jsonl", lambda file: sv.estimate(survey(), file), mutate_lines
    ),
    "true answers": Reader(_text(TRUE), "true.csv", lambda file: sv.randomize_all(survey(), file)),
    "memory": Reader(_memory, "memory.json", _remember, mutate_json),
    "stored answer": Reader(
        _stored, "answer.json", lambda file: read_answer(file.read_bytes().decode("utf-8", "replace"), ""), mutate_json
    ),
    "backup": Reader(_backup, "x.jsonl", _walk, mutate_lines),
    "forged backup": Reader(_backup, "x.jsonl", _walk, forge),
    "restored backup": Reader(_backup, "x.jsonl", _restore, forge, 10 * FEW // 4),
    "merged backup": Reader(_backup, "x.jsonl", _merge, forge, 10 * FEW // 4),
    "ledger": Reader(_copy, "x.db", _open_ledger),
    "question": Reader(_text(QUESTION), "q.sql", lambda file: parse(read_question(None, file))),
    "table, CSV": Reader(_text(PEOPLE), "x.csv", lambda file: sf.table(file, unit="person")),
    "lines of a CSV": Reader(_text(PEOPLE), "x.csv", lambda file: odd_lines(_csv(sf.table(file)))),
    "table, parquet": Reader(_parquet, "x.parquet", lambda file: sf.table(file, unit="person"), times=3 * FEW),
    "table, DuckDB": Reader(
        _duckdb, "x.duckdb", lambda file: sf.table(f"duckdb:///{file}#people", unit="person"), times=3 * FEW
    ),
    "question on a CSV": Reader(_text(PEOPLE), "x.csv", _ask, times=FEW),
    "question on parquet": Reader(_parquet, "x.parquet", _ask, times=FEW),
    "public table, CSV": Reader(_text(PEOPLE), "x.csv", sf.public, times=FEW),
    "public table, parquet": Reader(_parquet, "x.parquet", sf.public, times=FEW),
    "keys": Reader(_text(PEOPLE), "x.csv", lambda file: sf.keys_from(file, "day", type="date"), times=FEW),
    "risk, CSV": Reader(_text(PEOPLE), "x.csv", lambda file: sf.risk_report(file, columns=["region"]), times=FEW),
    "risk, parquet": Reader(_parquet, "x.parquet", lambda file: sf.risk_report(file, columns=["region"]), times=FEW),
    "table of an attack": Reader(_text(PEOPLE), "x.csv", lambda file: Own.read(file, 2), times=FEW),
}
