"""The arrays that programs of families begin with: `Data`.

Owns random arrays of any shape with a given number of elements in all. Invariant: the same generator, number
and dtype make the same arrays. Not here: which arrays a program takes (beside the program).
"""

import numpy


class Data:
    """Makes arrays for a program of `n` elements."""

    def __init__(self, rng, n, dtype):
        self.rng = rng
        self.n = n
        self.dtype = numpy.dtype(dtype)

    def numbers(self, *shape):
        """Uniform numbers from 0 to 1 of the drawn dtype; of integers, from 0 to 99; of complex ones, two."""
        if self.dtype.kind in "iu":
            return self.rng.integers(0, 100, shape).astype(self.dtype)
        if self.dtype.kind == "c":
            return (self.rng.random(shape) + 1j * self.rng.random(shape)).astype(self.dtype)
        return self.rng.random(shape).astype(self.dtype)

    def normal(self, *shape):
        """Normally distributed numbers of the drawn dtype."""
        return self.rng.standard_normal(shape).astype(self.dtype)

    def places(self, end, *shape, dtype="int64"):
        """Integers from 0 to before `end`."""
        return self.rng.integers(0, end, shape).astype(dtype)

    def mask(self, share, *shape):
        """True for so large a share."""
        return self.rng.random(shape) < share

    def rows(self, k):
        """Rows of k numbers."""
        return self.numbers(self.n // k, k)

    def line(self):
        """All numbers in one row."""
        return self.numbers(self.n)

    def side(self, axes, of=1):
        """The extent of each of so many axes, a multiple of `of`."""
        return max(1, round(self.n ** (1 / axes)) // of) * of

    def grid(self, axes=2, of=1):
        """A grid with the same extent along each axis, a multiple of `of`."""
        return self.numbers(*[self.side(axes, of)] * axes)
