"""Which data sets must look alike."""

from __future__ import annotations

from enum import Enum


class Neighbours(Enum):
    """Data sets that differ by one unit.

    `ADD_REMOVE`: one has a unit more (symmetric difference 1). `REPLACE`: one unit has other contents in each
    (Hamming distance 1), which is one removal and one addition.
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
