"""Runs one program with NumPy and gpupy alternating, and prints the costs.

Owns `Program` and `Comparison`. A time is that of the whole program, up to its values in host memory. Nothing
is kept from one run to the next: gpupy gives two equal expressions one value while the first is alive, and a
run that found its answer there would have measured nothing.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable

import numpy

COUNTERS = (
    "kernels_compiled",
    "kernels_specialised",
    "launches",
    "bytes_uploaded",
    "bytes_downloaded",
    "fallbacks",
)


@dataclasses.dataclass
class Program:
    """A program that takes an array module and a dtype, and returns a list of arrays."""

    name: str
    run: Callable


@dataclasses.dataclass
class Comparison:
    """Measurements of one program: seconds, values in host memory, and counters."""

    name: str
    numpy_times: list
    first: float
    warm_times: list
    numpy_values: list
    gpupy_values: list
    counts: dict
    warm_launches: int

    @property
    def numpy(self):
        return statistics.median(self.numpy_times)

    @property
    def warm(self):
        return statistics.median(self.warm_times)

    @property
    def difference(self):
        """The largest difference of two values; where either is NaN both must be."""
        pairs = zip(self.numpy_values, self.gpupy_values, strict=True)
        return max(largest_difference(reference, value) for reference, value in pairs)


def largest_difference(reference, value):
    """Returns the largest absolute difference; equal infinities and two NaNs differ by nothing."""
    if reference.shape != value.shape or reference.dtype != value.dtype:
        raise ValueError(f"got {value.shape} {value.dtype}, wanted {reference.shape} {reference.dtype}")
    same = (reference == value) | (numpy.isnan(reference) & numpy.isnan(value))
    if same.all():
        return 0.0
    # A NaN on one side only stays NaN here, and is the largest.
    with numpy.errstate(invalid="ignore"):
        return float(numpy.abs(reference.astype("f8") - value.astype("f8"))[~same].max())


def timed(program, module, dtype):
    """Runs a program once; returns the seconds, and the values in host memory."""
    with numpy.errstate(invalid="ignore"):
        start = time.perf_counter()
        values = [numpy.asarray(value) for value in program.run(module, dtype)]
        seconds = time.perf_counter() - start
    return seconds, values


def compare(program, gpupy, rounds, say=lambda text: None):
    """Runs a program by NumPy and by gpupy, `rounds` times in turns after a first time."""
    say(f"{program.name}: NumPy")
    _, numpy_values = timed(program, numpy, numpy.float32)
    say(f"{program.name}: gpupy, for the first time")
    gpupy.reset_stats()
    first, gpupy_values = timed(program, gpupy, gpupy.gpufloat32)
    counts = {name: gpupy.stats()[name] for name in COUNTERS}
    # A view of gpupy's memory would keep the value alive.
    gpupy_values = [value.copy() for value in gpupy_values]

    numpy_times, warm_times, launches = [], [], []
    say(f"{program.name}: both in turns, {rounds} times")
    for _ in range(rounds):
        numpy_times.append(timed(program, numpy, numpy.float32)[0])
        gpupy.reset_stats()
        warm_times.append(timed(program, gpupy, gpupy.gpufloat32)[0])
        launches.append(gpupy.stats()["launches"])
    return Comparison(
        name=program.name,
        numpy_times=numpy_times,
        first=first,
        warm_times=warm_times,
        numpy_values=numpy_values,
        gpupy_values=gpupy_values,
        counts=counts,
        warm_launches=min(launches),
    )


def driver_in_use(gpupy, name=None):
    """Chooses a driver by name, or leaves it to gpupy; returns gpupy's description of the one in use."""
    if name:
        gpupy.use(name)
    used = gpupy.current_driver()
    return next(driver for driver in gpupy.drivers() if driver["name"] == used)


def duration(seconds):
    """Writes a time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def amount(count):
    """Writes a number of bytes with a unit that suits it."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
