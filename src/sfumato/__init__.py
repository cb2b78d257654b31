"""Sfumato: private data analysis. Questions in, differentially private answers with honest error bars out.

>>> import sfumato as sf
>>> sf.mechanisms.Laplace(sensitivity=1, epsilon=0.1).error(confidence=0.95) < 30
True
>>> sf.Guarantee(epsilon=1).posterior(0.1)[1] < 0.24
True
"""

from sfumato import accounting, mechanisms
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.unit import Unit

__version__ = "0.1.0"

__all__ = ["Guarantee", "Neighbours", "Norm", "Sensitivity", "Unit", "accounting", "mechanisms"]
