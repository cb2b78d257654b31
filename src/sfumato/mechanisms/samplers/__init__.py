"""Exact samplers on the integers: every comparison is decided by certified digits, none by a float."""

from functools import lru_cache

from sfumato.mechanisms.samplers.ahead import LIFT, Sampler, draw_lifted, draw_one
from sfumato.mechanisms.samplers.choice import Selection, uniform
from sfumato.mechanisms.samplers.coin import WIDTH, Coin, Integers, bernoulli
from sfumato.mechanisms.samplers.gaussian import DiscreteGaussian
from sfumato.mechanisms.samplers.geometric import DiscreteLaplace, Geometric

discrete_laplace = lru_cache(maxsize=256)(DiscreteLaplace)
discrete_gaussian = lru_cache(maxsize=256)(DiscreteGaussian)

__all__ = [
    "LIFT",
    "WIDTH",
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
    "draw_lifted",
    "draw_one",
    "uniform",
]
