"""Simplified expressions have NumPy's bits: for each dtype, with few elements and with many."""

import numpy
import pytest

import gpupy

FLOATS = ["float16", "float32", "float64"]
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
MANY = 10_000


def floats(dtype):
    found = numpy.random.default_rng(5).normal(0, 50, MANY)
    found[:12] = [0.0, -0.0, 1, -1, 2, -2.5, numpy.inf, -numpy.inf, numpy.nan, 0.5, 1000, -7]
    return found.astype(dtype)


def integers(dtype):
    ends = numpy.iinfo(dtype)
    found = numpy.random.default_rng(5).integers(ends.min, ends.max, MANY, dtype, endpoint=True)
    found[:5] = [0, 1, 7, ends.min, ends.max]
    return found


def same(dtype, values, operations):
    for count in [12, MANY]:
        given = values(dtype)[:count]
        pair = given[::-1].copy()
        x, y = gpupy.asarray(given), gpupy.asarray(pair)
        for name, operation in operations.items():
            with numpy.errstate(all="ignore"):
                want = operation(numpy, given, pair)
                got = numpy.asarray(operation(gpupy, x, y))
            assert got.dtype == want.dtype, (dtype, name)
            # NaN is NaN; of zeros the sign counts.
            numpy.testing.assert_array_equal(got, want, err_msg=f"{dtype}: {name}")
            if want.dtype.kind == "f":
                numbers = ~numpy.isnan(want)
                signs = numpy.signbit(got) == numpy.signbit(want)
                assert signs[numbers].all(), (dtype, name)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_of_floats_with_few_digits_are_exact(driver, dtype):
    operations = {
        f"x ** {exponent}": lambda xp, x, y, exponent=exponent: x**exponent
        for exponent in [0, 1, 2, -1, 0.5, 0.0, -0.0, 1.0, 2.0, -1.0]
    }
    operations["square of a sum"] = lambda xp, x, y: (x + y) ** 2
    same(dtype, floats, operations)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_changes_nothing_in_a_float_leaves_every_bit(driver, dtype):
    operations = {
        "x / 4": lambda xp, x, y: x / 4,
        "x / 0.25": lambda xp, x, y: x / 0.25,
        "x / -1": lambda xp, x, y: x / -1,
        "x * 1 + 0.0": lambda xp, x, y: x * 1 + 0.0,
        "x + -0.0": lambda xp, x, y: x + -0.0,
        "x - 0.0": lambda xp, x, y: x - 0.0,
        "0.0 - x": lambda xp, x, y: 0.0 - x,
        "-0.0 - x": lambda xp, x, y: -0.0 - x,
        "x * -1": lambda xp, x, y: x * -1,
        "negative(-x)": lambda xp, x, y: xp.negative(-x),
        "abs(-x)": lambda xp, x, y: abs(-x),
        "x - x": lambda xp, x, y: x - x,
        "x * 0": lambda xp, x, y: x * 0,
        "roots": lambda xp, x, y: xp.minimum(xp.sqrt(x), xp.sqrt(y)),
        "greatest root": lambda xp, x, y: xp.maximum(xp.sqrt(x), xp.sqrt(y)),
        "negatives": lambda xp, x, y: xp.maximum(-x, -y),
        "not less": lambda xp, x, y: ~(x < y),
        "not equal": lambda xp, x, y: ~(x == y),
        "by way of float64": lambda xp, x, y: x.astype("f8").astype(dtype),
        "to int32": lambda xp, x, y: x.astype("f8").astype("i4"),
    }
    same(dtype, floats, operations)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_what_is_simpler_in_integers_leaves_every_bit(driver, dtype):
    operations = {
        "x // 4": lambda xp, x, y: x // 4,
        "x % 8": lambda xp, x, y: x % 8,
        "x // 1 + x % 1": lambda xp, x, y: x // 1 + x % 1,
        "0 - x": lambda xp, x, y: 0 - x,
        "negative(-x)": lambda xp, x, y: xp.negative(-x),
        "abs(-x)": lambda xp, x, y: abs(-x),
        "x ^ x": lambda xp, x, y: x ^ x,
        "x & x | 0": lambda xp, x, y: x & x | 0,
        "~~x": lambda xp, x, y: ~~x,
        "not less": lambda xp, x, y: ~(x < y),
        "x == x": lambda xp, x, y: x == x,  # noqa: PLR0124
        "x ** 3": lambda xp, x, y: x**3,
        "by way of int64": lambda xp, x, y: x.astype("i8").astype(dtype),
        "by way of float64": lambda xp, x, y: x.astype("f8").astype("i1"),
        "by way of int8": lambda xp, x, y: x.astype("i1").astype(dtype),
        "to bool": lambda xp, x, y: x.astype("f4").astype("?"),
    }
    same(dtype, integers, operations)
