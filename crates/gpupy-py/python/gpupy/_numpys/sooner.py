"""Calls that NumPy does sooner than drivers do: they are its, where fallbacks are allowed.

Owns ``is_numpys``, and the tables that say of which functions, and why (`docs/coverage.md` says it too).
Invariant: results are the same either way.

Not here: why other functions are NumPy's (``_session/reasons.py``).
"""

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._fallback import policy
from .._gpupy import current_driver, eager, is_in_memory, ndarray
from .._gpupy import jit as _own

# By function: up to so many elements in host memory; and of others.
FEW = {
    **dict.fromkeys(("digitize", "modf", "searchsorted"), 16384),
    **dict.fromkeys(("interp", "ldexp"), 32768),
    **dict.fromkeys("cholesky cond det eigh eigvalsh inv slogdet solve".split(), 32768),
    "choose": 1 << 16,
    **dict.fromkeys(("histogram2d", "histogramdd", "ravel_multi_index", "unravel_index"), 1 << 17),
    # Draws of `gpupy.random`.
    **dict.fromkeys(("integers", "random", "uniform"), 1 << 17),
    **dict.fromkeys(("exponential", "normal", "standard_exponential", "standard_normal"), 1 << 14),
}
_LITTLE = 32768
# Functions that no number of elements makes faster on the driver `cpu`, each with the reason.
ON_CPU = {
    **dict.fromkeys(("gcd", "lcm"), "loops of different lengths are as long as the longest of many"),
    **dict.fromkeys(
        ("at", "bincount", "histogram", "histogram_bin_edges", "reduceat"),
        "one thread counts faster than many sort",
    ),
    **dict.fromkeys(
        ("bitwise_count", "frexp", "packbits", "unpackbits"), "the processor has instructions for it"
    ),
    **dict.fromkeys(
        ("convolve", "correlate", "poly", "polymul"), "a short window stays in registers, or is BLAS's"
    ),
    **dict.fromkeys(("matvec", "vecdot", "vecmat"), "BLAS and loops over short rows are as fast"),
    **dict.fromkeys(
        "argpartition median nanmedian nanpercentile nanquantile partition percentile quantile".split(),
        "a partial order takes no longer than the whole one of all cores",
    ),
}
# Of these, functions that drivers do sooner along an axis of so many elements in rows; and where it is given.
_MANY = 1 << 19
_IN_ROWS = {"median": 1, "percentile": 2, "quantile": 2}
# Functions for which NumPy remembers the last place, and finds numbers that are in order sooner.
_IN_ORDER = frozenset(("digitize", "interp", "searchsorted"))
_SAMPLED = 16
# Whether a function that is a driver's calls others, which are then as well.
_are_drivers: contextvars.ContextVar[bool] = contextvars.ContextVar("_are_drivers", default=False)


def by_drivers(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A call of a function that drivers do, with all that it calls."""
    before = _are_drivers.set(True)
    try:
        return function(*args, **kwargs)
    finally:
        _are_drivers.reset(before)


def is_numpys(name: str, first: Any, arrays: Sequence[Any] = ()) -> bool:
    """Whether NumPy does a function of these arrays sooner; the first says how much there is to do."""
    if _are_drivers.get() or not policy.is_allowed() or _own.is_recording():
        return False
    if eager():
        # Errors of arithmetic are NumPy's, of the whole function.
        return True
    if name in ON_CPU and current_driver() == "cpu":
        return True
    for a in (first, *arrays):
        if isinstance(a, ndarray) and not is_in_memory(a):
            return False
    if getattr(first, "size", 1) <= FEW.get(name, _LITTLE):
        return True
    return name in _IN_ORDER and current_driver() == "cpu" and _is_in_order(first)


def is_numpys_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """The same of a function's call."""
    if not args:
        return False
    first = args[0]
    at = _IN_ROWS.get(name)
    if at is not None and type(first) is ndarray and first.ndim > 1 and first.size >= _MANY:
        axis = args[at] if len(args) > at else kwargs.get("axis")
        if type(axis) is int and not eager():
            return False
    return is_numpys(name, first, args[1:])


def _is_in_order(a: Any) -> bool:
    """Whether a sample of the elements is."""
    host = a._host() if isinstance(a, ndarray) else a
    if not isinstance(host, np.ndarray):
        return False
    sample = host.flat[np.arange(_SAMPLED) * (host.size - 1) // (_SAMPLED - 1)]
    return bool((sample[:-1] <= sample[1:]).all())
