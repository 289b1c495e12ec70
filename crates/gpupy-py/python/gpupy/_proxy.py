"""Objects of NumPy's whose methods and items give arrays: generators, ``mgrid``, ``r_``, archives.

Owns ``Proxy``, which is the object but for wrapping what comes out. Not here: functions
(``_namespace.py``).
"""

import collections.abc
import functools
from typing import Any

from ._fallback import call, through_numpy, to_host
from ._gpupy import wrap


@functools.cache
def giving_ours(kind):
    """A subclass of a class of NumPy's, whose methods give arrays of ours."""

    def get(self, name):
        value = kind.__getattribute__(self, name)
        if name.startswith("_") or not callable(value):
            return value
        return through_numpy(name, value)

    members = {"__getattribute__": get, "__module__": "gpupy.random", "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), members)


@functools.cache
def called_giving_ours(kind):
    """A subclass of a class of NumPy's, whose instances give arrays of ours when they are called."""

    def __call__(self, *args, **kwargs):
        return call(kind.__name__, super(made, self).__call__, args, kwargs)

    class Kind(type(kind)):  # type: ignore[misc]
        # What NumPy's functions give is of its own class.
        def __instancecheck__(cls, instance):
            return isinstance(instance, kind) if cls is made else super().__instancecheck__(instance)

    made: Any
    package = "gpupy" if kind.__module__ == "numpy" else "gpupy.polynomial"
    members = {"__call__": __call__, "__module__": package, "__doc__": kind.__doc__}
    members |= {name: _wrapped(getattr(kind, name)) for name in _ROOTS if hasattr(kind, name)}
    made = Kind(kind.__name__, (kind,), members)
    return made


# What is computed from a polynomial, as a method or an attribute.
_ROOTS = ("linspace", "r", "roots")


def _wrapped(theirs):
    """A method or an attribute of NumPy's that gives arrays of ours."""
    if isinstance(theirs, property):
        return property(lambda self: wrap(theirs.fget(self)), doc=theirs.__doc__)  # type: ignore[misc]

    @functools.wraps(theirs)
    def method(self, *args, **kwargs):
        return call(theirs.__name__, theirs, (self, *args), kwargs)

    return method


class Proxy:
    """The object itself, with arrays of ours going in and coming out."""

    __slots__ = ("_object",)

    def __init__(self, value):
        object.__setattr__(self, "_object", value)

    @property  # type: ignore[misc]
    def __class__(self):
        kind: Any = type(self._object)
        return giving_ours(kind) if kind.__module__.startswith("numpy.random") else kind

    def __gpupy_host__(self):
        return self._object

    def __getattr__(self, name):
        value = getattr(self._object, name)
        if callable(value) and not isinstance(value, type):
            method = through_numpy(name, value)
            method.__name__ = name
            return method
        return wrap(value)

    def __setattr__(self, name, value):
        setattr(self._object, name, to_host(value))

    def __getitem__(self, key):
        return call("__getitem__", self._object.__getitem__, (key,), {})

    def __len__(self):
        return len(self._object)

    def __repr__(self):
        return repr(self._object)

    def __reduce__(self):
        return Proxy, (self._object,)


class Archive(Proxy, collections.abc.Mapping[str, Any]):
    """What ``load`` gives for a file of several arrays: they are read when they are asked for."""

    __slots__ = ()

    def __getitem__(self, key):
        return wrap(self._object[key])

    @property
    def f(self):
        """The arrays as attributes."""
        return _Attributes(self)

    def __iter__(self):
        return iter(self._object)

    def __contains__(self, key):
        return key in self._object

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return self._object.__exit__(*failure)


class _Attributes:
    def __init__(self, archive):
        self._archive = archive

    def __getattr__(self, name):
        try:
            return self._archive[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._archive)
