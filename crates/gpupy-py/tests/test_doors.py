"""Files and devices that a program names, and files that gpupy makes: none is waited for or foreseen.

Not here: the elements of files (``test_outside.py``), their errors (``test_outside_safety.py``).
"""

import os
import re
import resource
import stat
import subprocess
import sys

import numpy as np
import pytest
from apart import STARTING, on_each_driver, run

import gpupy as gp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's files")


@pytest.fixture(autouse=True)
def every_dtype():
    """A driver that has float64."""
    gp._gpupy.reconfigure("cpu", strict=False)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return str(path)


@pytest.mark.parametrize("shape", [None, (0,), (3,)])
def test_a_pipe_or_a_device_is_no_file_of_elements(pipe, tmp_path, shape):
    for path in (pipe, "/dev/zero", "/dev/null", *([] if shape is None else [str(tmp_path)])):
        with pytest.raises(OSError, match="this is a pipe, a device or a folder"):
            gp.open_memmap(path, "f8", shape)
    for path in (pipe, "/dev/zero"):
        with pytest.raises(OSError, match="a pipe or a device"):
            gp.open_memmap(path)


def test_a_functions_file_is_a_file(pipe):
    from gpupy._jit import saved

    for path in (pipe, "/dev/zero"):
        with pytest.raises(OSError, match="a pipe or a device"):
            saved.load(path)


@pytest.mark.parametrize("place", ["function", "argument"])
def test_the_command_of_recorded_functions_reads_files_alone(pipe, tmp_path, place):
    @gp.jit
    def double(x):
        return x * 2

    double(gp.arange(3.0))
    path, data = str(tmp_path / "f.gpupy"), str(tmp_path / "in.npy")
    double.save(path)
    np.save(data, np.arange(3.0))
    for odd in ("/dev/zero", pipe):
        words = [odd, data] if place == "function" else [path, odd]
        code = "import sys; from gpupy._jit import command; sys.exit(command.main())"
        command = [sys.executable, "-c", code, *words, str(tmp_path / "out.npy")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "GPUPY_DRIVER": "cpu"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "a pipe or a device" in done.stderr, done


def test_a_plugin_is_a_file(pipe):
    with pytest.raises(RuntimeError, match="no regular file"):
        gp.use(pipe)
    with pytest.raises(RuntimeError, match="no regular file"):
        gp.use("/dev/zero")


@pytest.mark.parametrize("name", STARTING)
def test_a_device_that_is_not_there_is_an_error_that_names_those_that_are(name):
    before = gp._gpupy.wanted_driver()
    device = next(row["device"] for row in gp.drivers() if row["name"] == name)
    for words in (f"{name}:99", f"{name}:no such", f"{name}:0,{name}:99"):
        with pytest.raises(RuntimeError, match=re.escape(device)):
            gp.use(words)
        assert gp._gpupy.wanted_driver() == before
    with gp.driver(f"{name}:0"):
        assert (gp.arange(3) + 1).tolist() == [1, 2, 3]


def test_elements_of_a_file_do_not_count_as_memory_that_may_be_written(tmp_path):
    path = tmp_path / "large"
    count = 1 << 27
    with open(path, "wb") as file:
        file.truncate(8 * count)
        file.seek(8 * (count - 1))
        file.write(np.float64(7).tobytes())
    code = f"""
        import resource
        m = gpupy.open_memmap({str(path)!r}, "f8")
        held = int(next(l for l in open("/proc/self/status") if l.startswith("VmData")).split()[1]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (held + (700 << 20), resource.RLIM_INFINITY))
        print(float((m + 1).sum()) == {count + 7}, float(m[-1]), m.nbytes)
        """
    assert run(code, "cpu") == ["True", "7.0", str(8 * count)]
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY


SPILLING = """
kept = []
for i in range(12):
    a = gpupy.arange(1_000_000.0) * 2 + i
    gpupy.evaluate(a)
    kept.append(a)
paths = ["/proc/self/fd/" + f for f in os.listdir("/proc/self/fd")]
links = {path: os.readlink(path) for path in paths if os.path.islink(path)}
files = [path for path, link in links.items() if "spill" in link]
print(len(files), *(oct(os.stat(path).st_mode & 0o777) for path in files), links[files[0]])
"""


def test_the_spill_file_has_a_random_name_and_is_its_owners(tmp_path):
    first = "import os\nos.umask(0)\n"
    names = []
    for block in ("mkdir", "symlink", None):
        more = {"GPUPY_HOST_BYTES": "30M", "TMPDIR": str(tmp_path)}
        name = "os.path.join(os.environ['TMPDIR'], f'gpupy-{os.getpid()}.spill')"
        before = {"mkdir": f"os.mkdir({name})\n", "symlink": f"os.symlink('/nowhere', {name})\n", None: ""}
        found = run(before[block] + SPILLING, "cpu", setup=first, **more)
        assert found[:2] == ["1", "0o600"], found
        names.append(os.path.basename(found[2]))
    drawn = {re.fullmatch(r"gpupy-\d+-([0-9a-f]{16})\.spill", name).group(1) for name in names}
    assert len(drawn) == 3


@on_each_driver
def test_folders_and_files_of_the_cache_are_their_owners(tmp_path, name):
    code = """
        import os
        os.umask(0)
        print(float((gpupy.arange(100_000.0) * 2.5 + 1)[7]))
        """
    assert run(code, name, XDG_CACHE_HOME=str(tmp_path)) == ["18.5"]
    for folder, _, files in os.walk(tmp_path / "gpupy"):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for file in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, file)).st_mode) == 0o600


@on_each_driver
def test_the_cache_is_not_written_through_a_link(tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "gpupy").symlink_to(elsewhere)
    code = "print(float((gpupy.arange(100_000.0) * 2.5 + 1)[7]))"
    assert run(code, name, XDG_CACHE_HOME=str(tmp_path)) == ["18.5"]
    assert not list(elsewhere.iterdir())


@on_each_driver
def test_a_cache_without_room_ends_no_process(tmp_path, name):
    # A limit of the bytes of a file is met as a full disk is, without a file system of its own.
    code = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        print(float((gpupy.arange(100_000.0) * 2.5 + 1)[7]))
        """
    assert run(code, name, XDG_CACHE_HOME=str(tmp_path)) == ["18.5"]


@on_each_driver
def test_a_full_disk_under_the_cache_ends_no_process(tmp_path, name):
    mounted = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("a small file system needs root")
    try:
        with open(tmp_path / "fill", "wb", buffering=0) as file, pytest.raises(OSError, match="space"):
            while True:
                file.write(bytes(1 << 16))
        code = "print(float((gpupy.arange(100_000.0) * 2.5 + 1)[7]))"
        for variable in ("XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR"):
            assert run(code, name, **{variable: str(tmp_path)}) == ["18.5"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
