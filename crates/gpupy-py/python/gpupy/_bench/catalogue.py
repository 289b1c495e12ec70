"""The programs with their sizes and the numbers that they work on.

Owns ``Program``, the list of them, and the sizes of the sweep. Invariants: every array is float32; the same
name means the same numbers in every process. Not here: the texts (``programs``).
"""

import dataclasses
import functools
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from . import programs

SIZES = tuple(10**power for power in range(9))
QUICK_SIZES = SIZES[:4]
SWEPT = "2.5*x + y"

SEED = 1


@dataclasses.dataclass(frozen=True)
class Program:
    """One row of the table.

    ``text`` is the program's function in ``programs``, ``arrays()`` gives its operands as NumPy's arrays,
    and ``constants`` is what it takes after them. ``tolerance`` is how far a right result may lie from
    NumPy's, as a part of its largest value.
    """

    name: str
    text: Callable[..., Any]
    arrays: Callable[[], Iterable[Any]] = tuple
    constants: dict[str, Any] = dataclasses.field(default_factory=dict)
    tolerance: float = 1e-6

    def by(self, np: Any, arrays: Iterable[Any]) -> Callable[[], Any]:
        """The program by an array module, on its operands there: what gives an array, or a tuple of them."""
        return functools.partial(self.text, np, *arrays, **self.constants)


def swept(size: int) -> Program:
    """``2.5*x + y`` on arrays of a size."""

    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        x = numpy.linspace(0, 1, size, dtype=numpy.float32)
        return x, numpy.linspace(1, 2, size, dtype=numpy.float32)

    return Program(f"{SWEPT}, {count(size)}", programs.scaled_sum, arrays)


def catalogue(quick: bool = False) -> list[Program]:
    """All programs; with ``quick`` small ones, to see that all works."""

    def size(full: int, small: int) -> int:
        return small if quick else full

    middle, large, wide = size(512, 32), size(2048, 48), size(1000, 50)
    options, waves, rows = size(4_000_000, 4000), size(16_000_000, 16_000), size(100_000, 1000)
    return [
        _distances(middle, size(10, 3)),
        _distances(middle, size(100, 5)),
        _distances(large, size(50, 4)),
        _sphere(middle),
        _sphere(large),
        _absolute_sum(wide),
        _absolute_sum(size(4096, 64)),
        _black_scholes(options),
        _waves(waves),
        swept(waves),
        _life(wide),
        _image("5-tap convolution", programs.convolution, wide),
        # Where a pixel falls is a difference of large numbers: its last bits are those of the coordinates.
        _image("rotation by 10°", programs.rotation, wide, tolerance=1e-4),
        _columns(rows, 64),
        _product("matrix × vector", (wide, wide), (wide,)),
        _product("matrix × matrix", (wide, wide), (wide, wide)),
        _block_matching(size(512, 64)),
    ]


def count(number: int) -> str:
    """A number of elements as people say it."""
    if number >= 10 and str(number).strip("0") == "1":
        return "10" + str(len(str(number)) - 1).translate(_SUPERSCRIPTS) if number > 1000 else str(number)
    return f"{number // 1_000_000} M" if number % 1_000_000 == 0 else str(number)


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _random() -> numpy.random.Generator:
    return numpy.random.default_rng(SEED)


def _distances(size: int, points: int) -> Program:
    chance = random.Random(SEED)
    places = [(size * chance.random(), size * chance.random()) for _ in range(points)]
    name = f"distance map {size}², {points} points"
    return Program(name, programs.distance_map, constants={"size": size, "points": places})


def _sphere(size: int) -> Program:
    # A ray that only touches the sphere meets it where a root of nearly nothing says.
    return Program(f"shaded sphere {size}²", programs.shaded_sphere, constants={"size": size}, tolerance=1e-4)


def _absolute_sum(size: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        return (_random().standard_normal((size, size), dtype=numpy.float32),)

    return Program(f"sum of abs(x) {size}²", programs.absolute_sum, arrays, tolerance=1e-5)


def _black_scholes(size: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        chance = _random()
        return tuple(
            chance.uniform(low, high, size).astype(numpy.float32)
            for low, high in ((5, 30), (1, 100), (0.25, 10))
        )

    return Program(f"Black–Scholes {count(size)}", programs.black_scholes, arrays, tolerance=1e-5)


def _waves(size: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        return (numpy.linspace(-3, 3, size, dtype=numpy.float32),)

    return Program(f"sin(x)*exp(-x*x) {count(size)}", programs.sine_times_exponential, arrays)


def _life(size: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        return (_random().integers(0, 2, (size, size)).astype(numpy.float32),)

    return Program(f"Life {size}²", programs.life, arrays, tolerance=0.0)


def _image(name: str, text: Callable[..., Any], size: int, tolerance: float = 1e-6) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        return (_random().random((size, size), dtype=numpy.float32),)

    return Program(f"{name} {size}²", text, arrays, tolerance=tolerance)


def _columns(rows: int, columns: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        return (_random().normal(5, 2, (rows, columns)).astype(numpy.float32),)

    # NumPy adds the rows one by one, whose error grows with their number.
    return Program(
        f"column normalisation {rows}×{columns}", programs.column_normalisation, arrays, tolerance=1e-3
    )


def _product(name: str, *shapes: tuple[int, ...]) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        chance = _random()
        return tuple(chance.random(shape, dtype=numpy.float32) for shape in shapes)

    return Program(f"{name} {shapes[0][0]}²", programs.matrix_product, arrays, tolerance=1e-5)


def _block_matching(size: int) -> Program:
    def arrays() -> tuple[numpy.ndarray[Any, Any], ...]:
        # Whole numbers, whose sums are exact in any order: the shifts must be NumPy's.
        before = _random().integers(0, 256, (size, size)).astype(numpy.float32)
        return before, numpy.roll(before, (2, -1), (0, 1))

    constants = {"reach": 3, "block": 8}
    return Program(f"block matching {size}²", programs.block_matching, arrays, constants, tolerance=0.0)
