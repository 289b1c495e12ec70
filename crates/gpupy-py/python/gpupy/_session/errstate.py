"""Errors of floats (division by zero, overflow, invalid operations) that ``errstate`` or ``seterr`` ask for.

Drivers do not report them. Where a program asks for an exception, a warning or a call, NumPy computes, at the
line. The modes are NumPy's, and so is their state: ``Told`` stands in the place of the variable in which
NumPy keeps it, so that a mode counts whoever sets it, and no operation has to look. Invariant: while a thread
or a task asks, all compute at the line; one that has ended asks for nothing. Not here: the modes themselves.
"""

import contextvars
import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import set_eager

_TOLD = frozenset(("raise", "call", "print", "log"))
_KINDS = ("_all", "_divide", "_over", "_under", "_invalid")
# Whether the modes of the context ask for more than the default.
_asked: contextvars.ContextVar[bool] = contextvars.ContextVar("_asked", default=False)
# The contexts that ask, which have begun and not ended, of all threads and tasks.
_contexts: set[object] = set()
# The threads that ask, by modes that they set for good.
_threads: set[int] = set()


class Told:
    """NumPy's variable of the modes, which says when these change."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable

    def set(self, modes: Any) -> tuple[Any, Any]:
        before, setting = self._variable.set(modes), sys._getframe(1)
        asks = _asks(setting)
        if not asks and not _asked.get():
            return before, None
        # Tasks take turns within their contexts, so that these count until they end.
        context = object() if asks and "self" in setting.f_locals else None
        asked = _asked.set(asks)
        if context is not None:
            _contexts.add(context)
        _tell()
        return before, (asked, context)

    def reset(self, before: Any) -> None:
        if not isinstance(before, tuple):
            # Of a context that began before this module was there.
            self._variable.reset(before)
            _asked.set(_in_force())
            _tell()
            return
        self._variable.reset(before[0])
        if before[1] is not None:
            asked, context = before[1]
            _asked.reset(asked)
            _contexts.discard(context)
            _tell()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._variable, name)


def _in_force() -> bool:
    return not _TOLD.isdisjoint(np.geterr().values())


def _asks(setting: types.FrameType) -> bool:
    """Whether the modes that a function of NumPy's just set ask for more than the default."""
    given = setting.f_locals
    context = given.get("self")
    if "func" in given and context is not None:
        # A decorated function.
        module = getattr(given["func"], "__module__", None) or ""
    else:
        frame = setting.f_back
        while frame is not None and frame.f_globals is globals():
            frame = frame.f_back
        module = "" if frame is None else frame.f_globals.get("__name__", "")
    if module.partition(".")[0] in ("numpy", "gpupy"):
        # NumPy's functions set modes for their own loops, of which nothing is recorded.
        return _asked.get()
    # The default, asked for by name; modes that `seterr` sets back name it as well.
    return _in_force() or any(getattr(context, kind, None) == "warn" for kind in _KINDS)


def _tell() -> None:
    thread = threading.get_ident()
    if _asked.get():
        _threads.add(thread)
    elif _threads:
        _threads.discard(thread)
    if _threads:
        _threads.intersection_update(sys._current_frames())
    set_eager(bool(_threads or _contexts))


# Modes that ask for nothing, as given to `errstate`.
_QUIET = frozenset((None, "ignore"))
_ENTER, _EXIT, _MODULE = np.errstate.__enter__, np.errstate.__exit__, np.errstate.__enter__.__module__


def _quick(module: Any, variable: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """``errstate``'s own methods, but that nobody is told of modes that ask for nothing while nobody asks.

    Libraries set such modes around each of their operations.
    """
    make, unspecified, token = module._make_extobj, module._Unspecified, contextvars.Token
    set_modes, reset_modes = variable.set, variable.reset

    @functools.wraps(_ENTER)
    def enter(self: Any) -> None:
        if (
            _threads
            or _contexts
            or self._token is not None
            or self._call is not unspecified
            or not _QUIET.issuperset((self._all, self._divide, self._over, self._under, self._invalid))
        ):
            return _ENTER(self)
        self._token = set_modes(
            make(
                all=self._all,
                divide=self._divide,
                over=self._over,
                under=self._under,
                invalid=self._invalid,
            )
        )

    @functools.wraps(_EXIT)
    def leave(self: Any, *exc_info: Any) -> None:
        if _threads or _contexts or type(self._token) is not token:
            return _EXIT(self, *exc_info)
        reset_modes(self._token)

    return enter, leave


def _install() -> None:
    module: Any = sys.modules[_MODULE]
    theirs = module._extobj_contextvar
    if not isinstance(theirs, Told):
        module._extobj_contextvar = Told(theirs)
        if {*_KINDS, "_call", "_token"}.issuperset(np.errstate.__slots__):
            np.errstate.__enter__, np.errstate.__exit__ = _quick(module, theirs)  # type: ignore[method-assign]
    _asked.set(_in_force())
    _tell()


_install()


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    return np.seterr(all, divide, over, under, invalid)


FUNCTIONS = {"seterr": seterr}
