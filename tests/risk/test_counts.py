"""Every count is exact: equal to plain Python's on small tables of all kinds of values."""

from __future__ import annotations

import datetime
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from risk import brute
from sfumato.risk.counting import equal_keys as same
from sfumato.risk.counting.codes import Coded
from sfumato.risk.counting.search import search, together

COLUMNS = ("a", "b", "c", "d")
TEXTS = st.sampled_from(["", " ", "x", "X", "é", "'", '"', "x;y", None])
NUMBERS = st.sampled_from([0.0, -0.0, 1.5, float("inf"), -1e300, None])
DAYS = st.sampled_from([datetime.date(1, 1, 1), datetime.date(2026, 2, 28), datetime.date(9999, 12, 31), None])
WHOLE = st.sampled_from([-(2**63), -1, 0, 7, 2**63 - 1, None])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": TEXTS, "b": NUMBERS, "c": DAYS, "d": WHOLE,
            "who": st.sampled_from([1, 2, 3, 4, None]), "secret": st.sampled_from(["flu", "cancer", None]),
        }
    ),
    min_size=1, max_size=12,
)  # fmt: skip
TYPES = pa.schema(
    {"a": pa.string(), "b": pa.float64(), "c": pa.date32(), "d": pa.int64(), "who": pa.int64(), "secret": pa.string()}
)


def arrow(rows: list[brute.Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, TYPES)


@settings(max_examples=20)
@given(ROWS)
def test_all_sets_are_counted_as_plain_python_counts_them(rows: list[brute.Row]) -> None:
    """Missing values are alike, zero is one number, texts differ by any letter."""
    report = sf.risk_report(arrow(rows), columns=COLUMNS, subsets=3)
    assert [each.columns for each in report.all_sets] == sorted(
        brute.sets(COLUMNS, 3), key=lambda chosen: (len(chosen), [COLUMNS.index(name) for name in chosen])
    )
    for each in (*report.all_sets, *report.growth, *report.worst):
        assert (each.unique, each.groups, each.smallest) == brute.uniqueness(rows, each.columns), each
        assert each.of == len(rows)
    sizes = [len(members) for members in brute.groups(rows, COLUMNS).values()]
    assert report.anonymity.k == min(sizes) and report.anonymity.groups == len(sizes)
    for least, most, number, members in report.anonymity.sizes:
        inside = [size for size in sizes if least <= size <= (most or size)]
        assert (number, members) == (len(inside), sum(inside))


@settings(max_examples=20)
@given(ROWS.filter(lambda rows: any(row["who"] is not None for row in rows)))
def test_with_a_unit_people_are_counted_and_not_rows(rows: list[brute.Row]) -> None:
    """Whoever has a value that no other person has is singled out, however many rows have it."""
    report = sf.risk_report(arrow(rows), columns=COLUMNS, unit="who", subsets=2)
    assert report.of == len({row["who"] for row in rows} - {None})
    for each in (*report.all_sets, *report.growth, *report.worst):
        assert (each.unique, each.groups, each.smallest) == brute.uniqueness(rows, each.columns, ["who"]), each
    sizes = [len(members) for members in brute.groups(rows, COLUMNS, ["who"]).values()]
    assert sum(number for _, _, number, _ in report.anonymity.sizes) == len(sizes)
    assert sum(members for *_, members in report.anonymity.sizes) == sum(sizes)


@settings(max_examples=20)
@given(ROWS.filter(lambda rows: any(row["secret"] and row["who"] for row in rows)), st.booleans())
def test_diversity_is_what_its_definition_says(rows: list[brute.Row], by_unit: bool) -> None:
    """Distinct and entropy l, homogeneous groups and their members, of rows and of people."""
    unit = ["who"] if by_unit else None
    (found,) = sf.risk_report(arrow(rows), columns=["a"], unit=unit, sensitive="secret").diversity
    least, entropy, one, *whom = brute.diversity(rows, ["a"], "secret", unit or ())
    assert (found.distinct, found.homogeneous) == (least, one)
    assert [found.members, found.of, found.several] == whom
    assert found.entropy == pytest.approx(entropy)
    assert all(each.size > 1 for each in found.examples)


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 5), st.integers(-5, 100), st.booleans()),
        min_size=1,
        max_size=14,
    ),
    st.sampled_from([1.0, 10.0, 50.0]),
)
def test_the_p_percent_rule_is_what_its_definition_says(rows: list[tuple[str, int, int, bool]], p: float) -> None:
    """By contributor and by row; both ways to say the rule agree on every cell."""
    frame = pa.table({"region": [r[0] for r in rows], "firm": [r[1] for r in rows], "x": [float(r[2]) for r in rows]})
    by_firm: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    by_row: dict[str, list[float]] = defaultdict(list)
    for region, firm, x, _ in rows:
        by_firm[region][firm] += x
        by_row[region].append(x)
    contributor = "firm" if rows[0][3] else None
    cells = {region: list(sums.values()) for region, sums in by_firm.items()} if contributor else by_row
    found = sf.risk_report(frame, columns=["region"], sums="x", by="region", contributor=contributor, p=p).dominance
    assert found is not None and found.count == len(cells)
    assert {cell.keys[0] for cell in found.cells} == brute.unsafe(cells, p)
    assert found.unsafe == len(found.cells)
    for cell in found.cells:  # the rule as a ratio says the same
        assert cell.largest == 0 or cell.ratio > found.threshold
        assert cell.largest == 0 or cell.largest / (cell.total - cell.second) == pytest.approx(cell.ratio)


@settings(max_examples=20)
@given(ROWS, ROWS)
def test_links_are_those_who_stand_alone_on_both_sides(here: list[brute.Row], there: list[brute.Row]) -> None:
    """Missing values link nobody."""
    found = sf.risk_report(arrow(here), columns=["a"], link=arrow(there), on=["a", "c"]).linkage
    assert found is not None
    candidates, linked, expected = brute.linked(here, there, ["a", "c"])
    assert (found.candidates, found.linked) == (candidates, linked)
    assert found.expected == pytest.approx(expected)
    assert (found.of, found.outsiders) == (len(here), len(there))


@settings(max_examples=100)
@given(st.lists(st.integers(0, 2**62), max_size=200), st.integers(0, 10))
def test_equal_keys_are_found_in_cells_and_by_hashes(keys: list[int], few: int) -> None:
    """Both ways, with many equal ones."""
    for listed, space in ((keys, 2**62 + 1), ([key % (few + 1) for key in keys], few + 1)):
        found = same.represent(np.array(listed, np.int64), space)
        for place, key in enumerate(listed):
            assert listed[found[place]] == key
        assert len(set(found.tolist())) == len(set(listed))


def test_keys_that_share_a_hash_are_told_apart() -> None:
    """Ten thousand keys whose first hashes are all one cell: multiples of the inverse of the multiplier."""
    odd = int(same._ODD[0])
    inverse = pow(odd, -1, 2**64)
    keys = np.array([inverse * i % 2**64 for i in range(10_000)], np.uint64).view(np.int64)
    cells = {int(key) * odd % 2**64 >> 50 for key in keys.view(np.uint64)}
    assert cells == {0}
    assert len(set(same.represent(keys, 2**63).tolist())) == 10_000


@pytest.mark.parametrize("width", [200, 70_000, 2_000_000])
def test_large_tables_are_counted_the_same_by_cells_and_by_hashes(width: int) -> None:
    """A hundred thousand rows, few and many codes, beside numpy's own count of rows."""
    random = np.random.default_rng(7)
    codes = [random.integers(0, width, 100_000).astype(np.int32) for _ in range(2)]
    codes.append(random.integers(0, 3, 100_000).astype(np.int32))
    table = Coded(("a", "b", "c"), tuple(codes), (width, width, 3))
    found, whole = search(table, 3, lambda *told: None)
    for each in found.all_sets:
        chosen = np.stack([codes["abc".index(name)] for name in each.columns], axis=1)
        counted = np.unique(chosen, axis=0, return_counts=True)[1]
        assert (each.unique, each.groups, each.smallest) == ((counted == 1).sum(), len(counted), counted.min())
    assert together(table, (2, 0, 1)).uniqueness.unique == whole.uniqueness.unique


def test_growth_never_falls_and_the_worst_is_the_worst(tmp_path: Path) -> None:
    """Whoever is unique stays unique; no set of a size that was tried is worse than the worst."""
    random = np.random.default_rng(3)
    frame = pa.table({name: random.integers(0, 4, 300) for name in "abcdef"})
    report = sf.risk_report(frame, columns=list("abcdef"), subsets=2)
    for grown in (report.growth, report.worst):
        assert all(first.unique <= then.unique for first, then in itertools.pairwise(grown))
    for size in (1, 2):
        tried = [each.unique for each in report.all_sets if len(each.columns) == size]
        assert report.worst[size - 1].unique == max(tried)
    assert len(report.worst) == len(report.growth) == 6 and report.worst[-1].unique == report.growth[-1].unique
