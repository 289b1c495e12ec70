"""Instances of the program's subclasses of ``gpupy.ndarray``, as they are lent to libraries.

Owns ``lent``. A library gets an array of NumPy's over the same memory, which passes for an instance of the
class: to ``isinstance``, by the attributes and methods that the class adds, and so do its views. Invariant:
what the class overrides is not called there, NumPy's own is.

Not here: which variables are exchanged (``lending.py``), twins in calls of NumPy's
(``_classes/subclass.py``).
"""

import sys
import weakref
from typing import Any

import numpy as np

from .._classes import subclass
from .._classes.kind import Kind
from .._gpupy import ndarray, wrap
from . import calls

_OURS = "gpupy"
# The module with the class of our class, which is asked first in programs whose NumPy is gpupy.
_ASKS_FOR_OTHERS = Kind.__module__


class _Lent(subclass.Twin):
    """NumPy's array that passes for an instance of a class of the program's."""

    @property
    def __class__(self) -> type[Any]:
        kind, asks = type(self)._class(), sys._getframe().f_back
        if asks is not None and asks.f_globals.get("__name__") == _ASKS_FOR_OTHERS:
            asks = asks.f_back
        # Ours is not deceived.
        name = None if asks is None else asks.f_globals.get("__name__")
        return type(self) if kind is None or (name or "").partition(".")[0] == _OURS else kind

    @__class__.setter
    def __class__(self, kind: type[Any]) -> None:
        raise TypeError(f"the class of an array that is lent stays {type(self).__name__!r}")

    def __getattr__(self, name: str) -> Any:
        # NumPy's arrays lack what ours have more than they.
        if self._of is None or name.startswith("__") or hasattr(ndarray, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._instance(), name)

    def _instance(self) -> Any:
        """The instance with these elements."""
        of = self._of
        if of is None or type(of) is not type(self)._class():
            return np.asarray(self)
        is_whole = self.__array_interface__ == of._pinned().__array_interface__
        return of if is_whole else subclass.of_twin(self, wrap(self.view(np.ndarray)))

    def __reduce__(self) -> Any:
        return self._instance().__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._instance().__reduce_ex__(protocol)


subclass.OURS[_Lent] = _Lent._instance


_classes: weakref.WeakKeyDictionary[type[Any], type[Any]] = weakref.WeakKeyDictionary()


def _class_of(kind: type[Any]) -> type[Any]:
    if kind not in _classes:
        priority = getattr(kind, "__array_priority__", 0.0)
        members = {"__array_priority__": priority, "_class": staticmethod(weakref.ref(kind))}
        _classes[kind] = type(kind.__name__, (_Lent,), members)
    return _classes[kind]


def lent(array: Any) -> Any:
    """NumPy's array for one of ours."""
    kind: Any = type(array)
    host = calls.numpys(array)
    is_program = kind is not ndarray and kind.__module__.partition(".")[0] != _OURS
    if not is_program or type(host) is not np.ndarray:
        return host
    passing: Any = host.view(_class_of(kind))
    passing._of = array
    return passing
