"""``python -m gpupy``: runs a NumPy program; ``info`` tells of this machine's drivers, ``bench`` times them.

Owns the command line. Not here: how a program runs (``_script.py``), what ``info`` prints
(``_session.py``), and the benchmark (``_bench``).
"""

import argparse
import os
import sys

import gpupy

from . import _script
from ._bench import command


def main() -> int | None:
    if sys.argv[1:] and (sys.argv[1].endswith(".py") or os.path.isfile(sys.argv[1])):
        return _script.run(sys.argv[1], sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="python -m gpupy",
        description=gpupy.__doc__.splitlines()[0],
        epilog="python -m gpupy PROGRAM.py … runs a NumPy program with gpupy in NumPy's place.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="the drivers: device, dtypes, limits, or why one does not start")
    info.set_defaults(run=lambda _: print(gpupy.info()))
    command.add(commands)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
