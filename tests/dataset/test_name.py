"""`name`: matching whatever the case, advice, and no two alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument, UnknownName
from sfumato.suggestions import at, distinct, find, nearest

words = st.text("abcXYZ_", min_size=1, max_size=6)


@given(st.lists(words, min_size=1, unique_by=str.lower), st.data())
def test_distinct_names_are_found_whatever_their_case(names: list[str], data: st.DataObject) -> None:
    """And come back as they are spelled."""
    assert distinct(names, where="here") == tuple(names)
    chosen = data.draw(st.sampled_from(names))
    assert find(chosen.swapcase(), names, what="column", where="here") == chosen


@given(words)
def test_two_names_equal_but_for_case_are_refused(name: str) -> None:
    """Or a question could mean either."""
    with pytest.raises(InvalidArgument, match="upper and lower case"):
        distinct([name, name.swapcase()], where="here")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0", 3, None, ("a", "b")])
def test_a_name_is_a_plain_text(name: str) -> None:
    """It is shown in messages and written into SQL."""
    with pytest.raises(InvalidArgument, match="plain texts"):
        distinct([name], where="here")


def test_an_unknown_name_is_refused_with_the_nearest_or_with_some() -> None:
    """Never with all of a thousand."""
    with pytest.raises(UnknownName, match="here: unknown column 'regoin'; did you mean 'Region'"):
        find("regoin", ["Region", "income"], what="column", where="here")
    assert nearest("zzz", [f"c{i}" for i in range(1000)]).endswith("c9, ...")


def test_a_place_keeps_the_class_of_the_refusal() -> None:
    """Callers catch by class."""
    with pytest.raises(UnknownName, match="tables: people: no"), at("tables"), at("people"):
        raise UnknownName("no")
