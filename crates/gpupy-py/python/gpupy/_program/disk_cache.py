"""``gpupy cache``: what drivers keep on disk, and its removal.

Owns the commands ``info`` and ``clear``. Invariants: nothing is removed but files whose names are a driver's
entries, in folders that are no links; a program that runs meanwhile only compiles again. Not here: who writes
the entries, and who keeps the bound (``kernels`` of gpupy-codegen).
"""

import argparse
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any

# As drivers name their entries, and the files that get these names when they are whole.
_ENTRY = re.compile(r"[0-9a-f]{32}|new-\d+-[0-9a-f]{16}")
# The bound of all entries, as drivers keep it.
MOST_BYTES = 256 * 2**20


def add(commands: Any) -> None:
    """Adds the command to those of ``python -m gpupy``."""
    cache = commands.add_parser(
        "cache", help="what drivers keep on disk: `info` shows it, `clear` removes it"
    )
    cache.add_argument("what", choices=("info", "clear"))
    cache.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its status."""
    place = folder()
    if place is None:
        print("there is no cache: neither GPUPY_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder")
        return 0
    print(f"{place}, at most {MOST_BYTES // 2**20} MiB")
    failed = 0
    for driver in _drivers(place):
        sizes, errors = [], []
        for entry in _entries(driver):
            try:
                size = entry.lstat().st_size
                if options.what == "clear":
                    entry.unlink()
                sizes.append(size)
            except FileNotFoundError:
                # Another process was faster.
                pass
            except OSError as error:
                errors.append(f"{entry.name}: {error.strerror}")
        did = "removed, " if options.what == "clear" else ""
        print(f"    {driver.name}: {len(sizes)} files {did}{sum(sizes) / 2**20:.1f} MiB")
        for words in errors:
            print(f"    {driver.name}: cannot remove {words}")
        failed += len(errors)
    return 1 if failed else 0


def folder() -> pathlib.Path | None:
    """The folder of all drivers' entries, which need not be there; ``None`` where none is named."""
    for variable in ("GPUPY_CACHE_DIR", "XDG_CACHE_HOME"):
        named = pathlib.Path(os.environ.get(variable, ""))
        if named.is_absolute():
            return named / "gpupy"
    home = os.environ.get("HOME")
    return None if home is None else pathlib.Path(home, ".cache", "gpupy")


def _drivers(place: pathlib.Path) -> Iterator[pathlib.Path]:
    """The folders of drivers."""
    if place.is_dir() and not place.is_symlink():
        yield from (path for path in sorted(place.iterdir()) if path.is_dir() and not path.is_symlink())


def _entries(driver: pathlib.Path) -> Iterator[pathlib.Path]:
    """The entries of a driver: regular files by their names."""
    for path in sorted(driver.iterdir()):
        if _ENTRY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            yield path
