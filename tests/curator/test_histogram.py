"""Private histograms: cells where they belong, tables that agree, intervals that hold, edges that are paid for."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.curator.tabulate.axis import Bin
from sfumato.curator.tabulate.histogram import Histogram
from sfumato.curator.tabulate.tidy import tidied
from sfumato.errors import BudgetExhausted, InvalidArgument, UnboundedColumn, UnknownName, UnsupportedQuery
from sources import Seeded

ROWS = 4_000
ROW = 1 << 20


def people() -> pd.DataFrame:
    random = Random(3)
    return pd.DataFrame(
        {
            "p": range(ROWS),
            "r": [random.choice("aab") for _ in range(ROWS)],
            "age": [random.choice((None, *range(100))) for _ in range(ROWS)],
            "x": [random.gauss(50, 12) for _ in range(ROWS)],
            "b": [random.random() < 0.3 for _ in range(ROWS)],
            "free": [random.lognormvariate(7, 1) for _ in range(ROWS)],
        }
    ).astype({"age": "Int64"})


FRAME = people()


def curator(seed: int = 1, frame: pd.DataFrame = FRAME, budget: Any = 30_000, **more: Any) -> Curator:
    columns = {"r": sf.column(keys=["a", "b", "c"]), "age": sf.column(bounds=(0, 100)), "x": sf.column(bounds=(0, 100))}
    declared = sf.table(frame, unit="p", columns=columns, **{"max_rows_per_unit": 1, **more})
    return Curator({"t": declared}, budget=budget, releaser=NoisyReleaser(Seeded(seed)))


def exactly(found: Histogram) -> list[int]:
    """The counts where epsilon is 10,000: noise is far below a half."""
    return [round(count) for count in found.counts]


def test_equal_bins_lie_in_the_declared_bounds_and_the_last_holds_both_ends() -> None:
    """As numpy sorts values into bins; missing ones are left out."""
    found = sf.histogram(curator(), "t", "age", bins=7, epsilon=10_000)
    counts, edges = np.histogram(FRAME["age"].dropna().astype(float), bins=7, range=(0, 100))
    assert exactly(found) == counts.tolist() and found.edges["age"] == pytest.approx(edges)
    assert found.cells[-1] == (Bin(found.edges["age"][-2], 100.0, closed=True),)


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([-5.0, 0.0, 12.5, 30.0, 49.9, 50.0, 77.25, 100.0, 130.0]), min_size=2, max_size=6).map(
        lambda edges: sorted(set(edges))
    ),
    st.sampled_from([(False, False), (True, False), (False, True), (True, True)]),
)
def test_given_edges_sort_values_as_numpy_does(edges: list[float], ends: tuple[bool, bool]) -> None:
    """Beyond finite edges values are left out, unless the bounds end there; beyond infinite ones they count."""
    if len(edges) < 2:
        return
    given_edges = [*([-math.inf] if ends[0] else []), *edges, *([math.inf] if ends[1] else [])]
    if any(not 0 < edge <= 100 for edge in given_edges[1:-1]) or edges[-1] < 0 or edges[0] > 100:
        with pytest.raises(InvalidArgument, match="reach into the declared bounds"):
            sf.histogram(curator(), "t", "x", bins=given_edges, epsilon=1)
        return
    values = [-7.0, 0.0, 12.5, 12.4, 50.0, 49.9, 99.0, 100.0, 117.0, 30.0]
    frame = pd.DataFrame({"p": range(len(values)), "r": "a", "age": 1, "x": values})
    found = sf.histogram(curator(frame=frame), "t", "x", bins=given_edges, epsilon=10_000)
    clipped = np.clip(values, 0, 100)  # as the bounds say, where edges go as far
    raw = [
        clip if (v < 0 and given_edges[0] <= 0) or (v > 100 and given_edges[-1] >= 100) else v
        for v, clip in zip(values, clipped, strict=True)
    ]
    assert exactly(found) == np.histogram(raw, bins=given_edges)[0].tolist()


def test_keys_and_truth_values_are_bins_of_their_own() -> None:
    """Also a key that nobody has; cells run through the last column first."""
    found = sf.histogram(curator(), "t", ["r", "b"], bins=5, epsilon=10_000)
    expected = [int(((FRAME["r"] == r) & (FRAME["b"] == b)).sum()) for r in "abc" for b in (False, True)]
    assert exactly(found) == expected and found.cells[3] == ("b", True)


def test_a_histogram_is_askable_in_sql() -> None:
    """Its own question gives the same cells, free."""
    asked = curator()
    found = sf.histogram(asked, "t", ["age", "r"], bins={"age": [0, 18, 65, 100]}, epsilon=1, where="x > 40")
    left = asked.remaining().epsilon
    answer = asked.ask(found.question, epsilon=1)
    assert [row["n"] for row in answer.rows] == pytest.approx(found.counts, abs=0.01)
    assert asked.remaining().epsilon == left == 29_999
    true = ((FRAME["x"] > 40) & (FRAME["age"] < 18) & (FRAME["r"] == "a")).sum()
    assert found.counts[0] == pytest.approx(true, abs=15)


def test_units_are_counted_on_demand() -> None:
    """Someone with rows in two bins is in both; with ten in one bin once."""
    frame = pd.DataFrame({"p": [1] * 10 + [2, 2], "r": "a", "age": [5] * 10 + [5, 95], "x": 1.0})
    asked = curator(frame=frame, max_rows_per_unit=10)
    units = sf.histogram(asked, "t", "age", bins=2, count="units", epsilon=10_000)
    assert exactly(units) == [2, 1]
    assert exactly(sf.histogram(asked, "t", "age", bins=2, epsilon=10_000)) == [11, 1]
    alone = sf.table(frame, columns={"age": sf.column(bounds=(0, 100))})
    found = sf.histogram(sf.Curator({"t": alone}, budget=10_000), "t", "age", count="units", bins=1, epsilon=10_000)
    assert exactly(found) == [12]  # each row is a unit


def test_margins_and_totals_are_sums_of_cells() -> None:
    """Exactly, in any order of columns, tidy or not; and a margin of a margin is the margin."""
    for tidy in (False, True):
        found = sf.histogram(curator(), "t", ["r", "age", "b"], bins=4, epsilon=0.5, tidy=tidy)
        cells = np.array(found.counts).reshape(3, 4, 2)
        assert found.margin("r").counts == tuple(cells.sum(axis=(1, 2)))
        assert found.margin("b", "r").counts == tuple(cells.sum(axis=1).T.ravel())
        assert found.margin("b", "r").margin("r").counts == found.margin("r").counts
        assert found.margin("age").total().value == found.total().value == sum(found.counts)
        assert found.margin("age").total().interval == found.total().interval
        assert found.margin("r").draws == 8
        if tidy:
            assert all(isinstance(n, int) and n >= 0 for n in (*found.counts, *found.margin("age").counts))


@given(st.lists(st.floats(-50, 200), min_size=1, max_size=30))
def test_tidy_counts_are_whole_not_negative_and_add_up(counts: list[float]) -> None:
    """To the rounded total, or to nothing; what was tidy stays, and no larger count becomes a smaller one."""
    tidy = tidied(counts)
    assert min(tidy) >= 0 and sum(tidy) == max(0, round(math.fsum(counts))) and tidied(tidy) == tidy
    order = np.argsort(counts)
    assert all(tidy[a] <= tidy[b] + 1 for a, b in pairwise(order))


def drawn(found: Histogram, truth: list[int], number: int) -> list[Histogram]:
    """The same histogram of given true counts, with fresh noise each."""
    noise = found.released.noise.sampler.draw(number * len(truth), Seeded(11)).reshape(number, len(truth))
    made = []
    for row in noise.tolist():
        numbers = tuple(count * ROW + each for count, each in zip(truth, row, strict=True))
        made.append(
            replace(
                found,
                counts=tuple(each / ROW for each in numbers),
                released=replace(found.released, numbers=numbers, total=sum(numbers)),
            )
        )
    return made


AGES = FRAME["age"].dropna().astype(float)
QUANTILES = {q: float(np.quantile(AGES, q, method="inverted_cdf")) for q in (0.1, 0.5, 0.95)}
FOLLOWING: dict[str, tuple[Any, float]] = {
    "total": (lambda h: h.total(), len(AGES)),
    "range of whole bins": (lambda h: h.count(20, 60), float(((AGES >= 20) & (AGES < 60)).sum())),
    "range that cuts bins": (lambda h: h.count(13, 47), float(((AGES >= 13) & (AGES < 47)).sum())),
    "mean": (lambda h: h.mean(), float(AGES.mean())),
    **{f"quantile {q}": (lambda h, q=q: h.quantile(q), true) for q, true in QUANTILES.items()},
}


@pytest.mark.parametrize("neighbors", ("add-remove", "replace"))
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
@pytest.mark.parametrize("what", FOLLOWING)
def test_what_follows_from_a_histogram_has_honest_intervals(what: str, noise: str, neighbors: str) -> None:
    """At least 110 of 130 hold 95 % intervals, and each holds its own value (false alarm 1e-6)."""
    asked = curator(budget=sf.Guarantee(1, 1e-5), neighbors=neighbors)
    found = sf.histogram(asked, "t", "age", bins=10, epsilon=0.1, delta=1e-6, noise=noise)
    truth = np.histogram(AGES, bins=10, range=(0, 100))[0].tolist()
    compute, true = FOLLOWING[what]
    estimates = [compute(each) for each in drawn(found, truth, 130)]
    assert sum(each.low <= true <= each.high for each in estimates) >= 110
    assert all(each.low <= each.value <= each.high for each in estimates)


def test_intervals_of_sums_have_the_noise_of_all_cells_and_not_the_sum_of_their_reaches() -> None:
    """A hundred cells: ten times the deviation of one, about; the sum of reaches would be eleven times wider."""
    found = sf.histogram(curator(), "t", "age", bins=100, epsilon=1)
    low, high = found.total().interval
    one = found.intervals[0][1] - found.intervals[0][0]
    assert 9 * one < high - low < 10 * one


def test_the_mean_of_values_at_the_edges_of_their_bins_is_covered() -> None:
    """All at the lower edge, all just below the upper one, in bins of different widths: the worst there is."""
    for place in (0.0, 1 - 1e-9):
        edges = np.array([0, 1, 10, 60, 100], dtype=float)
        truth = [300, 500, 400, 100]
        values = np.repeat(edges[:-1] + place * np.diff(edges), truth)
        found = sf.histogram(curator(), "t", "x", bins=edges.tolist(), epsilon=1)
        means = [each.mean() for each in drawn(found, truth, 60)]
        assert sum(each.low <= values.mean() <= each.high for each in means) >= 46


def test_with_a_limit_that_takes_away_intervals_hold_all_the_same() -> None:
    """Some people have many rows, all of them old: counts, totals and means cover what weighing took from them."""
    random = Random(8)
    rows = [(p, random.uniform(0, 60)) for p in range(3_000)]
    rows += [(p, random.uniform(80, 100)) for p in range(3_000, 3_300) for _ in range(20)]
    frame = pd.DataFrame([(p, "a", 1, x) for p, x in rows], columns=["p", "r", "age", "x"])
    values, held = frame["x"], []
    for seed in range(25):
        found = sf.histogram(curator(seed, frame, max_rows_per_unit=20), "t", "x", bins=10, epsilon=1)
        for estimate, true in (
            (found.total(), len(values)), (found.mean(), values.mean()),
            (found.count(80, 100), (values >= 80).sum()), (found.quantile(0.75), np.quantile(values, 0.75)),
        ):  # fmt: skip
            held.append(estimate.low <= true <= estimate.high)
    assert sum(held) >= 82  # of 100; false alarm 1e-6


def test_simultaneous_intervals_are_wider() -> None:
    """For all cells at once."""
    one = sf.histogram(curator(), "t", "age", epsilon=1).intervals[0]
    all_of_them = sf.histogram(curator(), "t", "age", epsilon=1, simultaneous=True).intervals[0]
    assert all_of_them[1] - all_of_them[0] > 1.5 * (one[1] - one[0])


def spent(asked: Curator) -> Fraction:
    return 30_000 - asked.remaining().epsilon


@pytest.mark.parametrize(("columns", "steps"), (("x", 2), ("free", 3), (["x", "free", "r"], 4)))
def test_bought_edges_cost_exactly_what_is_said(columns: Any, steps: int) -> None:
    """A tenth for edges, another for bounds that nobody declared; all steps together are epsilon."""
    asked = curator()
    found = sf.histogram(asked, "t", columns, bins="auto", epsilon=1)
    assert spent(asked) == 1 and found.guarantee.epsilon == found.receipt.cost.epsilon == 1
    assert len([entry for entry in asked.ledger.entries() if entry.kind.value == "reserved"]) in (steps, 5)
    assert any("estimated first" in note for note in found.receipt.notes)


def test_bought_edges_lie_where_the_values_are() -> None:
    """Most bins hold a fair part, all values are counted, the median comes out well; nobody said where values end."""
    found = sf.histogram(curator(), "t", "free", bins="auto", epsilon=2)
    true = FRAME["free"]
    assert len(found.counts) >= 8 and abs(found.total().value - ROWS) < 50
    assert found.quantile(0.5).low <= true.median() <= found.quantile(0.5).high
    assert found.quantile(0.5).high - found.quantile(0.5).low < true.median() / 2
    assert found.edges["free"][0] == -math.inf and found.edges["free"][-1] == math.inf
    with pytest.raises(InvalidArgument, match="got infinite ones; declare bounds, or ask for AVG"):
        found.mean()


def test_a_mean_follows_from_bought_edges_within_declared_bounds() -> None:
    """Its interval holds the mean of the values."""
    found = sf.histogram(curator(), "t", "x", bins="auto", epsilon=2).mean()
    assert found.low <= FRAME["x"].mean() <= found.high


def test_nobody_gives_edges_too() -> None:
    """An empty table has a histogram with bought edges: noise, and no error."""
    found = sf.histogram(curator(frame=FRAME.head(0)), "t", ["x", "free"], bins="auto", epsilon=1, tidy=True)
    assert sum(found.counts) < 300
    assert found.margin("x").mean().interval == (0.0, 100.0)


REFUSED: tuple[tuple[type[Exception], dict[str, Any]], ...] = (
    (UnboundedColumn, {"columns": "free", "bins": 5}),
    (UnsupportedQuery, {"columns": "p", "bins": None, "where": "x > 1) OR (1 = 1 GROUP BY x"}),
    (UnsupportedQuery, {"columns": "age", "where": "x > 1 GROUP BY x"}),
    (UnknownName, {"columns": "agee"}),
    (UnknownName, {"columns": "age", "bins": {"x": 3}}),
    (UnknownName, {"columns": "age", "color": 3}),
    (InvalidArgument, {"columns": []}),
    (InvalidArgument, {"columns": ["age", "Age"]}),
    (InvalidArgument, {"columns": "age", "bins": [3]}),
    (InvalidArgument, {"columns": "age", "bins": [3, 3]}),
    (InvalidArgument, {"columns": "age", "bins": [0, math.nan, 9]}),
    (InvalidArgument, {"columns": "age", "bins": [-math.inf, math.inf]}),
    (InvalidArgument, {"columns": "age", "bins": ["a", "b"]}),
    (InvalidArgument, {"columns": "age", "bins": "automatic"}),
    (InvalidArgument, {"columns": "age", "bins": 0}),
    (InvalidArgument, {"columns": "age", "bins": 10**6}),
    (InvalidArgument, {"columns": "age", "count": "people"}),
    (InvalidArgument, {"columns": "age", "epsilon": -1}),
    (InvalidArgument, {"columns": "age", "bins": "auto", "epsilon": None}),
    (BudgetExhausted, {"columns": "age", "bins": "auto", "epsilon": 31}),
    (BudgetExhausted, {"columns": "age", "epsilon": 31}),
)


@pytest.mark.parametrize(("error", "given_options"), REFUSED)
def test_refusals_cost_nothing(error: type[Exception], given_options: dict[str, Any]) -> None:
    """And come before anything is bought."""
    asked = curator(budget=30)
    with pytest.raises(error):
        sf.histogram(asked, "t", **{"epsilon": 1, **given_options})
    assert asked.remaining().epsilon == 30


def test_what_does_not_follow_is_refused() -> None:
    """A mean of keys, of several columns, or without ends."""
    found = sf.histogram(curator(), "t", ["r", "age"], epsilon=1)
    for wrong in (found.mean, lambda: found.margin("r").quantile(0.5), lambda: found.margin("age").count(5, 5)):
        with pytest.raises(InvalidArgument):
            wrong()
    with pytest.raises(UnknownName):
        found.margin("b")
    with pytest.raises(InvalidArgument, match="must have bins with ends"):
        sf.histogram(curator(), "t", "free", bins=[0, 1_000, math.inf], epsilon=1).mean()


def test_it_prints_plots_and_exports() -> None:
    """As a table with its bins in words, a chart of bars as wide as the bins, and columns with both ends."""
    found = sf.histogram(curator(), "t", "age", bins=[0, 18, 65, 100], epsilon=1)
    assert "[18, 65)" in str(found) and "±" in str(found) and "<table>" in found._repr_html_()
    frame = found.to_pandas()
    assert list(frame.columns) == ["age_low", "age_high", "count", "count_low", "count_high"] and len(frame) == 3
    drawn_chart = found.plot().to_dict()
    first = drawn_chart["layer"][0]["encoding"]
    assert first["x2"]["field"] == "end" and first["y"]["title"] == "count per unit of age"
    two = sf.histogram(curator(), "t", ["age", "r"], bins=5, epsilon=1).plot().to_dict()
    assert two["layer"][0]["encoding"]["color"]["title"] == "r"
    assert repr(found) == "Histogram(columns=age; cells=3)" and "discrete Laplace" in found.explain()
