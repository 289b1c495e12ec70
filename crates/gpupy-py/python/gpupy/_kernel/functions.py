"""Functions that are no ufuncs, on values: Python's own, ``np.where`` and ``np.clip``, NumPy's
types, ``math``.

Owns ``known``, ``arity`` and ``of_math``. Each takes the expressions that it is called in, which do
operations.

Not here: ufuncs and operators (``expressions.py``), functions that are inlined (``flow.py``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import gpupy

from .._gpupy import operation
from . import written
from .kinds import Weak, computed, dtype_of, is_array, is_number

_Does: TypeAlias = Callable[[Any, list[Any]], Any]

# Functions of ``math`` that are NumPy's of another name; the others have their own.
_OF_MATH = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "pow": "power",
}
_TO_INT = {"ceil", "floor", "trunc"}
_SAME = (
    "cbrt copysign cos cosh degrees exp exp2 expm1 fabs fmod hypot isfinite isinf isnan log log10 log1p log2"
)
_SAME += " nextafter radians sin sinh sqrt tan tanh"


def _math_functions() -> dict[Any, str]:
    names = [*_OF_MATH, *_SAME.split(), *_TO_INT]
    return {getattr(math, name): name for name in names if hasattr(math, name)}


_MATH = _math_functions()


def of_math(called: Any) -> str | None:
    """The name of a function of ``math``."""
    try:
        return _MATH.get(called)
    except TypeError:
        return None


def ufunc_of_math(name: str) -> np.ufunc:
    """NumPy's ufunc in the place of a function of ``math``."""
    found: np.ufunc = getattr(np, _OF_MATH.get(name, name))
    return found


def math_value(of: Any, name: str, values: list[Any]) -> Any:
    """The result of a function of ``math``: a float of Python's, an int, or a bool."""
    floats = [of.to(float, value) for value in values]
    if name == "log" and len(values) == 2:
        both = [math_value(of, "log", [value]) for value in floats]
        return of.operation(operator.truediv, np.true_divide, both)
    found = of.ufunc(ufunc_of_math(name), floats)
    if name in _TO_INT:
        return of.to(int, found)
    return of.as_bool(found) if found.dtype == np.bool_ else Weak(float, found)


def _extreme(op: Callable[..., Any], ufunc: np.ufunc) -> _Does:
    """Python's `min` and `max`: the first of those that no other is before."""

    def extreme(of: Any, values: list[Any]) -> Any:
        all_of = values[0] if len(values) == 1 else values
        if not isinstance(all_of, (list, tuple)) or not all_of:
            of.place.refuse("`min` and `max` take several numbers, or a tuple of them")
        [first, *others] = all_of
        for other in others:
            is_before = of.truth(of.operation(op, ufunc, [other, first]))
            first = of.chosen(is_before, other, first)
        return first

    return extreme


def _where(of: Any, values: list[Any]) -> Any:
    if len(values) != 3:
        of.place.refuse("`where` takes a condition and two values in a kernel")
    condition, value, other = values
    kind = of.kinds.common(of.kinds.of(value), of.kinds.of(other))
    dtype = dtype_of(kind)
    return of.choose(of.truth(condition), lambda: computed(value, dtype), lambda: computed(other, dtype))


def _clip(of: Any, values: list[Any]) -> Any:
    if len(values) != 3:
        of.place.refuse("`clip` takes a value and its limits in a kernel")
    value, low, high = values
    above = of.call(np.maximum, [value, low], "clip")
    return of.call(np.minimum, [above, high], "clip")


def _power(of: Any, values: list[Any]) -> Any:
    return of.operation(operator.pow, np.power, values)


def _divmod(of: Any, values: list[Any]) -> Any:
    quotient = of.operation(operator.floordiv, np.floor_divide, values)
    return quotient, of.operation(operator.mod, np.remainder, values)


def _absolute(of: Any, values: list[Any]) -> Any:
    return of.operation(abs, np.absolute, values)


def _length(of: Any, values: list[Any]) -> Any:
    if not isinstance(values[0], tuple):
        of.place.refuse("only tuples have a length in a kernel")
    return len(values[0])


def _rounded(of: Any, values: list[Any]) -> Any:
    [value] = values
    if not is_array(value):
        return of.operation(round, np.rint, values)
    is_whole = dtype_of(of.kinds.of(value)).kind in "iub"
    return of.to(int, value if is_whole else of.ufunc(np.rint, [of.to(float, value)]))


def _index(of: Any, values: list[Any]) -> Any:
    [value] = values
    if not is_number(value) or dtype_of(of.kinds.of(value)).kind not in "iub":
        of.place.refuse(f"an int is wanted, not {type(value).__name__}")
    return of.to(int, value)


def _outside(of: Any, values: list[Any]) -> None:
    of.error_where(of.truth(values[0]))


def _polynomial(of: Any, values: list[Any]) -> Any:
    x, coefficients = values
    if not is_array(x):
        return written.polynomial(x, coefficients)
    array = computed(of.to(float, x), float)
    return of.as_float(written.polynomial(array, coefficients))


def _is_by_squaring(of: Any, values: list[Any]) -> bool:
    is_of_ints = all(is_number(one) and dtype_of(of.kinds.of(one)).kind in "iu" for one in values)
    return is_of_ints and is_array(values[1])


def _numpys_ints(of: Any, values: list[Any]) -> Any:
    kinds = [of.kinds.of(one) for one in values]
    kinds = list(map(dtype_of, kinds)) if all(isinstance(kind, type) for kind in kinds) else kinds
    *_, dtype = np.power.resolve_dtypes((*kinds, None))
    if dtype.kind not in "iu":
        of.place.refuse(f"ints are wanted, not {dtype}")
    return tuple(computed(one, dtype) for one in values)


def _same_ints(of: Any, values: list[Any]) -> Any:
    is_weak = all(isinstance(of.kinds.of(one), type) for one in values)
    return tuple(values) if is_weak else _numpys_ints(of, values)


def _plain_numpys_power(of: Any, values: list[Any]) -> Any:
    return of.numpys(np.power, values) if any(map(is_array, values)) else np.power(*values)


_BUILTINS: dict[Any, _Does] = {
    abs: _absolute,
    divmod: _divmod,
    len: _length,
    max: _extreme(operator.gt, np.greater),
    min: _extreme(operator.lt, np.less),
    round: _rounded,
    operator.index: _index,
    written.is_by_squaring: _is_by_squaring,
    written.numpys_ints: _numpys_ints,
    written.outside: _outside,
    written.plain_numpys_power: _plain_numpys_power,
    written.plain_power: _power,
    written.polynomial: _polynomial,
    written.same_ints: _same_ints,
    np.where: _where,
    np.clip: _clip,
    bool: lambda of, values: of.as_bool(of.truth(values[0])),
    float: lambda of, values: of.to(float, values[0]),
    int: lambda of, values: of.to(int, values[0]),
    complex: lambda of, values: of.to(complex, values[0]) if len(values) == 1 else _complex(of, values),
}


# How many arguments these take; types take one.
_ARITY: dict[Any, tuple[int, int]] = {
    abs: (1, 1),
    divmod: (2, 2),
    len: (1, 1),
    round: (1, 1),
    operator.index: (1, 1),
    complex: (1, 2),
    max: (1, 255),
    min: (1, 255),
}


def _complex(of: Any, values: list[Any]) -> Any:
    if not any(map(is_array, values)):
        return complex(*values)
    parts = [computed(of.to(float, value), float) for value in values]
    arrays: list[Any] = [gpupy.asarray(part) for part in parts]
    return Weak(complex, operation("complex", arrays))


def arity(called: Any) -> tuple[int, int]:
    """The least and the greatest number of arguments of a known function."""
    return _ARITY.get(called, (1, 1) if isinstance(called, type) else (0, 255))


def known(called: Any) -> _Does | None:
    """The implementation of a function that is neither a ufunc nor one of ``math``."""
    try:
        found = _BUILTINS.get(called)
    except TypeError:
        return None
    if found is not None:
        return found
    if called is gpupy.where or called is gpupy.clip:
        return _where if called is gpupy.where else _clip
    if isinstance(called, type) and issubclass(called, np.generic):
        dtype = np.dtype(called)
        return lambda of, values: of.to(dtype, values[0])
    return None
