"""Products of vectors and matrices with NumPy's signatures: recorded as matrix products.

Operands are transposed as views, and made rows and columns of one matrix where several axes are summed over.
Not here: ``matmul`` itself, which is a ufunc (in Rust).
"""

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._creation import asanyarray
from ._fallback import call
from ._gpupy import ndarray
from ._reduce import _given
from ._shape import FUNCTIONS as FUNCTIONS_OF_VIEWS

# Arrays have no more axes.
_MOST_AXES = 64


def _operands(*given: Any) -> list[Any] | None:
    """The operands as lazy arrays with elements, or ``None``."""
    arrays = [asanyarray(a) if isinstance(a, (np.ndarray, list, tuple)) else a for a in given]
    ours = all(isinstance(a, ndarray) and a._lazy for a in arrays)
    return arrays if ours else None


def _finished(
    name: str, result: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """The result, or NumPy's where there is none or ``out`` cannot hold it as it is."""
    result = None if result is None else _given(out, result)
    if result is not None:
        return result
    given = dict(kwargs or {})
    return call(name, getattr(np, name), args, given if out is None else {**given, "out": out})


def _size(shape: Iterable[int]) -> int:
    return functools.reduce(operator.mul, shape, 1)


def _contracted(a: ndarray, b: ndarray, axes_a: Sequence[int], axes_b: Sequence[int]) -> Any:
    """The sum of products over pairs of axes: the others of ``a``, then those of ``b``; or ``None``."""
    if [a.shape[k] for k in axes_a] != [b.shape[k] for k in axes_b]:
        return None
    kept_a = [k for k in range(a.ndim) if k not in axes_a]
    kept_b = [k for k in range(b.ndim) if k not in axes_b]
    rows, columns = [a.shape[k] for k in kept_a], [b.shape[k] for k in kept_b]
    n = _size(a.shape[k] for k in axes_a)
    left = a.transpose(*kept_a, *axes_a).reshape(_size(rows), n) if a.ndim else a.reshape(1, 1)
    right = b.transpose(*axes_b, *kept_b).reshape(n, _size(columns)) if b.ndim else b.reshape(1, 1)
    product = left @ right
    return product.reshape((*rows, *columns))


def _element(product: Any) -> Any:
    """What a product without axes is in NumPy, but for ``tensordot``."""
    return product[()] if product is not None and not product.ndim else product


def dot(a, b, out=None):
    if out is None and type(a) is ndarray and type(b) is ndarray and a.ndim and 0 < b.ndim <= 2:
        if a._lazy and b._lazy and a.shape[-1] == b.shape[0]:
            return a @ b
    result, arrays = None, _operands(a, b)
    if arrays is not None:
        x, y = arrays
        if not x.ndim or not y.ndim:
            result = np.multiply(x, y)
        elif y.ndim <= 2:
            result = x @ y if x.shape[-1] == y.shape[0] else None
        elif x.ndim + y.ndim - 2 <= _MOST_AXES:
            result = _element(_contracted(x, y, [x.ndim - 1], [y.ndim - 2]))
    if isinstance(out, ndarray) and not out.flags.c_contiguous:
        # NumPy takes no other order, and has the words.
        result = None
    return _finished("dot", result, out, (a, b))


def inner(a, b, /):
    result, arrays = None, _operands(a, b)
    if arrays is not None:
        x, y = arrays
        if not x.ndim or not y.ndim:
            result = np.multiply(x, y)
        elif x.ndim + y.ndim - 2 <= _MOST_AXES:
            result = _element(_contracted(x, y, [x.ndim - 1], [y.ndim - 1]))
    return _finished("inner", result, None, (a, b))


def outer(a, b, out=None):
    arrays = _operands(a, b)
    result = None
    if arrays is not None:
        x, y = (array.reshape(-1) for array in arrays)
        result = x[:, None] * y[None, :]
    return _finished("outer", result, out, (a, b))


def vdot(a, b, /):
    arrays = _operands(a, b)
    result = None
    if arrays is not None and arrays[0].size == arrays[1].size and arrays[0].dtype.kind != "c":
        x, y = (array.reshape(-1) for array in arrays)
        result = x @ y
    return _finished("vdot", result, None, (a, b))


def tensordot(a, b, axes=2):
    arrays = _operands(a, b)
    result = None
    if arrays is not None:
        x, y = arrays
        pairs = _axes(x, y, axes)
        result = None if pairs is None else _contracted(x, y, *pairs)
    return _finished("tensordot", result, None, (a, b), {"axes": axes})


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


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if out is None and isinstance(a, ndarray) and a._lazy:
        return FUNCTIONS_OF_VIEWS["diagonal"](a, offset, axis1, axis2).sum(-1, dtype)
    given = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    return call("trace", np.trace, (a, offset, axis1, axis2), given)


def einsum(*operands, out=None, optimize=False, **kwargs):
    result = None
    if len(operands) == 3 and isinstance(operands[0], str) and not kwargs:
        arrays = _operands(*operands[1:])
        result = None if arrays is None else _summed(operands[0], arrays[0], arrays[1], bool(optimize))
    if len(operands) == 2 and out is None and not kwargs:
        result = _turned(*operands)
    return _finished("einsum", result, out, operands, {"optimize": optimize, **kwargs})


def _turned(subscripts: Any, a: Any) -> Any:
    """An array's axes in another order, a view, or ``None`` where that is not what is asked for."""
    if not isinstance(subscripts, str) or not isinstance(a, ndarray):
        return None
    given, arrow, wanted = subscripts.replace(" ", "").partition("->")
    plain = arrow and given.isascii() and given.isalpha() and len(set(given)) == len(given) == a.ndim
    if not plain or sorted(given) != sorted(wanted):
        return None
    return a.transpose([given.index(label) for label in wanted])


def _summed(subscripts: str, a: Any, b: Any, optimize: bool) -> Any:
    """A sum of products of two operands that is a product of stacks of matrices, or ``None``.

    Its axes lie in memory as those of NumPy's: where that is to be fast, as in a product of matrices, and
    otherwise as near to those of the operands as can be.
    """
    inputs, arrow, given = subscripts.replace(" ", "").partition("->")
    first, comma, second = inputs.partition(",")
    labels = first + second
    if not comma or not all(label.isascii() and label.isalpha() for label in labels + given):
        return None
    once = sorted(label for label in set(labels) if labels.count(label) == 1)
    wanted = given if arrow else "".join(once)
    plain = len(set(first)) == len(first) == a.ndim and len(set(second)) == len(second) == b.ndim
    if not plain or len(set(wanted)) != len(wanted) or not set(once) <= set(wanted) <= set(labels):
        return None
    extents = dict(zip(labels, a.shape + b.shape, strict=True))
    if any(extents[label] != n for label, n in zip(first, a.shape, strict=True)):
        return None
    stack = [label for label in first if label in second and label in wanted]
    summed = [label for label in first if label in second and label not in wanted]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]

    laid = None if optimize else _laid(wanted, sorted(summed), (first, a), (second, b))
    if laid == stack + columns + rows:
        # The same product, turned.
        first, second, a, b, rows, columns = second, first, b, a, columns, rows

    def matrices(array: Any, own: str, *parts: list[str]) -> Any:
        order = [own.index(label) for label in stack + parts[0] + parts[1]]
        shape = [extents[label] for label in stack]
        shape += [_size(extents[label] for label in part) for part in parts]
        return (array.transpose(*order) if order else array).reshape(shape)

    product = matrices(a, first, rows, summed) @ matrices(b, second, summed, columns)
    if not summed and product.dtype.kind in "fc":
        # NumPy adds the one product to a zero, which leaves no zero negative.
        product = product + product.dtype.type(0)
    order = stack + rows + columns
    product = product.reshape([extents[label] for label in order])
    if not order:
        return product[()]
    if laid is not None and laid != order:
        product, order = product.transpose([order.index(label) for label in laid])._copy(), laid
    return product.transpose([order.index(label) for label in wanted])


def _laid(
    wanted: Iterable[str], summed: Iterable[str], *operands: tuple[str, np.ndarray[Any, Any]]
) -> list[str]:
    """The labels of a result from the outermost in memory to the innermost, as NumPy's iterator sorts them:
    from the innermost out, each as far in as no operand's strides speak against it.
    """
    steps = []
    for each, array in operands:
        axes = zip(each, array.strides, array.shape, strict=True)
        steps.append({label: abs(stride) for label, stride, n in axes if stride and n > 1})

    def goes_inside(label: str, other: str) -> bool | None:
        told = [found[label] < found[other] for found in steps if label in found and other in found]
        return all(told) if told else None

    labels = [*reversed([*wanted, *summed])]
    for k in range(1, len(labels)):
        to = k
        for at in reversed(range(k)):
            inside = goes_inside(labels[k], labels[at])
            if inside is False:
                break
            if inside:
                to = at
        labels.insert(to, labels.pop(k))
    return [label for label in reversed(labels) if label in wanted]


FUNCTIONS = {
    "dot": dot,
    "einsum": einsum,
    "inner": inner,
    "outer": outer,
    "tensordot": tensordot,
    "trace": trace,
    "vdot": vdot,
}
