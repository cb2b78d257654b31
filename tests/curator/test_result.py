"""Results computed from private values: rounding, casts, dates; all post-processing, with intervals that follow."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.curator.options import Options
from sfumato.curator.quick import ask
from sfumato.dataset.column import column, dates
from sfumato.dataset.table import table
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share

FRAME = pd.DataFrame(
    {
        "pid": range(40),
        "x": [n / 8 for n in range(40)],
        "Gender": ["w", "m", None, "d"] * 10,
        "at": [datetime.datetime(2026, 1, 1, 10) + datetime.timedelta(days=n) for n in range(40)],
        "age": [n * 2 for n in range(40)],
    }
)
COLUMNS = {
    "x": column(bounds=(0, 5)),
    "Gender": column(keys=["w", "m", "d"]),
    "at": column(type="date", keys=dates("2026-01-01", "2026-02-28")),
    "age": column(bounds=(0, 100)),
}


class Silent:
    """Adds no noise."""

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        return list(exact)


def rows(question: str, **options: object) -> list[dict[str, object]]:
    people = table(FRAME, unit="pid", max_rows_per_unit=1, columns=COLUMNS)
    return Curator({"t": people}, budget=Guarantee(10), releaser=Silent()).ask(question, epsilon=1, **options).rows


def test_results_are_rounded_to_decimals_and_to_tens() -> None:
    """ROUND with a constant, and casts of results to numbers."""
    question = (
        "SELECT ROUND(SUM(x), 1) AS tenth, ROUND(SUM(x), -2) AS hundreds, CAST(SUM(x) AS INTEGER) AS whole, "
        "CAST(COUNT(*) AS DOUBLE) AS n FROM t"
    )
    assert rows(question) == [{"tenth": 97.5, "hundreds": 100.0, "whole": 98.0, "n": 40.0}]


def test_rows_without_a_value_have_a_key_where_the_question_gives_them_one() -> None:
    """COALESCE loses nobody."""
    found = rows("SELECT COALESCE(gender, 'keine Angabe') AS Gender, COUNT(*) AS n FROM t GROUP BY 1")
    assert found == [{"Gender": key, "n": 10} for key in ("w", "m", "d", "keine Angabe")]


def test_bands_come_in_the_order_of_their_case() -> None:
    """And all rows are in one of them."""
    bands = "CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END"
    found = rows(f"SELECT {bands} AS band, COUNT(*) AS n FROM t GROUP BY band")
    assert found == [{"band": "child", "n": 9}, {"band": "adult", "n": 24}, {"band": "old", "n": 7}]


def test_a_time_is_read_as_its_day_and_counted_by_month() -> None:
    """All forty, also those at ten o'clock."""
    found = rows(
        "SELECT DATE_TRUNC('month', at) AS Monat, COUNT(*) AS n FROM t WHERE at >= '2026-01-02' GROUP BY monat"
    )
    assert found == [{"Monat": datetime.date(2026, 1, 1), "n": 30}, {"Monat": datetime.date(2026, 2, 1), "n": 9}]


def test_shares_are_given_by_the_names_that_are_shown() -> None:
    """Also where they are spelled with capitals."""
    assert rows("SELECT gender, COUNT(*) AS Zahl FROM t GROUP BY gender", shares={"Zahl": 2})[0] == {
        "Gender": "w", "Zahl": 10,
    }  # fmt: skip


def test_one_line_asks_a_frame_by_its_name() -> None:
    """A frame without a name, or an argument that is missing, is refused with what to write."""
    answer = ask("SELECT COUNT(*) AS n FROM t", data={"t": FRAME}, unit="pid", max_rows_per_unit=1, epsilon=1)
    assert answer.receipt.notes == ()
    with pytest.raises(InvalidArgument, match=r"got a DataFrame; write data=\{'people': frame\}"):
        ask("SELECT COUNT(*) AS n FROM t", data=FRAME, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="epsilon must be given"):
        ask("SELECT COUNT(*) AS n FROM t", data={"t": FRAME})  # type: ignore[call-arg]


def test_a_case_that_noise_decides_has_an_interval_over_all_its_branches() -> None:
    """Whether a count is above a hundred is as uncertain as the count."""
    frame = pd.DataFrame({"x": range(100)})
    curator = Curator({"t": table(frame)}, budget=Guarantee(99))
    for _ in range(5):
        answer = curator.ask("SELECT CASE WHEN COUNT(*) > 100 THEN 1 ELSE 0 END AS m FROM t", epsilon=1)
        assert answer.intervals["m"] == [(0.0, 1.0)]
        curator.ledger.renew("everyone", "a new draw")


def test_what_is_shown_because_it_is_large_has_an_interval_that_holds_for_all() -> None:
    """HAVING and ORDER BY with LIMIT choose by noise: their intervals are simultaneous, and wider."""
    frame = pd.DataFrame({"k": [n % 200 for n in range(4_000)]})
    curator = Curator({"t": table(frame, columns={"k": column(keys=range(200))})}, budget=Guarantee(99))
    plain = curator.plan("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k LIMIT 3", 1, Options())
    largest = curator.plan("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 1", 1, Options())
    having = curator.plan("SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING COUNT(*) > 24", 1, Options())
    assert (plain.simultaneous, largest.simultaneous, having.simultaneous) == (False, True, True)
