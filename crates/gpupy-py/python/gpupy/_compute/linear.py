"""Products of vectors and matrices with NumPy's signatures: recorded as matrix products.

Operands are transposed as views, and made rows and columns of one matrix where several axes are summed over.
Not here: ``matmul`` itself, which is a ufunc (in Rust), and ``einsum`` (``einsum.py``).
"""

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._classes.subclass import any_instance, as_of, has_own, is_instance, plain
from .._creation.conversion import asanyarray
from .._fallback.through_numpy import through_numpy
from .._gpupy import call, empty, little_product, ndarray
from .._numpys.rebound import by_methods, over_ours
from .._views.shape import FUNCTIONS as FUNCTIONS_OF_VIEWS
from .recorded import given_to

# Arrays have no more axes.
_MOST_AXES = 64


def operands_of(*given: Any) -> list[Any] | None:
    """The operands as lazy arrays with elements, or ``None``."""
    if all([type(a) is ndarray and a._lazy for a in given]):
        return [*given]
    if any_instance(given):
        # NumPy handles them.
        return None
    arrays = [asanyarray(a) if isinstance(a, (np.ndarray, list, tuple)) else a for a in given]
    ours = all(isinstance(a, ndarray) and a._lazy for a in arrays)
    return arrays if ours else None


def finished(
    name: str, result: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """The result, or NumPy's where there is none or ``out`` cannot hold it as it is."""
    result = None if result is None else given_to(out, result)
    if result is not None:
        return result
    given = dict(kwargs or {})
    return call(name, getattr(np, name), args, given if out is None else {**given, "out": out})


def size_of(shape: Iterable[int]) -> int:
    return functools.reduce(operator.mul, shape, 1)


def _contracted(a: ndarray, b: ndarray, axes_a: Sequence[int], axes_b: Sequence[int]) -> Any:
    """The sum of products over pairs of axes: the others of ``a``, then those of ``b``; or ``None``."""
    if [a.shape[k] for k in axes_a] != [b.shape[k] for k in axes_b]:
        return None
    kept_a = [k for k in range(a.ndim) if k not in axes_a]
    kept_b = [k for k in range(b.ndim) if k not in axes_b]
    rows, columns = [a.shape[k] for k in kept_a], [b.shape[k] for k in kept_b]
    n = size_of(a.shape[k] for k in axes_a)
    left = a.transpose(*kept_a, *axes_a).reshape(size_of(rows), n) if a.ndim else a.reshape(1, 1)
    right = b.transpose(*axes_b, *kept_b).reshape(n, size_of(columns)) if b.ndim else b.reshape(1, 1)
    product = _times(left, right)
    return None if product is None else product.reshape((*rows, *columns))


def _dtype(a: ndarray, b: ndarray) -> Any:
    """The dtype of NumPy's ``dot``; ``None`` where the operands have none in common, and it takes objects."""
    try:
        return np.promote_types(a.dtype, b.dtype)
    except TypeError:
        return None


def _times(a: ndarray, b: ndarray) -> Any:
    """The product by ``dot``, or ``None``: of bfloat16, ``matmul`` gives a wider one."""
    if "V" not in (a.dtype.kind, b.dtype.kind):
        return a @ b
    dtype = _dtype(a, b)
    return None if dtype is None else (a @ b).astype(dtype)


def _scaled(a: ndarray, b: ndarray) -> Any:
    """The product by ``dot`` with an operand without axes, or ``None``; in C order where NumPy calls BLAS."""
    dtype = _dtype(a, b)
    if dtype is None:
        return None
    if dtype.char in "fdFD" and max(a.ndim, b.ndim) <= 2:
        a, b = _in_c_order(a), _in_c_order(b)
    return np.multiply(a, b)


def _in_c_order(a: Any) -> Any:
    return a if a.flags.c_contiguous else a._copy()


def _element(product: Any) -> Any:
    """A product as in NumPy except ``tensordot``: no view of another shape, and a scalar without axes."""
    if product is None or not product.ndim:
        return None if product is None else product[()]
    return product._alone() if product.size else product._copy()


def dot(a, b, out=None):
    if out is None and (product := little_product(a, b)) is not None:
        return product
    if out is None and type(a) is ndarray and type(b) is ndarray and a.ndim and 0 < b.ndim <= 2:
        if a._lazy and b._lazy and a.shape[-1] == b.shape[0] and (product := _times(a, b)) is not None:
            return product
    if out is None and (is_instance(a) or is_instance(b)):
        return as_of(dot(plain(a), plain(b)), a, b)
    result, arrays = None, operands_of(a, b)
    if arrays is not None:
        x, y = arrays
        if not x.ndim or not y.ndim:
            result = _scaled(x, y)
        elif y.ndim <= 2:
            result = _times(x, y) if x.shape[-1] == y.shape[0] else None
        elif x.ndim + y.ndim - 2 <= _MOST_AXES:
            result = _element(_contracted(x, y, [x.ndim - 1], [y.ndim - 2]))
    if isinstance(out, ndarray) and not out.flags.c_contiguous:
        # NumPy takes no other order, and has the words.
        result = None
    return finished("dot", result, out, (a, b))


def inner(a, b, /):
    if is_instance(a) or is_instance(b):
        return as_of(inner(plain(a), plain(b)), a, b)
    result, arrays = None, operands_of(a, b)
    if arrays is not None:
        x, y = arrays
        if not x.ndim or not y.ndim:
            result = _scaled(x, y)
        elif x.ndim + y.ndim - 2 <= _MOST_AXES:
            result = _element(_contracted(x, y, [x.ndim - 1], [y.ndim - 1]))
    return finished("inner", result, None, (a, b))


def outer(a, b, out=None):
    if is_instance(a) or is_instance(b):
        return by_methods(np.outer, a, b, out)
    arrays = operands_of(a, b)
    result = None
    if arrays is not None:
        x, y = (array if array.ndim == 1 else array.reshape(-1) for array in arrays)
        result = x[:, None] * y
    return finished("outer", result, out, (a, b))


def vdot(a, b, /):
    a, b = plain(a), plain(b)
    arrays = [a, b] if type(a) is type(b) is ndarray and a._lazy and b._lazy else operands_of(a, b)
    result = None
    if arrays is not None and arrays[0].size == arrays[1].size and arrays[0].dtype.kind != "c":
        x, y = (array if array.ndim == 1 else array.reshape(-1) for array in arrays)
        result = _times(x, y)
    return finished("vdot", result, None, (a, b))


def tensordot(a, b, axes=2):
    a, b = plain(a), plain(b)
    arrays = operands_of(a, b)
    result = None
    if arrays is not None:
        x, y = arrays
        pairs = _axes(x, y, axes)
        result = None if pairs is None else _contracted(x, y, *pairs)
    return finished("tensordot", result, None, (a, b), {"axes": axes})


def _axes(a: ndarray, b: ndarray, axes: Any) -> Sequence[list[int]] | None:
    """The axes that ``tensordot`` sums over, or ``None`` where NumPy has to judge them."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            return None
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    try:
        pairs = [[each] if isinstance(each, int) else [operator.index(k) for k in each] for each in axes]
    except TypeError:
        return None
    found = []
    for array, given in zip((a, b), pairs, strict=False):
        if not all(-array.ndim <= k < array.ndim for k in given):
            return None
        found.append([k % array.ndim for k in given])
    alike = len(pairs) == 2 and len(found[0]) == len(found[1])
    return found if alike and all(len(set(each)) == len(each) for each in found) else None


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    are_last = axis == -1 if axis is not None else axisa == axisb == axisc == -1
    if are_last and type(a) is ndarray and type(b) is ndarray and a._lazy and b._lazy:
        x, y = a.shape, b.shape
        of_three = x[-1:] == y[-1:] == (3,) and a.dtype.kind in "iufc"
        if of_three and a.dtype == b.dtype and (x == y or 1 in (len(x), len(y))):
            made = empty(x if len(x) > 1 else y, a.dtype)
            # Of two vectors the components keep their axis: without one they would be scalars, which warn.
            parts: Any = (0, 1, 2) if made.ndim > 1 else (slice(0, 1), slice(1, 2), slice(2, 3))
            a0, a1, a2 = (a[..., part] for part in parts)
            b0, b1, b2 = (b[..., part] for part in parts)
            made[..., parts[0]] = a1 * b2 - a2 * b1
            made[..., parts[1]] = a2 * b0 - a0 * b2
            made[..., parts[2]] = a0 * b1 - a1 * b0
            return made
    return _cross_as_numpys(a, b, axisa, axisb, axisc, axis)


# Of vectors with other axes, dtypes or components.
_kron_as_numpys = through_numpy("kron", np.kron)
_kron_as_numpys = over_ours("kron", np.kron, _kron_as_numpys) or _kron_as_numpys


def kron(a, b):
    ours = type(a) is type(b) is ndarray and a._lazy and b._lazy and 0 < a.ndim == b.ndim
    if not ours or not (a._c_contiguous and b._c_contiguous) or 2 * a.ndim > _MOST_AXES:
        return _kron_as_numpys(a, b)
    left = a.reshape([n for extent in a.shape for n in (extent, 1)])
    right = b.reshape([n for extent in b.shape for n in (1, extent)])
    return (left * right).reshape([m * n for m, n in zip(a.shape, b.shape, strict=True)])


_cross_as_numpys = through_numpy("cross", np.cross)
_cross_as_numpys = over_ours("cross", np.cross, _cross_as_numpys) or _cross_as_numpys


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if out is None and type(a) is ndarray and a._lazy:
        is_main = type(offset) is type(axis1) is type(axis2) is int and (offset, axis1, axis2) == (0, 0, 1)
        if is_main and a.ndim == 2 and (row := a._row()) is not None:
            rows, columns = a.shape
            return row[: min(rows, columns) * (columns + 1) : columns + 1].sum(-1, dtype)
        return FUNCTIONS_OF_VIEWS["diagonal"](a, offset, axis1, axis2).sum(-1, dtype)
    if has_own(a, "trace"):
        return a.trace(offset=offset, axis1=axis1, axis2=axis2, dtype=dtype, out=out)
    if out is None and is_instance(a):
        return as_of(trace(plain(a), offset, axis1, axis2, dtype), a, None)
    given = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    return call("trace", np.trace, (a, offset, axis1, axis2), given)


FUNCTIONS = {
    "cross": cross,
    "dot": dot,
    "inner": inner,
    "kron": kron,
    "outer": outer,
    "tensordot": tensordot,
    "trace": trace,
    "vdot": vdot,
}
