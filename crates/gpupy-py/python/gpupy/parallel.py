"""Accelerator's own words for operations on whole arrays: ``from gpupy import parallel``.

Names and meanings are those of Tarditi, Puri and Oglesby, *Accelerator: using data parallelism to program
GPUs for general-purpose uses* (2006), tables 1 to 4 and section 4, with dimensions counted from 0. Each
function is the line of NumPy that ends its docstring, so it is recorded, fused and computed as that line is.
Owns the names. Not here: what is element by element (``np.add``, ``a + b``), which NumPy has.
"""

from typing import Any, SupportsIndex

from numpy.typing import ArrayLike, NDArray

import gpupy as np

# Transformations: where each element comes from.


def section(a: NDArray[Any], *parts: tuple[int, int, int]) -> NDArray[Any]:
    """Every so many elements of each dimension, given as first element, number of elements, and step.

    ``R[i, j] = A[first0 + step0 * i, first1 + step1 * j]``; what would lie outside of A is left out.

    NumPy: ``a[tuple(slice(first, None, step) for first, _, step in parts)][
    tuple(slice(count) for _, count, _ in parts)]``
    """
    every = a[tuple(slice(first, None, step) for first, _, step in parts)]
    return every[tuple(slice(count) for _, count, _ in parts)]


def shift(a: NDArray[Any], *shifts: int) -> NDArray[Any]:
    """The array moved by so many elements; what comes from outside is as the nearest element.

    ``R[i, j] = A[i - shift0, j - shift1]``, with indices kept inside.

    NumPy: ``np.pad(a, [(max(by, 0), max(-by, 0)) for by in shifts], mode="edge")[
    tuple(slice(max(-by, 0), max(-by, 0) + n) for by, n in zip(shifts, a.shape))]``
    """
    wide = np.pad(a, [(max(by, 0), max(-by, 0)) for by in shifts], mode="edge")
    return wide[tuple(slice(max(-by, 0), max(-by, 0) + n) for by, n in zip(shifts, a.shape, strict=True))]


def shift_default(a: NDArray[Any], value: ArrayLike, *shifts: int) -> NDArray[Any]:
    """The array moved by so many elements; what comes from outside is ``value``.

    ``R[i, j] = A[i - shift0, j - shift1]`` where that is inside.

    NumPy: ``np.pad(a, [(max(by, 0), max(-by, 0)) for by in shifts], constant_values=value)[
    tuple(slice(max(-by, 0), max(-by, 0) + n) for by, n in zip(shifts, a.shape))]``
    """
    wide = np.pad(a, [(max(by, 0), max(-by, 0)) for by in shifts], constant_values=value)
    return wide[tuple(slice(max(-by, 0), max(-by, 0) + n) for by, n in zip(shifts, a.shape, strict=True))]


def rotate(a: NDArray[Any], *shifts: int) -> NDArray[Any]:
    """The array moved by so many elements; what leaves it comes in at the other end.

    ``R[i, j] = A[(i - shift0) % size0, (j - shift1) % size1]``

    NumPy: ``np.roll(a, shifts, tuple(range(a.ndim)))``
    """
    return np.roll(a, shifts, tuple(range(a.ndim)))


def replicate(a: NDArray[Any], *sizes: int) -> NDArray[Any]:
    """An array of these sizes, filled by repeating A from its first element on.

    ``R[i, j] = A[i % size0, j % size1]``, where these are the sizes of A.

    NumPy: ``np.tile(a, [-(-size // n) for size, n in zip(sizes, a.shape)])[
    tuple(slice(size) for size in sizes)]``
    """
    tiles = np.tile(a, [-(-size // n) for size, n in zip(sizes, a.shape, strict=True)])
    return tiles[tuple(slice(size) for size in sizes)]


def expand(a: NDArray[Any], *pairs: tuple[int, int]) -> NDArray[Any]:
    """The array with so many elements before and after it in each dimension, as if it went round.

    ``R[i, j] = A[(i - before0) % size0, (j - before1) % size1]``

    NumPy: ``np.pad(a, pairs, mode="wrap")``
    """
    return np.pad(a, pairs, mode="wrap")


def pad(a: NDArray[Any], value: ArrayLike, *pairs: tuple[int, int]) -> NDArray[Any]:
    """The array with so many elements before and after it in each dimension, which are ``value``.

    ``R[i, j] = A[i - before0, j - before1]`` where that is inside.

    NumPy: ``np.pad(a, pairs, constant_values=value)``
    """
    return np.pad(a, pairs, constant_values=value)


def transpose(a: NDArray[Any], *dimensions: SupportsIndex) -> NDArray[Any]:
    """The array with its dimensions in another order: ``transpose(a, 1, 0)`` has ``R[i, j] = A[j, i]``.

    NumPy: ``np.transpose(a, dimensions)``
    """
    return np.transpose(a, dimensions)


# The number of dimensions.


def drop_dimension(a: NDArray[Any], dimension: int) -> Any:
    """The first elements of a dimension: ``drop_dimension(a, 1)`` has ``R[i] = A[i, 0]``.

    NumPy: ``np.take(a, 0, dimension)``
    """
    return np.take(a, 0, dimension)


def add_dimension(a: NDArray[Any], dimension: int) -> NDArray[Any]:
    """The array with one dimension more, which is as long as what it meets: ``R[i, j, k] = A[i, k]``.

    NumPy: ``np.expand_dims(a, dimension)``
    """
    return np.expand_dims(a, dimension)


# Choices.


def select(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[Any]:
    """Of each place the element of B where A is more than zero, and otherwise that of C.

    NumPy: ``np.where(a > 0, b, c)``
    """
    return np.where(np.greater(a, 0), b, c)


def cond(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[Any]:
    """Of each place the element of B where A is true, and otherwise that of C.

    NumPy: ``np.where(a, b, c)``
    """
    return np.where(a, b, c)


# Reductions of the dimensions that are named, or of all.


def sum(a: NDArray[Any], *dimensions: int) -> Any:
    """The sums along dimensions: ``sum(a, 1)`` has ``R[i] = A[i, 0] + A[i, 1] + …``.

    NumPy: ``np.sum(a, dimensions or None)``
    """
    return np.sum(a, dimensions or None)


def product(a: NDArray[Any], *dimensions: int) -> Any:
    """The products along dimensions.

    NumPy: ``np.prod(a, dimensions or None)``
    """
    return np.prod(a, dimensions or None)


def max_val(a: NDArray[Any], *dimensions: int) -> Any:
    """The greatest elements along dimensions.

    NumPy: ``np.max(a, dimensions or None)``
    """
    return np.max(a, dimensions or None)


def min_val(a: NDArray[Any], *dimensions: int) -> Any:
    """The least elements along dimensions.

    NumPy: ``np.min(a, dimensions or None)``
    """
    return np.min(a, dimensions or None)


def all(a: NDArray[Any], *dimensions: int) -> Any:
    """Whether all elements along dimensions are true.

    NumPy: ``np.all(a, dimensions or None)``
    """
    return np.all(a, dimensions or None)


def any(a: NDArray[Any], *dimensions: int) -> Any:
    """Whether an element along dimensions is true.

    NumPy: ``np.any(a, dimensions or None)``
    """
    return np.any(a, dimensions or None)


# Linear algebra.


def inner_product(a: ArrayLike, b: ArrayLike) -> Any:
    """The sums of products: ``R[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + …``.

    NumPy: ``np.matmul(a, b)``
    """
    return np.matmul(a, b)


def outer_product(a: ArrayLike, b: ArrayLike) -> NDArray[Any]:
    """The products of each element with each: ``R[i, j] = A[i] * B[j]``.

    NumPy: ``np.multiply.outer(a, b)``
    """
    return np.multiply.outer(a, b)


# Elements at any places.


def gather(a: NDArray[Any], *indices: NDArray[Any]) -> Any:
    """The elements at computed places: ``R[i, j] = A[I[i, j], J[i, j]]``.

    NumPy: ``a[indices]``
    """
    return a[indices]


def index(dimension: int, *sizes: int) -> NDArray[Any]:
    """An array of these sizes, whose elements are their own places along a dimension.

    NumPy: ``np.indices(sizes)[dimension]``
    """
    return np.indices(sizes)[dimension]


# Conversions.


def to_float(a: ArrayLike) -> NDArray[Any]:
    """The elements as numbers of 32 bits.

    NumPy: ``np.astype(a, np.float32)``
    """
    return np.astype(np.asarray(a), np.float32)


def to_int(a: ArrayLike) -> NDArray[Any]:
    """The elements as whole numbers of 32 bits, rounded to zero.

    NumPy: ``np.astype(a, np.int32)``
    """
    return np.astype(np.asarray(a), np.int32)


def to_float4(a: NDArray[Any]) -> NDArray[Any]:
    """Four numbers for each, all the same, along a last dimension.

    NumPy: ``np.repeat(a[..., np.newaxis], 4, -1)``
    """
    return np.repeat(a[..., np.newaxis], 4, -1)


def component(a: NDArray[Any], number: int) -> Any:
    """One number of each four: ``R[i, j] = A[i, j, number]``.

    NumPy: ``a[..., number]``
    """
    return a[..., number]
