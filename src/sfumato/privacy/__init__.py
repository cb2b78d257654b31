"""The vocabulary: whose privacy, against which neighbors, how sensitive a value is, what is lost, what is promised."""

from sfumato.privacy.choices import CHOICES, Choice, Window, affordable, window
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.privacy.unit import Unit

__all__ = [
    "CHOICES",
    "Choice",
    "Guarantee",
    "Loss",
    "Neighbors",
    "Norm",
    "Sensitivity",
    "Unit",
    "Window",
    "affordable",
    "window",
]
