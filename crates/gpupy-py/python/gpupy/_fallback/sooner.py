"""Calls that NumPy does sooner than drivers do: they are its, where fallbacks are allowed.

Owns ``is_numpys``, and the tables that say of which functions, and why (`docs/coverage.md` says it too).
Invariant: results are the same either way. Not here: why other functions are NumPy's (``reasons.py``).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._gpupy import current_driver, eager, is_in_memory, ndarray
from .._gpupy import jit as _own
from . import policy

# By function: up to so many elements in host memory.
FEW = {"digitize": 16384, "interp": 32768, "ldexp": 32768, "modf": 16384, "searchsorted": 16384}
# Functions that no number of elements makes faster on the driver `cpu`, each with the reason.
ON_CPU = {
    **dict.fromkeys(("gcd", "lcm"), "loops of different lengths are as long as the longest of many"),
    **dict.fromkeys(("bitwise_count", "frexp"), "the processor has instructions for it"),
    **dict.fromkeys(("matvec", "vecdot", "vecmat"), "BLAS and loops over short rows are as fast"),
}
# Functions for which NumPy remembers the last place, and finds numbers that are in order sooner.
_IN_ORDER = frozenset(("digitize", "interp", "searchsorted"))
_SAMPLED = 16


def is_numpys(name: str, first: Any, arrays: Sequence[Any] = ()) -> bool:
    """Whether NumPy does a function of these arrays sooner; the first says how much there is to do."""
    if not policy.is_allowed() or _own.is_recording():
        return False
    if eager():
        # Errors of arithmetic are NumPy's, of the whole function.
        return True
    is_on_cpu = current_driver() == "cpu"
    if is_on_cpu and name in ON_CPU:
        return True
    if not all(is_in_memory(a) for a in (first, *arrays) if isinstance(a, ndarray)):
        return False
    is_little = getattr(first, "size", 1) <= FEW.get(name, 0)
    return is_little or (is_on_cpu and name in _IN_ORDER and _is_in_order(first))


def _is_in_order(a: Any) -> bool:
    """Whether a sample of the elements is."""
    host = a._host() if isinstance(a, ndarray) else a
    if not isinstance(host, np.ndarray):
        return False
    sample = host.flat[np.arange(_SAMPLED) * (host.size - 1) // (_SAMPLED - 1)]
    return bool((sample[:-1] <= sample[1:]).all())
