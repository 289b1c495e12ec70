"""Typed lists: items of any lengths, whose elements have one dtype and lie one after another in one array.

Owns ``TypedList``, after Rougier, *From Python to NumPy* (2017), "Custom vectorization". Invariants: the
elements of item ``i`` are those from ``_bounds[i]`` to ``_bounds[i + 1]``, without gaps; a failed operation,
and one that a signal's handler interrupts, leaves a list unchanged: all is prepared, and then changed in one
step. Not here: how items come in (``items.py``), sums of items (``item_sums.py``).
"""

import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy
from numpy.lib.mixins import NDArrayOperatorsMixin

import gpupy as np

from .._fallback.hosts import to_host
from .._gpupy import assign_all, in_one_step
from . import exchange, item_sums
from .items import Flat, checked_sizes, flattened, is_nested, item_of, number_of, row_of, words_of

GROWTH = 2
"""How many times the space that a full list gets, so that appending takes the same time on average."""

ELEMENTS, ITEMS = 512, 64
"""The space of an empty list."""


class TypedList(NDArrayOperatorsMixin):
    """A list of items of any lengths, whose elements have one dtype.

    ``TypedList([[1, 2], [3]])`` has two items; ``TypedList(data, 2)`` items of two elements each;
    ``TypedList(data, sizes)`` items of these sizes; ``TypedList(data)`` an item for each element, or for each
    row of an array of several axes. The elements of an array of gpupy are shared with it where it is one row
    in memory, until the list grows.

    An item is a view of the list's elements, as ``data`` is. A list that is full moves to ``GROWTH`` times as
    much space; views of the space before raise ValueError then, as it was disposed of. (Those of dtypes that
    only NumPy has keep the elements that they had.)

    Operators and ufuncs go over all elements, on the driver: ``L + 1``, ``np.sqrt(L)``. Lists of equal sizes
    are combined element by element; a row of ``len(L)`` elements has one for each item. Sums, extremes and
    means are of items: ``L.sum()`` has one element for each.

    Parameters
    ----------
    data
        Nested sequences, an array, or another list, which is copied.
    sizes
        The size of each item, or of all.
    dtype
        The elements' dtype: by default the data's, and float64 of an empty list.
    reserve
        The elements that an empty list has room for.

    Raises
    ------
    ValueError
        The sizes are not those of the data, or an item has several axes.
    TypeError
        The sizes are no integers.
    """

    __module__ = "gpupy._typed_list"

    __slots__ = ("_added", "_bounds", "_count", "_data", "_is_own", "_shares_bounds")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, data: Any = None, sizes: Any = None, dtype: Any = None, *, reserve: int = ELEMENTS
    ) -> None:
        self._added: list[Any] = []
        if data is None:
            if sizes is not None:
                raise ValueError("there are sizes of items, but no data")
            self._data: Any = np.zeros(max(operator.index(reserve), 1), float if dtype is None else dtype)
            self._bounds = numpy.zeros(ITEMS + 1, numpy.int64)
            self._count, self._is_own, self._shares_bounds = 0, True, False
            return
        if isinstance(data, TypedList) and sizes is None:
            self._take(Flat(np.array(data.data, dtype=dtype), data.sizes, True))
        else:
            self._take(flattened(data, sizes, dtype))

    @classmethod
    def _of(cls, flat: Flat) -> "TypedList":
        made = cls.__new__(cls)
        made._added = []
        made._take(flat)
        return made

    def _take(self, flat: Flat) -> None:
        bounds = numpy.zeros(len(flat.sizes) + 1, numpy.int64)
        numpy.cumsum(flat.sizes, out=bounds[1:])
        self._data, self._bounds, self._count, self._is_own = flat.data, bounds, len(flat.sizes), flat.is_own
        self._shares_bounds = False

    # Attributes.

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The elements' dtype."""
        return self._data.dtype

    @property
    def data(self) -> Any:
        """All elements, one item's after the other's: a view."""
        # Reading the size may move the data.
        size = self._size()
        return self._data[:size]

    @data.setter
    def data(self, value: Any) -> None:
        self.data[...] = value

    @property
    def offsets(self) -> Any:
        """Where items begin in ``data``, and where the last one ends: int64, one more than items."""
        return np.asarray(self._ends().copy())

    @property
    def sizes(self) -> numpy.ndarray[Any, Any]:
        """The number of elements of each item, as NumPy's array."""
        return numpy.diff(self._ends())

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._size()

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._size() * self.dtype.itemsize

    def _ends(self) -> numpy.ndarray[Any, Any]:
        self._join_added()
        return self._bounds[: self._count + 1]

    def _size(self) -> int:
        self._join_added()
        return int(self._bounds[self._count])

    def __len__(self) -> int:
        return self._count + len(self._added)

    def __bool__(self) -> bool:
        if self.dtype == bool and len(self):
            raise ValueError("whether a list of bools is true is ambiguous: use .equals(), .any() or .all()")
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        number = 0
        while number < len(self):
            yield self[number]
            number += 1

    def __repr__(self) -> str:
        return f"TypedList({words_of(self, ', ')}, dtype={self.dtype})"

    def __str__(self) -> str:
        return f"[ {words_of(self, ' ')[1:-1]} ]" if len(self) else "[ ]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), numpy.asarray(self.data), self.sizes)

    def copy(self) -> "TypedList":
        """Another list of the same items."""
        return self._of(Flat(self.data.copy(), self.sizes, True))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "TypedList":
        return self.copy()

    def tolist(self) -> list[list[Any]]:
        """The items as lists of Python's numbers."""
        all_elements, ends = self.data.tolist(), self._ends().tolist()
        return [all_elements[start:end] for start, end in itertools.pairwise(ends)]

    def equals(self, other: "TypedList") -> bool:
        """Whether another list has equal items; ``==`` compares element by element."""
        same = isinstance(other, TypedList) and numpy.array_equal(self._ends(), other._ends())
        return same and bool(np.array_equal(self.data, other.data))

    # Items, read.

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                return self._taken(numpy.arange(start, stop, step))
            ends = self._ends()
            return self._data[int(ends[start]) : int(ends[max(start, stop)])]
        if isinstance(key, str):
            return self.data[key]
        if key is Ellipsis:
            return self.data
        start, stop = self._place(self._number(key))
        return self._data[start:stop]

    def _number(self, key: Any) -> int:
        return number_of(key, len(self))

    def _place(self, number: int) -> tuple[int, int]:
        ends = self._ends()
        return int(ends[number]), int(ends[number + 1])

    def _taken(self, which: numpy.ndarray[Any, Any]) -> "TypedList":
        ends = self._ends()
        sizes = numpy.diff(ends)[which]
        begins = numpy.cumsum(sizes) - sizes
        places = numpy.repeat(ends[:-1][which] - begins, sizes) + numpy.arange(sizes.sum())
        return self._of(Flat(self.data[np.asarray(places)], sizes, True))

    # Items, written.

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is Ellipsis or isinstance(key, str):
            self[key][...] = value
        elif isinstance(key, slice):
            self._set_items(*key.indices(len(self)), value)
        else:
            number = self._number(key)
            start, stop = self._place(number)
            if self._is_element(value):
                self._data[start:stop] = value
                return
            item = item_of(value, self.dtype)
            if item.size == stop - start:
                self._data[start:stop] = item
            else:
                self._splice(number, number + 1, item, numpy.array([item.size]))

    def _set_items(self, start: int, stop: int, step: int, value: Any) -> None:
        which = range(start, stop, step)
        is_empty = isinstance(value, list | tuple) and not value
        if isinstance(value, TypedList) or is_nested(value) or is_empty:
            items = value if isinstance(value, TypedList) else TypedList(value, dtype=self.dtype)
            if step == 1:
                self._splice(start, max(start, stop), item_of(items.data, self.dtype), items.sizes)
                return
            if len(items) != len(which):
                raise ValueError(f"{len(items)} items for {len(which)} that are not next to each other")
            self._replace(which, items)
        elif step == 1:
            self[start:stop][...] = value
        elif numpy.ndim(value) == 0:
            ends = self._ends()
            places = [numpy.arange(ends[number], ends[number + 1]) for number in which]
            if places:
                self.data[np.asarray(numpy.concatenate(places))] = value
        else:
            raise ValueError("items that are not next to each other take a number, or as many items")

    def _replace(self, which: range, items: "TypedList") -> None:
        """Puts items in the place of some that are not next to each other."""
        if not which:
            return
        item_of(items.data, self.dtype)
        given = dict(zip(which, items, strict=True))
        first, last = min(which), max(which) + 1
        parts = [given[number] if number in given else self[number] for number in range(first, last)]
        sizes = numpy.array([part.size for part in parts], numpy.int64)
        self._splice(first, last, self._row(*parts), sizes)

    def _is_element(self, value: Any) -> bool:
        if isinstance(value, TypedList):
            return False
        return numpy.ndim(value) == 0 or (self.dtype.names is not None and isinstance(value, tuple))

    def __delitem__(self, key: Any) -> None:
        nothing = numpy.empty(0, self.dtype), numpy.empty(0, numpy.int64)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                self._splice(start, max(start, stop), *nothing)
            else:
                left = numpy.delete(numpy.arange(len(self)), key)
                others = self._taken(left)
                state = ("_data", "_bounds", "_count", "_is_own", "_shares_bounds")
                in_one_step(*(self._setting(name, getattr(others, name)) for name in state))
        else:
            number = self._number(key)
            self._splice(number, number + 1, *nothing)

    def append(self, item: Any) -> None:
        """Adds an item at the end, in constant time on average.

        Raises
        ------
        TypeError
            Its dtype does not fit the list's.
        """
        self._added.append(item_of(item, self.dtype, is_kept=True))

    def insert(self, index: int, item: Any) -> None:
        """Adds an item before another, as Python's lists do: at an end where there is no such index."""
        number, _, _ = slice(operator.index(index), None).indices(len(self))
        elements = item_of(item, self.dtype)
        self._splice(number, number, elements, numpy.array([elements.size]))

    def extend(self, items: Any, sizes: Any = None) -> None:
        """Adds the items of another list, of nested sequences, or of data with sizes."""
        if not isinstance(items, TypedList) or sizes is not None:
            if sizes is None and isinstance(items, Iterable) and not hasattr(items, "__len__"):
                items = list(items)
            items = TypedList(items, sizes, dtype=None if is_nested(items) else self.dtype)
        self._splice(len(self), len(self), item_of(items.data, self.dtype), items.sizes)

    def pop(self, index: int = -1) -> Any:
        """Takes an item out, and gives its elements."""
        number = self._number(index)
        item = self[number].copy()
        del self[number]
        return item

    def clear(self) -> None:
        """Takes all items out."""
        del self[:]

    def _join_added(self) -> None:
        """Moves appended elements behind the others."""
        added = self._added
        items = added[:]
        if not items:
            return
        sizes = numpy.fromiter((item.size for item in items), numpy.int64, len(items))
        are_numpys = all(isinstance(item, numpy.ndarray) for item in items)
        elements = (numpy if are_numpys else np).concatenate(items, dtype=self.dtype, casting="same_kind")
        joined = (added.__delitem__, slice(len(items)))
        self._put(self._count, self._count, elements, sizes, joined)

    def _splice(self, first: int, last: int, elements: Any, sizes: numpy.ndarray[Any, Any]) -> None:
        """Puts items in the place of those from a first one to before a last one."""
        self._join_added()
        self._put(first, last, elements, sizes)

    def _row(self, *parts: Any) -> Any:
        """Elements one after the other, in a row of their own."""
        return row_of(parts, self.dtype)

    def _setting(self, name: str, value: Any) -> tuple[Any, ...]:
        """The call that sets an attribute."""
        return object.__setattr__, self, name, value

    def _put(
        self, first: int, last: int, elements: Any, sizes: numpy.ndarray[Any, Any], *also: tuple[Any, ...]
    ) -> None:
        """As ``_splice``, where all items are joined; more calls are made in the same step."""
        count, bounds, data = self._count, self._bounds, self._data
        size, start, stop = (int(bounds[number]) for number in (count, first, last))
        more, more_items = int(elements.size) - (stop - start), len(sizes) - (last - first)
        is_full = size + more > len(data)
        rest = self._data[stop:size] if stop < size and (more or is_full) else None
        if rest is not None:
            row = self._row(elements, rest)
        elif isinstance(elements, np.ndarray):
            row = self._row(elements)
        else:
            row = np.asarray(elements)
        if is_full:
            data = np.zeros(max(GROWTH * len(self._data), size + more), self.dtype)
            data[:start] = self._data[:start]
        changed = numpy.concatenate((start + numpy.cumsum(sizes), bounds[last + 1 : count + 1] + more))
        if count + more_items + 1 > len(bounds):
            bounds = numpy.zeros(GROWTH * (count + more_items + 1), numpy.int64)
            bounds[: first + 1] = self._bounds[: first + 1]
        elif self._shares_bounds:
            bounds = bounds.copy()
        shown = data[start : start + int(row.size)]
        steps = [
            # What may fail comes first.
            (assign_all, shown, row if shown._lazy else to_host(row)),
            (bounds.__setitem__, slice(first + 1, count + more_items + 1), changed),
            *also,
            self._setting("_data", data),
            self._setting("_bounds", bounds),
            self._setting("_count", count + more_items),
            self._setting("_shares_bounds", False),
        ]
        if is_full:
            steps.append(self._setting("_is_own", True))
            if self._is_own:
                # Views of it get an error from now on: the list has moved.
                steps.append((self._data.dispose,))
        in_one_step(*(steps if row.size else steps[1:]))

    # All elements at once.

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "a typed list is no array: its elements are in .data, and .offsets says whose they are"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        outs = options.pop("out", None) or ()
        lists = [value for value in (*inputs, *outs) if isinstance(value, TypedList)]
        first = lists[0]
        for other in lists[1:]:
            checked_sizes(first._ends(), other._ends())
        operands = [first._operand(value) for value in inputs]
        if outs:
            options["out"] = tuple(out.data if isinstance(out, TypedList) else out for out in outs)
        if not isinstance(options.get("where", True), bool):
            options["where"] = first._operand(options["where"])
        results = ufunc(*operands, **options)
        if outs:
            return outs[0] if len(outs) == 1 else outs
        if isinstance(results, tuple):
            return tuple(first._alike(result) for result in results)
        return first._alike(results)

    def _operand(self, value: Any) -> Any:
        if isinstance(value, TypedList):
            return value.data
        if numpy.ndim(value) == 0:
            return value
        value = np.asarray(value)
        if value.shape != (len(self),):
            words = "an array beside a typed list has one element for each item"
            raise ValueError(f"{words}: {len(self)}, not {value.shape}")
        return value[item_sums.owners(self.sizes)]

    def _alike(self, data: Any) -> "TypedList":
        self._join_added()
        made = type(self).__new__(type(self))
        made._added, made._data, made._is_own = [], np.asarray(data), True
        made._bounds, made._count = self._bounds, self._count
        made._shares_bounds = self._shares_bounds = True
        return made

    def astype(self, dtype: Any) -> "TypedList":
        """A list of the same items in another dtype."""
        return self._alike(self.data.astype(dtype))

    def sum(self) -> Any:
        """The sum of each item; of one without elements 0."""
        return item_sums.reduced(self.data, self._ends(), "sum")

    def prod(self) -> Any:
        """The product of each item; of one without elements 1."""
        return item_sums.reduced(self.data, self._ends(), "prod")

    def any(self) -> Any:
        """Whether an element of each item is true."""
        return item_sums.reduced(self.data, self._ends(), "any")

    def all(self) -> Any:
        """Whether all elements of each item are true."""
        return item_sums.reduced(self.data, self._ends(), "all")

    def min(self) -> Any:
        """The least element of each item; raises ValueError if one has none."""
        return item_sums.reduced(self.data, self._ends(), "min")

    def max(self) -> Any:
        """The greatest element of each item; raises ValueError if one has none."""
        return item_sums.reduced(self.data, self._ends(), "max")

    def mean(self) -> Any:
        """The mean of each item; of one without elements nan."""
        return item_sums.mean(self.data, self._ends())

    # Other libraries.

    def __arrow_array__(self, type: Any = None) -> Any:
        return exchange.to_arrow(self.data, self._ends(), type)

    @classmethod
    def from_arrow(cls, array: Any) -> "TypedList":
        """The items of an Arrow array of lists, without a copy of the elements where that is possible.

        Raises
        ------
        ValueError
            An item or an element is null.
        """
        return cls._of(exchange.of_arrow(array))

    def to_awkward(self) -> Any:
        """The items as an array of awkward, which reads the elements where they are."""
        return exchange.to_awkward(self.data, self._ends())

    @classmethod
    def from_awkward(cls, array: Any) -> "TypedList":
        """The items of awkward's array of lists of numbers."""
        return cls._of(exchange.of_awkward(array))


def _restored(kind: type[TypedList], data: numpy.ndarray[Any, Any], sizes: Any) -> TypedList:
    return kind(data, sizes)
