"""Sfumato: private data analysis. Questions in, differentially private answers with honest error bars out.

>>> import sfumato as sf
>>> sf.mechanisms.Laplace(sensitivity=1, epsilon=0.1).error(confidence=0.95) < 30
True
>>> sf.Guarantee(epsilon=1).posterior(0.1)[1] < 0.24
True
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from sfumato import accounting, mechanisms
from sfumato.curator.curator import Curator
from sfumato.curator.quick import ask
from sfumato.curator.tabulate import histogram
from sfumato.dataset.column import column
from sfumato.dataset.keys import dates
from sfumato.dataset.public import keys_from
from sfumato.dataset.public_table import public
from sfumato.dataset.table import table, through
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.unit import Unit
from sfumato.risk.assess import risk_report

if TYPE_CHECKING:
    from sfumato import attacks, audit
    from sfumato import surveys as survey

__version__ = "0.1.0"

__all__ = [
    "Curator",
    "Guarantee",
    "Neighbours",
    "Norm",
    "Sensitivity",
    "Unit",
    "accounting",
    "ask",
    "attacks",
    "audit",
    "column",
    "dates",
    "histogram",
    "keys_from",
    "mechanisms",
    "public",
    "risk_report",
    "survey",
    "table",
    "through",
]

_LATER = {"attacks": "attacks", "audit": "audit", "survey": "surveys"}  # imported when first used: a short first import


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return importlib.import_module(f"sfumato.{_LATER[name]}")
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
