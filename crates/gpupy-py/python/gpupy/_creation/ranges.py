"""Ranges of numbers: ``arange`` and ``linspace``.

Those of lazy dtypes are expressions and take no memory. Not here: ranges of few ints (in Rust).
"""

import math
import operator
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes import subclass
from .._fallback.hosts import named_to_host, to_host
from .._gpupy import call, is_lazy, wrap
from .asked import given_like, refuse


def arange(*args, dtype=None, device=None, like=None, **kwargs):
    if like is not None:
        return given_like(arange, *args, dtype=dtype, device=device, like=like, **kwargs)
    refuse(device)
    if len(args) > 3 and dtype is None:
        args, dtype = args[:3], args[3]
    if not kwargs and 1 <= len(args) <= 3:
        made = _arange(dtype, *[to_host(x) for x in args])
        if made is not None:
            return made
    return wrap(np.arange(*to_host(args), dtype=dtype, **named_to_host(kwargs)))


def _arange(dtype: Any, start: Any, stop: Any = None, step: Any = 1) -> Any:
    """NumPy's range: the first two elements fix the difference that the others grow by."""
    if stop is None:
        start, stop = 0, start
    given = (start, stop, step)
    if step == 0 or not all(type(x) in (int, float) and math.isfinite(x) for x in given):
        return None
    whole = all(type(x) is int for x in given)
    dtype = np.dtype((int if whole else float) if dtype is None else dtype)
    length = max(math.ceil((stop - start) / step), 0)
    if not is_lazy(dtype) or length <= 2 or length >= 2**31:
        return None
    if dtype.kind in "iu" and whole:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        inside = all(least <= x <= most for x in (*given, start + step))
        return _gpupy.ramp(length, start, step, dtype) if inside else None
    if dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        # NumPy computes float16 in float32.
        wide = np.dtype(np.float32) if dtype == np.float16 else dtype
        first, second = (wide.type(dtype.type(x)) for x in (start, start + step))
        delta = second - first
        made: Any = _gpupy.ramp(length, first, delta, wide)
        made = made if wide == dtype else made.astype(dtype)
        # Rounding may part the formula from the two elements that NumPy stores as they are.
        if first + wide.type(0) * delta != first or math.copysign(1, first) < 0:
            made[0] = first
        if dtype.type(first + wide.type(1) * delta) != second:
            made[1] = second
        return made


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    refuse(device)
    given = [start, stop] if subclass.any_instance((start, stop)) else [to_host(x) for x in (start, stop)]
    if all(isinstance(x, _ENDS) and type(x) is not bool for x in given) and axis in (0, -1):
        # Numbers of Python's have no dtype of their own.
        is_short = all(type(x) in (int, float, np.float32) for x in given)
        wide = np.float32 if is_short and any(type(x) is np.float32 for x in given) else np.float64
        made = _linspace(wide(given[0]), wide(given[1]), operator.index(num), endpoint, dtype)
        if made is not None:
            return made if retstep else made[0]
    arguments = {"endpoint": endpoint, "retstep": retstep, "dtype": dtype, "axis": axis}
    return call("linspace", np.linspace, (*given, num), arguments)


_ENDS = (int, float, np.float32, np.integer)


def _linspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any) -> Any:
    """NumPy's own steps in the dtype of the ends, and the step; or ``None`` where it takes others."""
    spaces = num - 1 if endpoint else num
    if not 0 < spaces < 2**31 or not is_lazy(start.dtype):
        return None
    with np.errstate(all="ignore"):
        step = (stop - start) / spaces
    if step == 0:
        return None
    made = _gpupy.ramp(num, start, step, start.dtype, stop if endpoint else None)
    if dtype is None:
        return made, step
    dtype = np.dtype(dtype)
    if not is_lazy(dtype):
        return None
    return (np.floor(made) if dtype.kind in "iu" else made).astype(dtype), step


FUNCTIONS = {function.__name__: function for function in (_gpupy.arange, linspace)}
