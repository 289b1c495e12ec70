"""Shapes and memory orders: as arguments, and of arrays that are there.

Not here: the order of axes of a view (``_views/shape.py``).
"""

import operator
from typing import Any

import numpy as np

from .._gpupy import ndarray


def shape_of(shape: Any) -> tuple[int, ...] | None:
    """A shape argument as a tuple of ints, or ``None`` when NumPy has to refuse it."""
    try:
        extents: tuple[int, ...] = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(operator.index(n) for n in shape)
        except TypeError:
            return None
    return None if any(not 0 <= n <= _LARGEST for n in extents) else extents


_LARGEST = np.iinfo(np.intp).max


def order_of(order: Any) -> Any:
    """An order as a capital letter, or ``None``; NumPy words the error for others."""
    letter = order.upper() if isinstance(order, str) else order
    if letter not in ("C", "F", "A", "K", None):
        np.empty(0).ravel(order)
    return letter


def lies_in(array: ndarray, order: str | None) -> bool:
    """Whether the elements lie as an order says, which is a capital letter or ``None``."""
    return (order != "C" or array.flags.c_contiguous) and (order != "F" or array.flags.f_contiguous)


def copied(array: ndarray, order: str | None, dtype: Any = None) -> Any:
    """A copy of a lazy array in an order, with its elements as a lazy dtype."""
    if order == "F":
        turned: Any = array.T._copy(dtype)
        return turned.T._alone()
    return array._copy(dtype, order in ("K", None) or (order == "A" and array.flags.fnc))


def is_of_a_subclass(value: Any) -> bool:
    """Whether it is of a subclass of NumPy's arrays, which decides its own conversion."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray


def axes_as_they_lie(array: np.ndarray[Any, Any]) -> list[int]:
    """The axes of an array from the outermost in memory to the innermost."""
    strides = array.strides
    return sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))


def in_c_order(made: Any) -> Any:
    """An array as NumPy makes one before it fills it: in C order, whatever that of the operands is."""
    return made if made.ndim < 2 or made._c_contiguous else made.copy("C")
