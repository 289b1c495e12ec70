"""Searches in sorted arrays: places, bins and values between points are NumPy's to the bit, on any driver."""

import numpy as np
import pytest
from pairs import check

import gpupy

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 9, 100)


def numbers(shape, dtype, seed=3):
    """Few numbers, many times each; of floats also NaN, infinities and zeros of both signs."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 12, shape).astype(dtype)
    if made.dtype.kind == "f":
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 3.0], dtype)
        made = np.where(rng.random(shape) < 0.4, rng.choice(special, shape), made)
    return made


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_in_sorted_arrays(forbidding, dtype):
    on_cpu = forbidding in ("cpu", "soft")
    for other in (dtype, "float64", "int32") if on_cpu else (dtype,):
        wanted = numbers((5, 7), other, 4)
        for length in LENGTHS if on_cpu else (0, 1, 9):
            values = numbers(length, dtype)
            rows, order = np.sort(values), np.argsort(values, kind="stable")
            for side in ("left", "right"):
                said = f"{other} {length} {side}"
                check(lambda xp: xp.searchsorted(xp.asarray(rows), xp.asarray(wanted), side), said)
                view = np.s_[::2, ::-1]
                check(lambda xp: xp.asarray(rows).searchsorted(xp.asarray(wanted)[view], side=side), said)
                check(lambda xp: xp.searchsorted(xp.asarray(values), wanted, side, sorter=order), said)
            check(lambda xp: xp.searchsorted(xp.asarray(rows), 3))
            check(lambda xp: xp.searchsorted(xp.asarray(rows), 0.1))
            check(lambda xp: xp.searchsorted(xp.asarray(rows), [0.1, 2]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bins(forbidding, dtype):
    bins = np.unique(numbers(40, dtype))
    bins = bins[~np.isnan(bins.astype(float))]
    wanted = numbers((3, 30), dtype, 5)
    for right in (False, True):
        check(lambda xp: xp.digitize(xp.asarray(wanted), xp.asarray(bins), right))
        check(lambda xp: xp.digitize(xp.asarray(wanted), bins[::-1], right))
    check(lambda xp: xp.digitize(xp.asarray(wanted), [3, 1, 2]))
    check(lambda xp: xp.digitize(xp.asarray(wanted) + 1j, bins))


@pytest.mark.parametrize("length", [1, 2, 3, 5, 40])
def test_values_between_points(forbidding, length):
    rng = np.random.default_rng(length)
    points, values = np.sort(rng.integers(0, 20, length) * 1.0), rng.normal(size=length)
    if length > 5:
        values[3], values[7], values[9] = np.inf, np.nan, values[10]
        points[-1], points[0] = np.inf, -np.inf
    x = np.concatenate([rng.random(101) * 25 - 2, points, [np.nan, np.inf, -np.inf]])
    for ends in ({}, {"left": -5}, {"right": 7.5}, {"left": np.nan, "right": 1}):
        check(lambda xp: xp.interp(xp.asarray(x), xp.asarray(points), xp.asarray(values), **ends), ends)
        check(lambda xp: xp.interp(xp.asarray(x, dtype="f4"), points, xp.asarray(values), **ends), ends)
    apart = rng.permutation(40)[:length] * 0.37
    check(lambda xp: xp.interp(xp.asarray(x), xp.asarray(apart), xp.asarray(values), period=17.3))
    check(lambda xp: xp.interp(0.5, xp.asarray(points), xp.asarray(values)))
    check(lambda xp: xp.interp(xp.asarray(x)[3:15].reshape(3, 4).T, xp.asarray(points), values))


def test_many_numbers_are_not_numpys_and_few_are(auto):
    rng = np.random.default_rng(1)
    rows, few, many = np.sort(rng.random(1000)), rng.random(100), rng.random(50_000)
    for wanted, counts in ((few, 3), (many, 0)):
        gpupy.reset_stats()
        check(lambda xp: xp.searchsorted(xp.asarray(rows), xp.asarray(wanted)))
        check(lambda xp: xp.digitize(xp.asarray(wanted), xp.asarray(rows)))
        check(lambda xp: xp.interp(xp.asarray(wanted), xp.asarray(rows), xp.asarray(rows) ** 2))
        assert gpupy.stats().fallbacks == counts, gpupy.stats().fallback_sites


def test_refusals_are_numpys(auto):
    rows = np.arange(5.0)
    check(lambda xp: xp.searchsorted(xp.asarray(rows).reshape(1, 5), 3))
    check(lambda xp: xp.searchsorted(xp.asarray(rows), 3, side="middle"))
    check(lambda xp: xp.searchsorted(xp.asarray(rows), 3, sorter=[0, 1]))
    check(lambda xp: xp.searchsorted(xp.asarray(rows), xp.ones(20_000), sorter=[0, 1, 2, 9, 9]))
    check(lambda xp: xp.searchsorted(xp.asarray(rows), xp.asarray(rows + 1j)))
    check(lambda xp: xp.interp(xp.asarray(rows), xp.asarray(rows), xp.asarray(rows)[1:]))
    check(lambda xp: xp.interp(xp.asarray(rows), xp.asarray(rows)[:0], xp.asarray(rows)[:0]))
    check(lambda xp: xp.interp(xp.asarray(rows), xp.asarray(rows), xp.asarray(rows), period=0))
    check(lambda xp: xp.interp(xp.asarray(rows), xp.asarray(rows), xp.asarray(rows) * 1j))
