"""``einsum`` with NumPy's signature: recorded as transposes, diagonals, sums, and products of matrices.

Of several operands two are multiplied at a time, in the order that ``einsum_path`` finds. Not here: other
products (``linear.py``).
"""

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .._classes.subclass import plain
from .._creation.conversion import asanyarray
from .._gpupy import ndarray
from .._numpys import sooner
from .linear import finished, operands_of, size_of


def einsum(*operands, out=None, optimize=False, **kwargs):
    operands = tuple(map(plain, operands))
    result = None
    if len(operands) == 3 and isinstance(operands[0], str) and not kwargs:
        arrays = operands_of(*operands[1:])
        # NumPy's einsum takes no bfloat16, and has the words.
        if arrays is not None and not any(array.dtype.kind == "V" for array in arrays):
            result = _summed(operands[0], arrays[0], arrays[1], bool(optimize))
            if optimize and result is not None and not result.ndim:
                # NumPy gives a number or an array without axes.
                result = None
    if len(operands) > 3 and isinstance(operands[0], str) and not kwargs:
        result = _of_many(operands[0], operands[1:], optimize)
    if len(operands) == 2 and out is None and not kwargs:
        result = _turned(*operands)
    return finished("einsum", result, out, operands, {"optimize": optimize, **kwargs})


def _turned(subscripts: Any, a: Any) -> Any:
    """An array's axes in another order, or diagonals, both views, or sums; ``None`` for other requests."""
    if not isinstance(subscripts, str) or not isinstance(a, ndarray):
        return None
    given, arrow, wanted = subscripts.replace(" ", "").partition("->")
    if not arrow:
        wanted = "".join(sorted(label for label in set(given) if given.count(label) == 1))
    if not (given + wanted).isalpha() or not given.isascii() or len(given) != a.ndim:
        return None
    if len(set(wanted)) != len(wanted) or not set(wanted) <= set(given):
        return None
    extents = set(zip(given, a.shape, strict=True))
    if len(extents) != len(set(given)):
        # NumPy refuses it, or broadcasts.
        return None
    if len(given) == len(wanted):
        return a.transpose([given.index(label) for label in wanted])
    summed = "".join(sorted(set(given) - set(wanted)))
    if not a._lazy:
        return None
    if not summed:
        return a._views(_diagonals, f"{given}->{wanted}")
    # NumPy's sums of one array keep its dtype; those of more axes lie in memory as the array's axes do.
    if a.dtype.kind not in "iufc" or len(wanted) > 1:
        return None
    shown = a._views(_diagonals, f"{given}->{wanted}{summed}")
    sums = shown.sum(axis=tuple(range(len(wanted), shown.ndim)), dtype=a.dtype)
    # NumPy adds to a zero, which leaves no zero negative.
    return sums + a.dtype.type(0) if a.dtype.kind in "fc" else sums


def _diagonals(a: Any, subscripts: str) -> Any:
    return np.einsum(subscripts, a)


class _Work(NamedTuple):
    """How many products a sum has."""

    size: int


def _of_many(subscripts: str, given: tuple[Any, ...], optimize: Any) -> Any:
    """A sum of products of several operands, two at a time, or ``None``."""
    arrays = operands_of(*given)
    if arrays is None or any(a.dtype.kind == "V" or a.dtype == np.float16 for a in arrays):
        return None
    labels = _labels(subscripts, tuple(a.shape for a in arrays))
    if labels is None or not isinstance(optimize, (bool, str)):
        return None
    inputs, wanted, products = labels
    if sooner.is_numpys("einsum", _Work(products), arrays):
        return None
    dtype = np.result_type(*(a.dtype for a in arrays))
    if optimize and (not wanted or any(a.dtype != dtype for a in arrays)):
        # NumPy casts as it goes on, and gives a number or an array without axes.
        return None
    # The most and the least that NumPy would do otherwise.
    order = _path(subscripts, tuple(a.shape for a in arrays), optimize or "greedy")
    left = list(zip(inputs, [a.astype(dtype, copy=False) for a in arrays], strict=True))
    for places in order:
        step = [left.pop(at) for at in sorted(places, reverse=True)][::-1]
        while len(step) > 1:
            others = "".join(each for each, _ in (*left, *step[2:])) + wanted
            step[:2] = [_pair(step[0], step[1], others, wanted if not (left or step[2:]) else None)]
        left.append(step[0])
    made = left[0][1]
    if optimize or made is None or not made.ndim:
        return made
    strided = [(each, a.shape, a.strides) for each, a in zip(inputs, arrays, strict=True)]
    laid = _laid(wanted, sorted(set("".join(inputs)) - set(wanted)), *strided)
    turned = made.transpose([wanted.index(label) for label in laid])
    turned = turned if turned.flags.c_contiguous else turned._copy()
    return turned.transpose([laid.index(label) for label in wanted])._alone()


def _pair(
    first: tuple[str, Any], second: tuple[str, Any], others: str, wanted: str | None
) -> tuple[str, Any]:
    """The sum of products of two operands over all labels that no other has."""
    (x, a), (y, b) = (
        _summed_alone(*each, others + other) for each, other in ((first, second[0]), (second, first[0]))
    )
    kept = "".join(label for label in dict.fromkeys(x + y) if label in others) if wanted is None else wanted
    return kept, _summed(f"{x},{y}->{kept}", a, b, True)


def _summed_alone(labels: str, a: Any, others: str) -> tuple[str, Any]:
    """An operand without the labels that it alone has."""
    axes = tuple(at for at, label in enumerate(labels) if label not in others)
    if not axes:
        return labels, a
    # Sums of bools are bools.
    made = a.any(axis=axes) if a.dtype.kind == "b" else a.sum(axis=axes, dtype=a.dtype)
    return "".join(label for label in labels if label in others), asanyarray(made)


@functools.lru_cache(maxsize=256)
def _labels(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str, int] | None:
    """The labels of operands and of the result, and how many products; ``None`` for other requests."""
    given, arrow, wanted = subscripts.replace(" ", "").partition("->")
    inputs = given.split(",")
    every = "".join(inputs)
    if not (every + wanted).isascii() or not (every + wanted).isalpha() or len(inputs) != len(shapes):
        return None
    if not arrow:
        wanted = "".join(sorted(label for label in set(every) if every.count(label) == 1))
    if len(set(wanted)) != len(wanted) or not set(wanted) <= set(every):
        return None
    extents: dict[str, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        if len(set(labels)) != len(labels) or len(labels) != len(shape):
            return None
        if any(extents.setdefault(label, n) != n for label, n in zip(labels, shape, strict=True)):
            return None
    return inputs, wanted, size_of(extents.values())


@functools.lru_cache(maxsize=256)
def _path(subscripts: str, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> list[tuple[int, ...]]:
    """Which operands to multiply next, as NumPy finds it."""
    return np.einsum_path(subscripts, *(np.broadcast_to(0.0, n) for n in shapes), optimize=optimize)[0][1:]


class _Operand(NamedTuple):
    """The reshape that makes an operand a matrix, a stack of them, or a vector; ``None`` if it is one."""

    order: tuple[int, ...] | None
    shape: tuple[int, ...] | None

    def of(self, array: Any) -> Any:
        array = array if self.order is None else array.transpose(self.order)
        return array if self.shape is None else array.reshape(self.shape)


class _Product(NamedTuple):
    """How a sum of products of two operands is a product of matrices, as `_product` finds it."""

    swapped: bool
    operands: tuple[_Operand, _Operand]
    # Whether no label is summed over.
    is_outer: bool
    shape: tuple[int, ...]
    # Where its axes are to lie in memory, if otherwise, and then where they stand.
    laid: tuple[int, ...] | None
    order: tuple[int, ...] | None


def _summed(subscripts: str, a: Any, b: Any, optimize: bool) -> Any:
    """A sum of products of two operands that is a product of stacks of matrices, or ``None``."""
    way = _product(subscripts, a.shape, a.strides, b.shape, b.strides, optimize)
    if way is None:
        return None
    if way.swapped:
        a, b = b, a
    product = way.operands[0].of(a) @ way.operands[1].of(b)
    if way.is_outer and product.dtype.kind in "fc":
        # NumPy adds the one product to a zero, which leaves no zero negative.
        product = product + product.dtype.type(0)
    if not way.shape:
        return product
    if product.shape != way.shape:
        product = product.reshape(way.shape)
    if way.laid is not None:
        product = product.transpose(way.laid)._copy()
    product = product if way.order is None else product.transpose(way.order)
    return product if product.base is None else product._alone()


# A program has few of them, and calls each often.
@functools.lru_cache(maxsize=256)
def _product(
    subscripts: str,
    shape_a: tuple[int, ...],
    strides_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    strides_b: tuple[int, ...],
    optimize: bool,
) -> _Product | None:
    """How to sum products of operands with these extents and strides, or ``None``.

    The result's axes lie in memory as those of NumPy's: where that is to be fast, as in a product of
    matrices, and otherwise as near to those of the operands as can be.
    """
    inputs, arrow, given = subscripts.replace(" ", "").partition("->")
    first, comma, second = inputs.partition(",")
    labels = first + second
    if not comma or not all(label.isascii() and label.isalpha() for label in labels + given):
        return None
    once = sorted(label for label in set(labels) if labels.count(label) == 1)
    wanted = given if arrow else "".join(once)
    plain = len(set(first)) == len(first) == len(shape_a) and len(set(second)) == len(second) == len(shape_b)
    if not plain or len(set(wanted)) != len(wanted) or not set(once) <= set(wanted) <= set(labels):
        return None
    extents = dict(zip(labels, shape_a + shape_b, strict=True))
    if any(extents[label] != n for label, n in zip(first, shape_a, strict=True)):
        return None
    stack = [label for label in first if label in second and label in wanted]
    summed = [label for label in first if label in second and label not in wanted]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]

    laid = None
    if not optimize:
        laid = _laid(wanted, sorted(summed), (first, shape_a, strides_a), (second, shape_b, strides_b))
    swapped = laid == stack + columns + rows != stack + rows + columns
    if swapped:
        # The transposed product.
        first, second, shape_a, shape_b = second, first, shape_b, shape_a
        rows, columns = columns, rows

    def operand(own: str, shape: tuple[int, ...], *parts: list[str]) -> _Operand:
        order = tuple(own.index(label) for label in (*stack, *parts[0], *parts[1]))
        matrix = [extents[label] for label in stack]
        # Without a stack, a row or a column is a vector.
        matrix += [
            size_of(extents[label] for label in part) for part in parts if stack or part or part is summed
        ]
        turned = tuple(shape[axis] for axis in order)
        return _Operand(
            None if order == tuple(range(len(order))) else order,
            None if turned == tuple(matrix) else tuple(matrix),
        )

    operands = operand(first, shape_a, rows, summed), operand(second, shape_b, summed, columns)
    order, places = stack + rows + columns, None
    shape = tuple(extents[label] for label in order)
    if laid is not None and laid != order:
        places, order = tuple(order.index(label) for label in laid), laid
    last = None if order == list(wanted) else tuple(order.index(label) for label in wanted)
    return _Product(swapped, operands, not summed, shape, places, last)


def _laid(
    wanted: Iterable[str],
    summed: Iterable[str],
    *operands: tuple[str, tuple[int, ...], tuple[int, ...]],
) -> list[str]:
    """The labels of a result from the outermost in memory to the innermost, as NumPy's iterator sorts them:
    from the innermost out, each as far in as no operand's strides speak against it.
    """
    steps = []
    for each, shape, strides in operands:
        axes = zip(each, strides, shape, strict=True)
        steps.append({label: abs(stride) for label, stride, n in axes if stride and n != 1})

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


FUNCTIONS = {"einsum": einsum}
