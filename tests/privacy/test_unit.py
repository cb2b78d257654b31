"""`unit` and `neighbors`: whose privacy, and which data sets must look alike."""

from __future__ import annotations

import dataclasses

import pytest

from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((), "one row"),
        (("person_id",), "all rows of one person_id"),
        (("person_id", "day"), "all rows of one (person_id, day)"),
    ],
)
def test_a_unit_says_in_words_whose_privacy_is_protected(columns: tuple[str, ...], words: str) -> None:
    assert str(Unit(columns)) == words


def test_units_of_the_same_columns_are_the_same_unit() -> None:
    assert Unit(("person_id",)) == Unit(("person_id",))
    assert len({Unit(("person_id",)), Unit(("person_id",)), Unit()}) == 2


def test_a_unit_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Unit().columns = ("person_id",)  # type: ignore[misc]


def test_neighbors_are_named_as_in_a_project_file() -> None:
    assert [Neighbors("add-remove"), Neighbors("replace")] == list(Neighbors)


def test_a_relation_is_read_by_itself_or_by_its_name() -> None:
    assert [Neighbors.read("add-remove"), Neighbors.read(Neighbors.REPLACE)] == list(Neighbors)
    for nonsense in ("swap", "Replace", None, 1, ["replace"]):
        with pytest.raises(InvalidArgument, match="neighbors must be 'add-remove' or 'replace'; got"):
            Neighbors.read(nonsense)  # type: ignore[arg-type]


def test_a_single_name_is_a_unit_of_one_column() -> None:
    assert Unit("person_id") == Unit(("person_id",)) == Unit(["person_id"]) == Unit.read("person_id")  # type: ignore[arg-type]
    assert Unit.read(Unit()) == Unit.read(()) == Unit()
    assert Guarantee(1, unit="person").unit == Unit(("person",))
    assert "all rows of one person:" in Guarantee(1, unit="person").describe()


@pytest.mark.parametrize("columns", [3, (3,), ("person_id", None), "", ("",), None])
def test_what_names_no_column_is_refused(columns: object) -> None:
    with pytest.raises(InvalidArgument, match="columns must be names of columns; got"):
        Unit(columns)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="columns must be names of columns; got"):
        Guarantee(1, unit=columns)  # type: ignore[arg-type]
