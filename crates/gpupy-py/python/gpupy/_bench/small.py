"""Everyday operations on few elements by NumPy and by gpupy in turns: what a call costs.

Owns the operations and their table. Invariants: each side ends with what NumPy gives; both see the same
numbers. Not here: programs on many elements (``programs``, ``timing``).
"""

import statistics
import time
import timeit
from collections.abc import Iterable
from typing import Any

import numpy

import gpupy

SIZES = (10, 1000)

EXPRESSIONS = (
    *("x + y", "2.5 * x + y", "x > y", "np.sqrt(x)", "np.maximum(x, y)", "np.where(m, x, y)"),
    *("x.sum()", "x.max()", "x.mean()", "m.any()", "x.cumsum()", "np.sort(x)", "x @ y"),
    *("x[3]", "float(x[3])", "x[0] > 3", "x[1:]", "x[1:-1] + x[2:]", "x[i]", "x[m]", "len(x)", "x.shape"),
    *("np.zeros(n)", "np.arange(n)", "np.array(values)", "np.concatenate([x, y])", "x.copy()"),
    *("x.astype('float64')", "x.reshape(2, -1)", "x.tolist()", "numpy.asarray(x)"),
)
# What NumPy does, of one and of two arrays, with arrays and with numbers for results.
FALLBACKS = (
    *("np.packbits(m)", "np.nancumsum(x)", "np.partition(x, 3)", "np.bincount(i)", "np.spacing(x)"),
    *("np.gradient(x)", "np.fft.rfft(x)", "np.trapezoid(x)", "np.linalg.norm(x)", "np.median(x)"),
    *("np.interp(x, x, y)", "np.digitize(y, x)", "np.convolve(x, y)", "np.nextafter(x, y)"),
    *("np.array_equal(x, y)", "x.argpartition(3)"),
)
STATEMENTS = ("z[2] = 1.0", "z[2:5] = 0.5", "z[:] = y", "z += y")

# The least time of a side in a round, in seconds.
LEAST = 2e-3
# The time of this thread alone, where it is told finely enough: other programs count for less.
_CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter


def run(names: Iterable[str] | None, rounds: int) -> int:
    """Times every operation on these drivers, or the one in use; returns the status of the command."""
    right = True
    for name in names or [gpupy.current_driver()]:
        gpupy.use(name)
        for size in SIZES:
            print(f"\n{name}, {size} elements of float32: nanoseconds, NumPy / gpupy\n")
            right &= _table("ratio", (*EXPRESSIONS, *STATEMENTS), size, rounds)
        print(f"\n{name}, calls that NumPy does, 10 elements: nanoseconds, and how many more\n")
        right &= _table("more", FALLBACKS, 10, rounds)
    return 0 if right else 1


def _table(column: str, operations: Iterable[str], size: int, rounds: int) -> bool:
    """Prints the times of operations and their ratio or difference; returns whether all are right."""
    print(f"| {'operation':24} |   NumPy |   gpupy | {column:5} |\n|{'-' * 26}|--------:|--------:|------:|")
    right = True
    for operation in operations:
        theirs, ours = (_names(module, size) for module in (numpy, gpupy))
        same = _same(operation, theirs, ours)
        a, b = (1e9 * time for time in _times(operation, theirs, ours, rounds))
        last = f"{a / b:5.2f}" if column == "ratio" else f"{b - a:5.0f}"
        print(f"| {operation:24} | {a:7.0f} | {b:7.0f} | {last} |{'' if same else ' wrong'}", flush=True)
        right &= same
    return right


def _names(np: Any, size: int) -> dict[str, Any]:
    """What the operations are about, made by NumPy or by gpupy."""
    x, y, z = (np.asarray(numpy.linspace(k, 9 - k, size, dtype=numpy.float32)) for k in (1, 2, 3))
    i = np.asarray(numpy.array([3, 1, 4, 1, 5]) % size)
    return {
        "np": np,
        "numpy": numpy,
        "n": size,
        "x": x,
        "y": y,
        "z": z,
        "i": i,
        "m": x > y,
        "values": [1.5, 2.5, 3.5],
    }


def _same(operation: str, theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether both sides end with the same, up to the last bits of sums."""
    if operation in STATEMENTS:
        for names in (theirs, ours):
            exec(operation, names)
        wanted, found = theirs["z"], ours["z"]
    else:
        wanted, found = eval(operation, theirs), eval(operation, ours)
    return numpy.shape(wanted) == numpy.shape(found) and numpy.allclose(wanted, found, rtol=1e-5)


def _times(operation: str, theirs: dict[str, Any], ours: dict[str, Any], rounds: int) -> list[float]:
    """The seconds of one operation on each side: medians of rounds in turns."""
    # A variable that is assigned to would be a local one of the timer's function.
    statement = f"global z; {operation}" if operation.startswith("z +=") else operation
    timers = [timeit.Timer(statement, globals=names, timer=_CLOCK) for names in (theirs, ours)]
    repeats = []
    for timer in timers:
        timer.timeit(1000)
        repeats.append(max(1, round(LEAST / (timer.timeit(100) / 100))))
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for timer, number, seen in zip(timers, repeats, times, strict=True):
            seen.append(timer.timeit(number) / number)
    return [statistics.median(seen) for seen in times]
