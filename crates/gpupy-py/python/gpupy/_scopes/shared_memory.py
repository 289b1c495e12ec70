"""Memory of NumPy's, and our bases in its place, for as long as scopes are open (``scope.py``).

Owns ``Swap``: the arrays that a scope swaps. Arrays of NumPy's that lie in one memory become views of one
base of ours, which all open scopes share; writes to it are brought back when a scope ends. What is changed
outside is changed by ``on`` and ``off``, in one step; all else here may be interrupted.

Not here: which names are swapped (``scope.py``).
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.lib.array_utils import byte_bounds

import gpupy

from .._gpupy import is_in_memory, is_lazy, is_written, memory_of, place_in, snapshot

_Kept = TypeVar("_Kept")


def _is_array(value: Any) -> bool:
    """Whether it is an array of ours, which to a type checker is one of NumPy's."""
    return isinstance(value, gpupy.ndarray)


class Registry(Generic[_Kept]):
    """Objects by the number of another one, for as long as something else keeps them."""

    def __init__(self) -> None:
        self._found: dict[int, weakref.ref[Any]] = {}

    def __len__(self) -> int:
        return sum(found() is not None for found in list(self._found.values()))

    def get(self, key: object) -> _Kept | None:
        """The object of another one, if it is there."""
        found = self._found.get(id(key))
        return None if found is None else found()

    def put(self, key: object, value: _Kept) -> None:
        """Notes the object of another one, which the object keeps."""
        for number in [number for number, found in self._found.items() if found() is None]:
            self._found.pop(number, None)
        self._found[id(key)] = weakref.ref(value)


class _Base:
    """Memory of NumPy's, and our base in its place."""

    def __init__(self, root: np.ndarray[Any, Any]) -> None:
        self.root = root
        self.flat = root.ravel(order="K")
        ours: Any = gpupy.array(self.flat)
        self.ours, self.before = ours, snapshot(ours)
        # Arrays of NumPy's that may be written, and ours in their place, where the root may not be.
        self.writable: list[tuple[Any, Any]] = []

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
        return None if place is None else _placed(array, self.flat, place)

    def theirs_for(self, lent: _Lent) -> Any:
        """What shows of NumPy's memory what another object shows of ours; None for another base's."""
        offset = lent.offset_in(self.ours)
        if offset is None:
            return None
        return lent.like(_placed(lent.shown, self.flat, (offset, list(lent.shown.strides))))

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


def _placed(array: Any, memory: np.ndarray[Any, Any], place: tuple[int, list[int]]) -> Any:
    """NumPy's array that shows of a memory what an array of ours shows of its own."""
    offset, strides = place
    # One without elements may begin anywhere, also where there is no memory.
    return np.ndarray(array.shape, array.dtype, memory, offset if array.size else 0, strides)


# The classes of NumPy's arrays that a memory, a shape and a dtype make.
_PLAIN = (np.ndarray, np.matrix, np.recarray)


class _Lent:
    """An array of NumPy's, or a buffer, that shows elements which an array of ours gave out."""

    def __init__(self, value: Any) -> None:
        self.value, self.shown = value, np.asarray(value)

    @staticmethod
    def among(values: Iterable[Any], before: Iterable[Any]) -> list[_Lent]:
        """Those in names that were not there at the start."""
        kept = {id(value) for value in before}
        new = {id(value): value for value in values if id(value) not in kept}
        found = []
        for value in new.values():
            if _is_lent(value):
                # NumPy cannot read buffers of all records.
                with contextlib.suppress(ValueError, RuntimeError):
                    found.append(_Lent(value))
        return [lent for lent in found if lent.shown.size and not lent.shown.dtype.hasobject]

    def offset_in(self, ours: Any) -> int | None:
        """The bytes before its first element in the memory of an array of ours, which is given out."""
        (first, end), (low, high) = byte_bounds(np.asarray(ours)), byte_bounds(self.shown)
        return self.shown.ctypes.data - first if first <= low and high <= end else None

    def like(self, view: Any) -> Any:
        """A view as an object of the same class, which may be written where this one may be."""
        view.flags.writeable &= self.shown.flags.writeable
        if isinstance(self.value, memoryview):
            return memoryview(view)
        return view.view(type(self.value)) if type(self.value) in _PLAIN else view


def _is_lent(value: Any) -> bool:
    """Whether it is a buffer, or an array in NumPy's memory, with elements that an array of ours gave out."""
    kind = type(value)
    if kind is gpupy.ndarray and not value._lazy:
        value = np.asarray(value)
    if type(value) not in (memoryview, *_PLAIN):
        return False
    while isinstance(value, (memoryview, np.ndarray)) and not isinstance(value, gpupy.ndarray):
        value = value.obj if isinstance(value, memoryview) else value.base
    return isinstance(value, gpupy.ndarray) or type(value).__module__ == _OURS


# The bases of open scopes, by their memory's owner.
_bases: Registry[_Base] = Registry()


def _root_of(value: Any) -> Any:
    """The owner of an object's memory: an array, or a buffer; None for no memory of NumPy's, and for memory
    of ours, which an array of ours may show as well."""
    found: Any = None
    while value is not None:
        if isinstance(value, memoryview):
            value = value.obj
            continue
        if isinstance(value, np.ndarray) and not isinstance(value, gpupy.ndarray):
            found = value
        elif not isinstance(value, _DUMMY):
            if isinstance(value, gpupy.ndarray) or type(value).__module__ == _OURS:
                return None
            # Other memory that arrays may share.
            return value if found is not None and not isinstance(value, bytes) else found
        value = value.base
    return found


# The module of the object that keeps our memory while an array of NumPy's shows it.
_OURS = "gpupy._gpupy"
# The object that `as_strided` puts between an array and its base.
_DUMMY: type[Any] = type(np.lib.stride_tricks.as_strided(np.zeros(1), (1,)).base)


def _is_dense(array: Any) -> bool:
    """Whether an array shows all of a piece of memory, each element once."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


class Swap:
    """Arrays of NumPy's and ours in their place, for one scope."""

    def __init__(self, immutable: bool) -> None:
        self.immutable = immutable
        self.used: list[_Base] = []
        # By the number of NumPy's array it and ours, and by the number of ours it and NumPy's.
        self.given: dict[int, tuple[Any, Any]] = {}
        self.known: dict[int, tuple[Any, Any]] = {}
        # Arrays of ours from before, of an outer scope perhaps, that are not to be written.
        self.fixed: list[Any] = []

    def enter(self, values: Iterable[Any]) -> None:
        """Makes our arrays for those of NumPy's among the values of names."""
        together: dict[int, list[Any]] = {}
        values = list(values)
        for value in values:
            root = _root_of(value) if isinstance(value, (np.ndarray, memoryview)) else None
            if root is not None:
                together.setdefault(id(root), []).append(value)
        for same in together.values():
            self._take(same)
        if self.immutable:
            self.fix(values)

    def fix(self, values: Iterable[Any]) -> None:
        """Takes arrays of ours for those that are not to be written."""
        self.fixed += [v for v in values if type(v) is gpupy.ndarray and v.flags.writeable]

    def exchange(self, theirs: Any, ours: Any) -> None:
        """Takes an object of ours for another one."""
        self.given[id(theirs)] = theirs, ours
        self.known[id(ours)] = ours, theirs

    def on(self) -> tuple[Any, ...]:
        """The calls that begin the scope."""
        return tuple((setattr, value, "_writable", False) for value in self.fixed)

    def off(self) -> tuple[Any, ...]:
        """The calls that end the scope."""
        return *((setattr, value, "_writable", True) for value in self.fixed), (self.used.clear,)

    def ours(self, value: Any) -> Any:
        """Our array in place of the one that was there at the start."""
        return self.given[id(value)][1] if id(value) in self.given else value

    def theirs(self, value: Any) -> Any:
        """NumPy's array in place of ours, once there is one."""
        return self.known[id(value)][1] if id(value) in self.known else value

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
        found = _bases.get(root)
        base = found or _Base(root)
        views = []
        for value in values:
            view = base.view(value) if value.dtype.isnative and is_lazy(value.dtype) else None
            if view is None:
                return
            views.append(view)
        if found is not None:
            base.renew()
        _bases.put(root, base)
        self.used.append(base)
        for value, view in zip(values, views, strict=True):
            if self.immutable or not value.flags.writeable:
                view.flags.writeable = False
            self.exchange(value, view)

    def bring_back(self) -> None:
        """Computes and copies the written arrays."""
        _bring_back(self.used)

    def end(self, values: Iterable[Any], before: Iterable[Any], is_nested: bool, is_again: bool) -> None:
        """Brings writes back, and makes NumPy's arrays for those of ours that were not there at the start.

        In the body of another scope, new arrays stay ours, and are given back by that. Again, after it was
        interrupted, nothing more is computed: what is not there yet stays ours, and unwritten.
        """
        kept = {id(value) for value in before if isinstance(value, (gpupy.ndarray, gpupy.scalar))}
        ours: list[Any] = [
            value
            for value in {id(value): value for value in values}.values()
            if isinstance(value, (gpupy.ndarray, gpupy.scalar)) and id(value) not in kept
        ]
        # Those of subclasses of our class can be no others.
        found = [] if is_nested else [v for v in ours if type(v) in (gpupy.ndarray, gpupy.scalar)]
        used = list(self.used)
        there = [base for base in used if not is_again or is_in_memory(base.ours)]
        lent = [] if is_nested else _Lent.among(values, before)
        lent = [one for one in lent if not self._shows_old(one, there)]
        new = [value for value in found if id(value) not in self.known and not self._shows_old(value, used)]
        if is_again:
            new = [v for v in new if _is_array(v) and is_in_memory(v)]
            used = there
        else:
            arrays = [value for value in ours if isinstance(value, gpupy.ndarray)]
            gpupy.evaluate(*(base.ours for base in used), *arrays)
        try:
            _bring_back(used)
        finally:
            self._make(new, lent)

    def _shows_old(self, value: Any, used: list[_Base]) -> bool:
        """Whether an array, or what was lent, shows memory of NumPy's; then it becomes a view of that."""
        if isinstance(value, _Lent):
            found = next((view for base in used if (view := base.theirs_for(value)) is not None), None)
            value = value.value
            if found is not None:
                self.known[id(value)] = value, found
            return found is not None
        if not isinstance(value, gpupy.ndarray):
            return False
        found = next((view for base in used if (view := base.theirs(value)) is not None), None)
        if found is not None:
            self.known[id(value)] = value, found
        return found is not None

    def _make(self, values: list[Any], lent: list[_Lent]) -> None:
        """Makes NumPy's arrays for new ones of ours; those on one base share memory, as does what it lent."""
        groups: list[list[Any]] = []
        for value in values:
            if not _is_array(value):
                self.known[id(value)] = value, np.asarray(value)[()]
            elif not value._lazy:
                # Its memory is NumPy's.
                self.known[id(value)] = value, np.asarray(value)
            else:
                group = next((group for group in groups if place_in(value, group[0]) is not None), None)
                if group is None:
                    groups.append([value])
                else:
                    group.append(value)
        failed: list[Exception] = []
        for group in groups:
            try:
                self._make_group(group, lent)
            except Exception as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def _make_group(self, group: list[Any], lent: list[_Lent]) -> None:
        first, whole = group[0], memory_of(group[0])
        of = first if whole is None else whole
        if first._is_pinned or any(one.offset_in(of) is not None for one in lent):
            # Other code has the memory, and goes on to read and to write it.
            for value in group:
                self.known[id(value)] = value, np.asarray(value)
            return
        if whole is None or (len(group) == 1 and 2 * first.size * first.itemsize <= whole.nbytes):
            # Nothing else sees the rest of the memory.
            alone = np.array(np.asarray(first), order="K")
            alone.flags.writeable = first.flags.writeable
            self.known[id(first)] = first, alone
            return
        owners = (value for value in group if value.nbytes == whole.nbytes and _is_dense(value))
        owner = next(owners, None)
        if owner is None:
            memory = np.array(np.asarray(whole))
        else:
            is_c = owner.flags.c_contiguous
            array = np.array(np.asarray(owner), order="C" if is_c else "F")
            self.known[id(owner)] = owner, array
            memory = array.reshape(-1) if is_c else array.T.reshape(-1)
        for value in group:
            place = place_in(value, whole)
            if value is not owner and place is not None:
                view = _placed(value, memory, place)
                if not value.flags.writeable:
                    view.flags.writeable = False
                self.known[id(value)] = value, view


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
