"""Methods that change what an array is: its size, its flags, its dtype.

Not here: elements (``elements.py``).
"""

import types
import warnings
import weakref

import numpy as np
from numpy.lib import stride_tricks

from .._classes.subclass import plain
from .._fallback.hosts import to_host
from .._gpupy import ndarray, wrap, zeros
from .._views import joining
from .elements import view


def resize(self, new_shape, is_shared):
    """The rest of ``array.resize``, which knows whether anything else may see the array's memory."""
    if not new_shape or (len(new_shape) == 1 and new_shape[0] is None):
        return
    own = plain(self)
    flags = own.flags
    if not flags.forc:
        raise ValueError("resize only works on single-segment arrays")
    # NumPy reads the shape; elements of no bytes take no room.
    read = np.empty(own.shape, np.dtype([]))
    read.resize(*new_shape, refcheck=False)
    size = read.size
    if size != own.size:
        _check_resized(self, is_shared)
    if not own._lazy:
        host = own._host() if size == own.size else own._host().copy("K")
        host.resize(*new_shape, refcheck=False)
        if size != own.size:
            self._replace(wrap(host))
        return
    # Elements keep their order in memory, and axes theirs.
    row, shape = (own.T, read.shape[::-1]) if flags.fnc else (own, read.shape)
    row = row if size == own.size else _resized(row.reshape(-1), size)
    # Without elements even the same shape gets strides of its own, as another one does.
    made = (row if size else row[None]).reshape(shape)
    self._replace(made.T if flags.fnc else made)


def _check_resized(array, is_shared):
    if not array._owns:
        raise ValueError("cannot resize this array: it does not own its data")
    if is_shared or weakref.getweakrefcount(array):
        # NumPy has the words.
        shared = [np.empty(1)] * 2
        shared[0].resize(2)


def _resized(row, size):
    if size <= row.size:
        return row[:size].copy()
    return joining.concatenate([row, zeros(size - row.size, row.dtype)])


def squeeze(self, axis=None):
    # Where no axis goes, NumPy gives the array itself; it takes 0 and -1 for axes of an array without any.
    axis = None if axis is None else to_host(axis)
    nothing = axis is None and 1 not in self.shape
    if nothing or (type(axis) is tuple and not axis) or (not self.ndim and axis in (0, -1)):
        return self
    return self._views(np.ndarray.squeeze, axis)


def setflags(self, write=None, align=None, uic=None):
    if not self._lazy:
        self._host().setflags(write=write, align=align, uic=uic)
    elif write is not None:
        if write and self.base is not None and not self.base._writable:
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        self._writable = bool(write)


def class_getitem(cls, item):
    # NumPy has the words for too few types and too many.
    np.ndarray[item]  # type: ignore[valid-type]
    return types.GenericAlias(cls, item)


def set_dtype(self, dtype):
    """``array.dtype = dtype``: the same memory under another dtype."""
    self._replace(view(plain(self), dtype))


def set_strides(self, strides):
    """``array.strides = strides``, which NumPy advises against: other elements of the same memory."""
    own = plain(self)
    shown = own._pinned().view()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        # NumPy knows what is within the memory.
        shown.strides = strides
    for warning in said:
        warnings.warn(warning.message, warning.category, stacklevel=2)
    self._replace(own._views(stride_tricks.as_strided, shown.shape, shown.strides))


def sizeof(self):
    """The bytes of the object, and of the elements if it owns them, evaluated or not."""
    meta_array = self._meta_array()
    own = self.nbytes if self._lazy and self.base is None else 0
    return np.ndarray.__sizeof__(meta_array) + own


def set_shape(self, shape):
    """``array.shape = shape``, as newer releases of NumPy name it to their subclasses."""
    ndarray.shape.__set__(self, shape)  # type: ignore[attr-defined]
