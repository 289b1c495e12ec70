"""Arguments and results, as `gpupy._gpupy.jit` takes descriptions of them.

Owns ``Arguments`` and ``Result``. Not here: their use (``recording.py``).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container
from typing import Any

import numpy as np

import gpupy

from .._gpupy import is_lazy
from .._gpupy import jit as _own
from .selection import Selection

_DOUBLE = np.dtype(np.float64)
Array = gpupy.ndarray
Scalar = gpupy._gpupy.scalar
# Classes whose equal objects a program cannot distinguish.
_PLAIN = frozenset([int, float, complex, str, bytes, bool, slice, range])


def _is_plain(value: Any) -> bool:
    """Whether an object never changes, and is known by what it is equal to."""
    kind = type(value)
    if kind is slice:
        return all(part is None or _is_plain(part) for part in (value.start, value.stop, value.step))
    is_numpys = kind.__module__.split(".")[0] == "numpy"
    if isinstance(value, np.dtype):
        return is_numpys and value.kind != "V"
    # Records can be written, and objects have anything behind them.
    return kind in _PLAIN or (isinstance(value, np.generic) and is_numpys and value.dtype.kind not in "VO")


def _is_named_tuple(kind: type) -> bool:
    """Whether a class is one of named tuples, and nothing besides."""
    return kind.__bases__ == (tuple,) and "_make" in kind.__dict__


def may_be_open(value: Any) -> bool:
    """Whether a function can be recorded for any number of an argument's type."""
    if type(value) is float:
        return bool(is_lazy(_DOUBLE))
    return isinstance(value, (np.floating, np.integer)) and is_lazy(value.dtype)


class Refused(Exception):
    """Why a function is not recorded."""


class Arguments:
    """Descriptions of a call's arguments, their arrays, and the objects that the function gets."""

    def __init__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], open_places: Container[int | str]
    ) -> None:
        self.objects: list[Any] = []
        # Objects that may have attributes which are read.
        self.others: list[Any] = []
        # Containers, whose items are known, and have to be the same afterwards.
        self.containers: list[Any] = []
        self._inside: list[Any] = []
        # Those in whose place something else stands.
        self.open: set[int | str] = set()
        # Whether numbers are among these, which could be known instead.
        self.has_numbers = False
        # The placeholders, each with its argument.
        self.standing: list[tuple[weakref.ref[Any], Any]] = []
        self._wanted = open_places
        self.positional = [self._whole(place, value) for place, value in enumerate(args)]
        self.named = [(name, self._whole(name, value)) for name, value in kwargs.items()]

    def _whole(self, place: int | str, value: Any) -> tuple[Any, ...]:
        is_number = place in self._wanted and may_be_open(value)
        if type(value) is not Scalar and not is_number:
            return self._form(value)
        self.open.add(place)
        self.has_numbers |= is_number
        self.objects.append(value)
        return ("number", type(value)) if is_number else ("scalar",)

    def _form(self, value: Any) -> tuple[Any, ...]:
        kind = type(value)
        if kind is Array:
            if not is_lazy(value.dtype):
                raise Refused("an argument is an array whose dtype is NumPy's own")
            self.objects.append(value)
            return ("array",)
        if value is None or kind is bool:
            return ("same", value)
        if _is_plain(value):
            return ("equal", value)
        if isinstance(value, np.ndarray):
            raise Refused("an argument is an array of NumPy's: `gpupy.asarray` makes it one of gpupy's")
        if isinstance(value, Array):
            raise Refused("an argument is an array of a class of its own")
        if kind in (list, dict):
            if any(known is value for known in self._inside):
                raise Refused("an argument contains itself")
            self.containers.append(value)
        if kind in (tuple, list) or _is_named_tuple(kind):
            self.objects.append(value)
            self._inside.append(value)
            items = [self._form(item) for item in value]
            self._inside.pop()
            return ("items", kind, items)
        if kind is dict:
            self.objects.append(value)
            if not all(_is_plain(key) for key in value):
                raise Refused("an argument is a dictionary with keys of classes of their own")
            self._inside.append(value)
            entries = [(key, self._form(item)) for key, item in value.items()]
            self._inside.pop()
            return ("entries", entries)
        self.others.append(value)
        return ("same", value)

    def taken(self, place: int | str, value: Any) -> Any:
        """The placeholder of an open argument: a scalar that is not known yet; otherwise the value."""
        if place not in self.open:
            return value
        standing = _own.number_in_place_of(value)
        self.standing.append((weakref.ref(standing), value))
        return standing


class Result:
    """A function's result, with its arrays by their numbers."""

    def __init__(
        self, value: Any, arguments: Arguments, captured: list[Any], is_known: Callable[[Any], bool]
    ) -> None:
        self._is_known = is_known
        # Lists and dictionaries, by their identities; and those whose items are looked at.
        self._containers: dict[int, int] = {}
        self._inside: set[int] = set()
        objects = [*arguments.objects, *captured]
        # Numbers are known by their placeholders alone.
        self._places = {id(known): place for place, known in enumerate(objects) if not may_be_open(known)}
        for standing, argument in arguments.standing:
            if (alive := standing()) is not None:
                place = next(place for place, known in enumerate(objects) if known is argument)
                self._places[id(alive)] = place
        self._numbers: dict[int, int] = {}
        # Why it cannot be given again.
        self.refused: str | None = None
        # The placeholders of arguments that are alive.
        self.standing = [found for standing, _ in arguments.standing if (found := standing()) is not None]
        self.outputs: list[Any] = []
        # Whether it has selections in the place of arrays.
        self.has_selections = False
        self.form = self._form(value)

    def _form(self, value: Any) -> tuple[Any, ...]:
        if type(value) is Selection:
            self.has_selections = True
            value = value.actual()
        kind = type(value)
        place = self._places.get(id(value))
        if place is not None:
            return ("object", place)
        if kind in (Array, Scalar):
            is_float = kind is Scalar and _own.is_float(value)
            if not is_float and not is_lazy(value.dtype):
                return self._strange(value, "it returns an array whose dtype is NumPy's own")
            if kind is Array and not _own.is_made(value):
                return self._strange(value, "it returns an array by a way that cannot be watched")
            if id(value) not in self._numbers:
                self._numbers[id(value)] = len(self.outputs)
                self.outputs.append(value)
            name = "array" if kind is Array else "float" if is_float else "scalar"
            return (name, self._numbers[id(value)])
        if kind is tuple:
            return ("tuple", [self._form(item) for item in value])
        if _is_named_tuple(kind):
            return ("named", kind, [self._form(item) for item in value])
        if kind in (list, dict):
            return self._container(value)
        if value is None or _is_plain(value) or kind in (type, np.ufunc) or self._is_known(value):
            return ("same", value)
        return self._strange(
            value, f"it returns an object of class {kind.__name__}, which cannot be made again"
        )

    def _container(self, value: Any) -> tuple[Any, ...]:
        if id(value) in self._inside:
            return self._strange(value, "it returns what contains itself")
        if id(value) in self._containers:
            return ("again", self._containers[id(value)])
        number = self._containers[id(value)] = len(self._containers)
        self._inside.add(id(value))
        is_list = type(value) is list
        items = [self._form(item) for item in (value if is_list else value.values())]
        self._inside.discard(id(value))
        return ("list", number, items) if is_list else ("dict", number, list(zip(value, items, strict=True)))

    def _strange(self, value: Any, why: str) -> tuple[Any, ...]:
        self.refused = self.refused or why
        return ("same", value)
