"""``gpupy.accelerator``: a part of a program of plain NumPy that gpupy computes.

Owns ``accelerator``. At the start of the part, the names of its frame and of its module that hold NumPy
arrays get arrays of ours instead, and names of the module ``numpy`` a proxy, which is gpupy for calls from
this part. At its end all pending arrays are computed, written ones are copied back, and the names get NumPy's
arrays again.

Not here: memory of NumPy's and our bases in its place (``_shared_memory.py``), functions that are compiled
(``_kernel``), programs that run on gpupy as a whole (``_imports.py``).
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import gpupy

from . import _locks
from ._gpupy import jit as _own
from ._shared_memory import Swap

_LOCK = _locks.over_forks()
# The frames that are inside, by their number, and how often each.
_inside: dict[int, int] = {}


class accelerator:
    """Computes the body of a `with` statement over NumPy's arrays with gpupy.

        with gpupy.accelerator():
            y = a * x + b          # plain NumPy, and lazy here

    NumPy arrays in local names, in cells and in globals of the module are copied when the body begins, and
    written back when it ends, if the body wrote them. The body does not see writes by other code meanwhile;
    where both wrote, the body's elements stay. Arrays that share memory keep sharing it, and stay NumPy's
    where a name shows the memory in a way that gpupy has no view for: a record, a matrix, a masked array. New
    arrays in these names are NumPy's afterwards; arrays that were stored elsewhere, returned or yielded stay
    gpupy's. Changes of the array object, such as `a.shape = ...` and flags, end with the body. An exception
    ends the body in the same way. A body always runs.

    ``immutable``: arrays from before refuse writes, with a ``ValueError`` at the line of the write.

    As a decorator it works on a function: its arguments, its cells, its module's globals, and its result, or
    the items of a tuple. Over a `gpupy.jit` function, recorded calls are repeated, and swap only the
    arguments.
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
        with _LOCK:
            self._open.append(_Scope(frame, self._immutable))

    def __exit__(self, *_error: object) -> None:
        frame = sys._getframe(1)
        with _LOCK:
            # Several frames may use one object, each in its turn.
            own = [scope for scope in self._open if scope.frame is frame]
            scope = (own or self._open)[-1]
            self._open.remove(scope)
            scope.leave()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, computed by gpupy. Raises ``TypeError`` for generators and coroutines."""
        immutable = self._immutable
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"gpupy.accelerator: `{function.__name__}` computes when it is awaited or iterated over:"
                " write `with gpupy.accelerator():` inside it"
            )

        @functools.wraps(function)
        def accelerated(*args: Any, **kwargs: Any) -> Any:
            with _LOCK:
                called = _Called(function, immutable, args, kwargs)
            try:
                return called.result()
            finally:
                with _LOCK:
                    called.leave()

        return accelerated


class _Scope:
    """A frame whose names are swapped."""

    def __init__(self, frame: types.FrameType, immutable: bool) -> None:
        self.frame, self.swap = frame, Swap(immutable)
        self.module = _Module.entered(frame.f_globals)
        self.before = self._names()
        swapped = self.swap.enter(self.before)
        self._write(swapped | {name: _STAND_IN for name, value in self.before.items() if value is np})
        _inside[id(frame)] = _inside.get(id(frame), 0) + 1

    def leave(self) -> None:
        """Gives names their arrays back."""
        _inside[id(self.frame)] -= 1
        if not _inside[id(self.frame)]:
            del _inside[id(self.frame)]
        now = self._names()
        back: dict[str, Any] = {}
        try:
            back = self.swap.leave(now, self.before.values(), _is_inside(self.frame))
        finally:
            self._write(back | {name: np for name, value in now.items() if value is _STAND_IN})
            self.module.left()

    def _names(self) -> dict[str, Any]:
        """The frame's own names; a module's are the module's."""
        if self.frame.f_locals is self.frame.f_globals:
            return {}
        return dict(self.frame.f_locals)

    def _write(self, values: dict[str, Any]) -> None:
        names = self.frame.f_locals
        if names is self.frame.f_globals:
            return
        names.update(values)
        if sys.version_info < (3, 13):
            # Before it is a view of the frame's names, it has to be written to them, and keeps its values.
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(self.frame), ctypes.c_int(0))
            if self.frame.f_code.co_flags & inspect.CO_OPTIMIZED:
                names.clear()


class _Called:
    """A call of a function whose arguments, cells and result are swapped."""

    def __init__(
        self, function: Callable[..., Any], immutable: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function, self.swap = function, Swap(immutable)
        self.module: _Module | None = None
        self.cells: list[types.CellType] = []
        self.before = {f"argument {k}": value for k, value in enumerate((*args, *kwargs.values()))}
        self.swap.enter(self.before)
        self.args = tuple(self.swap.ours(value) for value in args)
        self.kwargs = {name: self.swap.ours(value) for name, value in kwargs.items()}

    def result(self) -> Any:
        """The function's result, as NumPy's arrays."""
        frame = sys._getframe()
        if isinstance(self.function, _own.Jit):
            # A recorded function reads no names.
            done, result = self.function._replayed(self.args, self.kwargs, True)
            if done:
                return self._theirs(result, frame)
        with _LOCK:
            self._swap_names()
            _inside[id(frame)] = 1
        try:
            result = self.function(*self.args, **self.kwargs)
        finally:
            with _LOCK:
                del _inside[id(frame)]
        return self._theirs(result, frame)

    def _swap_names(self) -> None:
        """Swaps the arrays that the function reads besides its arguments."""
        function = inspect.unwrap(self.function) if isinstance(self.function, _own.Jit) else self.function
        self.module = _Module.entered(getattr(function, "__globals__", {}))
        self.cells = [cell for cell in getattr(function, "__closure__", None) or () if _filled(cell)]
        cells = {f"cell {k}": cell.cell_contents for k, cell in enumerate(self.cells)}
        self.before |= cells
        swapped = self.swap.enter(cells)
        for k, cell in enumerate(self.cells):
            given = _STAND_IN if cell.cell_contents is np else swapped.get(f"cell {k}")
            if given is not None:
                cell.cell_contents = given

    def _theirs(self, result: Any, frame: types.FrameType) -> Any:
        parts = result if isinstance(result, tuple) else (result,)
        with _LOCK:
            named = {str(k): part for k, part in enumerate(parts)}
            back = named | self.swap.leave(named, self.before.values(), _is_inside(frame))
        if not isinstance(result, tuple):
            return back["0"]
        items = [back[str(k)] for k in range(len(parts))]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)

    def leave(self) -> None:
        """Gives cells their arrays back."""
        now = {f"cell {k}": cell.cell_contents for k, cell in enumerate(self.cells) if _filled(cell)}
        back: dict[str, Any] = {}
        try:
            back = self.swap.leave(now, self.before.values(), False)
        finally:
            for k, cell in enumerate(self.cells):
                if f"cell {k}" in back:
                    cell.cell_contents = back[f"cell {k}"]
                elif now.get(f"cell {k}") is _STAND_IN:
                    cell.cell_contents = np
            if self.module is not None:
                self.module.left()


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


class _Module:
    """A module's globals while a part of it is inside: swapped by the first, and given back by the last."""

    _open: ClassVar[dict[int, _Module]] = {}

    def __init__(self, names: dict[str, Any]) -> None:
        self.names, self.swap, self.count = names, Swap(False), 0
        self.before = dict(names)
        names.update(self.swap.enter(self.before))
        names.update({name: _STAND_IN for name, value in self.before.items() if value is np})

    @classmethod
    def entered(cls, names: dict[str, Any]) -> _Module:
        """The module of these globals, with one more part inside."""
        found = cls._open.get(id(names))
        if found is None:
            found = cls._open[id(names)] = cls(names)
        found.count += 1
        return found

    def left(self) -> None:
        """One part less is inside; its writes become visible outside."""
        self.count -= 1
        if self.count:
            self.swap.bring_back()
            return
        del _Module._open[id(self.names)]
        now = dict(self.names)
        back: dict[str, Any] = {}
        try:
            back = self.swap.leave(now, self.before.values(), False)
        finally:
            self.names.update(back)
            self.names.update({name: np for name, value in now.items() if value is _STAND_IN})


def _is_inside(frame: types.FrameType | None) -> bool:
    """Whether a frame is inside, or was called by one that is."""
    while frame is not None:
        if id(frame) in _inside:
            return True
        frame = frame.f_back
    return False


class _StandIn(types.ModuleType):
    """A proxy of NumPy, which is gpupy for calls from a part that is inside."""

    def __getattribute__(self, name: str) -> Any:
        return getattr(gpupy if _is_inside(sys._getframe(1)) else np, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(np, name, value)

    def __dir__(self) -> list[str]:
        return dir(np)


_STAND_IN: Any = _StandIn("numpy")


def actual(module: Any) -> Any:
    """NumPy in place of its proxy."""
    return np if module is _STAND_IN else module
