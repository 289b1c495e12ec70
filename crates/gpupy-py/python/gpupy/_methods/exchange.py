"""Arrays given to other libraries: DLPack, Arrow, JAX, ctypes, NumPy itself.

Not here: what libraries are told (``_libraries``), their tensors as arrays (``_creation/tensors.py``).
"""

import importlib
import sys
from typing import Any

import numpy as np

import gpupy

from .._creation import tensors
from .._gpupy import kind_of, ndarray, retyped, wrap


def dlpack(self, **kwargs):
    host = self._pinned()
    if kind_of(host.dtype) == host.dtype.kind:
        return host.__dlpack__(**kwargs)
    # bfloat16, of which NumPy makes no capsules.
    capsule = host.view(np.uint16).__dlpack__(**kwargs)
    retyped(capsule, tensors.DLPACK_UINT, tensors.DLPACK_BFLOAT)
    return capsule


def arrow_array(self, type=None):
    """Arrow's array of the elements, which it shares where Arrow lays them out as NumPy."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Arrow's layout of an array is made by pyarrow: install it") from error
    return pyarrow.array(self._pinned(), type=type)


def arrow_c_array(self, requested_schema=None):
    # Arrow's own package makes the capsules: it knows how each dtype lies.
    return arrow_array(self).__arrow_c_array__(requested_schema)


def jax_array(self):
    import jax.numpy

    return jax.numpy.asarray(np.asarray(self))


class NotForwarded:
    """A method that NumPy's arrays lack, and libraries ask for: an object that forwards has none of it.

    A class whose ``__getattr__`` gives an array's attributes (a quantity with its unit) seems to have all of
    them; libraries that look for this one would take the array without the object.
    """

    def __init__(self, method: Any) -> None:
        self._method = method

    def __get__(self, array: Any, kind: type[Any] | None = None) -> Any:
        if array is None:
            return self._method
        if sys._getframe(1).f_code.co_name in _FORWARDING:
            name = self._method.__name__
            raise AttributeError(f"'{type(array).__name__}' object has no attribute '{name}'", name=name)
        return self._method.__get__(array, kind)


_FORWARDING = ("__getattr__", "__getattribute__")


@NotForwarded
def to_numpy(self, dtype=None, copy=False):
    """A NumPy array of the elements: over the same memory, unless a copy or another dtype is requested."""
    return np.array(self._pinned(), dtype=dtype, copy=True if copy else None)


def array_wrap(self, array, context=None, return_scalar=False, /):
    made = wrap(array)
    if type(self) is not ndarray:
        return made if type(made) is type(self) else made._like(self)
    made = made if type(made) is ndarray else made._as(ndarray)
    return made[()] if return_scalar and not made.ndim else made


def ctypes(self):
    # The address is a bare number: C may read and write there as long as there is the memory.
    made = self._pinned(for_life=True).ctypes
    # The pointers that it gives keep the array, as NumPy's do.
    made._arr = self
    return made


def device(self):
    return "cpu"


def set_device(self, value):
    # NumPy has the words.
    np.empty(0).device = value  # type: ignore[misc]


def repr_inline(self, max_width):
    """The line that xarray shows of an array, as of one of NumPy's."""
    formatting = importlib.import_module("xarray.core.formatting")
    return formatting.format_array_flat(self._pinned(), max_width)


def namespace_of(self, *, api_version=None):
    return gpupy.array_api.namespace(api_version)
