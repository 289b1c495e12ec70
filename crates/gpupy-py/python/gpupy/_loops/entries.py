"""How a nest is entered: what stands at its site, decides, has it run, and says where Python goes on.

Owns ``Entry``, the counts of what was run, ``places``, by which the report finds them, and ``Recorder``, by
which a function that is traced hears of a loop. A nest runs
compiled where its names are what the text means, nobody traces or profiles, and its steps are worth it.
Invariants: an entry that does not run it changes nothing; a site that refuses often is closed. Not here:
what a site is (``sites.py``), what a nest may hold (``lowering.py``).
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from .._gpupy import LoopNest, eager, ndarray
from .._gpupy import jit as _own
from .._session import written_code
from .lowering import Lowered
from .sites import Leave, Site

# Steps of Python's that take as long as a nest's compilation; and those that take as long as an entry.
_WORTH_COMPILING, _WORTH_ENTERING = 100_000, 600
# A loop that had few steps so often in turn is looked at again after some runs; in the end it is closed.
_FEW_TIMES, _FEW_LOOKS, _FEW_SKIPPED = 16, 40, 100
# Seconds of a run that was hardly worth it, if it was left then.
_SOON = 1e-3
# How often a site may refuse, or be left, before it is closed.
_TRIES = 4
_OPTIMIZED = 1
# Packages whose threads save the history of a notebook, and talk to its page.
_NOTEBOOKS = frozenset(["IPython", "ipykernel", "tornado", "zmq"])
_MISSING = object()
# Types whose lengths, shapes and arithmetic run no code of the program.
_COUNTED = frozenset([bool, int, float, str, bytes, tuple, list, range, np.ndarray, ndarray])
_SCALARS = frozenset(np.sctypeDict.values())
# The same code without machine code.
is_interpreted = False

# The entries of the program's nests by file, line and column.
places: dict[tuple[str, int, int], Entry] = {}
# Files that Python itself compiled: their texts, and the first lines of functions that got sites afterwards.
functions: dict[str, tuple[str, set[int]]] = {}


class Recorder:
    """The recording that is told of loops over elements, of which it knows nothing else."""

    # Takes the frame, and about how many steps the loop has; raises where the call is to run unrecorded.
    tell: Callable[[FrameType, float], None] | None = None


class Entry:
    """What a site asks before each run of its loop."""

    def __init__(self, site: Site, lowered: Lowered, written: Callable[[], CodeType]) -> None:
        """``written`` compiles the module as written."""
        self._site, self._lowered, self._written = site, lowered, written
        # The code of the module's functions, once it is asked for; and the code that was found in it.
        self._codes: frozenset[CodeType] | None = None
        self._known: dict[str, CodeType] = {}
        # Arrays by their numbers, with how many indices an element has.
        self._elements: frozenset[tuple[int, int]] | None = None
        self._nest: LoopNest | None = None
        # Names of fast locals, of cells, and others.
        self._code: CodeType | None = None
        self._is_local: list[bool] = []
        self._has_shared = self._is_hidden = False
        self._shared: list[int] = []
        self._guarded: list[int] = []
        self._steps: Any = None
        self._waiting = 0.0
        self._few = 0
        self._has_version = False
        # What the report says.
        self.runs, self.leaves, self.refusals = 0, 0, 0
        self.seconds = self.compiling = 0.0
        self.words = ""
        site.open(self)

    def __call__(self) -> Leave | None:
        frame = sys._getframe(2)
        if _own.is_recording():
            self._tell(frame)
            return None
        if is_watched() or written_code.has_reader():
            return None
        values = self._values(frame)
        if self._is_hidden or any(values[number] is None for number in self._lowered.given):
            self._refuse("a function's name for the module's is another one here, or it is given nothing")
            return None
        steps = self._count(values)
        if steps < _WORTH_ENTERING:
            self._pass()
            return None
        self._few = 0
        self._waiting += steps
        may_compile = self._waiting >= _WORTH_COMPILING
        if not (may_compile or self._has_version):
            return None
        if not self._holds(frame):
            self._refuse("a function or a number by its name is another one")
            return None
        if self._has_shared and not _is_alone():
            return None
        # NumPy computes, with its own bits and warnings.
        if np.geterr()["under"] != "ignore" or eager():
            return None
        if self._nest is None:
            try:
                self._nest = LoopNest(self._lowered.text)
            except ValueError as error:
                self._site.close()
                self._refuse(f"it is not taken: {error}")
                return None
        start = time.perf_counter()
        found = self._nest.run(values, may_compile, lambda: self._goes_on(frame, values), is_interpreted)
        if found is None:
            if may_compile:
                self._refuse("its names are of too many kinds")
            return None
        self._has_version = True
        self.compiling += found.compiling
        taken = time.perf_counter() - start
        self.seconds += taken
        if found.statement == 0 and not found.names and found.reason in ("kind", "value"):
            self._refuse("its names are of kinds that are not compiled")
            return None
        is_soon = taken - found.compiling < _SOON
        if is_soon and found.reason in ("kind", "value") and not (self._lowered.has_stores or found.error):
            # Python begins anew: as written it is faster than by the second copy.
            self._refuse(f"it would be left soon, before statement {found.statement}")
            return None
        return self._leave(found, is_soon, values)

    def _leave(self, found: Any, is_soon: bool, values: list[Any]) -> Leave:
        self.runs += 1
        names = found.names
        if found.reason == "done":
            return Leave(None, names=names)
        if found.reason in ("kind", "value") and found.error is None:
            self.leaves += 1
            self.words = f"left before statement {found.statement}"
            if found.reason == "kind" or is_soon:
                self.refusals += 1
                if self.refusals >= _TRIES:
                    self.words = "values that are not compiled"
                    self._site.close()
        around = self._lowered.around[found.statement]
        iterators: dict[int, Iterator[Any]] = {}
        for statement, block in around.items():
            loop = self._lowered.loops.get(statement)
            if loop is None:
                continue
            if block == "orelse":
                iterators[statement] = iter(())
                continue
            given = dict(zip(self._lowered.names, values, strict=True))
            rest = loop.rest(found.loops[statement], given)
            iterators[statement] = itertools.chain([loop.present(names)], rest)
        return Leave(found.statement, around, iterators, names, found.error)

    def hurry(self) -> None:
        """Has the nest compiled for a tenth of the steps, as traced functions are called often."""
        self._waiting = 0.9 * _WORTH_COMPILING

    def _tell(self, frame: FrameType) -> None:
        """Tells a recording of a loop over elements."""
        if Recorder.tell is None:
            return
        steps = 0.0

        def count() -> None:
            nonlocal steps
            values = self._values(frame)
            single = ((_counted(values[number]), indices) for number, indices in self._single())
            if any(getattr(array, "ndim", 0) == indices for array, indices in single):
                steps = self._count(values)

        # What is asked of arrays here is no part of the function.
        _own.aside(count)
        if steps > 0:
            Recorder.tell(frame, steps)

    def _single(self) -> frozenset[tuple[int, int]]:
        """The arrays that have elements of theirs read or stored, with how many indices these have."""
        if self._elements is None:
            found: set[tuple[int, int]] = set()
            stack = [json.loads(self._lowered.text)]
            while stack:
                one = stack.pop()
                stack += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
                if isinstance(one, dict) and "Element" in one:
                    array, indices = one["Element"]
                    if all("At" in index for index in indices):
                        found.add((array, len(indices)))
            self._elements = frozenset(found)
        return self._elements

    def _pass(self) -> None:
        """Leaves a loop of few steps to Python."""
        self._few += 1
        if self._few >= _FEW_TIMES:
            self._site.skipped = _FEW_SKIPPED
        if self._few >= _FEW_TIMES + _FEW_LOOKS:
            self._site.close()

    def _refuse(self, words: str) -> None:
        self.words = words
        self.refusals += 1
        if self.refusals >= _TRIES:
            self._site.close()

    def _count(self, values: list[Any]) -> float:
        """About how many steps there are."""
        if self._steps is None:
            self._steps = eval(f"lambda v: {self._lowered.steps}", {"max": max, "len": len})
        try:
            return float(self._steps(list(map(_counted, values))))
        except (TypeError, AttributeError, ValueError, ArithmeticError, LookupError) as error:
            if _is_of_handler(error):
                raise
            return math.inf

    def _values(self, frame: FrameType) -> list[Any]:
        """The values of the nest's names."""
        code = frame.f_code
        if code is not self._code:
            self._look_at(code)
        local = frame.f_locals
        found = [local.get(name, _MISSING) for name in self._lowered.names]
        if code.co_flags & _OPTIMIZED and type(local) is dict and sys.getrefcount(local) <= 3:
            # What Python shows of a frame's names would keep their values alive.
            local.clear()
        for number in self._shared:
            if found[number] is _MISSING:
                found[number] = frame.f_globals.get(self._lowered.names[number], _MISSING)
        return [None if value is _MISSING else value for value in found]

    def _look_at(self, code: CodeType) -> None:
        is_function = bool(code.co_flags & _OPTIMIZED)
        fast = {*code.co_varnames} - {*code.co_cellvars} if is_function else set()
        own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        names = self._lowered.names
        self._code = code
        # What a function reads of the module has the same name in this frame.
        self._is_hidden = is_function and not own.isdisjoint(self._lowered.shared)
        self._shared = [number for number, name in enumerate(names) if name not in own]
        self._guarded = [number for number, name in enumerate(names) if name not in fast]
        self._guarded = [number for number in self._guarded if names[number] not in self._lowered.bound]
        self._has_shared = any(name not in fast for name in self._lowered.bound)

    def _goes_on(self, frame: FrameType, values: list[Any]) -> bool:
        """Whether a nest that runs may go on."""
        if is_watched() or not self._holds(frame):
            return False
        if self._has_shared and not _is_alone():
            return False
        if not self._guarded:
            return True
        now = self._values(frame)
        return all(now[number] is values[number] for number in self._guarded)

    def _holds(self, frame: FrameType) -> bool:
        """Whether what the nest calls is what its text means."""
        for text, full in self._lowered.calls:
            if _meant(frame, text) not in _wanted(full):
                return False
        if any(not self._is_own(_meant(frame, *one[:1]), frame, one) for one in self._lowered.functions):
            return False
        return all(_meant(frame, text) == value for text, value in self._lowered.constants)

    def _is_own(self, found: Any, frame: FrameType, wanted: tuple[str, int]) -> bool:
        """Whether a function is the one that the module's text defines on a line."""
        if type(found) is not FunctionType or found.__globals__ is not frame.f_globals:
            return False
        name, line = wanted
        code = found.__code__
        if code is self._known.get(name):
            return True
        if (code.co_filename, code.co_firstlineno) != (self._site.nest.place.file, line):
            return False
        # Other code may have the names of a file and a line, too.
        if self._codes is None:
            self._codes = frozenset(written_code.codes(self._written()))
        if written_code.written(code) not in self._codes:
            return False
        self._known[name] = code
        return True


def _counted(value: Any) -> Any:
    """A value of which steps are counted: none of another type, whose length is the program's own code."""
    if type(value) in _SCALARS:
        # NumPy's numbers would warn where they overflow.
        return value.item()
    return value if type(value) in _COUNTED else None


def _is_of_handler(error: BaseException) -> bool:
    """Whether a signal's handler raised it while steps were counted: that has a frame of its own."""
    at = error.__traceback__
    depth = 0
    while at is not None:
        depth, at = depth + 1, at.tb_next
    return depth > 2


def _meant(frame: FrameType, text: str) -> Any:
    """What a name, or an attribute of one, is in a frame."""
    root, *attributes = text.split(".")
    found = frame.f_globals.get(root, _MISSING)
    if found is _MISSING or root in frame.f_code.co_varnames or root in frame.f_code.co_freevars:
        found = frame.f_locals.get(root, _MISSING)
    if found is _MISSING:
        builtins = frame.f_builtins
        found = builtins.get(root, _MISSING)
    for attribute in attributes:
        found = getattr(found, attribute, _MISSING)
    return found


_known: dict[str, tuple[Any, ...]] = {}


def _wanted(full: str) -> tuple[Any, ...]:
    """The functions for a full name: NumPy's are ours too."""
    found = _known.get(full)
    if found is None:
        import builtins

        import gpupy

        module, _, name = full.rpartition(".")
        modules: list[Any] = {"builtins": [builtins], "math": [math], "numpy": [np, gpupy]}[module]
        found = _known[full] = tuple(getattr(one, name) for one in modules)
    return found


def _is_alone() -> bool:
    """Whether no other thread runs code of the program; a notebook's own do not."""
    if threading.active_count() == 1:
        return True
    own = threading.current_thread()
    return all(one is own or _is_notebooks(one) for one in threading.enumerate())


def _is_notebooks(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    owner = type(getattr(target, "__self__", None)).__module__
    modules = (type(thread).__module__, owner, getattr(target, "__module__", None))
    return any(str(one).partition(".")[0] in _NOTEBOOKS for one in modules)


def note(site: Site) -> None:
    """Has the report find the entry of a site."""
    place = site.nest.place
    if isinstance(site.enter, Entry):
        places[place.file, place.line, place.column] = site.enter


def is_watched() -> bool:
    """Whether somebody traces, profiles or monitors."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(tool) is not None for tool in range(6))
