"""One loop by NumPy and by gpupy in turns, in a process of its own that `benches/loops.py` starts.

Takes the row as JSON in its argument, and prints what was measured as JSON: `first` is gpupy's first run,
which compiles what it needs, as no process before left it anything. Owns the clock and the comparison.
Invariants: both sides begin with the same arrays, which exist before the clock starts; a run ends when its
results are arrays of NumPy; the results of every run are compared, also what the loop's readings gave. Not
here: the loops (`benches/loop_texts`), what a ratio has to be (`benches/loops.py`).
"""

import json
import statistics
import sys
import time

import numpy
from loop_texts import TEXTS, cells, grids, matrices, rows

import gpupy

# After so many seconds a row gets no further round.
PATIENCE = 3.0
# A shorter run is repeated until it takes so many seconds, but at most so many times.
LEAST, MOST = 5e-3, 20
# Of a loop that is not exact, as a part of each value and of the largest one.
TOLERANCE = 1e-9
# Between the sides. OpenBLAS's threads look for more work for a while, and a processor that they have is
# not free.
REST = 0.02
# What two warm runs have to do equally often.
COUNTS = (
    *("launches", "nodes_walked", "kernels_compiled"),
    *("bytes_uploaded", "bytes_downloaded", "bytes_spilled"),
)
MODULES = (grids, cells, matrices, rows)


class Readings:
    """What a person who looks at the array at every so manyth step sees: its largest value."""

    def __init__(self, every):
        self.every = every
        self.values = []

    def __call__(self, step, array):
        """Reads the array, if it is time."""
        if self.every and (step + 1) % self.every == 0:
            self.values.append(float(array.max()))


def run(text, module, data, steps, every):
    """The seconds of a run, its results and its readings."""
    given = [module.array(array) for array in data]
    if module is gpupy:
        gpupy.evaluate(*given)
    see = Readings(every)
    start = time.perf_counter()
    results = text.run(module, *given, steps, see)
    results = results if isinstance(results, tuple) else (results,)
    results = [numpy.asarray(result) for result in results]
    return time.perf_counter() - start, results, see.values


def is_right(text, wanted, got):
    """Whether results and readings are NumPy's."""
    pairs = list(zip([*wanted[0], numpy.array(wanted[1])], [*got[0], numpy.array(got[1])], strict=True))
    return all(is_same(text, ours, theirs) for theirs, ours in pairs)


def is_same(text, ours, theirs):
    """Whether two arrays are the same: exactly, or up to roundings."""
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return False
    if text.is_exact or theirs.dtype.kind not in "fc":
        return numpy.array_equal(ours, theirs, equal_nan=theirs.dtype.kind in "fc")
    finite = numpy.abs(theirs[numpy.isfinite(theirs)])
    atol = TOLERANCE * (finite.max() if finite.size else 0)
    return numpy.allclose(ours, theirs, rtol=TOLERANCE, atol=atol, equal_nan=True)


def turn(text, module, data, task, repeats):
    """The median seconds of a side's runs, what the last one gave, and gpupy's counts of it. As many runs
    come before them: they pay for the caches that the other side left, and for a processor that rested."""
    times = []
    time.sleep(REST)
    for number in range(2 * repeats):
        gpupy.reset_stats()
        seconds, *got = run(text, module, data, task["steps"], task["every"])
        if number >= repeats:
            times.append(seconds)
    stats = gpupy.stats()
    counts = {name: stats[name] for name in (*COUNTS, "fallbacks")}
    return statistics.median(times), got, counts


def measure(text, task):
    """A row: seconds, whether all results were right, and counts that differed between two warm runs."""
    data = [begin(task["size"]) for begin in text.begin]
    # The device is opened and NumPy has its memory before anything is timed.
    gpupy.evaluate(gpupy.zeros(3) + 1)
    took, *wanted = run(text, numpy, data, task["steps"], task["every"])
    repeats = max(1, min(MOST, round(LEAST / took)))
    first, *got = run(text, gpupy, data, task["steps"], task["every"])
    right = is_right(text, wanted, got)
    # Of the first round nothing is kept: what was new in the first run may be compiled well in the second.
    times, counts = ([], []), []
    begun = time.perf_counter()
    for number in range(max(task["rounds"], 2) + 1):
        for module, into in zip((numpy, gpupy), times, strict=True):
            seconds, got, counted = turn(text, module, data, task, repeats)
            if number:
                into.append(seconds)
        right &= is_right(text, wanted, got)
        counts.append(counted)
        if number >= 2 and time.perf_counter() - begun > PATIENCE:
            break
    earlier, later = counts[-2:]
    differ = [name for name in COUNTS if earlier[name] != later[name]]
    return {
        "numpy": statistics.median(times[0]),
        "warm": statistics.median(times[1]),
        "first": first,
        "right": right,
        "changed": [f"{name} {earlier[name]}, {later[name]}" for name in differ],
        "fallbacks": later["fallbacks"],
    }


def main():
    """Measures the row of the argument."""
    task = json.loads(sys.argv[1])
    print(json.dumps(measure(TEXTS[task["program"]], task)))


if __name__ == "__main__":
    main()
