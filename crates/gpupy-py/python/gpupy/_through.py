"""Views under dtypes that are NumPy's own, and of elements that do not lie at multiples of their size.

Owns ``through``. The elements are computed from the source's, so the array is no view of it in the core.
Item assignment, ``fill`` and in-place operators still reach the source, also of parts that integers and
slices name: they take its elements as they are then, write, and give them back. Every other way of writing
is refused as to a read-only array.
Not here: which elements they are (``_methods.py``).
"""

import operator

from ._gpupy import assign_all, ndarray


def through(source, made, read, write):
    """``made``, whose writes go to ``source``.

    ``read(source)`` gives it anew, ``write(source, array)`` stores it.
    """
    if not source._writable:
        made._writable = False
        return made
    return _over(source, made, read, write)


def _over(source, made, read, write):
    array = ndarray.__new__(_Through, (0,))
    array._replace(made)
    _seal(array)
    array._source, array._read, array._write = source, read, write
    return array


def _seal(array):
    """Lets nobody write to elements that are copies."""
    array._writable = False
    if not array._lazy:
        array._host().flags.writeable = False


class _Through(ndarray):
    """An array of elements that belong to another."""

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
    setattr(_Through, f"__{_name}__", _in_place(_name))
_Through.__name__ = _Through.__qualname__ = "ndarray"
_Through.__module__ = "gpupy"
