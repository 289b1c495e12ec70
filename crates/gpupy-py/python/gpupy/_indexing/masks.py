"""Arguments of an operation besides its operands: masks, initial values, outputs.

Owns ``mask_of``, ``number_of`` and ``is_apart``. Not here: masks as keys (in Rust), what is done
(``_compute/reductions.py``, ``select.py``).
"""

from typing import Any

import numpy as np

from .._creation.conversion import asanyarray
from .._gpupy import ndarray, scalar


def mask_of(a: ndarray, where: Any) -> Any:
    """A mask that says of each element whether it takes part, as ours; ``None`` for others."""
    mask = asanyarray(where) if type(where) in _MASKS else where
    if type(mask) is not ndarray or not mask._lazy or mask.dtype != np.bool or mask.ndim > a.ndim:
        return None
    pairs = zip(mask.shape[::-1], a.shape[::-1], strict=False)
    return mask if all(own in (1, n) for own, n in pairs) else None


_MASKS = frozenset((np.ndarray, list, np.bool, scalar))


def number_of(a: ndarray, value: Any) -> Any:
    """A number that the array's dtype takes, as one of Python's or of that dtype; otherwise ``None``."""
    if type(value) in KINDS:
        if a.dtype.kind not in KINDS[type(value)]:
            return None
        inside = a.dtype.kind not in "iu" or np.iinfo(a.dtype).min <= value <= np.iinfo(a.dtype).max
        return value if inside else None
    return value if type(value) is a.dtype.type else None


# The kinds of dtypes that Python's numbers are cast to without loss of their own kind.
KINDS: dict[type, str] = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def is_apart(out: ndarray) -> bool:
    """Whether the elements of an output lie apart from each other: else the last that is written stays."""
    end = 1
    for step, extent in sorted(zip(map(abs, out.strides), out.shape, strict=True)):
        if extent > 1 and step < end:
            return False
        end = max(end, step * (extent - 1) + out.itemsize)
    return True
