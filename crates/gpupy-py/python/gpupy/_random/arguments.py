"""Arguments of draws that are plain: sizes and numbers.

Owns ``extents``, ``interval`` and ``NUMBERS``. Not here: the methods' own arguments (``draws.py``,
``host_draws.py``).
"""

import operator
from typing import Any

import numpy as np

from .._creation.orders import shape_of

NUMBERS = (int, float, np.integer, np.floating)


def extents(size: Any) -> tuple[int, ...] | None:
    """A size as a shape; ``None`` for none, and where NumPy has to judge it."""
    for each in size if type(size) in (tuple, list) else (size,):
        if isinstance(each, (bool, np.bool)):
            return None
    return shape_of(size)


def interval(low: Any, high: Any, dtype: np.dtype[Any], endpoint: Any) -> tuple[int, int] | None:
    """The first of whole numbers and how many; ``None`` for fewer than two, and where NumPy has to judge."""
    if dtype.kind not in "iu" or not dtype.isnative:
        return None
    if not all(isinstance(end, (int, np.integer)) for end in ((low,) if high is None else (low, high))):
        return None
    first, end = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
    count, limits = end - first + bool(endpoint), np.iinfo(dtype)
    return None if count < 2 or first < limits.min or first + count - 1 > limits.max else (first, count)
