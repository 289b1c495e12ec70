"""Methods that read, convert or view elements.

Not here: reductions (``_compute``), functions of index arrays (``_indexing``).
"""

import operator
import sys
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes.subclass import plain
from .._creation import conversion, orders
from .._fallback import objects
from .._fallback.hosts import to_host
from .._gpupy import assign_all, call, count_fallback, hold, kind_of, ndarray, scalar
from .._indexing import select


def copy(self, order="C"):
    """The method, called with an order."""
    return conversion.array(self, order="C" if order is None else order, copy=True, subok=True)


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not subok and type(self) is not ndarray:
        self = self._as(ndarray)
    if order == "K" and casting == "unsafe" and copy is True:
        made = self._cast(dtype)
        if made is not None:
            return made
    given, dtype = dtype, np.dtype(dtype)
    if dtype.kind in "SU" and self.dtype == object and type(self) is ndarray:
        self = hold(objects.as_texts_of(self))
    if self._lazy and _gpupy.is_lazy(dtype):
        letter = order if order == "K" else orders.order_of(order)
        # For arrays in neither order, "A" means C.
        wanted = "C" if letter == "A" and not self.flags.forc else letter
        if dtype == self.dtype and not copy and orders.lies_in(self, wanted):
            return self
        # `same_value` looks at the elements.
        if casting == "unsafe" or (casting != "same_value" and np.can_cast(self.dtype, dtype, casting)):
            return self._copy(dtype, True) if letter == "K" else orders.copied(self, letter, dtype)
    if isinstance(given, type) and issubclass(given, np.dtype):
        # The elements decide about the rest of the dtype, such as the length of strings.
        dtype = given
    if (order, casting, subok, copy) == ("K", "unsafe", True, True):
        return call("astype", np.ndarray.astype, (self, dtype), {})
    options = {"order": order, "casting": casting, "subok": subok, "copy": copy}
    return call("astype", np.ndarray.astype, (self, dtype), options)


def conjugate(self, *args, **kwargs):
    # NumPy copies the dtypes of others.
    if not args and not kwargs and self.dtype.kind in "biuf":
        return self
    if kind_of(self.dtype) in "SUTVMm":
        # NumPy has the words.
        self._host().conj()
    return np.conjugate(self, *args, **kwargs)


def ravel(self, order="C"):
    row = self._row() if order == "C" else None
    if row is not None:
        return row
    if not self._lazy:
        return call("ravel", lambda array, order: array.ravel(order), (self, order), {})
    order = orders.order_of(order)
    flags = self.flags
    if order == "K" and not flags.c_contiguous:
        turned = self.transpose(orders.axes_as_they_lie(self))
        if turned.flags.c_contiguous:
            return turned.reshape(-1)
        made = self._copy_as_read()
        return made.transpose(orders.axes_as_they_lie(made)).reshape(-1)
    if order == "A":
        order = "F" if flags.fnc else "C"
    # A view of other strides could be one axis as well, but NumPy's ravel copies.
    if order == "F":
        return self.T.reshape(-1) if flags.f_contiguous else self.T._copy().reshape(-1)
    return self.reshape(-1) if flags.c_contiguous else self._copy().reshape(-1)


def flatten(self, order="C"):
    made = ravel(self, order)
    return made if made.base is None and made is not self else made.copy()


# Python's numbers, which need no look at what they become.
_NUMBERS = frozenset((bool, int, float, complex))


def fill(self, value):
    if self._lazy:
        if type(value) not in _NUMBERS and not (isinstance(value, (ndarray, scalar)) and not value.ndim):
            # What is no number becomes one element as NumPy makes one, or is refused in its words.
            element = np.empty((), self.dtype)
            element.fill(to_host(value))
            value = element
        assign_all(self, value)
    else:
        host = self._host()
        # One element of objects may be a sequence.
        one = objects.itself if host.dtype == object else objects.stored if host.dtype.hasobject else to_host
        host.fill(one(value))


def item(self, *args):
    # An element's number is asked for, whatever a class gives by an index.
    self = plain(self)
    if not self._lazy:
        return self._host().item(*args)
    if not args:
        key = (0,) * self.ndim if self.size == 1 else None
    elif len(args) == 1 and not isinstance(args[0], tuple):
        key = self._place(args[0])
    else:
        key = args[0] if len(args) == 1 else args
    if key is None or len(key) != self.ndim:
        return self._meta_array().item(*args)
    element = self[key]
    return to_host(element).item()


def place_of(self, flat):
    flat = operator.index(flat)
    if not -self.size <= flat < self.size:
        return None
    return tuple(int(i) for i in np.unravel_index(flat % self.size, self.shape))


# `view` has an argument of this name.
_CLASS = type


def view(self, dtype=None, type=None):
    if type is None and isinstance(dtype, _CLASS) and issubclass(dtype, ndarray | np.ndarray):
        dtype, type = None, dtype
    if type is np.ndarray:
        type = ndarray
    # Of NumPy's masked arrays there are ours.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    if isinstance(type, _CLASS) and issubclass(type, np.ndarray) and not issubclass(type, masked):
        # NumPy's own class, or the program's of it: it shows this array's memory.
        count_fallback("view", [self])
        host = self._pinned()
        return host.view(type=type) if dtype is None else host.view(dtype, type)
    if isinstance(type, _CLASS) and issubclass(type, ndarray):
        made = self._as(type)
        return made if dtype is None else _seen_as(made, dtype)
    if _CLASS(self) is not ndarray and type is None and dtype is not None:
        return _seen_as(self._as(_CLASS(self)), dtype)
    same = dtype is None or (isinstance(dtype, np.dtype | str) or dtype in np.sctypeDict.values())
    if type is None and same:
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        # Dtypes of others may call themselves equal.
        if dtype == self.dtype and _CLASS(dtype) is _CLASS(self.dtype):
            return self._views(np.ndarray.view)
    if type is None and self._lazy:
        made = self._under(dtype)
        if made is not None:
            return made
        # A dtype that is NumPy's own, or elements that lie at no multiples of their size.
        host = self._pinned()
        count_fallback("view", [self])
        return hold(host.view(dtype), self)
    given = [x for x in (dtype, type) if x is not None]
    return call("view", np.ndarray.view, (self, *given), {})


def _seen_as(made: Any, dtype: Any) -> Any:
    """A view that is another's own, under another dtype: a class may have a way of its own to set that."""
    made.dtype = dtype
    return made


def clip(self, min=None, max=None, out=None, **kwargs):
    if out is None and not kwargs and type(self) is ndarray:
        made = _gpupy.clip(self, min, max)
        if made is not None:
            return made
    return select.clip_method(self, min, max, out, **kwargs)


def contains(self, value):
    return bool(plain(self == value).any())
