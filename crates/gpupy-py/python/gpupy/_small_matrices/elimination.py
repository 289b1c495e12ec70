"""Systems of equations, inverses and determinants of many small matrices: recorded as Gauss's elimination.

Pivots are chosen as LAPACK does, in each matrix its own. Where the least of them is so small that rounding
decides whether the matrix is singular, the matrix is NumPy's. Not here: larger matrices, which are NumPy's.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._creation.conversion import asanyarray
from .._gpupy import call, evaluate, ndarray
from .requests import (
    LEAST,
    LETTERS,
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


class _Triangles:
    """Upper triangles of matrices, beside them the columns that went along, and where rows were exchanged."""

    def __init__(self, rows: list[list[Any]], columns: list[list[Any]]) -> None:
        self._size = len(rows)
        self._scale = largest([size_of(x) for row in rows for x in row])
        self._rows = [[*row, *more] for row, more in zip(rows, columns, strict=True)]
        self.exchanges: list[Any] = []
        for at in range(self._size):
            self._choose_pivot(at)
            pivot = self._rows[at]
            for row in self._rows[at + 1 :]:
                factor = row[at] / pivot[at]
                row[at + 1 :] = [x - factor * y for x, y in zip(row[at + 1 :], pivot[at + 1 :], strict=True)]
        self.pivots = [row[at] for at, row in enumerate(self._rows)]

    def _choose_pivot(self, at: int) -> None:
        """Exchanges a row with the one below that has the largest element, of equals the first."""
        sizes = [size_of(row[at]) for row in self._rows[at:]]
        exchanged: Any = None
        for below in range(self._size - 1, at, -1):
            is_larger = sizes[below - at] > largest(sizes[: below - at])
            is_pivot = is_larger if exchanged is None else is_larger & ~exchanged
            exchanged = is_larger if exchanged is None else is_larger | exchanged
            first, second = self._rows[at], self._rows[below]
            for place in range(at, len(first)):
                x, y = first[place], second[place]
                first[place], second[place] = np.where(is_pivot, y, x), np.where(is_pivot, x, y)
        if exchanged is not None:
            self.exchanges.append(exchanged)

    def are_sound(self) -> Any:
        """Whether a matrix is far from singular, and its elements in range; of NaN neither is true."""
        least = functools.reduce(np.minimum, map(size_of, self.pivots))
        return (least > UNSURE * self._scale) & (self._scale > LEAST) & (self._scale < MOST)

    def solutions(self) -> list[list[Any]]:
        """The unknowns of each column, by rows."""
        size = self._size
        found = [row[size:] for row in self._rows]
        for at in reversed(range(size)):
            for below in range(at + 1, size):
                factor = self._rows[at][below]
                found[at] = [x - factor * y for x, y in zip(found[at], found[below], strict=True)]
            found[at] = [x / self.pivots[at] for x in found[at]]
        return found


def solve(a, b):
    made = None
    if type(b) in (ndarray, np.ndarray, list) and is_taken("solve", a):
        made = _solved(a, asanyarray(b))
    return call("solve", _linalg.solve, (a, b), {}) if made is None else made


def _solved(a: Any, b: Any) -> Any:
    """The unknowns, or ``None`` where NumPy has to judge the right sides."""
    columns = b[:, None] if b.ndim == 1 else b
    if type(b) is not ndarray or not b._lazy or b.dtype.char not in LETTERS or not b.size:
        return None
    try:
        stack = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
    except ValueError:
        stack = None
    if stack is None or columns.shape[-2:-1] != a.shape[-1:]:
        # NumPy has the words.
        return _linalg.solve(a._meta_array(), b._meta_array())
    dtype, result_dtype = dtypes_of(a, b)
    rows = [[x[..., None] for x in row] for row in elements_of(a, dtype)]
    sides = columns.astype(dtype, copy=False)
    found = _Triangles(rows, [[sides[..., row, :]] for row in range(a.shape[-1])])
    parts = marked([row[0] for row in found.solutions()], found.are_sound())
    made = np.stack(parts, axis=-2).astype(result_dtype, copy=False).reshape(-1, *columns.shape[-2:])
    evaluate(made)
    operands = (in_line(np.broadcast_to(x, (*stack, *x.shape[-2:]))) for x in (a, columns))
    repair(made, (made,), lambda *given: (_linalg.solve(*given),), *operands)
    return made.reshape((*stack, *(columns.shape[-2:] if columns is b else b.shape)))


def inv(a):
    if not is_taken("inv", a):
        return call("inv", _linalg.inv, (a,), {})
    return _inverse(a, dtypes_of(a)[1], _linalg.inv)


def _inverse(a: Any, dtype: Any, by_numpy: Callable[[Any], Any]) -> Any:
    computed = dtypes_of(a)[0]
    one = np.eye(a.shape[-1], dtype=computed)
    found = _Triangles(elements_of(a, computed), [[asanyarray(x) for x in row] for row in one])
    parts = marked([x for row in found.solutions() for x in row], found.are_sound())
    made = np.stack(parts, axis=-1).astype(dtype, copy=False).reshape(-1, *one.shape)
    evaluate(made)
    repair(made, (made,), lambda given: (by_numpy(given),), in_line(a))
    return made.reshape(a.shape)


def cond(x, p=None):
    # By singular values it is LAPACK's.
    if p is None or p in (2, -2, "nuc") or not is_taken("cond", x):
        return call("cond", _linalg.cond, (x,) if p is None else (x, p), {})
    dtype, result_dtype = dtypes_of(x)
    inverse = _inverse(x, dtype, _inverse_or_nan)
    made = asanyarray(np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(inverse, p, axis=(-2, -1)))
    made = made.astype(np.dtype(result_dtype.char.lower()), copy=False)
    made = np.where(np.isnan(made) & ~np.isnan(x).any(axis=(-2, -1)), made.dtype.type(np.inf), made)
    return made if made.ndim else made[()]


def _inverse_or_nan(a: Any) -> Any:
    """NumPy's inverses, of singular matrices no numbers."""
    with np.errstate(all="ignore"):
        return _linalg._umath_linalg.inv(a, signature="D->D" if a.dtype.kind == "c" else "d->d")


def _triangles(a: Any) -> tuple[_Triangles, Any, Any]:
    """The triangles, the sign of a determinant by exchanges of rows, and the dtype of results."""
    dtype, result_dtype = dtypes_of(a)
    found = _Triangles(elements_of(a, dtype), [[] for _ in range(a.shape[-1])])
    turns = (np.where(each, dtype.type(-1), dtype.type(1)) for each in found.exchanges)
    return found, functools.reduce(operator.mul, turns, dtype.type(1)), result_dtype


def det(a):
    if not is_taken("det", a):
        return call("det", _linalg.det, (a,), {})
    found, sign, result_dtype = _triangles(a)
    product = functools.reduce(operator.mul, found.pivots, sign)
    # Its range ends sooner than that of logarithms, which NumPy adds.
    parts = marked([product], found.are_sound() & np.isfinite(product) & (product != 0))
    made = parts[0].astype(result_dtype, copy=False).reshape(-1)
    evaluate(made)
    repair(made, (made,), lambda given: (_linalg.det(given),), in_line(a))
    return made.reshape(a.shape[:-2]) if a.ndim > 2 else made[0]


def slogdet(a):
    if not is_taken("slogdet", a):
        return call("slogdet", _linalg.slogdet, (a,), {})
    found, sign, result_dtype = _triangles(a)
    sizes = [abs(pivot) for pivot in found.pivots]
    sign = functools.reduce(operator.mul, map(operator.truediv, found.pivots, sizes), sign)
    total = functools.reduce(operator.add, map(np.log, sizes))
    parts = marked([sign, total.astype(sign.dtype, copy=False)], found.are_sound())
    both = np.stack(parts, axis=-1).astype(result_dtype, copy=False).reshape(-1, 2)
    evaluate(both)
    made = both[:, 0].copy(), both[:, 1].real.copy()
    repair(both, made, _linalg.slogdet, in_line(a))
    shown = (each.reshape(a.shape[:-2]) if a.ndim > 2 else each[0] for each in made)
    return _linalg._linalg.SlogdetResult(*shown)


FUNCTIONS = {"cond": cond, "det": det, "inv": inv, "slogdet": slogdet, "solve": solve}
