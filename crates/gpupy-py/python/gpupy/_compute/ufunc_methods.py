"""The methods of ufuncs: ``reduce``, ``accumulate``, ``outer``, ``at``, ``reduceat``.

Reductions that a driver does are recorded; the rest is NumPy's. Not here: calls (in Rust), integers' sums by
the last two (``_indexing/unbuffered.py``).
"""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes import subclass
from .._classes.ufuncs import ufunc_of
from .._creation.conversion import asanyarray
from .._fallback import calls
from .._gpupy import assign_all, eager, ndarray, scalar
from .._gpupy import ufunc as ufunc_class
from .._indexing import select, unbuffered
from .._indexing.masks import is_apart
from . import reductions, running

# NumPy's arrays have no more.
_MOST_AXES = 64
_SEGMENTS = frozenset(("axis", "dtype", "out"))


def method(name: str, ufunc: Any, which: str) -> Callable[..., Any]:
    """The method ``which`` of a ufunc, with arrays of ours going in and coming out."""

    def bound(*args: Any, **kwargs: Any) -> Any:
        if subclass.any_instance((*args, *kwargs.values()) if kwargs else args):
            if not any(subclass.decides(x) for x in args):
                return subclass.of_method(ufunc, which, args, kwargs)
        if which == "reduce" and args and isinstance(args[0], ndarray):
            found = reductions.ufunc_reduce(name, *args, **kwargs)
            if found is not None:
                return found
        if which == "accumulate" and args and isinstance(args[0], ndarray):
            found = running.ufunc_accumulate(name, *args, **kwargs)
            if found is not None:
                return found
        if which == "outer" and len(args) == 2 and not kwargs:
            a, b = args
            fits = all(isinstance(x, ndarray) and x._lazy for x in args) and a.ndim + b.ndim <= _MOST_AXES
            if fits:
                return ufunc_of(ufunc)(a.reshape(a.shape + (1,) * b.ndim), b)
        if which == "reduceat" and 1 < len(args) < 6:
            found = unbuffered.reduced_at(name, *args, **kwargs) if kwargs.keys() <= _SEGMENTS else None
            if found is not None:
                return found
        if which == "at" and len(args) == 3 and not kwargs and unbuffered.changed_at(name, *args):
            return None
        if which == "at":
            # NumPy's own checks of what may be written to are not complete here.
            return calls.call_writing(f"{name}.at", getattr(ufunc, which), args, kwargs)
        return _gpupy.call(f"{name}.{which}", getattr(ufunc, which), args, kwargs)

    bound.__name__ = which
    return bound


def called(ufunc: Any, args: tuple[Any, ...], out: Any, where: Any, dtype: Any) -> Any:
    """What a ufunc gives in a dtype and where a mask says so, recorded; ``None`` where NumPy has to judge it.

    Elsewhere the output keeps its elements; without one NumPy promises nothing of them, and they are zero.
    """
    operands: Any = args[: ufunc.nin]
    if not any(type(x) is ndarray and x._lazy for x in operands) or any(_is_numpys(x) for x in operands):
        return None
    mask = asanyarray(where) if type(where) is np.ndarray else where
    if mask is not None and (type(mask) is not ndarray or not mask._lazy or mask.dtype != np.bool):
        return None
    as_array, out = out is ..., None if out is ... else out
    given = [x for x in (out, mask) if x is not None]
    try:
        shape = np.broadcast_shapes(*[getattr(x, "shape", ()) for x in (*operands, *given)])
    except ValueError:
        # NumPy has the words.
        return None
    if dtype is not None and not (ufunc.__name__ in subclass.COMPARED and dtype in (bool, np.bool)):
        # What comparisons give is in it already.
        operands = _cast(ufunc, operands, dtype)
    if operands is None or (out is not None and not _takes(out, shape)):
        return None
    if mask is not None and out is None:
        _warn_of_no_output(ufunc, next(x for x in operands if type(x) is ndarray).dtype)
    if out is not None and any(
        x is not out and type(x) is ndarray and out._shares(x) for x in (*operands, mask)
    ):
        # What is written would be read: NumPy sees to that.
        return None
    if mask is not None:
        operands = _judged_where(ufunc, operands, mask)
        if operands is None:
            return None
    made = ufunc(*operands)
    if not isinstance(made, (ndarray, scalar, np.generic)) or (out is not None and out.dtype != made.dtype):
        return None
    if mask is not None:
        made = select.where(mask, made, made.dtype.type(0) if out is None else out)
    if out is not None:
        assign_all(out, made)
        return out
    return asanyarray(made) if as_array else made


def _judged_where(ufunc: Any, operands: tuple[Any, ...], mask: Any) -> tuple[Any, ...] | None:
    """Operands of which only those that a mask selects can be refused; ``None`` where NumPy judges."""
    if eager():
        # An error of what is computed beside the mask is none.
        return None
    if ufunc.__name__ != "power":
        return operands
    base, exponent = operands
    if not isinstance(exponent, (ndarray, scalar, np.generic)):
        return None if type(exponent) is int and exponent < 0 else operands
    if exponent.dtype.kind != "i":
        return operands
    # Integers have no negative powers.
    return base, select.where(mask, exponent, exponent.dtype.type(1))


def _warn_of_no_output(ufunc: Any, dtype: Any) -> None:
    """NumPy's own warning, where it has one, for a mask without an output."""
    nothing = np.empty(0, dtype)
    with contextlib.suppress(TypeError):
        ufunc._numpy(*(nothing,) * ufunc.nin, where=np.empty(0, bool))


def _takes(out: Any, shape: tuple[int, ...]) -> bool:
    ours = type(out) is ndarray and out._lazy and out._writable
    return ours and out.shape == shape and is_apart(out)


def _cast(ufunc: Any, operands: tuple[Any, ...], dtype: Any) -> tuple[Any, ...] | None:
    """The operands in the dtype that a call names, where the ufunc computes in it and they may be cast."""
    try:
        wanted = np.dtype(dtype)
        same = ufunc._numpy.resolve_dtypes(
            (wanted,) * ufunc.nin + (None,), signature=(None,) * ufunc.nin + (wanted,)
        )
    except TypeError:
        return None
    known = all(type(x) is ndarray and np.can_cast(x.dtype, wanted, "same_kind") for x in operands)
    if not known or any(each != wanted for each in same):
        return None
    return tuple(x if x.dtype == wanted else x.astype(wanted) for x in operands)


def _is_numpys(value: Any) -> bool:
    """Whether it is one that NumPy works on alone, or that it converts."""
    ours = type(value) is ndarray and value._lazy
    return not (ours or isinstance(value, (int, float, complex, np.number, np.bool, scalar)))


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
    return ufunc_of(ufunc)


def _reduced(self: ufunc_class) -> tuple[Any, ...]:
    return _of_numpys, (self._numpy,)


# NumPy's own knows in which module pickles find it.
ufunc_class.__reduce__ = _reduced  # type: ignore[method-assign, assignment]
