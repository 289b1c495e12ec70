"""Boxes of coordinates: how elements in C order lie in a shape.

Owns ``boxes`` and ``unit_of``. Invariant: the boxes of a range are its elements, one box after another,
each in C order.
"""

import math
from collections.abc import Iterator

Box = tuple[slice, ...]


def boxes(shape: tuple[int, ...], first: int, stop: int) -> Iterator[tuple[Box, int]]:
    """Boxes that are the elements from ``first`` to before ``stop`` in C order, each with how many it has."""
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    while first < stop:
        # The first axis along which a whole step is left.
        axis = next(axis for axis, step in enumerate(steps) if first % step == 0 and first + step <= stop)
        at = [first // step % extent for step, extent in zip(steps, shape, strict=True)]
        count = min((stop - first) // steps[axis], shape[axis] - at[axis])
        ends = [
            at[k] + 1 if k < axis else at[k] + count if k == axis else shape[k] for k in range(len(shape))
        ]
        starts = [0 if k > axis else at[k] for k in range(len(shape))]
        yield tuple(slice(start, end) for start, end in zip(starts, ends, strict=True)), count * steps[axis]
        first += count * steps[axis]


def unit_of(shape: tuple[int, ...], chunks: tuple[int, ...] | None, most: int) -> int:
    """How many elements to take at once: rows of whole chunks, as far as they are no more than ``most``; at
    least one.
    """
    unit = 1
    for axis in range(len(shape) - 1, -1, -1):
        if unit * shape[axis] > most:
            fitting = max(1, most // unit)
            chunk = min(chunks[axis], shape[axis]) if chunks else 1
            return unit * (fitting // chunk * chunk if fitting >= chunk else fitting)
        unit *= shape[axis]
    return max(unit, 1)
