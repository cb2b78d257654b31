"""What version 0.1 wrote is read for ever: 32 questions asked again are free and equal, a survey keeps its hash.

`v0_1/` was written by version 0.1.0 itself (`v0_1/write.txt`): a project, its ledger in SQLite and in PostgreSQL, the
answers that were given, a survey's design with its page, a hundred reports and their estimates. A stored answer is
found by a hash over the question as it was understood: renaming a class or adding a field must not change that text.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

import sfumato as sf
from sfumato import project
from sfumato.curator.curator import Curator
from sfumato.dataset.sources import files
from sfumato.errors import UnknownName
from sfumato.ledger.ledger import Ledger
from sfumato.migration import migrate
from sfumato.surveys import design_file as written

HERE = Path(__file__).parent / "v0_1"
QUESTIONS: list[dict[str, Any]] = json.loads((HERE / "questions.json").read_text("utf-8"))
NOW = {"bound": "max_rows_per_unit", "bounds": "estimate_bounds"}  # options, as they are called now
ANSWERS: dict[str, list[Any]] = json.loads((HERE / "answers.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project; its sources are known by their names, as when it was written, since a clone lies anywhere."""
    names = property(lambda self: frozenset(os.path.basename(path) for path in self.paths()))
    monkeypatch.setattr(files._Files, "identity", names)
    for file in HERE.iterdir():
        shutil.copy(file, tmp_path)
    with pytest.raises(UnknownName, match=r"^allowance: allowance is called budget now; sfumato migrate rewrites"):
        project.load(tmp_path)
    text, changes = migrate((HERE / "sfumato.toml").read_text("utf-8"), "sfumato.toml")
    (tmp_path / "sfumato.toml").write_text(text, "utf-8")
    assert len(changes) == 4
    return tmp_path


def sqlite(folder: Path) -> Ledger:
    with closing(sqlite3.connect(folder / "ledger.db")) as database:
        database.executescript((HERE / "ledger_sqlite.sql").read_text("utf-8"))
    return Ledger.open(folder / "ledger.db", share_answers=True)


def postgres(address: str) -> Ledger:
    engine = create_engine(address)
    with engine.begin() as connection:
        schema = str(connection.exec_driver_sql("SELECT current_schema()").scalar())
        dump = (HERE / "ledger_postgres.sql").read_text("utf-8").replace("CREATE SCHEMA kept;", "")
        connection.connection.cursor().execute(dump.replace("kept.", f"{schema}."))  # as it is: no % is a parameter
    engine.dispose()
    return Ledger.open(address, share_answers=True)


def asked(curator: Curator, question: dict[str, Any], **others: Any) -> Any:
    today = {NOW.get(name, name): value for name, value in question.items() if name not in ("sql", "histogram")}
    if today.get("estimate_bounds") == "auto":
        today["estimate_bounds"] = True
    options = today | others
    if "histogram" not in question:
        answer = curator.ask(question["sql"], **options)
        rows = json.loads(json.dumps(answer.rows, default=str))
        return {"columns": list(answer.columns), "rows": rows, "intervals": json.loads(json.dumps(answer.intervals))}
    table, columns = question["histogram"]
    found = sf.histogram(curator, table, columns, **options)
    return {"counts": list(found.counts), "intervals": [list(pair) for pair in found.intervals]}


def check(curator: Curator, answers: list[Any]) -> None:
    """Every question is free and equal, for who asked it and for others who share answers."""
    spent = curator.ledger.balance().population(curator.population).account.spent
    for question, answer in zip(QUESTIONS, answers, strict=True):
        assert asked(curator, question) == answer, question
        assert asked(curator, question, analyst="somebody else") == answer, question
    assert curator.ledger.balance().population(curator.population).account.spent == spent


def test_questions_of_0_1_are_free_and_equal_from_a_ledger_in_sqlite(folder: Path) -> None:
    """Joins, undeclared keys, quantiles, within, histograms, parameters, options, shared answers."""
    with sqlite(folder) as ledger:
        check(project.load(folder).curator(ledger=ledger), ANSWERS["sqlite"])


def test_questions_of_0_1_are_free_and_equal_from_a_ledger_in_postgresql(folder: Path, postgres_address: str) -> None:
    """The same, from a dump of PostgreSQL."""
    with postgres(postgres_address) as ledger:
        check(project.load(folder).curator(ledger=ledger), ANSWERS["postgres"])


@pytest.fixture
def postgres_address(request: pytest.FixtureRequest) -> str:
    """A schema of its own."""
    new: Callable[[], str] = request.getfixturevalue("postgres")
    return new()


def test_a_declaration_that_changed_is_charged_again(folder: Path) -> None:
    """Free answers above are no accident of a key that ignores what was declared."""
    text = (folder / "sfumato.toml").read_text("utf-8")
    (folder / "sfumato.toml").write_text(text.replace("bounds = [0, 120]", "bounds = [0, 121]"), encoding="utf-8")
    with sqlite(folder) as ledger:
        curator = project.load(folder).curator(ledger=ledger)
        before = ledger.balance().population(curator.population).account.spent
        asked(curator, QUESTIONS[0])
        assert ledger.balance().population(curator.population).account.spent != before


def test_a_survey_of_0_1_keeps_its_hash_and_its_estimates() -> None:
    """The reports name the design by its hash, which covers the names of mechanisms."""
    kept = json.loads((HERE / "estimates.json").read_text("utf-8"))
    health = sf.survey.load(HERE / "survey.toml")
    assert written.digest(health) == kept["digest"]
    assert json.loads(json.dumps(sf.survey.estimate(health, HERE / "reports.csv").rows)) == kept["rows"]


def test_the_page_of_a_survey_of_0_1_belongs_to_its_design() -> None:
    """A page that is out there sends reports under the hash that the design still has."""
    health = sf.survey.load(HERE / "survey.toml")
    assert written.short(health) in (HERE / "survey.html").read_text("utf-8")
