"""Loops over elements, compiled where they stand, beside Python with NumPy, and beside numba where it is had.

``python benches/compiled_loops.py [--runs N] [--numba PYTHON] [names]`` runs ``loop_programs.py`` by Python,
and by ``python -m gpupy``; ``--numba`` is another Python that has numba, whose ``njit`` compiles the same
functions. It prints seconds of Python, of gpupy's first run and best one, and of numba's. The status is 1
where a result differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).with_name("loop_programs.py")
# Run by a Python with numba: its programs import nothing of that.
NUMBA = """
import json, math, sys
import numba, numpy
sys.path.insert(0, sys.argv.pop(1))
import loop_programs as programs
runs, names = int(sys.argv[1]), sys.argv[2:] or [*programs.CASES]
cases = {name: (numba.njit(programs.CASES[name][0]), *programs.CASES[name][1:]) for name in names}
print(json.dumps({name: programs.measured(*cases[name], runs) for name in names}))
"""


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--numba")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    def times(*command: str) -> dict[str, list[float]]:
        done = subprocess.run([*command], capture_output=True, text=True, check=True)
        found: dict[str, list[float]] = json.loads(done.stdout)
        return found

    plain = times(sys.executable, str(PROGRAMS), "1", *options.names)
    ours = times(sys.executable, "-m", "gpupy", str(PROGRAMS), str(options.runs), *options.names)
    numba = {}
    if options.numba:
        numba = times(options.numba, "-c", NUMBA, str(PROGRAMS.parent), str(options.runs), *options.names)
    print(f"{'program':16}{'Python':>9}{'first':>9}{'best':>9}{'gain':>7}{'numba':>9}{'of numba':>9}")
    status = 0
    for name, (_, seconds, told) in plain.items():
        first, best, found = ours[name]
        row = f"{name:16}{seconds:9.4f}{first:9.4f}{best:9.5f}{seconds / best:7.0f}"
        if name in numba:
            row += f"{numba[name][1]:9.5f}{numba[name][1] / best:9.2f}"
        print(row)
        # Sums of the results differ in their last bits.
        if abs(found - told) > 1e-9 * abs(told):
            print(f"{name}: {found} instead of {told}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
