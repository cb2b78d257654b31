"""Every mechanism keeps the contract that ships as `sfumato.testing.MechanismTests`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sfumato.mechanisms import MECHANISMS, Geometric
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.testing import MechanismTests
from sfumato.testing.mechanisms import FALSE_ALARM, fit


class TestEveryMechanism(MechanismTests):
    """A mechanism that is listed is tested."""

    mechanisms = MECHANISMS


def test_the_suite_finds_noise_that_is_ten_percent_too_small() -> None:
    """Power: the same test rejects a mechanism whose scale is a tenth below the stated one."""

    class Weak(Geometric):
        @property
        def _additive(self):  # type: ignore[no-untyped-def]
            honest = Geometric._additive.func(self)  # type: ignore[attr-defined]
            return replace(honest, noise=LaplaceNoise(honest.noise.scale * Fraction(9, 10)))

    example = next(example for example in Geometric.examples() if example.name == "geometric")
    assert fit(example, Weak(1, 0.5)) < FALSE_ALARM
