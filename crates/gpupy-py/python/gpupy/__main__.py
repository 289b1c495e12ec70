"""``python -m gpupy info``: the drivers of this machine.

Owns the command line. Not here: what it prints (``_session.py``).
"""

import argparse

import gpupy


def main():
    parser = argparse.ArgumentParser(prog="python -m gpupy", description=gpupy.__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="the drivers: device, dtypes, limits, or why one does not start")
    info.set_defaults(run=lambda _: print(gpupy.info()))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
