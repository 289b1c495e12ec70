"""The arguments ``like`` and ``device`` of functions that make arrays.

Not here: the functions.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._gpupy import ndarray


def refuse(device: Any) -> None:
    """Refuses a device that NumPy has not, which is any but its own: drivers are chosen otherwise."""
    if device is not None:
        np.empty(0, device=device)


def given_like(function: Callable[..., Any], *args: Any, like: Any, **kwargs: Any) -> Any:
    """The call, left to the class of ``like`` where that is not ours or NumPy's."""
    ours = isinstance(like, ndarray) and not subclass.has_own(like, "__array_function__")
    if like is None or type(like) is np.ndarray or ours:
        return function(*args, **kwargs)
    made = asked(like, function.__name__, args, kwargs)
    return getattr(np, function.__name__)(*args, like=like, **kwargs) if made is NotImplemented else made


def asked(like: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of our function of this name by the class of ``like``, or ``NotImplemented``.

    A class of the program knows functions by the names that it has them under, which are ours. One of another
    library's knows NumPy's, and is asked for those afterwards.
    """
    decide = getattr(type(like), "__array_function__", None)
    if decide is None or isinstance(like, np.ndarray):
        return NotImplemented
    return decide(like, getattr(sys.modules["gpupy"], name), (type(like),), args, kwargs)
