"""What every mechanism promises, tested for each by the same code: loss, error bar, distribution, odd parameters.

A mechanism brings its own examples (`Declared.examples`). Statistical tests have a false-alarm rate of 1e-7 each; their
sources are repeatable, so they never flicker. Power: with 20,000 draws a distribution whose probabilities are 10 % off
in a cell of probability 0.1 is found with near certainty; with 5,000, where a draw is slow, one that is 25 % off. How
odd parameters are tested, and what is found by it, says `odd_parameters`.
"""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from sfumato.audit.game import game
from sfumato.errors import OutsideRange, WrongShape
from sfumato.mechanisms._examples.example import Example, largest_miss
from sfumato.privacy.pair import hockey_stick
from sfumato.testing.odd_parameters import Change, changes, check_odd, check_spellings, parameters
from sfumato.testing.repeatable import Repeatable

FALSE_ALARM = 1e-7
SLACK = 1 + 1e-9  # of floats in log_probability
CONFIDENCES = (0.5, 0.9, 0.95, 0.99)
AUDITED = 2_000  # releases for each input: an epsilon of twice what is claimed is refuted with near certainty
_INPUTS = "Rumpelstiltskin"  # what stands in invalid inputs, and must not stand in an error


class MechanismTests:
    """Tests of `mechanisms`: a tuple of classes that inherit `sfumato.mechanisms.mechanism.Declared`."""

    mechanisms: ClassVar[Sequence[Any]] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test its examples."""
        names = metafunc.fixturenames
        if "example" in names:
            listed = [example for kind in self.mechanisms for example in kind.examples()]
            metafunc.parametrize("example", listed, ids=lambda example: example.name)
        if "kind" in names and "change" in names:
            pairs = [(kind, change) for kind in self.mechanisms for change in changes(kind)]
            metafunc.parametrize(("kind", "change"), pairs, ids=[f"{kind.__name__}-{change}" for kind, change in pairs])
        elif "kind" in names:
            metafunc.parametrize("kind", self.mechanisms, ids=lambda kind: kind.__name__)

    def test_it_has_examples_of_itself(self, kind: Any) -> None:
        """What has no example is not tested."""
        assert {type(example.mechanism) for example in kind.examples()} == {kind}
        needed = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
        assert set(kind.example_parameters) == needed
        assert kind.example().neighboring_inputs() is not None
        assert kind.example().invalid_inputs()

    def test_probabilities_add_up_to_one(self, example: Example) -> None:
        """`log_probability` is a distribution on the outputs listed."""
        for value in (example.value, example.neighbor):
            assert np.exp(log_probabilities(example, value)).sum() == pytest.approx(1, abs=1e-8)

    def test_the_loss_is_the_maximal_log_ratio_of_its_own_distribution(self, example: Example) -> None:
        """The largest log-ratio is epsilon, not more, and not less than the example says; or the same for delta."""
        promise = example.mechanism.guarantee
        epsilon, delta = float(promise.epsilon), float(promise.delta)
        if delta == 0:
            p, q = (log_probabilities(example, value) for value in (example.value, example.neighbor))
            largest = np.abs(p - q).max()
            assert largest <= epsilon * SLACK
            assert largest >= example.tight * epsilon / SLACK
        else:
            assert divergence(example, epsilon) <= delta * SLACK + 1e-13
            assert divergence(example, epsilon) >= example.tight * delta / SLACK

    def test_the_dominating_pair_dominates(self, example: Example) -> None:
        """At every epsilon the pair's delta, and the loss's own, covers what these neighbors really lose."""
        loss = example.mechanism.loss
        assert loss.pair is not None
        for epsilon in np.linspace(0, 3, 13):
            covered = hockey_stick(loss.pair, float(epsilon)) + float(loss.delta)
            assert divergence(example, float(epsilon)) <= covered * SLACK + 1e-13

    def test_rho_bounds_every_renyi_divergence(self, example: Example) -> None:
        """zCDP: the Rényi divergence of order a is at most rho * a, where no delta stands aside."""
        loss = example.mechanism.loss
        assert loss.rho is not None
        if loss.delta:
            assert loss.rho > 0
            return
        p, q = (log_probabilities(example, value) for value in (example.value, example.neighbor))
        for order in (1.01, 1.5, 2, 4, 16):
            renyi = np.log(np.exp(order * p + (1 - order) * q).sum()) / (order - 1)
            assert renyi <= float(loss.rho) * order * SLACK + 1e-9

    def test_the_error_bar_covers_at_its_confidence(self, example: Example) -> None:
        """Exactly, from the distribution: outputs within `error` of the value have at least the probability stated."""
        if example.misses is None:
            assert example.mechanism.error(0.9) <= example.mechanism.error(0.99)
            return
        probabilities = np.exp(log_probabilities(example, example.value))
        misses = np.array([example.misses(output, example.value) for output in example.outputs])
        for confidence in CONFIDENCES:
            size = getattr(example.mechanism, "size", None) or 1
            covered = probabilities[misses <= example.mechanism.error(confidence)].sum()
            assert covered >= confidence**size - 1e-9

    def test_the_simultaneous_error_bar_covers_all_numbers_at_once(self, example: Example) -> None:
        """Exactly, from the distribution; and a bar that leaves out the outermost outputs it covers would not do."""
        size = getattr(example.mechanism, "size", None)
        if size is None:
            return
        probabilities = np.exp(log_probabilities(example, example.value))
        misses = np.array([largest_miss(output, example.value) for output in example.outputs])
        for confidence in CONFIDENCES:
            bar = example.mechanism.error(confidence, simultaneous=True)
            assert probabilities[misses <= bar].sum() >= confidence - 1e-9
            assert probabilities[misses < bar - 0.5].sum() < confidence  # spacing 1, half of it for rounding
            assert bar >= example.mechanism.error(confidence)

    def test_samples_follow_the_distribution(self, example: Example) -> None:
        """Releases fit `log_probability`."""
        assert fit(example, example.mechanism) > FALSE_ALARM

    def test_it_can_be_pickled_and_copied_after_a_release(self, example: Example) -> None:
        """By its fields alone: samplers that were made on the way are made anew."""
        mechanism = example.mechanism
        mechanism.release(example.value)
        copies = [pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism), replace(mechanism)]  # noqa: S301
        for again in copies:
            assert again == mechanism and type(again) is type(mechanism)
            assert (again.loss, again.guarantee) == (mechanism.loss, mechanism.guarantee)
            again.release(example.value)

    def test_its_own_neighbors_are_neighbors(self, example: Example) -> None:
        """Those of the example, and those that an audit takes."""
        example.mechanism.check_neighbors(example.value, example.neighbor)
        example.mechanism.check_neighbors(*example.mechanism.neighboring_inputs())

    def test_an_audit_of_an_example_does_not_refute_it(self, kind: Any) -> None:
        """By 2,000 releases on its own neighbors; power: see `odd_parameters`."""
        made = kind.example()
        finding = game(made, *made.neighboring_inputs()).play(
            AUDITED, 1 - FALSE_ALARM, entropy=Repeatable(kind.__name__)
        )
        assert not finding.refuted

    def test_an_invalid_input_is_refused_and_stands_in_no_message(self, kind: Any) -> None:
        """As `OutsideRange` or `WrongShape`, before any noise is drawn."""
        made = kind.example()
        for value in made.invalid_inputs():
            with pytest.raises((OutsideRange, WrongShape), match="must ") as refusal:
                made.release(value)
            assert _INPUTS not in str(refusal.value)

    def test_an_odd_parameter_is_refused_or_kept_to(self, kind: Any, change: Change) -> None:
        """Fractions, tiny and huge numbers: what is accepted is what is promised, on neighbors at that distance."""
        check_odd(kind, change)

    def test_a_parameter_means_the_same_however_it_is_spelled(self, kind: Any) -> None:
        """As an int, a float, a Fraction, a Decimal, or a number of numpy."""
        for name in parameters(kind):
            check_spellings(kind, name)


@cache
def log_probabilities(example: Example, value: Any) -> NDArray[np.float64]:
    """The distribution of the outputs listed, computed once."""
    return np.array([example.mechanism.log_probability(output, value) for output in example.outputs])


def divergence(example: Example, epsilon: float) -> float:
    """The exact delta at epsilon between the two neighbors, in the worse direction."""
    p, q = (np.exp(log_probabilities(example, value)) for value in (example.value, example.neighbor))
    return float(max(np.maximum(0, a - np.exp(epsilon) * b).sum() for a, b in ((p, q), (q, p))))


def fit(example: Example, mechanism: Any) -> float:
    """The chi-square p-value of the mechanism's releases against the example's `log_probability`.

    Rare outputs are one cell.
    """
    draws, entropy = example.draws, Repeatable(example.name)
    counts = Counter(_plain(mechanism.release(example.value, entropy)) for _ in range(draws))
    expected = draws * np.exp(log_probabilities(example, example.value))
    observed = np.array([counts[output] for output in example.outputs], float)
    often = expected >= 20
    wanted = np.append(expected[often], max(1e-9, draws - expected[often].sum()))
    seen = np.append(observed[often], draws - observed[often].sum())
    if wanted[-1] < 20:  # too rare for chi-square: an exact tail instead
        if binom.sf(seen[-1] - 1, draws, wanted[-1] / draws) < FALSE_ALARM and seen[-1] > 0:
            return 0.0
        wanted, seen = wanted[:-1], seen[:-1]
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), max(1, wanted.size - 1)))


def _plain(output: Any) -> Hashable:
    return tuple(output.tolist()) if isinstance(output, np.ndarray) else output
