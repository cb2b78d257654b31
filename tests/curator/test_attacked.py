"""What attackers tried on questions, and what came of it: each was a leak, a charge or a crash once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.errors import BudgetExhausted, InvalidArgument, UnboundedColumn, UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee
from sources import Seeded


def curator(frame: pd.DataFrame, unit: str | None = "u", delta: float = 1e-3) -> Curator:
    declared = sf.table(frame, unit=unit)
    return sf.Curator({"t": declared}, budget=Guarantee(100, delta), releaser=NoisyReleaser(Seeded(3)))


@pytest.mark.parametrize("first", (-0.4, 0.4))
@pytest.mark.parametrize("key", ("ROUND(x)", "CEIL(x / 2)", "x * 0.0", "CASE WHEN x > 1 THEN x ELSE x * 0 END"))
def test_the_sign_of_zero_is_nobodys(key: str, first: float) -> None:
    """The engine takes both zeros for one key and shows the one it met first, which would be one person's."""
    frame = pd.DataFrame({"u": range(4_000), "x": [first, *([0.3, -0.3] * 2_000)[:3_999]]})
    answer = curator(frame).ask(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY 1", epsilon=5, delta=1e-6)
    shown = [repr(row["k"]) for row in answer.rows]
    assert "0.0" in shown and "-0.0" not in shown


def test_what_is_no_number_is_no_key() -> None:
    """NaN has no order, and would be in as many groups as there are rows for some."""
    frame = pd.DataFrame({"u": range(4_000), "x": [math.inf, 1.0] * 2_000})
    answer = curator(frame).ask("SELECT x - x AS k, COUNT(*) AS n FROM t GROUP BY 1", epsilon=5, delta=1e-6)
    assert [row["k"] for row in answer.rows] == [0.0]


def test_a_key_moves_no_cursor_and_stops_no_process() -> None:
    """Control characters of found keys are written out in tables, pages and pictures."""
    frame = pd.DataFrame({"u": range(4_000), "s": ["a\x1b[31mb", "two\nlines", "nul\0", "x"] * 1_000})
    answer = curator(frame).ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=5, delta=1e-6)
    assert len(answer.rows) == 4
    assert "\x1b" not in str(answer) and "two\\nlines" in str(answer)
    assert "\x1b" not in answer._repr_html_()


@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_a_total_misses_as_much_as_all_groups_may(noise: str) -> None:
    """Units with a row in each of 200 groups lose little in each and much together; both are in the interval."""
    heavy = [(unit, group) for unit in range(1_000) for group in range(200)]
    light = [(unit, unit % 200) for unit in range(1_000, 16_000)]
    frame = pd.DataFrame(heavy + light, columns=["u", "g"])
    declared = sf.table(frame, unit="u", columns={"g": sf.column(bounds=(0, 199))})
    asked = sf.Curator({"t": declared}, budget=Guarantee(9, 1e-3), releaser=NoisyReleaser(Seeded(5)))
    question = "SELECT g, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS total FROM t GROUP BY g"
    answer = asked.ask(question, epsilon=1, delta=1e-6, noise=noise)
    low, high = answer.intervals["total"][0]
    assert low <= len(frame) <= high


def test_an_answer_without_keys_has_no_shares() -> None:
    """Nothing is found among a few rows."""
    frame = pd.DataFrame({"u": range(3), "s": ["a", "b", "c"]})
    answer = curator(frame).ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=1, delta=1e-9)
    assert answer.rows == [] and answer.share_of_total("n").rows == []


def test_a_share_of_the_total_can_be_drawn() -> None:
    """In a notebook and in a file."""
    frame = pd.DataFrame({"u": range(3_000), "s": ["a", "b", "c"] * 1_000})
    answer = curator(frame).ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=1, delta=1e-9)
    assert "<svg" in answer.share_of_total("n")._repr_html_()


def test_nothing_is_charged_for_a_pilot_that_cannot_be_followed() -> None:
    """Neither where delta is left for one of two, nor where a histogram would be refused after its pilots."""
    frame = pd.DataFrame({"u": range(300), "x": np.linspace(0, 9, 300), "s": ["a"] * 300})
    asked = curator(frame, delta=1e-6)
    with pytest.raises(BudgetExhausted, match="nothing was charged"):
        asked.ask("SELECT COUNT(*) AS n FROM t", within="50%", epsilon=1, delta=4e-7, noise="gaussian")
    for columns, bins, options in (
        ("x", "auto", {"noise": "foo"}),
        ("x", "auto", {"noise": "gaussian"}),
        (["x", "s"], "auto", {}),
        (["x", "u"], {"x": "auto"}, {}),
        (["x", "u"], {"x": "auto", "u": [3, 2, 1]}, {}),
    ):
        with pytest.raises((InvalidArgument, UnsupportedQuery, UnboundedColumn)):
            sf.histogram(asked, "t", columns, bins=bins, epsilon=1, **options)  # type: ignore[arg-type]
    assert asked.remaining().epsilon == 100


def test_bought_bins_have_no_ends() -> None:
    """Nobody declared where values end, so neither a mean nor a quantile may be sure of it."""
    frame = pd.DataFrame({"u": range(20_000), "x": [*np.linspace(1, 99, 19_940), *[1e9] * 60]})
    found = sf.histogram(curator(frame), "t", "x", bins="auto", epsilon=5)
    assert found.edges["x"][0] == -math.inf and found.edges["x"][-1] == math.inf
    assert found.quantile(0.9995).high == math.inf
    with pytest.raises(InvalidArgument, match="infinite"):
        found.mean()


def test_one_line_may_find_keys() -> None:
    """The ledger of a process counts delta as well."""
    frame = pd.DataFrame({"u": range(2_000), "s": ["a", "b"] * 1_000})
    answer = sf.ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", data={"t": frame}, unit="u", epsilon=1, delta=1e-9)
    assert [row["s"] for row in answer.rows] == ["a", "b"]


def test_a_declared_maximum_closes_the_interval() -> None:
    """5,000 people, some with hundreds of rows: at least 45 of 60 intervals of 95 % hold (false alarm below 1e-6)."""
    random = np.random.default_rng(3)
    rows = np.minimum(240, (random.pareto(1.5, 5_000) * 1.6).astype(int) + 1)
    frame = pd.DataFrame({"u": np.repeat(np.arange(5_000), rows)})
    declared = sf.table(frame, unit="u", max_rows_per_unit=250)
    asked = sf.Curator({"t": declared}, budget=1_000, replay=False, releaser=NoisyReleaser(Seeded(7)))
    held = [asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).intervals["n"][0] for _ in range(60)]
    assert sum(low <= len(frame) <= high for low, high in held) >= 45
