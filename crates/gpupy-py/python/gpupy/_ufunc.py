"""The methods of ufuncs: ``reduce``, ``accumulate``, ``outer``, ``at``, ``reduceat``.

Reductions that a driver does are recorded; the rest is NumPy's. Not here: calls (in Rust).
"""

from . import _fallback, _reduce
from ._gpupy import ndarray


def method(name, ufunc, which):
    """The method ``which`` of a ufunc, with arrays of ours going in and coming out."""

    def bound(*args, **kwargs):
        if which == "reduce" and args and isinstance(args[0], ndarray):
            found = _reduce.ufunc_reduce(name, *args, **kwargs)
            if found is not None:
                return found
        if which == "accumulate" and args and isinstance(args[0], ndarray):
            found = _reduce.ufunc_accumulate(name, *args, **kwargs)
            if found is not None:
                return found
        if which == "outer" and len(args) == 2 and not kwargs:
            a, b = args
            if all(isinstance(x, ndarray) and x._lazy for x in args):
                return lookup_ufunc(ufunc)(a.reshape(a.shape + (1,) * b.ndim), b)
        return _fallback.call(f"{name}.{which}", getattr(ufunc, which), args, kwargs)

    bound.__name__ = which
    return bound


def lookup_ufunc(ufunc):
    """Our ufunc for NumPy's; set by the namespace, which imports this module."""
    raise NotImplementedError(ufunc)
