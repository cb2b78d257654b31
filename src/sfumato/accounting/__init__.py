"""Arithmetic on losses; no mechanism is known here by name."""

from sfumato.accounting.calibrate import keeps, least_noise
from sfumato.accounting.compose import advanced, optimal, parallel, sequential, zcdp
from sfumato.accounting.convert import group, group_rho, pure_rho, zcdp_delta, zcdp_epsilon, zcdp_rho
from sfumato.accounting.distribution import Bracket, LossDistribution, compose
from sfumato.accounting.filter import Filter, Odometer, Remaining, Spent
from sfumato.accounting.released import Released, together

__all__ = [
    "Bracket",
    "Filter",
    "LossDistribution",
    "Odometer",
    "Released",
    "Remaining",
    "Spent",
    "advanced",
    "compose",
    "group",
    "group_rho",
    "keeps",
    "least_noise",
    "optimal",
    "parallel",
    "pure_rho",
    "sequential",
    "together",
    "zcdp",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]
