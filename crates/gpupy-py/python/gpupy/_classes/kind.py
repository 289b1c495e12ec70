"""NumPy's arrays are instances of ``np.ndarray`` in a program whose NumPy is gpupy: libraries give them.

Owns ``Kind``, the class of ``gpupy.ndarray`` in such programs. Invariant: only what the program's own code
asks is answered so; gpupy and libraries tell the classes apart. Not here: whose code it is
(``_program/imports.py``).
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._gpupy import give_kind, ndarray

_Names = Mapping[str, object] | None


class Kind(type):
    """The class of ``gpupy.ndarray`` in a program whose NumPy is gpupy."""

    __slots__ = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is ndarray and isinstance(instance, np.ndarray) and _asks(sys._getframe(1).f_globals)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if type.__subclasscheck__(cls, subclass):
            return True
        return cls is ndarray and issubclass(subclass, np.ndarray) and _asks(sys._getframe(1).f_globals)


def _nobody(names: _Names) -> bool:
    return False


_asks: Callable[[_Names], bool] = _nobody


def answering(is_own: Callable[[_Names], bool]) -> tuple[Any, ...]:
    """The calls that take NumPy's arrays for instances where code asks whose module's names are the program's
    own.
    """
    return (globals().__setitem__, "_asks", is_own), (give_kind, Kind)


def answering_no_more() -> tuple[Any, ...]:
    """The calls that tell the classes apart everywhere."""
    return (globals().__setitem__, "_asks", _nobody), (give_kind, type)
