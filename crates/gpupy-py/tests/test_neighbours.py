"""Ufuncs that are several operations: neighbours among floats, steps, sums of powers by their logarithms.

Not here: other ufuncs (``test_operators.py``, ``differential/``).
"""

import numpy as np
import pytest

import gpupy as gp

FLOATS = [np.float16, np.float32, np.float64]
BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def numbers(dtype):
    """Every pair of numbers at which something changes, and numbers of any bits."""
    info = np.finfo(dtype)
    least = info.smallest_subnormal
    ends = [0, 1, 1.5, 2, info.max, np.inf, info.tiny, 2 * info.tiny, least, 3 * least]
    ends = np.array([*ends, *(-x for x in ends), np.nan], dtype)
    x, y = np.frombuffer(np.random.default_rng(5).bytes(info.bits // 8 * 1000), dtype).reshape(2, 500)
    return np.concatenate([np.repeat(ends, len(ends)), x]), np.concatenate([np.tile(ends, len(ends)), y])


def assert_same_bits(ours, theirs):
    ours = np.asarray(ours)
    assert ours.dtype == theirs.dtype
    bits = BITS[theirs.itemsize]
    same = (ours.view(bits) == theirs.view(bits)) | (np.isnan(ours) & np.isnan(theirs))
    assert same.all(), np.flatnonzero(~same)


def recorded(driver, dtype):
    """Whether the driver computes in this dtype; else NumPy does, which is counted."""
    return dtype == np.float32 or driver != "soft"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["nextafter", "spacing", "heaviside"])
def test_neighbours_and_steps_have_the_bits_of_numpy(device, name, dtype):
    theirs = getattr(np, name)
    given = numbers(dtype)[: theirs.nin]
    if name == "heaviside":
        # Comparisons of some devices take subnormal numbers for zero.
        is_normal = ~((given[0] != 0) & (abs(given[0]) < np.finfo(dtype).tiny))
        given = [x[is_normal] for x in given]
    gp.reset_stats()
    with np.errstate(all="ignore"):
        assert_same_bits(getattr(gp, name)(*map(gp.asarray, given)), theirs(*given))
    # NumPy's spacing of float16 is a function of its own.
    is_recorded = recorded(device, dtype) and not (name == "spacing" and dtype == np.float16)
    assert gp.stats()["fallbacks"] == (0 if is_recorded else 1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_powers_are_as_close_as_their_functions(device, name, dtype):
    x, y = numbers(dtype)
    gp.reset_stats()
    with np.errstate(all="ignore"):
        ours = np.asarray(getattr(gp, name)(gp.asarray(x), gp.asarray(y))).astype(np.float64)
    assert gp.stats()["fallbacks"] == (0 if recorded(device, dtype) else 1)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64), y.astype(np.float64)).astype(dtype).astype(np.float64)
        largest = np.maximum(np.maximum(abs(x.astype(np.float64)), abs(y.astype(np.float64))), 1)
        near = abs(ours - exact) <= 4 * np.finfo(dtype).eps * largest
    assert (near | (ours == exact) | (np.isnan(ours) & np.isnan(exact))).all()


def test_they_fuse_with_what_is_around_them(driver):
    x = gp.asarray(np.linspace(-2, 2, 50, dtype=np.float32))
    gp.reset_stats()
    gp.evaluate(gp.nextafter(gp.heaviside(x * 2, 0.5), 3) + gp.logaddexp(x, 1))
    assert gp.stats()["fallbacks"] == 0
    if driver != "soft":
        assert gp.stats()["launches"] == 1


def test_scalars_and_integers_are_taken_as_numpy_takes_them(device):
    a = np.arange(-4, 5, dtype=np.int32)
    for name in ("nextafter", "heaviside", "logaddexp"):
        ours, theirs = getattr(gp, name), getattr(np, name)
        for x, y in ((a, 2), (1.5, a), (a, a[::-1]), (a.reshape(3, 3), a[:3].astype(np.float32))):
            got = np.asarray(ours(*[gp.asarray(v) if isinstance(v, np.ndarray) else v for v in (x, y)]))
            want = theirs(x, y)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6 if name == "logaddexp" else 0)
