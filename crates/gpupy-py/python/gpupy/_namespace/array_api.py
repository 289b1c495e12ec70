"""What the namespace of the Array API gives: arrays where NumPy gives scalars.

Owns ``Array``, and ``found``, which finds the names. Not here: the public module, which keeps what was found
(``gpupy/array_api.py``): names of NumPy's hide those of Python's there.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

import gpupy

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Array(gpupy.ndarray):
    """An array of gpupy's whose elements and sums are arrays without axes."""

    __module__ = "gpupy.array_api"

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        if all(isinstance(part, int | np.integer) for part in keys):
            # What would be a number is an array of no axes then, also of one that is pending.
            return super().__getitem__((*keys, ...))
        return _as_array(super().__getitem__(key))

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return map(self.__getitem__, range(len(self)))


def namespace(api_version: str | None = None) -> types.ModuleType:
    """The namespace. Raises ``ValueError`` for versions that it does not know."""
    if api_version is not None and api_version not in _VERSIONS:
        known = ", ".join(_VERSIONS)
        raise ValueError(f"gpupy: version {api_version!r} of the Array API is not one of {known}")
    return gpupy.array_api


def _as_array(found: Any) -> Any:
    """Results of gpupy's functions as arrays of this namespace, also inside of tuples and lists."""
    kind = type(found)
    if kind is gpupy.ndarray:
        return found.view(Array)
    if kind is gpupy.scalar:
        return found._array().view(Array)
    if isinstance(found, np.generic):
        return gpupy.asarray(found).view(Array)
    if kind is list:
        return list(map(_as_array, found))
    if isinstance(found, tuple):
        parts = map(_as_array, found)
        return kind(*parts) if hasattr(found, "_fields") else tuple(parts)
    return found


def _adapted(function: Any) -> Any:
    """A function that gives arrays of this namespace."""

    @functools.wraps(function, updated=())
    def adapted(*args: Any, **kwargs: Any) -> Any:
        return _as_array(function(*args, **kwargs))

    return adapted


# Functions whose arguments or results the standard has otherwise than NumPy.


def _argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The positions that sort an array along an axis; equal elements keep their order if it is stable."""
    if not descending:
        return gpupy.argsort(x, axis=axis, stable=stable)
    # Backwards twice, so that equal elements keep their order.
    backwards = gpupy.argsort(gpupy.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - gpupy.flip(backwards, axis=axis)


def _broadcast_arrays(*arrays: Any) -> list[Any]:
    """The arrays in their common shape."""
    return list(gpupy.broadcast_arrays(*arrays))


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """The elements, none of them less than `min` or larger than `max`."""
    return gpupy.clip(x, min, max)


def _fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a discrete Fourier transform of `n` samples at a distance of `d`."""
    return gpupy.fft.fftfreq(n, d, device=device).astype(dtype or gpupy.float64)


def _meshgrid(*arrays: Any, indexing: Any = "xy") -> list[Any]:
    """The coordinates of the points of a grid, by axis."""
    return list(gpupy.meshgrid(*arrays, indexing=indexing))


def _rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The same of a transform of real samples."""
    return gpupy.fft.rfftfreq(n, d, device=device).astype(dtype or gpupy.float64)


def _sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """An array sorted along an axis."""
    ascending = gpupy.sort(x, axis=axis, stable=stable)
    return gpupy.flip(ascending, axis=axis) if descending else ascending


_OTHERWISE = {
    "argsort": _argsort,
    "broadcast_arrays": _broadcast_arrays,
    "clip": _clip,
    "fftfreq": _fftfreq,
    "meshgrid": _meshgrid,
    "rfftfreq": _rfftfreq,
    "sort": _sort,
}


class _Part(types.ModuleType):
    """A part of NumPy's namespace whose functions give arrays of this one."""

    def __init__(self, name: str) -> None:
        self._of = getattr(gpupy, name)
        super().__init__(f"gpupy.array_api.{name}", self._of.__doc__)

    def __getattr__(self, name: str) -> Any:
        value = _of(self._of, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return dir(self._of)


def found(name: str) -> Any:
    """What the namespace has by this name: gpupy's, if NumPy has it, too."""
    if name in ("linalg", "fft"):
        return _Part(name)
    if not hasattr(np, name):
        raise AttributeError(f"module 'gpupy.array_api' has no attribute {name!r}", name=name)
    return _of(gpupy, name)


def _of(module: types.ModuleType, name: str) -> Any:
    value = _OTHERWISE.get(name) or getattr(module, name)
    return _adapted(value) if callable(value) and not isinstance(value, type) else value
