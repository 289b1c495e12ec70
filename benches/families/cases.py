"""Programs of families at drawn sizes, by NumPy and by gpupy in turns: `Case`, and `drawn`, which gives them.

Owns the draw, the clock and the comparison. Invariants: both sides begin with the same arrays, which exist
before the clock starts; a run ends when every result is an array of NumPy; nothing of a run lives on into the
next one, which would be answered from it; the clock is the processor time of all threads, of which each side
has one. Not here: what a time has to be (`benches/families.py`).
"""

import math
import time
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy

import gpupy

from . import (
    Family,
    axes,
    groups,
    kinds,
    orders,
    others,
    products,
    rows,
    selections,
    stencils,
    steps,
    windows,
)
from .data import Data

# Programs join `FAMILIES` where their files are imported.
FILES = (rows, axes, windows, stencils, steps, selections, groups, orders, products, kinds, others)

# Elements of a case, between which a number is drawn.
ELEMENTS = (100_000, 300_000)
# All extents up to this one are timed where a curve is asked for.
DENSE = 20
# Runs before the clock starts: what was new in a first run is compiled well in a later one.
WARM = 3
# Each side's turn takes so many seconds at least, of which the fastest run counts.
TURN = 2e-3
ROUNDS = 5
# After so many seconds a case gets no further round.
PATIENCE = 2.0
# By the bytes of the narrowest float: as a part of each number, and of the largest. NumPy adds columns one
# row after another, so that its own error grows with their length.
TOLERANCE = {2: 3e-2, 4: 5e-4, 8: 1e-8}


class WrongError(Exception):
    """Values or dtypes that are not NumPy's."""


@dataclass(frozen=True)
class Case:
    """A program with its extent, its number of elements and its choices."""

    family: Family
    k: int
    n: int
    choices: dict[str, Any] = field(hash=False)
    seed: int

    def __str__(self):
        choices = "".join(f", {name}={value!r}" for name, value in self.choices.items())
        return f"{self.family.name}: k={self.k}, n={self.n}{choices}"

    def arrays(self):
        """What the program begins with."""
        return self.family.given(
            Data(numpy.random.default_rng(self.seed), self.n, self.choices["dtype"]), self.k
        )

    def results(self, module, arrays):
        """The arrays that the program gives, read."""
        choices = {name: value for name, value in self.choices.items() if name != "dtype"}
        made = self.family.run(module, self.k, *arrays, **choices)
        parts = made if isinstance(made, tuple | list) else (made,)
        return [numpy.asarray(part) for part in parts]

    def measured(self):
        """The least seconds of a run by NumPy and by gpupy; an error where values differ."""
        given = self.arrays()
        sides = [(numpy, given), (gpupy, [gpupy.array(each) for each in given])]
        with numpy.errstate(all="ignore"):
            wanted = self.results(*sides[0])
            for _ in range(WARM):
                check(wanted, self.results(*sides[1]), given)
            least = [float("inf")] * 2
            begun = time.process_time()
            for _ in range(ROUNDS):
                for side, (module, arrays) in enumerate(sides):
                    least[side] = min(least[side], self.turn(module, arrays))
                if time.process_time() - begun > PATIENCE:
                    break
            check(wanted, self.results(*sides[1]), given)
        return least

    def turn(self, module, arrays):
        """The fastest of a side's runs in a row; the first pays for the caches that the other side left."""
        self.results(module, arrays)
        least, begun = float("inf"), time.process_time()
        while time.process_time() - begun < TURN or least == float("inf"):
            start = time.process_time()
            made = self.results(module, arrays)
            least = min(least, time.process_time() - start)
            del made
        return least


def drawn(family, seed, number, elements=ELEMENTS, dense=False):
    """The cases of a family that this seed draws the numberth time: a centre and its neighbours, or each
    extent up to `DENSE` and those around powers of two."""
    own = [seed, number, zlib.crc32(family.name.encode())]
    rng = numpy.random.default_rng(own)
    least, most = max(family.least, 1), family.most
    k = min(round(math.exp(rng.uniform(math.log(least), math.log(most + 1)))), most)
    n = round(math.exp(rng.uniform(*map(math.log, elements))))
    choices = {name: values[rng.integers(len(values))] for name, values in family.choices.items()}
    power = 1 << k.bit_length()
    near = {k - 1, k, k + 1, k // 2, 2 * k, power - 1, power, power + 1}
    if dense:
        powers = [1 << bits for bits in range(most.bit_length())]
        near = {*range(DENSE + 1), *powers, *(p - 1 for p in powers), *(p + 1 for p in powers), most}
    extents = sorted(extent for extent in near if family.least <= extent <= most)
    places = [(extent, n) for extent in extents] + [(k, 2 * n)]
    return [Case(family, extent, size, choices, int(rng.integers(2**31))) for extent, size in places]


def check(wanted, found, given):
    """Raises an error unless the arrays are NumPy's: exactly, or floats up to roundings."""
    floats = [array.dtype for array in [*given, *wanted] if array.dtype.kind in "fc"]
    least = min((dtype.itemsize // (1 + (dtype.kind == "c")) for dtype in floats), default=8)
    for place, (theirs, ours) in enumerate(zip(wanted, found, strict=True)):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            raise WrongError(
                f"result {place} is {ours.dtype} of {ours.shape}, NumPy's is {theirs.dtype} of {theirs.shape}"
            )
        if numpy.array_equal(ours, theirs):
            continue
        if theirs.dtype.kind in "fc":
            finite = numpy.abs(theirs[numpy.isfinite(theirs)]).astype("f8")
            atol = TOLERANCE[least] * (finite.max() if finite.size else 0)
            if numpy.allclose(ours, theirs, rtol=TOLERANCE[least], atol=atol, equal_nan=True):
                continue
        differ = int((ours != theirs).sum())
        raise WrongError(f"{differ} of the {ours.size} values of result {place} are not NumPy's")
