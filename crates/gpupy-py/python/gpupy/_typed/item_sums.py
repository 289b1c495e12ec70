"""Sums, products, extremes and means of the items of a typed list, on the driver.

Items of similar sizes are rows of a table that is no array: its positions are computed where they are
combined. Sizes are similar between powers of two, so that no more than twice the elements are combined. Not
here: the list itself.
"""

from typing import Any

import numpy

import gpupy as np

_IDENTITY = {"sum": 0, "prod": 1, "any": False, "all": True}


def owners(sizes: numpy.ndarray[Any, Any]) -> Any:
    """The number of the item that each element belongs to."""
    return np.asarray(numpy.repeat(numpy.arange(len(sizes)), sizes))


def reduced(data: Any, ends: numpy.ndarray[Any, Any], word: str) -> Any:
    """The reduction of this name of each item.

    Raises
    ------
    ValueError
        An item has no elements, and the reduction nothing to begin with.
    """
    starts, sizes = ends[:-1], numpy.diff(ends)
    identity = _IDENTITY.get(word)
    if identity is None and (sizes == 0).any():
        number = int((sizes == 0).argmax())
        raise ValueError(f"item {number} has no elements, and so no {word}")
    if not len(sizes):
        return getattr(data[:0].reshape(0, 1), word)(axis=1)
    if not data.size:
        return getattr(np.full((len(sizes), 1), identity, data.dtype), word)(axis=1)
    # frexp gives the exponents of powers of two; one element or none is a row of one.
    widths = numpy.frexp(numpy.maximum(sizes, 1) - 1)[1]
    found, order = [], []
    for width in numpy.unique(widths):
        which = numpy.flatnonzero(widths == width)
        found.append(_rows(data, starts[which], sizes[which], 1 << int(width), (word, identity)))
        order.append(which)
    if len(found) == 1:
        return found[0]
    places = numpy.empty(len(sizes), numpy.int64)
    places[numpy.concatenate(order)] = numpy.arange(len(sizes))
    return np.concatenate(found)[np.asarray(places)]


def _rows(data: Any, starts: Any, sizes: Any, width: int, how: tuple[str, Any]) -> Any:
    word, identity = how
    # Every driver has int32.
    kind = numpy.int32 if data.size + width <= numpy.iinfo(numpy.int32).max else numpy.int64
    column = np.arange(width, dtype=kind)
    begin, size = (np.asarray(numbers.astype(kind))[:, np.newaxis] for numbers in (starts, sizes))
    if identity is None:
        # An element more than once changes no extreme.
        column = np.minimum(column, size - 1)
    elements = data[(begin + column).clip(0, data.size - 1)]
    if identity is not None:
        elements = np.where(column < size, elements, data.dtype.type(identity))
    return getattr(elements, word)(axis=1)


def mean(data: Any, ends: numpy.ndarray[Any, Any]) -> Any:
    """The mean of each item."""
    if data.dtype.kind in "biu":
        data = data.astype(float)
    with numpy.errstate(invalid="ignore"):
        sums = reduced(data, ends, "sum")
        return sums / np.asarray(numpy.diff(ends).astype(sums.dtype))
