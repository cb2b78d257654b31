"""Weights and bins as SQL over integers: what brings a unit down to its limit, exactly."""

from __future__ import annotations

from fractions import Fraction

from sfumato.engines.lower import number
from sfumato.plan.influence import MAGNITUDES, least_magnitude
from sfumato.plan.ruler import FIRST_OCTAVE, OCTAVE_DIGITS, Ruler

WEIGHT = 1 << 30
LEAST_EXPONENT = 32  # of the least magnitude, 2**-32


def weighed(step: str, measure: int, wide: bool = False) -> str:
    """A row's steps, weighed if its unit is beyond the limit; the branch spares all others a division.

    `wide`: steps of more than 33 digits, whose product with a weight needs 128.
    """
    product = f"({step}) * f{measure} // {WEIGHT}"
    if wide:
        product = f"CAST(CAST({step} AS HUGEINT) * f{measure} // {WEIGHT} AS BIGINT)"
    return f"CASE WHEN f{measure} IS NULL THEN {step} ELSE {product} END"


def or_zero(value: str, steps: str) -> str:
    """Steps of a value, none for NULL; `least` and `greatest` pass over NULL, so it is asked for first."""
    return f"CASE WHEN {value} IS NULL THEN 0 ELSE {steps} END"


def octave(size: str, parts: int = 1) -> str:
    """The bin of a magnitude, by octaves or parts of them."""
    exponent = f"ceil({parts} * (log2(greatest({size}, {number(least_magnitude())})) + {LEAST_EXPONENT}))"
    return f"least(greatest({exponent}, 0), {MAGNITUDES * parts - 1})"


def address(ruler: Ruler, x: str) -> str:
    """Where a number lies on a ruler, as a whole number; total, also for infinite ones."""
    if ruler.low is not None:
        place = f"floor(({x} - {number(ruler.low)}) * {number(1 / ruler.width)})"
        return f"CAST(least(greatest({place}, 0), {ruler.size - 1}) AS BIGINT)"
    half, least = ruler.size // 2, number(Fraction(2) ** FIRST_OCTAVE)
    place = f"(log2(greatest(abs({x}), {least})) + {-FIRST_OCTAVE}) * {1 << OCTAVE_DIGITS}"
    below = f"{half} - CAST(least(greatest(ceil({place}), 1), {half}) AS BIGINT)"  # a cell has its lower edge
    return f"CASE WHEN {x} < 0 THEN {below} ELSE {half} + CAST(least(floor({place}), {half - 1}) AS BIGINT) END"


def weight(influence: str, limit: int) -> str:
    """The weight in 2**30ths that brings an influence down to the limit."""
    scaled = f"CAST({limit * WEIGHT} AS HUGEINT) // CAST({influence} AS HUGEINT)"
    return f"CASE WHEN {influence} <= CAST({limit} AS HUGEINT) THEN {WEIGHT} ELSE CAST({scaled} AS BIGINT) END"


def root(square: str) -> str:
    """A whole number at least the square root: the nearest double's, where its square is large enough."""
    near = f"CAST(ceil(sqrt(CAST({square} AS DOUBLE))) AS HUGEINT)"
    above = f"CAST(ceil(sqrt(CAST({square} AS DOUBLE)) * {1 + 2.0**-40!r}) AS HUGEINT)"
    return f"CASE WHEN {near} * {near} >= {square} THEN {near} ELSE {above} END"
