"""The kinds of Python's own numbers, and the common kind of two of them.

Owns ``PythonKinds``. Bools are ints, and an int is a float nowhere. A number that is an int on some ways and
a float on others is ``Either``, or ``EitherNumpys``, computed as a float.

Not here: operations on them (``python.py``), the kinds of NumPy's rules (``_kernel/kinds.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernel.kinds import Fixed, Kind, Kinds

# Smaller ints are floats, too.
EXACT = 2.0**53
FLOAT, BOOL = np.dtype(np.float64), np.dtype(np.bool_)


class Small(int):
    """The kind of ints that are constants of the text, and exact as floats."""


class Either(float):
    """The kind of a number that is a small int on some ways and a float on others."""


class EitherNumpys(Either):
    """The kind of a number that is a small int on some ways and NumPy's float64 on others."""


def _met() -> dict[frozenset[Any], Kind]:
    """The kind of a number that has one of two kinds, where there is one that is exact."""
    rows: list[tuple[Kind, str]] = [
        (Small, "bool"),
        (int, "bool Small"),
        (Either, "bool Small float"),
        (EitherNumpys, "bool Small float float64 Either"),
        (FLOAT, "float"),
        (BOOL, "bool"),
    ]
    met: dict[frozenset[Any], Kind] = {
        frozenset({_named(kind), of}): kind for kind, row in rows for of in row.split()
    }
    for kind, others in ((Either, "float"), (EitherNumpys, "float64")):
        met |= {frozenset({of, other}): kind for of in ("bool", "Small") for other in others.split()}
    return met | {frozenset({"Either", "float64"}): EitherNumpys}


def _named(kind: Kind) -> str:
    return kind.name if isinstance(kind, np.dtype) else kind.__name__


_MET = _met()


class PythonKinds(Kinds):
    """The kinds of Python's rules: its bools are ints, and an int is a float nowhere."""

    def of(self, value: Any) -> Kind:
        """The kind of a number, as if it were not known."""
        if isinstance(value, bool):
            return bool
        if type(value) is int:
            return Small if abs(value) < EXACT else int
        return super().of(value)

    def opened(self, kind: Kind) -> Kind:
        """The kind of numbers that are not known; an int that needs more bits than 64 stays known."""
        is_large = isinstance(kind, Fixed) and type(kind.value) is int and not has_room(kind.value)
        return kind if is_large else super().opened(kind)

    def common(self, one: Kind, other: Kind) -> Kind | None:
        """The kind of a number that has one of two kinds; None where none is exact."""
        if isinstance(one, np.dtype) and isinstance(other, np.dtype):
            # Counters of loops; others are refused where they are read.
            return super().common(one, other)
        return one if one is other else _MET.get(frozenset({_named(one), _named(other)}))


def has_room(value: int) -> bool:
    return -(2**63) <= value < 2**63


def is_small(kind: Kind) -> bool:
    """Whether ints of a kind are exact as floats."""
    return kind is bool or kind is Small


def is_whole(kind: Kind) -> bool:
    """Whether a kind is of Python's ints and bools."""
    return isinstance(kind, type) and issubclass(kind, int)


def is_real(kind: Kind) -> bool:
    """Whether a kind is of floats, Python's or NumPy's."""
    return kind is float or is_either(kind) or is_float64(kind)


def is_either(kind: Kind) -> bool:
    """Whether a kind is of numbers that are ints on some ways."""
    return isinstance(kind, type) and issubclass(kind, Either)


def is_numpys(kind: Kind) -> bool:
    """Whether numbers of a kind may be NumPy's."""
    return isinstance(kind, np.dtype) or kind is EitherNumpys


def is_float64(kind: Kind) -> bool:
    """Whether a kind is of NumPy's floats."""
    return isinstance(kind, np.dtype) and kind == FLOAT


def is_flag(kind: Kind) -> bool:
    """Whether a kind is of NumPy's bools."""
    return isinstance(kind, np.dtype) and kind == BOOL
