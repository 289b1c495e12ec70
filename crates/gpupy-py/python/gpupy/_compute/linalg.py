"""Functions of ``numpy.linalg`` that are sums and products: recorded, as those of NumPy's namespace are.

Owns ``FUNCTIONS``. Not here: decompositions and solvers (``_small_matrices``, or NumPy's); the products
themselves (``linear.py``).
"""

from typing import Any

import numpy as np

from .._classes.subclass import any_instance
from .._classes.subclass import plain as plain_of
from .._creation.conversion import asanyarray
from .._gpupy import call, ndarray, ufunc
from .._views import shape
from . import linear

_linalg = np.linalg
# Ours, which NumPy would ask for at each call of its own.
_sqrt = ufunc("sqrt", np.sqrt)


def _lazy(*given: Any) -> list[Any] | None:
    """The operands as lazy arrays of float32, float64 or complex numbers, or ``None``."""
    if any_instance(given):
        return None
    arrays = [asanyarray(a) if isinstance(a, (np.ndarray, list, tuple)) else a for a in given]
    ours = all(isinstance(a, ndarray) and a._lazy and a.dtype.char in "fdFD" for a in arrays)
    return arrays if ours else None


def matmul(x1, x2, /):
    return np.matmul(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    return linear.tensordot(x1, x2, axes)


def outer(x1, x2, /):
    if _lazy(x1, x2) is None or np.ndim(x1) != 1 or np.ndim(x2) != 1:
        return call("outer", _linalg.outer, (x1, x2), {})
    return linear.outer(x1, x2)


def matrix_transpose(x, /):
    return shape.FUNCTIONS["matrix_transpose"](x)


def diagonal(x, /, *, offset=0):
    return shape.FUNCTIONS["diagonal"](x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    return linear.trace(x, offset, -2, -1, dtype)


def vecdot(x1, x2, /, *, axis=-1):
    made, arrays = None, _lazy(x1, x2)
    if arrays is not None and all(-a.ndim <= axis < a.ndim for a in arrays):
        x, y = (np.moveaxis(a, axis, -1) for a in arrays)
        if x.shape[-1] == y.shape[-1]:
            made = (x.conj() * y).sum(-1)
    return call("vecdot", _linalg.vecdot, (x1, x2), {"axis": axis}) if made is None else made


def norm(x, ord=None, axis=None, keepdims=False):
    made = _norm(x, ord, axis, keepdims)
    if made is None:
        return call("norm", _linalg.norm, (x, ord, axis, keepdims), {})
    return made


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    flat, made = x, None
    if isinstance(x, ndarray) and x._lazy and x.ndim and (axis is None or type(axis) is int):
        flat = x.ravel() if axis is None else x
        made = _norm(flat, ord, 0 if axis is None else axis, bool(keepdims))
    if made is None:
        return call(
            "vector_norm", _linalg.vector_norm, (x,), {"axis": axis, "keepdims": keepdims, "ord": ord}
        )
    return made.reshape((1,) * x.ndim) if keepdims and axis is None else made


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    made = _norm(x, ord, (-2, -1), keepdims)
    if made is None:
        return call("matrix_norm", _linalg.matrix_norm, (x,), {"keepdims": keepdims, "ord": ord})
    return made


def _norm(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """NumPy's own steps, or ``None`` where it takes others or has to judge the arguments."""
    x = plain_of(x)
    if type(x) is ndarray and ord is axis is None and not keepdims and x.size and x.dtype.char in "fd":
        row = x._row()
        if row is not None:
            return _sqrt(row @ row)
    if type(x) is ndarray and x._lazy and x.dtype.kind in "biu":
        x = x.astype(float)
    arrays = _lazy(x)
    if arrays is None or not arrays[0].size or not arrays[0].ndim:
        return None
    x, word = arrays[0], isinstance(ord, str)
    of_frobenius = word and ord in ("f", "fro") and x.ndim == 2
    if axis is None and (ord is None or of_frobenius or (x.ndim == 1 and not word and ord == 2)):
        flat = x.ravel("K")
        parts = (flat.real, flat.imag) if x.dtype.kind == "c" else (flat,)
        made = _sqrt(sum(part @ part for part in parts))
        return asanyarray(made).reshape((1,) * x.ndim) if keepdims else made
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not all(type(k) is int and -x.ndim <= k < x.ndim for k in axes):
        return None
    if len(axes) == 2 and not word and ord in (1, -1, np.inf, -np.inf):
        return _of_sums(x, axes, ord, keepdims)
    if len(axes) == 2:
        plain = axes[0] % x.ndim != axes[1] % x.ndim and (ord is None or (word and ord in ("f", "fro")))
        return _root(x, axes, bool(keepdims)) if plain else None
    if len(axes) != 1 or word:
        return None
    if ord is None or ord == 2:
        return _root(x, axes, keepdims)
    if ord == 1:
        return abs(x).sum(axis=axes, keepdims=keepdims)
    if ord in (np.inf, -np.inf):
        return (abs(x).max if ord > 0 else abs(x).min)(axis=axes, keepdims=keepdims)
    return None


def _of_sums(x: ndarray, axes: tuple[int, ...], ord: Any, keepdims: Any) -> Any:
    """The greatest or least sum of a matrix's columns, or rows; ``None`` of an axis with itself."""
    row, column = (axis % x.ndim for axis in axes)
    if row == column:
        return None
    along, across = (row, column) if abs(ord) == 1 else (column, row)
    sums = abs(x).sum(axis=along, keepdims=True)
    made = (sums.max if ord > 0 else sums.min)(axis=across, keepdims=True)
    return (
        made if keepdims else made.reshape([n for at, n in enumerate(x.shape) if at not in (row, column)])[()]
    )


def _root(x: ndarray, axes: tuple[int, ...], keepdims: Any) -> Any:
    """The root of the sum of squares."""
    squares = (x.conj() * x).real if x.dtype.kind == "c" else x * x
    axis = axes if len(axes) > 1 else axes[0]
    return _sqrt(squares.sum(axis) if keepdims is False else squares.sum(axis, keepdims=keepdims))


FUNCTIONS = {
    "diagonal": diagonal,
    "matmul": matmul,
    "matrix_norm": matrix_norm,
    "matrix_transpose": matrix_transpose,
    "norm": norm,
    "outer": outer,
    "tensordot": tensordot,
    "trace": trace,
    "vecdot": vecdot,
    "vector_norm": vector_norm,
}
