"""``nditer`` and ``nested_iters`` over arrays of ours.

Owns both, which are NumPy's own over host memory. Operands that they may write to are copies, which go
back to their arrays when an iteration ends, is closed, leaves its context, or is written to as a whole.
What NumPy allocates or casts for an operand is shared with the iterator. Not here: iteration over one array
(in Rust), ``flat`` (``_flat.py``).
"""

import numpy as np

from ._fallback import to_host
from ._gpupy import assign_all, hold, ndarray

_WRITES = frozenset(("readwrite", "writeonly"))
_OWN = ("_given", "_hosts", "_iterator", "_written")


class nditer:
    __doc__ = np.nditer.__doc__
    __slots__ = _OWN

    def __init__(self, op, flags=None, op_flags=None, *args, **kwargs):
        hosts = self._take(op, op_flags)
        self._iterator = np.nditer(hosts, flags, op_flags, *to_host(args), **to_host(kwargs))

    def _take(self, op, op_flags):
        """Operands for NumPy, as these were given."""
        several = isinstance(op, (tuple, list))
        self._given, self._written = tuple(op) if several else (op,), []
        self._hosts = [self._operand(each, _flags_of(op_flags, n)) for n, each in enumerate(self._given)]
        return self._hosts if several else self._hosts[0]

    def _over(self, iterator):
        """The same operands with another iterator of NumPy's."""
        made = object.__new__(nditer)
        made._given, made._hosts, made._written = self._given, self._hosts, self._written
        made._iterator = iterator
        return made

    def _operand(self, array, flags):
        if not isinstance(array, ndarray):
            return to_host(array)
        if not (array._lazy and array._writable and not _WRITES.isdisjoint(flags)):
            return array._host()
        # The copy of an array that is an operand twice is one, as the array is.
        for other, copy in self._written:
            if other is array:
                return copy
        copy = np.array(array._host())
        self._written.append((array, copy))
        return copy

    def _write_back(self):
        for array, copy in self._written:
            assign_all(array, copy)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._iterator)
        except StopIteration:
            self._write_back()
            raise

    def iternext(self):
        more = self._iterator.iternext()
        if not more:
            self._write_back()
        return more

    def close(self):
        self._iterator.close()
        self._write_back()

    def __enter__(self):
        self._iterator.__enter__()
        return self

    def __exit__(self, *failure):
        self._iterator.__exit__(*failure)
        self._write_back()

    @property
    def operands(self):
        """The arrays that were given; others of NumPy's where it iterates over these."""
        ours = {id(h): g for h, g in zip(self._hosts, self._given, strict=True) if isinstance(g, ndarray)}
        return tuple(ours[id(f)] if id(f) in ours else hold(f) for f in self._iterator.operands)

    def copy(self):
        return self._over(self._iterator.copy())

    __copy__ = copy

    def __len__(self):
        return len(self._iterator)

    def __getitem__(self, key):
        return self._iterator[key]

    def __setitem__(self, key, value):
        self._iterator[key] = to_host(value)
        self._write_back()

    def __delitem__(self, key):
        del self._iterator[key]

    def __getattr__(self, name):
        return getattr(self._iterator, name)

    def __setattr__(self, name, value):
        if name in _OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._iterator, name, value)

    def __delattr__(self, name):
        delattr(self._iterator, name)


def nested_iters(op, axes, flags=None, op_flags=None, *args, **kwargs):
    outer = object.__new__(nditer)
    hosts = outer._take(op, op_flags)
    found = np.nested_iters(hosts, axes, flags, op_flags, *to_host(args), **to_host(kwargs))
    return tuple(outer._over(iterator) for iterator in found)


FUNCTIONS = {"nested_iters": nested_iters}


def _flags_of(op_flags, n):
    """The flags of one operand, given for each or once for all."""
    if not op_flags:
        return ()
    if all(isinstance(flag, str) for flag in op_flags):
        return op_flags
    return op_flags[n] if n < len(op_flags) else ()
