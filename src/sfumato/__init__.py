"""Sfumato: private data analysis. Questions in, differentially private answers with honest error bars out.

>>> import sfumato as sf
>>> sf.mechanisms.Laplace(sensitivity=1, epsilon=0.1).error(confidence=0.95) < 30
True
>>> sf.Guarantee(epsilon=1).posterior(0.1)[1] < 0.24
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sfumato import accounting, mechanisms
from sfumato import renames as _renames
from sfumato.curator.curator import Curator
from sfumato.curator.quick import ask
from sfumato.curator.tabulate.tabulate import histogram
from sfumato.dataset.column import column
from sfumato.dataset.keys import dates
from sfumato.dataset.public import keys_from
from sfumato.dataset.public_table import public
from sfumato.dataset.table import table, through
from sfumato.embedded.resources import Resources
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.unit import Unit

if TYPE_CHECKING:
    from sfumato import attacks, audit
    from sfumato import surveys as survey
    from sfumato.risk.assess import risk_report

__version__ = "0.2.0"

__all__ = [
    "Curator",
    "Guarantee",
    "Ledger",
    "Neighbors",
    "Norm",
    "Resources",
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

# Imported when first used, so that the first import is short: the module, and what it is in there.
_LATER = {
    "attacks": ("sfumato.attacks", None),
    "audit": ("sfumato.audit", None),
    "risk_report": ("sfumato.risk", "risk_report"),
    "survey": ("sfumato.surveys", None),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(_renames.current("name", name) or f"module 'sfumato' has no attribute {name!r}")
    module, part = _LATER[name]
    found = importlib.import_module(module)
    return found if part is None else getattr(found, part)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
