"""Which data sets must look alike."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from sfumato.errors import InvalidArgument

Relation = Literal["add-remove", "replace"]


class Neighbors(Enum):
    """Data sets that differ by one unit.

    `ADD_REMOVE`: one has a unit more (symmetric difference 1). `REPLACE`: one unit has other contents in each
    (Hamming distance 1), which is one removal and one addition.
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def read(cls, value: Neighbors | Relation) -> Neighbors:
        """The relation, given as itself or by its name; the one door for it, since a wrong one makes a wrong promise.

        >>> Neighbors.read("replace")
        <Neighbors.REPLACE: 'replace'>
        >>> Neighbors.read("swap")
        Traceback (most recent call last):
            ...
        sfumato.errors.InvalidArgument: neighbors must be 'add-remove' or 'replace'; got 'swap'; ...
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and value in {each.value for each in cls}:
            return cls(value)
        raise InvalidArgument(
            f"neighbors must be 'add-remove' or 'replace'; got {value!r}; "
            "say whether a unit comes and goes, or changes its contents"
        )
