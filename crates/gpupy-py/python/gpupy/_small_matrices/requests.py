"""Calls with small matrices: which are recorded, their elements and dtypes, and which are doubtful.

A matrix is doubtful where rounding decides: whether it is singular, or which sign a vector has. These few are
NumPy's to compute, and to refuse in its words, however calls to it are allowed. Invariant: what a call can
raise, it raises at once.

Not here: what is computed (``elimination.py``, ``cholesky.py``, ``eigenvectors.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._fallback import policy
from .._fallback.hosts import to_host
from .._gpupy import is_in_memory, ndarray
from .._numpys import sooner

# Rows of the largest matrices.
_ROWS = 4
# What is no more than this share of the largest element of a matrix may be zero.
UNSURE = 1e-12
# Of elements in this range, squares and quotients are as well.
LEAST, MOST = 1e-140, 1e140
# The dtypes that NumPy takes: it computes with doubles, and casts the result.
LETTERS = frozenset("?bBhHiIlLqQfdFD")


def is_taken(name: str, a: Any, most: int = _ROWS) -> bool:
    """Whether a call with such matrices is recorded."""
    if type(a) is not ndarray or (a.ndim < 3 and policy.is_allowed() and is_in_memory(a)):
        # One matrix is NumPy's without many questions.
        return False
    if not a._lazy or a.ndim < 2 or not a.size or a.dtype.char not in LETTERS:
        return False
    return a.shape[-1] == a.shape[-2] <= most and not sooner.is_numpys(name, a)


def dtypes_of(*arrays: ndarray) -> tuple[Any, Any]:
    """The dtype in which NumPy computes, and that of its results."""
    letters = [a.dtype.char for a in arrays]
    is_complex = any(letter in "FD" for letter in letters)
    computed = np.dtype(np.complex128 if is_complex else np.float64)
    if all(letter in "fF" for letter in letters):
        return computed, np.dtype(np.complex64 if is_complex else np.float32)
    return computed, computed


def elements_of(a: Any, dtype: Any) -> list[list[Any]]:
    """The elements at each place of a matrix, of all matrices of a stack at once."""
    a = a.astype(dtype, copy=False)
    a = a if a.ndim > 2 else a[None]
    return [[a[..., i, j] for j in range(a.shape[-1])] for i in range(a.shape[-2])]


def size_of(x: Any) -> Any:
    """The size by which LAPACK compares elements."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def largest(sizes: list[Any]) -> Any:
    """The largest of several numbers, of each matrix."""
    found = sizes[0]
    for each in sizes[1:]:
        found = np.maximum(found, each)
    return found


def marked(parts: list[Any], is_sound: Any) -> list[Any]:
    """The parts of results, the first one no number where a matrix is doubtful: one kernel computes all."""
    return [np.where(is_sound, parts[0], parts[0].dtype.type(np.nan)), *parts[1:]]


def repair(
    computed: Any, results: tuple[Any, ...], function: Callable[..., tuple[Any, ...]], *operands: Any
) -> None:
    """Puts NumPy's results in the place of those of doubtful matrices, which are along the first axis of all.

    The first one of what was ``computed`` for each matrix says which those are.
    """
    is_doubtful = np.isnan(computed.reshape(len(computed), -1)[:, 0])
    if not is_doubtful.any():
        return
    at = np.flatnonzero(to_host(is_doubtful))
    theirs = function(*(to_host(each[at]) for each in operands))
    for own, their in zip(results, theirs, strict=True):
        own[at] = their


def in_line(a: Any) -> Any:
    """The matrices of a stack along one axis."""
    return a.reshape(-1, *a.shape[-2:])
