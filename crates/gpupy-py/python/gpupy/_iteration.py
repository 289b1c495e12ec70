"""``nditer`` over arrays of ours.

Owns ``nditer``, which is NumPy's own over host memory. Operands that it may write to are copies, which go
back to their arrays when the iteration ends, is closed, or leaves its context. Not here: iteration
over one array (in Rust), ``flat`` (``_flat.py``).
"""

import numpy as np

from ._fallback import to_host
from ._gpupy import assign_all, ndarray, wrap

_WRITES = frozenset(("readwrite", "writeonly"))
_OWN = ("_given", "_iterator", "_written")


class nditer:
    __doc__ = np.nditer.__doc__
    __slots__ = _OWN

    def __init__(self, op, flags=None, op_flags=None, *args, **kwargs):
        several = isinstance(op, (tuple, list))
        self._given, self._written = tuple(op) if several else (op,), []
        hosts = [self._operand(each, _flags_of(op_flags, n)) for n, each in enumerate(self._given)]
        self._iterator = np.nditer(
            hosts if several else hosts[0], flags, op_flags, *to_host(args), **to_host(kwargs)
        )

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
        """The arrays, as they were given where they were."""
        found = self._iterator.operands
        ours = [g if isinstance(g, ndarray) else None for g in self._given]
        ours += [None] * (len(found) - len(ours))
        return tuple(wrap(f) if own is None else own for f, own in zip(found, ours, strict=True))

    def copy(self):
        made = object.__new__(nditer)
        made._given, made._written = self._given, self._written
        made._iterator = self._iterator.copy()
        return made

    __copy__ = copy

    def __len__(self):
        return len(self._iterator)

    def __getitem__(self, key):
        return self._iterator[key]

    def __setitem__(self, key, value):
        self._iterator[key] = to_host(value)

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


def _flags_of(op_flags, n):
    """The flags of one operand, given for each or once for all."""
    if not op_flags:
        return ()
    if all(isinstance(flag, str) for flag in op_flags):
        return op_flags
    return op_flags[n] if n < len(op_flags) else ()
