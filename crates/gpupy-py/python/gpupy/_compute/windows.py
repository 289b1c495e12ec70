"""Sums of products over a moving window, of short kernels: what NumPy's ``convolve`` and ``correlate`` call.

They are recorded term by term, in NumPy's order; where NumPy calls BLAS, at the ends and for kernels of more
than eleven numbers, the last bits are within the bound of products. Not here: those functions, and
polynomials, which are NumPy's Python (``_numpys/rebound.py``).
"""

from typing import Any

import numpy as np

from .._creation.conversion import asanyarray
from .._gpupy import call, ndarray
from .._numpys import sooner
from .._numpys.rebound import inside

_multiarray: Any = np._core.multiarray  # type: ignore[attr-defined]
# A kernel of more numbers is long.
_SHORT = 128


def correlated(a, v, mode="valid"):
    """NumPy's sums, without conjugates."""
    made = _sums(a, v, mode)
    return call("correlate", _multiarray.correlate, (a, v, mode), {}) if made is None else made


def correlated_with_conjugates(a, v, mode="valid"):
    """NumPy's sums, with conjugates of the second, turned where that is longer."""
    row, kernel = asanyarray(a), asanyarray(v)
    ours = all(type(x) is ndarray and x._lazy and x.ndim == 1 for x in (row, kernel))
    made = _sums(row, np.conj(kernel) if ours and kernel.dtype.kind == "c" else kernel, mode)
    if made is None:
        return call("correlate", _multiarray.correlate2, (a, v, mode), {})
    return made[::-1].copy() if row.size < kernel.size else made


def _sums(a: Any, v: Any, mode: Any) -> Any:
    row, kernel = asanyarray(a), asanyarray(v)
    if not all(type(x) is ndarray and x._lazy and x.ndim == 1 and x.size for x in (row, kernel)):
        return None
    if mode not in ("valid", "same", "full"):
        return None
    if row.size < kernel.size:
        row, kernel = kernel, row
    dtype = np.promote_types(row.dtype, kernel.dtype)
    if kernel.size > _SHORT or dtype.char not in "fdFD" + np.typecodes["AllInteger"]:
        return None
    row, kernel = row.astype(dtype, copy=False), kernel.astype(dtype, copy=False)
    more = kernel.size - 1
    left = {"valid": 0, "same": kernel.size // 2, "full": more}[mode]
    right = {"valid": 0, "same": more - left, "full": more}[mode]
    length = row.size - more + left + right
    made = np.zeros_like(row, shape=length)
    for at in range(kernel.size):
        # Outside of the row there are no terms, whatever the kernel's number is.
        first = max(left - at, 0)
        end = min(row.size + left - at, length)
        terms = row[first + at - left : end + at - left] * kernel[at : at + 1]
        made = made + np.pad(terms, (first, length - end))
    return made


def polymul(a1, a2):
    """NumPy's makes polynomials of both, and convolves their coefficients."""
    rows: list[Any] = [
        asanyarray(a) if type(a) in (ndarray, np.ndarray, list, tuple) else None for a in (a1, a2)
    ]
    ours = any(type(a) is ndarray for a in (a1, a2)) and not sooner.is_numpys("polymul", a1, (a2,))
    if not ours or not all(type(a) is ndarray and a._lazy and a.ndim == 1 and a.size for a in rows):
        return call("polymul", np.polymul, (a1, a2), {})
    trimmed = [np.trim_zeros(row, trim="f") for row in rows]
    first, second = (row if row.size else np.zeros_like(row, shape=1) for row in trimmed)
    return np.convolve(first, second)


FUNCTIONS = {"polymul": polymul}
# By NumPy's functions that its others call.
INSIDE = inside(_multiarray, {"correlate": correlated, "correlate2": correlated_with_conjugates})
