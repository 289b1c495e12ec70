"""``gpupy.jit``: a function over arrays is recorded once, and done again without Python.

Owns the decorator and what a function tells of it. Not here: recording (``recording.py``), functions of
numbers (``_kernel``)."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any

from .._gpupy import jit as _own
from . import saved
from .recording import Memory, record


class Jit(_own.Jit):
    """A function over arrays that is recorded: `gpupy.jit` makes it.

    It is called as the function is. Where a call looks like one before it, the operations are done that were
    recorded then, and no Python runs: it looks so by the arrays' dtypes, shapes, strides, flags and memory,
    the other arguments' values, what the function read of globals, variables of outer functions, attributes
    and containers, the driver and the handling of arithmetic's errors. ``bool()`` of an element is a
    decision, after which the call goes on as it did when that came out so, or is recorded anew.

    Text that is made of an array, and arrays that are left elsewhere than in the result, raise ``JitError``.
    A function that reads elements in another way, or does what would not happen again (it prints, stores an
    attribute, draws random numbers), runs each time, which ``stats()`` counts with the reason."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._memory = Memory()

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        return record(self, self.__wrapped__, args, kwargs or {})

    def clear(self) -> None:
        """Forgets all that was recorded, and what calls before were like."""
        super().clear()
        self._memory = Memory()
        self._rest(0, "")

    def __repr__(self) -> str:
        return f"<jit '{getattr(self, '__name__', 'function')}'>"

    def __reduce__(self) -> str:
        # As functions are: by where they stand.
        return str(self.__qualname__)

    def save(self, path: str | os.PathLike[str], *, open: bool = False) -> None:
        """Writes what was recorded into a file, which ``gpupy.load(path)`` and the command ``gpupy-run`` do
        again without the source: the operations, and what the function read besides its arguments, as that
        is now.

        With ``open=True`` recordings that differ in extents alone become one for all extents between these;
        at least three of other extents tell what follows from them.

        Raises ``JitError``: nothing was recorded, or what a file cannot have."""
        saved.save(self, getattr(self, "__name__", "function"), path, open)

    def explain(self) -> str:
        """What was recorded, as text: each variant with its guards, its segments and their kernels."""
        return self._explain() or "nothing is recorded\n"

    def stats(self) -> dict[str, Any]:
        """How often it was called, done again and recorded; how many variants, segments and ways through them
        there are; what did not look as it did, and why calls ran without being recorded, each with how
        often."""
        return self._stats()


def jit(function: Callable[..., Any]) -> Jit:
    """The function, recorded once and done again without Python: a decorator.

        @gpupy.jit
        def step(u, v):
            return u + 0.1 * v, v - 0.1 * u

    Raises ``TypeError`` for what gives its results later.
    """
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("gpupy.jit takes functions that return their results, no generators or coroutines")
    if not callable(function):
        raise TypeError(f"gpupy.jit takes a function, not {type(function).__name__}")
    return Jit(function)
