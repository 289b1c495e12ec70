"""The policy about calls that are NumPy's (``GPUPY_FALLBACK``), and their counts.

Owns ``fallback``, its error and its warning. Not here: which calls these are (the modules that call
``call``), the calls themselves (``calls.py``).
"""

import contextvars
import os
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

import gpupy

from .._gpupy import (
    Bracket,
    call,
    current_driver,
    fallback_counts,
    in_one_step,
    ndarray,
    reset_fallback_counts,
    set_driver_fallback,
    tell_of_fallbacks,
)
from .._session import reasons

_Mode: TypeAlias = Literal["allow", "warn", "error"]
_MODES = ("allow", "warn", "error")
# The folders of code that is no program's.
PACKAGES = tuple(os.path.dirname(str(package.__file__)) + os.sep for package in (gpupy, np))


class FallbackError(RuntimeError):
    """A call went to NumPy although fallbacks are forbidden."""

    __module__ = "gpupy._policy"


class FallbackWarning(UserWarning):
    """A call went to NumPy."""

    __module__ = "gpupy._policy"


def _checked(mode: Any, source: str) -> _Mode:
    if mode not in _MODES:
        choices = ", ".join(f"`{m}`" for m in _MODES)
        raise ValueError(f"{source} is `{mode}`; choose one of {choices}")
    return mode


_mode: _Mode = "allow"


def _setting(mode: _Mode) -> tuple[Any, ...]:
    """The calls that set the mode."""
    return (
        (globals().__setitem__, "_mode", mode),
        # An error in NumPy is one on every driver.
        (set_driver_fallback, mode != "error"),
        (tell_of_fallbacks, mode != "allow"),
    )


in_one_step(*_setting(_checked(os.environ.get("GPUPY_FALLBACK") or "allow", "GPUPY_FALLBACK")))


class fallback(Bracket):
    """Sets the mode for fallbacks: ``allow``, ``warn`` or ``error``; as a context manager, until its end."""

    __module__ = "gpupy._policy"

    _lock = None

    def __init__(self, mode: _Mode) -> None:
        self._before = _mode
        in_one_step(*_setting(_checked(mode, "the fallback mode")))

    def _begin(self, _frame: Any) -> tuple[Any, ...]:
        return (), None, _setting(self._before), self


def sites() -> list[tuple[str, str, int, int]]:
    """The fallbacks so far: (function, file, line, count), most frequent first."""
    rows = [(*site, count) for site, count in fallback_counts().items()]
    return sorted(rows, key=lambda row: -row[3])


def reset() -> None:
    """Forgets the fallbacks so far."""
    reset_fallback_counts()


def tell(site: tuple[str, str, int], seen: Sequence[ndarray], frame: types.FrameType | None) -> None:
    """Warns of a call to NumPy with these arrays, or forbids it."""
    name, file, line = site
    for_name, why = _because.get()
    words = f"`{name}` runs in NumPy: {why if name == for_name else _reason(name, seen)} ({file}:{line})"
    if _mode == "error":
        raise FallbackError(words)
    module = "?" if frame is None else frame.f_globals.get("__name__", "?")
    warnings.warn_explicit(words, FallbackWarning, file, line, module)


def is_allowed() -> bool:
    """Whether calls may go to NumPy without a word."""
    return _mode == "allow"


# A function whose calls go to NumPy now, and the reason, where that is no dtype's.
_because: contextvars.ContextVar[tuple[str, str]] = contextvars.ContextVar("_because", default=("", ""))


def call_because(
    why: str, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``call`` for a reason of its own."""
    before = _because.set((name, why))
    try:
        return call(name, function, args, kwargs)
    finally:
        _because.reset(before)


def _reason(name: str, seen: Sequence[ndarray]) -> str:
    numpys = sorted({str(a.dtype) for a in seen if not a._lazy})
    if numpys:
        return f"{', '.join(numpys)} is NumPy's own"
    known = reasons.of(name)
    if known is not None:
        return known
    if not seen:
        return "no driver computes it"
    dtypes = ", ".join(sorted({str(a.dtype) for a in seen}))
    return f"driver `{current_driver()}` does not compute it for these arguments ({dtypes})"
