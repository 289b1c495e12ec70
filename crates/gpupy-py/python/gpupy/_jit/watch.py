"""Watching a function: its reads besides the arguments, which become guards, and its side effects.

Owns ``Watch``. Python calls it for each call in this thread. ``reads.py`` finds the globals, cells and
attributes that each function reads; they become guards, with everything that is reached through them:
attributes of objects, items of containers. Invariant: reads that cannot be followed are refused, with a
reason.

Not here: guards themselves (``crates/gpupy-py/src/jit/guards.rs``).
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

import numpy as np

import gpupy

from .._gpupy import FormatError
from .._gpupy import jit as _own
from .._proxy import Proxy
from .._scope import actual
from .forms import Array, Refused, Scalar
from .reads import Chain, reads_of

# Whose code is not watched: that of arrays.
_OURS = ("gpupy", "numpy")
# Built-in functions whose effect or result is not the same when nothing calls them again.
_IMPURE = frozenset(
    "setattr delattr globals locals vars eval exec compile open input print __import__ breakpoint".split()
)
# Functions by which a program tells classes.
_CLASSES = frozenset(
    ["isinstance", "issubclass", "type", "hasattr", "getattr", "callable", "id", "len", "print"]
)
# Functions that read attributes in a way that is not followed.
_UNCLEAR = frozenset(["getattr", "hasattr", "dir", "id"])
# Names under which attributes are read without being followed.
_READERS_OF_ATTRIBUTES = frozenset(["attrgetter", "methodcaller", "__getattribute__"])
# Modules whose built-in functions depend on their arguments alone.
_PURE_MODULES = frozenset(
    "builtins math cmath operator _operator itertools functools _functools collections _collections".split()
)
# Classes whose built-in methods change nothing but containers, which are compared.
_PURE_CLASSES = (int, float, complex, bool, str, bytes, tuple, list, dict, set, frozenset, range, slice, type)
# Functions of NumPy's that read its settings.
_SETTINGS = frozenset("get_printoptions geterr geterrcall getbufsize geterrobj".split())
# Functions of NumPy's that read mutable state.
_READERS = frozenset("load loadtxt genfromtxt fromfile memmap open_memmap fromregex".split())
_LEAVES = (
    *(int, float, complex, bool, str, bytes, range, slice, type(None), type(Ellipsis), type(NotImplemented)),
    *(np.generic, np.dtype, np.ufunc, property, staticmethod, classmethod),
)
_BUILT_IN = (
    *(types.ModuleType, types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodWrapperType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.CodeType),
)
# Modules whose numbers depend on a context that any code may set.
_DECIMAL = ("decimal", "_decimal", "_pydecimal")
# The most items of a container that is watched, and the most guards of a function.
_MOST_ITEMS, _MOST_GUARDS = 256, 2_000

Guard = tuple[Any, ...]


class Watch:
    """Watches this thread, inside of a ``with`` statement; then it has guards, or a reason to record
    nothing. What the collector of garbage runs, callbacks and finalizers, is not the function's: it collects
    at calls, without being watched or recorded."""

    def __init__(self, function: Callable[..., Any], others: list[Any], containers: list[Any]) -> None:
        self.refused: str | None = None
        # Whether it had side effects that would happen twice if it ran once more.
        self.has_effects = False
        # Whether it distinguishes a number from a placeholder.
        self.tells_numbers = False
        # Arrays that are read besides the arguments.
        self.arrays: list[Any] = []
        self._guards: dict[tuple[Any, ...], Guard] = {}
        self._names: dict[int, str] = {}
        # Known objects, kept alive so that their addresses stay, and the reads of them.
        self._known: dict[int, Any] = {}
        self._objects: list[Any] = []
        self._loose: set[str] = set()
        self._seen_loose: set[tuple[int, str]] = set()
        self._functions: dict[CodeType, list[FunctionType]] = {}
        self._codes: set[CodeType] = set()
        self._methods: set[tuple[type, CodeType]] = set()
        self._inner: set[CodeType] = set()
        self._containers: list[tuple[Any, list[Any], bool]] = []
        # Where something of a name is stored.
        self._stores: dict[str, tuple[CodeType, int]] = {}
        self._before: Any = None
        self._hook: Any = None
        self._collects = False
        self._know(function, getattr(function, "__name__", "the function"))
        for other in others:
            self._know(other, f"the argument of class {type(other).__name__}")
        for container in containers:
            self._contain(container, "an argument", guarded=False, is_argument=True)

    def __enter__(self) -> Watch:
        self._collects = gc.isenabled()
        gc.disable()
        self._before = sys.getprofile()
        self._hook = self._told
        sys.setprofile(self._hook)
        return self

    def __exit__(self, *_error: object) -> None:
        if sys.getprofile() is self._hook:
            sys.setprofile(self._before)
        if self._collects:
            gc.enable()

    def guards(self) -> list[Guard]:
        """What was read, as it was. Raises ``Refused`` where it changed meanwhile, or something cannot be
        watched."""
        self.check_unchanged()
        if self.refused is not None:
            raise Refused(self.refused)
        return list(self._guards.values())

    def check_unchanged(self) -> None:
        """Raises ``Refused`` where the function changed values that it reads, or had side effects."""
        if self.has_effects:
            raise Refused(str(self.refused))
        for container, items, _ in self._containers:
            if not _same(items, _items(container)):
                raise Refused(f"it changes {self._names.get(id(container), 'a container')}")
        for words, kind, owner, key, *known in self._guards.values():
            if kind not in ("entry", "attribute"):
                continue
            now = owner.get(key, _MISSING) if kind == "entry" else getattr(owner, key, _MISSING)
            if actual(now) is not (known[0] if known else _MISSING):
                name = words.rpartition("`")[0].rpartition("`")[2].rpartition(".")[2]
                code, line = self._stores.get(name, (None, 0))
                where = f"{code.co_filename}:{line}: `{code.co_name}` " if code is not None else "it "
                raise Refused(f"{where}changes {words}")

    def knows(self, value: Any) -> bool:
        """Whether an object is known to have been there before."""
        return id(value) in self._names

    def _refuse(self, why: str, *, has_effects: bool = False) -> None:
        if has_effects and not self.has_effects:
            self.has_effects, self.refused = True, why
        self.refused = self.refused or why

    # Calls

    def _told(self, frame: FrameType, event: str, value: Any) -> None:
        if not _own.is_recording():
            # Something ended it before this could be taken back.
            sys.setprofile(self._before)
            return
        if self._collects and 0 < gc.get_threshold()[0] < gc.get_count()[0]:
            _own.aside(_collect)
        if callable(self._before):
            self._before(frame, event, value)
        if event == "c_call" and _shares_work(value) and _is_own(frame):
            raise FormatError("work is given to another thread, which is not recorded")
        if self.has_effects or not _is_own(frame):
            return
        if event == "call":
            self._called(frame)
        elif event == "c_call":
            self._called_builtin(frame, value)

    def _called(self, frame: FrameType) -> None:
        code = frame.f_code
        reads = reads_of(code)
        if code not in self._codes:
            self._codes.add(code)
            self._inner.update(const for const in code.co_consts if isinstance(const, CodeType))
            name = code.co_name
            if code.co_flags & 0x2A0 and code not in self._inner:
                self._refuse(f"`{name}` is a generator or a coroutine")
            if reads.unclear is not None:
                line, words = reads.unclear
                self._refuse(f"{code.co_filename}:{line}: `{name}` {words}")
            self._stores.update({stored: (code, line) for stored, line in reads.stores.items()})
            self._loose |= reads.loose
            names = {chain.name for chain in reads.chains if chain.root == "global"}
            read = names.union(reads.loose, *(chain.attributes for chain in reads.chains))
            for reader in read & _READERS_OF_ATTRIBUTES:
                self._refuse(f"`{name}` reads attributes by `{reader}`")
            self.tells_numbers |= reads.asks_identity or "type" in names
            if not names.isdisjoint(_CLASSES) or code.co_flags & 0x2A0:
                _own.tells_classes()
            self._look_loosely()
        if code.co_freevars and code not in self._functions and code not in self._inner:
            self._refuse(f"`{code.co_name}` has variables of a function that is not known")
        for function in self._functions.get(code, ()):
            self._called_known(function)
        if code.co_argcount:
            self._called_method(code, frame.f_locals.get(code.co_varnames[0]))
        for chain in reads.chains:
            self._follow(frame, chain)

    def _called_known(self, function: FunctionType) -> None:
        """A function that was there before: all that it closes over, and its defaults, may be read by it and
        by those inside."""
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._cell_of(cell, name)
        for attribute in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(function, attribute)
            self._guard("attribute", function, attribute, value, f"`{function.__name__}.{attribute}`")

    def _called_method(self, code: CodeType, owner: Any) -> None:
        """A function that may be a method, which Python finds by a class without reading an attribute."""
        kind = owner if issubclass(type(owner), type) else type(owner)
        if (kind, code) in self._methods or not kind.__flags__ & _HEAP:
            return
        self._methods.add((kind, code))
        for one in kind.__mro__:
            for name, value in one.__dict__.items():
                if type(value) is FunctionType and value.__code__ is code:
                    self._guard("class", kind, name, _in_class(kind, name), f"`{kind.__name__}.{name}`")

    def _called_builtin(self, frame: FrameType, builtin: Any) -> None:
        owner = getattr(builtin, "__self__", None)
        name = getattr(builtin, "__name__", "")
        is_module = issubclass(type(owner), types.ModuleType)
        if is_module or owner is None:
            module = str(getattr(builtin, "__module__", None) or getattr(owner, "__name__", ""))
            is_pure = module.partition(".")[0] in (*_OURS, *_PURE_MODULES)
            if module == "gc" and name in ("enable", "disable"):
                self._collects = name == "enable"
            if module == "builtins" and name in _UNCLEAR:
                self.tells_numbers = True
                self._refuse(f"line {frame.f_lineno}: it calls `{name}`")
            if (module == "builtins" and name in _IMPURE) or (not is_pure and owner is not None):
                self._refuse(f"line {frame.f_lineno}: it calls `{module}.{name}`", has_effects=True)
            if name in _READERS:
                self._refuse(f"line {frame.f_lineno}: it reads a file by `{name}`")
        elif issubclass(type(owner), str) and name in ("format", "format_map"):
            self._refuse(f"line {frame.f_lineno}: it calls `str.{name}`")
        elif not issubclass(type(owner), (*_PURE_CLASSES, Array, Scalar, np.generic, np.dtype, np.ufunc)):
            kind = type(owner)
            if kind.__module__.split(".")[0] not in _OURS or "random" in kind.__module__:
                why = f"line {frame.f_lineno}: it calls `{name}` of an object of class {kind.__name__}"
                self._refuse(why, has_effects=True)

    # Reads

    def _follow(self, frame: FrameType, chain: Chain) -> None:
        """Guards the last read of a chain; those before are chains too."""
        if chain.root == "local":
            value = frame.f_locals.get(chain.name, _MISSING)
            name = f"`{chain.name}`"
            if id(value) not in self._names:
                # It was made by the function itself: what it reads there it has put there.
                return
        elif chain.root == "module":
            value = sys.modules.get(chain.name, _MISSING)
            name = f"module `{chain.name}`"
        elif chain.root == "free":
            # What a function closes over is guarded when it is called, that of those inside with the outer
            # one's.
            value = frame.f_locals.get(chain.name, _MISSING)
            name = f"variable `{chain.name}`"
            if id(value) not in self._names:
                return
        else:
            value = self._global(frame, chain)
            name = f"global `{chain.name}`"
        for attribute in chain.attributes:
            if value is _MISSING or issubclass(type(value), (Array, Scalar, *_LEAVES)):
                return
            name = f"{name[:-1]}.{attribute}`"
            value = self._attribute(value, attribute, name)
        if value is not _MISSING and (chain.attributes or chain.root != "local"):
            self._know(value, name)

    def _cell_of(self, cell: types.CellType, name: str) -> Any:
        value = getattr(cell, "cell_contents", _MISSING)
        self._guard("attribute", cell, "cell_contents", actual(value), f"variable `{name}`")
        if value is not _MISSING:
            self._know(value, f"variable `{name}`")
        return value

    def _global(self, frame: FrameType, chain: Chain) -> Any:
        name = chain.name
        for names in (frame.f_globals, frame.f_builtins):
            value = names.get(name, _MISSING)
            self._guard("entry", names, name, actual(value), f"global `{name}`")
            if value is not _MISSING:
                return value
        return _MISSING

    def _attribute(self, owner: Any, attribute: str, name: str) -> Any:
        """An attribute of an object, as it lies there; of a property, nothing, as its function is watched."""
        if issubclass(type(owner), types.ModuleType):
            # The proxy of NumPy in a scope is gpupy here.
            owner = owner if actual(owner) is owner else gpupy
            if attribute in _SETTINGS and owner.__name__.split(".")[0] in _OURS:
                self._refuse(f"it reads how NumPy is set by `{attribute}`")
            if owner.__name__.split(".")[-1] == "random" and owner.__name__.split(".")[0] in _OURS:
                self._refuse(f"it draws random numbers by `{owner.__name__}.{attribute}`", has_effects=True)
            value = owner.__dict__.get(attribute, _MISSING)
            if value is _MISSING:
                value = getattr(owner, attribute, _MISSING)
            self._guard("entry", owner.__dict__, attribute, value, name)
            return value
        is_class = issubclass(type(owner), type)
        kind = owner if is_class else type(owner)
        found = _in_class(kind, attribute)
        if kind.__flags__ & _HEAP:
            self._guard("class", kind, attribute, found, name)
        if is_class and type(owner) is not type:
            meta = type(owner)
            given = next(
                (one.__dict__[attribute] for one in meta.__mro__ if attribute in one.__dict__), _MISSING
            )
            self._guard("class", meta, attribute, given, name)
        if not is_class and kind.__getattribute__ is not object.__getattribute__ and _is_pythons(kind):
            self._refuse(f"{name} is an attribute of a class with a `__getattribute__` of its own")
            return _MISSING
        if not is_class:
            if isinstance(found, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                value = getattr(owner, attribute, _MISSING)
                if attribute not in ("__dict__", "__class__"):
                    self._guard("attribute", owner, attribute, value, name)
                return value
            own = _names_of(owner)
            is_data = found is not _MISSING and hasattr(type(found), "__set__")
            if own is not None:
                self._guard("attribute", owner, "__dict__", own, name)
                self._guard("attribute", owner, "__class__", kind, name)
                if not is_data:
                    value = own.get(attribute, _MISSING)
                    self._guard("entry", own, attribute, value, name)
                    if value is not _MISSING:
                        return value
        if type(found) is property:
            for function in (found.fget, found.fset):
                self._know(function, name)
            return _MISSING
        if isinstance(found, (staticmethod, classmethod)):
            return found.__func__
        if found is not _MISSING and hasattr(type(found), "__get__") and not isinstance(found, FunctionType):
            self._know(found, name)
            return _MISSING
        return found

    def _guard(self, kind: str, owner: Any, key: str, value: Any, words: str) -> None:
        if len(self._guards) >= _MOST_GUARDS:
            self._refuse("it reads too much to watch")
            return
        place = (kind, id(owner), key)
        if place in self._guards:
            return
        self._known.setdefault(id(owner), owner)
        found = () if value is _MISSING else (value,)
        self._guards[place] = (words, kind, owner, key, *found)

    # Reachable objects

    def _know(self, value: Any, name: str) -> None:
        """Looks at an object that was reached, once."""
        kind = type(value)
        if id(value) in self._names or issubclass(kind, _LEAVES):
            return
        self._names[id(value)] = name
        self._known[id(value)] = value
        if (value if issubclass(kind, type) else kind).__module__ in _DECIMAL:
            self._refuse(f"{name} computes by the context of `decimal`")
        if type(value) is Array:
            self.arrays.append(value)
        elif issubclass(kind, (Scalar, *_BUILT_IN)):
            owner = getattr(value, "__self__", None)
            if owner is not None and not isinstance(owner, (types.ModuleType, type)):
                self._know(owner, f"the object of {name}")
        elif issubclass(kind, np.ndarray):
            self._refuse(
                f"{name} is an array of NumPy's, which any code may change: `gpupy.asarray` makes it gpupy's"
            )
        elif issubclass(kind, (list, dict, set, tuple, frozenset)):
            self._contain(value, name, guarded=not isinstance(value, (tuple, frozenset)))
            base = next(base for base in (list, dict, set, tuple, frozenset) if issubclass(kind, base))
            if kind is not base and not all(
                one in (base, object) or _is_pythons_own(one) for one in kind.__mro__
            ):
                self._refuse(f"{name} is an object of class {kind.__name__}, which cannot be watched")
            if kind is not base:
                self._objects.append(value)
                self._look_loosely()
        elif kind is FunctionType:
            self._functions.setdefault(value.__code__, []).append(value)
            if _lies_in(value.__code__.co_filename, _PACKAGES):
                # Its code is not watched, but its objects are known.
                for cell in value.__closure__ or ():
                    self._know(getattr(cell, "cell_contents", None), f"what {name} has")
            for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
                self._know(default, f"a default of {name}")
            self._objects.append(value)
        elif kind is types.MethodType:
            self._know(value.__self__, f"the object of {name}")
            self._know(value.__func__, name)
        elif hasattr(kind, "__next__"):
            self._refuse(f"{name} is an iterator")
        elif kind is functools.partial:
            for attribute in ("func", "args", "keywords"):
                part = getattr(value, attribute)
                self._guard("attribute", value, attribute, part, f"`{attribute}` of {name}")
                self._know(part, name)
        elif kind is Proxy or not (issubclass(kind, type) or _is_ours(kind) or _is_pythons(kind)):
            self._refuse(f"{name} is an object of class {type(value).__name__}, which cannot be watched")
        else:
            wrapped = (_names_of(value) or {}).get("__wrapped__")
            if type(wrapped) is FunctionType:
                self._know(wrapped, name)
            self._objects.append(value)
            self._look_loosely()

    def _contain(self, container: Any, name: str, *, guarded: bool, is_argument: bool = False) -> None:
        items = _items(container)
        if len(items) > _MOST_ITEMS:
            self._refuse(f"{name} has more than {_MOST_ITEMS} items")
            return
        self._names.setdefault(id(container), name)
        self._containers.append((container, items, guarded))
        self._known[id(container)] = container
        if guarded:
            kind = next(kind for kind in (dict, list, set) if issubclass(type(container), kind)).__name__
            given = list(dict.items(container)) if kind == "dict" else items
            self._guards[kind, id(container), ""] = (f"items of {name}", kind, container, given)
        for item in items:
            # An argument's arrays are others in each call, and its containers are looked at by themselves.
            if not (is_argument and issubclass(type(item), (Array, tuple, list, dict))):
                self._know(item, f"an item of {name}")

    def _look_loosely(self) -> None:
        """Guards attributes of values that are not followed, on all objects that have them."""
        for owner in list(self._objects):
            for attribute in self._loose:
                if (id(owner), attribute) in self._seen_loose:
                    continue
                self._seen_loose.add((id(owner), attribute))
                name = f"`{type(owner).__name__}.{attribute}`"
                value = self._attribute(owner, attribute, name)
                if value is not _MISSING:
                    self._know(value, name)


class _Missing:
    """In place of a missing value."""


_MISSING = _Missing()
# Of classes that Python code makes.
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8


def _collect() -> None:
    """Collects the garbage that is young."""
    gc.collect(0)


def _shares_work(builtin: Any) -> bool:
    """Whether a built-in function gives work to another thread."""
    name, owner = getattr(builtin, "__name__", ""), getattr(builtin, "__self__", None)
    is_start = name in ("start_new_thread", "start_joinable_thread", "start_new")
    return is_start or (name == "put" and type(owner).__name__ == "SimpleQueue")


def _in_class(kind: type, name: str) -> Any:
    """An attribute that a class has or inherits."""
    return next((one.__dict__[name] for one in kind.__mro__ if name in one.__dict__), _MISSING)


def _is_pythons(kind: type) -> bool:
    """Whether a class and all its bases are made by Python code: others may have hidden state."""
    return all(_is_pythons_own(one) for one in kind.__mro__ if one not in (object, Exception, BaseException))


def _is_pythons_own(kind: type) -> bool:
    """Whether Python code makes a class."""
    own, base = kind.__dict__, getattr(kind.__base__, "__basicsize__", 0)
    is_made = kind.__flags__ & _HEAP and not kind.__flags__ & _IMMUTABLE
    return bool(is_made) and ("__dict__" in own or "__slots__" in own or kind.__basicsize__ == base)


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] in _OURS and "random" not in kind.__module__


def _items(container: Any) -> list[Any]:
    """The items that lie in a container, whatever its class says of them."""
    kind = type(container)
    if issubclass(kind, dict):
        return [*dict.keys(container), *dict.values(container)]
    base = next(base for base in (list, tuple, set, frozenset) if issubclass(kind, base))
    return list(base.__iter__(container))


def _names_of(value: Any) -> dict[str, Any] | None:
    """The attributes that lie in an object, whatever its class says of them."""
    try:
        names = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return names if type(names) is dict else None


def _same(before: list[Any], now: list[Any]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _is_own(frame: FrameType) -> bool:
    """Whether a frame's code is the program's: not that of arrays, nor what that calls of Python's
    library."""
    seen: FrameType | None = frame
    while seen is not None:
        if not is_programs(seen):
            return False
        if not _is_in(seen, _LIBRARY):
            return True
        seen = seen.f_back
    return True


def is_programs(frame: FrameType) -> bool:
    """Whether a frame's code is not that of arrays."""
    return not _is_in(frame, _PACKAGES)


@functools.lru_cache(maxsize=4096)
def _lies_in(file: str, folders: tuple[str, ...]) -> bool:
    return file.startswith(folders)


def _is_in(frame: FrameType, folders: tuple[str, ...]) -> bool:
    return _lies_in(frame.f_code.co_filename, folders)


_PACKAGES = tuple(os.path.dirname(str(module.__file__)) + os.sep for module in (np, gpupy))
_LIBRARY = (os.path.dirname(os.__file__) + os.sep, "<frozen ")
