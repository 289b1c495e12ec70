"""The costs of the timed programs, by driver: no more than those in ``launches.json``.

Launches, compilations and bytes are a program's cost that no other load changes, where no evaluation pauses.
``GPUPY_BLESS=1`` writes the file afresh; a count may only fall. Not here: whether the results are right
(``test_programs.py``), times (``python -m gpupy bench``).
"""

import json
import os
import pathlib

import numpy
import pytest

import gpupy
from gpupy._bench import catalogue, programs

FILE = pathlib.Path(__file__).with_name("launches.json")
COUNTS = ("launches", "kernels_compiled", "bytes_uploaded", "bytes_downloaded")
SIZE = 100


def _loop(np, turns=20):
    """Steps of three statements and a reduction."""
    x, v = np.linspace(0, 1, 4000, dtype=np.float32), np.zeros(4000, np.float32)
    total = np.zeros(1, np.float32)
    for _ in range(turns):
        force = -x * np.float32(0.01)
        v = v * np.float32(0.999) + force
        x = x + v
        total = total + np.abs(x).sum(keepdims=True)
    return x, total


def _returned_sum(np, turns=20):
    """The same with a number that is returned, and so is NumPy's after each step."""
    x, total = np.linspace(0, 1, 4000, dtype=np.float32), np.float32(0)
    for _ in range(turns):
        x = x * np.float32(0.999) + np.float32(0.01)
        total = total + np.abs(x).sum()
    return x, total


def _heat(np, size=SIZE):
    """Heat on a plate, by slices, written in place."""
    old = np.zeros((size, size), np.float32)
    old[0] = 1
    for _ in range(20):
        new = old.copy()
        new[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
        old = new
    return old


def _bodies(np, size=SIZE):
    """Steps of bodies that attract each other."""
    chance = numpy.random.default_rng(1)
    at = np.asarray(chance.standard_normal((size, 3)).astype(numpy.float32))
    speed = np.zeros((size, 3), np.float32)
    for _ in range(5):
        apart = at[None] - at[:, None]
        near = (apart * apart).sum(2) + np.float32(0.01)
        speed = speed + np.float32(0.001) * (apart / (near * np.sqrt(near))[:, :, None]).sum(1)
        at = at + np.float32(0.001) * speed
    return at


def _means(np):
    """Steps of k-means."""
    points = np.asarray(numpy.random.default_rng(1).random((1000, 2), dtype=numpy.float32))
    centres = points[:8]
    for _ in range(5):
        far = ((points[:, None] - centres[None]) ** 2).sum(2)
        mine = (far.argmin(1)[:, None] == np.arange(8)[None]).astype(np.float32)
        centres = (mine.T @ points) / np.maximum(mine.sum(0), np.float32(1))[:, None]
    return centres


def _mandelbrot(np):
    """Points that leave, by masked updates."""
    real, imaginary = np.linspace(-2, 1, SIZE, dtype=np.float32), np.linspace(-1, 1, SIZE, dtype=np.float32)
    c = real + 1j * imaginary[:, None]
    z, steps = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(20):
        inside = abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        steps[inside] += 1
    return steps


def _two_outputs(np, size=300):
    m = np.asarray(numpy.random.default_rng(1).random((size, size), dtype=numpy.float32))
    return m * 2 + 1, m * m - 3


def _three_reductions(np):
    m = np.asarray(numpy.random.default_rng(1).random(1_000_000, dtype=numpy.float32))
    return m.sum(keepdims=True), m.max(keepdims=True), (m * m).sum(keepdims=True)


def _three_numbers(np):
    """The same as NumPy's scalars, each of which is computed by itself."""
    m = np.asarray(numpy.random.default_rng(1).random(1_000_000, dtype=numpy.float32))
    return m.sum(), m.max(), (m * m).sum()


def _normalised_rows(np, size=500):
    m = np.asarray(numpy.random.default_rng(1).random((size, 300), dtype=numpy.float32))
    return (m - m.mean(1, keepdims=True)) / m.std(1, keepdims=True)


WRITTEN_HERE = [
    _loop,
    _returned_sum,
    _heat,
    _bodies,
    _means,
    _mandelbrot,
    _two_outputs,
    _three_reductions,
    _three_numbers,
    _normalised_rows,
]


def _timed(program):
    """A program of the bench on operands that gpupy has."""
    return lambda np: program.by(np, tuple(np.asarray(array) for array in program.arrays()))()


PROGRAMS = {text.__name__.strip("_"): text for text in WRITTEN_HERE} | {
    program.text.__name__: _timed(program) for program in reversed(catalogue.catalogue(quick=True))
}


def _counted(driver, text):
    gpupy._gpupy.reconfigure(driver, pauses=False)
    gpupy.reset_stats()
    found = text(gpupy)
    gpupy.evaluate(*(found if isinstance(found, tuple) else (found,)))
    stats = gpupy.stats()
    counts = {count: stats[count] for count in COUNTS}
    if driver == "cpu":
        # Which programs become machine code depends on the processor.
        del counts["kernels_compiled"]
    return counts


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_takes_no_more_than_is_written_down(driver, name):
    counted = _counted(driver, PROGRAMS[name])
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if os.environ.get("GPUPY_BLESS"):
        known.setdefault(name, {})[driver] = counted
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        return
    more = {count: value for count, value in counted.items() if value > known[name][driver][count]}
    assert not more, f"{name} takes more on {driver}: {more}, not {known[name][driver]}"


def test_the_programs_are_those_of_the_bench_and_more():
    texts = {program.text for program in catalogue.catalogue(quick=True)}
    assert {text.__name__ for text in texts} <= set(PROGRAMS) and programs.life in texts


# Sizes that GPUs divide alike: where rows are no whole groups of elements, or groups other parts of them,
# they have other kernels.
@pytest.mark.parametrize(
    ("text", "sizes"),
    [(_heat, (100, 120)), (_bodies, (100, 120)), (_two_outputs, (300, 340)), (_normalised_rows, (500, 600))],
)
def test_a_second_size_of_a_program_compiles_nothing(driver, text, sizes):
    gpupy._gpupy.reconfigure(driver, pauses=False)
    compiled = []
    for size in sizes:
        gpupy.reset_stats()
        found = text(gpupy, size)
        gpupy.evaluate(*(found if isinstance(found, tuple) else (found,)))
        compiled.append(gpupy.stats()["kernels_compiled"])
    assert compiled[1] == 0, compiled
    assert compiled[0] > 0 or driver == "soft", compiled
