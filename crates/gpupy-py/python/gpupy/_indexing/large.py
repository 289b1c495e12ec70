"""Index arrays of arrays with more elements than an int32 counts.

Positions on devices are int32, and memory has mostly no room for such arrays. What index arrays name along an
axis is therefore shown first, by a slice or by few views that are joined, and picked from that; and few
elements are written one by one. Owns ``picked``, ``picked_along`` and ``put``; each gives ``None``, or false,
for what NumPy has to do. Not here: other index arrays (in Rust).
"""

import operator
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .. import _gpupy
from .._fallback.hosts import to_host
from .._gpupy import ndarray

# The elements that an int32 counts.
_MOST_COUNTED = np.iinfo(np.int32).max
# The most views that are joined, and the most elements that are written one by one.
_MOST_PARTS = 64


def has_no_positions(array: Any) -> bool:
    if type(array) is not ndarray or not array._lazy:
        return False
    whole = array if array.base is None else array.base
    return whole.size > _MOST_COUNTED


def picked(array: ndarray, key: Any) -> Any:
    """The elements of a key with index arrays: of few rows, or of rows that lie side by side."""
    parts = _parts(array, key)
    if parts is None:
        return None
    shown: Any = array
    keys = list(parts)
    for axis, at in _axes(parts):
        part, extent = parts[at], array.shape[axis]
        if isinstance(part, slice):
            shown, keys[at] = shown[(*(slice(None),) * axis, part)], slice(None)
            continue
        numbers = _inside(part, extent)
        if numbers is None:
            return None
        shown, keys[at] = _shown(shown, axis, numbers)
        if shown is None:
            return None
    return shown.copy()[tuple(keys)] if shown.size <= _MOST_COUNTED else None


def picked_along(array: ndarray, indices: Any, axis: int) -> Any:
    """``take`` along an axis."""
    if not isinstance(indices, (list, np.ndarray, ndarray, int, np.integer)):
        return None
    axis = normalize_axis_index(axis, array.ndim)
    # Of a number alone the axis goes.
    return picked(array, (*(slice(None),) * axis, np.asarray(to_host(indices))))


def put(array: ndarray, key: Any, value: Any) -> bool:
    """Writes to the few elements, or rows, that a key with index arrays names."""
    parts = _parts(array, key)
    if parts is None:
        return False
    numbers = {}
    for axis, at in _axes(parts):
        if not isinstance(parts[at], slice):
            numbers[at] = _inside(parts[at], array.shape[axis])
    if not numbers or any(found is None for found in numbers.values()):
        return False
    try:
        points = np.broadcast_arrays(*numbers.values())
    except ValueError:
        return False
    values = _values(array, parts, points[0], value)
    if not 0 < points[0].size <= _MOST_PARTS or values is None:
        return False
    for count, point in enumerate(zip(*(found.ravel().tolist() for found in points), strict=True)):
        named = list(parts)
        for at, number in zip(numbers, point, strict=True):
            named[at] = number
        array[tuple(named)] = values if np.ndim(values) == 0 else values[count]
    return True


def _values(array: ndarray, parts: list[Any], points: np.ndarray[Any, Any], value: Any) -> Any:
    """One scalar, or a row of values for each point along the first axis; ``None`` for others."""
    if not isinstance(value, (list, tuple, np.ndarray, ndarray)):
        return value if np.ndim(value) == 0 else None
    value = value if isinstance(value, ndarray) else np.asarray(value)
    if value.ndim == 0:
        return value[()]
    is_first = not isinstance(parts[0], slice) and all(isinstance(part, slice) for part in parts[1:])
    # As many axes as the rows have are broadcast along them.
    if not is_first or points.ndim != 1 or value.ndim > array.ndim:
        return None
    if value.ndim < array.ndim or len(value) == 1:
        row = value if value.ndim < array.ndim else value[0]
        return [row] * points.size
    return value if len(value) == points.size else None


def _parts(array: ndarray, key: Any) -> list[Any] | None:
    """The parts of a key, one for each axis or new axis, with index arrays of NumPy's among them."""
    given = key if type(key) is tuple else (key,)
    parts: list[Any] = []
    for part in given:
        if isinstance(part, (slice, EllipsisType, type(None))):
            parts.append(part)
        elif isinstance(part, (list, np.ndarray, ndarray, int, np.integer)) and not isinstance(part, bool):
            numbers = np.asarray(to_host(part))
            if numbers.dtype.kind == "b" and numbers.ndim:
                taken = sum(map(_is_axis, parts))
                if numbers.shape != array.shape[taken : taken + numbers.ndim]:
                    return None
                parts.extend(numbers.nonzero())
            elif numbers.dtype.kind in "iu" or numbers.size == 0:
                parts.append(numbers.astype(np.intp))
            else:
                return None
        else:
            return None
    missing = array.ndim - sum(map(_is_axis, parts))
    gaps = [at for at, part in enumerate(parts) if part is Ellipsis]
    if missing < 0 or len(gaps) > 1:
        return None
    at = gaps[0] if gaps else len(parts)
    if missing or not gaps:
        # One of no axes stays: it is between index arrays, or is not.
        parts[at : at + 1] = [slice(None)] * missing
    return parts


def _is_axis(part: Any) -> bool:
    return part is not None and part is not Ellipsis


def _axes(parts: list[Any]) -> list[tuple[int, int]]:
    """Each axis, and which part of the key is about it."""
    return list(enumerate(at for at, part in enumerate(parts) if _is_axis(part)))


def _inside(numbers: Any, extent: int) -> Any:
    """Numbers from zero on; ``None`` where one is outside, of which NumPy has the words."""
    numbers = np.where(numbers < 0, numbers + extent, numbers)
    return None if numbers.size and not 0 <= numbers.min() <= numbers.max() < extent else numbers


def _shown(array: ndarray, axis: int, numbers: Any) -> tuple[Any, Any]:
    """A view of what numbers name along an axis, or few views that are joined, and the numbers in it."""
    along = (slice(None),) * axis
    if not numbers.size:
        return array[(*along, slice(0, 1))], numbers
    named = np.unique(numbers)
    low, high = operator.index(named[0]), operator.index(named[-1])
    steps = np.diff(named)
    if not steps.size or (steps == steps[0]).all():
        step = operator.index(steps[0]) if steps.size else 1
        return array[(*along, slice(low, high + 1, step))], (numbers - low) // step
    if named.size > _MOST_PARTS:
        return array[(*along, slice(low, high + 1))], numbers - low
    views: list[Any] = [array[(*along, slice(number, number + 1))] for number in named.tolist()]
    return _gpupy.join(views, axis), np.searchsorted(named, numbers)
