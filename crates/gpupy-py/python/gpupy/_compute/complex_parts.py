"""The parts of complex numbers: ``real``, ``imag``, ``angle``.

Owns the attributes ``real`` and ``imag`` of arrays and the functions of these names.
Not here: arithmetic, and how a part shares an array's elements (in Rust).
"""

from typing import Any

import numpy as np

from .. import _gpupy
from .._classes.subclass import like
from .._creation import constants, conversion
from .._fallback.hosts import to_host
from .._gpupy import assign_all, call, hold, ndarray, numpy_attribute


def _part(a: ndarray, name: str) -> Any:
    if not a._lazy:
        if type(a) is ndarray:
            return numpy_attribute(a, name)
        return a if name == "real" and a.dtype.kind not in "cO" else like(numpy_attribute, a, name)
    if a.dtype.kind != "c":
        if name == "real":
            return a
        made = constants.zeros_like(a, order="A")
        made._writable = False
        return made
    made = _gpupy.part_of(a, name == "imag")
    return hold(getattr(a._pinned(), name), a) if made is None else made


def _set_part(a: ndarray, name: str, value: Any) -> None:
    if not a._lazy:
        setattr(a._host(), name, to_host(value))
    elif a.dtype.kind == "c":
        assign_all(_part(a, name), conversion.asanyarray(value))
    elif name == "real":
        assign_all(a, conversion.asanyarray(value))
    else:
        # NumPy has the words.
        np.array(a._host()).imag = to_host(value)


def attribute(name: str) -> property:
    """``real`` or ``imag`` as an attribute of arrays."""
    return property(lambda a: _part(a, name), lambda a, value: _set_part(a, name, value))


def _function(name):
    def function(val):
        return _part(val if isinstance(val, ndarray) else conversion.asanyarray(val), name)

    theirs = getattr(np, name)

    def of_anything(val):
        is_array = isinstance(val, (ndarray, np.ndarray, list, tuple))
        return function(val) if is_array else call(name, theirs, (val,), {})

    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything


real, imag = _function("real"), _function("imag")


def angle(z, deg=False):
    if not isinstance(z, ndarray) or not z._lazy:
        return call("angle", np.angle, (z, deg), {})
    made = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0, z)
    return made * (180 / np.pi) if deg else made


FUNCTIONS = {"angle": angle, "imag": imag, "real": real}
