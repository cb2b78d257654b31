"""Known answers: the student table of 24, the hospital tables, who has cancer, and whose revenue is known."""

from __future__ import annotations

import datetime
import importlib.util
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InvalidArgument

ROOT = Path(__file__).resolve().parents[2]
CONDITIONS = ("AIDS", "heart disease", "viral infection", "viral infection", "cancer", "heart disease")


def test_the_student_table_grows_as_the_lecture_has_it() -> None:
    """7 of 24 by sex and age, then .625, .667 and .75."""
    spec = importlib.util.spec_from_file_location("students", ROOT / "examples" / "risk_report.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    report = sf.risk_report(example.students(), columns=example.COLUMNS)
    assert report.uniqueness("age", "sex").unique == 7 and report.of == 24
    assert [round(each.share, 3) for each in report.growth[1:]] == [0.292, 0.625, 0.667, 0.75]
    assert report.anonymity.unique == 18 and report.share == 0.75


@pytest.mark.parametrize(
    ("ages", "k"), [(("<30",) * 4 + (">40",) * 4 + ("3*",) * 4, 4), (("<35",) * 6 + (">35",) * 6, 6)]
)
def test_the_hospital_tables_have_the_k_of_the_lecture(ages: tuple[str, ...], k: int) -> None:
    """Twelve rows; in the first one everyone in the thirties has cancer, and k does not say so."""
    condition = (*CONDITIONS, "viral infection", "viral infection", *("cancer",) * 4)
    table = pa.table({"zip": ["130**"] * 12, "age": ages, "condition": condition})
    report = sf.risk_report(table, columns=["zip", "age"], sensitive="condition")
    assert (report.anonymity.k, report.anonymity.unique, report.rows) == (k, 0, 12)
    (found,) = report.diversity
    if k == 6:
        assert found.homogeneous == 0 and found.distinct == 2 and not found.examples
        return
    assert (found.homogeneous, found.members, found.several, found.distinct) == (1, 4, 4, 1)
    (group,) = found.examples
    assert (group.values, group.size, group.value) == (("130**", "3*"), 4, "cancer")


@pytest.mark.parametrize(
    ("values", "p", "is_unsafe"),
    [
        ((900, 60, 25, 15), 10, True),  # 40 others: less than 10 % of 900
        ((900, 60, 25, 15), 4, False),  # but not less than 4 %
        ((400, 350, 350), 10, False),
        ((100, 100, 10), 10, False),  # exactly p percent is not less
        ((100, 100, 9), 10, True),
        ((100,), 10, True),
        ((100, 100), 1, True),
        ((100, 100, 7), 7, False),  # 7 % of 100 is 7, whatever 7 / 100 * 100 is in floats
        ((0, 0, 0), 10, True),  # whoever reads 0 knows them all
    ],
)
def test_a_sum_is_unsafe_if_the_second_largest_knows_the_largest(
    values: tuple[float, ...], p: float, is_unsafe: bool
) -> None:
    """By hand, at both sides of the threshold."""
    table = pa.table({"r": ["x"] * len(values), "v": [float(value) for value in values]})
    found = sf.risk_report(table, columns=["r"], sums="v", by="r", p=p).dominance
    assert found is not None and (found.unsafe == 1) is is_unsafe
    assert found.threshold == 100 / (100 + p)


def test_firms_with_several_rows_contribute_their_sums() -> None:
    """Two rows of G are one contributor; as rows of their own they would hide that only two firms matter."""
    table = pa.table({"r": ["s"] * 4, "firm": ["E", "G", "G", "G"], "v": [100.0, 40.0, 30.0, 20.0]})
    by_row = sf.risk_report(table, columns=["r"], sums="v", by="r").dominance
    by_firm = sf.risk_report(table, columns=["r"], sums="v", by="r", contributor="firm").dominance
    assert by_row is not None and by_firm is not None
    assert (by_row.unsafe, by_firm.unsafe) == (0, 1)
    (cell,) = by_firm.cells
    assert (cell.contributors, cell.largest, cell.second, cell.ratio) == (2, 100.0, 90.0, 1.0)


def test_a_person_with_many_rows_is_one_person() -> None:
    """Ten rows of one person with one zip code: nobody is unique by rows, the person is by units."""
    table = pa.table({"person": [1] * 10 + [2, 3], "zip": ["a"] * 10 + ["b", "b"]})
    assert sf.risk_report(table, columns=["zip"]).anonymity.unique == 0
    report = sf.risk_report(table, columns=["zip"], unit="person")
    assert (report.anonymity.unique, report.of, report.whom) == (1, 3, "units")
    linked = sf.risk_report(table, columns=["zip"], unit="person", link=pa.table({"zip": ["a", "b"]}), on="zip").linkage
    assert linked is not None and (linked.linked, linked.candidates, linked.expected) == (1, 3, 2.0)


def test_a_person_in_two_groups_is_one_person_whose_secret_is_told() -> None:
    """Three people, two of them in both of two homogeneous groups: three are told, not five."""
    table = pa.table({"who": [1, 1, 2, 2, 3], "town": list("ababc"), "ill": ["flu"] * 4 + ["gout"]})
    report = sf.risk_report(table, columns=["town"], unit="who", sensitive="ill")
    (found,) = report.diversity
    assert (found.homogeneous, found.members, found.of, found.several) == (3, 3, 3, 2)
    assert "3 units (100 %) are in a group in which all have the same ill" in report.describe()


def test_sums_beyond_all_floats_are_refused_and_not_called_safe() -> None:
    """Two firms have all of it, and their sum is no number any more."""
    table = pa.table({"r": ["x"] * 3, "v": [1.7e308, 1.7e308, 1.0]})
    with pytest.raises(InvalidArgument, match="sums of 'v' must be finite numbers"):
        sf.risk_report(table, columns=["r"], sums="v", by="r")


def test_more_than_a_hundred_percent_is_said() -> None:
    """At p = 200 a sum is unsafe although the estimate is too high by 140 %."""
    table = pa.table({"r": ["x"] * 4, "v": [100.0, 90.0, 80.0, 60.0]})
    assert "140.0 %" in sf.risk_report(table, columns=["r"], sums="v", by="r", p=200).describe()


BIG = [2**53 + 1, 2**53, 5]
DAYS = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]


@pytest.mark.parametrize(
    ("here", "there", "linked"),
    [
        (pa.array(BIG), pa.array(BIG).cast(pa.decimal128(19, 0)), 3),  # as doubles two of them are one
        (pa.array(BIG), pa.array([2.0**53, 5.0, 5.5]), 2),
        (pa.array(["5.5", "6.0", "7"]), pa.array([6, 7, 8]), 2),  # 5.5 is not 6
        (pa.array(["2026-01-01 12:00", "2026-01-02"]), pa.array(DAYS), 1),  # a time is not its day
        (pa.array(["1.005", "1.01"]), pa.array([101, 7]).cast(pa.decimal128(19, 0)), 0),
        (pa.array(["1.005", "2.5"]), pa.array([1.01, 2.5]).cast(pa.decimal128(9, 2)), 1),
        (pa.array(["0.1", "0.2"]), pa.array([0.1, 0.3], pa.float32()), 1),
        (pa.array([0.5, 2.5]), pa.array([0.5, 2.5]).cast(pa.decimal128(9, 2)), 2),
        (pa.array([1, 2]), pa.array([1.0, 2.5]).cast(pa.decimal128(9, 2)), 1),
    ],
)
def test_values_of_different_types_are_linked_if_they_are_equal(here: pa.Array, there: pa.Array, linked: int) -> None:
    """Not if one of them would have to be rounded."""
    found = sf.risk_report(pa.table({"k": here}), columns=["k"], link=pa.table({"k": there}), on=["k"]).linkage
    assert found is not None and found.linked == linked
