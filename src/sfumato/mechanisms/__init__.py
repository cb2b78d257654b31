"""Mechanisms: randomized releases that know their own loss, their own error and their own output distribution."""

from sfumato.mechanisms.exponential import Exponential
from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.gaussian_threshold import GaussianThreshold
from sfumato.mechanisms.geometric import Geometric
from sfumato.mechanisms.inverse_sensitivity import InverseSensitivity
from sfumato.mechanisms.laplace import Laplace
from sfumato.mechanisms.laplace_threshold import LaplaceThreshold
from sfumato.mechanisms.local import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    Hyperplanes,
    PaddedResponse,
    PiecewiseResponse,
    Rows,
    Singles,
    Subsets,
    UnaryResponse,
)
from sfumato.mechanisms.mechanism import Mechanism
from sfumato.mechanisms.permute_and_flip import PermuteAndFlip
from sfumato.mechanisms.propose_test_release import ProposeTestRelease
from sfumato.mechanisms.quantile import Quantile
from sfumato.mechanisms.randomized_response import RandomizedResponse
from sfumato.mechanisms.report_noisy_max import ReportNoisyMax
from sfumato.mechanisms.sparse_vector import SparseVector, Stream
from sfumato.mechanisms.subsampled import Subsampled, sample
from sfumato.mechanisms.truncated_geometric import TruncatedGeometric

MECHANISMS = (
    Laplace,
    Gaussian,
    Geometric,
    Exponential,
    RandomizedResponse,
    LaplaceThreshold,
    GaussianThreshold,
    TruncatedGeometric,
    PermuteAndFlip,
    ReportNoisyMax,
    InverseSensitivity,
    Quantile,
    ProposeTestRelease,
    SparseVector,
    Subsampled,
    BlockResponse,
    UnaryResponse,
    BoxResponse,
    PaddedResponse,
    DuchiResponse,
    PiecewiseResponse,
)

__all__ = [
    "MECHANISMS",
    "BlockResponse",
    "BoxResponse",
    "DuchiResponse",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Geometric",
    "Hyperplanes",
    "InverseSensitivity",
    "Laplace",
    "LaplaceThreshold",
    "Mechanism",
    "PaddedResponse",
    "PermuteAndFlip",
    "PiecewiseResponse",
    "ProposeTestRelease",
    "Quantile",
    "RandomizedResponse",
    "ReportNoisyMax",
    "Rows",
    "Singles",
    "SparseVector",
    "Stream",
    "Subsampled",
    "Subsets",
    "TruncatedGeometric",
    "UnaryResponse",
    "sample",
]
