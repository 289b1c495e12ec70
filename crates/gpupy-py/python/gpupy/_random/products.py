"""Products of whole numbers wider than a dtype: 64 bits by 64, and 128 modulo 2**128, of arrays of 64 bits.

Owns ``wide``, ``product`` and ``total``; a number of 128 bits is a pair of its high and its low 64. Arrays
are ours, which drivers compute, or NumPy's. Invariant: results are exact. Not here: what is multiplied
(``by_index.py``).
"""

from typing import Any, TypeAlias

import numpy as np

# The high and the low half of numbers of 128 bits.
Pair: TypeAlias = tuple[Any, Any]

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
WORD = 0xFFFFFFFFFFFFFFFF
WHOLE = (1 << 128) - 1


def pair(number: int) -> Pair:
    """A number of Python's."""
    return np.uint64(number >> 64), np.uint64(number & WORD)


def split(a: Any) -> Pair:
    """The high and the low 32 bits."""
    return a >> _HALF, a & _LOW


def wide(a: Any, b: Any, of_a: Pair | None = None) -> Pair:
    """All 128 bits of the products, at least one of which is an array; the halves of one may be known."""
    (a_high, a_low), (b_high, b_low) = of_a or split(a), split(b)
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF), a * b


def product(a: Pair, b: Pair, of_a: Pair | None = None) -> Pair:
    """The low 128 bits of the products; the halves of the low part of one may be known."""
    high, low = wide(a[1], b[1], of_a)
    return high + a[0] * b[1] + a[1] * b[0], low


def total(a: Pair, b: Pair) -> Pair:
    """The low 128 bits of the sums."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(np.uint64), low
