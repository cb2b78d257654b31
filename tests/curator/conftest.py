"""For all tests of the curator: what depends on public numbers only is computed once."""

from __future__ import annotations

import functools

import pytest

from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise


@pytest.fixture(autouse=True, scope="session")
def remembered_reaches() -> None:
    """The reach of a sum of noises is a pure function of scale, number and confidence, and slow."""
    patch = pytest.MonkeyPatch()
    for name in ("reach", "deviation"):
        for noise in (LaplaceNoise, GaussianNoise):
            patch.setattr(noise, name, functools.cache(getattr(noise, name)))
