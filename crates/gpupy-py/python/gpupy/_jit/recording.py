"""Recording: a function runs once, and what it does with arrays is kept.

Owns ``record``. While the function runs, arrays from before show arguments in the place of their elements
(``crates/gpupy-py/src/array/recording.rs``); what it does becomes true when it has ended. Invariant: a call gives
what the function gives, whether it can be kept or not.

Not here: what a kept function needs in order to be done again (``crates/gpupy-py/src/jit``).
"""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .._gpupy import OpenError, eager
from .._gpupy import jit as _own
from .forms import Arguments, Refused, Result
from .watch import Watch

_LOCK = threading.Lock()
# The most decisions of a call that is kept: each is a place where it may part.
MOST_DECISIONS = 1000


class JitError(RuntimeError):
    """What a recorded function cannot do: read elements other than by `bool()`, or leave arrays elsewhere."""


def record(jit: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function; what it does is kept in ``jit``, or why not is counted there."""
    try:
        _check(function)
        arguments = Arguments(args, kwargs)
    except Refused as why:
        return _plainly(jit, function, args, kwargs, str(why))
    if not _LOCK.acquire(blocking=False):
        return _plainly(jit, function, args, kwargs, "another thread records")
    try:
        watch = Watch(function, arguments.others, arguments.containers)
        if not _own.begin():
            return _plainly(jit, function, args, kwargs, "another thread records")
        return _recorded(jit, function, (args, kwargs), arguments, watch)
    finally:
        _LOCK.release()


def _check(function: Callable[..., Any]) -> None:
    if eager():
        raise Refused("errors of arithmetic are handled at their line (`np.errstate`)")
    if sys.getprofile() is not None and not callable(sys.getprofile()):
        raise Refused("a profiler runs")


def _plainly(
    jit: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], why: str
) -> Any:
    jit._ran_plainly(why)
    return function(*args, **kwargs)


def _recorded(jit: Any, function: Callable[..., Any], call: Any, arguments: Arguments, watch: Watch) -> Any:
    args, kwargs = call
    try:
        taken = [arguments.taken(value) for value in args]
        named = {name: arguments.taken(value) for name, value in kwargs.items()}
        with watch:
            value = function(*taken, **named)
        del taken, named
    except OpenError as error:
        place = _place(error.__traceback__)
        _own.abandon()
        raise JitError(f"{_name(function)}{place}: {error}") from None
    except BaseException:
        _own.abandon()
        raise
    refused: str | None = None
    guards: list[Any] = []
    captured: list[Any] = []
    try:
        guards = watch.guards()
        captured = _besides(watch.arrays, arguments.objects)
    except Refused as why:
        refused = str(why)
        captured = _besides(watch.arrays, arguments.objects)
    if _own.decisions() > MOST_DECISIONS:
        refused = f"it decides more than {MOST_DECISIONS} times"
    try:
        result = Result(value, arguments.objects + captured)
    except Refused as why:
        _own.abandon()
        jit._ran_plainly(str(why))
        return value
    if _own.leaks(result.outputs):
        gc.collect()
        if _own.leaks(result.outputs):
            where = _stored(watch)
            _own.abandon()
            raise JitError(
                f"{_name(function)}{where}: it leaves an array elsewhere than in what it returns, which would not"
                " happen again: return it"
            )
    given, refused = _own.finish(
        jit,
        arguments.positional,
        arguments.named,
        arguments.objects,
        captured,
        guards,
        result.form,
        result.outputs,
        refused,
    )
    if refused is not None:
        jit._ran_plainly(refused)
    return given


def _besides(arrays: list[Any], objects: list[Any]) -> list[Any]:
    """The arrays that are no arguments."""
    known = {id(one) for one in objects}
    return [array for array in arrays if id(array) not in known]


def _name(function: Callable[..., Any]) -> str:
    return f"`{getattr(function, '__name__', 'function')}`"


def _place(trace: TracebackType | None) -> str:
    """The line of the program at which an error came up."""
    own = [
        frame
        for frame, _ in traceback.walk_tb(trace)
        if frame.f_globals.get("__name__", "").split(".")[0] not in ("gpupy", "numpy")
    ]
    if not own:
        return ""
    lines = {frame: line for frame, line in traceback.walk_tb(trace)}
    return f", {own[-1].f_code.co_filename}:{lines[own[-1]]}"


def _stored(watch: Watch) -> str:
    """Where it stores what lives longer than it, if that was seen."""
    place = watch.refused or ""
    return f", {place}" if ".py:" in place or ">:" in place else ""
