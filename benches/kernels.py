"""Published kernels by NumPy and by gpupy in turns: `cargo xtask bench --kernels DIR` starts it.

`DIR` is a checkout of NPBench (Ziogas et al., "NPBench: a benchmarking suite for high-performance NumPy",
2021): 54 programs of scientific computing, written in NumPy by their authors. Owns how they are run and the
table. Each program is imported twice, once with gpupy in NumPy's place, and gets fresh copies of the same
data in each run; a run ends when every array that it was given and every result is computed. Each side
runs some times in a row after a rest: OpenBLAS's threads look for work for a while, and a processor that
they have is not free. Arrays differ where NPBench's own tolerances say so; roundings that grow are judged by
a run of NumPy's in a wider dtype, from which ours may be no farther than NumPy's; where NumPy's are so far
from it that none of their digits says anything, values are not judged, and the table says so. Invariant: a
program that fails, or whose arrays differ otherwise, gives the status 1.
"""

import argparse
import contextlib
import copy
import importlib.util
import inspect
import json
import pathlib
import statistics
import sys
import time

import numpy

import gpupy
from gpupy._bench import table, timing
from gpupy._program import script

# NPBench's own, unless a program says otherwise: of each number, or of the norms.
RTOL, ATOL, NORM = 1e-5, 1e-8, 1e-5

WIDER = {"float32": "float64", "float64": "longdouble"}

# Arrays that are farther from those of a wider dtype, as a part of the norm, have no digit of them.
NO_DIGIT = 0.1

ROUNDS = (3, 30)
TURN = 0.05  # seconds of one side


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
    """A function of a file whose NumPy is this module; by gpupy with its loops compiled, as in a program."""
    spec = importlib.util.spec_from_file_location(f"{path.stem} by {module.__name__}", path)
    program = importlib.util.module_from_spec(spec)
    code = script.of_text(path.read_bytes(), str(path)) if module is gpupy else None
    with numpy_is(module):
        if code is None:
            spec.loader.exec_module(program)
        else:
            exec(code, vars(program))
    return getattr(program, name)


class Kernel:
    """One of the programs, with its data of one size."""

    def __init__(self, folder, description, preset, dtype):
        self.description = description
        place = folder / "npbench" / "benchmarks" / description["relative_path"]
        self.path = place / f"{description['module_name']}_numpy.py"
        self.data = dict(description["parameters"][preset])
        start = description.get("init")
        if start:
            begin = function(place / f"{description['module_name']}.py", start["func_name"], numpy)
            takes_dtype = "datatype" in inspect.signature(begin).parameters
            options = {"datatype": getattr(numpy, dtype)} if takes_dtype else {}
            made = begin(*(self.data[name] for name in start["input_args"]), **options)
            names = start["output_args"]
            self.data.update(zip(names, made if len(names) > 1 else (made,), strict=True))
        self.become(dtype)

    def become(self, dtype):
        """Makes the data of another float dtype."""
        kinds = {"f": numpy.dtype(dtype), "c": numpy.result_type(dtype, numpy.complex64)}
        for name, given in self.data.items():
            if isinstance(given, numpy.ndarray | numpy.generic) and given.dtype.kind in kinds:
                self.data[name] = given.astype(kinds[given.dtype.kind])

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


def alike(theirs, ours, description):
    """Whether the arrays agree by NPBench's tolerances."""
    rtol, atol = description.get("rtol", RTOL), description.get("atol", ATOL)
    for wanted, found in zip(theirs, ours, strict=True):
        if wanted.shape != found.shape or wanted.dtype != found.dtype:
            return False
        if numpy.allclose(wanted, found, rtol=rtol, atol=atol, equal_nan=True):
            continue
        if not apart([wanted], [found]) < description.get("norm_error", NORM):
            return False
    return True


def from_wider(kernel, dtype, theirs, ours):
    """How far either is from NumPy's arrays in a wider dtype, as parts of the norm."""
    before = dict(kernel.data)
    try:
        kernel.become(WIDER[dtype])
        _, wide = kernel.by(numpy)()
    finally:
        kernel.data = before
    narrow = [[a.astype(w.dtype) for a, w in zip(side, wide, strict=True)] for side in (theirs, ours)]
    return tuple(apart(wide, side) for side in narrow)


def compare(kernel, dtype, seconds):
    """The median seconds by either, how far the arrays are apart in words, and whether they are alike."""
    sides = [kernel.by(numpy), kernel.by(gpupy)]
    # The first round is for caches and kernels.
    (first, theirs), (second, ours) = (side() for side in sides)
    words, right = f"{apart(theirs, ours):.1g}", alike(theirs, ours, kernel.description)
    if not right:
        numpys, gpupys = from_wider(kernel, dtype, theirs, ours)
        words += f"; from {WIDER[dtype]}: NumPy {numpys:.1g}, gpupy {gpupys:.1g}"
        right = gpupys <= numpys
        if min(numpys, gpupys) > NO_DIGIT:
            words, right = f"{words}; not judged: roundings have grown to all digits", True
    del theirs, ours
    if not seconds:
        return first, second, words, right
    times, end = ([], []), time.perf_counter() + seconds
    few, many = ROUNDS
    for number in range(many):
        if number >= few and time.perf_counter() > end:
            break
        for side, found in zip(sides, times, strict=True):
            found.extend(in_a_row(side))
    return *map(statistics.median, times), words, right


def in_a_row(side):
    """The seconds of some runs of one side, after a rest, in which the other side's threads go to sleep."""
    time.sleep(timing.REST)
    side()
    found, end = [], time.perf_counter() + TURN
    while not found or time.perf_counter() < end:
        found.append(side()[0])
    return found


def main():
    """Times the programs; the status is 1 if one failed or gave other values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="a checkout of NPBench")
    parser.add_argument("--preset", default="S", help="the size: S, M, L or paper")
    parser.add_argument("--dtype", choices=tuple(WIDER), default="float64", help="of the data")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of each program, at least; 0: its values, after one round"
    )
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
            kernel = Kernel(options.folder, description, options.preset, options.dtype)
            theirs, ours, words_apart, alike_here = compare(kernel, options.dtype, options.seconds)
        except Exception as error:  # whatever a program meets is told, and the others run
            rows.append((path.stem, "", "", "", f"{type(error).__name__}: {error}"))
            right = False
        else:
            right &= alike_here
            ratios.append(theirs / ours)
            times = (table.duration(theirs), table.duration(ours), table.three(theirs / ours))
            rows.append((path.stem, *times, words_apart if alike_here else f"WRONG: {words_apart}"))
        print("   " + "  ".join(rows[-1]), file=sys.stderr, flush=True)
    title = f"Kernels of NPBench, size {options.preset}, {options.dtype}"
    print(f"{title}, by NumPy and by gpupy on {gpupy.current_driver()}\n")
    heads = ("program", "NumPy", "gpupy", "NumPy / gpupy", "apart")
    print("\n".join(table.aligned(heads, rows)))
    if ratios:
        fast = sum(ratio >= 1 for ratio in ratios)
        mean = table.three(statistics.geometric_mean(ratios))
        print(f"\n{len(ratios)} of {len(rows)} run; {fast} as fast as by NumPy; geometric mean {mean}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
