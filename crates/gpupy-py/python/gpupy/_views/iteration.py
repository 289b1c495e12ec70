"""``nditer`` and ``nested_iters`` over arrays of ours.

Owns both, which are NumPy's own over the arrays' memory, which stays pinned as long as there is the iterator.
What NumPy allocates or casts for an operand is shared with the iterator. Not here: iteration over one array
(in Rust), ``flat`` (``flat.py``).
"""

from typing import Any

import numpy as np

from .._fallback.hosts import named_to_host, to_host
from .._gpupy import hold, ndarray

_OWN = ("_given", "_hosts", "_iterator")


class nditer:
    __doc__ = np.nditer.__doc__
    __module__ = "gpupy._iteration"
    __slots__ = _OWN

    def __init__(
        self,
        op,
        flags=None,
        op_flags=None,
        op_dtypes=None,
        order="K",
        casting="safe",
        op_axes=None,
        itershape=None,
        buffersize=0,
    ):
        rest = to_host((flags, op_flags, op_dtypes, order, casting, op_axes, itershape, buffersize))
        self._iterator = np.nditer(self._take(op), *rest)

    def _take(self, op):
        """Operands for NumPy, as these were given."""
        several = isinstance(op, (tuple, list))
        self._given = tuple(op) if several else (op,)
        # An operand that is given twice is one.
        hosts = {id(each): _operand(each) for each in self._given}
        self._hosts = [hosts[id(each)] for each in self._given]
        return self._hosts if several else self._hosts[0]

    def _over(self, iterator):
        """A copy with the same operands and another iterator of NumPy's."""
        made = object.__new__(nditer)
        made._given, made._hosts, made._iterator = self._given, self._hosts, iterator
        return made

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)

    def __enter__(self):
        self._iterator.__enter__()
        return self

    def __exit__(self, *failure):
        return self._iterator.__exit__(*failure)

    @property
    def operands(self):
        """The arrays that were given; others of NumPy's where it iterates over these."""
        ours = {id(h): g for h, g in zip(self._hosts, self._given, strict=True) if isinstance(g, ndarray)}
        return tuple(ours[id(f)] if id(f) in ours else hold(f) for f in self._iterator.operands)

    def copy(self, /):
        return self._over(self._iterator.copy())

    __copy__ = copy

    def __len__(self):
        return len(self._iterator)

    def __getitem__(self, key):
        return self._iterator[key]

    def __setitem__(self, key, value):
        self._iterator[key] = to_host(value)

    def __delitem__(self, key):
        del self._iterator[key]  # type: ignore[attr-defined]

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
    found = np.nested_iters(outer._take(op), axes, flags, op_flags, *to_host(args), **named_to_host(kwargs))
    return tuple(outer._over(iterator) for iterator in found)


FUNCTIONS = {"nested_iters": nested_iters}


def _operand(array: Any) -> Any:
    """NumPy's array for an operand."""
    return array._pinned() if isinstance(array, ndarray) else to_host(array)
