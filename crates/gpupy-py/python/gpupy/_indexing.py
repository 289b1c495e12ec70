"""Index arrays and masks: NumPy reads and writes them, on flushed elements.

Not here: integers, slices, ``...`` and ``newaxis`` (in Rust).
"""

import operator

import numpy as np

from ._fallback import call
from ._gpupy import ndarray


def getitem(array, key):
    if not array._lazy:
        return call("__getitem__", operator.getitem, (array, key), {})
    return call("__getitem__", operator.getitem, (array, key), {})


def setitem(array, key, value):
    if array._lazy and isinstance(key, ndarray) and key._lazy and _mask(array, key, value):
        return
    call("__setitem__", operator.setitem, (array, key, value), {})


def _mask(array, key, value):
    """``a[mask] = scalar`` is a choice between the scalar and the old element."""
    if key.dtype != np.bool or key.shape != array.shape or np.ndim(value) or array.size == 0:
        return False
    from ._gpupy import select

    dtype = array.dtype
    chosen = select(key, value, array)
    if chosen is None or chosen.dtype != dtype:
        return False
    array[...] = chosen
    return True
