"""Sorts, and the places of extremes: to the bit, with NaN, zeros of both signs, and many equal elements."""

import itertools
import math

import numpy as np
import pytest
from pairs import assert_same, check

import gpupy

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
).split()
SHAPES = [(1,), (7,), (300,), (5, 6), (3, 4, 5), (3, 0)]


def data(shape, dtype, seed=7):
    """Few numbers, many times each; of floats also NaN, infinities and zeros of both signs."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-5, 6, shape)
    if np.dtype(dtype).kind in "fc":
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40])
        numbers = np.where(rng.random(shape) < 0.4, rng.choice(special, shape), numbers)
        if dtype[0] == "c":
            with np.errstate(all="ignore"):
                numbers = numbers + 1j * rng.permutation(numbers.reshape(-1)).reshape(shape)
    with np.errstate(all="ignore"):
        return numbers.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_are_numpys_stable_ones(device, dtype):
    for shape in SHAPES:
        for axis in (-1, 0, None):
            values = data(shape, dtype)
            check(lambda xp: xp.sort(xp.asarray(values), axis, kind="stable"), f"{shape} {axis}")
            check(lambda xp: xp.argsort(xp.asarray(values), axis, kind="stable"), f"{shape} {axis}")


@pytest.mark.parametrize("dtype", DTYPES[:12])
def test_many_rows_of_a_vectors_length_and_beyond(dtype):
    """More elements than are searched at once: places of extremes, sorts and argsorts of each row."""
    gpupy._gpupy.reconfigure("cpu")
    for k in (1, 9, 15, 16, 17, 33, 64, 65, 100, 127, 128, 129, 257):
        values = data((140_000 // k, k), dtype, k)
        for name in ("argmin", "argmax"):
            check(lambda xp, name=name: getattr(xp.asarray(values), name)(axis=1), f"{name} {k}")
            part = np.s_[3:, k // 3 :]
            check(lambda xp, name=name: getattr(xp.asarray(values)[part], name)(axis=1), f"{k}")
        rows = values[:40]
        check(lambda xp: xp.sort(xp.asarray(rows), 1, kind="stable"), f"{k}")
        check(lambda xp: xp.argsort(xp.asarray(rows), 1, kind="stable"), f"{k}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_rows(driver, dtype):
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 256, 5000 * np.dtype(dtype).itemsize, np.uint8)
    values = bits.view(dtype) if dtype != "bool" else bits > 100
    check(lambda xp: xp.sort(xp.asarray(values), kind="stable"))
    check(lambda xp: xp.asarray(values).argsort(stable=True))


def test_the_method_sorts_in_place_also_views(device):
    def sorted_view(xp):
        a = xp.asarray(data((4, 9), "float32"))
        # Others leave the order of equal zeros open.
        assert a[:, ::2].sort(axis=0, kind="stable") is None
        a[1].sort(kind="stable")
        return a

    check(sorted_view)
    check(lambda xp: xp.asarray(data((9,), "int32")).sort(axis=1))
    check(lambda xp: xp.sort(xp.asarray(data((3, 4), "int32")), 2))
    check(lambda xp: xp.sort(xp.asarray(data((4,), "int32")), kind="bogo"))
    check(lambda xp: xp.sort(xp.asarray(3)))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_extreme_or_nan_wins(device, name):
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            check(
                lambda xp: getattr(xp, name)(xp.asarray(data(shape, dtype)), axis, keepdims=keepdims),
                f"{dtype} {shape} {axis} {keepdims}",
            )
    check(lambda xp: getattr(xp.asarray(data((3, 4), "float32")), name)(5))
    check(lambda xp: getattr(xp, name)(xp.asarray(data((3, 4), "float32")), 0, out=xp.zeros(4, xp.intp)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_results_of_exact_numbers(device, dtype):
    # The 256 elements of a chunk of complex128 are all that the tiny limits have room for.
    long = 200 if dtype == "complex128" else 700
    for shape, axis in itertools.product([(1,), (3, 4, 5), (2, long // 2), (long,)], (None, 0, -1)):
        values = np.random.default_rng(4).integers(0, 3, shape).astype(dtype)
        for name in ("cumsum", "cumprod"):
            check(lambda xp: getattr(xp, name)(xp.asarray(values), axis), f"{name} {shape} {axis}")
        check(lambda xp: xp.maximum.accumulate(xp.asarray(values), axis or 0), f"{shape} {axis}")
    values = np.random.default_rng(4).integers(0, 100, (40, 7)).astype(dtype)
    check(lambda xp: xp.add.accumulate(xp.asarray(values)))
    check(lambda xp: xp.asarray(values).cumsum(1, dtype=xp.int16))
    check(lambda xp: xp.asarray(values).cumsum(2))
    check(lambda xp: xp.cumsum(xp.asarray(values), 0, out=xp.zeros((40, 7))))


def test_running_extremes_keep_nan_and_zeros(device):
    values = data((3, 600), "float32")
    for name in ("maximum", "minimum"):
        check(lambda xp: getattr(xp, name).accumulate(xp.asarray(values), 1))


def test_long_running_sums_are_nearer_than_numpys(driver):
    values = np.random.default_rng(3).random(200_000).astype(np.float32)
    exact = np.cumsum(values.astype(np.float64))
    error = abs(np.asarray(gpupy.cumsum(gpupy.asarray(values))) - exact).max()
    assert error <= abs(np.cumsum(values) - exact).max()


def test_these_are_no_fallbacks(driver):
    # The host driver does sorts that a driver lacks.
    gpupy._gpupy.reconfigure(driver, strict=False)
    gpupy.reset_stats()
    a = gpupy.asarray(data((3, 50), "float32"))
    for result in (gpupy.sort(a), a.argsort(), a.cumsum(0), a.argmax(1), gpupy.minimum.accumulate(a)):
        np.asarray(result)
    assert gpupy.stats().fallbacks == 0


KNOWS_DESCENDING = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 5)


def backwards(values, axis):
    """The positions of a stable sort in descending order, with NaN behind all: by hand."""

    def row(numbers):
        key = [(math.isnan(x), 0 if math.isnan(x) else -x) for x in numbers.tolist()]
        return np.array(sorted(range(len(key)), key=key.__getitem__), int)

    return np.apply_along_axis(row, axis, values)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d[0] != "c"])
def test_sorts_in_descending_order_are_stable_with_nan_last(device, dtype):
    from gpupy._compute import sorting

    for shape in ((1,), (7,), (300,), (5, 6), (3, 4, 5)):
        for axis in (-1, 0):
            values = data(shape, dtype)
            places = backwards(values.astype(int) if dtype == "bool" else values, axis)
            wanted = np.take_along_axis(values, places, axis)
            rows = (gpupy.array(values), axis)
            recorded = sorting._rows(*rows, None, None, {"descending": True})
            for found, want in (
                (sorting._places(recorded, {"descending": True}), places),
                (sorting._sorted(recorded, {"descending": True}), wanted),
            ):
                # NumPy does sorts that a driver lacks.
                if found is not None:
                    assert_same(found, want)
            if KNOWS_DESCENDING:
                assert_same(gpupy.argsort(rows[0], axis, descending=True, stable=True), places)
                assert_same(gpupy.sort(rows[0], axis, descending=True, stable=True), wanted)
                rows[0].sort(axis, descending=True, stable=True)
                assert_same(rows[0], wanted)


def test_whether_descending_is_known_is_numpys_to_say():
    for call in (
        lambda xp, a: xp.sort(a, descending=False),
        lambda xp, a: xp.argsort(a, descending=True),
        lambda xp, a: xp.sort(a, descending=None),
        lambda xp, a: xp.sort(a, kind="stable", descending=True),
    ):
        check(lambda xp: call(xp, xp.array([2.0, 3.0, 1.0])))
