"""A curator: refusals come first and are free, then the charge, then the data."""

from __future__ import annotations

import csv
import logging
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from sfumato import accounting
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.dataset.column import column
from sfumato.dataset.table import Table, table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.engine import Run
from sfumato.errors import (
    BudgetExhausted,
    EngineFailed,
    InvalidArgument,
    Refused,
    SfumatoError,
    SourceNotFound,
    UnboundedColumn,
)
from sfumato.ledger.records.entry import Entry, Kind
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sources import Seeded

QUESTION = "SELECT r, COUNT(*) AS n, AVG(x) AS a FROM t GROUP BY r"
CONSTANT = "the engine failed on this question; it is charged; ask the owner to look"


def spends(asked: Curator) -> list[Entry]:
    """The questions that were charged."""
    return [entry for entry in asked.ledger.entries() if entry.kind is Kind.RESERVED]


def declared(**more: object) -> Table:
    frame = pd.DataFrame({"pid": [n % 50 for n in range(200)], "x": [n / 2 for n in range(200)], "r": ["a", "b"] * 100})
    columns = {"x": column(bounds=(0, 100)), "r": column(keys=["a", "b", "none"])}
    return table(frame.assign(y=1.0), unit="pid", columns=columns, **more)  # type: ignore[arg-type]


class Forbidden:
    """An engine that must not be called."""

    calls = 0

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Run]:
        self.calls += 1
        raise AssertionError("data was touched")
        yield


def curator(epsilon: float = 10, **more: object) -> Curator:
    releaser = NoisyReleaser(Seeded(1))
    return Curator({"t": declared()}, budget=Guarantee(epsilon), releaser=releaser, **more)  # type: ignore[arg-type]


def test_a_quote_is_free_and_touches_no_data() -> None:
    """The ledger stays empty, and the engine is never called."""
    forbidden = Forbidden()
    asked = curator(engine=forbidden)
    quote = asked.quote(QUESTION, epsilon=1, max_rows_per_unit=5)
    assert not isinstance(quote, list)
    assert quote.cost.epsilon == 1 and "epsilon 1" in str(quote)
    assert len(asked.quote([QUESTION, "SELECT COUNT(*) AS n FROM t"], epsilon=1)) == 2  # type: ignore[arg-type]
    assert asked.explain(QUESTION, epsilon=1)
    assert spends(asked) == [] and forbidden.calls == 0


@pytest.mark.parametrize(
    ("question", "options"),
    (
        ("SELECT * FROM t", {}),
        ("DROP TABLE t", {}),
        ("SELECT SUM(y) AS s FROM t", {}),
        ("SELECT y, COUNT(*) AS n FROM t GROUP BY y", {}),
        ("SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING r > 5", {}),
        (QUESTION, {"epsilon": 0}),
        (QUESTION, {"epsilon": -1}),
        (QUESTION, {"epsilon": math.nan}),
        (QUESTION, {"epsilon": math.inf}),
        (QUESTION, {"epsilon": "1; DROP TABLE t"}),
        (QUESTION, {"epsilon": None}),
        (QUESTION, {"max_rows_per_unit": 0}),
        (QUESTION, {"max_rows_per_unit": 1.5}),
        (QUESTION, {"bounds": (0, 1)}),
        (QUESTION, {"confidence": 1}),
        (QUESTION, {"confidence": 0}),
        (QUESTION, {"shares": {"nobody": 1}}),
        (QUESTION, {"shares": {"n": -1}}),
        (QUESTION, {"bond": 3}),
        (QUESTION, {"epsilon": 11}),
    ),
)
def test_a_refusal_comes_before_charge_and_data(question: str, options: dict[str, object]) -> None:
    """Whatever is wrong with text or options: nothing is written, nothing is read."""
    forbidden = Forbidden()
    asked = curator(engine=forbidden)
    with pytest.raises(SfumatoError):
        asked.ask(question, **{"epsilon": 1, **options})  # type: ignore[arg-type]
    assert spends(asked) == [] and forbidden.calls == 0


def test_a_column_without_bounds_says_how_to_go_on() -> None:
    """Declare them, or buy them."""
    with pytest.raises(UnboundedColumn, match="estimate_bounds=True"):
        curator().ask("SELECT SUM(y) AS s FROM t", epsilon=1)
    answer = curator().ask("SELECT SUM(y) AS s FROM t", epsilon=1, estimate_bounds=True, max_rows_per_unit=4)
    assert math.isfinite(answer.rows[0]["s"])


def test_an_engine_that_fails_is_charged_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One constant message, whatever failed, with nothing of the data; the ledger has the entry."""
    asked = curator()

    def fail(*_: object) -> None:
        raise ValueError("could not convert 'Alice has HIV'")

    monkeypatch.setattr("sfumato.engines.sql.run.SqlRun.cells", fail)
    with pytest.raises(EngineFailed) as failed:
        asked.ask(QUESTION, epsilon=1)
    assert str(failed.value) == CONSTANT
    assert failed.value.__cause__ is None and failed.value.__context__ is None
    assert [entry.amount.epsilon for entry in spends(asked)] == [10**9]


def test_a_file_that_broke_is_charged_and_one_that_vanished_is_refused(tmp_path: Path) -> None:
    """Broken: charged, one constant message. Gone: refused before any charge, without the owner's path."""
    path = tmp_path / "t.parquet"
    pd.DataFrame({"pid": [1], "x": [1.0]}).to_parquet(path)
    people = table(str(path), unit="pid")
    asked = Curator({"t": people}, budget=Guarantee(2))
    path.write_bytes(b"PAR1 broken PAR1")
    with pytest.raises(EngineFailed) as broken:
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    path.unlink()
    with pytest.raises(SourceNotFound, match="nothing was charged") as gone:
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert str(broken.value) == CONSTANT
    assert str(tmp_path) not in str(gone.value)
    assert len(spends(asked)) == 1


def test_what_exceeds_the_budget_is_refused_with_numbers() -> None:
    """Requested and remaining are named, and nothing more is written or read."""
    asked = curator(1.5)
    asked.ask(QUESTION, epsilon=1)
    with pytest.raises(BudgetExhausted) as refusal:
        asked.ask(QUESTION, epsilon=0.75)
    assert "0.75" in str(refusal.value) and "0.5" in str(refusal.value)
    assert isinstance(refusal.value, Refused) and len(spends(asked)) == 1
    asked.ask(QUESTION, epsilon=0.5)
    assert asked.remaining().epsilon == 0


def test_what_is_typed_is_what_is_charged() -> None:
    """Whatever the number of columns, groups and aggregates."""
    asked = curator()
    questions = (QUESTION, "SELECT COUNT(*) AS n FROM t", "SELECT r, COUNT(*) AS n FROM t GROUP BY r ORDER BY SUM(x)")
    for question in questions:
        assert asked.ask(question, epsilon=0.5).guarantee.epsilon == 0.5
    assert sum(entry.amount.epsilon or 0 for entry in spends(asked)) == 3 * 10**9 // 2


def test_an_answer_has_rows_intervals_and_frames(tmp_path: Path) -> None:
    """The same values in every form, estimates with their intervals beside them."""
    answer = curator().ask(QUESTION, epsilon=2)
    assert [row["r"] for row in answer.rows] == ["a", "b", "none"]
    assert answer.columns == ("r", "n", "a") and answer.intervals["r"] == [None] * 3
    for name in ("n", "a"):
        assert all(
            low <= row[name] <= high for row, (low, high) in zip(answer.rows, answer.intervals[name], strict=True)
        )
    names = ["r", "n", "n_low", "n_high", "a", "a_low", "a_high"]
    frames = [
        answer.to_pandas().to_dict("list"),
        answer.to_polars().to_dict(as_series=False),
        answer.to_arrow().to_pydict(),
    ]
    assert all(frame == answer.to_dict() and list(frame) == names for frame in frames)
    answer.to_csv(tmp_path / "answer.csv")
    with open(tmp_path / "answer.csv", encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [float(row["n"]) for row in written] == [row["n"] for row in answer.rows]
    assert "inf" in str(answer) and "none" in str(answer)  # fifty people are too few for an upper end
    assert "±" in str(curator().ask("SELECT COUNT(*) AS n FROM t", epsilon=2, max_rows_per_unit=4))
    assert answer.receipt.id.startswith("3-") and "8" in answer.receipt.remaining
    assert "epsilon" in answer.explain() and "pid" in answer.explain()


def test_the_answer_shows_no_digits_of_noise() -> None:
    """A count of ± 5 has no ninth decimal, so that an answer is easy to read and says no more than it knows."""
    answer = curator().ask("SELECT COUNT(*) AS n FROM t", epsilon=1, max_rows_per_unit=4)
    assert round(answer.rows[0]["n"], 3) == answer.rows[0]["n"]


def test_tidy_counts_are_whole_and_not_negative() -> None:
    """Post-processing, so it costs nothing."""
    answer = curator().ask("SELECT r, COUNT(*) AS n FROM t WHERE x < 0 GROUP BY r", epsilon=0.1, tidy=True)
    assert all(isinstance(row["n"], int) and row["n"] >= 0 for row in answer.rows)


def test_tables_are_checked_at_the_door() -> None:
    """Names that differ in case only could not be told apart in a question."""
    for tables in ({}, {"t": declared(), "T": declared()}, {"t": pd.DataFrame()}):
        with pytest.raises(InvalidArgument):
            Curator(tables, budget=Guarantee(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("neighbors", ("add-remove", "replace"))
def test_the_promise_names_unit_and_neighbors(neighbors: str) -> None:
    """Replace costs twice the noise on groups, and is said."""
    asked = Curator({"t": declared(neighbors=neighbors)}, budget=Guarantee(9), engine=DuckdbEngine())
    answer = asked.ask(QUESTION, epsilon=1, max_rows_per_unit=4)
    assert answer.guarantee.neighbors.value == neighbors and answer.guarantee.unit.columns == ("pid",)


def days() -> Table:
    """3,000 people, each on forty of sixty days."""
    random = Random(2)
    rows = [(person, day) for person in range(3_000) for day in random.sample(range(60), 40)]
    frame = pd.DataFrame(rows, columns=["pid", "day"])
    return table(frame, unit="pid", columns={"day": column(keys=range(60))})


BY_DAY = "SELECT day, COUNT(*) AS n FROM t GROUP BY day"


def test_gaussian_noise_is_smaller_for_people_in_many_groups() -> None:
    """Forty days a person: the L2 norm is at most 7 and not 40, and the intervals little more than half as wide."""
    curator = Curator({"t": days()}, budget=Guarantee(9, 1e-5), releaser=NoisyReleaser(Seeded(3)))
    laplace = curator.ask(BY_DAY, epsilon=1, max_rows_per_unit=40)
    gaussian = curator.ask(BY_DAY, epsilon=1, delta=1e-6, noise="gaussian", max_rows_per_unit=7)
    widths = [(high - low) for answer in (laplace, gaussian) for low, high in [answer.intervals["n"][0] or (0, 0)]]
    assert widths[1] < widths[0] / 1.8
    assert gaussian.guarantee == Guarantee(1, 1e-6, unit="pid") and laplace.guarantee == Guarantee(1, unit="pid")
    assert "discrete Gaussian" in gaussian.explain() and "delta = 1e-06" in gaussian.explain()
    assert spends(curator)[1].amount.delta == 10**24


def test_with_delta_the_smaller_noise_is_chosen_from_the_text() -> None:
    """One aggregate: Laplace, and no delta is charged; twenty: Gaussian."""
    curator = Curator({"t": days()}, budget=Guarantee(9, 1e-5))
    one = curator.plan(BY_DAY, 1, Options(delta=1e-6))
    many = ", ".join(f"SUM(CASE WHEN day = {day} THEN 1 ELSE 0 END) AS d{day}" for day in range(20))
    twenty = curator.plan(f"SELECT {many} FROM t", 1, Options(delta=1e-6))
    assert one.promise.delta == 0 and twenty.promise.delta == Fraction(1, 10**6)
    assert twenty.loss.rho is not None and accounting.zcdp_epsilon(twenty.loss.rho, Fraction(1, 10**6)) <= 1


@pytest.mark.parametrize(
    ("options", "said"),
    (
        ({"noise": "gaussian"}, "needs a delta"),
        ({"noise": "normal", "delta": 1e-6}, "'laplace' or 'gaussian'"),
        ({"delta": 1}, "delta"),
        ({"epsilon": 1e-30}, "can be drawn"),
    ),
)
def test_noise_that_cannot_be_had_is_refused_before_the_charge(options: dict[str, Any], said: str) -> None:
    """The message says which option, and nothing is spent."""
    curator = Curator({"t": days()}, budget=Guarantee(9, 1e-5))
    with pytest.raises(InvalidArgument, match=said):
        curator.ask(BY_DAY, **{"epsilon": 1, **options})
    assert spends(curator) == []


@pytest.mark.parametrize(
    "question",
    (
        "SELECT COUNT(*) AS n FROM t WHERE DATE_TRUNC('day', NULL) IS NULL",
        "SELECT COUNT(*) AS n FROM t WHERE EXTRACT(YEAR FROM NULL) IS NULL",
    ),
)
def test_parts_of_no_date_are_none(question: str) -> None:
    """They reach the engine with a kind, and it does not fail."""
    assert curator().ask(question, epsilon=1).rows


@pytest.mark.parametrize(
    ("tables", "options", "said"),
    (
        (None, {}, "tables must map names to tables"),
        ({}, {}, "got none"),
        ("t", {}, "write {'people': sf.table"),
    ),
)
def test_a_curator_says_what_it_needs(tables: Any, options: dict[str, Any], said: str) -> None:
    """The house's own error, with an example."""
    with pytest.raises(InvalidArgument, match=re.escape(said)):
        Curator(tables, budget=1, **options)


def test_an_budget_may_be_a_number_and_is_shown() -> None:
    """One number is epsilon; what is left is in the curator's name."""
    asked = Curator({"t": declared()}, budget=2)
    asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.5)
    assert "epsilon 1.5 of 2" in repr(asked) and asked.remaining("analyst").epsilon == 1.5
    assert "more than is left" in str(asked.quote("SELECT COUNT(*) AS n FROM t", epsilon=1.75))
    with pytest.raises(InvalidArgument, match="confidence"):
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.5, confidense=0.9)  # type: ignore[call-arg]


def test_the_owner_is_told_of_what_a_csv_file_may_lose(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One note without a count, the same for a whole file and a broken one."""
    notes = []
    for name, rows in (("whole", "1,2\n"), ("broken", "1,2,3,4\nx\n")):
        (tmp_path / f"{name}.csv").write_text("pid,x\n" + rows)
        with caplog.at_level(logging.INFO, "sfumato.owner"):
            asked = Curator({"t": table(tmp_path / f"{name}.csv", unit="pid")}, budget=9)
            asked.ask("SELECT COUNT(x) AS n FROM t", epsilon=1)
        notes.append(caplog.text.replace(name, ""))
        caplog.clear()
    assert "left out" in notes[0] and notes[0].split(":", 1)[1] == notes[1].split(":", 1)[1]
