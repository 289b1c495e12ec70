"""Views under dtypes that are NumPy's own, and of elements that do not lie at multiples of their size.

Owns ``through`` and ``Through``. The elements are computed from the source's, so the array is no view of it
in the core. Item assignment, ``fill``, in-place operators and NumPy's functions still reach the source,
also of views of such views: they take its elements as they are then, write, and give them back. Every other
way of writing is refused as to a read-only array. Not here: which elements they are (``_methods.py``).
"""

import operator

import numpy as np

from ._gpupy import assign_all, hold, ndarray, wrap


def through(source, made, read, write):
    """``made``, whose writes go to ``source``.

    ``read(source)`` gives it anew, ``write(source, array)`` stores it.
    """
    if not source._writable:
        made._writable = False
        return made
    return _over(source, made, read, write)


def _over(source, made, read, write):
    array = ndarray.__new__(Through, (0,))
    array._replace(made)
    _seal(array)
    array._source, array._read, array._write = source, read, write
    return array


def _seal(array):
    """Lets nobody write to elements that are copies."""
    array._writable = False
    if not array._lazy:
        array._host().flags.writeable = False


class Through(ndarray):
    """An array of elements that belong to another."""

    @property
    def _open(self):
        """Whether what is written to it reaches an array that may be written to."""
        return self._source._open if type(self._source) is Through else self._source._writable

    def _part(self, view_of):
        """The view of this that a function gives of a copy of its elements in host memory."""

        def write(array, part):
            array._written(lambda fresh: change(fresh, part))

        def change(fresh, part):
            copy = np.array(fresh._host(), order="C")
            view_of(copy)[...] = part._host()
            assign_all(fresh, copy)

        def read(array):
            view = view_of(np.array(array._read(array._source)._host(), order="C"))
            made = wrap(np.array(view))
            # NumPy's own dtypes lie as the view does.
            return made if made._lazy else hold(view)

        return _over(self, read(self), read, write)

    def _written(self, change):
        fresh = self._read(self._source)
        fresh._writable = True
        change(fresh)
        self._write(self._source, fresh)
        self._replace(fresh)
        _seal(self)
        return self

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if not (isinstance(found, ndarray) and _is_basic(key)):
            return found
        return _over(
            self, found, lambda a: a._read(a._source)[key], lambda a, part: operator.setitem(a, key, part)
        )

    def __setitem__(self, key, value):
        self._written(lambda fresh: operator.setitem(fresh, key, value))

    def fill(self, value):
        self._written(lambda fresh: assign_all(fresh, value))


def _is_basic(key):
    """Whether a key names a view."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(part is None or part is ... or type(part) in (int, slice) for part in parts)


def _in_place(name):
    function = getattr(operator, name)

    def method(self, value):
        return self._written(lambda fresh: function(fresh, value))

    method.__name__ = f"__{name}__"
    return method


for _name in "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split():
    setattr(Through, f"__{_name}__", _in_place(_name))
Through.__name__ = Through.__qualname__ = "ndarray"
Through.__module__ = "gpupy"
