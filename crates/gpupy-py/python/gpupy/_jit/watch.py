"""Watching a function: its calls, whose reads become guards, and its side effects.

Owns ``Watch``. Python calls it for each call in this thread. ``reads.py`` finds the globals, cells and
attributes that each function reads; ``reach.py`` looks at the objects that they are. Invariant: a built-in
function that is called is listed (``pure.py``), or has side effects on the arguments' part alone.

Not here: what the collector of garbage and profilers get back afterwards (``recording.py``).
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import types
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from .._gpupy import FormatError
from .._gpupy import jit as _own
from .._session import written_code
from . import pure
from .forms import Array, Refused, Scalar
from .reach import MISSING, Reach, base_of
from .reads import Chain, Reads, reads_of
from .selection import Selection

# Functions by which a program tells classes.
_CLASSES = frozenset(
    ["isinstance", "issubclass", "type", "hasattr", "getattr", "callable", "id", "len", "print"]
)
# Steps of loops over elements that a trace has at most where they may run compiled: repeating one takes
# longer than Python. 5000 elements took 200 ms, and 500 less than one.
_MOST_STEPS = 1000
# Functions that read attributes in a way that is not followed.
_UNCLEAR = frozenset(["getattr", "hasattr", "dir", "id"])


class Unrecorded(BaseException):
    """Says why a function is not recorded, before it has done anything that would happen twice."""


class Held:
    """What is put aside while a function is recorded, and given back whatever happens."""

    def __init__(self) -> None:
        self.profile: Any = sys.getprofile()
        # Whether the collector, and the profiler, are to be set back.
        self.collects, self.profiles = False, False

    def stop_collector(self) -> None:
        """Until the recording has ended: what the collector runs is not the function's."""
        self.collects = gc.isenabled()
        gc.disable()


class Watch(Reach):
    """Watches this thread, inside of a ``with`` statement; then it has guards, or a reason to record
    nothing. What the collector of garbage runs, callbacks and finalizers, is not the function's: while it is
    put aside (`Held`) it collects at calls, without being watched or recorded."""

    def __init__(
        self, function: Callable[..., Any], others: list[Any], containers: list[Any], held: Held
    ) -> None:
        super().__init__()
        # Whether it distinguishes a number from a placeholder.
        self.tells_numbers = False
        self._held = held
        # Whether it called what may have had side effects.
        self._has_done = False
        # Steps of loops over elements until now.
        self._steps = 0.0
        self._has_met_unknown = False
        self._codes: set[CodeType] = set()
        self._methods: set[tuple[type, CodeType]] = set()
        self._inner: set[CodeType] = set()
        self.know(function, getattr(function, "__name__", "the function"))
        for other in others:
            self.know(other, f"the argument of class {type(other).__name__}")
        for container in containers:
            self.contain(container, "an argument", guarded=False, is_argument=True)

    def __enter__(self) -> Watch:
        self._held.profiles = True
        sys.setprofile(self._told)
        return self

    def __exit__(self, *_error: object) -> None:
        # Where a signal is raised meanwhile, `record` does the rest.
        sys.setprofile(self._held.profile)
        self._held.profiles = False

    # Calls

    def _told(self, frame: FrameType, event: str, value: Any) -> None:
        held = self._held
        if not _own.is_recording():
            # Something ended it before this could be taken back.
            sys.setprofile(held.profile)
            return
        if held.collects and 0 < gc.get_threshold()[0] < gc.get_count()[0]:
            _own.aside(_collect)
        if callable(held.profile):
            held.profile(frame, event, value)
        if event == "c_call" and _shares_work(value) and _is_own(frame):
            raise FormatError("work is given to another thread, which is not recorded")
        if self._has_done or not _is_own(frame):
            return
        if event == "call":
            try:
                self._called(frame)
            except Refused as why:
                self.refuse(str(why), has_effects=True)
            if self.is_unknown and not self._has_met_unknown:
                self._has_met_unknown = True
                if self._may_run_again():
                    raise Unrecorded(str(self.refused))
        elif event == "c_call":
            self._called_builtin(frame, value)

    def told_of_loop(self, frame: FrameType, steps: float) -> None:
        """A loop over elements that may run compiled: if there are many steps, the call runs unrecorded."""
        self._steps += steps
        if self._steps <= _MOST_STEPS or self.refused is not None or not _is_plain(frame):
            return
        if self._may_run_again():
            code = frame.f_code
            raise Unrecorded(
                f"a loop over elements, {code.co_filename}:{frame.f_lineno}, may run compiled where it stands"
            )

    def _may_run_again(self) -> bool:
        """Whether nothing has happened yet that would happen twice."""
        try:
            self.check_values()
        except Refused:
            return False
        return not self._has_done

    def _called(self, frame: FrameType) -> None:
        code = frame.f_code
        # What a loop has in front of it does nothing here.
        reads = reads_of(written_code.written(code))
        if code not in self._codes:
            self._codes.add(code)
            self._inner.update(const for const in code.co_consts if isinstance(const, CodeType))
            self._first_called(code, reads)
        if code.co_argcount:
            self._called_method(code, frame.f_locals.get(code.co_varnames[0]))
        functions = self.functions.get(code, ())
        if not functions and code not in self._inner:
            self.refuse(f"`{code.co_name}` is called in a way that is not followed", has_effects=True)
        for function in functions:
            self.read_function(function)
        for chain in reads.chains:
            self._follow(frame, chain, is_called=chain not in reads.taken)

    def _first_called(self, code: CodeType, reads: Reads) -> None:
        name = code.co_name
        if code.co_flags & 0x2A0 and code not in self._inner:
            self.refuse(f"`{name}` is a generator or a coroutine")
        if reads.unclear is not None:
            line, words = reads.unclear
            self.refuse(f"{code.co_filename}:{line}: `{name}` {words}")
        if any(map(pure.is_clock, written_code.written(code).co_consts)):
            self.refuse(f"`{name}` has text by which NumPy reads the clock")
        self.stores.update({stored: (code, line) for stored, line in reads.stores.items()})
        names = {chain.name for chain in reads.chains if chain.root == "global"}
        for attribute, line in reads.attributes.items():
            if not pure.is_attribute(attribute):
                words = f"{code.co_filename}:{line}: `{name}` reads attributes by `{attribute}`"
                self.refuse(words, has_effects=attribute in reads.stores or attribute.startswith("__"))
        self.tells_numbers |= reads.asks_identity or not names.isdisjoint(("type", *_UNCLEAR))
        if not names.isdisjoint(_CLASSES) or code.co_flags & 0x2A0:
            _own.tells_classes()
        self.read_loosely(reads.loose, reads.loose_taken)

    def _called_method(self, code: CodeType, owner: Any) -> None:
        """A function that may be a method, which Python finds by a class without reading an attribute."""
        kind = owner if issubclass(type(owner), type) else type(owner)
        if (kind, code) in self._methods or not pure.may_change(kind):
            return
        self._methods.add((kind, code))
        meta = type(owner).__mro__ if kind is owner else ()
        for one in (*kind.__mro__, *meta):
            for name, value in one.__dict__.items():
                function = value.__func__ if type(value) in (classmethod, staticmethod) else value
                parts = (value.fget, value.fset, value.fdel) if isinstance(value, property) else (function,)
                if any(type(part) is FunctionType and part.__code__ is code for part in parts):
                    self.know(
                        self.in_class(one, name, f"`{one.__name__}.{name}`"), f"`{one.__name__}.{name}`"
                    )
                    self.know(kind, f"class `{kind.__name__}`")

    def _called_builtin(self, frame: FrameType, builtin: Any) -> None:
        owner = getattr(builtin, "__self__", None)
        name = getattr(builtin, "__name__", "")
        where = f"line {frame.f_lineno}: it calls"
        if owner is None or issubclass(type(owner), types.ModuleType):
            module = str(getattr(builtin, "__module__", None) or getattr(owner, "__name__", ""))
            if module == "gc" and name in ("enable", "disable"):
                self._held.collects = name == "enable"
            if module == "builtins" and name in _UNCLEAR:
                self.tells_numbers = True
                self.refuse(f"{where} `{name}`")
            elif not pure.is_function(builtin):
                self.refuse(f"{where} `{module}.{name}`", has_effects=True)
                self._has_done = True
        elif issubclass(type(owner), type):
            if not (pure.is_class(owner) or pure.is_pythons(owner)) or not pure.is_attribute(name):
                self.refuse(f"{where} `{name}` of class {owner.__name__}", has_effects=True)
                self._has_done = True
        elif issubclass(type(owner), str) and name in ("format", "format_map"):
            self.refuse(f"{where} `str.{name}`")
        elif not pure.is_method(base_of(type(owner)), name):
            self.refuse(f"{where} `{name}` of an object of class {type(owner).__name__}", has_effects=True)
            self._has_done = True

    # Reads

    def _follow(self, frame: FrameType, chain: Chain, *, is_called: bool) -> None:
        """Guards the last read of a chain; those before are chains too."""
        name = f"`{chain.name}`"
        if chain.root == "module":
            value, name = self.read_module(chain.name), f"module `{chain.name}`"
        elif chain.root == "global":
            value, name = (
                self.read_global(frame.f_globals, frame.f_builtins, chain.name),
                f"global `{chain.name}`",
            )
        else:
            # What a function closes over is guarded when it is called, that of those inside with the outer
            # one's. What the function made itself has attributes that it put there, or its class's.
            value = frame.f_locals.get(chain.name, MISSING)
            if not self.knows(value):
                kind = type(value)
                if pure.may_change(kind) and value is not MISSING and kind is not Selection:
                    self.know(kind, f"class `{kind.__name__}`")
                    self.read_loosely(chain.attributes, chain.attributes[: None if not is_called else -1])
                return
        for number, attribute in enumerate(chain.attributes):
            if value is MISSING:
                # A descriptor of Python's gives it.
                self.read_loosely(
                    chain.attributes[number:], chain.attributes[number : None if not is_called else -1]
                )
                return
            if _has_none_of_its_own(value):
                return
            name = f"{name[:-1]}.{attribute}`"
            value = self.attribute(value, attribute, name)
        if value is not MISSING and (chain.attributes or chain.root != "local"):
            self.know(value, name, is_called=is_called)


def _is_plain(frame: FrameType | None) -> bool:
    """Whether what is raised in a frame runs nothing on its way to the recording."""
    while frame is not None and frame.f_code.co_filename != _RECORDING:
        if frame.f_code.co_exceptiontable:
            return False
        frame = frame.f_back
    return frame is not None


def _has_none_of_its_own(value: Any) -> bool:
    """Whether an object has the attributes of its class alone, which no code can change."""
    return type(value) in (Array, Scalar) or (value is not MISSING and pure.is_leaf(value))


def _collect() -> None:
    """Collects the garbage that is young."""
    gc.collect(0)


def _shares_work(builtin: Any) -> bool:
    """Whether a built-in function gives work to another thread."""
    name, owner = getattr(builtin, "__name__", ""), getattr(builtin, "__self__", None)
    is_start = name in ("start_new_thread", "start_joinable_thread", "start_new")
    return is_start or (name == "put" and type(owner).__name__ == "SimpleQueue")


def _is_own(frame: FrameType) -> bool:
    """Whether a frame's code is the program's: not that of arrays, nor what that calls of Python's library or
    imports."""
    seen: FrameType | None = frame
    is_own = False
    while seen is not None:
        file, below = seen.f_code.co_filename, seen.f_back
        if below is not None and below.f_code.co_filename.startswith("<frozen importlib"):
            # What an import calls is of who imports.
            is_own = False
        elif pure.is_ours(file):
            return is_own
        elif not _lies_in(file, _LIBRARY) and not str(seen.f_globals.get("__name__")).startswith(
            "namedtuple_"
        ):
            is_own = True
        seen = below
    return True


def is_programs(frame: FrameType) -> bool:
    """Whether a frame's code is not that of arrays."""
    return not pure.is_ours(frame.f_code.co_filename)


@functools.lru_cache(maxsize=4096)
def _lies_in(file: str, folders: tuple[str, ...]) -> bool:
    return file.startswith(folders)


_RECORDING = os.path.join(os.path.dirname(__file__), "recording.py")
_LIBRARY = (os.path.dirname(os.__file__) + os.sep, "<frozen ")
