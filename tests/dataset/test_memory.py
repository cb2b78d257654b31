"""`memory`: frames that share memory are known for one another, and copies are not."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.dataset.sources.frame import Frame
from sfumato.dataset.sources.memory import Memory, regions_of

ROWS = 200


def in_pandas() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "person": np.arange(ROWS) // 4,
            "visit": np.arange(ROWS) + 0.5,
            "word": ["some", "words"] * (ROWS // 2),
            "zone": pd.Categorical(["a", "b"] * (ROWS // 2)),
            "at": pd.to_datetime(["2026-01-01"] * ROWS).tz_localize("UTC"),
            "maybe": pd.array([1, None] * (ROWS // 2), dtype="Int64"),
            "thing": pd.Series(["x", 1] * (ROWS // 2), dtype=object),
        }
    )


def in_polars() -> pl.DataFrame:
    return pl.DataFrame(
        {"person": list(range(ROWS)), "word": ["a longer word than twelve"] * ROWS, "is": [True, False] * (ROWS // 2)}
    ).with_columns(zone=pl.Series(["a", "b"] * (ROWS // 2), dtype=pl.Categorical))


def in_arrow() -> pa.Table:
    words = pa.array(["some", "words"] * (ROWS // 2))
    return pa.table({"person": pa.array(range(ROWS)), "word": words, "zone": words.dictionary_encode()})


def shared(one: Any, other: Any) -> bool:
    """Whether the second is known for the first, once that was declared."""
    first = Frame(one)
    known = first.identity
    return bool(Frame(other).identity & known)


PANDAS = ("person", "visit", "word", "zone", "at", "maybe", "thing")


@pytest.mark.parametrize("column", PANDAS)
def test_a_view_of_any_column_of_pandas_is_seen(column: str) -> None:
    """Slices, other names, some columns, more columns beside."""
    frame = in_pandas()
    views: tuple[Callable[[pd.DataFrame], pd.DataFrame], ...] = (
        lambda f: f,
        lambda f: f[:],
        lambda f: f.iloc[50:60],
        lambda f: f[[column]],
        lambda f: f[[column]].rename(columns={column: "other"}),
        lambda f: f[[column]].assign(more=1),
        lambda f: f.copy(deep=False),
    )
    assert all(shared(frame, view(frame[[column]])) for view in views)
    assert shared(frame, frame[::-1])  # of texts in Arrow pandas makes a copy then, of other columns not


@pytest.mark.parametrize("make", (in_polars, in_arrow))
def test_a_view_of_any_column_of_polars_and_arrow_is_seen(make: Callable[[], Any]) -> None:
    """Also in the other library, where it is handed over without a copy."""
    frame = make()
    names = list(frame.columns) if isinstance(frame, pl.DataFrame) else frame.column_names
    for name in names:
        one = frame.select([name])
        assert shared(frame, one) and shared(frame, one.slice(50, 10)), name
        renamed = one.rename({name: "other"}) if isinstance(one, pl.DataFrame) else one.rename_columns(["other"])
        assert shared(frame, renamed), name
    assert shared(frame, frame.to_arrow() if isinstance(frame, pl.DataFrame) else pl.from_arrow(frame))


def test_a_view_is_seen_before_and_after_the_frame_that_it_looks_at() -> None:
    """Also where a frame in the middle is all that two have in common."""
    frame = in_pandas()[["person", "visit"]]
    left, right = frame[["person"]], frame[["visit"]]
    assert not shared(left, right)  # other columns, other memory: nothing tells that their rows are the same people's
    assert len(Frame(frame).identity) == 3
    assert Frame(right).identity & Frame(frame).identity


def test_frames_with_memory_of_their_own_are_others() -> None:
    """The same values are no sign: nothing is read."""
    assert not shared(in_pandas(), in_pandas())
    assert not shared(in_arrow(), in_arrow())
    assert not shared(in_polars(), in_polars())
    numbers = in_pandas()[["person", "visit"]]
    assert not shared(numbers, numbers.copy())
    empty = in_arrow().slice(0, 0)
    assert not shared(empty, pa.table({"person": pa.array([], pa.int64())}))


def test_parts_of_a_frame_without_a_row_in_common_are_others() -> None:
    """January and February are not the same rows, whoever made them of one frame."""
    frame, arrow = in_pandas(), in_arrow()
    assert not shared(frame.iloc[:100][["person"]], frame.iloc[100:][["person"]])
    assert not shared(arrow.select(["person", "word"]).slice(0, 96), arrow.select(["person", "word"]).slice(96))


def test_columns_have_the_names_that_they_had_first() -> None:
    """So that another column cannot take the place of the unit's by its name."""
    frame = in_pandas()
    own = Frame(frame).anchor
    swapped = Frame(frame.rename(columns={"person": "visit", "visit": "person"}))
    assert swapped.columns_by_source()[own]["person"] == "visit"
    assert swapped.columns_by_source()[own]["visit"] == "person"
    assert swapped.columns_by_source()[swapped.anchor]["person"] == "person"
    frame.columns = ["visit", "person", *frame.columns[2:]]  # in place
    assert Frame(frame).anchor == own and Frame(frame).columns_by_source()[own]["person"] == "visit"


def test_columns_that_lie_side_by_side_in_one_array_are_told_apart() -> None:
    """Rows of a matrix: their bytes are between one another's."""
    matrix = np.arange(3 * ROWS).reshape(ROWS, 3)
    frame, other = pd.DataFrame(matrix, columns=["a", "b", "c"], copy=False), pd.DataFrame(matrix[:, 1:], copy=False)
    assert shared(frame, other)
    other.columns = ["a", "b"]
    assert Frame(other).columns_by_source()[Frame(frame).anchor] == {"a": "b", "b": "c"}


def test_a_view_is_seen_after_the_frame_itself_is_gone() -> None:
    """As in a notebook, where a name is used again: `frame = frame.rename(...)`."""
    frame = in_pandas()[["person"]]
    known = Frame(frame).identity
    frame = frame.rename(columns=str.upper)
    gc.collect()
    assert Frame(frame).identity & known


def test_memory_that_was_given_back_belongs_to_nobody() -> None:
    """A column that is replaced in place, and one that is gone with its frame: another frame may get their memory."""
    memory, frame = Memory(), in_pandas()[["word"]]
    (token,) = memory.columns(frame, "pandas")
    view = frame[["word"]]
    frame["word"] = ["other", "words"] * (ROWS // 2)
    assert list(memory.columns(view, "pandas"))[1:] == []  # the view has the old memory, and the frame has not
    assert list(memory.columns(frame, "pandas")) == [token]
    for _ in range(40):
        one = in_pandas()[["person"]]
        assert len(memory.columns(one, "pandas")) == 1
    del one, frame, view
    gc.collect()
    memory.columns(in_pandas(), "pandas")
    assert len(memory._regions) < 100


def test_a_column_that_polars_cannot_hand_out_is_declared_all_the_same() -> None:
    """Of whole numbers of 128 bits, which decimals are inside, nothing is known of their memory."""
    frame = pl.DataFrame({"p": [1, 2], "x": pl.Series([1, 2]).cast(pl.Decimal(10, 2))})
    assert regions_of(frame, "polars")["x"] == []
    assert len(Memory().columns(frame, "polars")) == 1
