"""``gpupy.accelerator``: a part of a program of plain NumPy that gpupy computes.

Owns ``accelerator``. At the start of the part, the names of its frame and of its module that hold arrays of
NumPy's get arrays of ours instead, and those that hold the module ``numpy`` a stand-in, which is gpupy for
what this part calls. At its end all that is pending is computed, what was written is copied back, and the
names get NumPy's arrays again.

Arrays that view one memory become views of one base, so that what is written through one is seen through the
other, and are brought back as they were: the same objects, with the new elements.

Not here: functions that are compiled (``_kernel``), programs that run on gpupy as a whole (``_imports.py``).
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import gpupy

from ._gpupy import is_lazy, is_written, place_in, snapshot

_LOCK = threading.RLock()
# The frames that are inside, by their number, and how often each.
_inside: dict[int, int] = {}


class accelerator:
    """Computes the body of a `with` statement over NumPy's arrays by gpupy.

        with gpupy.accelerator():
            y = a * x + b          # plain NumPy, and lazy here

    Arrays of NumPy's in local names, in cells and in globals of the module are copied when the body begins,
    and written back when it ends, if they were written; what other code writes to them meanwhile is not seen,
    and where both wrote, the body's elements stay. New arrays in these names are NumPy's afterwards; what was
    stored elsewhere stays gpupy's. An exception ends the body in the same way. A body always runs.

    ``immutable``: arrays that were there before refuse writes, with a ``ValueError`` at the line that tries.

    As a decorator it does so for a function: its arguments, its module's globals, and what it returns.
    """

    def __init__(self, *, immutable: bool = False) -> None:
        self._immutable = immutable
        self._open: list[_Scope] = []

    def __enter__(self) -> None:
        try:
            frame = sys._getframe(1)
        except (AttributeError, ValueError):
            raise RuntimeError(
                "gpupy.accelerator: this Python has no frames whose names could be swapped"
            ) from None
        self._open.append(_Scope(frame, self._immutable))

    def __exit__(self, *_error: object) -> None:
        self._open.pop().leave()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, computed by gpupy."""
        immutable = self._immutable

        @functools.wraps(function)
        def accelerated(*args: Any, **kwargs: Any) -> Any:
            with _Called(function, immutable) as called:
                return called.result(function, args, kwargs)

        return accelerated


class _Base:
    """Memory of NumPy's, and our base in its place."""

    def __init__(self, root: np.ndarray[Any, Any]) -> None:
        self.root = root
        self.flat = root.ravel(order="K")
        ours: Any = gpupy.array(self.flat)
        self.ours, self.before = ours, snapshot(ours)

    def view(self, array: np.ndarray[Any, Any]) -> Any:
        """The view of our base that shows what an array shows; None where there is none."""
        start = array.__array_interface__["data"][0] - self.flat.__array_interface__["data"][0]
        size = self.flat.itemsize
        if array.dtype != self.flat.dtype or start % size or any(stride % size for stride in array.strides):
            return None
        shown = self.ours[start // size :]
        return gpupy.lib.stride_tricks.as_strided(shown, array.shape, array.strides)

    def theirs(self, array: Any) -> Any:
        """What NumPy's memory shows where an array of ours shows this base; None where it shows another."""
        place = place_in(array, self.ours)
        if place is None:
            return None
        offset, strides = place
        return np.lib.stride_tricks.as_strided(
            self.flat[offset // self.flat.itemsize :], array.shape, strides
        )

    def bring_back(self) -> None:
        """Copies what was written to NumPy's memory."""
        if self.before is not None and is_written(self.ours, self.before):
            np.copyto(self.flat, np.asarray(self.ours))
            self.before = snapshot(self.ours)


class _Swap:
    """Arrays of NumPy's and ours in their place."""

    def __init__(self, immutable: bool) -> None:
        self.immutable = immutable
        self.bases: dict[int, _Base] = {}
        self.given: dict[int, tuple[Any, Any]] = {}
        self.known: dict[int, Any] = {}

    def ours(self, array: np.ndarray[Any, Any]) -> Any:
        """Our array in the place of one of NumPy's; the array itself where it stays NumPy's."""
        if id(array) in self.given:
            return self.given[id(array)][1]
        view = self._view(array)
        if view is None:
            return array
        if self.immutable or not array.flags.writeable:
            view.flags.writeable = False
        self.given[id(array)] = array, view
        self.known[id(view)] = array
        return view

    def _view(self, array: np.ndarray[Any, Any]) -> Any:
        if type(array) is not np.ndarray or not is_lazy(array.dtype) or not array.dtype.isnative:
            return None
        root = array
        while type(root.base) is np.ndarray:
            root = root.base
        if root is not array and (root.dtype != array.dtype or not _is_dense(root)):
            root = array
        if not _is_dense(root):
            return None
        if id(root) not in self.bases:
            self.bases[id(root)] = _Base(root)
        return self.bases[id(root)].view(array)

    def theirs(self, value: Any) -> Any:
        """NumPy's array in the place of one of ours that a name holds at the end."""
        if id(value) in self.known:
            return self.known[id(value)]
        for base in self.bases.values():
            view = base.theirs(value)
            if view is not None:
                return view
        return np.array(np.asarray(value))

    def finish(self, results: list[Any]) -> None:
        """Computes all that is wanted at once, and copies what was written."""
        wanted = [base.ours for base in self.bases.values()]
        gpupy.evaluate(*wanted, *results)
        for base in self.bases.values():
            base.bring_back()


def _is_dense(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array shows all of a piece of memory, each element once."""
    return array.flags.c_contiguous or array.flags.f_contiguous


class _Scope:
    """A frame whose names are swapped."""

    def __init__(self, frame: types.FrameType, immutable: bool) -> None:
        self.frame, self.swap = frame, _Swap(immutable)
        with _LOCK:
            self.module = _Module.entered(frame.f_globals, self.swap)
        self.before = dict(self._names())
        swapped = {name: self.swap.ours(value) for name, value in self.before.items() if _is_numpys(value)}
        self._write(swapped | {name: _STAND_IN for name, value in self.before.items() if value is np})
        with _LOCK:
            _inside[id(frame)] = _inside.get(id(frame), 0) + 1

    def leave(self) -> None:
        """Gives names their arrays back."""
        with _LOCK:
            _inside[id(self.frame)] -= 1
            if not _inside[id(self.frame)]:
                del _inside[id(self.frame)]
        now = self._names()
        kept = {id(value) for value in self.before.values() if isinstance(value, gpupy.ndarray)}
        changed = {
            name: value
            for name, value in now.items()
            if isinstance(value, (gpupy.ndarray, gpupy.scalar)) and id(value) not in kept
        }
        try:
            with _LOCK:
                results = [value for value in changed.values() if isinstance(value, gpupy.ndarray)]
                self.swap.finish(results)
        finally:
            back = {name: _back(self.swap, value) for name, value in changed.items()}
            self._write(back | {name: np for name, value in now.items() if value is _STAND_IN})
            with _LOCK:
                self.module.left()

    def _names(self) -> dict[str, Any]:
        """The frame's own names; a module's are the module's."""
        if self.frame.f_locals is self.frame.f_globals:
            return {}
        return dict(self.frame.f_locals)

    def _write(self, values: dict[str, Any]) -> None:
        if not values:
            return
        names = self.frame.f_locals
        names.update(values)
        if sys.version_info < (3, 13):
            # Before it is a view of the frame's names, it has to be written to them.
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(0))


class _Called:
    """A call of a function whose arguments and result are swapped."""

    def __init__(self, function: Callable[..., Any], immutable: bool) -> None:
        self.globals = getattr(function, "__globals__", {})
        self.swap = _Swap(immutable)

    def __enter__(self) -> _Called:
        with _LOCK:
            self.module = _Module.entered(self.globals, self.swap)
        return self

    def result(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function gives, as NumPy's."""
        frame = sys._getframe()
        with _LOCK:
            _inside[id(frame)] = 1
        try:
            given = [self._given(value) for value in args]
            named = {name: self._given(value) for name, value in kwargs.items()}
            result = function(*given, **named)
            parts = result if isinstance(result, tuple) else (result,)
            ours = [part for part in parts if isinstance(part, (gpupy.ndarray, gpupy.scalar))]
            self.swap.finish([part for part in ours if isinstance(part, gpupy.ndarray)])
            back = tuple(
                _back(self.swap, part) if any(part is own for own in ours) else part for part in parts
            )
            return type(result)(back) if type(result) is tuple else back[0]
        finally:
            with _LOCK:
                del _inside[id(frame)]

    def _given(self, value: Any) -> Any:
        return self.swap.ours(value) if _is_numpys(value) else value

    def __exit__(self, *_error: object) -> None:
        try:
            self.swap.finish([])
        finally:
            with _LOCK:
                self.module.left()


class _Module:
    """A module's globals while a part of it is inside: swapped by the first, and given back by the last."""

    _open: ClassVar[dict[int, _Module]] = {}

    def __init__(self, names: dict[str, Any], swap: _Swap) -> None:
        self.names, self.swap, self.count = names, swap, 0
        self.before = dict(names)
        for name, value in self.before.items():
            if value is np:
                names[name] = _STAND_IN
            elif _is_numpys(value):
                names[name] = swap.ours(value)

    @classmethod
    def entered(cls, names: dict[str, Any], swap: _Swap) -> _Module:
        """The module of these globals, with one more part inside."""
        found = cls._open.get(id(names))
        if found is None:
            found = cls._open[id(names)] = cls(names, swap)
        else:
            # What its globals show, another part of it has to show as well.
            swap.bases, swap.given, swap.known = found.swap.bases, found.swap.given, found.swap.known
        found.count += 1
        return found

    def left(self) -> None:
        """One part less is inside."""
        self.count -= 1
        if self.count:
            return
        del _Module._open[id(self.names)]
        kept = {id(value) for value in self.before.values() if isinstance(value, gpupy.ndarray)}
        for name, value in list(self.names.items()):
            if value is _STAND_IN:
                self.names[name] = np
            elif isinstance(value, (gpupy.ndarray, gpupy.scalar)) and id(value) not in kept:
                self.names[name] = _back(self.swap, value)


def _is_numpys(value: Any) -> bool:
    return type(value) is np.ndarray


def _back(swap: _Swap, value: Any) -> Any:
    return swap.theirs(value) if isinstance(value, gpupy.ndarray) else np.asarray(value)[()]


class _StandIn(types.ModuleType):
    """NumPy, which is gpupy for what a part that is inside calls."""

    def __getattribute__(self, name: str) -> Any:
        # Whether the code that runs is in a frame that is inside, or was called by one.
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if id(frame) in _inside:
                return getattr(gpupy, name)
            frame = frame.f_back
        return getattr(np, name)

    def __dir__(self) -> list[str]:
        return dir(np)


_STAND_IN: Any = _StandIn("numpy")
