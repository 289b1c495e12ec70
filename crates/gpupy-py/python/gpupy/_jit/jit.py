"""``gpupy.jit``: traces a function over arrays once, and repeats it without Python.

Owns the decorator and a function's statistics. Not here: recording (``recording.py``), functions of
numbers (``_kernel``)."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, overload

from .._gpupy import jit as _own
from .._session import tracebacks
from . import compiled_loops, recording, saved
from .recording import Memory, record


class Jit(_own.Jit):
    """A traced function over arrays: `gpupy.jit` makes it.

    It is called like the function. A call whose guards hold repeats the recorded operations, and runs no
    Python. Guards are on the arrays' dtypes, shapes, strides, flags and memory, the other arguments' values,
    the globals, variables of outer functions, attributes and containers that the function read, the driver,
    and the handling of arithmetic errors. ``bool()`` of an element is a decision: the call continues by the
    trace for this outcome, or is recorded anew.

    Text made of an array, and arrays that are stored elsewhere than in the result, raise ``JitError``. A
    function that reads elements in another way, has side effects (it prints, stores an attribute, draws
    random numbers), or calls or reads what is not known to be pure, runs each time; ``stats()`` counts these
    calls with the reason."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._memory = Memory()
        self._has_loops = False

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        try:
            if not self._has_loops:
                # Where they are not traced.
                self._has_loops = compiled_loops.place(self.__wrapped__)
            return record(self, self.__wrapped__, args, kwargs or {})
        except BaseException as error:
            # The frames that stay are the function's own.
            below = error.__traceback__ and error.__traceback__.tb_next
            error.__traceback__ = tracebacks.without(below, recording.__file__)
            raise

    def clear(self) -> None:
        """Forgets all traces, and the history of calls."""
        super().clear()
        self._memory = Memory()
        self._rest(0, "")

    def __repr__(self) -> str:
        return f"<jit '{getattr(self, '__name__', 'function')}'>"

    def __reduce__(self) -> str:
        # As functions are: by where they stand.
        return str(self.__qualname__)

    def save(self, path: str | os.PathLike[str], *, open: bool = False) -> None:
        """Writes the traces to a file, which ``gpupy.load(path)`` and the command ``gpupy-run`` repeat
        without the source: the operations, and the present values that the function read besides its
        arguments.

        With ``open=True`` traces that differ only in extents are merged into one for all extents between
        them, in the steps in which they were recorded; this needs at least three traces with different
        extents.

        Raises ``JitError``: nothing was recorded, or a trace cannot be in a file."""
        saved.save(self, getattr(self, "__name__", "function"), path, open)

    def explain(self) -> str:
        """The traces as text: each variant with its guards, its segments and their kernels."""
        return self._explain() or "nothing is recorded\n"

    def stats(self) -> dict[str, Any]:
        """The numbers of calls, repeats and recordings; of variants, segments and ways through them; of
        guards that did not hold, and of calls that ran without being recorded, each by its reason."""
        return self._stats()


@overload
def jit(function: Callable[..., Any]) -> Jit: ...
@overload
def jit() -> Callable[[Callable[..., Any]], Jit]: ...
def jit(function: Any = None) -> Any:
    """Traces a function once, and then repeats it without Python: a decorator.

        @gpupy.jit
        def step(u, v):
            return u + 0.1 * v, v - 0.1 * u

    Raises ``TypeError`` for generators and coroutines.
    """
    if function is None:
        return jit
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("gpupy.jit takes functions that return their results, no generators or coroutines")
    if not callable(function):
        raise TypeError(f"gpupy.jit takes a function, not {type(function).__name__}")
    return Jit(function)
