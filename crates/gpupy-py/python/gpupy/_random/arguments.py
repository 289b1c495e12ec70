"""Arguments of draws that are plain: sizes and numbers.

Owns ``extents`` and ``NUMBERS``. Not here: the methods' own arguments (``draws.py``, ``host_draws.py``).
"""

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
