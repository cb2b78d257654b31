"""Finite fields of any prime power, as tables: their elements are 0 .. order - 1.

An element of a field of p**m elements is a polynomial over 0 .. p - 1, written as a number in base p, lowest power
last. Products are taken modulo the least irreducible polynomial of degree m (as a number in base p); for m = 1 that is
arithmetic modulo p.

>>> four = field(4)
>>> four.modulus, int(four.times[2, 2]), int(four.plus[2, 3])        # x * x = x + 1 modulo x**2 + x + 1
(7, 3, 1)
>>> [n for n in range(2, 17) if prime_power(n)]
[2, 3, 4, 5, 7, 8, 9, 11, 13, 16]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InvalidArgument

LARGEST = 1 << 10
Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Sums, products, negatives and inverses; the inverse of 0 is 0, and never asked for."""

    order: int
    modulus: int
    plus: Table
    times: Table
    negative: Table
    inverse: Table


def prime_power(number: int) -> tuple[int, int] | None:
    """The prime and the exponent of a prime power, or None."""
    prime = next((p for p in range(2, number + 1) if number % p == 0), 0)
    exponent = 0
    while prime and number % prime == 0:
        number, exponent = number // prime, exponent + 1
    return (prime, exponent) if prime and number == 1 else None


@lru_cache(maxsize=16)
def field(order: int) -> Field:
    """The field with so many elements."""
    found = prime_power(order) if 2 <= order <= LARGEST else None
    if found is None:
        raise InvalidArgument(f"order must be a prime power up to {LARGEST}; got {order}; for example 2, 3, 4, 5 or 7")
    prime, degree = found
    modulus = _irreducible(prime, degree) if degree > 1 else prime
    numbers = np.arange(order, dtype=np.int64)
    digits = [numbers // prime**i % prime for i in range(degree)]
    plus = sum(((a[:, None] + a) % prime) * prime**i for i, a in enumerate(digits))
    assert isinstance(plus, np.ndarray)
    times = _products(prime, degree, modulus, digits)
    negative = np.argmin(plus, axis=1)  # where the sum is 0
    inverse = np.argmax(times == 1, axis=1)
    return Field(order, modulus, plus, times, negative, inverse)


def _products(prime: int, degree: int, modulus: int, digits: list[Table]) -> Table:
    """All products: the long multiplication of polynomials, then the powers from the highest on are taken away."""
    order = prime**degree
    powers = [np.zeros((order, order), np.int64) for _ in range(2 * degree - 1)]
    for i, a in enumerate(digits):
        for j, b in enumerate(digits):
            powers[i + j] += a[:, None] * b
    lower = [modulus // prime**i % prime for i in range(degree)] if degree > 1 else []
    for high in range(2 * degree - 2, degree - 1, -1):  # x**high = -(lower part) * x**(high - degree)
        for i, digit in enumerate(lower):
            powers[high - degree + i] -= powers[high] * digit
    result = np.zeros((order, order), np.int64)
    for i in range(degree):
        result += powers[i] % prime * prime**i
    return result


def _irreducible(prime: int, degree: int) -> int:
    """The least monic polynomial of this degree, as a number, that no polynomial of lower degree divides."""
    return next(
        candidate
        for candidate in range(prime**degree, 2 * prime**degree)
        if all(_remainder(candidate, divisor, prime) for divisor in range(prime, prime ** (degree // 2 + 1)))
    )


def _remainder(number: int, divisor: int, prime: int) -> int:
    """Of one polynomial by another; by a constant that is 0, which cannot be asked for here."""
    rest, by = _digits(number, prime), _digits(divisor, prime)
    inverse = pow(by[-1], -1, prime)
    while len(rest) >= len(by):
        factor = rest[-1] * inverse
        for i, digit in enumerate(reversed(by)):
            rest[-1 - i] = (rest[-1 - i] - factor * digit) % prime
        rest.pop()
    return sum(digit * prime**i for i, digit in enumerate(rest))


def _digits(number: int, prime: int) -> list[int]:
    digits = []
    while number:
        number, digit = divmod(number, prime)
        digits.append(digit)
    return digits
