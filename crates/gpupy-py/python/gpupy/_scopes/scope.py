"""``gpupy.accelerator``: a part of a program of plain NumPy that gpupy computes.

Owns ``accelerator``. At the start of the part, the names of its frame and of its module that hold NumPy
arrays get arrays of ours instead, and names of the module ``numpy`` a proxy, which is gpupy for calls from
this part. At its end all pending arrays are computed, written ones are copied back, and the names get NumPy's
arrays again.

Not here: memory of NumPy's and our bases in its place (``shared_memory.py``), functions that are compiled
(``_kernel``), programs that run on gpupy as a whole (``_program/imports.py``).
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import gpupy

from .._gpupy import Bracket, rename
from .._gpupy import jit as _own
from .._session import locks
from .shared_memory import Registry, Swap

_LOCK = locks.over_forks()
# By a frame's number: the scopes that it is inside of.
_inside: dict[int, dict[int, bool]] = {}

# Before Python 3.13 a frame's names are a copy, which is written back.
_to_fast: Any = None
if sys.version_info < (3, 13):
    _kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_int)
    _to_fast = _kind(("PyFrame_LocalsToFast", ctypes.pythonapi))


class accelerator(Bracket):
    """Computes the body of a `with` statement over NumPy's arrays with gpupy.

        with gpupy.accelerator():
            y = a * x + b          # plain NumPy, and lazy here

    NumPy arrays in local names, in cells and in globals of the module are copied when the body begins, and
    written back when it ends, if the body wrote them. The body does not see writes by other code meanwhile;
    where both wrote, the body's elements stay. Arrays that share memory keep sharing it, and stay NumPy's
    where a name shows the memory in a way that gpupy has no view for: a record, a matrix, a masked array. New
    arrays in these names are NumPy's afterwards; arrays that were stored elsewhere, returned or yielded stay
    gpupy's. Changes of the array object, such as `a.shape = ...` and flags, end with the body. An exception
    ends the body in the same way. A body always runs. Where its end is interrupted, names get NumPy's arrays
    all the same; an array that was not computed yet has the elements from before the body, all of them, and a
    new one stays gpupy's.

    ``immutable``: arrays from before refuse writes, with a ``ValueError`` at the line of the write.

    As a decorator it works on a function: its arguments, its cells, its module's globals, and its result, or
    the items of a tuple. Over a `gpupy.jit` function, recorded calls are repeated, and swap only the
    arguments.
    """

    __module__ = "gpupy._scope"

    _lock = _LOCK

    def __init__(self, *, immutable: bool = False) -> None:
        self._immutable = immutable

    def _begin(self, frame: Any) -> tuple[Any, ...]:
        return _Part(frame, self._immutable).plan(None)

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
            if isinstance(function, _own.Jit):
                # A recorded function reads no names.
                with _Call(None, immutable, args, kwargs) as call:
                    done, call.result = function._replayed(call.args, call.kwargs, True)
                if done:
                    return call.theirs()
            with _Call(function, immutable, args, kwargs) as call:
                call.result = function(*call.args, **call.kwargs)
            return call.theirs()

        return accelerated


class _Part:
    """What is inside between a beginning and an end: the names of a frame, and those of its module."""

    def __init__(self, frame: types.FrameType, immutable: bool, names: Any = None) -> None:
        self.frame, self.swap = frame, Swap(immutable)
        for key in [key for key, scopes in _inside.items() if not scopes]:
            _inside.pop(key, None)
        self.scopes = _inside.get(id(frame), {})
        self.names = frame.f_globals if names is None else names
        self.module = _Module.entered(self.names)
        self.before = tuple(self.values())
        self.swap.enter(self.before)
        self.swap.exchange(np, _STAND_IN)
        if immutable:
            globals_now = (self.module.swap.ours(value) for value in self.names.values())
            self.swap.fix(value for value in globals_now if not any(value is own for own in self.swap.fixed))

    def holders(self) -> list[Any]:
        """What has the names: the frame, unless they are the module's."""
        return [] if self.frame.f_locals is self.frame.f_globals else [self.frame]

    def values(self) -> list[Any]:
        """What the names hold."""
        return [value for holder in self.holders() for value in holder.f_locals.values()]

    def plan(self, value: Any) -> tuple[Any, ...]:
        """What a bracket does: calls, a function that prepares the end, calls, its value."""
        swap, module, holders = self.swap, self.module, self.holders()
        on = (
            (self.scopes.__setitem__, id(self), True),
            (_inside.__setitem__, id(self.frame), self.scopes),
            *module.on(self),
            *swap.on(),
            *((rename, holder, swap.given, _to_fast) for holder in holders),
        )
        off = (
            *((rename, holder, swap.known, _to_fast) for holder in holders),
            *swap.off(),
            *module.off(self),
            (self.scopes.pop, id(self), None),
        )
        return on, self.end, off, value

    def end(self, is_again: bool) -> None:
        """Brings back what was written, and makes NumPy's arrays for new ones."""
        is_nested = len(self.scopes) > 1 or is_inside(self.frame.f_back)
        try:
            self.swap.end(self.values(), self.before, is_nested, is_again)
        finally:
            self.module.end(self, is_again)


class _Call(Bracket):
    """A call of a function whose arguments, cells and result are swapped."""

    _lock = _LOCK

    def __init__(self, function: Any, immutable: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.immutable = function, immutable
        self.args, self.kwargs = args, kwargs
        self.result: Any = None
        self._part: _CallPart

    def _begin(self, frame: Any) -> tuple[Any, ...]:
        self._part = _CallPart(frame, self.immutable, self)
        swap = self._part.swap
        self.args = tuple(swap.ours(value) for value in self.args)
        self.kwargs = {name: swap.ours(value) for name, value in self.kwargs.items()}
        return self._part.plan(self)

    def theirs(self) -> Any:
        """The function's result, as NumPy's arrays."""
        result, theirs = self.result, self._part.swap.theirs
        if not isinstance(result, tuple):
            return theirs(result)
        items = [theirs(item) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)


class _CallPart(_Part):
    """The cells of a function that is called; without a function, its arguments alone."""

    def __init__(self, frame: types.FrameType, immutable: bool, call: _Call) -> None:
        function = call.function
        if isinstance(function, _own.Jit):
            function = inspect.unwrap(function)
        cells = getattr(function, "__closure__", None) or ()
        self.call, self.cells = call, [cell for cell in cells if _filled(cell)]
        super().__init__(frame, immutable, getattr(function, "__globals__", {}))
        self.swap.enter((*call.args, *call.kwargs.values()))
        self.before += *call.args, *call.kwargs.values()

    def plan(self, value: Any) -> tuple[Any, ...]:
        on, end, off, value = super().plan(value)
        # Without a function, names are as they are, and code that is called is outside.
        return (self.swap.on() if self.call.function is None else on), end, off, value

    def holders(self) -> list[Any]:
        return list(self.cells)

    def values(self) -> list[Any]:
        result = self.call.result
        cells = [cell.cell_contents for cell in self.cells if _filled(cell)]
        return [*cells, *(result if isinstance(result, tuple) else (result,))]


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


class _Module:
    """A module's globals while a part of it is inside: swapped by the first, and given back by the last."""

    _open: Registry[_Module]

    def __init__(self, names: dict[str, Any]) -> None:
        self.names, self.swap = names, Swap(False)
        # The parts that are inside, by their number.
        self.users: dict[int, bool] = {}
        self.before = tuple(names.values())
        self.swap.enter(self.before)
        self.swap.exchange(np, _STAND_IN)

    @classmethod
    def entered(cls, names: dict[str, Any]) -> _Module:
        """The module of these globals, with the parts that are inside."""
        found = cls._open.get(names)
        if found is None or not found.users:
            found = cls(names)
            cls._open.put(names, found)
        return found

    def on(self, part: _Part) -> tuple[Any, ...]:
        """The calls by which a part is inside."""
        return (self.users.__setitem__, id(part), True), (rename, self.names, self.swap.given)

    def off(self, part: _Part) -> tuple[Any, ...]:
        """The calls by which one part less is inside."""
        return (
            (self.users.pop, id(part), None),
            (rename, self.names, self.swap.known, None, self.users),
        )

    def end(self, part: _Part, is_again: bool) -> None:
        """Makes the writes of a part visible outside, and prepares the end of the last one."""
        if self.users.keys() <= {id(part)}:
            self.swap.end(tuple(self.names.values()), self.before, False, is_again)
        elif not is_again:
            self.swap.bring_back()


_Module._open = Registry()


def is_inside(frame: types.FrameType | None) -> bool:
    """Whether a frame is inside, or was called by one that is."""
    while frame is not None:
        if _inside.get(id(frame)):
            return True
        frame = frame.f_back
    return False


class _StandIn(types.ModuleType):
    """A proxy of NumPy, which is gpupy for calls from a part that is inside."""

    def __getattribute__(self, name: str) -> Any:
        return getattr(gpupy if is_inside(sys._getframe(1)) else np, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(np, name, value)

    def __dir__(self) -> list[str]:
        return dir(np)


_STAND_IN: Any = _StandIn("numpy")


def actual(module: Any) -> Any:
    """NumPy in place of its proxy."""
    return np if module is _STAND_IN else module
