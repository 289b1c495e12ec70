"""Elements that a mask selects while a function is recorded.

Owns ``Selection``. How many there are is known when the function is done again, and not before: so all
elements stay where they are, with the mask, operations on elements go on with all of them, and where the mask
selects them again for a write, they are in their places. For anything else a selection becomes the array that
it is, which reads the mask.

Not here: masks outside of recordings (``crates/gpupy-py/src/index``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import gpupy

from .._gpupy import jit as _own
from .._gpupy import snapshot


class Selection:
    """``array[mask]`` in a recording, where the mask has the array's shape."""

    def __init__(self, full: Any, mask: Any) -> None:
        # Both as they are now, whatever is written to them.
        self._full: Any = snapshot(full)
        kept: Any = snapshot(mask)
        self._mask, self._state = kept, _own.identity(kept)
        self._known: Any = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        own = getattr(gpupy, ufunc.__name__)
        if method == "__call__" and not kwargs and ufunc.nout == 1 and ufunc.signature is None:
            return self._computed(own, *inputs)
        outputs = kwargs.get("out", ())
        if outputs:
            kwargs["out"] = _actual(outputs)
        found = getattr(own, method)(*_actual(inputs), **kwargs)
        return self if len(outputs) == 1 and outputs[0] is self else found

    def _computed(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """A function of elements, of operands some of which are selected."""
        if all(self._goes_with(one) for one in inputs):
            return Selection(function(*[_full(one) for one in inputs]), self._mask)
        return function(*_actual(inputs))

    def _changed(self, function: Callable[..., Any], other: Any) -> Any:
        """Like ``_computed``, but in place, where that keeps the elements' dtype."""
        if self._goes_with(self) and self._goes_with(other):
            result = function(self._full, _full(other))
            if result.dtype == self._full.dtype:
                self._full = result
                return self
        _IN_PLACE[function](self.actual(), _actual(other))
        return self

    def _goes_with(self, other: Any) -> bool:
        """Whether an operand is a number, or is selected alike."""
        if type(other) is Selection:
            return self._known is None and other._known is None and other._state == self._state
        return isinstance(other, (int, float, complex, np.generic))

    def actual(self) -> Any:
        """The selected elements as an array, which takes the mask's elements."""
        if self._known is None:
            self._known = _own.select(self._full, self._mask)
            self._full = self._mask = None
        return self._known

    def put(self, target: Any, mask: Any) -> None:
        """Writes the elements where a mask selects them."""
        if self._known is None and _own.identity(mask) == self._state and target.shape == self._full.shape:
            target[...] = gpupy.where(self._mask, self._full.astype(target.dtype), target)
        else:
            target[mask] = self.actual()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.actual(), name)

    def __matmul__(self, other: Any) -> Any:
        return self.actual() @ _actual(other)

    def __rmatmul__(self, other: Any) -> Any:
        return _actual(other) @ self.actual()

    # As of arrays.
    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.actual(), dtype=dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_actual(args), **{name: _actual(value) for name, value in kwargs.items()})

    def __len__(self) -> int:
        return len(self.actual())

    def __iter__(self) -> Any:
        return iter(self.actual())

    def __getitem__(self, key: Any) -> Any:
        return self.actual()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.actual()[key] = value

    def __bool__(self) -> bool:
        return bool(self.actual())

    def __float__(self) -> float:
        return float(self.actual())

    def __int__(self) -> int:
        return int(self.actual())

    def __repr__(self) -> str:
        return repr(self.actual())

    def __str__(self) -> str:
        return str(self.actual())

    def __format__(self, spec: str) -> str:
        return format(self.actual(), spec)


def _actual(value: Any) -> Any:
    """An argument with selections turned into arrays."""
    if type(value) is Selection:
        return value.actual()
    if type(value) in (tuple, list):
        return type(value)(_actual(item) for item in value)
    return value


def _full(value: Any) -> Any:
    """All elements among which those of a selection are."""
    return value._full if type(value) is Selection else value


_TWO = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()
_IN_PLACE = {getattr(operator, name): getattr(operator, f"i{name.rstrip('_')}") for name in _TWO}


def _define() -> None:
    """Gives selections the operators of arrays."""

    def forward(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: self._computed(function, self, other)

    def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: self._computed(function, other, self)

    def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: self._changed(function, other)

    def alone(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self: self._computed(function, self)

    for name in _TWO:
        function, bare = getattr(operator, name), name.rstrip("_")
        setattr(Selection, f"__{bare}__", forward(function))
        setattr(Selection, f"__r{bare}__", reflected(function))
        setattr(Selection, f"__i{bare}__", in_place(function))
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        setattr(Selection, f"__{name}__", forward(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Selection, f"__{name}__", alone(getattr(operator, name)))


_define()
