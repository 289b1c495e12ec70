"""Random programs behave on every driver like NumPy: values, dtypes, shapes, aliasing, refusals.

`GPUPY_DIFFERENTIAL=100000` runs so many programs on each driver. Where `CI` is set, every run takes the same
ones, which nothing but their numbers decides; elsewhere Hypothesis draws fewer and new ones, and shrinks.
"""

import functools
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpupy

from .draft import Draft
from .replay import replay

# Drivers whose programs cost no compilation.
_QUICK = ("cpu", "soft")
# Elements of a program's first arrays; blocks of 256 bytes take a launch for every few of them.
_MOST = {"recorded": 140_000, "at-once": 140_000, "tiny": 2_100}
# All work is recorded; or what is small is computed at once; or blocks have few elements.
_LIMITS = {
    "recorded": {},
    "at-once": {"strict": False},
    "tiny": {"block_bytes": 256, "device_bytes": 16384},
}


def _programs(driver):
    asked = os.environ.get("GPUPY_DIFFERENTIAL")
    if asked:
        return int(asked)
    if driver not in _QUICK:
        return 300
    return 10_000 if os.environ.get("CI") else 600


def _cases():
    for row in gpupy.drivers():
        name = row["name"]
        marks = [] if row["starts"] else [pytest.mark.skip(reason=f"cannot start: {row['reason']}")]
        for limits in _LIMITS if name in _QUICK else ["recorded"]:
            yield pytest.param(row, limits, id=f"{name}-{limits}", marks=marks)


@functools.cache
def _numbers(below):
    return st.integers(0, below - 1)


@st.composite
def programs(draw, most):
    """A program that shrinks to fewer lines and simpler operands."""
    return Draft(lambda n: draw(_numbers(n)), most).program(20)


@pytest.mark.parametrize(("row", "limits"), list(_cases()))
def test_random_programs_do_what_numpys_do(row, limits):
    gpupy._gpupy.reconfigure(row["name"], **_LIMITS[limits])
    opening = f"gpupy._gpupy.reconfigure({row['name']!r}, **{_LIMITS[limits]})"
    share = len(_LIMITS) if row["name"] in _QUICK else 1
    count = -(-_programs(row["name"]) // share)

    def does_what_numpys_does(program):
        replay(program, opening, row["flushes_subnormals"])

    if os.environ.get("CI"):
        for number in range(count):
            numbers = random.Random(f"{row['name']} {limits} {number}")
            program = Draft(numbers.randrange, _MOST[limits]).program(20)
            # A second run finds the cached plans.
            for _ in range(2 if number % 4 == 0 else 1):
                does_what_numpys_does(program)
    else:
        settings(max_examples=count, database=None)(given(programs(_MOST[limits]))(does_what_numpys_does))()
