"""Libraries whose code takes NumPy's class alone are lent NumPy's arrays when they ask for the class of ours.

Owns ``lend``, and ``ROWS``, which says to which packages. The question is ``isinstance``, which asks an
object for its ``__class__``. The answer is NumPy's class, and from then on the variables of the asking
function that had arrays of ours have NumPy's over the pinned bases: so what the function goes on with, in C
too, is NumPy's, and both sides see what is written. Invariants: no function of a library is replaced; a
function that asks of what is in none of its variables is told our class, and keeps our array; other arrays
cost nothing.

Not here: who asks (``src/array/classes/asked_class.rs``), libraries that ask in C alone (``calls.py``).
"""

import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from .._classes import subclass
from .._classes.takers import ALL, AS_CALLER, KEYS, NO_DRIVERS, which
from .._classes.takers import lend as lend_to_package
from .._gpupy import ndarray
from . import instances

# By package. Those that are not lent all take arrays of any class whose elements are numbers; but for masked
# arrays, and dates, texts and objects, they know NumPy's class alone.
_LENT = {
    "awkward": ALL,
    "h5py": ALL,
    "jax._src.numpy.indexing": ALL,
    "matplotlib": ALL,
    "mpl_toolkits": ALL,
    "networkx": ALL,
    "numpy.ctypeslib": ALL,
    "pandas": ALL,
    "polars": ALL,
    "scipy": NO_DRIVERS,
    "scipy.sparse": ALL,
    "sklearn.model_selection": ALL,
    # It asks of which class an argument is, and gives it back.
    "sklearn.utils._param_validation": ALL,
    # A key of one element is to it an array without axes of NumPy's class.
    "xarray": KEYS,
    # Its arrays keep ours all the same: `xarray.core.variable` does that.
    "xarray.core.dataset": ALL,
}
# The module that asks for the classes of `collections.abc`.
_ASKS_FOR_OTHERS = "abc"
# What Python says of a function's code: it has variables, further arguments, further keywords.
_HAS_VARIABLES, _HAS_ARGUMENTS, _HAS_KEYWORDS = 0x1, 0x4, 0x8


# The references to the copy: the frame's, the variable's below, and that of the call that counts them.
_OF_FRAME_ALONE = 3


class _Last(threading.local):
    """The question of a thread that was answered last, and the answer."""

    question: tuple[int, int, int] | None = None
    answer: Any = None


_last = _Last()


def lend(array: Any) -> Any:
    """The class that the calling function is told; it has NumPy's arrays in place of ours from then on."""
    frame = sys._getframe(1)
    return _answer(frame.f_back if frame.f_globals["__name__"] == _ASKS_FOR_OTHERS else frame, array)


def _answer(frame: types.FrameType | None, array: Any) -> Any:
    if frame is None or not frame.f_code.co_flags & _HAS_VARIABLES:
        return type(array)
    is_lent = _TAKEN.get(which(frame.f_globals.get("__name__")))
    if is_lent is None or not is_lent(array):
        return type(array)
    # One call of `isinstance` asks once for each of several classes.
    question = id(frame), frame.f_lasti, id(array)
    lent = _Lent(array, is_lent)
    found = lent.exchanged(frame)
    if lent.answer is None:
        return _last.answer if _last.question == question else type(array)
    _exchange(frame, found)
    _last.question, _last.answer = question, lent.answer
    return lent.answer


def _is_array(value: Any) -> bool:
    return issubclass(type(value), ndarray)


def _is_no_drivers(value: Any) -> bool:
    """Whether it is a masked array, or one whose elements NumPy alone has."""
    return (type(value) is ndarray and not value._lazy) or subclass.is_masked(value)


def _is_key(value: Any) -> bool:
    """Whether it is one of these, or an integer or a truth value without axes."""
    return _is_no_drivers(value) or (_is_array(value) and not value.shape and value.dtype.kind in "biu")


_TAKEN: dict[int, Callable[[Any], bool]] = {ALL: _is_array, NO_DRIVERS: _is_no_drivers, KEYS: _is_key}


class _Lent:
    """NumPy's arrays in place of ours for the variables of one function, which asks for a class."""

    def __init__(self, asked: Any, is_lent: Callable[[Any], bool]) -> None:
        self.asked, self.is_lent = asked, is_lent
        self.answer: Any = None
        # By the number of ours: NumPy's.
        self._numpys: dict[int, Any] = {}

    def exchanged(self, frame: types.FrameType) -> dict[str, Any]:
        """The variables that get another value: arrays, and tuples of arguments with some."""
        variables = frame.f_locals
        keywords = _keywords_of(frame.f_code)
        found = {}
        for name, value in variables.items():
            made = (
                self._items(value) if name == keywords and type(value) is dict else self._in_place_of(value)
            )
            if made is not value:
                found[name] = made
        return found

    def _in_place_of(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(self._one, value)) if any(map(self.is_lent, value)) else value
        return self._one(value)

    def _items(self, values: dict[str, Any]) -> dict[str, Any]:
        # The function's own, whose caller has none of it.
        if not any(map(self.is_lent, values.values())):
            return values
        return {key: self._one(value) for key, value in values.items()}

    def _one(self, value: Any) -> Any:
        if not self.is_lent(value):
            return value
        if id(value) not in self._numpys:
            self._numpys[id(value)] = instances.lent(value)
        lent = self._numpys[id(value)]
        if value is self.asked:
            self.answer = type(lent)
        return lent


def _keywords_of(code: types.CodeType) -> str | None:
    """The variable with the dictionary of further keywords."""
    if not code.co_flags & _HAS_KEYWORDS:
        return None
    at = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _HAS_ARGUMENTS)
    return code.co_varnames[at]


def _exchange(frame: types.FrameType, values: dict[str, Any]) -> None:
    """Gives variables of a function other values, as debuggers do."""
    variables = frame.f_locals
    variables.update(values)
    if type(variables) is dict:
        # Before Python 3.13 they are a copy, which the frame keeps until the function ends.
        _written_back()(frame, 0)
        if sys.getrefcount(variables) == _OF_FRAME_ALONE:
            # The function did not ask for it by `locals()`.
            variables.clear()


@functools.cache
def _written_back() -> Callable[[types.FrameType, int], None]:
    import ctypes

    write = ctypes.pythonapi.PyFrame_LocalsToFast
    write.argtypes, write.restype = (ctypes.py_object, ctypes.c_int), None
    return write


def _priority(array: Any) -> Any:
    """What pandas' operators ask an operand for, before they look in C whether it is without axes."""
    _answer(sys._getframe(1), array)
    raise AttributeError(_ASKED_BY_PANDAS)


_ASKED_BY_PANDAS = "__pandas_priority__"


def _begin(package: str) -> None:
    if package == "pandas":
        setattr(ndarray, _ASKED_BY_PANDAS, property(_priority))
    for name in (package, *_WITH.get(package, ())):
        lend_to_package(name, _LENT[name])
    lend_to_package(_ASKS_FOR_OTHERS, AS_CALLER)


# Packages without a module of their own, by the package that they come with.
_WITH = {"matplotlib": ("mpl_toolkits",)}
ROWS: dict[str, Callable[[], None]] = {
    package: functools.partial(_begin, package) for package in _LENT if package != "mpl_toolkits"
}
