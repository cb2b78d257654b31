"""Keys that nobody listed, found with real noise: a unit's own ones hardly ever, those of many units nearly always."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from curator.remembered import Remembered
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.key_discovery import find_keys
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.dataset.table import table
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sources import Seeded

DELTA = Fraction(1, 20)
DRAWS = 4_000
MOST = 269  # of 4,000 draws with probability 1/20 more are seen once in a million (a binomial tail)


def planned(towns: list[tuple[int, str]], noise: str, neighbors: str = "add-remove") -> PricedPlan:
    """The number of rows by town, of people and their towns."""
    frame = pd.DataFrame(towns, columns=["pid", "town"])
    declared = table(frame, unit="pid", neighbors=neighbors)  # type: ignore[arg-type]
    curator = Curator({"t": declared}, budget=Guarantee(9, Fraction(1, 2)))
    return curator.plan("SELECT town, COUNT(*) AS n FROM t GROUP BY town", 1, Options(delta=DELTA, noise=noise))


def times_seen(plan: PricedPlan, part: Fraction = Fraction(1)) -> int:
    """In how many draws any key is found, at a part of the threshold; a look is for keys that no earlier one found."""
    assert plan.key_discovery is not None
    run, entropy = Remembered(plan), Seeded(31)
    seen = np.zeros(DRAWS, bool)
    for look in plan.key_discovery.rounds:
        scores = np.array(list(run.scores(look.weights, frozenset()).values()))
        noise = look.share.noise(look.moves).sampler.draw(DRAWS * len(scores), entropy).reshape(DRAWS, -1)
        seen |= (scores + noise > int(look.threshold * part)).any(axis=1)
    return int(seen.sum())


@pytest.mark.parametrize("keys", (1, 8, 64, 100))
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_a_unit_alone_hardly_ever_sees_a_key_of_its_own(noise: str, keys: int) -> None:
    """With delta = 1/20 in one draw of twenty at most, however many keys it has.

    If it is one of twenty exactly, the test fails by chance once in a million. Its power is shown below.
    """
    plan = planned([(1, f"own {place}") for place in range(keys)], noise)
    assert times_seen(plan) <= MOST


@pytest.mark.parametrize("neighbors", ("add-remove", "replace"))
@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_a_threshold_that_is_too_low_is_noticed(noise: str, neighbors: str) -> None:
    """With seven tenths of the threshold a unit with one key, or one with as many as count, sees them too often."""
    plans = [planned([(1, f"own {place}") for place in range(keys)], noise, neighbors) for keys in (1, 64)]
    assert max(times_seen(plan, Fraction(7, 10)) for plan in plans) > MOST
    assert max(times_seen(plan) for plan in plans) <= MOST


@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
def test_a_key_is_found_that_enough_units_have(noise: str) -> None:
    """One of three times as many units as a look shows half of the time is always found, one that few have is not.

    The noise would have to be seven deviations off.
    """
    plan = planned([(1, "town")], noise)
    assert plan.key_discovery is not None
    enough = round(3 * max(look.people for look in plan.key_discovery.rounds))
    plan = planned([*((person, "town") for person in range(enough)), (enough, "own")], noise)
    assert plan.key_discovery is not None
    run, releaser = Remembered(plan), NoisyReleaser(Seeded(37))
    for _ in range(10):
        assert ("town",) in find_keys(plan.key_discovery, run, releaser)
        assert run.keys() in ([("town",)], [("own",), ("town",)])


def test_found_keys_no_longer_take_weight_from_others() -> None:
    """Two large towns that all are in are found at first; then a smaller one of the same people is."""
    everybody = [(person, town) for person in range(60) for town in ("a", "b")]
    plan = planned(everybody + [(person, "c") for person in range(12)], "laplace")
    assert plan.key_discovery is not None
    run = Remembered(plan)
    first, second = plan.key_discovery.rounds
    alone = run.scores(second.weights, {("a",), ("b",)})
    assert alone == {("c",): 12 * second.weights[0]}
    assert run.scores(first.weights, set())["c",] == 12 * first.weights[2]
