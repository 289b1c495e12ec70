"""Objects of NumPy's whose methods and items give arrays: generators, ``mgrid``, ``r_``, archives.

Owns ``Proxy``, which is the object but for wrapping what comes out. Not here: functions
(``_namespace/namespace.py``), methods that drivers have (``_random/draws.py``).
"""

import collections.abc
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from .._classes.texts import TextOf
from .._gpupy import call, wrap
from .hosts import to_host
from .through_numpy import through_numpy

# A method of ours in the place of one of an object's, by its name; ``None`` where it has none.
_method_of: Callable[[Any, str, Any], Callable[..., Any] | None]


def register(method_of: Callable[[Any, str, Any], Callable[..., Any] | None]) -> None:
    """Registers the look-up of methods of generators that drivers have."""
    global _method_of
    _method_of = method_of


class _Method(staticmethod):  # type: ignore[type-arg]
    """A method of an object of NumPy's; as an attribute of a class it binds to no instance, like NumPy's."""

    def __init__(self, instance: Any, name: str, value: Any) -> None:
        function = _method_of(instance, name, value) or through_numpy(name, value)
        function.__name__ = name
        super().__init__(function)
        self._of = id(instance), name
        self._instance = instance

    def __eq__(self, other: object) -> bool:
        return self._of == other._of if isinstance(other, _Method) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._of)


# The object of which a method of NumPy's runs on this thread: what that asks the object for is NumPy's.
_inside = threading.local()


def _entered(instance: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    def entered(*args: Any, **kwargs: Any) -> Any:
        before = getattr(_inside, "instance", None)
        _inside.instance = instance
        try:
            return method(*args, **kwargs)
        finally:
            _inside.instance = before

    return entered


@functools.cache
def giving_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's, whose methods give arrays of ours."""

    def get(self: Any, name: str) -> Any:
        value = kind.__getattribute__(self, name)  # type: ignore[call-arg]
        if name.startswith("_") or not callable(value) or getattr(_inside, "instance", None) is self:
            return value
        return _Method(self, name, _entered(self, value))

    def reduce(self: Any) -> tuple[Any, ...]:
        # NumPy's gives its own class.
        theirs: Any = kind
        _, given, *state = theirs.__reduce__(self)
        return made, (given[0],), *state

    members = {"__getattribute__": get, "__reduce__": reduce}
    made = standing_for(kind, "gpupy.random", members)
    return made


def standing_for(kind: type[Any], package: str, members: dict[str, Any]) -> type[Any]:
    """A subclass of a class of NumPy's, of which NumPy's own instances are, too: its functions give those."""

    class Kind(type(kind)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, kind) if cls is made else super().__instancecheck__(instance)

    named = {"__module__": package, "__doc__": kind.__doc__}
    made: type[Any] = Kind(kind.__name__, (kind,), members | named)
    return made


@functools.cache
def called_giving_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's, whose instances give arrays of ours when they are called."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(kind.__name__, super(made, self).__call__, args, kwargs)

    made: Any
    package = "gpupy" if kind.__module__ == "numpy" else "gpupy.polynomial"
    members = {name: _wrapped(getattr(kind, name)) for name in _ROOTS if hasattr(kind, name)}
    made = standing_for(kind, package, {"__call__": __call__, **members})
    return made


# Methods and attributes that are computed from a polynomial.
_ROOTS = ("linspace", "r", "roots")


def _wrapped(theirs: Any) -> Any:
    """A method or an attribute of NumPy's that gives arrays of ours."""
    if isinstance(theirs, property):
        return property(lambda self: wrap(theirs.fget(self)), doc=theirs.__doc__)  # type: ignore[misc]

    @functools.wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(theirs.__name__, theirs, (self, *args), kwargs)

    return method


# Objects that are called by a key, by their class.
_KEYED = {"CClass": "c_", "MGridClass": "mgrid", "OGridClass": "ogrid", "RClass": "r_"}


# Classes whose methods stay the same ones: they are C's. Making one takes longer than NumPy's call of it.
_FIXED = (np.random.Generator, np.random.RandomState)


class Proxy:
    __slots__ = ("_methods", "_object")
    __doc__ = TextOf(
        "The object itself, with arrays of ours going in and coming out.", lambda own: own._object.__doc__
    )

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "_object", value)
        object.__setattr__(self, "_methods", {} if type(value) in _FIXED else None)

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        kind: Any = type(self._object)
        return giving_ours(kind) if kind.__module__.startswith("numpy.random") else kind

    def __gpupy_host__(self) -> Any:
        return self._object

    def __getattr__(self, name: str) -> Any:
        known = self._methods
        if known is not None and name in known:
            return known[name]
        value = getattr(self._object, name)
        if callable(value) and not isinstance(value, type):
            made = _Method(self._object, name, value)
            if known is not None:
                known[name] = made
            return made
        return wrap(value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._object, name, to_host(value))

    def __getitem__(self, key: Any) -> Any:
        kind = type(self._object).__name__
        return call(_KEYED.get(kind, kind), self._object.__getitem__, (key,), {})

    def __len__(self) -> int:
        return len(self._object)

    def __repr__(self) -> str:
        return repr(self._object)

    def __reduce__(self) -> tuple[Any, ...]:
        return Proxy, (self._object,)


class Archive(Proxy, collections.abc.Mapping[str, Any]):
    """The result of ``load`` for a file of several arrays, which are read when they are needed."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return wrap(self._object[key])

    @property
    def f(self) -> "_Attributes":
        """The arrays as attributes."""
        return _Attributes(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._object)

    def __contains__(self, key: object) -> bool:
        return key in self._object

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: Any) -> Any:
        return self._object.__exit__(*failure)


class _Attributes:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def __getattr__(self, name: str) -> Any:
        try:
            return self._archive[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return list(self._archive)
