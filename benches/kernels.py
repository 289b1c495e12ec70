"""Published kernels by NumPy and by gpupy in turns: `cargo xtask bench --kernels DIR` starts it.

`DIR` is a checkout of NPBench (Ziogas et al., "NPBench: a benchmarking suite for high-performance NumPy",
2021): 54 programs of scientific computing, written in NumPy by their authors. Owns how they are run and the
table. Each program is imported twice, once with gpupy in NumPy's place, and gets fresh copies of the same
data in each round; a round ends when every array that it was given and every result is computed. Invariant:
a program that fails, or whose arrays differ, gives the status 1.
"""

import argparse
import contextlib
import copy
import importlib.util
import json
import pathlib
import statistics
import sys
import time

import numpy

import gpupy
from gpupy._bench import table

# By NPBench's own measure, the norm of the difference as a part of the norm, unless a program says otherwise.
TOLERANCE = 1e-5

ROUNDS = (3, 30)


@contextlib.contextmanager
def numpy_is(module):
    """Imports of NumPy give this module."""
    theirs = sys.modules["numpy"]
    sys.modules["numpy"] = module
    try:
        yield
    finally:
        sys.modules["numpy"] = theirs


def function(path, name, module):
    """A function of a file whose NumPy is this module."""
    spec = importlib.util.spec_from_file_location(f"{path.stem} by {module.__name__}", path)
    program = importlib.util.module_from_spec(spec)
    with numpy_is(module):
        spec.loader.exec_module(program)
    return getattr(program, name)


class Kernel:
    """One of the programs, with its data of one size."""

    def __init__(self, folder, description, preset):
        self.description = description
        place = folder / "npbench" / "benchmarks" / description["relative_path"]
        self.path = place / f"{description['module_name']}_numpy.py"
        self.data = dict(description["parameters"][preset])
        start = description.get("init")
        if start:
            begin = function(place / f"{description['module_name']}.py", start["func_name"], numpy)
            made = begin(*(self.data[name] for name in start["input_args"]))
            names = start["output_args"]
            self.data.update(zip(names, made if len(names) > 1 else (made,), strict=True))

    def by(self, module):
        """What runs the program by a module once: gives the seconds, and all arrays at the end."""
        kernel = function(self.path, self.description["func_name"], module)

        def run():
            given = [self.own(name, module) for name in self.description["input_args"]]
            before = time.perf_counter()
            found = kernel(*given)
            found = list(found) if isinstance(found, tuple | list) else [found]
            arrays = [each for each in given + found if isinstance(each, module.ndarray)]
            if module is gpupy:
                gpupy.evaluate(*arrays)
            seconds = time.perf_counter() - before
            return seconds, [numpy.asarray(each) for each in given + found if each is not None]

        return run

    def own(self, name, module):
        """A copy of an argument."""
        argument = self.data[name]
        is_array = isinstance(argument, numpy.ndarray)
        return module.array(argument) if is_array else copy.deepcopy(argument)


def apart(theirs, ours):
    """How far arrays are apart, as a part of the norm; infinity where they are not alike."""
    worst = 0.0
    for wanted, found in zip(theirs, ours, strict=True):
        if wanted.shape != found.shape or wanted.dtype != found.dtype:
            return float("inf")
        if wanted.dtype.kind not in "fc":
            worst = max(worst, 0.0 if numpy.array_equal(wanted, found) else float("inf"))
        elif not numpy.array_equal(wanted, found, equal_nan=True):
            norm = numpy.linalg.norm(wanted.ravel()) or 1.0
            worst = numpy.maximum(worst, numpy.linalg.norm((wanted - found).ravel()) / norm)
    return float(worst)


def compare(kernel, seconds):
    """The median seconds by either, and how far the arrays are apart."""
    sides = [kernel.by(numpy), kernel.by(gpupy)]
    # The first round is for caches and kernels.
    (_, theirs), (_, ours) = (side() for side in sides)
    difference = apart(theirs, ours)
    del theirs, ours
    times, end = ([], []), time.perf_counter() + seconds
    few, many = ROUNDS
    while len(times[0]) < few or (len(times[0]) < many and time.perf_counter() < end):
        for side, found in zip(sides, times, strict=True):
            found.append(side()[0])
    return *map(statistics.median, times), difference


def main():
    """Times the programs; the status is 1 if one failed or gave other values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="a checkout of NPBench")
    parser.add_argument("--preset", default="S", help="the size: S, M, L or paper")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each program, at least")
    parser.add_argument("--programs", default="", help="words, one of which a program has in its name")
    options = parser.parse_args()

    descriptions = sorted((options.folder / "bench_info").glob("*.json"))
    if not descriptions:
        parser.error(f"{options.folder} is no checkout of NPBench: it has no bench_info/*.json")
    words = options.programs.split(",")
    rows, ratios, right = [], [], True
    for path in descriptions:
        if not any(word in path.stem for word in words):
            continue
        description = json.loads(path.read_text())["benchmark"]
        try:
            kernel = Kernel(options.folder, description, options.preset)
            theirs, ours, difference = compare(kernel, options.seconds)
        except Exception as error:  # whatever a program meets is told, and the others run
            rows.append((path.stem, "", "", "", f"{type(error).__name__}: {error}"))
            right = False
        else:
            right &= difference <= description.get("rtol", TOLERANCE)
            ratios.append(theirs / ours)
            times = (table.duration(theirs), table.duration(ours), table.three(theirs / ours))
            rows.append((path.stem, *times, f"{difference:.1g}"))
        print("   " + "  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"Kernels of NPBench, size {options.preset}, by NumPy and by gpupy on {gpupy.current_driver()}\n")
    heads = ("program", "NumPy", "gpupy", "NumPy / gpupy", "apart")
    print("\n".join(table.aligned(heads, rows)))
    if ratios:
        fast = sum(ratio >= 1 for ratio in ratios)
        mean = table.three(statistics.geometric_mean(ratios))
        print(f"\n{len(ratios)} of {len(rows)} run; {fast} as fast as by NumPy; geometric mean {mean}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
