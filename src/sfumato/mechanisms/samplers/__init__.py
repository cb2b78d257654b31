"""Exact samplers on the integers: every comparison is decided by certified digits, none by a float."""

from functools import lru_cache

from sfumato.mechanisms.samplers.ahead import Sampler, draw_one
from sfumato.mechanisms.samplers.choice import Selection, uniform
from sfumato.mechanisms.samplers.coin import Coin, Integers, bernoulli
from sfumato.mechanisms.samplers.gaussian import DiscreteGaussian
from sfumato.mechanisms.samplers.geometric import DiscreteLaplace, Geometric

discrete_laplace = lru_cache(maxsize=256)(DiscreteLaplace)
discrete_gaussian = lru_cache(maxsize=256)(DiscreteGaussian)

__all__ = [
    "Coin",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Integers",
    "Sampler",
    "Selection",
    "bernoulli",
    "discrete_gaussian",
    "discrete_laplace",
    "draw_one",
    "uniform",
]
