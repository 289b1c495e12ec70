"""Python's own numbers, and the errors that they raise.

Owns ``PythonExpressions`` and their ``PythonKinds``. ``np.vectorize`` gives a function Python's bools, ints
and floats. Each operation here gives what Python's gives, or notes in a hidden name, ``ERROR``, that it might
not: where it would raise an error, where an int needs more bits than 64, where NumPy would warn. A point
whose ``ERROR`` holds says nothing, so it may hold where there is no error; it has to hold where there is one.
Sums, products, quotients, comparisons and ints are exact; functions have gpupy's bounds.

A number that is an int on some ways and a float on others is ``Either``, computed as a float: what its int
would give is the same number, or ``ERROR`` holds.

Not here: the use of the error mask (``vectorize.py``), NumPy's rules (``_kernel/expressions.py``).
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import gpupy

from .._kernel.expressions import Expressions
from .._kernel.functions import math_value
from .._kernel.kinds import Weak, computed, is_array, is_number
from .python_kinds import (
    BOOL,
    EXACT,
    FLOAT,
    PythonKinds,
    has_room,
    is_flag,
    is_float64,
    is_numpys,
    is_real,
    is_small,
    is_whole,
)
from .python_operators import HUGE, OPERATIONS, WHOLE, size_of

# Whether a point has to be computed by Python.
ERROR = ".error"
# Powers below it may be told of.
_TINY = 1e-300


class PythonExpressions(Expressions):
    """Expressions of Python's numbers, noting the points where a result may not be Python's."""

    kinds = PythonKinds()
    hidden = frozenset({ERROR})

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.names.setdefault(ERROR, False)
        # The points for which the present computation is needed.
        self._wanted: list[Any] = []

    def error_where(self, mask: Any) -> None:
        """Notes that these points, those of them for which it is computed, are not known."""
        if not isinstance(mask, gpupy.ndarray) and not mask:
            return
        mask = mask if isinstance(mask, gpupy.ndarray) else True
        for wanted in self._wanted:
            mask = wanted if mask is True else gpupy.logical_and(mask, wanted)
        known = self.names[ERROR]
        known = known.array if isinstance(known, Weak) else known
        if known is False or mask is True:
            self.names[ERROR] = mask
        elif known is not True:
            self.names[ERROR] = gpupy.logical_or(known, mask)

    def where(self, mask: Any, value: Callable[[], Any]) -> Any:
        """A value that is wanted where a mask holds alone."""
        self._wanted.append(mask)
        try:
            return value()
        finally:
            self._wanted.pop()

    def as_bool(self, mask: Any) -> Any:
        """The condition of an expression, true where a mask holds: a bool of Python's."""
        return Weak(bool, mask) if isinstance(mask, gpupy.ndarray) else mask

    def both(self, one: Any, other: Any) -> Any:
        """Whether two comparisons hold that are not known."""
        found = gpupy.logical_and(self.truth(one), self.truth(other))
        return Weak(bool, found) if isinstance(one, Weak) and isinstance(other, Weak) else found

    def operation(self, python: Callable[..., Any], ufunc: np.ufunc, values: list[Any]) -> Any:
        """An operator on values."""
        if not any(map(is_array, values)):
            return self._known(python, values)
        for value in values:
            kind = self.kinds.of(value) if is_number(value) else None
            if kind is None or not (is_whole(kind) or is_real(kind) or is_flag(kind)):
                self._refuse(f"`{ufunc.__name__}` of {_said(value)} is not known to be Python's")
        found = OPERATIONS.get(ufunc.__name__)
        if found is None:
            self._refuse(f"`{ufunc.__name__}` is not known to be Python's")
        return found(self, ufunc.__name__, *values)

    def _known(self, python: Callable[..., Any], values: list[Any]) -> Any:
        """Python's result for known numbers; Python itself raises its warnings and errors."""
        if not all(map(_is_plain, values)):
            self._refuse("what is done with things that are no numbers is not known")
        is_bool = any(isinstance(value, (bool, np.bool_)) for value in values)
        if is_bool and python is operator.invert:
            self._refuse("`~` of a bool is Python's own")
        try:
            with np.errstate(all="raise"):
                return python(*values)
        except Exception as error:
            return self._refuse(str(error) or type(error).__name__)

    # Numbers as arrays.

    def real(self, value: Any) -> Any:
        """A number as a float64: an int as Python rounds it."""
        return computed(value, float)

    def whole(self, value: Any) -> Any:
        """An int, or a bool, as an int64."""
        if type(value) is int and not has_room(value):
            self._refuse(f"the int {value} needs more than 64 bits")
        return computed(value, int)

    def exact(self, value: Any) -> Any:
        """A number as a float64, if it is one."""
        found = self.real(value)
        kind = self.kinds.of(value)
        if is_whole(kind) and not is_small(kind):
            self.error_where(size_of(found) >= EXACT)
        return found

    def reals(self, found: Any, values: list[Any]) -> Any:
        """A float that was computed of these values: NumPy's if one is NumPy's."""
        self.warn_where(found)
        return found if any(is_numpys(self.kinds.of(value)) for value in values) else Weak(float, found)

    def as_float(self, found: Any) -> Any:
        """A float of Python's."""
        return self.reals(found, [])

    def warn_where(self, found: Any) -> None:
        """Notes where what is computed is no finite number: there NumPy may warn, of Python's floats too.

        It looks at the processor's flags after the elements, and a comparison with NaN sets one as well.
        """
        self.error_where(gpupy.logical_not(gpupy.isfinite(found)))

    # Functions.

    def numpys(self, ufunc: np.ufunc, values: list[Any]) -> Any:
        """A ufunc on Python's numbers: it gives NumPy's float64 or bool."""
        kinds = [self.kinds.of(value) if is_number(value) else None for value in values]
        if any(kind is None or kind is bool or not (is_whole(kind) or is_real(kind)) for kind in kinds):
            self._refuse(f"`{ufunc.__name__}` of these is not known to be NumPy's")
        if not any(kind is float or is_float64(kind) for kind in kinds):
            # Of ints, it is one of floats only if there is none of ints.
            dtypes = ufunc.resolve_dtypes((*[np.dtype(np.int64)] * len(values), None))
            if dtypes[0] != FLOAT:
                self._refuse(f"`{ufunc.__name__}` of ints is not known to be NumPy's")
        given = [self.exact(value) for value in values]
        found = self.ufunc(ufunc, given)
        if found.dtype not in (FLOAT, BOOL):
            self._refuse(f"`{ufunc.__name__}` gives {found.dtype}, which is not known to be NumPy's")
        if found.dtype == FLOAT:
            self.warn_where(found)
        return found

    def math(self, name: str, values: list[Any]) -> Any:
        """A function of ``math``: Python's float, int or bool."""
        for value in values:
            kind = self.kinds.of(value) if is_number(value) else None
            if kind is None or not (is_whole(kind) or is_real(kind)):
                self._refuse(f"`math.{name}` of {_said(value)} is not known to be Python's")
        if name in ("ceil", "floor", "trunc") and is_whole(self.kinds.of(values[0])):
            return Weak(int, self.whole(values[0]))
        given = [self.exact(value) for value in values]
        outside = _OUTSIDE.get(name)
        if outside is not None and len(given) == 1:
            self.error_where(outside(given[0]))
        if name == "log":
            for one in given:
                self.error_where(one <= 0)
        found = math_value(self, name, [Weak(float, one) if is_array(one) else float(one) for one in given])
        if name in _GROWING or len(given) == 2:
            result = found.array
            self.error_where(size_of(result) > HUGE)
            if len(given) == 2:
                self.warn_where(result)
        if name == "pow":
            self.small_where(found.array)
        return found

    def small_where(self, found: Any) -> None:
        """Notes where a power is so small that Python may say so."""
        size = size_of(found)
        self.error_where(gpupy.logical_and(size > 0, size < _TINY))

    def to(self, kind: Any, value: Any) -> Any:
        """A number as one of another kind: `int` and `float` of Python's, or NumPy's float64."""
        own = self.kinds.of(value) if is_number(value) else None
        if own is None or kind not in (int, float, FLOAT) or not (is_whole(own) or is_real(own)):
            if own is not None and is_flag(own) and kind is int:
                return Weak(int, self.whole(value))
            self._refuse(f"{_said(value)} as {kind} is not known to be Python's")
        if not is_array(value):
            return self._known(kind if isinstance(kind, type) else kind.type, [value])
        if kind is int and is_real(own):
            found = self.real(value)
            self.error_where(gpupy.logical_not(size_of(found) < WHOLE))
            return Weak(int, gpupy.trunc(found).astype(np.int64))
        if kind is int:
            return Weak(int, self.whole(value))
        found = self.real(value)
        return Weak(float, found) if kind is float else found

    def call(self, called: Any, values: list[Any], words: str) -> Any:
        """The result of a function."""
        if called is np.where or called is gpupy.where:
            self._refuse("`where` gives arrays, whatever is chosen")
        return super().call(called, values, words)

    def truth(self, value: Any) -> Any:
        """Whether a value is true: of others than numbers and words, that changes without a trace."""
        if not _is_plain(value):
            self._refuse(f"whether a {type(value).__name__} is true is not known")
        return super().truth(value)

    def _attribute(self, value: Any, name: str) -> Any:
        if is_array(value):
            self._refuse(f"`.{name}` of a number is not known to be Python's")
        # Where the look-up calls nothing, it is the attribute itself.
        found = inspect.getattr_static(value, name, self)
        if found is self or hasattr(type(found), "__get__"):
            self._refuse(f"`.{name}` of a {type(value).__name__} may do something")
        return super()._attribute(value, name)


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a word or nothing, or a tuple of such: these never change."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or is_number(value) or type(value) in (str, bytes)


def _said(value: Any) -> str:
    return str(value.dtype) if isinstance(value, gpupy.ndarray) else type(value).__name__


# Where functions of ``math`` raise errors, beside where their results are too large.
_OUTSIDE: dict[str, Callable[[Any], Any]] = {
    "acos": lambda x: size_of(x) > 1,
    "acosh": lambda x: x < 1,
    "asin": lambda x: size_of(x) > 1,
    "atanh": lambda x: size_of(x) >= 1,
    "cos": lambda x: size_of(x) > HUGE,
    "log10": lambda x: x <= 0,
    "log1p": lambda x: x <= -1,
    "log2": lambda x: x <= 0,
    "sin": lambda x: size_of(x) > HUGE,
    "sqrt": lambda x: x < 0,
    "tan": lambda x: size_of(x) > HUGE,
}
_GROWING = frozenset("cosh exp exp2 expm1 sinh".split())
