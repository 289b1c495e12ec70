"""Where views of NumPy's lie in the memory that they are of, in elements.

Not here: which arrays of ours the memory is of (``policy.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .._gpupy import ndarray

# The distance from the array's first element; shape and strides.
Place: TypeAlias = tuple[int, Sequence[int], Sequence[int]]


def of_view(host: np.ndarray[Any, Any], result: np.ndarray[Any, Any]) -> Place:
    """The distance of ``result`` from ``host``, of whose memory it is, in elements; its shape and strides."""
    first, there = (a.__array_interface__["data"][0] for a in (host, result))
    return (there - first) // host.itemsize, result.shape, result.strides


def seen(
    standin: np.ndarray[Any, Any], away: int, shape: Any, strides: Sequence[int]
) -> np.ndarray[Any, Any]:
    """The part of a stand-in that begins so many elements away."""
    as_strided, size = np.lib.stride_tricks.as_strided, standin.itemsize
    step = -size if away < 0 else size
    start = as_strided(standin, (abs(away) + 1,), (step,))[abs(away) :]
    return as_strided(start, shape, strides)


def within(array: ndarray, host: np.ndarray[Any, Any], result: np.ndarray[Any, Any]) -> Place | None:
    """Where ``result``, a view of ``host``, lies in the array that ``host`` is a copy of, in C order.

    That is the distance of its first element from the array's, in elements, and its strides; ``None`` where
    its elements are those of no view of the array, as all in one axis may be.
    """
    at = [(a.__array_interface__["data"][0]) // host.itemsize for a in (host, result)]
    if not host.flags.c_contiguous or not 0 <= at[1] - at[0] < host.size:
        return None
    steps = [stride // host.itemsize for stride in result.strides]
    first = np.array(np.unravel_index(at[1] - at[0], host.shape), dtype=int)
    low, high, strides = first.copy(), first.copy(), []
    for extent, step in zip(result.shape, steps, strict=True):
        # An axis goes where its second element lies.
        second = at[1] - at[0] + step
        if extent > 1 and not 0 <= second < host.size:
            return None
        along = np.array(np.unravel_index(second, host.shape)) - first if extent > 1 else 0 * first
        low += np.minimum(along, 0) * (extent - 1)
        high += np.maximum(along, 0) * (extent - 1)
        strides.append(int(along @ np.array(array.strides, dtype=int)))
    if low.min(initial=0) < 0 or (high >= host.shape).any():
        return None
    return int(first @ np.array(array.strides, dtype=int)) // host.itemsize, result.shape, strides
