"""`unit` and `neighbours`: whose privacy, and which data sets must look alike."""

from __future__ import annotations

import dataclasses

import pytest

from sfumato.privacy.neighbours import Neighbours
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


def test_neighbours_are_named_as_in_a_project_file() -> None:
    assert [Neighbours("add-remove"), Neighbours("replace")] == list(Neighbours)
