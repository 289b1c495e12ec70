"""Single elements of arrays that a device computed: these come to host memory once, and go back as extents.

Not here: writes by views and index arrays (``test_extents.py``), and in host memory (``test_writing.py``).
"""

import numpy as np
import pytest

import gpupy as gp

SIZE = 1_000_000
STARTING = [row["name"] for row in gp.drivers() if row["starts"]]
WRITES = {
    "elements": lambda a, k: a.__setitem__(k * 7919 % SIZE, k),
    "last elements": lambda a, k: a.__setitem__(-1 - k, k),
    "slices": lambda a, k: a.__setitem__(slice(k, k + 3), [k, k + 1, k + 2]),
    "strides": lambda a, k: a.__setitem__(slice(k, None, SIZE // 3), k),
    "in two axes": lambda a, k: a.reshape(1000, 1000).__setitem__((k, -k), k),
    "in place": lambda a, k: a[k : k + 1].__iadd__(np.float32(1)),
}


@pytest.mark.parametrize("name", STARTING)
@pytest.mark.parametrize("way", WRITES)
def test_elements_that_a_device_computed_come_once_and_go_back_as_extents(name, way):
    with gp.driver(name):
        write, bytes_of_all = WRITES[way], SIZE * 4
        x = gp.arange(SIZE, dtype="f4") * np.float32(2) + np.float32(1)
        wanted = np.arange(SIZE, dtype="f4") * np.float32(2) + np.float32(1)
        gp.evaluate(x)
        gp.reset_stats()
        for k in range(200):
            write(x, k)
            write(wanted, k)
        written = gp.stats()
        gp.evaluate(x * np.float32(3))
        for round in range(3):
            for k in range(200, 220):
                write(x, k + round)
                write(wanted, k + round)
            y = x * np.float32(3)
            gp.evaluate(y)
        # Then all is read.
        stats = gp.stats()
        np.testing.assert_array_equal(np.asarray(y), wanted * np.float32(3))
        np.testing.assert_array_equal(np.asarray(x), wanted)
    if name == "cpu":
        return
    assert written["launches"] <= 40
    assert stats["bytes_downloaded"] <= bytes_of_all + 4 * 1000
    if way not in ("elements", "strides"):
        assert stats["bytes_uploaded"] < bytes_of_all // 4
    assert stats["bytes_uploaded"] <= 4 * bytes_of_all


@pytest.mark.parametrize("name", STARTING)
def test_what_an_expression_reads_is_what_was_there(name):
    with gp.driver(name):
        x = gp.arange(100_000, dtype="f4") + np.float32(1)
        gp.evaluate(x)
        wanted = np.arange(100_000, dtype="f4") + np.float32(1)
        kept, expected = [], []
        for k in range(100):
            x[k] = -k
            wanted[k] = -k
            if k % 10 == 0:
                kept.append(x * np.float32(2))
                expected.append(wanted * np.float32(2))
            if k % 30 == 0:
                gp.evaluate(kept[-1])
        x += 1
        wanted += 1
        for k in range(50):
            x[-k] = k
            wanted[-k] = k
        for ours, theirs in zip([*kept, x], [*expected, wanted], strict=True):
            np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("name", STARTING)
def test_elements_are_written_also_where_blocks_are_evicted(name):
    driver = gp._gpupy
    try:
        driver.reconfigure(name, block_bytes=1 << 16, device_bytes=1 << 19)
        x = gp.arange(50_000, dtype="f4") * np.float32(2)
        wanted = np.arange(50_000, dtype="f4") * np.float32(2)
        for _ in range(5):
            for k in range(0, 50_000, 1000):
                x[k] = k + 0.5
                wanted[k] = k + 0.5
            others = [gp.arange(50_000, dtype="f4") + np.float32(k) for k in range(6)]
            gp.evaluate(*others)
            x = x + np.float32(1)
            wanted = wanted + np.float32(1)
        np.testing.assert_array_equal(np.asarray(x), wanted)
    finally:
        driver.reconfigure("auto")
