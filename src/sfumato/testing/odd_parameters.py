"""Odd parameters for every mechanism: fractional sensitivities, tiny and huge epsilons, and every type of number.

What a mechanism accepts it has to keep to. Its neighbors must be as far apart as the parameter says, and what comes out
of one of them is compared with what would come out of the other:

- by `log_probability`: where delta is 0, no output may be more than exp(epsilon) times likelier for one of them. Else
  an output whose log-ratio is above epsilon + 0.1 has a probability of at most delta / (1 - exp(-0.1)), and the number
  of such outputs among 300 is tested at 1e-7;
- by its releases alone: an audit (`sfumato.audit.game`) of 2,000 of them for each neighbor, at 1e-7, where the
  parameter is the sensitivity. Here `log_probability` is not believed.

Power: a mechanism that rounds a sensitivity of 1.999 down to 1 loses 1.999 epsilon. Half of the outputs of Laplace
noise show that by `log_probability`; of those of Gaussian noise, at an epsilon of 1 and a delta of 1/1000, about 15 %,
where 1 % is allowed. An audit certifies more than 1 where 1 is claimed (`tests/mechanisms/test_drafts.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.audit.game import game
from sfumato.errors import InvalidArgument
from sfumato.testing.repeatable import Repeatable

FALSE_ALARM = 1e-7
DELTA = Fraction(1, 1000)  # in these tests, so that few draws tell
_BEYOND, _DRAWS, _FEW_DRAWS, _AUDITED = 0.1, 300, 12, 2_000
_MOST_NUMBERS = 1_000  # of an input; of longer ones few outputs are drawn
_LARGEST_RATIO = 700.0  # beyond its exponential the probability of a lie is too small for a float

SENSITIVITIES = (1.999, 0.3, Fraction(7, 3), Decimal("2.75"), np.float32(1.5), 1e-6, 123_456.789)
EPSILONS = (Fraction(1, 10**6), 1e-3, Fraction(1, 3), 7.77, 40, 10_000)
AUDITED = (1.999, Fraction(7, 3))
SPELLED: tuple[tuple[Any, ...], ...] = (
    (0.5, Fraction(1, 2), Decimal("0.5"), np.float64(0.5), np.float32(0.5), np.float16(0.5), np.longdouble(0.5)),
    (0.1, Fraction(1, 10), Decimal("0.1"), np.float64(0.1)),
    (2, 2.0, Fraction(2), Decimal(2), np.int8(2), np.int64(2), np.uint16(2), np.float32(2)),
)
NUMBERS = ("sensitivity", "epsilon", "delta")


@dataclass(frozen=True)
class Change:
    """A parameter with an odd value."""

    name: str
    number: Any

    def __str__(self) -> str:
        return f"{self.name}={self.number}"


def parameters(kind: Any) -> Sequence[str]:
    """The parameters that are varied: those of the promise, of a mechanism or of the one that it holds."""
    known = {each.name for each in fields(type(kind.example()))} | {"epsilon"}
    return [name for name in NUMBERS if name in known]


def changes(kind: Any) -> Iterator[Change]:
    """All changes of one parameter."""
    for name, numbers in (("sensitivity", SENSITIVITIES), ("epsilon", EPSILONS)):
        if name in parameters(kind):
            yield from (Change(name, number) for number in numbers)


def check_odd(kind: Any, change: Change) -> None:
    """Fail if the changed mechanism is accepted, and does not keep to what the parameter says."""
    more = {"delta": DELTA} if "delta" in parameters(kind) else {}
    try:
        made = kind.example(**{**more, change.name: change.number})
        value, neighbor = made.neighboring_inputs()
        ratios = _ratios(made, value, neighbor, str(change))
    except InvalidArgument as refusal:
        assert "must" in str(refusal) and "got" in str(refusal), "a refusal says what was expected, and what came"
        return
    if change.name == "sensitivity":
        _check_distance(change.number, value, neighbor)
    _check_promise(made, change)
    _check_ratios(made, ratios)
    if change.name == "sensitivity" and change.number in AUDITED:
        played = game(made, value, neighbor).play(_AUDITED, 1 - FALSE_ALARM, entropy=Repeatable(f"audit {change}"))
        assert not played.refuted, f"{change}: an audit certifies {played.certified}"


def _ratios(made: Any, value: Any, neighbor: Any, text: str) -> list[float]:
    """The log-ratios of outputs of `value`; each output is compared once."""
    few = made.guarantee.delta == 0 or np.size(value) > _MOST_NUMBERS
    entropy = Repeatable(text)
    outputs = Counter(made.release(value, entropy) for _ in range(_FEW_DRAWS if few else _DRAWS))
    logs = {each: (made.log_probability(each, value), made.log_probability(each, neighbor)) for each in outputs}
    assert all(mine > -math.inf for mine, _ in logs.values()), "what was released has a probability"
    return [logs[each][0] - logs[each][1] for each in outputs.elements()]


def _check_distance(sensitivity: Any, value: Any, neighbor: Any) -> None:
    """The neighbors are as far apart as the parameter says, not as the mechanism has made of it."""
    pairs = [tuple(np.ravel(np.array(side, float))) for side in (value, neighbor)]
    if len(pairs[0]) != len(pairs[1]):  # of rows, one of which comes or goes
        farthest = max(map(abs, [*pairs[0], *pairs[1]]))
    else:
        farthest = max(abs(a - b) for a, b in zip(*pairs, strict=True))
    assert farthest == pytest.approx(float(sensitivity), rel=1e-6), "neighboring_inputs must use the whole sensitivity"


def _check_promise(made: Any, change: Change) -> None:
    if change.name == "epsilon" and any(each.name == "epsilon" for each in fields(made)):
        assert made.guarantee.epsilon == exactly(change.number), "what is promised is what was asked for"


def _check_ratios(made: Any, ratios: Sequence[float]) -> None:
    epsilon, delta = float(made.guarantee.epsilon), float(made.guarantee.delta)
    assert not any(math.isnan(ratio) for ratio in ratios)
    if delta == 0:
        largest = max(map(abs, ratios)) if epsilon < _LARGEST_RATIO else 0.0
        assert largest <= epsilon * (1 + 1e-9) + 1e-9, f"an output is exp({largest}) times likelier, not exp({epsilon})"
        return
    beyond = sum(ratio > epsilon + _BEYOND for ratio in ratios)
    allowed = min(1.0, delta / -math.expm1(-_BEYOND))
    chance = binom.sf(beyond - 1, len(ratios), allowed)
    assert chance > FALSE_ALARM, f"{beyond} of {len(ratios)} outputs lose more than epsilon"


def exactly(number: Any) -> Fraction:
    """The number that is meant: a float is the decimal that it prints as."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(*number.as_integer_ratio())


def check_spellings(kind: Any, name: str) -> None:
    """Fail unless one number makes equal mechanisms, or equal refusals, in all its types."""
    for spelled in SPELLED:
        made = [_made(kind, name, number) for number in spelled]
        for number, other in zip(spelled[1:], made[1:], strict=True):
            assert other == made[0], f"{name}={number!r} of type {type(number).__name__}"
            if not isinstance(other, type):
                assert (other.guarantee, other.loss) == (made[0].guarantee, made[0].loss)


def _made(kind: Any, name: str, number: Any) -> Any:
    """The mechanism, or the type of its refusal."""
    try:
        return kind.example(**{name: number})
    except InvalidArgument as refusal:
        return type(refusal)
