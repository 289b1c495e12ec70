"""``gpupy-run FILE in.npy … out.npy``: calls the recorded function of a file from a shell.

Not here: the contents of a file (``saved.py``).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import gpupy

from .._session.files import regular
from . import saved

USE = """\
First come the function's arrays and numbers, in their order: files of NumPy's, or numbers themselves. Behind
them come files for the arrays of its result, and then for the arguments that it writes, as far as they are
named.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Prints the usage."""
    parser.add_argument("file", metavar="FILE", help="a file that `f.save` has written")
    parser.add_argument("words", metavar="in.npy … out.npy", nargs="*", help="arguments, then results")
    parser.add_argument("--driver", help="the driver, as of `gpupy.use`")
    parser.set_defaults(run=run)


def main() -> int:
    """The command of its own."""
    parser = argparse.ArgumentParser(
        prog="gpupy-run", description=(__doc__ or "").splitlines()[0], epilog=USE
    )
    add(parser)
    options = parser.parse_args()
    return int(options.run(options))


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its status."""
    try:
        if options.driver:
            gpupy.use(options.driver)
        _call(options.file, options.words)
    except (OSError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        print(f"gpupy-run: {error}", file=sys.stderr)
        return 1
    return 0


def _call(path: str, words: list[str]) -> None:
    function = saved.load(path)
    file = function._file
    error: Exception | None = None
    # Each way in which the arguments may be arrays and numbers: of several, the one that takes most.
    for wanted in sorted(dict.fromkeys(map(tuple, file.arrays())), key=len, reverse=True):
        if len(words) < len(wanted):
            continue
        try:
            given = [_argument(word, dtype) for word, (dtype, _) in zip(words, wanted, strict=False)]
            results = file.run(given)
        except ValueError as found:
            error = error or found
            continue
        results += [array for array, (_, is_written) in zip(given, wanted, strict=True) if is_written]
        return _write(path, words[len(wanted) :], results)
    raise error or ValueError(f"{path} takes {' or '.join(function.takes())}")


def _write(path: str, files: list[str], results: list[Any]) -> None:
    strange = next((file for file in files if not file.endswith(".npy")), None)
    if strange is not None:
        raise ValueError(
            f"{path} was not recorded for `{strange}`, and no file for a result is called so: `….npy`"
        )
    if len(files) > len(results):
        raise ValueError(f"{path} gives {len(results)} arrays, and {len(files)} files are named for them")
    for file, result in zip(files, results, strict=False):
        with open(file, "wb") as target:
            np.save(target, np.asarray(result))


def _argument(word: str, dtype: str | None) -> Any:
    """An argument: a number, or the array of a file."""
    try:
        number = float(word) if dtype is None or np.dtype(dtype).kind == "f" else int(word)
    except ValueError:
        with regular(word) as file:
            return gpupy.array(np.load(file), order="C")
    return gpupy.array(number, dtype=dtype)
