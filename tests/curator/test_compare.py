"""Groups compared: differences, ratios and shares hold as often as they say, and are no wider than needed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato.curator.answers.released import Released
from sfumato.curator.answers.stored_answer import read_answer, write_answer
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.mechanisms._noise.sums import Noise
from sfumato.statistics.ratios import Part, Source, quotients
from sources import Seeded

MISS = Fraction(1, 20)
DRAWS = 20_000
SURE = 4.9 * math.sqrt(0.05 * 0.95 / DRAWS)  # exceeded by chance once in a million tests
NOISES: tuple[Noise, ...] = (LaplaceNoise(Fraction(1 << 20)), GaussianNoise(Fraction(1 << 40)))
STEP = 2.0**-20
each = pytest.mark.parametrize("noise", NOISES, ids=("laplace", "gaussian"))


def noisy(noise: Noise, truth: list[float], seed: int) -> list[np.ndarray]:
    """Many releases of some numbers of rows."""
    entropy = Seeded(seed)
    return [value / STEP + noise.sampler.draw(DRAWS, entropy).astype(float) for value in truth]


@each
@pytest.mark.parametrize("truth", ((40.0, 25.0), (3.0, 60.0), (0.0, 12.0)))
def test_the_interval_of_a_ratio_holds_as_often_as_it_says(noise: Noise, truth: tuple[float, float]) -> None:
    """95 of 100 where the divisor is surely not zero, and all real numbers elsewhere; false alarm 1e-6."""
    one, two = noisy(noise, list(truth), 5)
    low, high = quotients([Source(noise, (Part(1, 1.0, 0.0), Part(1, 0.0, 1.0)), 0)], one, two, MISS)
    assert 0.95 - SURE <= np.mean((low <= truth[0] / truth[1]) & (truth[0] / truth[1] <= high)) <= 0.96
    assert bool(np.all((low <= one / two) & (one / two <= high)))


@each
def test_the_interval_of_a_share_holds_as_often_as_it_says(noise: Noise) -> None:
    """The group is a part of the total, so their noises are not independent; false alarm 1e-6."""
    truth = [10.0, 30.0, 0.0, 60.0, 5.0]
    parts = noisy(noise, truth, 9)
    source = Source(noise, (Part(1, 1.0, 1.0), Part(4, 0.0, 1.0)), 0)
    for group in (0, 2, 3):
        low, high = quotients([source], parts[group], np.sum(parts, axis=0), MISS)
        share = truth[group] / sum(truth)
        assert 0.95 - SURE <= np.mean((low <= share) & (share <= high)) <= 0.953 + SURE


def test_a_loss_makes_intervals_longer_on_the_side_where_it_may_be() -> None:
    """What a limit took away is missing from one group or from the other, never from both in full."""
    released = Released((100 << 20, 60 << 20), 160 << 20, 2, Fraction(1, 1 << 20), NOISES[0], 0, False, MISS)
    limited = Released((100 << 20, 60 << 20), 160 << 20, 2, Fraction(1, 1 << 20), NOISES[0], 8 << 20, False, MISS)
    exact, lost = released.difference([0], [1]), limited.difference([0], [1])
    assert exact.low - lost.low == lost.high - exact.high == 8
    exact, lost = released.sum_of([0, 1]), limited.sum_of([0, 1])
    assert exact.low == lost.low and lost.high - exact.high == 8
    ratio, wider = released.ratio([0], [1]), limited.ratio([0], [1])
    assert ratio is not None and wider is not None
    assert math.isclose(wider.high - ratio.high, 8 / 60, rel_tol=0.1)  # all of it in the first
    assert wider.low < ratio.low  # all of it in the second
    unknown = Released((100 << 20, 60 << 20), 160 << 20, 2, Fraction(1, 1 << 20), NOISES[0], None, False, MISS)
    assert unknown.difference([0], [1]).interval == (-math.inf, math.inf)
    assert [share and share.interval for share in unknown.shares()] == [(0.0, 1.0)] * 2


ROWS = 3_000
QUESTION = "SELECT r, b, COUNT(*) AS n, AVG(x) AS a FROM t GROUP BY r, b"


def curator(seed: int = 1, **more: Any) -> Curator:
    frame = pd.DataFrame(
        {
            "p": range(ROWS),
            "r": ["a", "a", "c"] * (ROWS // 3),
            "b": [True, False] * (ROWS // 2),
            "x": [float(i % 100) for i in range(ROWS)],
        }
    )
    columns = {"r": column(keys=["a", "c", "d"]), "x": column(bounds=(0, 100))}
    declared = table(frame, unit="p", max_rows_per_unit=1, columns=columns)
    return Curator({"t": declared}, budget=100, releaser=NoisyReleaser(Seeded(seed)), **more)


def test_groups_are_named_by_all_or_by_some_of_their_keys() -> None:
    """Of counts the rows of a group add up; of means each group is one row."""
    answer = curator().ask(QUESTION, epsilon=4)
    n = [row["n"] for row in answer.rows]
    whole = answer.difference("n", {"r": "a"}, {"r": "c"})
    assert whole.value == pytest.approx(n[0] + n[1] - n[2] - n[3], abs=0.1)
    assert whole.low <= 1_000 <= whole.high
    ratio = answer.ratio("n", {"r": "a", "b": True}, {"r": "c", "b": True})
    assert ratio.low <= 2 <= ratio.high and ratio.high - ratio.low < 0.05
    means = answer.difference("a", {"r": "a", "b": True}, {"r": "c", "b": False})
    assert means.low <= -1 <= means.high  # even numbers beside odd ones
    with pytest.raises(InvalidArgument, match="does not add up"):
        answer.difference("a", {"r": "a"}, {"r": "c"})


def test_what_is_no_pair_of_groups_is_refused() -> None:
    """Unknown keys, unknown columns, groups that are not there, groups that overlap."""
    answer = curator().ask(QUESTION, epsilon=4)
    for error, one, other in (
        (UnknownName, {"q": 1}, {"r": "a"}),
        (InvalidArgument, {"r": "zz"}, {"r": "a"}),
        (InvalidArgument, {"r": "a"}, {"b": True}),
        (InvalidArgument, {}, {"r": "a"}),
        (InvalidArgument, "a", {"r": "c"}),
    ):
        with pytest.raises(error):
            answer.difference("n", one, other)  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        answer.difference("m", {"r": "a", "b": True}, {"r": "c", "b": True})
    with pytest.raises(InvalidArgument, match="of a count or a sum"):
        answer.share_of_total("a")


def test_shares_of_the_total_are_an_answer_of_their_own() -> None:
    """They add up to one, cost nothing more, and print, plot and export like any answer."""
    asked = curator()
    answer = asked.ask("SELECT r, COUNT(*) AS n FROM t GROUP BY r", epsilon=1)
    left = asked.remaining().epsilon
    shares = answer.share_of_total("n")
    assert shares.columns == ("r", "n_share") and asked.remaining().epsilon == left
    assert sum(row["n_share"] for row in shares.rows) == pytest.approx(1, abs=1e-3)
    truth = (2 / 3, 1 / 3, 0)
    for pair, true in zip(shares.intervals["n_share"], truth, strict=True):
        assert pair is not None and pair[0] <= true <= pair[1] and pair[1] - pair[0] < 0.01
    assert "n_share" in str(shares) and len(shares.to_pandas()) == 3 and shares.guarantee == answer.guarantee


def test_a_share_is_of_all_groups_also_of_those_that_are_not_shown() -> None:
    """HAVING and LIMIT leave rows out; the total has them, and intervals hold for all groups at once."""
    question = "SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING COUNT(*) > 1500"
    shares = curator().ask(question, epsilon=1).share_of_total("n")
    assert [row["r"] for row in shares.rows] == ["a"]
    assert shares.rows[0]["n_share"] == pytest.approx(2 / 3, abs=0.01)
    few = curator().ask("SELECT r, b, COUNT(*) AS n FROM t GROUP BY r, b ORDER BY n DESC LIMIT 3", epsilon=1)
    with pytest.raises(InvalidArgument, match="left rows out"):
        few.difference("n", {"r": "a"}, {"r": "c", "b": True})


def test_an_answer_that_was_kept_compares_like_the_first_one() -> None:
    """The ledger keeps what is needed; an answer of an older ledger has none of it and says so."""
    asked = curator()
    first, again = asked.ask(QUESTION, epsilon=4), asked.ask(QUESTION, epsilon=4)
    pair = {"r": "a", "b": True}, {"r": "c", "b": True}
    for name in "na":
        assert first.difference(name, *pair) == again.difference(name, *pair)
    assert first.share_of_total("n").rows == again.share_of_total("n").rows
    old = write_answer(first).replace('"basis"', '"of no meaning"')
    with pytest.raises(InvalidArgument, match="keeps none"):
        read_answer(old, "all").share_of_total("n")


@pytest.mark.parametrize(
    ("expression", "truth", "widest"),
    (
        ("COUNT(*) - COUNT(x)", 0, 8.4),
        ("2 * COUNT(*) - 3 * COUNT(x) + 5", 2 * 3000 - 3 * 3000 + 5, 23),
        ("100.0 * COUNT(*) / COUNT(x)", 100, 0.3),
        ("1 - COUNT(x) / COUNT(*)", 0, 0.003),
        ("-(COUNT(x) / COUNT(*))", -1, 0.003),
        ("COUNT(*) * COUNT(x)", 9_000_000, 60_000),
    ),
)
def test_arithmetic_in_a_row_combines_the_noises(expression: str, truth: float, widest: float) -> None:
    """Of 40 answers at epsilon 4 at least 28 hold (false alarm 1e-6), and none is wider than its noise makes it."""
    held = 0
    for seed in range(40):
        question = f"SELECT {expression} AS v FROM t"
        (pair,) = curator(seed, replay=False).ask(question, epsilon=4).intervals["v"]
        assert pair is not None and pair[1] - pair[0] < widest
        held += pair[0] <= truth <= pair[1]
    assert held >= 28


def test_noises_that_cancel_leave_nothing() -> None:
    """The same measure twice is one release: its difference is zero, its ratio one, exactly."""
    answer = curator().ask("SELECT COUNT(*) - COUNT(*) AS d, COUNT(*) / COUNT(*) AS q FROM t", epsilon=1)
    assert answer.rows[0] == {"d": 0.0, "q": 1.0}
    assert answer.intervals["d"] == [(0.0, 0.0)]
    (pair,) = answer.intervals["q"]
    assert pair is not None and pair == (pytest.approx(1, abs=1e-6), pytest.approx(1, abs=1e-6))


SHARES = {
    "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()": (200 / 3, 100 / 3, 0.0),
    "ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1)": (66.7, 33.3, 0.0),
    "SUM(COUNT(*)) OVER () - COUNT(*)": (1_000.0, 2_000.0, 3_000.0),
    "CASE WHEN COUNT(*) > 50 THEN COUNT(*) / SUM(COUNT(*)) OVER () ELSE 0 END": (2 / 3, 1 / 3, 0.0),
}


@pytest.mark.parametrize("expression", SHARES)
def test_a_share_of_the_total_in_sql_has_an_honest_interval(expression: str) -> None:
    """Of 3 groups in 30 answers at least 71 of 90 hold (false alarm 1e-6), in a CASE as well."""
    held = 0
    for seed in range(30):
        answer = curator(seed, replay=False).ask(f"SELECT r, {expression} AS v FROM t GROUP BY r", epsilon=1)
        for pair, true in zip(answer.intervals["v"], SHARES[expression], strict=True):
            assert pair is not None
            held += pair[0] - 1e-9 <= true <= pair[1] + 1e-9
    assert held >= 71


def test_a_share_in_sql_is_that_of_the_method_and_of_the_groups_that_are_kept() -> None:
    """HAVING by keys comes before the total, LIMIT after it."""
    asked = curator()
    text = "SELECT r, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS v FROM t GROUP BY r"
    whole = asked.ask(text, epsilon=1)
    shares = whole.share_of_total("n")
    assert [row["v"] for row in whole.rows] == pytest.approx([row["n_share"] for row in shares.rows], abs=1e-5)
    for one, other in zip(whole.intervals["v"][:2], shares.intervals["n_share"][:2], strict=True):
        assert one == pytest.approx(other)
    few = asked.ask(f"{text} HAVING r <> 'a'", epsilon=1)
    assert [round(row["v"], 1) for row in few.rows] == [1.0, 0.0]
    (first,) = asked.ask(f"{text} ORDER BY v DESC LIMIT 1", epsilon=1).rows
    assert first["r"] == "a" and round(first["v"], 2) == 0.67
