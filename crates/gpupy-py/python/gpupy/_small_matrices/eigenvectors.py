"""``eigh`` and ``eigvalsh`` of many real symmetric matrices of two and three rows: recorded.

Vectors have the signs of LAPACK's steps; where NumPy's LAPACK takes others, NumPy computes them. Not here:
the steps (``tridiagonal.py``), larger and complex matrices, which are NumPy's.
"""

import functools
from typing import Any

import numpy as np

from .._gpupy import call, evaluate
from .requests import dtypes_of, elements_of, in_line, is_taken, marked, repair
from .tridiagonal import Decomposition

_linalg: Any = np.linalg
_ROWS = (2, 3)


def eigh(a, UPLO="L"):
    if not _is_taken("eigh", a, UPLO) or not _are_signs_numpys():
        return call("eigh", _linalg.eigh, (a,), _said(UPLO))
    size, (dtype, result_dtype) = a.shape[-1], dtypes_of(a)
    found = Decomposition(elements_of(a, dtype), UPLO.upper() == "U", True)
    parts = [*found.values, *(x for row in found.vectors for x in row)]
    made = np.stack(marked(parts, ~found.is_doubtful), axis=-1).astype(result_dtype, copy=False)
    made = made.reshape(-1, size * (size + 1))
    evaluate(made)
    values, vectors = made[:, :size].copy(), made[:, size:].copy().reshape(-1, size, size)
    repair(made, (values, vectors), lambda given: _linalg.eigh(given, UPLO), in_line(a))
    return _linalg._linalg.EighResult(values.reshape(a.shape[:-1]), vectors.reshape(a.shape))


def eigvalsh(a, UPLO="L"):
    if not _is_taken("eigvalsh", a, UPLO):
        return call("eigvalsh", _linalg.eigvalsh, (a,), _said(UPLO))
    dtype, result_dtype = dtypes_of(a)
    found = Decomposition(elements_of(a, dtype), UPLO.upper() == "U", False)
    is_sound = ~found.is_doubtful
    made = np.stack(marked(found.values, is_sound), axis=-1).astype(result_dtype, copy=False)
    made = made.reshape(-1, a.shape[-1])
    evaluate(made)
    repair(made, (made,), lambda given: (_linalg.eigvalsh(given, UPLO),), in_line(a))
    return made.reshape(a.shape[:-1])


def _said(triangle: Any) -> dict[str, Any]:
    """The keywords of a call."""
    return {} if type(triangle) is str and triangle == "L" else {"UPLO": triangle}


def _is_taken(name: str, a: Any, triangle: Any) -> bool:
    if not is_taken(name, a, _ROWS[-1]) or a.shape[-1] not in _ROWS or a.dtype.kind == "c":
        return False
    return type(triangle) is str and triangle.upper() in ("L", "U")


@functools.cache
def _are_signs_numpys() -> bool:
    """Whether LAPACK's steps are those that are known, by the signs of some vectors."""
    for size in _ROWS:
        given = np.sin(np.arange(64.0 * size * size) ** 2).reshape(64, size, size)
        for upper in (False, True):
            _, vectors = _linalg.eigh(given, "U" if upper else "L")
            found = Decomposition([list(row) for row in np.moveaxis(given, 0, -1)], upper, True)
            apart = abs(np.stack(found.vectors).transpose(2, 0, 1) - vectors).max(axis=(1, 2))
            if (apart[~found.is_doubtful] > 1e-6).any():
                return False
    return True


FUNCTIONS = {"eigh": eigh, "eigvalsh": eigvalsh}
