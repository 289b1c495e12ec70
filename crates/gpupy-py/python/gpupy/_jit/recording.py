"""Recording (tracing): a function runs once, and its operations on arrays are kept.

Owns ``record``. While the function runs, arrays from before show placeholders instead of their elements
(``crates/gpupy-py/src/array/recording/``); its effects are applied when it has ended. Invariant: a call
returns the function's result, whether it can be kept or not.

Not here: variants and their replay (``crates/gpupy-py/src/jit``).
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from .._gpupy import FormatError, eager, register_python
from .._gpupy import jit as _own
from .._loops.entries import Recorder
from .._session import tracebacks
from .forms import Arguments, Refused, Result, may_be_open
from .selection import Selection
from .watch import Held, Unrecorded, Watch, is_programs

# The most decisions of a call that is kept: each is a place where it may part.
MOST_DECISIONS = 1000
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
READS, BUSY = "it reads elements", "another thread records"
# After so many recordings in a row that were refused, or that no call came back to, calls run without one for
# a while, twice as long each time.
PATIENCE, VARIETY = 3, 32


if hasattr(os, "register_at_fork"):
    # The thread that recorded, if it was another, is not there in the child.
    os.register_at_fork(after_in_child=_own.forget_others)


class JitError(RuntimeError):
    """What a recorded function cannot do: make text of an array, or leave arrays elsewhere than in its
    result."""


class Memory:
    """The history of a function's calls."""

    def __init__(self) -> None:
        # The numbers that arguments were, by their places and types; and the places where they differ.
        self._seen: dict[tuple[int | str, type], Any] = {}
        self.open: set[int | str] = set()
        self.may_open = True
        self._in_vain, self._alone = 0, 0
        self._replays = 0

    def see(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Looks at the numbers of a call."""
        numbers: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        for place, value in numbers:
            if self.may_open and may_be_open(value):
                if self._seen.setdefault((place, type(value)), value) != value:
                    self.open.add(place)

    def close(self) -> None:
        """From now on arguments are known: the function reads them."""
        self.may_open = False
        self.open.clear()

    def count(self, *, kept: bool, replays: int) -> int:
        """Counts a recording, after so many calls that were done again; gives how many calls are not worth
        another."""
        self._in_vain = 0 if kept else self._in_vain + 1
        self._alone = self._alone + 1 if replays == self._replays else 0
        self._replays = replays
        vain = max(self._in_vain - PATIENCE, self._alone - VARIETY)
        return 0 if vain < 0 else 64 << min(vain, 13)


def record(jit: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function; its trace is kept in ``jit``, or the reason why not is counted there."""
    memory = jit._memory
    memory.see(args, kwargs)
    refused: str | None = None
    try:
        _check(function)
        arguments = Arguments(args, kwargs, memory.open)
    except Refused as why:
        refused = str(why)
    if refused is not None:
        # Not while that is handled, which errors of the function would tell of.
        return _plainly(jit, function, args, kwargs, refused)
    held, has_begun = Held(), False
    # Whatever is raised, and by whatever signal: nothing is left on. A signal comes after a call, or where
    # a Python function begins, so that what comes first in a block happens.
    try:
        held.stop_collector()
        has_begun = _own.begin()
        if has_begun:
            then = _recorded(jit, function, (args, kwargs), arguments, held)
        else:
            then = functools.partial(_plainly, jit, function, args, kwargs, BUSY)
    finally:
        if has_begun:
            Recorder.tell = None
        try:
            _own.discard()
        finally:
            try:
                if held.profiles:
                    sys.setprofile(held.profile)
            finally:
                if held.collects:
                    gc.enable()
    return then()


def _check(function: Callable[..., Any]) -> None:
    if eager():
        raise Refused("errors of arithmetic are handled at their line (`np.errstate`)")
    if sys.getprofile() is not None and not callable(sys.getprofile()):
        raise Refused("a profiler runs")


def _plainly(
    jit: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], why: str
) -> Any:
    _refused(jit, why)
    return function(*args, **kwargs)


def _refused(jit: Any, why: str) -> None:
    jit._ran_plainly(why)
    jit._rest(jit._memory.count(kept=False, replays=jit._replays), why)


def _recorded(
    jit: Any, function: Callable[..., Any], call: Any, arguments: Arguments, held: Held
) -> Callable[[], Any]:
    """What is to be done once nothing is recorded any more: it gives the call's result."""
    args, kwargs = call
    failed: BaseException | None = None
    watch = Watch(function, arguments.others, arguments.containers, held)
    Recorder.tell = watch.told_of_loop
    try:
        taken = [arguments.taken(place, value) for place, value in enumerate(args)]
        named = {name: arguments.taken(name, value) for name, value in kwargs.items()}
        with watch:
            value = function(*taken, **named)
        del taken, named
    except Unrecorded as why:
        return functools.partial(_plainly, jit, function, args, kwargs, str(why))
    except BaseException as error:
        failed = error
    if failed is not None:
        try:
            # Not while it is handled, which an error of the next time would tell of.
            again = _again(jit, function, call, arguments, watch, held, failed)
            if again is not None:
                return again
            _raise(jit, function, failed)
        finally:
            failed = None
    again = _again(jit, function, call, arguments, watch, held, None)
    if again is not None:
        return again
    refused: str | None = None
    guards: list[Any] = []
    try:
        guards = watch.guards()
    except Refused as why:
        refused = str(why)
    captured = watch.arrays
    if _own.decisions() > MOST_DECISIONS:
        refused = f"it decides more than {MOST_DECISIONS} times"
    result = Result(value, arguments, captured, watch.knows)
    if _leaks(result):
        is_inside = result.refused is not None and not _own.leaks_views()
        _own.abandon()
        if is_inside:
            # It is in a result that cannot be made again, and is returned as it is.
            _refused(jit, refused or str(result.refused))
            return lambda: value
        where = f", {refused}" if refused is not None and ":" in refused else ""
        raise JitError(
            f"{_name(function)}{where}: it leaves an array elsewhere than in what it returns, which would not"
            " happen again: return it"
        )
    refused = refused or result.refused or _own.refused()
    if refused is not None and not arguments.standing and not result.has_selections:
        # Its arrays may be stored elsewhere, too.
        _own.abandon(result.outputs)
        return functools.partial(_given_plainly, jit, arguments, value, refused)
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
        return functools.partial(_given_plainly, jit, arguments, given, refused)
    alone = f"{VARIETY} recordings, one after another, were of no use"
    jit._rest(jit._memory.count(kept=True, replays=jit._replays), alone)
    return lambda: given


def _raise(jit: Any, function: Callable[..., Any], error: BaseException) -> NoReturn:
    """Raises what a function raised that was recorded."""
    place, reason = _place(error), _own.refused()
    _own.abandon()
    if isinstance(error, FormatError):
        told = JitError(f"{_name(function)}{place}: {error}")
        raise told.with_traceback(tracebacks.between(error.__traceback__, _PACKAGE)) from None
    _refused(jit, reason or "it raises an exception")
    raise error


def _given_plainly(jit: Any, arguments: Arguments, given: Any, why: str) -> Any:
    """The result of a call whose trace is not kept."""
    if why.startswith(READS) and arguments.has_numbers:
        # Numbers that are known may be all that it reads.
        jit._memory.close()
    _refused(jit, why)
    return given


def _again(
    jit: Any,
    function: Callable[..., Any],
    call: Any,
    arguments: Arguments,
    watch: Watch,
    held: Held,
    error: BaseException | None,
) -> Callable[[], Any] | None:
    """What runs a call once more, where it did what cannot be recorded: nothing of it is true yet. Where
    numbers stood open, it is recorded for those that it was given."""
    spoiled = _own.spoiled()
    is_open = arguments.has_numbers
    reads = (_own.refused() or "").startswith(READS)
    is_odd = is_open and (reads or watch.tells_numbers or isinstance(error, Exception))
    if spoiled is None and not is_odd:
        return None
    try:
        watch.check_unchanged()
    except Refused as why:
        if spoiled is None:
            return None
        _own.abandon()
        raise JitError(f"{_name(function)}: {spoiled}, and it cannot run once more: {why}") from None
    _own.discard()
    args, kwargs = call
    if spoiled is not None:
        return functools.partial(_plainly, jit, function, args, kwargs, str(spoiled))
    jit._memory.close()
    if not _own.begin():
        return functools.partial(_plainly, jit, function, args, kwargs, BUSY)
    return _recorded(jit, function, call, Arguments(args, kwargs, ()), held)


def _leaks(result: Result) -> bool:
    """Whether an array that was made is still alive and not in the result."""
    known = [*result.outputs, *result.standing]
    if not _own.leaks(known):
        return False
    _own.aside(gc.collect)
    return bool(_own.leaks(known))


def _name(function: Callable[..., Any]) -> str:
    return f"`{getattr(function, '__name__', 'function')}`"


def _place(error: BaseException) -> str:
    """The line of the program at which an error came up."""
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if is_programs(frame)]
    return f", {own[-1][0].f_code.co_filename}:{own[-1][1]}" if own else ""


def reading() -> str:
    """That elements are read, and at which line of the program."""
    frame = sys._getframe()
    while frame.f_back is not None and not is_programs(frame):
        frame = frame.f_back
    return f"{READS}, {frame.f_code.co_filename}:{frame.f_lineno}"


register_python(reading=reading, selection=Selection)
