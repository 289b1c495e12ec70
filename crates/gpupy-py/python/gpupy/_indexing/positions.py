"""Where elements are not zero.

Owns ``nonzero`` and its kin. Not here: the elements there (``index_arrays.py``).
"""

from typing import Any

import numpy as np

from .. import _gpupy
from .._classes.subclass import has_own, is_instance, plain
from .._creation.conversion import asanyarray
from .._fallback.others import decides, of_other
from .._gpupy import call, ndarray
from .._numpys.rebound import by_methods
from .._views.joining import stack


def nonzero(a):
    if type(a) is ndarray:
        return nonzero_method(a)
    if decides(a, "nonzero"):
        return of_other("nonzero", a)
    a = asanyarray(a)
    if has_own(a, "nonzero"):
        return a.nonzero()
    return nonzero_method(a)


def nonzero_method(self):
    """The method."""
    few = _gpupy.nonzero(self)
    if few is not None:
        return few
    a = plain(self)
    found = _along_axes(a)
    if found is None:
        return call("nonzero", np.nonzero, (a,), {})
    if a.ndim == 1:
        return tuple(found)
    # NumPy's are columns of one array.
    places = np.stack(found, axis=-1)
    return tuple(places[:, axis] for axis in range(a.ndim))


def argwhere(a):
    if type(a) is not ndarray and decides(a, "nonzero"):
        return of_other("argwhere", a)
    a = asanyarray(a)
    if is_instance(a):
        return by_methods(np.argwhere, a)
    found = _gpupy.nonzero(a) or _along_axes(a)
    return call("argwhere", np.argwhere, (a,), {}) if found is None else stack(found).T


def flatnonzero(a):
    if type(a) is not ndarray and decides(a):
        return of_other("flatnonzero", a)
    return nonzero(_ravel(a))[0]


def _ravel(a: Any) -> Any:
    return asanyarray(a).ravel()


def _along_axes(a: ndarray) -> list[Any] | None:
    """Where elements are not zero, along each axis; ``None`` where NumPy finds it."""
    if not a._lazy or not a.ndim or a.size >= 2**31:
        return None
    mask = a if a.dtype == np.bool else a != 0
    rest = _gpupy.positions(mask if a.ndim == 1 else mask.reshape(-1))
    if rest is None or a.ndim == 1:
        return rest if rest is None else [rest]
    found: list[Any] = []
    for extent in a.shape[:0:-1]:
        found.append(rest % max(extent, 1))
        rest = rest // max(extent, 1)
    return [rest, *found[::-1]]


FUNCTIONS = {"argwhere": argwhere, "flatnonzero": flatnonzero, "nonzero": nonzero}
