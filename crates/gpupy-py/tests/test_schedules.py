"""Schedules as text: the steps of a flush, for programs of every kind.

Each program is a function, written as for NumPy; the arrays that it returns are explained on the driver
``soft``, which takes one operation a kernel, so that the text is the same on every machine.
``schedules/NAME.txt`` has it, without what differs from run to run and the kernels' code (``steady``);
``GPUPY_BLESS=1`` writes the files afresh: read the diff. Not here: the words of an explanation
(``test_explain.py``), how many launches programs take (``test_launches.py``).
"""

import os
import pathlib
import re

import numpy
import pytest

import gpupy as np

FOLDER = pathlib.Path(__file__).with_name("schedules")
PROGRAMS = {}
# The record of an evaluation, the same on every machine.
COUNTS = [
    "launches",
    "instructions",
    "in_place",
    "blocks_evaluated",
    "bytes_uploaded",
    "bytes_downloaded",
    "evictions",
    "cache_hits",
    "cache_misses",
]


def program(**limits):
    """Adds a function to the programs, to be run under these limits of the device."""

    def add(function):
        PROGRAMS[function.__name__] = (function, limits)
        return function

    return add


def given(*shape, dtype=np.float32):
    """An array of a user's: small numbers of either sign, in host memory."""
    return np.asarray(((numpy.arange(numpy.prod(shape)) * 7) % 11 - 5).reshape(shape).astype(dtype))


def steady(text):
    """A schedule without parts that differ from run to run or say little to a reader: measured times,
    whether a program was compiled, names of programs and their code."""
    text = re.sub(r"(?ms)^  program \w+ \(.*?(?=^  moved: )", "", text)
    text = re.sub(r"; program \w+(, compiled now)?", "", text)
    return re.sub(r"(took|time:|of which) [\d.]+ [mµ]s", r"\1 …", text)


@program()
def chain():
    """Operations one after another."""
    x, y = given(4, 6), given(4, 6)
    return np.sqrt(x * x + y * y) * 0.5


@program()
def broadcast():
    """A column and a row."""
    return given(4, 1) * given(6) + 1


@program()
def several_outputs():
    """Two arrays that are wanted together, of one that both read."""
    x = given(4, 6) * 2
    return np.sqrt(np.abs(x)), x + 1


@program()
def sum_of_rows():
    """A reduction along the last axis."""
    return (given(4, 600) * 2).sum(axis=1)


@program()
def sum_of_columns():
    """A reduction along the first axis."""
    return given(40, 6).sum(axis=0)


@program()
def sum_of_all():
    """A reduction of everything, in two steps of the tree."""
    return given(20, 30).sum(keepdims=True)


@program()
def sum_and_extremes():
    """Three reductions of the same elements."""
    x = given(20, 30)
    return x.sum(keepdims=True), x.max(keepdims=True), x.min(keepdims=True)


@program()
def variance():
    """Mean and variance of rows."""
    x = given(4, 60)
    return x.mean(axis=1), x.var(axis=1)


@program()
def rows_normalised():
    """Rows brought to a smallest element of zero, and to a sum of one."""
    x = given(4, 60)
    x = x - x.min(axis=1, keepdims=True)
    return x / x.sum(axis=1, keepdims=True)


@program()
def growth():
    """A costly value that would be recomputed for each row is stored first."""
    x = given(600)
    for coefficient in range(9):
        x = x * 0.5 + coefficient
    return x * given(900, 1)


@program()
def views():
    """Slices, from the end, and transposed."""
    x = given(6, 8)
    return x[1:5, ::-2] + x.T[:4, :4]


@program()
def concatenated():
    """Arrays one behind the other, computed on."""
    return np.concatenate([given(3, 4), given(2, 4) * 2]) + 1


@program()
def rolled():
    """Neighbours around a ring."""
    x = given(50)
    return np.roll(x, 1) + np.roll(x, -1) - 2 * x


@program()
def heat():
    """A step of heat on a plate, written into a copy."""
    old = given(10, 12)
    new = old.copy()
    new[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
    return new


@program()
def assigned_in_place():
    """A row of an array with no other owner."""
    x = given(4, 6) * 2
    np.evaluate(x)
    x[1] = 7
    return x


@program()
def assigned_to_what_is_pending():
    """A row of a pending array: the new value is a join of the elements around it and the written ones."""
    x = given(4, 6) * 2
    x[1] = 7
    return x


@program()
def assigned_to_a_copy():
    """A row of an array whose old elements are read afterwards."""
    x = given(4, 6) * 2
    np.evaluate(x)
    before = x + 1
    x[1] = 7
    return x, before


@program()
def masked_assignment():
    """Negative elements become zero."""
    x = given(4, 6) + 1
    x[x < 0] = 0
    return x


@program()
def taken():
    """Rows by an index array."""
    return given(8, 5)[np.asarray([7, 0, 3, 3])] * 2


@program()
def scattered():
    """Elements written by an index array."""
    x = given(12) * 3
    x[np.asarray([5, 2, 5])] = np.asarray([1, 2, 3], np.float32)
    return x


@program()
def added_at():
    """A histogram is counted in host memory when it is asked for."""
    counts = np.zeros(4, np.int32)
    np.add.at(counts, np.asarray([1, 3, 1, 0]), 1)
    return counts


@program()
def selected():
    """Elements where a mask of many is true."""
    x = given(70, 60)
    return x[x > 2] * 2


@program()
def chosen():
    """One of two arrays, element by element."""
    x = given(4, 6)
    return np.where(x > 0, np.sqrt(x), x * x)


@program()
def sorted_rows():
    """Rows in order."""
    return np.sort(given(4, 6) * 2, axis=1)[:, ::-1]


@program()
def running_sum():
    """A running sum along rows of more than one chunk."""
    return np.cumsum(given(2, 600), axis=1)


@program()
def product():
    """A layer of a network: a product, a row added, no negative numbers."""
    return np.maximum(given(20, 5) @ given(5, 30) + given(30), 0)


@program()
def product_of_few_results():
    """A layer of a network for one input: sums of products, which devices share."""
    return np.maximum(given(1, 5) @ given(5, 3) + given(3), 0)


@program(block_bytes=1000)
def product_of_large_matrices():
    """Operands of more than a block are multiplied in host memory."""
    return given(20, 20) @ given(20, 20) + 1


@program()
def cast():
    """Integers to floats and back."""
    return (given(4, 6, dtype=np.int32).astype(np.float32) / 3).astype(np.int32)


@program(strict=False)
def doubles():
    """The host driver does operations that the driver lacks, in the same flush."""
    return np.sqrt((given(200, 300) * 2).astype(np.float64) + 100).astype(np.float32) + 1


@program()
def integers():
    """Whole numbers, and bits of them."""
    x = given(40, dtype=np.int32)
    return (x // 3 + x % 3) & 255


@program()
def complex_numbers():
    """Complex numbers are NumPy's, on every driver; results go to the driver."""
    z = given(6) + 1j * given(6)
    return np.abs(z * z.conj()) + given(6)


@program()
def constants():
    """Arrays of one number each take no memory."""
    return np.zeros((4, 6), np.float32) + np.full((4, 6), 3, np.float32) * given(6)


@program(block_bytes=128)
def tiles():
    """An array of more than a block, in tiles."""
    return given(8, 12) * 2 + 1


@program(block_bytes=4096)
def sum_of_tiles():
    """A sum over elements of several blocks."""
    return (given(4, 700) * 2).sum(keepdims=True)


@program(block_bytes=256, device_bytes=768)
def evicted():
    """More than the device holds: blocks leave it and come back."""
    x = given(12, 12)
    y = x.T * 2
    return y + x


@program()
def bodies():
    """A step of bodies that attract each other."""
    at, speed = given(5, 3), given(5, 3)
    apart = at[None] - at[:, None]
    near = (apart * apart).sum(2) + 0.01
    speed = speed + 0.001 * (apart / (near * np.sqrt(near))[:, :, None]).sum(1)
    return at + 0.001 * speed, speed


@program()
def nearest_means():
    """A step of k-means: the nearest mean of each point, and the means of those."""
    points, means = given(30, 2), given(3, 2)
    apart = ((points[:, None] - means[None]) ** 2).sum(axis=2)
    own = (apart.argmin(axis=1)[:, None] == np.arange(3)).astype(np.float32)
    return (own[:, :, None] * points[:, None]).sum(axis=0) / own.sum(axis=0)[:, None]


def explained(name):
    function, limits = PROGRAMS[name]
    np._gpupy.reconfigure("soft", pauses=False, **limits)
    wanted = function()
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    return np.explain(*wanted).text, wanted


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_schedule_is_as_stored(name):
    text = f"{PROGRAMS[name][0].__doc__}\n\n{steady(explained(name)[0])}"
    file = FOLDER / f"{name}.txt"
    if os.environ.get("GPUPY_BLESS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    stored = file.read_text(encoding="utf-8") if file.exists() else ""
    assert text == stored, f"{file} is out of date; GPUPY_BLESS=1 writes it afresh"


def test_every_stored_schedule_has_a_program():
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(PROGRAMS)


@pytest.mark.parametrize("driver", ["soft", "cpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_explaining_changes_nothing_that_is_evaluated(name, driver):
    function, limits = PROGRAMS[name]

    def evaluated(explain):
        np._gpupy.reconfigure(driver, pauses=False, **limits)
        np.reset_stats()
        wanted = function()
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        (np.explain if explain else np.evaluate)(*wanted)
        stats = np.stats()
        values = [numpy.asarray(array).tobytes() for array in wanted]
        return values, {key: stats[key] for key in COUNTS}

    assert evaluated(True) == evaluated(False)
