"""Floating-point errors (division by zero, overflow, invalid operations): ``errstate`` and ``seterr``.

Drivers do not report them. Where a program asks for an exception, a warning or a call, NumPy computes, at the
line. Not here: the modes themselves, which are NumPy's.
"""

import functools
from typing import Any

import numpy as np

from ._gpupy import eager, set_eager

_TOLD = frozenset(("raise", "call", "print", "log"))


def _asked(given: tuple[Any, ...]) -> bool:
    """Whether these arguments, or the modes in force, ask for more than the default."""
    return "warn" in given or not _TOLD.isdisjoint(np.geterr().values())


class errstate(np.errstate):
    """NumPy's context of the name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._given = kwargs

    def __enter__(self) -> None:
        super().__enter__()
        self._before = eager()
        set_eager(_asked(tuple(v for k, v in self._given.items() if k != "call")))

    def __exit__(self, *failure: Any) -> None:
        set_eager(self._before)
        return super().__exit__(*failure)

    def __call__(self, function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            with errstate(**self._given):
                return function(*args, **kwargs)

        return inner


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    before = np.seterr(all, divide, over, under, invalid)
    # Modes that are set back name the default as well.
    set_eager(_asked(()))
    return before


FUNCTIONS = {"seterr": seterr}
