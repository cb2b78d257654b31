"""Arithmetic on losses; no mechanism is known here by name."""

from sfumato.accounting.calibrate import keeps, least_noise
from sfumato.accounting.compose import advanced, optimal, parallel, sequential, zcdp
from sfumato.accounting.convert import group, group_rho, pure_rho, zcdp_delta, zcdp_epsilon, zcdp_rho
from sfumato.accounting.distribution import Bracket, LossDistribution, compose
from sfumato.accounting.filter import Filter, Odometer, Remaining, Spent
from sfumato.accounting.released import Released, together
from sfumato.accounting.renyi import Renyi, divergence, renyi

__all__ = [
    "Bracket",
    "Filter",
    "LossDistribution",
    "Odometer",
    "Released",
    "Remaining",
    "Renyi",
    "Spent",
    "advanced",
    "compose",
    "divergence",
    "group",
    "group_rho",
    "keeps",
    "least_noise",
    "optimal",
    "parallel",
    "pure_rho",
    "renyi",
    "sequential",
    "together",
    "zcdp",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
