"""Weights and bins as SQL over integers: what brings a unit down to its limit, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.dataset.kind import Kind
from sfumato.engines.sql.dialect import Dialect
from sfumato.statistics.contribution import BINS, CLOSE, FINE, LAST_FINE, MAGNITUDES, ROW_BIN, least_magnitude
from sfumato.statistics.quantile.ruler import FIRST_OCTAVE, OCTAVE_DIGITS, Ruler

WEIGHT = 1 << 30
LEAST_EXPONENT = 32  # of the least magnitude, 2**-32


def taken(dialect: Dialect, step: str, measure: int, wide: bool = False) -> str:
    """What weights add to a sum of steps: less than nothing, and only of rows whose unit is beyond the limit.

    `wide`: steps of more than 33 digits, whose product with a weight needs 128.
    """
    product = dialect.over(f"({step}) * f{measure}", WEIGHT)
    if wide:
        product = f"CAST({dialect.wide_over(f'CAST({step} AS {dialect.wide}) * f{measure}', WEIGHT)} AS BIGINT)"
    return f"coalesce({dialect.sum(f'({product}) - ({step})')} FILTER (WHERE f{measure} IS NOT NULL), 0)"


def or_zero(value: str, steps: str) -> str:
    """Steps of a value, none for NULL; `least` and `greatest` pass over NULL, so it is asked for first."""
    return f"CASE WHEN {value} IS NULL THEN 0 ELSE {steps} END"


def octave(dialect: Dialect, size: str, parts: int = 1) -> str:
    """The bin of a magnitude, by octaves or parts of them."""
    exponents = [place / parts - LEAST_EXPONENT for place in range(MAGNITUDES * parts - 1)]
    if place := dialect.rank(size, [_above(exponent) for exponent in exponents]):
        return place
    logarithm = dialect.log2(f"greatest({size}, {dialect.real(least_magnitude())})")
    exponent = f"ceil({parts} * ({logarithm} + {LEAST_EXPONENT}))"
    return f"least(greatest({exponent}, 0), {MAGNITUDES * parts - 1})"


def contribution_bins(dialect: Dialect, rows: str) -> str:
    """How many of the numbers `v` of a query are in each bin of contributions (`plan.contribution`), in full rows."""
    little = 1e-6  # a full row is in its bin, whatever its logarithm is rounded to
    exponents = [(place - ROW_BIN) / FINE if place <= LAST_FINE else place - LAST_FINE + CLOSE for place in range(BINS)]
    if place := dialect.rank("v", [_above(exponent + little / FINE) for exponent in exponents[:-1]]):
        return f"SELECT {place} AS j, count(*) FROM ({dialect.once(rows)}) AS rows_of_units GROUP BY j"
    fine, coarse = f"ceil({FINE} * e - {little}) + {ROW_BIN}", f"ceil(e - {CLOSE} - {little}) + {LAST_FINE}"
    bin = f"CASE WHEN e <= {CLOSE} THEN greatest({fine}, 0) ELSE least({coarse}, {BINS - 1}) END"
    logarithms = dialect.once(f"SELECT {dialect.log2('v')} AS e FROM ({dialect.once(rows)}) AS rows_of_units")
    return f"SELECT CAST({bin} AS BIGINT) AS j, count(*) FROM ({logarithms}) AS octaves GROUP BY j"


def _above(exponent: float) -> float:
    """The least double above a power of two."""
    return math.nextafter(math.pow(2, exponent), math.inf)


def address(dialect: Dialect, ruler: Ruler, x: str) -> str:
    """Where a number lies on a ruler, as a whole number; total, also for infinite ones."""
    if ruler.low is not None:
        inside = dialect.within(x, ruler.low, ruler.low + ruler.size * ruler.width)
        place = f"floor({dialect.scaled(f'({inside} - {dialect.real(ruler.low)})', 1 / ruler.width)})"
        return f"CAST(least(greatest({place}, 0), {ruler.size - 1}) AS BIGINT)"
    half, least = ruler.size // 2, dialect.real(Fraction(2) ** FIRST_OCTAVE)
    place = f"({dialect.log2(f'greatest(abs({x}), {least})')} + {-FIRST_OCTAVE}) * {1 << OCTAVE_DIGITS}"
    below = f"{half} - CAST(least(greatest(ceil({place}), 1), {half}) AS BIGINT)"  # a cell has its lower edge
    return f"CASE WHEN {x} < 0 THEN {below} ELSE {half} + CAST(least(floor({place}), {half - 1}) AS BIGINT) END"


def weight(dialect: Dialect, contribution: str, limit: int) -> str:
    """The weight in 2**30ths that brings an contribution down to the limit."""
    wide = dialect.wide
    scaled = dialect.wide_over(f"CAST({limit * WEIGHT} AS {wide})", f"CAST({contribution} AS {wide})")
    return f"CASE WHEN {contribution} <= CAST({limit} AS {wide}) THEN {WEIGHT} ELSE CAST({scaled} AS BIGINT) END"


def root(dialect: Dialect, square: str) -> str:
    """A whole number at least the square root: the nearest double's, where its square is large enough."""
    double = f"sqrt(CAST({square} AS {dialect.type(Kind.REAL)}))"
    near, above = dialect.widened(f"ceil({double})"), dialect.widened(f"ceil({double} * {1 + 2.0**-40!r})")
    return f"CASE WHEN {near} * {near} >= {square} THEN {near} ELSE {above} END"
