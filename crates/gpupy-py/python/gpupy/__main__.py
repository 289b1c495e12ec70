"""``python -m gpupy``, and the command ``gpupy``: runs a NumPy program; ``info`` tells of this machine's
drivers, ``bench`` times them.

Owns the command line. Not here: how a program runs (``_program/script.py``, ``_program/running.py``), what
``info`` prints (``_program/drivers.py``), the cache (``_program/disk_cache.py``), and the benchmark
(``_bench``).
"""

import argparse
import os
import platform
import sys

import numpy

import gpupy

from ._bench import command
from ._jit import command as calls
from ._program import disk_cache, running, script, uncaught

PROGRAMS = """\
A NumPy program runs with gpupy in NumPy's place, with the arguments behind it:
  python -m gpupy PROGRAM.py …    a file
  python -m gpupy -m MODULE …     a module, pytest too
  python -m gpupy -c CODE …       a text
  python -m gpupy - …             standard input
"""


def main() -> int | None:
    first, *rest = sys.argv[1:] or [""]
    uncaught.begin()
    if first == "-m" and rest:
        return running.module(rest[0], rest[1:])
    if first == "-c" and rest:
        return running.code(rest[0], rest[1:])
    if first == "-":
        return running.standard_input(rest)
    if first.endswith(".py") or os.path.isfile(first):
        return script.run(first, rest)
    if first in ("-m", "-c"):
        wanted = "the name of a module" if first == "-m" else "a program"
        print(f"python -m gpupy: `{first}` wants {wanted} behind it", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(
        prog="python -m gpupy" if sys.argv[0].endswith("__main__.py") else "gpupy",
        description=gpupy.__doc__.splitlines()[0],
        epilog=PROGRAMS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    versions = f"gpupy {gpupy.__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}"
    parser.add_argument("--version", action="version", version=versions)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="the drivers: device, dtypes, limits, or why one does not start")
    info.set_defaults(run=lambda _: print(gpupy.info()))
    shown = commands.add_parser(
        "versions", help="what a report of a mistake needs: versions, machine, drivers"
    )
    shown.set_defaults(run=lambda _: gpupy.show_versions())
    disk_cache.add(commands)
    command.add(commands)
    function = commands.add_parser("run", help="calls the recorded function of a file", epilog=calls.USE)
    calls.add(function)
    options = parser.parse_args()
    try:
        status = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # A reader such as `head` has seen enough. What is left is not to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
