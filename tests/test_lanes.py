"""Lanes: every path that is listed is there, and what is quick is most of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import lanes

HERE = Path(__file__).parent


def test_every_listed_path_is_there() -> None:
    """A file that was renamed would silently change its lane."""
    assert [each for listed in lanes.PATHS.values() for each in listed if not (HERE / each).exists()] == []


@pytest.mark.parametrize(
    ("file", "fixtures", "expected"),
    [
        ("plan/test_bind.py", set(), set()),
        ("ledger/test_race.py", {"postgres"}, {"program", "soak", "engine"}),
        ("mechanisms/samplers/test_choice.py", set(), {"statistical"}),
        ("surveys/test_page.py", {"browser"}, {"browser"}),
    ],
)
def test_a_test_is_in_the_lanes_of_its_file_and_of_its_fixtures(
    file: str, fixtures: set[str], expected: set[str]
) -> None:
    """By folder, by file, and by what it asks for."""
    assert lanes.lanes_of(file, fixtures) == expected


def test_marks_are_given(request: pytest.FixtureRequest) -> None:
    """The tests of this session have them, as far as any of them is in a lane."""
    marked = lanes.count(request.session.items)
    assert marked["quick"] >= 1 and set(marked) == {"quick", *lanes.NAMES}
