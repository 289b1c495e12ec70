"""Objects that a function comes upon besides its arguments' elements, and guards of what is read of them.

Owns ``Reach``. Whatever a function gets hold of comes from a global, a cell, an attribute, an item or an
argument, so that each object is looked at when it is read: it is a leaf, an array, a container whose items
are guarded, an instance or a class of Python code whose attributes are guarded as they are read, a function
that is watched, or one that is listed (``pure.py``). Invariant: every other object is refused, with its name.

Not here: calls (``watch.py``), the reads in code (``reads.py``), guards themselves
(``crates/gpupy-py/src/jit/guards.rs``).
"""

from __future__ import annotations

import functools
import gc
import sys
import types
from types import CodeType, FunctionType
from typing import Any

import numpy as np

import gpupy

from .._gpupy import jit as _own
from .._scopes.scope import actual
from .._session import written_code
from . import pure
from .forms import Array, Refused, Scalar

# Functions of NumPy's and gpupy's are modules' of these.
_OURS = ("gpupy", "numpy")
# The most items of a container that is watched, and the most guards of a function.
_MOST_ITEMS, _MOST_GUARDS = 256, 2_000
# Names of classes and functions, as they lie there.
_NAMES = ("__name__", "__qualname__", "__doc__", "__module__")

Guard = tuple[Any, ...]


class Missing:
    """In place of a missing value."""


MISSING = Missing()


class Reach:
    """The objects that a function came upon, and the guards on them."""

    def __init__(self) -> None:
        self.refused: str | None = None
        # Whether it reads an object whose state may be anywhere, so that recording it may not do the same.
        self.is_unknown = False
        # Whether it may have had side effects that would happen twice if it ran once more.
        self.has_effects = False
        # Arrays that are read besides the arguments.
        self.arrays: list[Any] = []
        # Functions that were there before, by their code.
        self.functions: dict[CodeType, list[FunctionType]] = {}
        # Where something of a name is stored.
        self.stores: dict[str, tuple[CodeType, int]] = {}
        self._guards: dict[tuple[Any, ...], Guard] = {}
        self._names: dict[int, str] = {}
        # Known objects, kept alive so that their addresses stay, and those that may be read in any way.
        self._known: dict[int, Any] = {}
        self._objects: list[Any] = []
        self._classes: set[type] = set()
        self._compiled: set[FunctionType] = set()
        # Attributes of values that are not followed, each with whether the value may be anything's.
        self._loose: dict[str, bool] = {}
        self._seen_loose: set[tuple[int, str, bool]] = set()
        self._containers: list[tuple[Any, list[Any]]] = []

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
        self.check_values()

    def check_values(self) -> None:
        """Raises ``Refused`` where the function changed values that it reads."""
        for container, items in self._containers:
            if not _same(items, _items(container)):
                raise Refused(f"it changes {self._names.get(id(container), 'a container')}")
        for words, kind, owner, key, *known in self._guards.values():
            if kind == "entry":
                now = owner.get(key, MISSING)
            elif kind == "attribute":
                now = getattr(owner, key, MISSING)
            elif kind == "type":
                now = type(owner)
            else:
                continue
            if actual(now) is not (known[0] if known else MISSING):
                name = words.rpartition("`")[0].rpartition("`")[2].rpartition(".")[2]
                code, line = self.stores.get(name, (None, 0))
                where = f"{code.co_filename}:{line}: `{code.co_name}` " if code is not None else "it "
                raise Refused(f"{where}changes {words}")

    def knows(self, value: Any) -> bool:
        """Whether an object is known to have been there before."""
        return id(value) in self._names

    def refuse(self, why: str, *, has_effects: bool = False) -> None:
        """Notes a reason not to keep the trace; the first one stays, unless a later one has side effects."""
        if has_effects and not self.has_effects:
            self.has_effects, self.refused = True, why
        self.refused = self.refused or why

    # Reads

    def read_global(self, names: dict[str, Any], builtins: dict[str, Any], name: str) -> Any:
        """A global, or a built-in object."""
        for place in (names, builtins):
            value = place.get(name, MISSING)
            self._guard("entry", place, name, actual(value), f"global `{name}`")
            if value is not MISSING:
                return value
        return MISSING

    def read_module(self, name: str) -> Any:
        """A module that is imported where it is read."""
        value = sys.modules.get(name, MISSING)
        if value is MISSING:
            self.refuse(f"it imports `{name}` for the first time", has_effects=True)
        else:
            self._guard("entry", sys.modules, name, actual(value), f"module `{name}`")
        return value

    def read_cell(self, cell: types.CellType, name: str) -> None:
        """A variable of an outer function."""
        value = getattr(cell, "cell_contents", MISSING)
        self._guard("attribute", cell, "cell_contents", actual(value), f"variable `{name}`")
        if value is not MISSING:
            self.know(value, f"variable `{name}`")

    def read_function(self, function: FunctionType) -> None:
        """A function that is called: its code, all that it closes over, and its defaults, which may be read
        by it and by those inside."""
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.read_cell(cell, name)
        for attribute in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(function, attribute)
            self._guard("attribute", function, attribute, value, f"`{function.__name__}.{attribute}`")
        if function.__kwdefaults__ is not None:
            self.know(function.__kwdefaults__, f"`{function.__name__}.__kwdefaults__`")
        for default in function.__defaults__ or ():
            self.know(default, f"a default of `{function.__name__}`")

    def read_loosely(self, names: Any, taken: Any = ()) -> None:
        """Guards attributes of values that are not followed, on all objects that have them."""
        for name in names:
            self._loose[name] = self._loose.get(name, False) or name in taken
        self._look_loosely()

    def attribute(self, owner: Any, attribute: str, name: str) -> Any:
        """An attribute of an object, as it lies there; of a property, nothing, as its function is watched."""
        if issubclass(type(owner), types.ModuleType):
            return self._of_module(owner, attribute, name)
        if attribute in _NAMES and issubclass(type(owner), (type, FunctionType)):
            value = getattr(owner, attribute, MISSING)
            self._guard("attribute", owner, attribute, value, name)
            return value
        is_class = issubclass(type(owner), type)
        kind = owner if is_class else type(owner)
        found = self.in_class(kind, attribute, name)
        if is_class and type(owner) is not type:
            self.in_class(type(owner), attribute, name)
        for getter in {kind, type(owner)}:
            if pure.may_change(getter) and _has_own_getter(getter):
                self.refuse(f"{name} is an attribute of a class with a `__getattribute__` of its own")
                return MISSING
        if not is_class:
            if issubclass(type(found), (types.MemberDescriptorType, types.GetSetDescriptorType)):
                value = getattr(owner, attribute, MISSING)
                if attribute != "__class__":
                    self._guard("attribute", owner, attribute, value, name)
                return value
            own = _names_of(owner)
            is_data = found is not MISSING and hasattr(type(found), "__set__")
            if own is not None:
                self._guard("attribute", owner, "__dict__", own, name)
                if not is_data:
                    value = own.get(attribute, MISSING)
                    self._guard("entry", own, attribute, value, name)
                    if value is not MISSING:
                        return value
        if type(found) in (property, staticmethod, classmethod):
            self.know(found, name)
            return MISSING if type(found) is property else found.__func__
        if found is not MISSING and hasattr(type(found), "__get__") and not isinstance(found, FunctionType):
            self.know(found, name, is_called=True)
            return MISSING
        return found

    def _of_module(self, owner: Any, attribute: str, name: str) -> Any:
        # The proxy of NumPy in a scope is gpupy here.
        owner = owner if actual(owner) is owner else gpupy
        root = owner.__name__.split(".")
        if root[-1] == "random" and root[0] in _OURS:
            self.refuse(f"it draws random numbers by `{owner.__name__}.{attribute}`", has_effects=True)
        value = owner.__dict__.get(attribute, MISSING)
        if value is MISSING and root[0] in _OURS:
            value = getattr(owner, attribute, MISSING)
        elif value is MISSING and "__getattr__" in owner.__dict__:
            self.refuse(f"{name} is an attribute of a module with a `__getattr__` of its own")
        # Names of gpupy's that are not imported with it are found anew each time.
        self._guard("entry", owner.__dict__, attribute, owner.__dict__.get(attribute, MISSING), name)
        return value

    def in_class(self, kind: type, attribute: str, name: str) -> Any:
        """An attribute that a class has or inherits; all classes that might have it are guarded, for
        ``super``."""
        if pure.may_change(kind):
            self._guard("attribute", kind, "__mro__", kind.__mro__, f"the bases of `{kind.__name__}`")
        found: Any = MISSING
        for one in kind.__mro__:
            value = one.__dict__.get(attribute, MISSING)
            if pure.may_change(one):
                self._guard("entry", _own_names(one), attribute, value, name)
            if found is MISSING:
                found = value
        return found

    def _guard(self, kind: str, owner: Any, key: str, value: Any, words: str) -> None:
        if len(self._guards) >= _MOST_GUARDS:
            self.refuse("it reads too much to watch")
            return
        place = (kind, id(owner), key)
        if place in self._guards:
            return
        self._known.setdefault(id(owner), owner)
        found = () if value is MISSING else (value,)
        self._guards[place] = (words, kind, owner, key, *found)

    # Reachable objects

    def know(self, value: Any, name: str, *, is_called: bool = False) -> None:
        """Looks at an object that was reached. One that is only called is refused once it is."""
        if pure.is_clock(value):
            self.refuse(f"{name} is text by which NumPy reads the clock")
        if pure.is_leaf(value):
            return
        kind = type(value)
        if issubclass(kind, types.ModuleType):
            if kind is not types.ModuleType and kind.__module__.partition(".")[0] not in _OURS:
                self.refuse(f"{name} is a module of class {kind.__name__}, which cannot be watched")
            if not is_called:
                self._add(value, name)
            self._names.setdefault(id(value), name)
            self._known[id(value)] = value
            return
        if kind is types.BuiltinFunctionType and not self._is_listed(value, name) and not is_called:
            self.refuse(f"{name} is {_words(value)}, which is not known to be pure", has_effects=True)
        if id(value) in self._names:
            return
        self._names[id(value)] = name
        self._known[id(value)] = value
        if kind is Array:
            self.arrays.append(value)
        elif kind is Scalar or kind is types.BuiltinFunctionType:
            return
        elif issubclass(kind, np.ndarray):
            self.refuse(
                f"{name} is an array of NumPy's, which any code may change: `gpupy.asarray` makes it gpupy's"
            )
        elif issubclass(kind, pure.CONTAINERS):
            self._know_container(value, name)
        elif kind is FunctionType:
            self._know_function(value, name)
        elif kind is types.MethodType:
            self.know(value.__self__, f"the object of {name}")
            self.know(value.__func__, name)
        elif kind is functools.partial:
            for attribute in ("func", "args", "keywords"):
                part = getattr(value, attribute)
                self._guard("attribute", value, attribute, part, f"`{attribute}` of {name}")
                self.know(part, name)
        elif kind in (property, staticmethod, classmethod):
            parts = (value.fget, value.fset) if kind is property else (value.__func__,)
            for part in parts:
                self.know(part, name)
        elif issubclass(kind, type):
            if pure.is_class(value):
                return
            if not pure.is_pythons(value):
                words = f"{name} is the class `{value.__module__}.{value.__qualname__}`"
                self.refuse(f"{words}, which is not known to be pure", has_effects=True)
                self.is_unknown = True
            self._know_class(value)
            self._know_class(kind)
            self._add(value, name)
        elif hasattr(kind, "__next__"):
            self.refuse(f"{name} is an iterator")
        elif issubclass(kind, _own.Jit):
            # One of a file reads nothing.
            self.know(getattr(value, "__wrapped__", None), name)
        elif pure.is_compiled(kind):
            for part in (value, *vars(value).values()):
                function = getattr(part, "__wrapped__", None)
                if type(function) is FunctionType:
                    self._know_compiled(function, name)
        elif pure.is_pythons(kind):
            self._guard("type", value, "", kind, f"the class of {name}")
            self._know_class(kind)
            wrapped = (_names_of(value) or {}).get("__wrapped__")
            if type(wrapped) is FunctionType:
                self.know(wrapped, name)
            self._add(value, name)
        elif not self._is_listed(value, name):
            is_callable, self.is_unknown = callable(value), True
            self.refuse(
                f"{name} is an object of class {kind.__name__}, which cannot be watched",
                has_effects=is_callable,
            )

    def _add(self, value: Any, name: str) -> None:
        """From now on loose attributes are looked for here, too."""
        self._names.setdefault(id(value), name)
        self._known[id(value)] = value
        if not any(known is value for known in self._objects):
            self._objects.append(value)
            self._look_loosely()

    def _is_listed(self, value: Any, name: str) -> bool:
        """Whether something that is called is listed, or its object is known."""
        if isinstance(value, (np.ufunc, gpupy.ufunc)):
            return pure.is_ufunc(value)
        if isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return pure.is_method(value.__objclass__, value.__name__)
        if isinstance(value, types.ClassMethodDescriptorType):
            return pure.is_class(value.__objclass__) and pure.is_attribute(value.__name__)
        if isinstance(value, types.MethodWrapperType):
            self.know(value.__self__, f"the object of {name}")
            return pure.is_attribute(value.__name__)
        owner = getattr(value, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType):
            return pure.is_function(value)
        if isinstance(owner, type):
            return (pure.is_class(owner) or pure.is_pythons(owner)) and pure.is_attribute(value.__name__)
        self.know(owner, f"the object of {name}")
        return pure.is_method(base_of(type(owner)), value.__name__)

    def _know_function(self, value: FunctionType, name: str) -> None:
        if pure.is_ours(value.__code__.co_filename):
            if not pure.is_function(value):
                self.refuse(f"{name} is {_words(value)}, which is not known to be pure", has_effects=True)
            return
        self.functions.setdefault(value.__code__, []).append(value)
        for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            self.know(default, f"a default of {name}", is_called=True)
        self._add(value, name)

    def _know_compiled(self, function: FunctionType, name: str) -> None:
        """A function of numbers: its globals, variables and attributes are constants of its machine code."""
        if function in self._compiled or pure.is_ours(function.__code__.co_filename):
            return
        self._compiled.add(function)
        self.know(function, name)
        self.read_function(function)
        names = _names_in(written_code.written(function.__code__))
        watched: Any = function
        builtins = watched.__builtins__
        found = [self.read_global(function.__globals__, builtins, each) for each in names]
        cells = [getattr(cell, "cell_contents", MISSING) for cell in function.__closure__ or ()]
        for each in (*found, *cells):
            if type(each) is FunctionType:
                self._know_compiled(each, f"`{each.__name__}`")
            elif each is not MISSING:
                self.know(each, f"what `{function.__name__}` reads")
        self.read_loosely(names)

    def _know_class(self, kind: type) -> None:
        """Guards by which methods of Python's protocols a class goes."""
        for one in kind.__mro__:
            if one in self._classes or not pure.may_change(one):
                continue
            self._classes.add(one)
            names = _own_names(one)
            self._known.setdefault(id(names), names)
            self._guards["protocols", id(names), ""] = (
                f"special methods of `{one.__name__}`",
                "protocols",
                names,
                list(names.items()),
            )
        if pure.may_change(kind):
            self._guard("attribute", kind, "__mro__", kind.__mro__, f"the bases of `{kind.__name__}`")

    def _know_container(self, value: Any, name: str) -> None:
        kind = type(value)
        base = next(base for base in pure.CONTAINERS if issubclass(kind, base))
        self.contain(value, name, guarded=base not in (tuple, frozenset))
        if kind is base:
            return
        if not pure.is_pythons(kind):
            self.refuse(f"{name} is an object of class {kind.__name__}, which cannot be watched")
        self._guard("type", value, "", kind, f"the class of {name}")
        self._know_class(kind)
        self._add(value, name)

    def contain(self, container: Any, name: str, *, guarded: bool, is_argument: bool = False) -> None:
        """A container, whose items may be read and have to be the same afterwards."""
        items = _items(container)
        if len(items) > _MOST_ITEMS:
            self.refuse(f"{name} has more than {_MOST_ITEMS} items")
            return
        self._names.setdefault(id(container), name)
        self._containers.append((container, items))
        self._known[id(container)] = container
        if guarded:
            kind = next(kind for kind in (dict, list, set) if issubclass(type(container), kind)).__name__
            given = list(dict.items(container)) if kind == "dict" else items
            self._guards[kind, id(container), ""] = (f"items of {name}", kind, container, given)
        for item in items:
            # An argument's arrays are others in each call, and its containers are looked at by themselves.
            if not (is_argument and issubclass(type(item), (Array, tuple, list, dict))):
                self.know(item, f"an item of {name}")

    def _look_loosely(self) -> None:
        for owner in list(self._objects):
            is_module = isinstance(owner, types.ModuleType)
            for attribute, is_taken in list(self._loose.items()):
                if (id(owner), attribute, is_taken) in self._seen_loose:
                    continue
                self._seen_loose.add((id(owner), attribute, is_taken))
                if is_module and attribute not in owner.__dict__:
                    continue
                name = f"`{owner.__name__ if is_module else type(owner).__name__}.{attribute}`"
                value = self.attribute(owner, attribute, name)
                if value is not MISSING:
                    self.know(value, name, is_called=not is_taken)


def base_of(kind: type) -> type:
    """The class of which an object's built-in methods are."""
    return next(one for one in kind.__mro__ if not pure.may_change(one) or not pure.is_pythons_own(one))


def _words(value: Any) -> str:
    module = getattr(value, "__module__", None) or getattr(
        type(getattr(value, "__self__", None)), "__name__", ""
    )
    return f"`{module}.{getattr(value, '__qualname__', getattr(value, '__name__', '?'))}`"


def _own_names(kind: type) -> dict[str, Any]:
    """The dictionary of a class, which a class shows through a proxy alone."""
    for found in gc.get_referents(kind.__dict__):
        if type(found) is dict:
            return found
    raise Refused(f"the attributes of class {kind.__name__} cannot be watched")


def _has_own_getter(kind: type) -> bool:
    return any("__getattribute__" in one.__dict__ for one in kind.__mro__ if pure.may_change(one))


def _names_in(code: CodeType) -> set[str]:
    """The globals and attributes that code and the code inside it may read."""
    inner = [_names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


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
