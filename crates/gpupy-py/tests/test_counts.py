"""Counts that prove the laziness; times do not."""

import random

import numpy as np
import pytest

import gpupy
from gpupy import float32, fromfunction, minimum, sqrt, where


def sphere(size):
    """The shaded sphere's three channels."""
    w = h = size
    r, (vx, vy, vz), light = 0.4 * size, (w / 2, h / 2, w), (-1, 1, 1)
    x = fromfunction(lambda x, y: x, (w, h), dtype=float32)
    y = fromfunction(lambda x, y: y, (w, h), dtype=float32)
    dx, dy, dz = x - vx, y - vy, 0 - vz
    cx, cy, cz = w / 2, h / 2, 0
    a = dx**2 + dy**2 + dz**2
    b = 2 * dx * (vx - cx) + 2 * dy * (vy - cy) + 2 * dz * (vz - cz)
    c = cx**2 + cy**2 + cz**2 + vx**2 + vy**2 + vz**2 - 2 * (cx * vx + cy * vy + cz * vz) - r**2
    disc = b * b - 4 * a * c
    t = (-b - sqrt(disc)) / (2 * a)
    ix, iy, iz = vx + t * dx, vy + t * dy, vz + t * dz
    n = (ix - cx) / r * light[0] + (iy - cy) / r * light[1] + (iz - cz) / r * light[2]
    colours = zip((0.0, 0.0, 0.5), (0.1, 0.2, 0.3), (0.2, 0.5, 0.6), strict=True)
    return [
        255 * where(disc > 0, where(n > 0, ambient + n * diffuse, ambient), ground)
        for ground, ambient, diffuse in colours
    ]


def distances(size, points, exponent=2):
    """The distance from each pixel to the nearest of some points."""
    chance = random.Random(1)
    nearest = None
    for _ in range(points):
        x0, y0 = size * chance.random(), size * chance.random()
        there = fromfunction(
            lambda x, y: ((x - x0) ** exponent + (y - y0) ** exponent) ** (1.0 / exponent),
            (size, size),
            dtype=float32,
        )
        nearest = there if nearest is None else minimum(there, nearest)
    return nearest


def only_gl(driver):
    if driver != "gl":
        pytest.skip("a bound for fused kernels; this driver evaluates one operation at a time")


def settled():
    """The counts; nothing may have gone to NumPy or up to the device."""
    stats = gpupy.stats()
    assert stats.fallbacks == 0, stats.fallback_sites
    assert stats.bytes_uploaded == 0
    assert stats.driver_fallbacks == 0
    return stats


def test_the_sphere_takes_three_launches(driver):
    channels = sphere(64)
    assert gpupy.stats().launches == 0
    gpupy.evaluate(*channels)
    stats = settled()
    only_gl(driver)
    assert stats.launches <= 3


def test_the_sphere_shown_takes_three_launches(driver):
    for channel in sphere(64):
        np.asarray(channel)
    stats = settled()
    only_gl(driver)
    assert stats.launches <= 3


def test_the_distance_map_takes_two_launches(driver):
    nearest = distances(64, 100)
    assert gpupy.stats().launches == 0
    gpupy.evaluate(nearest)
    stats = settled()
    only_gl(driver)
    assert stats.launches <= 2


def test_the_distance_map_is_numpys_to_the_bit(driver):
    got = np.asarray(distances(40, 30))
    chance, nearest = random.Random(1), None
    x, y = np.indices((40, 40), dtype=np.float32)
    for _ in range(30):
        x0, y0 = 40 * chance.random(), 40 * chance.random()
        there = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        nearest = there if nearest is None else np.minimum(there, nearest)
    np.testing.assert_array_equal(got, nearest)


def test_5000_points_compile_three_kernels(driver):
    gpupy._gpupy.reconfigure(driver, flush_operations=1 << 20)
    gpupy.reset_stats()
    gpupy.evaluate(distances(16, 5000))
    assert settled().kernels_compiled <= 3


def test_5000_points_that_are_evaluated_on_the_way_compile_few_kernels(driver):
    gpupy.evaluate(distances(16, 5000))
    stats = settled()
    # Each evaluation ends within a point, and the next one begins there.
    assert stats.automatic_flushes >= 5 and stats.kernels_compiled <= 6


def test_one_element_evaluates_one_block(driver):
    gpupy._gpupy.reconfigure(driver, block_bytes=64)
    gpupy.reset_stats()
    a = gpupy.arange(160, dtype=float32) + 0.5
    assert float(a[35]) == 35.5
    assert gpupy.stats().blocks_evaluated == 1
    assert float(a[35]) == 35.5 and float(a[40]) == 40.5
    assert gpupy.stats().blocks_evaluated == 1
    assert a[60:70].tolist() == [i + 0.5 for i in range(60, 70)]
    assert gpupy.stats().blocks_evaluated == 3
    assert np.asarray(a)[159] == 159.5
    assert gpupy.stats().blocks_evaluated == 10


def test_sixty_doublings_are_sixty_operations(driver):
    x = gpupy.asarray(np.full(8, 0.5, np.float32))
    for _ in range(60):
        x = x + x
    assert float(x[3]) == 0.5 * 2.0**60
    stats = gpupy.stats()
    assert stats.instructions <= 60 and stats.launches <= 60


def test_equal_expressions_are_evaluated_once(driver):
    a = gpupy.asarray(np.arange(100, dtype=np.float32))
    b = gpupy.asarray(np.ones(100, np.float32))
    c, d = a + b, a + b
    gpupy.evaluate(c)
    before = gpupy.stats().launches
    gpupy.evaluate(d)
    assert gpupy.stats().launches == before
    c[0] = -1
    assert d[0] == 1 and c[0] == -1


def test_a_hundred_thousand_nodes_build_evaluate_and_drop(driver):
    x = gpupy.asarray(np.zeros(4, np.float32))
    for _ in range(100_000):
        x = x + 1
    assert x.tolist() == [100_000.0] * 4
    del x
    y = gpupy.asarray(np.zeros(4, np.float32))
    for _ in range(100_000):
        y = y + 1
    del y


def test_a_loop_compiles_three_kernels(driver):
    x = gpupy.asarray(np.linspace(0, 1, 64).astype(np.float32))
    y = gpupy.asarray(np.linspace(1, 2, 64).astype(np.float32))
    want, other = np.asarray(x).copy(), np.asarray(y).copy()
    gpupy.reset_stats()
    for _ in range(1000):
        x = x * 0.999 + y * 0.001
        want = want * np.float32(0.999) + other * np.float32(0.001)
    np.testing.assert_array_equal(np.asarray(x), want)
    assert gpupy.stats().kernels_compiled <= 3
    assert gpupy.stats().fallbacks == 0


def test_recording_evaluates_nothing(driver):
    a = gpupy.arange(1000, dtype=float32)
    b = gpupy.where(a > 3, a * 2, a.T + 1)[::2].reshape(10, 50).sum(axis=0)
    b[3:5] = a.max(keepdims=True)
    b /= 2
    b.shape = (5, 10)
    assert gpupy.stats().launches == 0
    assert gpupy.stats().bytes_downloaded == 0


def test_a_loop_of_updates_writes_where_the_old_value_lay():
    gpupy._gpupy.reconfigure("cpu")
    gpupy.reset_stats()
    want, step = np.arange(1000, dtype=np.float32), np.linspace(-1, 1, 1000, dtype=np.float32)
    x, y = gpupy.asarray(want), gpupy.asarray(step)
    for _ in range(50):
        x = 0.5 * x + y
        gpupy.evaluate(x)
        want = np.float32(0.5) * want + step
    # The first value was given, and is not ours to write.
    assert gpupy.stats().in_place == 49
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("driver_name", ["soft", "gl", "vulkan", "wgpu"])
@pytest.mark.parametrize("vertices", [9, 3000])
def test_of_a_written_array_only_what_was_written_is_uploaded(driver_name, vertices):
    """Two positions of two floats, of vertices of five: 16 of the 88 bytes from the first to the last."""
    if not any(row["name"] == driver_name and row["starts"] for row in gpupy.drivers()):
        pytest.skip(f"{driver_name} does not start")
    gpupy._gpupy.reconfigure(driver_name)
    elements = np.arange(vertices * 5, dtype=np.float32).reshape(-1, 3, 5)
    buffer = gpupy.asarray(elements)
    gpupy.evaluate(buffer * 2)
    gpupy.reset_stats()
    for side in (buffer, elements):
        side[0, 0, :2] = 0.0, 0.0
        side[1, 1, :2] = 0.0, 0.0
    assert gpupy.stats().bytes_uploaded == 0
    used = buffer * 3
    gpupy.evaluate(used)
    assert gpupy.stats().bytes_uploaded <= 16
    assert np.array_equal(used, elements * 3)


@pytest.mark.parametrize("length", [1 << 18, (1 << 20) + 3])
def test_large_arrays_are_read_in_host_memory_by_devices_that_share_it(driver, length):
    if not next(row["imports"] for row in gpupy.drivers() if row["name"] == driver):
        pytest.skip("a device with memory of its own, or none")
    theirs = np.arange(length, dtype=np.float32)
    mine = gpupy.asarray(theirs)
    gpupy.reset_stats()
    used = mine * 2 + 1
    gpupy.evaluate(used)
    stats = gpupy.stats()
    assert (stats.bytes_uploaded, stats.bytes_imported) == (0, theirs.nbytes)
    wanted = theirs * 2 + 1
    for side in (mine, theirs):
        side[3:7] = -1.0
    assert np.array_equal(mine * 3, theirs * 3)
    del mine
    assert np.array_equal(used, wanted)


VERTEX = [("position", np.float32, 2), ("color", np.float32, 3)]


@pytest.mark.parametrize("driver_name", ["soft", "gl", "vulkan", "wgpu"])
def test_of_written_records_the_smallest_stretch_is_uploaded(driver_name):
    """The example of glumpy's authors: 88 bytes from the first written position to the last."""
    if not any(row["name"] == driver_name and row["starts"] for row in gpupy.drivers()):
        pytest.skip(f"{driver_name} does not start")
    gpupy._gpupy.reconfigure(driver_name)
    gpupy.fallback("allow")
    mine, theirs = (xp.ones((3, 3), VERTEX) for xp in (gpupy, np))

    def used():
        gpupy.reset_stats()
        scaled = mine["position"] * 3
        gpupy.evaluate(scaled)
        uploaded = gpupy.stats().bytes_uploaded
        assert np.array_equal(scaled, theirs["position"] * 3)
        return uploaded

    assert used() == 9 * 20
    before = mine["position"] + mine["color"][..., :2]
    gpupy.reset_stats()
    for side in (mine, theirs):
        side["position"][0, 0] = 0.0, 0.0
        side["position"][1, 1] = 0.0, 0.0
    assert gpupy.stats().bytes_uploaded == 0
    # Both ends changed, 88 bytes apart: no other 88 bytes give the values above than those from the first on.
    assert used() == 88
    # Unwritten elements are not sent, nor those behind the first record.
    assert used() == 0
    for side in (mine, theirs):
        side[2]["position"] = 7
        side["color"][2, 0] = 5
    assert used() == 3 * 20 - 3 * 4
    assert np.array_equal(before, np.full((3, 3, 2), 2, np.float32))


@pytest.mark.parametrize(
    ("places", "stretches"),
    [
        ((0, 0), [(0, 0)]),
        ((3, 700), [(3, 3), (700, 700)]),
        # Neighbouring pieces of 4096 bytes are one stretch.
        ((204, 205), [(204, 205)]),
        ((0, 1, 410, 1999), [(0, 1), (410, 410), (1999, 1999)]),
        ((1999, 1999), [(1999, 1999)]),
        ((), []),
        # Of more than sixteen, one from the first to the last.
        (range(10, 8000, 410), [(10, 7800)]),
    ],
)
def test_the_stretches_of_many_written_records_are_each_from_the_first_to_the_last(places, stretches):
    gpupy._gpupy.reconfigure("soft")
    gpupy.fallback("allow")
    mine, theirs = (xp.ones(8000, VERTEX) for xp in (gpupy, np))
    gpupy.evaluate(mine["position"] * 3)
    for side in (mine, theirs):
        for place in places:
            side["position"][place] = 0.0, 0.0
    gpupy.reset_stats()
    scaled = mine["position"] * 3
    gpupy.evaluate(scaled)
    assert gpupy.stats().bytes_uploaded == sum(20 * (last - first) + 8 for first, last in stretches)
    assert np.array_equal(scaled, theirs["position"] * 3)


def test_sums_that_one_step_reads_are_computed_together(driver):
    """Each of other operands, over as many points; the join of them is what needs all."""
    chance = np.random.default_rng(7)
    images = [chance.integers(0, 99, (64, 48)).astype(np.float32) for _ in range(5)]
    wanted = np.stack([np.abs(image - 3).sum(axis=1) for image in images[:4]])
    ours = [gpupy.asarray(image) for image in images]
    gpupy.evaluate(*ours)
    gpupy.reset_stats()
    found = gpupy.stack([gpupy.abs(image - 3).sum(axis=1) for image in ours[:4]])
    gpupy.evaluate(found)
    launches = gpupy.stats().launches
    assert np.asarray(found).tobytes() == wanted.tobytes()
    if driver != "soft":
        assert launches <= 2, launches
