"""Cliffs by counted instructions, for continuous integration: ``python benches/families.py --instructions``.

Owns the selection (of one seed's draws one in `PART` families, three sizes each) and the verdict: a size is
a cliff where gpupy needs more than three times the instructions an element of a size beside it. Callgrind
counts one warm run of each, so that there is no clock, and no count has to be kept; it has AVX2, but no
AVX-512. Invariant: counts differ by a per cent at most from run to run. Without valgrind nothing is counted.
Not here: times beside NumPy's (`benches/families.py`), counts of calls on few elements
(`benches/instructions.py`).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from families import FAMILIES
from families.cases import WARM, drawn

import gpupy

# The draw that is counted, and the elements of each case.
SEED, ELEMENTS = 54, 100_000
# More than so many times the instructions of the size beside it is a cliff.
CLIFF = 3
# One in so many families is counted, unless some are named: these take a minute.
PART = 6
# The function at which callgrind writes down what it counted. Nothing else here calls it.
MARK, mark = "getppid", os.getppid


def selected(family):
    """Its central case and two neighbours, or all where it has three."""
    cases = drawn(family, SEED, 0, (ELEMENTS, ELEMENTS))[:-1]
    middle = min(max(1, len(cases) // 2), len(cases) - 2)
    return cases[max(0, middle - 1) : middle + 2]


def child(names):
    """Runs the cases with marks around the last run of each, under callgrind."""
    gpupy.use("cpu")
    for name in names:
        for case in selected(FAMILIES[name]):
            arrays = [gpupy.array(each) for each in case.arrays()]
            for _ in range(WARM):
                case.results(gpupy, arrays)
            mark()
            case.results(gpupy, arrays)
            mark()


def counted(names):
    """The instructions of one warm run of each case, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "counts")
        callgrind = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={out}"]
        done = subprocess.run(
            [*callgrind, sys.executable, __file__, json.dumps(names)],
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"callgrind ended with {done.returncode}: {done.stderr[-2000:]}")
        # Each second part is a run; the others are what came before it.
        number = 2 * sum(len(selected(FAMILIES[name])) for name in names)
        return [total(pathlib.Path(f"{out}.{part}")) for part in range(2, number + 1, 2)]


def total(path):
    """The instructions of one of callgrind's files."""
    lines = path.read_text().splitlines()
    return next(int(line.split()[1]) for line in reversed(lines) if line.startswith("totals: "))


def report(names):
    """Prints the instructions an element of each case; the status is 1 if there is a cliff."""
    if shutil.which("valgrind") is None:
        print(f"skipped: the instructions of {len(names)} families, as there is no valgrind")
        return 0
    counts = iter(counted(names))
    cliffs = []
    for name in names:
        cases = selected(FAMILIES[name])
        needed = [next(counts) / case.n for case in cases]
        print(f"{name}  " + "  ".join(f"{c.k}: {n:.1f}" for c, n in zip(cases, needed, strict=True)))
        for place, case in enumerate(cases):
            # Work may grow with the extent, so that only the sizes beside it are compared.
            least = min(
                needed[max(place - 1, 0) : place] + needed[place + 1 : place + 2], default=needed[place]
            )
            if needed[place] > CLIFF * least:
                cliffs.append(f"{case}: {needed[place]:.1f} instructions an element, beside {least:.1f}")
    print("\n".join(["", *cliffs, f"{len(names)} families counted, {len(cliffs)} cliffs"]))
    return 1 if cliffs else 0


if __name__ == "__main__":
    child(json.loads(sys.argv[1]))
