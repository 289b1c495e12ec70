"""Choosing a driver, by name, for a while, and by the environment."""

import glob
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import gpupy

# `cargo xtask test` builds it and says where; otherwise a plain `cargo build --release` does.
PLUGIN = pathlib.Path(
    os.environ.get("GPUPY_TEST_PLUGIN")
    or pathlib.Path(__file__).parents[3] / "target" / "release" / "libgpupy_soft.so"
)
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


@pytest.mark.parametrize("driver", ["auto", "soft", "cpu"])
def test_a_wrong_number_of_threads_is_refused_whatever_the_driver(driver):
    for words in ["0", "many", "-1", "1025"]:
        program = "import gpupy; print(gpupy.ones(3, gpupy.float32).sum())"
        ended = run(program, GPUPY_DRIVER=driver, GPUPY_THREADS=words)
        assert ended.returncode and "GPUPY_THREADS is not a number of threads" in ended.stderr
        assert f"`{words}`" in ended.stderr


def test_info_shows_the_threads():
    ended = run("import gpupy; print(gpupy.info())", GPUPY_THREADS="3")
    assert "the CPU (3 threads)" in ended.stdout


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


GRAPHICS = ("libEGL", "libGL", "libvulkan", "libgallium", "libLLVM", "_icd", "lvp", "swrast")
SHOWS_GPU = bool(glob.glob("/dev/dri/*") + glob.glob("/dev/nvidia*") + glob.glob("/dev/dxg"))


@pytest.mark.skipif(sys.platform != "linux" or SHOWS_GPU, reason="only Linux tells, and here is no GPU")
@pytest.mark.parametrize("setup", ["", "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); "])
def test_auto_loads_no_graphics_library_where_the_machine_shows_no_gpu(setup):
    code = (
        f"import resource; {setup}import gpupy; a = gpupy.arange(100000.) + 1; print((a * a)[3]); "
        "print(gpupy._gpupy.current_driver()); maps = open('/proc/self/maps').read(); "
        f"print([name for name in {GRAPHICS} if name in maps])"
    )
    assert run(code, GPUPY_DRIVER="auto").stdout.split() == ["16.0", "cpu", "[]"]


@pytest.mark.parametrize("name", STARTING)
def test_what_auto_does_not_open_is_told_of_and_opens_by_its_name(name):
    code = (
        "import gpupy; names = [row['name'] for row in gpupy.drivers() if row['starts']]; "
        f"gpupy.use({name!r}); print({name!r} in names, gpupy._gpupy.current_driver())"
    )
    assert run(code, GPUPY_DRIVER="auto").stdout.split() == ["True", name]


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
    assert {"name", "starts", "device", "hardware", "dtypes", "limits", "reason"} <= set(rows[0])
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


@pytest.mark.skipif(not PLUGIN.exists(), reason="cargo build --release -p driver-soft-plugin makes it")
def test_a_plug_in_is_chosen_by_its_path():
    code = (
        "import gpupy; a = gpupy.arange(5, dtype='float32'); print((a * a + 1).tolist()); "
        "print(gpupy._gpupy.current_driver()); print(gpupy.info())"
    )
    lines = run(code, GPUPY_DRIVER=str(PLUGIN)).stdout.splitlines()
    assert lines[:2] == ["[1.0, 2.0, 5.0, 10.0, 17.0]", str(PLUGIN)]
    assert [line for line in lines[2:] if line.startswith(f"{PLUGIN}: ") and "cannot start" not in line]
    code = f"import gpupy; gpupy.use({str(PLUGIN)!r}); print(gpupy.ones(3, 'float32').sum())"
    assert run(code).stdout.split() == ["3.0"]


def test_a_path_that_is_no_driver_says_why():
    path = "/no/such/driver.so"
    ended = run("import gpupy; print(gpupy.info()); gpupy.ones(3, 'float32').sum()", GPUPY_DRIVER=path)
    words = f"load: there is no such file (driver: {path})"
    assert ended.returncode == 1 and ended.stderr.strip().endswith(f"DriverError: {words}")
    assert f"{path}: cannot start: {words}" in ended.stdout
    before = gpupy.drivers()
    with pytest.raises(gpupy.DriverError, match="there is no such file"):
        gpupy.use(path)
    assert gpupy.drivers() == before


def test_the_command_info_tells_of_every_driver():
    ended = subprocess.run(
        [sys.executable, "-m", "gpupy", "info"], check=True, capture_output=True, text=True
    )
    for row in gpupy.drivers():
        assert f"{row['name']}: " in ended.stdout
        if row["starts"]:
            assert ", ".join(row["dtypes"]) in ended.stdout
    wrong = subprocess.run(
        [sys.executable, "-m", "gpupy", "inof"], check=False, capture_output=True, text=True
    )
    assert wrong.returncode == 2
    assert "invalid choice" in wrong.stderr


SOFTWARE = """
import gpupy
for _ in range(2):
    gpupy.arange(0, 2, 0.5)
    (gpupy.ones(1000) + 1).sum().item()
    gpupy.use({name!r})
    with gpupy.driver({name!r}):
        gpupy.current_driver()
"""


@pytest.mark.parametrize("name", ["vulkan", "wgpu", "gl", "cpu", "soft", "auto"])
def test_a_software_device_that_was_asked_for_by_name_is_said_once(name):
    found = {row["name"]: row for row in gpupy.drivers()}.get(name, {"starts": True, "hardware": True})
    if not found["starts"]:
        pytest.skip(found["reason"])
    left_out = ("GPUPY_DRIVER", "PYTHONWARNINGS")
    heard = {key: value for key, value in os.environ.items() if key not in left_out}
    is_told = name in ("vulkan", "wgpu", "gl") and not found["hardware"]
    for environment in ({}, {"GPUPY_DRIVER": name}):
        done = subprocess.run(
            [sys.executable, "-c", SOFTWARE.format(name=name)],
            env=heard | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        said = [line for line in done.stderr.splitlines() if "software device" in line]
        assert len(said) == is_told, done.stderr
        assert all(f"driver `{name}`" in line and found["device"] in line for line in said)
        # At the line of the program, though Python of gpupy's lies between.
        assert all(line.startswith("<string>:") for line in said)
