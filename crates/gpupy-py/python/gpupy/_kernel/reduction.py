"""``gpupy.reduction``: a function of each point, combined along axes by another function.

Owns ``Reduction``. The order is that of sums: the canonical tree of docs/ir.md, in which 256 points are
combined by 16 lanes. So a reduction by `+` of float32, float64 and int64 has the bits of `sum`, on every
driver.

Not here: the functions (``kernel.py``), reductions that drivers have themselves (``_compute/reductions.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gpupy

from .kernel import Kernel, kernel
from .source import OF_CALLERS, show

# The points of a step of the canonical tree, and its lanes.
_CHUNK, _LANES = 256, 16


class Reduction:
    """Maps points and combines them along axes: `gpupy.reduction` makes it."""

    def __init__(self, map: Callable[..., Any], combine: Callable[..., Any], identity: Any) -> None:
        self._map, self._combine = _kernel_of(map), _kernel_of(combine)
        self._identity = identity

    def __call__(self, *arrays: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
        """The mapped points of arrays, which broadcast, combined along these axes, or all of them (None).

        Gives an array, or a tuple of them where the functions give tuples. Raises ``ValueError`` where
        there is nothing to combine and no identity, ``AxisError`` for axes that there are not.
        """
        try:
            return self._called(arrays, axis, keepdims)
        except OF_CALLERS as error:
            show(error)
            raise

    def _called(self, arrays: tuple[Any, ...], axis: int | Sequence[int] | None, keepdims: bool) -> Any:
        mapped = self._map(*map(gpupy.asarray, arrays))
        parts = mapped if isinstance(mapped, tuple) else (mapped,)
        rank = parts[0].ndim
        axes: Any = range(rank) if axis is None else axis
        axes = (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)
        axes = gpupy.lib.array_utils.normalize_axis_tuple(tuple(axes), rank)
        kept = [place for place in range(rank) if place not in axes]
        shape = [1 if place in axes else extent for place, extent in enumerate(parts[0].shape)]
        extents = [parts[0].shape[place] for place in kept]
        count = math.prod(parts[0].shape[place] for place in axes)
        rows = tuple(part.transpose([*kept, *sorted(axes)]).reshape([*extents, count]) for part in parts)
        results = self._nothing(rows, extents) if count == 0 else self._reduced(rows)
        shaped = tuple(result.reshape(shape if keepdims else extents) for result in results)
        # Of all points, a scalar.
        shaped = tuple(result if result.ndim else result[()] for result in shaped)
        return shaped if isinstance(mapped, tuple) else shaped[0]

    def _nothing(self, rows: tuple[Any, ...], extents: list[int]) -> tuple[Any, ...]:
        if self._identity is None:
            raise ValueError("there is nothing to combine, and the reduction has no identity")
        given = self._identity if isinstance(self._identity, tuple) else (self._identity,)
        if len(given) != len(rows):
            raise ValueError(f"the identity has {len(given)} numbers for {len(rows)} that are combined")
        return tuple(gpupy.full(extents, one, row.dtype) for one, row in zip(given, rows, strict=True))

    def _reduced(self, rows: tuple[Any, ...]) -> tuple[Any, ...]:
        while (count := rows[0].shape[-1]) > 1:
            whole = count // _CHUNK * _CHUNK
            found = []
            if whole:
                found.append(self._step(_cut(rows, 0, whole, whole // _CHUNK)))
            if whole < count:
                found.append(self._step(_cut(rows, whole, count, 1)))
            rows = tuple(gpupy.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
        return tuple(row[..., 0] for row in rows)

    def _step(self, chunks: tuple[Any, ...]) -> tuple[Any, ...]:
        """One element for each chunk, which the last axis goes along."""
        count = chunks[0].shape[-1]
        lanes = tuple(part[..., :_LANES] for part in chunks)
        for first in range(_LANES, count, _LANES):
            lanes = self._onto(lanes, tuple(part[..., first : first + _LANES] for part in chunks))
        for half in (8, 4, 2, 1):
            if lanes[0].shape[-1] > half:
                others = tuple(part[..., half : 2 * half] for part in lanes)
                lanes = self._onto(tuple(part[..., :half] for part in lanes), others)
        return tuple(part[..., 0] for part in lanes)

    def _onto(self, lanes: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
        """The lanes, of which the first ones have others combined into them."""
        width = others[0].shape[-1]
        both = self._combine(*(part[..., :width] for part in lanes), *others)
        both = both if isinstance(both, tuple) else (both,)
        if len(both) != len(lanes):
            name, count = self._combine.__name__, 2 * len(lanes)
            raise TypeError(f"`{name}` gives {len(both)} numbers of {count}: half of them are wanted")
        if [part.dtype for part in both] != [part.dtype for part in lanes]:
            raise TypeError(
                f"`{self._combine.__name__}` gives other dtypes than it takes: its results are combined again"
            )
        if width == lanes[0].shape[-1]:
            return both
        rest = [part[..., width:] for part in lanes]
        return tuple(gpupy.concatenate(parts, axis=-1) for parts in zip(both, rest, strict=True))


def _kernel_of(function: Callable[..., Any]) -> Kernel:
    return function if isinstance(function, Kernel) else kernel(function)


def _cut(rows: tuple[Any, ...], start: int, stop: int, chunks: int) -> tuple[Any, ...]:
    parts = (row[..., start:stop] for row in rows)
    return tuple(part.reshape([*part.shape[:-1], chunks, (stop - start) // chunks]) for part in parts)


def reduction(map: Callable[..., Any], combine: Callable[..., Any], identity: Any = None) -> Reduction:
    """A reduction: ``map`` of each point, combined along axes by ``combine`` (Accelerator's general
    reduction).

    Both are functions for `gpupy.kernel`. ``map`` returns a number, or a tuple of them; ``combine`` takes
    the numbers of two points, those of the first before those of the second, and returns as many, of the
    same dtypes. It has to be associative and commutative, up to rounding, like sums: the order is that of
    sums. ``identity``: the result for no points, a number or a tuple.

        largest = gpupy.reduction(
            lambda x, i: (x, i),
            lambda x, i, y, j: (x, i) if x > y or (x == y and i < j) else (y, j),
        )
        value, place = largest(a, np.arange(a.size))
    """
    return Reduction(map, combine, identity)
