"""How far gpupy's values lie from NumPy's.

Owns ``largest``. Not here: how far they may (``catalogue``).
"""

from typing import Any

import numpy as np


def largest(reference: Any, value: Any) -> float:
    """The largest difference of two arrays, as a part of the reference's largest finite value.

    Equal infinities and two NaNs differ by nothing; where only one is not finite, and where shapes or dtypes
    differ, the difference is infinite.
    """
    reference, value = np.asarray(reference), np.asarray(value)
    if (reference.shape, reference.dtype) != (value.shape, value.dtype):
        return np.inf
    same = (reference == value) | (np.isnan(reference) & np.isnan(value))
    if same.all():
        return 0.0
    ours, theirs = value[~same].astype("f8"), reference[~same].astype("f8")
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        return np.inf
    finite = np.abs(reference[np.isfinite(reference)].astype("f8"))
    return float(np.abs(ours - theirs).max() / finite.max()) if finite.any() else np.inf
