"""Memory: held, pooled for reuse, and freed early.

Not here: how many bytes move when it is short (the core's `tests/memory.rs`).
"""

import sys

import numpy as np
import pytest

import gpupy as gp


def blocks():
    return gp.stats()["blocks"]


@pytest.fixture
def pooling(driver):
    """Each driver whose blocks are its own."""
    if driver == "cpu":
        pytest.skip("its blocks lie in host memory, whose buffers the core reuses")
    return driver


def computed(n=1000):
    array = gp.arange(n, dtype=gp.float32) * 2 + 1
    gp.evaluate(array)
    return array


def test_disposing_frees_at_once_and_is_said_at_the_line_that_uses_it(driver):
    before = blocks()
    x = computed()
    view, pending = x[10:20], x + 1
    assert blocks() == before + 1
    x.dispose()
    assert (x.shape, x.dtype, view.shape) == ((1000,), np.float32, (10,))
    for use in (
        lambda: x + 1,
        lambda: view[0],
        lambda: np.asarray(x),
        x.sum,
        lambda: x.fill(1),
        lambda: x.copy(),
        lambda: str(view),
    ):
        with pytest.raises(ValueError, match="disposed"):
            use()
    with pytest.raises(ValueError, match="disposed"):
        x[:] = 3
    # Operations that were recorded before still see the elements.
    np.testing.assert_array_equal(pending, np.arange(1000) * 2 + 2)
    del pending
    assert blocks() == before
    x.dispose()


def test_a_block_of_with_disposes_at_its_end(driver):
    before = blocks()
    with computed() as x:
        total = float(x.sum())
    assert total == 1000 * 1000
    assert blocks() <= before + 1
    with pytest.raises(ValueError, match="disposed"):
        x[0]
    with pytest.raises(ZeroDivisionError), computed() as y:
        raise ZeroDivisionError
    with pytest.raises(ValueError, match="disposed"):
        y[0]


def test_a_view_owns_nothing_to_dispose_of(driver):
    x = computed()
    with pytest.raises(ValueError, match="base"):
        x[3:].dispose()
    assert x[3] == 7


def test_arrays_of_dtypes_that_numpy_alone_has(driver):
    x = gp.ones(5, dtype=np.float64)
    x.dispose()
    assert (x.shape, x.dtype) == ((5,), np.float64)
    with pytest.raises(ValueError, match="disposed"):
        x + 1
    with pytest.raises(TypeError, match="NumPy's own"):
        gp.array(["a", "b"]).dispose()


def test_free_blocks_serve_again_and_trim_gives_them_back(pooling):
    gp.trim()
    for _ in range(10):
        computed(5000)
    stats = gp.stats()
    assert stats["pool_hits"] >= 8
    assert 1 <= stats["pool_blocks"] <= 3
    assert stats["pool_bytes"] >= 5000 * 4
    gp.trim()
    stats = gp.stats()
    assert (stats["pool_blocks"], stats["pool_bytes"]) == (0, 0)


@pytest.mark.parametrize("name", [row["name"] for row in gp.drivers() if row["starts"]])
def test_trimming_lets_go_of_kernels(name):
    def compiled():
        before = gp.stats()["kernels_compiled"]
        x = gp.arange(100_003, dtype="f4") * np.float32(1.25) - np.float32(3.5)
        gp.evaluate(x)
        assert float(x[8]) == 6.5
        return gp.stats()["kernels_compiled"] - before

    with gp.driver(name):
        first = compiled()
        assert compiled() == 0
        gp.trim()
        # What the processor computes needs no kernels of a device.
        assert compiled() == (first if name in ("gl", "vulkan", "wgpu") else 0)
        assert compiled() == 0


def test_a_pool_is_let_go_of_when_nobody_comes_for_it(pooling):
    gp.trim()
    computed(5000)
    assert gp.stats()["pool_bytes"] >= 5000 * 4
    for n in range(1, 40):
        computed(n)
    assert gp.stats()["pool_bytes"] < 5000 * 4


@pytest.mark.parametrize("name", [row["name"] for row in gp.drivers() if row["starts"]])
def test_what_is_too_large_for_one_launch_is_cut_smaller(name):
    # Three arrays of 40 KB and their sum do not fit together.
    gp._gpupy.reconfigure(name, device_bytes=100_000)
    gp.reset_stats()
    rng = np.random.default_rng(1)
    given = [rng.random((100, 100), dtype=np.float32) for _ in range(5)]
    a, b, c, d, e = (gp.asarray(x) for x in given)
    result = np.asarray(a * b + c * d + e)
    a, b, c, d, e = given
    np.testing.assert_array_equal(result, a * b + c * d + e)
    stats = gp.stats()
    assert stats["driver_fallbacks"] == 0
    assert stats["block_bytes"] + stats["pool_bytes"] <= 100_000
    if name != "soft":  # which has two operands at a time
        assert stats["smaller_cuts"] >= 1


REDUCED = {
    "all": lambda np, x: x.max(),
    "rows": lambda np, x: x.sum(1),
    "columns": lambda np, x: x.min(0),
    "of a map": lambda np, x: np.abs(x * 2 - 1).max(),
    "scan": lambda np, x: np.maximum.accumulate(x, axis=1)[:, -1],
    "sort": lambda np, x: np.sort(x, axis=1)[:, 0],
    "gather": lambda np, x: x.reshape(-1)[np.arange(0, x.size, 401)],
    "product": lambda np, x: np.rint(x * 8) @ np.ones(x.shape[1], x.dtype),
}


@pytest.mark.parametrize("name", [row["name"] for row in gp.drivers() if row["starts"]])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("what", REDUCED)
def test_an_array_that_is_larger_than_the_device_is_read_in_parts(name, strict, what):
    given = np.rint(np.random.default_rng(3).random((200, 203), dtype=np.float32) * 64)
    for device_bytes in (100_000, 30_000):
        gp._gpupy.reconfigure(name, strict=strict, device_bytes=device_bytes)
        result = np.asarray(REDUCED[what](gp, gp.asarray(given)))
        np.testing.assert_array_equal(result, REDUCED[what](np, given))
        stats = gp.stats()
        assert stats["block_bytes"] + stats["pool_bytes"] <= device_bytes


def _turns(np, a, b, c):
    """Results that are held, of writes to slices that a kernel computes beside others."""
    held = []
    for _ in range(5):
        a, b, c = b, c, a
        c[1:] += b[:-1] * 1.5
        c = 0.5 * c + 0.25 * a
        c = np.roll(b, 0, axis=0)
        held.append(b)
    return [a, b, c, *held]


@pytest.mark.parametrize("name", [row["name"] for row in gp.drivers() if row["starts"]])
@pytest.mark.parametrize("strict", [True, False])
def test_results_that_are_held_are_cut_smaller(name, strict):
    given = np.rint(np.random.default_rng(4).random((3, 200, 200), dtype=np.float32) * 8)
    for device_bytes in (130_000, 70_000):
        gp._gpupy.reconfigure(name, strict=strict, device_bytes=device_bytes)
        found = _turns(gp, *map(gp.array, given))
        for one, wanted in zip(found, _turns(np, *given.copy()), strict=True):
            np.testing.assert_array_equal(np.asarray(one), wanted)


def test_writes_go_on_over_a_cut(driver):
    gp._gpupy.reconfigure(driver, device_bytes=60_000)
    rng = np.random.default_rng(2)
    given = rng.random((70, 71), dtype=np.float32)
    x, want = gp.asarray(given) + 1, given + 1
    x[3:60:2, 5:] = 7
    want[3:60:2, 5:] = 7
    assert x[0, 0] == want[0, 0]
    many = [gp.asarray(given * k) for k in range(6)]
    total, wanted = many[0] * many[1] + x, given * 0 * given + want
    for k in range(2, 6):
        total, wanted = total * many[k] + x, wanted * (given * k) + want
    x[:, ::3] += total[:, ::3]
    want[:, ::3] += wanted[:, ::3]
    np.testing.assert_array_equal(x, want)


def test_the_size_of_an_array_is_numpys_and_evaluates_nothing(driver):
    given = np.arange(6000, dtype="f4")
    pairs = [(given, gp.asarray(given))]
    pairs += [(a.reshape(60, 100), b.reshape(60, 100)) for a, b in pairs]
    pairs += [(a[1:], b[1:]) for a, b in pairs] + [(a * 2, b * 2) for a, b in pairs]
    pairs += [((a + 1).T, (b + 1).T) for a, b in pairs[:2]]
    pairs.append((np.array(["a", "b"]), gp.array(["a", "b"])))
    gp.reset_stats()
    for theirs, ours in pairs:
        assert ours.__sizeof__() == theirs.__sizeof__()
        # Python's garbage collector adds its header to an object.
        assert 0 <= sys.getsizeof(ours) - sys.getsizeof(theirs) <= 16
    with gp.accelerator():
        sys.getsizeof(gp.asarray(given).sum())
        assert gp.stats()["launches"] == 0
    assert gp.stats()["launches"] == 0
