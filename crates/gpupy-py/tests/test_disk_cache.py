"""`gpupy cache`: what is shown and removed of the files that drivers keep, and the command `gpupy` itself."""

import os
import pathlib
import subprocess
import sys
import time
import tomllib

import pytest

import gpupy
from gpupy._program.disk_cache import MOST_BYTES

VARIABLES = ("GPUPY_CACHE_DIR", "XDG_CACHE_HOME", "HOME")
WORK = "import gpupy as np; print((np.arange(100000.0, dtype='f4') * 2 + 1).sum())"
ENTRY = "0123456789abcdef" * 2
ASIDE = "new-17-0123456789abcdef"


def run(*words, **variables):
    """A command of gpupy's, as the console script starts it, under these variables."""
    start = "import sys; sys.argv[0] = '/bin/gpupy'; from gpupy.__main__ import main; sys.exit(main())"
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return subprocess.run(
        [sys.executable, "-c", start, *words],
        env=environment | {name: str(value) for name, value in variables.items()},
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def put(folder, *names, size=2**20):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size))


def start(driver, folder):
    """A process whose driver keeps something in a folder."""
    environment = os.environ | {"GPUPY_CACHE_DIR": str(folder), "GPUPY_DRIVER": driver}
    return subprocess.Popen([sys.executable, "-c", WORK], env=environment, stdout=subprocess.PIPE, text=True)


def gpu_drivers():
    names = [row["name"] for row in gpupy.drivers() if row["starts"] and row["name"] not in ("cpu", "soft")]
    return names or pytest.skip("no driver of a GPU starts")


@pytest.mark.parametrize("variable", VARIABLES)
def test_entries_are_counted_and_removed_and_nothing_else(tmp_path, variable):
    place = tmp_path / (".cache/gpupy" if variable == "HOME" else "gpupy")
    theirs = {f"x/{ENTRY}0", "x/notes.txt", ENTRY, f"x/deeper/{ENTRY}", "x/new-1-word"}
    put(place, f"x/{ENTRY}", f"x/{ASIDE}", f"y/{ENTRY}", *theirs)
    shown = run("cache", "info", **{variable: tmp_path})
    assert shown.stdout == f"{place}, at most 256 MiB\n    x: 2 files 2.0 MiB\n    y: 1 files 1.0 MiB\n"
    assert files(place) == theirs | {f"x/{ENTRY}", f"x/{ASIDE}", f"y/{ENTRY}"}
    cleared = run("cache", "clear", **{variable: tmp_path})
    assert (cleared.stdout, cleared.returncode) == (
        f"{place}, at most 256 MiB\n    x: 2 files removed, 2.0 MiB\n    y: 1 files removed, 1.0 MiB\n",
        0,
    )
    assert files(place) == theirs


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_not_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere, ENTRY)
    (tmp_path / "gpupy/x").mkdir(parents=True)
    (tmp_path / "gpupy/y").symlink_to(elsewhere)
    (tmp_path / "gpupy/x" / ENTRY).symlink_to(elsewhere / ENTRY)
    assert run("cache", "clear", XDG_CACHE_HOME=tmp_path).returncode == 0
    assert files(elsewhere) == {ENTRY}
    assert (tmp_path / "gpupy/x" / ENTRY).is_symlink()


def test_no_cache_and_no_folder_are_said(tmp_path):
    def place(**variables):
        return run("cache", "info", **variables).stdout.removesuffix(", at most 256 MiB\n")

    assert place(XDG_CACHE_HOME=tmp_path) == str(tmp_path / "gpupy")
    assert place().startswith("there is no cache: ")
    # One that is relative is not read, as of the drivers.
    assert place(XDG_CACHE_HOME="here", HOME=tmp_path) == str(tmp_path / ".cache/gpupy")
    # The first that is named is the place.
    others = {"XDG_CACHE_HOME": tmp_path / "x", "HOME": tmp_path / "home"}
    assert place(GPUPY_CACHE_DIR=tmp_path, **others) == str(tmp_path / "gpupy")
    assert place(GPUPY_CACHE_DIR="", **others) == str(tmp_path / "x/gpupy")


def test_a_folder_that_is_relative_is_refused_with_words():
    done = subprocess.run(
        [sys.executable, "-c", WORK],
        env=os.environ | {"GPUPY_CACHE_DIR": "here"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "GPUPY_CACHE_DIR is not an absolute path" in done.stderr and "`here`" in done.stderr


def test_what_drivers_keep_is_shown_and_removed(tmp_path):
    names = gpu_drivers()
    for name in names:
        assert start(name, tmp_path).wait() == 0
    _, *lines = run("cache", "info", GPUPY_CACHE_DIR=tmp_path).stdout.splitlines()
    kept = {line.split(":")[0].strip(): int(line.split()[1]) for line in lines}
    assert kept and set(kept) <= set(names) and min(kept.values()) > 0
    run("cache", "clear", GPUPY_CACHE_DIR=tmp_path)
    assert files(tmp_path / "gpupy") == set()


def test_several_processes_keep_the_bound_and_remove_what_was_used_longest_ago(tmp_path):
    names = gpu_drivers()
    place = tmp_path / "gpupy"
    # Files with holes take no room on the disk of the test.
    old = [f"{driver}/{number:032x}" for number in range(9) for driver in ("x", "y")]
    for hours, name in enumerate(old):
        put(place, name, size=0)
        os.truncate(place / name, 16 * 2**20)
        used = time.time() - 3600 * (100 - hours)
        os.utime(place / name, (used, used))
    put(place, "x/notes.txt")
    processes = [start(name, tmp_path) for name in names * 2]
    assert [process.communicate() and process.returncode for process in processes] == [0] * len(processes)
    left = files(place)
    total = sum((place / name).stat().st_size for name in left if name != "x/notes.txt")
    assert total <= MOST_BYTES
    gone = [name for name in old if name not in left]
    assert gone and gone == old[: len(gone)]
    assert "x/notes.txt" in left and any(name.split("/")[0] in names for name in left)


def test_the_bound_is_that_of_the_drivers_and_of_the_page():
    root = pathlib.Path(__file__).parents[3]
    source = (root / "crates/gpupy-codegen/src/kernels/cache_folder.rs").read_text()
    assert f"MOST_BYTES: u64 = {MOST_BYTES // 2**20} << 20;" in source
    assert f"{MOST_BYTES // 2**20} MiB" in (root / "docs/cache.md").read_text()


def test_the_console_command_is_that_of_the_module():
    project = tomllib.loads((pathlib.Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["gpupy"] == "gpupy.__main__:main"
    assert run("--help").stdout.startswith("usage: gpupy ")
    assert run("-c", "import numpy; print(numpy.__name__)").stdout == "gpupy\n"
    assert run("versions").stdout.startswith(f"gpupy {gpupy.__version__}\n")
    assert run("cache", "drop").returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes there")
@pytest.mark.parametrize("command", ["info", "versions"])
def test_a_reader_that_has_seen_enough_gets_no_traceback(command):
    command = [sys.executable, "-m", "gpupy", command]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
