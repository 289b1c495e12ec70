"""Which bytes an array shows of its base, and which of these a device has not: ``ndarray.extents``.

Owns this attribute of arrays, ``pending_extents`` and ``pending_data``. A subclass may have others of these
names, in the class or in an instance: what computes them gives way to both, as no data descriptor would.
Invariant: asking evaluates nothing and opens no device.

Not here: what is on a device (``gpupy-engine``), how the memory of records is followed
(``src/array/shadow_copy.rs``).
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from . import _gpupy
from ._gpupy import ndarray

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
    """The bytes from the first to the last one that the array shows in its base, as offset and size."""
    told = _gpupy.extents(array)
    if told is not None:
        return told
    low, high = _bounds(array)
    return low - _bounds(_base(array))[0], high - low


def pending_extents(array: ndarray) -> list[Extents]:
    """The ranges of the array's extents that the driver in use has not as they are now, as offsets and sizes.

    Offsets count from the beginning of the extents. A launch that reads all of the array sends the device no
    other bytes. What was written or recorded since the driver had the array is pending, and so is all of a
    new array, and of a pinned base, which others may write. A constant is sent as one number, so nothing of
    it is pending. Drivers that work in host memory have what is there.
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
