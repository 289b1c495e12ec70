"""``python -m gpupy``: ``info`` tells of the drivers of this machine, ``bench`` times them.

Owns the command line. Not here: what ``info`` prints (``_session.py``), and the benchmark (``_bench``).
"""

import argparse
import sys

import gpupy

from ._bench import command


def main():
    parser = argparse.ArgumentParser(prog="python -m gpupy", description=gpupy.__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="the drivers: device, dtypes, limits, or why one does not start")
    info.set_defaults(run=lambda _: print(gpupy.info()))
    command.add(commands)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
