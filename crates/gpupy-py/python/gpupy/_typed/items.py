"""How items of a typed list come in and are printed.

Owns ``flattened`` and ``item_of``: each words the error for a wrong argument. Not here: the list
itself (``typed_list.py``).
"""

import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy

import gpupy as np


class Flat(NamedTuple):
    """Elements, the sizes of their items, and whether they have no other owner."""

    data: Any
    sizes: numpy.ndarray[Any, Any]
    is_own: bool


def is_nested(data: Any) -> bool:
    """Whether these are sequences of which some element is a sequence itself."""
    return isinstance(data, list | tuple) and any(
        isinstance(item, list | tuple | range | numpy.ndarray | np.ndarray) for item in data
    )


def flattened(data: Any, sizes: Any, dtype: Any) -> Flat:
    """The elements of a list's source.

    Raises
    ------
    ValueError
        The sizes are not those of the data, or an item has several axes.
    TypeError
        The sizes are no integers.
    """
    is_structured = dtype is not None and numpy.dtype(dtype).names is not None
    if sizes is None and is_nested(data) and not (is_structured and isinstance(data[0], tuple)):
        items = [numpy.asarray(item, dtype) for item in data]
        for number, item in enumerate(items):
            if item.ndim > 1:
                raise ValueError(f"item {number} has {item.ndim} axes, not one")
        # An empty sequence says nothing of the dtype.
        kept = [item.reshape(-1) for item in items if item.size or dtype is not None]
        elements = numpy.concatenate(kept) if kept else numpy.empty(0, dtype or float)
        return Flat(np.array(elements), numpy.array([item.size for item in items], numpy.int64), True)
    array = np.asarray(data, dtype=dtype)
    is_own = not isinstance(data, np.ndarray | numpy.ndarray)
    if sizes is None:
        rows = array.shape[0] if array.ndim else 1
        each = array.size // rows if rows else 0
        return Flat(array.reshape(-1), numpy.full(rows, each, numpy.int64), is_own)
    return Flat(array.reshape(-1), _sizes(sizes, array.size), is_own)


def _sizes(sizes: Any, total: int) -> numpy.ndarray[Any, Any]:
    given = numpy.asarray(sizes)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"sizes of items are integers, not {given.dtype}")
    if given.ndim == 0:
        each = operator.index(given.item())
        if each < 1 or total % each:
            raise ValueError(f"{total} elements are no items of {each}")
        return numpy.full(total // each, each, numpy.int64)
    if given.ndim > 1:
        raise ValueError(f"sizes are a number or a row of numbers, not of shape {given.shape}")
    given = given.astype(numpy.int64)
    if (given < 0).any():
        raise ValueError(f"item {int((given < 0).argmax())} has a negative size: {given.min()}")
    if given.sum() != total:
        raise ValueError(
            f"the sizes of the items are {given.sum()} altogether, but there are {total} elements"
        )
    return given


def item_of(value: Any, dtype: numpy.dtype[Any], *, is_kept: bool = False) -> Any:
    """The elements of an item, in a row; a copy where NumPy's are kept.

    Raises
    ------
    ValueError
        It has several axes.
    TypeError
        Its dtype does not fit the list's.
    """
    if isinstance(value, np.ndarray):
        item = value
    elif dtype.names is not None and not isinstance(value, numpy.ndarray):
        item = numpy.asarray(value, dtype)
    else:
        item = numpy.array(value) if is_kept else numpy.asarray(value)
    if item.ndim > 1:
        raise ValueError(f"an item is a row of elements, not an array of shape {item.shape}")
    if item.size and not numpy.can_cast(item.dtype, dtype, "same_kind"):
        raise TypeError(f"an item of {item.dtype} does not fit a list of {dtype}")
    if isinstance(item, np.ndarray):
        return (item.copy() if is_kept else item).reshape(-1)
    return item.reshape(-1).astype(dtype, copy=False)


def checked_sizes(own: numpy.ndarray[Any, Any], other: numpy.ndarray[Any, Any]) -> None:
    """Raises ValueError if lists with these bounds have items of other sizes."""
    if numpy.array_equal(own, other):
        return
    if len(own) != len(other):
        raise ValueError(f"lists of {len(own) - 1} and {len(other) - 1} items are not combined")
    number = int((numpy.diff(own) != numpy.diff(other)).argmax())
    sizes = f"{own[number + 1] - own[number]} and {other[number + 1] - other[number]}"
    raise ValueError(f"the lists' items {number} have {sizes} elements")


def words_of(items: Any, between: str) -> str:
    """All items in brackets; of many the first and the last, as NumPy prints arrays."""
    options = numpy.get_printoptions()
    edge: int = options["edgeitems"]
    row: dict[str, Any] = {"separator": between, "threshold": options["threshold"]}
    shown = [numpy.array2string(numpy.asarray(items[k]), **row) for k in _shown(len(items), edge, options)]
    if len(shown) < len(items):
        shown.insert(edge, "...")
    return f"[{between.join(shown)}]"


def _shown(count: int, edge: int, options: Any) -> Sequence[int]:
    if count <= max(options["threshold"], 2 * edge):
        return range(count)
    return [*range(edge), *range(count - edge, count)]


def number_of(key: Any, count: int) -> int:
    """The number of the item that a key names among this many."""
    try:
        number = operator.index(key)
    except TypeError:
        words = "an index of a typed list is an integer, a slice, a field's name or ..., not "
        raise TypeError(words + type(key).__name__) from None
    if not -count <= number < count:
        raise IndexError(f"there is no item {number} among {count}")
    return number % count


def row_of(parts: Iterable[Any], dtype: Any) -> Any:
    """Elements one after the other, in a row of their own."""
    # An empty part says nothing of the dtype.
    kept = [part for part in parts if part.size]
    if not kept:
        return np.zeros(0, dtype)
    return np.concatenate(kept, dtype=dtype, casting="same_kind")
