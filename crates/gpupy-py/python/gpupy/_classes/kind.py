"""NumPy's arrays are instances of ``np.ndarray`` in a program whose NumPy is gpupy: libraries give them.

Owns ``Kind``, the class of ``gpupy.ndarray`` in such programs. Invariant: only what the program's own code
asks, or Python's own modules for it, is answered so; gpupy and libraries tell the classes apart. Not here:
whose code it is (``_program/imports.py``).
"""

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import give_kind, ndarray

_Asker = types.FrameType | None


class Kind(type):
    """The class of ``gpupy.ndarray`` in a program whose NumPy is gpupy."""

    __slots__ = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        theirs = _numpys(cls)
        return theirs is not None and isinstance(instance, theirs) and _asks(sys._getframe(1))

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if type.__subclasscheck__(cls, subclass):
            return True
        theirs = _numpys(cls)
        return theirs is not None and issubclass(subclass, theirs) and _asks(sys._getframe(1))


def _numpys(kind: type) -> Any:
    """NumPy's class that one of ours stands for: the class of arrays, and of masked arrays."""
    return np.ndarray if kind is ndarray else vars(kind).get("_gpupy_numpys")


def _nobody(frame: _Asker) -> bool:
    return False


_asks: Callable[[_Asker], bool] = _nobody


def answering(asks: Callable[[_Asker], bool]) -> tuple[Any, ...]:
    """The calls that take NumPy's arrays for instances where a frame of the program's own code asks."""
    return (globals().__setitem__, "_asks", asks), (give_kind, Kind)


def answering_no_more() -> tuple[Any, ...]:
    """The calls that tell the classes apart everywhere."""
    return (globals().__setitem__, "_asks", _nobody), (give_kind, type)
