"""Bits in bytes, with NumPy's signatures: recorded as sums of shifted bits, and as shifts.

Not here: how many bits are set (``composed_ufuncs.py``).
"""

import operator
from typing import Any

import numpy as np

from .._gpupy import call, ndarray
from .._numpys import sooner

_ORDERS = ("big", "little")
# NumPy refuses to unpack more bits, by one error or another.
_MOST = 2**31


def packbits(a, /, axis=None, bitorder="big"):
    rows = _rows("packbits", a, axis, bitorder)
    if rows is None or rows.dtype.kind not in "biu":
        return call("packbits", np.packbits, (a,), {"axis": axis, "bitorder": bitorder})
    bits = np.pad((rows != 0).astype(np.uint8), [(0, 0)] * (rows.ndim - 1) + [(0, -rows.shape[-1] % 8)])
    bits = bits.reshape((*rows.shape[:-1], bits.shape[-1] // 8, 8))
    made: Any = 0
    for at, weight in enumerate(_weights(bitorder)):
        made = (bits[..., at] << weight) | made
    return made if axis is None else np.moveaxis(made, -1, axis)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    rows = _rows("unpackbits", a, axis, bitorder)
    try:
        wanted = None if count is None else operator.index(count)
    except TypeError:
        rows = None
    whole = 0 if rows is None else 8 * rows.shape[-1]
    if rows is None or rows.dtype != np.uint8 or (wanted is not None and not -whole <= wanted < _MOST):
        given = {"axis": axis, "count": count, "bitorder": bitorder}
        return call("unpackbits", np.unpackbits, (a,), given)
    bits = np.stack([(rows >> weight) & np.uint8(1) for weight in _weights(bitorder)], axis=-1)
    made = bits.reshape((*rows.shape[:-1], whole))
    if wanted is not None:
        made = made[..., :wanted]
        lack = max(wanted - whole, 0)
        made = np.pad(made, [(0, 0)] * (rows.ndim - 1) + [(0, lack)]) if lack else made.copy()
    return made if axis is None else np.moveaxis(made, -1, axis)


def _weights(order: str) -> list[np.uint8]:
    return [np.uint8(n) for n in (range(8) if order == "little" else range(7, -1, -1))]


def _rows(name: str, a: Any, axis: Any, order: Any) -> Any:
    """The elements with those of one byte beside each other; ``None`` where NumPy has to judge them."""
    if type(a) is not ndarray or not a._lazy or order not in _ORDERS or sooner.is_numpys(name, a):
        return None
    if axis is None:
        return a.reshape(-1) if a.size else None
    if type(axis) is not int or not -a.ndim <= axis < a.ndim or not a.size:
        return None
    return np.moveaxis(a, axis, -1)


FUNCTIONS = {"packbits": packbits, "unpackbits": unpackbits}
