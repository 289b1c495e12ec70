"""`gpupy cache`: what is shown and removed of the files that drivers keep, and the command `gpupy` itself."""

import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

import gpupy

ENTRY = "0123456789abcdef" * 2
ASIDE = "new-17-0123456789abcdef"


def run(*words, **variables):
    """A command of gpupy's, as the console script starts it, under these variables."""
    start = "import sys; sys.argv[0] = '/bin/gpupy'; from gpupy.__main__ import main; sys.exit(main())"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "HOME")
    }
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


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
def test_entries_are_counted_and_removed_and_nothing_else(tmp_path, variable):
    place = tmp_path / ("gpupy" if variable == "XDG_CACHE_HOME" else ".cache/gpupy")
    theirs = {f"x/{ENTRY}0", "x/notes.txt", ENTRY, f"x/deeper/{ENTRY}", "x/new-1-word"}
    put(place, f"x/{ENTRY}", f"x/{ASIDE}", f"y/{ENTRY}", *theirs)
    shown = run("cache", "info", **{variable: tmp_path})
    assert shown.stdout == f"{place}\n    x: 2 files 2.0 MiB\n    y: 1 files 1.0 MiB\n"
    assert files(place) == theirs | {f"x/{ENTRY}", f"x/{ASIDE}", f"y/{ENTRY}"}
    cleared = run("cache", "clear", **{variable: tmp_path})
    assert (cleared.stdout, cleared.returncode) == (
        f"{place}\n    x: 2 files removed, 2.0 MiB\n    y: 1 files removed, 1.0 MiB\n",
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
    assert run("cache", "info", XDG_CACHE_HOME=tmp_path).stdout == f"{tmp_path / 'gpupy'}\n"
    assert run("cache", "info").stdout.startswith("there is no cache: ")
    # One that is relative is not read, as of the drivers.
    assert (
        run("cache", "info", XDG_CACHE_HOME="here", HOME=tmp_path).stdout == f"{tmp_path / '.cache/gpupy'}\n"
    )


def test_what_drivers_keep_is_shown_and_removed(tmp_path):
    names = [row["name"] for row in gpupy.drivers() if row["starts"] and row["name"] not in ("cpu", "soft")]
    if not names:
        pytest.skip("no driver of a GPU starts")
    work = "import gpupy as np; print((np.arange(100000.0, dtype='f4') * 2 + 1).sum())"
    for name in names:
        subprocess.run(
            [sys.executable, "-c", work],
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "GPUPY_DRIVER": name},
            capture_output=True,
            check=True,
        )
    _, *lines = run("cache", "info", XDG_CACHE_HOME=tmp_path).stdout.splitlines()
    kept = {line.split(":")[0].strip(): int(line.split()[1]) for line in lines}
    assert kept and set(kept) <= set(names) and min(kept.values()) > 0
    run("cache", "clear", XDG_CACHE_HOME=tmp_path)
    assert files(tmp_path / "gpupy") == set()


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
