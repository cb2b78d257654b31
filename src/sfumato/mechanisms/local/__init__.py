"""Randomizers of one person's answer in exact integers, for surveys in which nobody has to be trusted."""

from sfumato.mechanisms.local.block_response import BlockResponse
from sfumato.mechanisms.local.blocks import Blocks, Rows, Singles, Subsets
from sfumato.mechanisms.local.box_response import BoxResponse
from sfumato.mechanisms.local.duchi_response import DuchiResponse
from sfumato.mechanisms.local.hyperplanes import Hyperplanes
from sfumato.mechanisms.local.odds import epsilon_of
from sfumato.mechanisms.local.padded_response import PaddedResponse
from sfumato.mechanisms.local.piecewise_response import PiecewiseResponse
from sfumato.mechanisms.local.unary_response import UnaryResponse

__all__ = [
    "BlockResponse",
    "Blocks",
    "BoxResponse",
    "DuchiResponse",
    "Hyperplanes",
    "PaddedResponse",
    "PiecewiseResponse",
    "Rows",
    "Singles",
    "Subsets",
    "UnaryResponse",
    "epsilon_of",
]
