"""Calls that read numeric fields of records, which are the drivers' where ours has an implementation of
them.

Not here: operators, ufuncs and reductions, which see fields by themselves, and what drivers see of records
(``src/array/record_fields.rs``).
"""

from typing import Any

import numpy as np

from .._classes.ufuncs import ufunc_of
from .._gpupy import ndarray
from . import namespace


def own_of_fields(name: str, function: Any, args: tuple[Any, ...]) -> Any:
    """Our implementation of a call that reads fields of records and gives no view; ``None`` for others."""
    if isinstance(function, np.ufunc):
        return ufunc_of(function) if len(args) <= function.nin else None
    if name not in _OF_FIELDS:
        return None
    if name == "__getitem__":
        # The result of an index array or a mask is a copy.
        keys = args[1] if isinstance(args[1], tuple) else (args[1],)
        return (
            ndarray.__getitem__ if any(isinstance(key, (ndarray, np.ndarray, list)) for key in keys) else None
        )
    own = namespace.override(function)
    if own is None and isinstance(args[0], ndarray) and name not in _IN_PLACE:
        return getattr(ndarray, name, None)
    return own


# Functions that read arrays and give new ones.
_OF_FIELDS = frozenset(
    "__getitem__ argmax argmin argpartition argsort astype bincount choose compress concatenate "
    "convolve correlate count_nonzero cross cumprod cumsum delete diff digitize dot einsum extract "
    "flatnonzero gradient histogram hstack inner insert interp isin kron lexsort median nonzero outer "
    "percentile ptp quantile repeat roll searchsorted sort stack take tensordot tile "
    "trapezoid unique vdot vstack where".split()
)
# Of these, functions whose namesakes among the methods change the array itself.
_IN_PLACE = frozenset(("sort",))
