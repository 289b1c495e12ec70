"""Views by strides: ``as_strided`` and ``sliding_window_view`` of ``numpy.lib.stride_tricks``.

Owns both. They are views of the array's base, of which NumPy says where they lie; one whose strides are no
multiples of the elements' size is NumPy's view of the pinned memory. Not here: other views (``shape.py``).
"""

from typing import Any

import numpy as np
from numpy.lib import stride_tricks

from .._classes.subclass import plain
from .._creation.conversion import asanyarray
from .._fallback.hosts import to_host
from .._gpupy import call, hold, ndarray


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    array = asanyarray(x) if subok else plain(asanyarray(x))
    if not array._lazy:
        return call("as_strided", stride_tricks.as_strided, (array, shape, strides, subok, writeable), {})
    shape, strides = to_host(shape), to_host(strides)
    steps = array.strides if strides is None else tuple(strides)
    if any(step % array.itemsize for step in steps):
        host = array._pinned(for_life=True)
        view = stride_tricks.as_strided(host, shape, strides, subok, writeable)
        _check_inside(array, view)
        return hold(view, array)
    try:
        return array._views(stride_tricks.as_strided, shape, steps, subok, writeable)
    except IndexError:
        raise ValueError(_OUTSIDE.format(shape, strides)) from None


_OUTSIDE = "shape {} and strides {} reach elements outside the memory of the array"


def _check_inside(array: ndarray, view: np.ndarray[Any, Any]) -> None:
    """Refuses a view that reaches memory of others, which NumPy would read and write."""
    whole = array if array.base is None else array.base
    memory = np.lib.array_utils.byte_bounds(whole._pinned())
    low, high = np.lib.array_utils.byte_bounds(view)
    if view.size and not memory[0] <= low <= high <= memory[1]:
        raise ValueError(_OUTSIDE.format(view.shape, view.strides))


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    array = asanyarray(x) if subok else plain(asanyarray(x))
    args, kwargs = to_host((window_shape, axis)), {"subok": subok, "writeable": writeable}
    if not array._lazy:
        return call("sliding_window_view", stride_tricks.sliding_window_view, (array, *args), kwargs)
    return array._views(stride_tricks.sliding_window_view, *args, **kwargs)


FUNCTIONS = {"as_strided": as_strided, "sliding_window_view": sliding_window_view}
