"""``a.flat``: the elements in C order.

Owns ``flatiter``. To code of packages that take NumPy's class alone it is of NumPy's class; none of them
reads one in C. Not here: ``ravel``, which is a method of arrays.
"""

import operator
import sys
import warnings
from typing import Any

import numpy as np

from .._classes import takers
from .._classes.subclass import is_instance, like
from .._fallback import objects
from .._fallback.hosts import to_host
from .._gpupy import call, ndarray, wrap


class flatiter:
    """A flat iterator over an array, as NumPy's: indexed, assigned to, or iterated once."""

    __module__ = "gpupy._flat"

    def __init__(self, array):
        self._array = array
        self._iterator = None

    @property  # type: ignore[misc]
    def __class__(self):
        # Python itself asks without a function, for the names that an error suggests.
        asking = sys._getframe().f_back
        name = None if asking is None else asking.f_globals.get("__name__")
        return np.flatiter if takers.which(name) == takers.ALL else type(self)

    def __gpupy_host__(self):
        return self._array._host().reshape(-1)

    @property
    def base(self):
        return self._array

    @property
    def index(self):
        """How many elements have been given."""
        return 0 if self._iterator is None else self._iterator.index

    @property
    def coords(self):
        """Where the next element stands."""
        if self._iterator is None:
            return (0,) * self._array.ndim
        return self._iterator.coords

    def copy(self, /):
        return self._array.flatten()

    def __array__(self, /, dtype=None, *, copy=None):
        return self._array.flatten().__array__(dtype, copy=copy)

    def ravel(self):
        """The elements as an array; a copy where strides force one."""
        return self._array.ravel()

    def __len__(self):
        return self._array.size

    def __iter__(self):
        # NumPy's own iterator, which costs no call of Python for each element and sees what is written.
        if self._iterator is None:
            self._iterator = self._array._pinned().flat
        return self._iterator

    def __next__(self):
        return next(iter(self))

    def _begin_anew(self):
        """Elements are given from the first one on, after a use of a key, as NumPy has it."""
        if self._iterator is not None:
            self._iterator[:0]

    def __getitem__(self, key):
        self._begin_anew()
        if is_instance(self._array):
            return like(lambda plain: flatiter(plain)[key], self._array)
        if isinstance(key, (slice, type(Ellipsis))):
            return self.ravel()[key].copy()
        if isinstance(key, (bool, np.bool)):
            # A mask without axes, of which NumPy warns.
            return wrap(self._array._host().flat[key])
        if isinstance(key, flatiter):
            # NumPy takes one for a sequence, not for an array.
            return wrap(self._array._host().flat[key._array._host().flat])
        try:
            place = operator.index(key)
        except TypeError:
            # A flat iterator takes fewer keys than an array.
            self._array._meta_array().flat[to_host(key)]
            try:
                found = self.ravel()[key]
            except (IndexError, TypeError):
                # It casts keys of other dtypes, of which it has warned already.
                with warnings.catch_warnings(action="ignore"):
                    return wrap(self._array._host().flat[to_host(key)])
            return found.copy() if hasattr(found, "_copy") else found
        return self._array[self._at(place)]

    def __delitem__(self, key):
        # NumPy has the words.
        del self._array._meta_array().flat[key]

    def __setitem__(self, key, value):
        self._begin_anew()
        array = self._array
        if not array._lazy:
            host, at = array._host(), to_host(key)
            if host.dtype.hasobject:
                one = objects.itself if objects.is_integer(at) and host.dtype == object else objects.stored
                host.flat[at] = one(value)
            else:
                host.flat[at] = to_host(value)
            return
        if not array._may_write():
            raise ValueError("underlying array is read-only")
        try:
            # One of Python's truth values is a mask without axes, though Python has an index for it.
            place = self._at(operator.index(None if isinstance(key, bool) else key))  # type: ignore[arg-type]
        except TypeError:
            # The elements named repeat `value` as often as they need it, which NumPy does.
            array._pinned().flat[to_host(key)] = to_host(value)
            return
        # NumPy refuses here what it takes elsewhere, and wraps what it says.
        array._meta_array().flat[0] = to_host(value)
        array[place] = value

    def _at(self, place: int) -> tuple[int, ...]:
        size = self._array.size
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for size {size}")
        return tuple(int(i) for i in np.unravel_index(place % size, self._array.shape))

    def _compare(self, name: str, other: Any) -> Any:
        return call(name, getattr(operator, name), (self.copy(), other), {})

    def __eq__(self, other):
        return self._compare("eq", other)

    def __ne__(self, other):
        return self._compare("ne", other)

    def __lt__(self, other):
        return self._compare("lt", other)

    def __le__(self, other):
        return self._compare("le", other)

    def __gt__(self, other):
        return self._compare("gt", other)

    def __ge__(self, other):
        return self._compare("ge", other)

    __hash__ = None  # type: ignore[assignment]


def set_flat(array: ndarray, value: Any) -> None:
    """``array.flat = value``."""
    if not array._lazy:
        given = objects.stored(value) if array.dtype.hasobject else to_host(value)
        array._host().flat = given  # type: ignore[misc]
        return
    if not array._may_write():
        raise ValueError("array is read-only")
    flatiter(array)[:] = value
