"""Bits in bytes, elements chosen by number, and sums over short windows: they are NumPy's, on any driver."""

import numpy as np
import pytest
from pairs import check

import gpupy

SHAPES = {
    (1,): (None, 0),
    (9,): (None, -1),
    (16,): (None, 0),
    (5, 10): (None, 0, 1),
    (3, 4, 17): (None, 1, -1),
}


@pytest.mark.parametrize("order", ["big", "little"])
def test_bits_in_bytes(forbidding, order):
    rng = np.random.default_rng(1)
    for shape, axes in SHAPES.items():
        for axis in axes:
            for dtype in ("bool", "int8", "uint16", "int64"):
                few = rng.integers(0, 3, shape).astype(dtype)
                said = f"{dtype} {shape} {axis}"
                check(lambda xp: xp.packbits(xp.asarray(few), axis, order), said)
                check(lambda xp: xp.packbits(xp.asarray(few)[::-1], axis=axis, bitorder=order), said)
            packed = rng.integers(0, 256, shape).astype("u1")
            for count in (None, 0, 3, -3, 200, -8):
                check(
                    lambda xp: xp.unpackbits(xp.asarray(packed), axis, count, order),
                    f"{shape} {axis} {count}",
                )


def test_refused_bits_are_numpys(auto):
    for call in (
        lambda xp: xp.packbits(xp.ones(3)),
        lambda xp: xp.packbits(xp.ones(3, int), 1),
        lambda xp: xp.packbits(xp.ones(3, int), bitorder="middle"),
        lambda xp: xp.packbits(xp.ones((0, 3), int), axis=1),
        lambda xp: xp.unpackbits(xp.ones(3, int)),
        lambda xp: xp.unpackbits(xp.ones(3, "u1"), count=-30),
        lambda xp: xp.unpackbits(xp.ones(3, "u1"), count=1.5),
    ):
        check(call)


def test_elements_by_number(forbidding):
    number = np.random.default_rng(2).integers(0, 3, (4, 5))
    arrays = number + np.arange(3).reshape(3, 1, 1) * 10
    cases = [("raise", number), ("wrap", number * 7 - 9), ("clip", number * 3 - 2)]
    for mode, given in [*cases, ("raise", number - 1), ("raise", number + 1)]:
        check(
            lambda xp: xp.choose(xp.asarray(given), [xp.asarray(number), xp.arange(5.0), 3], mode=mode), mode
        )
        check(lambda xp: xp.asarray(given).choose(xp.arange(3), mode=mode), mode)
        check(lambda xp: xp.asarray(given).choose(7, xp.arange(5), 3.5, mode=mode), mode)
        check(lambda xp: xp.choose(xp.asarray(given).astype("i1"), xp.asarray(arrays), mode=mode), mode)
    check(lambda xp: xp.choose(xp.asarray(number) * 0, [xp.arange(5)]))


def test_other_choices_are_numpys(auto):
    for call in (
        lambda xp: xp.choose(xp.asarray([0, 1]), [xp.arange(2), xp.arange(3)]),
        lambda xp: xp.choose(xp.asarray([0, 1]), []),
        lambda xp: xp.choose(xp.asarray([0]), xp.asarray(5)),
        lambda xp: xp.choose(xp.asarray([0.5, 1]), [1, 2]),
        lambda xp: xp.choose(xp.asarray([0, 1]), [1, 2], mode="turn"),
        lambda xp: xp.choose(xp.asarray([0, 1]), [1, 2], out=xp.zeros(2, int)),
        lambda xp: xp.asarray([True, False]).choose([3, xp.arange(2)]),
    ):
        check(call)


# Of whole numbers sums have the same bits in any order.
@pytest.mark.parametrize("dtype", "int8 uint8 int32 uint64 float32 float64 complex64 complex128".split())
def test_sums_over_short_windows(forbidding, dtype):
    rng = np.random.default_rng(3)
    for length in (1, 2, 5, 30):
        for short in (1, 2, 3, 12, 40) if forbidding in ("cpu", "soft") else (3,):
            row, kernel = rng.integers(-9, 9, length).astype(dtype), rng.integers(-9, 9, short).astype(dtype)
            if dtype[0] == "c":
                row, kernel = row + 1j * row[::-1], kernel - 2j * kernel[::-1]
            for mode in ("full", "same", "valid"):
                for name in ("convolve", "correlate"):
                    said = f"{name} {length} {short} {mode}"
                    check(lambda xp: getattr(xp, name)(xp.asarray(row), xp.asarray(kernel), mode), said)
                    check(lambda xp: getattr(xp, name)(xp.asarray(row)[::-1], kernel.tolist(), mode), said)


def test_windows_beyond_the_ends_have_no_terms(auto):
    rng = np.random.default_rng(4)
    row, kernel, odd = rng.normal(size=50), rng.normal(size=7), rng.normal(size=7)
    row[4], odd[2] = np.inf, np.nan
    for window in (kernel, odd):
        for mode in ("full", "same", "valid"):
            with gpupy.fallback("error"):
                got = np.asarray(gpupy.convolve(gpupy.asarray(row), gpupy.asarray(window), mode))
            np.testing.assert_allclose(got, np.convolve(row, window, mode), rtol=1e-13, atol=1e-14)


def test_polynomials(auto):
    with gpupy.fallback("error"):
        check(lambda xp: xp.polymul(xp.asarray([1, 2, 3]), xp.asarray([4, 5])))
        check(lambda xp: xp.polymul(xp.asarray([0, 0, 1.5]), [0.0, 0]))
        check(lambda xp: xp.poly(xp.asarray([1.0, 2, 3])))
    check(lambda xp: xp.polymul(xp.asarray([1, 2, 3]), 4))
    check(lambda xp: xp.convolve(xp.arange(5), xp.arange(0)))
    check(lambda xp: xp.convolve(xp.ones((2, 2)), xp.arange(3)))
    check(lambda xp: xp.convolve(xp.arange(5), xp.arange(3), "none"))
