"""How many public rows match one private row is counted beforehand: never too few, whatever a private row holds.

Were it too few, a question could grow beyond what was admitted, and how far would depend on somebody's rows.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from sfumato.dataset.public_table import public
from sfumato.dataset.table import table
from sfumato.engines.duckdb._matches import most_matches
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import price
from sfumato.plan.relations.relation import Looked
from sfumato.plan.relations.rows import Catalog
from sfumato.plan.syntax.parse import parse

NUMBERS = (None, -0.0, 0.0, 1.0, 1.5, 2.0, 5e-324, math.inf, -math.inf, math.nan, 2.0**53, 2.0**53 + 2, 1e300)
WHOLE = (None, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**53 + 2, -(2**63), 2**63 - 1)
TEXTS = (None, "", "a", "A", "ä", "a ", "b")
DAYS = (None, *(datetime.date(2026, 1, day) for day in (1, 2, 2, 3)), datetime.date(1, 1, 1))
TIMES = (None, datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2, 12), datetime.datetime(2026, 1, 3))
CONDITIONS = (
    "t.x = p.a", "t.k = p.a", "t.x = p.i", "t.k = p.i", "t.r = p.s", "t.d = p.e", "t.x = p.a AND t.r = p.s",
    "t.x >= p.a AND t.x < p.b", "t.x > p.a AND t.x <= p.b", "t.x > p.a AND t.x < p.b", "t.x BETWEEN p.a AND p.b",
    "p.a <= t.x AND p.b >= t.x", "t.k BETWEEN p.i AND p.j", "t.x >= p.i AND t.x < p.j", "t.k >= p.a AND t.k < p.b",
    "t.k > p.i AND t.k < p.j", "t.k >= p.i AND t.k < p.b", "t.r = p.s AND t.x BETWEEN p.a AND p.b",
    "t.d >= p.e AND t.d < p.f", "t.c BETWEEN p.e AND p.f", "t.d BETWEEN p.e AND p.g", "t.r >= p.s AND t.r < p.v",
    "t.x + t.k >= p.a AND t.x + t.k < p.b", "t.x = p.a + p.b", "t.x >= p.a - 1 AND t.x < p.b * 2", "t.x >= p.a",
    "t.x = p.a / p.b", "t.x >= p.a AND t.k < p.b", "t.x = p.a OR t.k = p.i", "p.i = 1", "p.i >= 1 AND p.j < 3",
    "t.x >= p.a AND t.x < p.b AND t.x >= p.i", "NOT (t.x < p.a) AND t.x < p.b", "t.x = COALESCE(p.a, p.b)",
    "CASE WHEN p.a > 1 THEN p.a ELSE 0 END = t.x", "t.x = p.a AND p.b > 0", "t.k = p.i AND t.k = p.j",
    "EXTRACT(DAY FROM t.d) = p.i", "t.x <= p.a AND t.x > p.b", "-t.x > p.a AND -t.x < p.b",
)  # fmt: skip


def _near(value: float) -> tuple[float, ...]:
    return value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf), -value, value + 0.5


def candidates() -> pa.Table:
    """Private rows with every value at which something begins or ends, and values next to these and between them."""
    numbers = sorted(
        {near for value in NUMBERS if value is not None and not math.isnan(value) for near in _near(value)}
    )
    whole = sorted({near for value in WHOLE if value is not None for near in (value - 1, value, value + 1)})
    whole = [value for value in whole if -(2**63) <= value < 2**63]
    texts, times = [*TEXTS, "aa", "~"], [*TIMES, datetime.datetime(2026, 1, 2, 0, 0, 1)]
    days = [*DAYS, datetime.date(2026, 1, 4), datetime.date(9999, 12, 31)]
    rows: list[tuple[object, ...]] = []
    for x, k in itertools.product([None, math.nan, -0.0, *numbers], (None, 0, 1, 2)):
        rows.append((x, k, texts[len(rows) % len(texts)], days[len(rows) % len(days)], times[len(rows) % len(times)]))
    for k, r in itertools.product([None, *whole], texts):
        rows.append((NUMBERS[len(rows) % len(NUMBERS)], k, r, days[len(rows) % 3], times[len(rows) % 2]))
    for r, d, c in itertools.product(texts, days, times):
        rows.append((1.0, 1, r, d, c))
    x, k, r, d, c = zip(*rows, strict=True)
    return pa.table(
        {
            "u": pa.array(range(len(rows)), pa.int64()), "x": pa.array(x, pa.float64()), "k": pa.array(k, pa.int64()),
            "r": pa.array(r, pa.string()), "d": pa.array(d, pa.date32()), "c": pa.array(c, pa.timestamp("us")),
        }
    )  # fmt: skip


PRIVATE = table(candidates(), unit="u")


def random_public(random: Random) -> pa.Table:
    """Keys and ends of ranges: equal, turned round, missing, or none of them numbers."""
    size = random.choice((1, 4, 9))

    def some(values: tuple[object, ...], type: pa.DataType) -> pa.Array:
        few = random.sample(values, random.randint(1, len(values)))
        return pa.array([random.choice(few) for _ in range(size)], type)

    return pa.table(
        {
            "a": some(NUMBERS, pa.float64()), "b": some(NUMBERS, pa.float64()), "i": some(WHOLE, pa.int64()),
            "j": some(WHOLE, pa.int64()), "s": some(TEXTS, pa.string()), "v": some(TEXTS, pa.string()),
            "e": some(DAYS, pa.date32()), "f": some(DAYS, pa.date32()), "g": some(TIMES, pa.timestamp("us")),
        }
    )  # fmt: skip


def counted(rows: pa.Table, condition: str) -> tuple[int, int]:
    """The number that is counted beforehand, and the most rows that a candidate really matches."""
    known = Catalog({"t": PRIVATE}, {"p": public(rows, most_matches=10_000)}, most_matches)
    plan = price(bind(parse(f"SELECT COUNT(*) AS n FROM t JOIN p ON {condition}"), known), epsilon=1)
    assert isinstance(plan.bound.table.how, Looked)
    with DuckdbEngine().run(plan) as run:
        found = Counter(row[0] for row in run.fetch(f"SELECT * FROM {run.counted}"))
    return plan.bound.table.how.matches, max(found.values(), default=0)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_private_row_matches_more_than_was_counted(condition: str) -> None:
    """For random public tables and every private value at which something could change."""
    random = Random(condition)
    for _ in range(5):
        rows = random_public(random)
        said, most = counted(rows, condition)
        assert most <= said, rows.to_pylist()


@pytest.mark.parametrize("condition", ("t.x = p.a", "t.k = p.i", "t.r = p.s", "t.x >= p.a AND t.x < p.b"))
def test_the_count_is_tight_where_keys_and_ranges_say_all(condition: str) -> None:
    """Not one more than some private row does match."""
    random = Random(condition)
    for _ in range(5):
        said, most = counted(random_public(random), condition)
        assert said == most


def test_bins_side_by_side_match_once() -> None:
    """Half-open bins whose ends meet: one, in whichever way they are open, and two where both ends are closed."""
    ends = [-math.inf, 0.0, 1.0, 2.0, 2.5, math.inf]
    rows = pa.table({"a": ends[:-1], "b": ends[1:]})
    assert counted(rows, "t.x >= p.a AND t.x < p.b") == (1, 1)
    assert counted(rows, "t.x > p.a AND t.x <= p.b") == (1, 1)
    assert counted(rows, "t.x BETWEEN p.a AND p.b") == (2, 2)


def test_whole_numbers_that_are_one_double_are_one_key() -> None:
    """2**53 and 2**53 + 1 are different keys of a whole number, and the same of a double."""
    rows = pa.table({"i": pa.array([2**53, 2**53 + 1], pa.int64())})
    assert counted(rows, "t.k = p.i") == (1, 1)
    assert counted(rows, "t.x = p.i") == (2, 2)


def test_zero_with_either_sign_is_one_key() -> None:
    """0.0 and -0.0 are equal, so both match, as keys and as ends."""
    rows = pa.table({"a": [0.0, -0.0], "b": [-0.0, 0.0]})
    assert counted(rows, "t.x = p.a") == (2, 2)
    assert counted(rows, "t.x BETWEEN p.a AND p.b") == (2, 2)
    assert counted(rows, "t.x >= p.a AND t.x < p.b") == (0, 0)
