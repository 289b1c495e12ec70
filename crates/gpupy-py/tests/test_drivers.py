"""Choosing a driver, by name, for a while, and by the environment."""

import os
import subprocess
import sys

import numpy
import pytest

import gpupy

STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]


def run(code, **more):
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path, **more}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)


def test_a_wrong_name_lists_the_right_ones():
    with pytest.raises(ValueError, match=r"there is no driver `cuda`; choose one of .*`soft`.*`auto`"):
        gpupy.use("cuda")
    ended = run("import gpupy; gpupy.ones(3, gpupy.float32).sum()", GPUPY_DRIVER="cuda")
    assert ended.returncode and "there is no driver `cuda`" in ended.stderr


def test_a_wrong_size_is_refused():
    ended = run("import gpupy; gpupy.use('soft')", GPUPY_BLOCK_BYTES="many")
    assert ended.returncode and "GPUPY_BLOCK_BYTES" in ended.stderr and "many" in ended.stderr


@pytest.mark.parametrize("name", STARTING)
def test_the_environment_chooses(name):
    code = "import gpupy; print(gpupy._gpupy.current_driver(), gpupy.ones(3, 'float32').sum())"
    assert run(code, GPUPY_DRIVER=name).stdout.split() == [name, "3.0"]


def test_import_opens_no_device():
    code = (
        "import gpupy, threading, sys; a = gpupy.zeros(3, 'float32')[1:]; "
        "print(threading.active_count(), [m for m in open('/proc/self/maps') if 'EGL' in m])"
    )
    if sys.platform == "linux":
        assert run(code).stdout.strip() == "1 []"


def test_with_driver_returns_to_the_one_before(driver):
    for name in STARTING:
        with gpupy.driver(name):
            assert gpupy._gpupy.current_driver() == name
            assert (gpupy.ones(4, gpupy.float32) + 1).tolist() == [2] * 4
        assert gpupy._gpupy.current_driver() == driver


def test_values_go_from_one_driver_to_another(driver):
    a = gpupy.arange(100, dtype=gpupy.float32) * 3
    gpupy.evaluate(a)
    for name in STARTING:
        gpupy.use(name)
        a = a + 1
        gpupy.evaluate(a)
    assert a[1] == 3 + len(STARTING)


def test_drivers_tells_what_starts_and_why_not():
    rows = gpupy.drivers()
    assert {"name", "starts", "device", "hardware", "flushes_subnormals", "reason"} == set(rows[0])
    assert [row["name"] for row in rows if row["name"] == "soft" and row["starts"]]
    for row in rows:
        assert row["starts"] or row["reason"]
        assert row["name"] in gpupy.info()


def test_too_little_memory_is_a_memory_error_and_loses_nothing(driver):
    gpupy._gpupy.reconfigure(driver, block_bytes=1 << 16, device_bytes=1 << 10)
    given = gpupy.asarray(numpy.arange(1000, dtype=numpy.float32))
    large, small = given * 2 + 1, gpupy.arange(100, dtype=gpupy.float32) + 1
    for _ in range(2):
        with pytest.raises(MemoryError, match="out of memory"):
            gpupy.evaluate(large)
        assert float(small.max()) == 100
    assert given.tolist() == list(range(1000))
