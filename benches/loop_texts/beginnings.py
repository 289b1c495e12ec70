"""What the loops begin with: arrays of NumPy for the side n of a square, the same in every process.

Not here: which loop begins with which (`grids`, `cells`, `matrices`, `rows`).
"""

import numpy


def _random(n, number):
    return numpy.random.default_rng([n, number])


def spot(n):
    """Zeros with ones in the middle."""
    values = numpy.zeros((n, n))
    values[n // 3 : n // 2, n // 3 : n // 2] = 1
    return values


def hill(n):
    """A smooth hill."""
    x = numpy.linspace(-2, 2, n)
    return numpy.exp(-(x[:, None] ** 2) - x**2)


def zeros(n):
    """Zeros."""
    return numpy.zeros((n, n))


def ones(n):
    """Ones."""
    return numpy.ones((n, n))


def noise(n, number=0):
    """Numbers from 0 to 1."""
    return _random(n, number).random((n, n))


def other_noise(n):
    """Other numbers from 0 to 1."""
    return noise(n, 1)


def line(n):
    """As many numbers in one dimension."""
    return _random(n, 2).random(n * n)


def zero_line(n):
    """As many zeros in one dimension."""
    return numpy.zeros(n * n)


def wave_line(n):
    """Two waves in one dimension."""
    return numpy.cos(numpy.linspace(0, 4 * numpy.pi, n * n, endpoint=False))


def vector(n):
    """Numbers along one side."""
    return _random(n, 3).random(n)


def bits(n):
    """A third of them 1."""
    return (_random(n, 4).random((n, n)) < 1 / 3).astype("u1")


def bit_line(n):
    """True or false in one dimension."""
    return _random(n, 5).random(n * n) < 0.5


def spins(n):
    """1 or -1."""
    return _random(n, 6).choice([-1, 1], (n, n))


def grains(n):
    """From none to seven grains."""
    return _random(n, 7).integers(0, 8, (n, n))


def matrix(n):
    """A matrix in which the diagonal outweighs the rest."""
    return _random(n, 8).random((n, n)) / n + numpy.eye(n)


def symmetric(n):
    """A positive definite matrix."""
    half = _random(n, 9).random((n, n)) / n
    return half @ half.T + numpy.eye(n)


def stochastic(n):
    """Columns that sum to 1."""
    values = noise(n, 10)
    return values / values.sum(axis=0)


def distances(n):
    """Lengths of roads, whole numbers."""
    return _random(n, 11).integers(1, 100, (n, n)).astype("f8")


def plane(n):
    """A part of the complex plane."""
    x = numpy.linspace(-2, 1, n)
    return x + 1j * numpy.linspace(-1.5, 1.5, n)[:, None]


def bodies(n):
    """Places or speeds in space."""
    return _random(n, 12).standard_normal((n, 3))


def autocorrelation(n):
    """Of a signal of n values."""
    return 0.7 ** numpy.arange(n) + (numpy.arange(n) == 0)


def directions(n):
    """Nine densities at each point, for the nine directions of a lattice gas."""
    weights = numpy.array([4 / 9, *[1 / 9] * 4, *[1 / 36] * 4])
    return weights[:, None, None] * (1 + 0.1 * hill(n))


def sites(n):
    """A row and a column for each point, near to it."""
    shift = _random(n, 13).integers(-3, 4, (2, n, n))
    return numpy.clip(numpy.indices((n, n)) + shift, 0, n - 1)
