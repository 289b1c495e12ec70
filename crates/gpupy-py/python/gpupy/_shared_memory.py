"""Memory of NumPy's, and our bases in its place, for as long as scopes are open (``_scope.py``).

Owns ``Swap``: the arrays that a scope swaps. Arrays of NumPy's that lie in one memory become views of one
base of ours, which all open scopes share; writes to it are brought back when a scope ends.

Not here: which names are swapped (``_scope.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import gpupy

from ._gpupy import is_lazy, is_written, place_in, snapshot


class _Base:
    """Memory of NumPy's, and our base in its place."""

    def __init__(self, root: np.ndarray[Any, Any]) -> None:
        self.root = root
        self.flat = root.ravel(order="K")
        ours: Any = gpupy.array(self.flat)
        self.ours, self.before = ours, snapshot(ours)
        # Arrays of NumPy's that may be written, and ours in their place, where the root may not be.
        self.writable: list[tuple[Any, Any]] = []
        self.users = 0

    def view(self, array: np.ndarray[Any, Any]) -> Any:
        """The view of our base with the elements of an array; None where there is none."""
        if array.flags.c_contiguous and array.size == self.flat.size and array.dtype == self.flat.dtype:
            if array.flags.writeable == self.flat.flags.writeable:
                return self.ours.reshape(array.shape)
        start = array.__array_interface__["data"][0] - self.flat.__array_interface__["data"][0]
        size, ours = array.itemsize, self.ours
        if start % size or any(stride % size for stride in array.strides):
            return None
        if array.dtype != self.flat.dtype:
            if self.flat.nbytes % size:
                return None
            ours = ours.view(array.dtype)
        if type(ours) is not gpupy.ndarray or not is_lazy(ours.dtype):
            return None
        view = gpupy.lib.stride_tricks.as_strided(ours[start // size :], array.shape, array.strides)
        if array.flags.writeable and not self.flat.flags.writeable:
            self.writable.append((array, view))
        return view

    def theirs(self, array: Any) -> Any:
        """NumPy's view of the memory for an array of ours; None where the array has another base."""
        place = place_in(array, self.ours)
        if place is None:
            return None
        offset, strides = place
        return np.ndarray(array.shape, array.dtype, self.flat, offset, strides)

    def bring_back(self) -> None:
        """Copies writes to NumPy's memory."""
        if self.before is None or not is_written(self.ours, self.before):
            return
        if self.flat.flags.writeable:
            np.copyto(self.flat, np.asarray(self.ours))
        for array, view in self.writable:
            np.copyto(array, np.asarray(view))
        self.before = snapshot(self.ours)

    def renew(self) -> None:
        """Reads NumPy's memory again, unless there are writes to bring back."""
        if self.before is not None and not is_written(self.ours, self.before):
            now = gpupy.array(self.flat)
            if not np.array_equal(np.asarray(self.before).view(np.uint8), self.flat.view(np.uint8)):
                self.ours[...] = now
                self.before = snapshot(self.ours)


# The bases of open scopes, by the number of their memory's owner.
_bases: dict[int, _Base] = {}


def _root_of(value: Any) -> Any:
    """The owner of an object's memory: an array, or a buffer; None for no memory of NumPy's."""
    found: Any = None
    while value is not None:
        if isinstance(value, memoryview):
            value = value.obj
            continue
        if isinstance(value, np.ndarray) and not isinstance(value, gpupy.ndarray):
            found = value
        elif not isinstance(value, _DUMMY):
            # Other memory that arrays may share.
            return value if found is not None and not isinstance(value, (bytes, gpupy.ndarray)) else found
        value = value.base
    return found


# The object that `as_strided` puts between an array and its base.
_DUMMY: type[Any] = type(np.lib.stride_tricks.as_strided(np.zeros(1), (1,)).base)


def _is_dense(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array shows all of a piece of memory, each element once."""
    return array.flags.c_contiguous or array.flags.f_contiguous


class Swap:
    """Arrays of NumPy's and ours in their place, for one scope."""

    def __init__(self, immutable: bool) -> None:
        self.immutable = immutable
        self.used: list[_Base] = []
        # By the number of NumPy's array, and of ours.
        self.given: dict[int, tuple[Any, Any]] = {}
        self.known: dict[int, tuple[Any, Any]] = {}
        # Arrays of an outer scope that are not to be written.
        self.fixed: list[Any] = []

    def enter(self, names: dict[str, Any]) -> dict[str, Any]:
        """Our arrays for the names that hold NumPy's."""
        together: dict[int, list[Any]] = {}
        for value in names.values():
            root = _root_of(value) if isinstance(value, (np.ndarray, memoryview)) else None
            if root is not None:
                together.setdefault(id(root), []).append(value)
        for values in together.values():
            self._take(values)
        if self.immutable:
            fixed = [
                value for value in names.values() if type(value) is gpupy.ndarray and value.flags.writeable
            ]
            for value in fixed:
                value.flags.writeable = False
            self.fixed += fixed
        return {name: self.given[id(value)][1] for name, value in names.items() if id(value) in self.given}

    def ours(self, value: Any) -> Any:
        """Our array in place of the one that was there at the start."""
        return self.given[id(value)][1] if id(value) in self.given else value

    def _take(self, values: list[Any]) -> None:
        """Swaps arrays on one memory, if there is a view for each of them."""
        if any(type(value) is not np.ndarray for value in values):
            return
        root = _root_of(values[0])
        is_array = type(root) is np.ndarray and _is_dense(root)
        if not is_array and len(values) == 1 and _is_dense(values[0]):
            # Of memory that is not NumPy's, or has holes, one array alone is as good as its owner.
            root, is_array = values[0], True
        if not is_array or not is_lazy(root.dtype) or not root.dtype.isnative:
            return
        base = _bases.get(id(root)) or _Base(root)
        views = []
        for value in values:
            view = base.view(value) if value.dtype.isnative and is_lazy(value.dtype) else None
            if view is None:
                return
            views.append(view)
        if base.users:
            base.renew()
        _bases[id(root)] = base
        base.users += 1
        self.used.append(base)
        for value, view in zip(values, views, strict=True):
            if self.immutable or not value.flags.writeable:
                view.flags.writeable = False
            self.given[id(value)] = value, view
            self.known[id(view)] = view, value

    def bring_back(self) -> None:
        """Computes and copies the written arrays."""
        _bring_back(self.used)

    def leave(self, names: dict[str, Any], before: Iterable[Any], is_nested: bool) -> dict[str, Any]:
        """NumPy's arrays for the names that hold ours, but for those that did at the start.

        In the body of another scope, new arrays stay ours, and are given back by that.
        """
        kept = {id(value) for value in before if isinstance(value, (gpupy.ndarray, gpupy.scalar))}
        ours = {
            name: value
            for name, value in names.items()
            if isinstance(value, (gpupy.ndarray, gpupy.scalar)) and id(value) not in kept
        }
        # Those of subclasses of our class can be no others.
        found = {name: value for name, value in ours.items() if type(value) in (gpupy.ndarray, gpupy.scalar)}
        arrays = [value for value in ours.values() if isinstance(value, gpupy.ndarray)]
        used, self.used = self.used, []
        fixed, self.fixed = self.fixed, []
        for value in fixed:
            value.flags.writeable = True
        try:
            gpupy.evaluate(*(base.ours for base in used), *arrays)
            _bring_back(used)
        finally:
            for base in used:
                base.users -= 1
                if not base.users:
                    _bases.pop(id(base.root), None)
        back = _New(used, dict(self.known))
        return {
            name: back.theirs(value)
            for name, value in found.items()
            if not is_nested or id(value) in self.known
        }


def _bring_back(bases: list[_Base]) -> None:
    """Copies the written arrays; the failure of one does not keep the others from being copied."""
    failed: list[Exception] = []
    for base in bases:
        try:
            base.bring_back()
        except Exception as error:
            failed.append(error)
    if failed:
        raise failed[0]


class _New:
    """NumPy's arrays in the place of ours at the end; those on one base of ours share memory."""

    def __init__(self, bases: list[_Base], known: dict[int, tuple[Any, Any]]) -> None:
        self.bases, self.known = bases, known
        self.made: list[tuple[Any, np.ndarray[Any, Any]]] = []

    def theirs(self, value: Any) -> Any:
        """NumPy's array, or number."""
        if not isinstance(value, gpupy.ndarray):
            return np.asarray(value)[()]
        if id(value) in self.known:
            return self.known[id(value)][1]
        found = next((view for base in self.bases if (view := base.theirs(value)) is not None), None)
        if found is None:
            found = self._new(value)
        self.known[id(value)] = value, found
        return found

    def _new(self, value: Any) -> Any:
        whole = value if value.base is None else value.base
        for ours, memory in self.made:
            place = place_in(value, ours)
            if place is not None:
                return np.ndarray(value.shape, value.dtype, memory, *place)
        place, start = place_in(value, whole), place_in(whole, whole)
        if place is None or start is None or start[0] or not whole.flags.c_contiguous:
            return np.array(np.asarray(value))
        memory = np.array(np.asarray(whole))
        self.made.append((whole, memory))
        return memory if value is whole else np.ndarray(value.shape, value.dtype, memory, *place)
