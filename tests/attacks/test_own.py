"""Tables of one's own: each attack on one, and whatever may be wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from attacks.judging import exceeds
from sfumato.attacks import Outcome
from sfumato.attacks import user_table as own
from sfumato.attacks.linkage import _Case, _rounds, _secrets
from sfumato.attacks.reconstruction import _own_bits
from sfumato.attacks.settings import Settings
from sfumato.attacks.simulation import Chance
from sfumato.errors import InvalidArgument, SfumatoError, SourceNotFound, TakesLong, UnknownName

OWN = {
    "differencing": lambda file: sf.attacks.differencing(
        data=file, column="Income", name="name", target="p7", bounds=(0, 100_000), trials=10
    ),
    "averaging": lambda file: sf.attacks.averaging(100, data=file, column="town", epsilon=1),
    "reconstruction": lambda file: sf.attacks.reconstruction(questions=50, data=file, column="ill", value="yes"),
    "linkage": lambda file: sf.attacks.linkage(trials=15, data=file, columns=["town", "born"], secret="ill"),
    "membership": lambda file: sf.attacks.membership(data=file, columns=["name", "town", "born", "ill"]),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty rows in twenty towns; nobody shares both town and year of birth."""
    file = tmp_path_factory.mktemp("own") / "people.csv"
    rows = [f"p{i},t{i % 20},{1940 + i // 20 * 7 + i % 5},{900 * i},{('yes', 'no')[i * i % 7 < 4]}" for i in range(30)]
    file.write_text("\n".join(["name,town,born,income,ill", *rows]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", OWN)
def test_an_attack_runs_on_a_table_of_ones_own(people: Path, name: str) -> None:
    """The raw table gives its people away, the curator does not; names are found whatever their case."""
    outcome: Outcome = OWN[name](people)
    assert outcome.raw.success >= 0.9 and not exceeds(outcome)
    assert outcome.guessing <= outcome.bound < 1


def test_a_target_has_its_own_value(people: Path) -> None:
    """900 times 7, as the file has it."""
    outcome = sf.attacks.differencing(data=people, column="income", name="name", target="p7", bounds=(0, 1e5), trials=1)
    assert outcome.seen[2][:2] == ("the difference", "6,300")


def test_frames_and_parquet_are_read_as_well(people: Path, tmp_path: Path) -> None:
    """With the types that they have."""
    frame = pd.read_csv(people)
    frame.to_parquet(tmp_path / "people.parquet")
    for data in (frame, tmp_path / "people.parquet"):
        assert sf.attacks.linkage(trials=2, data=data, columns=["town", "born"], secret="ill").raw.hits == 2


def test_two_tables_of_ones_own_are_intersected(tmp_path: Path) -> None:
    """One more person is in both; conditions that only one of the groups has are ruled out."""
    (tmp_path / "a.csv").write_text("age,condition\n<30,flu\n<30,asthma\n>30,cancer\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("years,condition\nyoung,cancer\nyoung,gout\nold,flu\n", encoding="utf-8")
    outcome = sf.attacks.intersection(
        trials=25, data=tmp_path / "a.csv", other=tmp_path / "b.csv", secret="condition",
        group={"age": "<30"}, other_group={"years": "young"},
    )  # fmt: skip
    assert outcome.raw.hits == 25 and not exceeds(outcome) and exceeds(outcome, outcome.raw)


def test_an_outside_list_gives_rows_their_names(people: Path, tmp_path: Path) -> None:
    """Those of the list are tried who are alone in both; nobody else has a row to be found."""
    listed = "who,town,born\nAda,t3,1943\nBea,t4,1944\nCid,t5,1900\nDov,t6,1941\nEve,t6,1941\n"
    outside = small(tmp_path, listed, "voters.csv")
    asked = {"data": people, "columns": ["town", "born"], "secret": "ill", "outside": outside, "trials": 8}
    outcome = sf.attacks.linkage(**asked, name="who")
    assert outcome.raw.hits == 8 and outcome.seen[0][1] == "2 of 5"
    assert {what.split(",")[0] for what, *_ in outcome.seen[3:]} <= {"rows like that of Ada", "rows like that of Bea"}
    with pytest.raises(InvalidArgument, match=r"name must name a column of voters\.csv; got none"):
        sf.attacks.linkage(**asked)
    with pytest.raises(InvalidArgument, match=r"must be alone by town, born in people\.csv; nobody is"):
        sf.attacks.linkage(**{**asked, "outside": small(tmp_path, "who,town,born\nCid,t5,1900\n")}, name="who")


def test_what_groups_have_in_common_is_no_breach_of_the_promise() -> None:
    """Where zip codes say all about illnesses a curator may tell so, and is not blamed: secrets are drawn anew.

    Of 600 rows in two groups; with their own secrets every guess was right, far above the bound. False alarm 1e-6.
    """
    frame = pd.DataFrame({"zip": ["A", "B"] * 300, "ill": ["yes", "no"] * 300})
    outcome = sf.attacks.linkage(data=frame, columns=["zip"], secret="ill", trials=45)
    assert outcome.bound == pytest.approx(1 / (1 + math.exp(-1))) and not exceeds(outcome)


def test_no_two_guesses_are_about_a_same_row() -> None:
    """Each round draws secrets anew and asks about each group once, so that guesses are independent."""
    columns = {"zip": ["A", "B", "B", "C"], "ill": ["yes", "no", "no", "no"]}
    case = _Case(columns, ("zip",), "ill", (0.25, 0.75), ("yes", "no"), (0, 1, 2, 3), ("a", "b", "c", "d"), 4)
    rounds = _rounds(case, 8, Chance(1, "rounds"))
    assert [len(each) for each in rounds] == [3, 3, 2]
    assert all(len({columns["zip"][place] for place in each}) == len(each) for each in rounds)
    drawn = [tuple(_secrets(case, Chance(1, turn))) for turn in range(2_000)]
    assert len(set(drawn)) == 16 and np.mean([each[0] == "yes" for each in drawn]) == pytest.approx(0.25, abs=0.04)


def test_secrets_to_be_reconstructed_do_not_follow_from_each_other() -> None:
    """People are drawn from the rows: of one yes and one no each could be told from the other; the seed decides."""
    frame = pd.DataFrame({"ill": ["yes", "no"]})
    sums = {int(_own_bits(frame, "ill", "yes", Settings(seed=seed))[0].sum()) for seed in range(20)}
    assert sums == {0, 1, 2}


def small(folder: Path, text: str, name: str = "small.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def link(data: object, columns: object = (), secret: str | None = None) -> Outcome:
    return sf.attacks.linkage(data=data, columns=columns, secret=secret)  # type: ignore[arg-type]


def subtract(data: object, column: str, name: str, bounds: tuple[int, int] | None = (0, 1)) -> Outcome:
    return sf.attacks.differencing(data=data, column=column, name=name, bounds=bounds)


def meet(data: object, **groups: dict[str, str]) -> Outcome:
    return sf.attacks.intersection(data=data, other=data, secret="ill", **groups)


NOBODY = {"group": {"town": "x"}, "other_group": {"town": "x"}}
WRONG: tuple[tuple[Callable[[Path, Path], Any], type[SfumatoError], str], ...] = (
    (lambda p, f: link(p, "twn", "ill"), UnknownName, "'twn'; did you mean 'town'"),
    (lambda p, f: link(p, ["town"], "sick"), UnknownName, "unknown column 'sick'"),
    (lambda p, f: link(p, ["town"]), InvalidArgument, "secret must name a column"),
    (lambda p, f: link(p, secret="ill"), InvalidArgument, "columns must name what others know"),
    (lambda p, f: link(p, "ill", "ill"), InvalidArgument, "must not be among"),
    (lambda p, f: link(small(f, "a,b\n1,2\n"), "a", "b"), InvalidArgument, "at least 2 rows for this attack; got 1"),
    (lambda p, f: link(small(f, "a,b\n1,2\n3,2\n"), "a", "b"), InvalidArgument, "'b' must have different values"),
    (lambda p, f: sf.attacks.averaging(data=p), InvalidArgument, "column must name a column of people.csv; got none"),
    (lambda p, f: sf.attacks.averaging(data=p, column="x"), UnknownName, "unknown column 'x'"),
    (lambda p, f: sf.attacks.averaging(data=small(f, "a\n"), column="a"), InvalidArgument, "at least 2 rows.*got 0"),
    (lambda p, f: sf.attacks.reconstruction(data=p, column="town"), InvalidArgument, "value must be given"),
    (lambda p, f: sf.attacks.reconstruction(data=p, column="ill", value="no way"), InvalidArgument, "got 'no way'"),
    (lambda p, f: subtract(p, "income", "name", None), InvalidArgument, "bounds must be declared for column 'income'"),
    (lambda p, f: subtract(p, "ill", "name"), InvalidArgument, "must be numbers, none missing"),
    (lambda p, f: subtract(p, "income", "town"), InvalidArgument, "must have one row of people.csv; got 2"),
    (lambda p, f: sf.attacks.differencing("count", data=p), InvalidArgument, "kind must be sum or mean"),
    (lambda p, f: sf.attacks.differencing("product"), InvalidArgument, "kind must be one of sum, mean, count, refusal"),
    (lambda p, f: sf.attacks.intersection(data=p), InvalidArgument, "two tables must be given; got one"),
    (lambda p, f: meet(p), InvalidArgument, "group must say in which group of people.csv"),
    (lambda p, f: meet(p, **NOBODY), InvalidArgument, "nobody there has town 'x'"),
    (lambda p, f: sf.attacks.membership(data=small(f, "a,b\n1,2\n")), InvalidArgument, "at least 10 rows.*got 1"),
    (lambda p, f: sf.attacks.membership(data=small(f, "0", "x.parquet")), InvalidArgument, "a table that can be read"),
    (lambda p, f: sf.attacks.membership(data=small(f, "\0\1\n")), InvalidArgument, "names must be plain texts"),
    (lambda p, f: sf.attacks.membership(data=small(f, "ode", "ode.txt")), InvalidArgument, "end in .parquet or .csv"),
    (lambda p, f: sf.attacks.membership(data=f / "none.csv"), SourceNotFound, "found none"),
    (lambda p, f: sf.attacks.membership(data=[1, 2]), InvalidArgument, "must be a path, a glob, an address or a frame"),
    (lambda p, f: sf.attacks.reconstruction(method="magic"), InvalidArgument, "least-squares or linear-program"),
    (lambda p, f: sf.attacks.reconstruction(noises=[("pink", 2)]), InvalidArgument, "uniform, gaussian or laplace"),
    (lambda p, f: sf.attacks.reconstruction(1), InvalidArgument, "at least 2; got 1"),
    (lambda p, f: sf.attacks.reconstruction(20_000, 10), InvalidArgument, "between 2 and 10,000; got 20,000"),
    (lambda p, f: sf.attacks.reconstruction(10_000, 10_000), InvalidArgument, "at most 50,000,000"),
    (lambda p, f: sf.attacks.differencing(people=10**9), InvalidArgument, "people must be at most 1,000,000"),
    (lambda p, f: sf.attacks.linkage(10**9), InvalidArgument, "patients must be at most 1,000,000"),
    (lambda p, f: sf.attacks.averaging(villages=10**9), InvalidArgument, "villages must be at most 50,000"),
    (lambda p, f: sf.attacks.membership(10**6, 10**6), InvalidArgument, "people times traits must be at most"),
    (lambda p, f: sf.attacks.averaging(10, villages=2, epsilon=0), InvalidArgument, "epsilon must be positive"),
    (lambda p, f: sf.attacks.reconstruction(5, 10, epsilon=1e-9), InvalidArgument, "1e-08 or more for 10 questions"),
    (lambda p, f: sf.attacks.averaging(10, villages=2, confidence=1), InvalidArgument, "confidence must be above 0"),
    (lambda p, f: sf.attacks.averaging(10, villages=2, eps=1), UnknownName, "unknown option 'eps'"),
    (lambda p, f: sf.attacks.reconstruction(1_000, 20_000), TakesLong, "would take about"),
    (lambda p, f: sf.attacks.averaging(10**6), TakesLong, "at most 10 minutes; this one would take about 15.3 hours"),
    (lambda p, f: sf.attacks.linkage(trials=10**6), TakesLong, "hours; take less of it"),
    (lambda p, f: sf.attacks.differencing(trials=10**6), TakesLong, "hours; take less of it"),
    (lambda p, f: sf.attacks.intersection(trials=10**6), TakesLong, "hours; take less of it"),
)


@pytest.mark.parametrize(("attack", "kind", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_a_slip_is_told_before_anything_runs(
    people: Path, tmp_path: Path, attack: Callable[[Path, Path], Any], kind: type[SfumatoError], said: str
) -> None:
    """What was expected, what came, what helps."""
    with pytest.raises(kind, match=said) as refused:
        attack(people, tmp_path)
    assert str(refused.value).count(";") >= 1


def test_a_table_too_large_for_the_memory_is_refused(tmp_path: Path) -> None:
    """Before its rows are read one by one."""
    with (
        patch.object(own, "MOST_ROWS", 3),
        pytest.raises(InvalidArgument, match="at most 3 rows for an attack; got 4"),
    ):
        sf.attacks.averaging(data=small(tmp_path, "a\n1\n2\n3\n4\n"), column="a")


def test_patience_allows_what_takes_long() -> None:
    """A limit below the estimate refuses, one above it runs."""
    with pytest.raises(TakesLong):
        sf.attacks.linkage(20, trials=2, patience=0.01)
    assert sf.attacks.linkage(20, trials=2, patience=1).raw.hits == 2
