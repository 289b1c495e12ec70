"""The numbers of a function that is being compiled, and their joins where control flow meets.

A *value* is a constant of Python's or NumPy's, an array of gpupy's that stands for a number (its dtype is the
number's), a ``Weak`` number, or a tuple of values. A *kind* says what is known of a value without its number:
a dtype; a class for Python's own numbers (``int``, ``float``, ``complex``); ``Fixed`` for what is known in
full; or a tuple of kinds. ``Kinds`` says which kind a number has, and what two of them promote to: NEP 50's
rules, by which Python's numbers take the other operand's dtype, its bools are NumPy's, and its ints are
computed as int64.

Not here: which ways meet (``segments.py``), the rules of Python's own numbers (``_vectorize/python.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import gpupy

from .._gpupy import argument

# As which dtype Python's own numbers are computed.
_COMPUTED = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
_RANK = {int: 0, float: 1, complex: 2}


@dataclass(frozen=True)
class Weak:
    """A number of Python's own that is not known."""

    kind: type
    array: Any


@dataclass(frozen=True, eq=False)
class Fixed:
    """The kind of a known value: a number, a tuple, or any other Python object."""

    value: Any


Kind: TypeAlias = Any


def key(kind: Kind) -> Any:
    """A key for kinds: to NumPy, `float` and its dtype, which are two kinds, are equal."""
    if isinstance(kind, tuple):
        return tuple(map(key, kind))
    if not isinstance(kind, Fixed):
        return type(kind), kind
    value = kind.value
    if isinstance(value, int) or not isinstance(value, (float, complex, np.generic)):
        return Fixed, type(value), value if isinstance(value, int) else id(value)
    # Zeros of both signs are two numbers.
    return Fixed, type(value), np.asarray(value).tobytes()


def is_array(value: Any) -> bool:
    """Whether a value is a number that is not known."""
    return isinstance(value, (Weak, gpupy.ndarray))


def is_number(value: Any) -> bool:
    """Whether a value is a number, known or not."""
    return is_array(value) or isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def dtype_of(kind: Kind) -> np.dtype[Any]:
    """As which dtype numbers of a kind are computed."""
    if not isinstance(kind, type):
        return kind
    return np.dtype(next(_COMPUTED[base] for base in kind.__mro__ if base in _COMPUTED))


def kind_of(value: Any) -> Kind:
    """The kind of a value."""
    if isinstance(value, tuple):
        return tuple(kind_of(part) for part in value)
    if isinstance(value, Weak):
        return value.kind
    return value.dtype if is_array(value) else Fixed(value)


class Kinds:
    """The kinds of NumPy's rules."""

    def of(self, value: Any) -> Kind:
        """The kind of a number, as if it were not known."""
        if isinstance(value, Weak):
            return value.kind
        if isinstance(value, (bool, np.bool_)):
            return np.dtype(np.bool_)
        if isinstance(value, (np.generic, gpupy.ndarray)):
            return value.dtype
        return type(value)

    def opened(self, kind: Kind) -> Kind:
        """The kind of numbers of which it is not known which they are."""
        if isinstance(kind, tuple):
            return tuple(map(self.opened, kind))
        if not isinstance(kind, Fixed):
            return kind
        if isinstance(kind.value, tuple):
            return tuple(self.opened(Fixed(part)) for part in kind.value)
        return self.of(kind.value) if is_number(kind.value) else kind

    def common(self, one: Kind, other: Kind) -> Kind | None:
        """The kind to which numbers of both kinds promote; None where there is none."""
        if isinstance(one, type) and isinstance(other, type):
            return max(one, other, key=_RANK.__getitem__)
        if isinstance(one, type):
            one, other = other, one
        try:
            return np.result_type(one, other(0) if isinstance(other, type) else other)
        except TypeError:
            return None

    def meet(self, one: Kind, other: Kind) -> Kind | None:
        """The kind of a value that comes with either kind; None where a value cannot."""
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            parts = tuple(self.meet(*both) for both in zip(one, other, strict=True))
            return None if any(part is None for part in parts) else parts
        if key(one) == key(other):
            return one
        if isinstance(one, tuple) or isinstance(other, tuple):
            return None
        both = [self.opened(kind) for kind in (one, other)]
        if any(isinstance(kind, (Fixed, tuple)) for kind in both):
            return None
        met = self.common(*both)
        # NumPy refuses an int that the other's dtype does not hold; where ways meet, there is room for both.
        known = [kind.value for kind in (one, other) if isinstance(kind, Fixed)]
        is_too_narrow = isinstance(met, np.dtype) and any(is_outside(value, met) for value in known)
        return np.result_type(met, np.int64) if is_too_narrow else met

    def chosen(self, mask: Any, value: Any, other: Any) -> Any:
        """The first value where the mask holds, and the other elsewhere; None where no kind has both."""
        kind = self.meet(kind_of(value), kind_of(other))
        return None if kind is None else _chosen(mask, value, other, kind)


NUMPYS = Kinds()


def is_outside(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value is an int of Python's that an integer dtype does not hold."""
    if type(value) is not int or dtype.kind not in "iu":
        return False
    return not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def computed(value: Any, kind: Kind) -> Any:
    """A number as an array of the dtype in which its kind is computed."""
    dtype = dtype_of(kind)
    if isinstance(value, Weak):
        value = value.array
    if isinstance(value, gpupy.ndarray):
        return value if value.dtype == dtype else value.astype(dtype)
    if type(value) is int and dtype == np.int64:
        # Python's ints wrap where they are computed.
        value = (value + 2**63) % 2**64 - 2**63
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)[()]


def of_kind(array: Any, kind: Kind) -> Any:
    """An array of the dtype in which a kind is computed, as a value of that kind."""
    return Weak(kind, array) if isinstance(kind, type) else array


def cast(value: Any, kind: Kind) -> Any:
    """A value as one of a kind to which its own promotes."""
    if isinstance(kind, tuple):
        return tuple(cast(*both) for both in zip(value, kind, strict=True))
    return value if isinstance(kind, Fixed) else of_kind(computed(value, kind), kind)


def _chosen(mask: Any, value: Any, other: Any, kind: Kind) -> Any:
    if isinstance(kind, tuple):
        return tuple(_chosen(mask, *three) for three in zip(value, other, kind, strict=True))
    if isinstance(kind, Fixed) or value is other:
        return value
    return of_kind(gpupy.where(mask, computed(value, kind), computed(other, kind)), kind)


def unknown(kind: Kind) -> tuple[Any, list[Any]]:
    """A value of a kind of which nothing else is known, and the arguments that stand for its numbers."""
    if isinstance(kind, Fixed):
        return kind.value, []
    if isinstance(kind, tuple):
        parts = [unknown(part) for part in kind]
        return tuple(value for value, _ in parts), [one for _, own in parts for one in own]
    array = argument(dtype_of(kind))
    return of_kind(array, kind), [array]


def numbers(value: Any, kind: Kind) -> list[Any]:
    """The arrays of a value's numbers that its kind leaves open, in the order of ``unknown``."""
    if isinstance(kind, Fixed):
        return []
    if isinstance(kind, tuple):
        return [one for both in zip(value, kind, strict=True) for one in numbers(*both)]
    return [computed(value, kind)]


def leaves(kind: Kind) -> list[np.dtype[Any]]:
    """The dtypes of the numbers that a kind leaves open."""
    if isinstance(kind, Fixed):
        return []
    if isinstance(kind, tuple):
        return [dtype for part in kind for dtype in leaves(part)]
    return [dtype_of(kind)]
