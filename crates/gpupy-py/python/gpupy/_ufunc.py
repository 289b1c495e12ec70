"""The methods of ufuncs: ``reduce``, ``accumulate``, ``outer``, ``at``, ``reduceat``.

Reductions that a driver does are recorded; the rest is NumPy's. Not here: calls (in Rust).
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _fallback, _reduce
from ._gpupy import ndarray
from ._gpupy import ufunc as ufunc_class

# NumPy's arrays have no more.
_MOST_AXES = 64


def method(name: str, ufunc: Any, which: str) -> Callable[..., Any]:
    """The method ``which`` of a ufunc, with arrays of ours going in and coming out."""

    def bound(*args: Any, **kwargs: Any) -> Any:
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
            fits = all(isinstance(x, ndarray) and x._lazy for x in args) and a.ndim + b.ndim <= _MOST_AXES
            if fits:
                return lookup_ufunc(ufunc)(a.reshape(a.shape + (1,) * b.ndim), b)
        if which == "at":
            # NumPy's own checks of what may be written to are not complete here.
            return _fallback.call_writing(f"{name}.at", getattr(ufunc, which), args, kwargs)
        return _fallback.call(f"{name}.{which}", getattr(ufunc, which), args, kwargs)

    bound.__name__ = which
    return bound


def warn_of_position(ufunc: Any) -> None:
    """NumPy's own warning, where it has one, for an output that is given by position."""
    ufunc(np.empty(0), np.empty(0), np.empty(0))


def _method(which: str) -> Callable[..., Any]:
    theirs = getattr(np.ufunc, which)

    def function(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return method(self.__name__, self._numpy, which)(*args, **kwargs)

    function.__name__, function.__qualname__ = which, f"ufunc.{which}"
    function.__doc__ = theirs.__doc__
    try:
        function.__signature__ = inspect.signature(theirs)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        # Not every release of NumPy tells it.
        pass
    return function


for _which in ("accumulate", "at", "outer", "reduce", "reduceat", "resolve_dtypes"):
    setattr(ufunc_class, _which, _method(_which))


def _of_numpys(ufunc: Any) -> ufunc_class:
    return lookup_ufunc(ufunc)


def _reduced(self: ufunc_class) -> tuple[Any, ...]:
    return _of_numpys, (self._numpy,)


# NumPy's own knows in which module pickles find it.
ufunc_class.__reduce__ = _reduced  # type: ignore[method-assign, assignment]


def lookup_ufunc(ufunc: np.ufunc) -> ufunc_class:
    """Our ufunc for NumPy's; set by the namespace, which imports this module."""
    raise NotImplementedError(ufunc)
