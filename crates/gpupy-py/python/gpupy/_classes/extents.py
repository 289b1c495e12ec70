"""An array's bytes in its base, and the ranges of them that a device lacks: ``ndarray.extents``.

Owns this attribute of arrays, ``pending_extents`` and ``pending_data``. A subclass may have other
attributes of these names, in the class or in an instance: the descriptors here give way to both, unlike data
descriptors.
Invariant: they evaluate nothing and open no device.

Not here: blocks on a device (``gpupy-engine``), how changes of records are found
(``src/array/shadow_copy.rs``).
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from .. import _gpupy
from .._gpupy import ndarray

Extents = tuple[int, int]
T = TypeVar("T")


class Told(Generic[T]):
    """An attribute that a function computes where the instance has none of its name."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, array: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self, array: object, owner: Any = None) -> T: ...
    def __get__(self, array: object, owner: Any = None) -> Any:
        return self if array is None else self._function(array)


def extents(array: ndarray) -> Extents:
    """The range from the array's first to its last byte in its base, as offset and size."""
    told = _gpupy.extents(array)
    if told is not None:
        return told
    low, high = _bounds(array)
    return low - _bounds(_base(array))[0], high - low


def pending_extents(array: ndarray) -> list[Extents]:
    """The ranges of the array's extents that changed since the driver in use got them, as offsets and sizes.

    Offsets count from the beginning of the extents. A launch that reads the whole array sends the device only
    these bytes. Elements that were written or recorded since the driver had the array are pending, and so is
    all of a new array, and of a pinned base, which other code may write. A constant is sent as one number, so
    that nothing of it is pending. For drivers that work in host memory only elements that are not computed
    are pending.
    """
    told = _gpupy.pending_extents(array)
    if _gpupy.extents(array) is not None:
        return [] if told is None else told
    start, size = extents(array)
    if told is None:
        return [(0, size)] if size else []
    clipped = [(max(first - start, 0), min(first + length - start, size)) for first, length in sorted(told)]
    joined: list[Extents] = []
    for low, high in clipped:
        if low < high and joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        elif low < high:
            joined.append((low, high))
    return [(low, high - low) for low, high in joined]


def pending_data(array: ndarray) -> Extents | None:
    """The range from the first to the last pending byte, as offset and size; ``None`` for none."""
    pending = array.pending_extents
    if not pending:
        return None
    start, (last, size) = pending[0][0], pending[-1]
    return start, last + size - start


def _base(array: ndarray) -> ndarray:
    while isinstance(array.base, ndarray):
        array = array.base
    return array


def _bounds(array: ndarray) -> Extents:
    low, high = np.lib.array_utils.byte_bounds(array._host())
    return low, high if array.size else low


ATTRIBUTES = {
    "extents": Told(extents),
    "pending_data": Told(pending_data),
    "pending_extents": Told(pending_extents),
}
