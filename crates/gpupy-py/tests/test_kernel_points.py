"""Points that leave a loop at any time: each has its own values, wherever the others are.

Not here: what loops compute (``test_kernels.py``).
"""

import numpy as np
import pytest
from test_kernels import has_loops

import gpupy as gp

# Around the points that go through a loop together, and those of a vector.
SIZES = [1, 2, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025, 1040, 4099]
MOST = 40


@pytest.fixture
def of_loops(driver):
    if not has_loops(driver):
        pytest.skip("the driver has no loops")
    return driver


def trips_of(n, way):
    """How often each of some points goes round."""
    r = np.random.default_rng(n)
    return {
        "any": lambda: r.integers(0, MOST, n),
        "few long ones": lambda: np.where(r.random(n) < 0.02, MOST, 1),
        "none": lambda: np.zeros(n, int),
        "rising": lambda: np.arange(n) * MOST // n,
        "all but one": lambda: np.where(np.arange(n) == n // 2, 0, MOST),
    }[way]().astype(np.int32)


@pytest.mark.parametrize("way", ["any", "few long ones", "none", "rising", "all but one"])
@pytest.mark.parametrize("size", SIZES)
def test_each_point_has_its_own_turns(of_loops, size, way):
    trips = trips_of(size, way)
    start, by = np.arange(size, dtype=np.int32), np.arange(size, dtype=np.int32)[::-1] % 7

    def walked(trips, start, by, factor):
        at, turns = start, trips - trips
        while turns < trips:
            at = at * factor + by
            turns = turns + 1
        return at, turns

    def within(trips, start, by, factor):
        at = start
        for n in range(MOST):
            if n >= trips:
                break
            at = at * factor + by
        return at

    wanted = start.copy()
    for n in range(MOST):
        wanted = np.where(n < trips, wanted * np.int32(3) + by, wanted)
    given = [gp.asarray(one) for one in (trips, start, by)]
    at, turns = gp.kernel(walked)(*given, np.int32(3))
    np.testing.assert_array_equal(at, wanted)
    np.testing.assert_array_equal(turns, trips)
    np.testing.assert_array_equal(gp.kernel(within)(*given, np.int32(3)), wanted)


@pytest.mark.parametrize("size", [17, 1030])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "i8", "f8", "c8", "c16"])
def test_values_of_any_size_move_with_their_points(auto, size, dtype):
    trips = trips_of(size, "any")
    first = (np.arange(size) % 5).astype(dtype)
    other = (np.arange(size) % 3).astype(dtype)

    def turned(trips, first, other):
        turns = trips - trips
        while turns < trips:
            first, other = other, first
            turns = turns + 1
        return first, other

    ours = gp.kernel(turned)(*map(gp.asarray, (trips, first, other)))
    is_odd = trips % 2 == 1
    for own, want in zip(ours, (np.where(is_odd, other, first), np.where(is_odd, first, other)), strict=True):
        assert own.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(own, want)
