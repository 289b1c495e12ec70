"""Python's operators on its own numbers, and where they raise errors.

Owns ``OPERATIONS``, by the name of NumPy's ufunc. Each takes the expressions in which it stands, that name,
and values of which one is not known.

Not here: functions (``python.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import gpupy

from .._kernel.kinds import Kind, Weak, computed, is_array
from .python_kinds import BOOL, EXACT, Either, EitherNumpys, is_either, is_flag, is_numpys, is_whole

if TYPE_CHECKING:
    from .python import PythonExpressions

# Floats below it are int64 without their fractions, and ints whose floats are below it are int64.
WHOLE = 9.2e18
# Larger numbers may be beyond the largest float after rounding.
HUGE = 1e308
_MOST_POWER = 64


def size_of(value: Any) -> Any:
    return gpupy.absolute(value) if is_array(value) else np.absolute(value)


def _of(name: str, *given: Any) -> Any:
    """The result of a ufunc on arrays of one dtype, or on numbers of NumPy's."""
    with np.errstate(all="ignore"):
        return getattr(gpupy if any(map(is_array, given)) else np, name)(*given)


def _kinds(of: PythonExpressions, values: tuple[Any, ...]) -> list[Kind]:
    return [of.kinds.of(value) for value in values]


def _no_flags(of: PythonExpressions, name: str, values: tuple[Any, ...]) -> list[Kind]:
    kinds = _kinds(of, values)
    if any(map(is_flag, kinds)):
        of.place.refuse(f"`{name}` of NumPy's bools is not known to be Python's")
    return kinds


def _sum(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``+``, ``-`` and ``*``."""
    kinds = _no_flags(of, name, (one, other))
    if all(map(is_whole, kinds)):
        a, b = of.whole(one), of.whole(other)
        found = _of(name, a, b)
        of.error_where(_overflows(name, a, b, found))
        return Weak(int, found)
    if all(is_whole(kind) or is_either(kind) for kind in kinds):
        return _either(of, name, one, other)
    given = [of.real(one), of.real(other)]
    return of.reals(_of(name, *given), [one, other])


def _overflows(name: str, a: Any, b: Any, found: Any) -> Any:
    """Where an int needs more than 64 bits."""
    if name == "multiply":
        size = size_of(_of("multiply", computed(a, float), computed(b, float)))
        return size >= WHOLE
    if name == "subtract":
        return _of("bitwise_and", a ^ b, a ^ found) < 0
    return _of("bitwise_and", a ^ found, b ^ found) < 0


def _either(of: PythonExpressions, name: str, *values: Any) -> Any:
    """The result for numbers all of which may be ints."""
    given = [of.exact(value) for value in values]
    found = _of(name, *given)
    # As an int, it is no zero with a sign, and larger ones have more digits.
    of.error_where(gpupy.logical_not(size_of(found) < EXACT))
    if name in ("multiply", "negative"):
        of.error_where(gpupy.logical_and(found == 0, gpupy.signbit(found)))
    return Weak(EitherNumpys if any(map(is_numpys, _kinds(of, values))) else Either, found)


def _quotient(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``/``, of ints as well."""
    kinds = _no_flags(of, name, (one, other))
    is_of_ints = all(is_whole(kind) or is_either(kind) for kind in kinds)
    given = [of.exact(value) if is_of_ints else of.real(value) for value in (one, other)]
    of.error_where(given[1] == 0)
    return of.reals(_of(name, *given), [one, other])


def _floor(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``//`` and ``%``."""
    kinds = _no_flags(of, name, (one, other))
    if all(map(is_whole, kinds)):
        a, b = of.whole(one), of.whole(other)
        of.error_where(b == 0)
        if not isinstance(other, int) or other == -1:
            of.error_where(a == -(2**63))
        return Weak(int, _of(name, a, b))
    if all(is_whole(kind) or is_either(kind) for kind in kinds):
        of.place.refuse(f"`{name}` of what may be ints or floats is not known to be Python's")
    given = [of.real(one), of.real(other)]
    of.error_where(given[1] == 0)
    return of.reals(_of(name, *given), [one, other])


def _power(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``**``."""
    kinds = _no_flags(of, name, (one, other))
    if all(map(is_whole, kinds)) and not (type(other) is int and other < 0):
        return _power_of_ints(of, one, other)
    if all(is_whole(kind) or is_either(kind) for kind in kinds) and type(other) is not int:
        of.place.refuse("`**` of what may be ints or floats is not known to be Python's")
    if is_either(kinds[0]) and type(other) is int and other >= 0:
        of.place.refuse("`**` of what may be ints or floats is not known to be Python's")
    given = [of.exact(one), of.exact(other)]
    found = _of(name, *given)
    of.error_where(size_of(found) > HUGE)
    of.small_where(found)
    return of.reals(found, [one, other])


def _power_of_ints(of: PythonExpressions, one: Any, other: Any) -> Any:
    if type(other) is not int or other > _MOST_POWER:
        of.place.refuse("a power of ints by what is not known, or is large, is not known to be Python's")
    base = of.whole(one)
    result, square, left = np.int64(1), base, other
    size = _of("power", size_of(of.real(one)), np.float64(other))
    # Where the whole has room, so have its factors.
    of.error_where(size >= WHOLE)
    while left:
        if left & 1:
            result = _of("multiply", result, square)
        left >>= 1
        square = _of("multiply", square, square) if left else square
    return Weak(int, result) if is_array(result) else 1


def _bits(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``&``, ``|`` and ``^``."""
    kinds = _kinds(of, (one, other))
    if all(kind is bool or is_flag(kind) for kind in kinds):
        found = _of(name, *(computed(value, BOOL) for value in (one, other)))
        return Weak(bool, found) if all(kind is bool for kind in kinds) else found
    if not all(map(is_whole, kinds)):
        of.place.refuse(f"`{name}` takes ints")
    return Weak(int, _of(name, of.whole(one), of.whole(other)))


def _shift(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """``<<`` and ``>>``."""
    if not all(map(is_whole, _kinds(of, (one, other)))):
        of.place.refuse(f"`{name}` takes ints")
    a, by = of.whole(one), of.whole(other)
    of.error_where(by < 0)
    if name == "right_shift":
        return Weak(int, _of(name, a, _of("minimum", by, np.int64(63))))
    of.error_where(by >= 63)
    found = _of(name, a, by)
    of.error_where(_of("right_shift", found, by) != a)
    return Weak(int, found)


def _compared(of: PythonExpressions, name: str, one: Any, other: Any) -> Any:
    """Comparisons: ints with floats as they are."""
    kinds = _no_flags(of, name, (one, other))
    if all(map(is_whole, kinds)):
        return Weak(bool, _of(name, of.whole(one), of.whole(other)))
    given = [of.exact(one), of.exact(other)]
    # Each may set the processor's flag for NaN, also `==`, which CPython computes by `<` once it is hot.
    for each in given:
        of.error_where(_of("isnan", each))
    found = _of(name, *given)
    return found if any(map(is_numpys, kinds)) else Weak(bool, found)


def _negative(of: PythonExpressions, name: str, one: Any) -> Any:
    """``-``, and `abs`."""
    [kind] = _no_flags(of, name, (one,))
    if is_whole(kind):
        a = of.whole(one)
        of.error_where(a == -(2**63))
        return Weak(int, _of(name, a))
    if is_either(kind):
        return _either(of, name, one)
    given = [of.real(one)]
    return of.reals(_of(name, *given), [one])


def _positive(of: PythonExpressions, name: str, one: Any) -> Any:
    [kind] = _no_flags(of, name, (one,))
    return Weak(int, of.whole(one)) if kind is bool else one


def _inverted(of: PythonExpressions, name: str, one: Any) -> Any:
    [kind] = _kinds(of, (one,))
    if kind is bool or not is_whole(kind):
        of.place.refuse("`~` takes ints")
    return Weak(int, _of(name, of.whole(one)))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": _sum,
    "subtract": _sum,
    "multiply": _sum,
    "divide": _quotient,
    "floor_divide": _floor,
    "remainder": _floor,
    "power": _power,
    "left_shift": _shift,
    "right_shift": _shift,
    "bitwise_and": _bits,
    "bitwise_or": _bits,
    "bitwise_xor": _bits,
    "equal": _compared,
    "not_equal": _compared,
    "less": _compared,
    "less_equal": _compared,
    "greater": _compared,
    "greater_equal": _compared,
    "negative": _negative,
    "absolute": _negative,
    "positive": _positive,
    "invert": _inverted,
}
