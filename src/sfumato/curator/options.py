"""What an analyst may say beside the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sfumato import checks
from sfumato.dataset.name import nearest
from sfumato.errors import InvalidArgument, UnknownName


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `ask`, `quote` and `explain`.

    delta         the probability with which the promise may fail; 0: never
    noise         'laplace' or 'gaussian'; left out: the smaller one for the question's text
    confidence    how often intervals hold
    shares        how epsilon is shared among the columns of the answer, as in {"n": 2, "income": 1}
    bound         rows of one unit that count fully, instead of a limit that is bought
    bounds        'auto': buy bounds of values that nobody declared
    simultaneous  whether all intervals hold at once
    tidy          whether counts are whole numbers of at least zero

    """

    delta: checks.Number = 0
    noise: str | None = None
    confidence: checks.Number = 0.95
    shares: Mapping[str, checks.Number] | None = None
    bound: int | None = None
    bounds: str | None = None
    simultaneous: bool = False
    tidy: bool = False

    def __post_init__(self) -> None:
        for name in ("simultaneous", "tidy"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(f"{name} must be True or False; got {getattr(self, name)!r}")
        if self.bounds not in (None, "auto"):
            raise InvalidArgument(
                f"bounds must be 'auto' or left out; got {self.bounds!r}; declare others in the table"
            )

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Options:
        """The options by name; an unknown one is refused, and the nearest offered."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownName(f"unknown option {name!r}; {nearest(name, known)}")
        return cls(**given)
