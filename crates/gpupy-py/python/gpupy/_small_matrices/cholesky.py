"""Triangular roots of many small positive definite matrices: recorded, as Cholesky found them.

Where a pivot is so small that rounding decides whether the matrix is positive definite, it is NumPy's, which
refuses one that is not. Not here: solutions of systems (``elimination.py``).
"""

from typing import Any

import numpy as np

from .._gpupy import call, evaluate
from .requests import (
    LEAST,
    MOST,
    UNSURE,
    dtypes_of,
    elements_of,
    in_line,
    is_taken,
    largest,
    marked,
    repair,
    size_of,
)

_linalg: Any = np.linalg


def cholesky(a, /, *, upper=False):
    if not is_taken("cholesky", a) or type(upper) is not bool:
        return call("cholesky", _linalg.cholesky, (a,), {} if upper is False else {"upper": upper})
    dtype, result_dtype = dtypes_of(a)
    rows, size = elements_of(a, dtype), a.shape[-1]
    if upper:
        # The other triangle is read, and the root is that of its transpose.
        rows = [[_conjugate(rows[j][i]) for j in range(size)] for i in range(size)]
    scale = largest([size_of(rows[i][j]) for i in range(size) for j in range(i + 1)])
    zero = np.zeros_like(rows[0][0])
    root: list[list[Any]] = [[zero] * size for _ in range(size)]
    sound = (scale > LEAST) & (scale < MOST)
    for column in range(size):
        rest = rows[column][column].real
        for at in range(column):
            rest = rest - _square(root[column][at])
        sound = sound & (rest > UNSURE * scale)
        pivot = np.sqrt(rest)
        root[column][column] = pivot.astype(dtype, copy=False)
        for row in range(column + 1, size):
            value = rows[row][column]
            for at in range(column):
                value = value - root[row][at] * _conjugate(root[column][at])
            root[row][column] = value / pivot
    if upper:
        root = [[_conjugate(root[j][i]) for j in range(size)] for i in range(size)]
    made = np.stack(marked([x for row in root for x in row], sound), axis=-1).astype(result_dtype, copy=False)
    evaluate(made)
    made = made.reshape(-1, size, size)
    repair(made, (made,), lambda given: (_linalg.cholesky(given, upper=upper),), in_line(a))
    return made.reshape(a.shape)


def _conjugate(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def _square(x: Any) -> Any:
    """The square of the absolute value."""
    return x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x


FUNCTIONS = {"cholesky": cholesky}
