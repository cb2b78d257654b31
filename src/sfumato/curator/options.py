"""What an analyst may say beside the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase


def need_epsilon(epsilon: checks.Number | None) -> checks.Number:
    """The epsilon of a question that says no accuracy; without one it is refused."""
    if epsilon is None:
        raise InvalidArgument(
            "epsilon must be given, or within; got neither",
            fix=Phrase("for example ", Option("epsilon", 0.5), ", or ", Option("within", "5%")),
        )
    return epsilon


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `ask`, `quote` and `explain`.

    delta              the probability with which the guarantee may fail; 0: never
    noise              'laplace' or 'gaussian'; left out: the smaller one for the question's text
    confidence         how often an interval contains the exact value
    shares             how epsilon is divided among the columns of the answer, as in {"n": 2, "income": 1}
    max_rows_per_unit  count at most this many rows per unit, instead of estimating a limit
    estimate_bounds    estimate bounds for columns that declare none; spends 10% of epsilon
    simultaneous       whether all intervals hold at once; they are wider
    tidy               whether counts are rounded to whole numbers of at least zero

    """

    delta: checks.Number = 0
    noise: str | None = None
    confidence: checks.Number = 0.95
    shares: Mapping[str, checks.Number] | None = None
    max_rows_per_unit: int | None = None
    estimate_bounds: bool = False
    simultaneous: bool = False
    tidy: bool = False

    def __post_init__(self) -> None:
        for name in ("estimate_bounds", "simultaneous", "tidy"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidArgument(f"{name} must be True or False; got {getattr(self, name)!r}")
