"""Everyday steps with a library, each done with NumPy's arrays and with ours, and compared.

Owns ``Steps``, the list of a library's steps, ``compare``, and ``dispatched``. A step is a function of the
array namespace and of the library; what it gives has to be the same with both namespaces, whichever class of
array it is. One that is known to fail says why, and is an error once it does not. Not here: the steps
(``test_*.py``).
"""

import functools
import importlib
import math
import os
import subprocess
import sys
from collections.abc import Mapping

import numpy
import pytest

import gpupy


class Steps:
    """The steps of one library: ``@steps`` adds one, ``steps.tests()`` makes the test of all."""

    def __init__(self, library):
        self._library = library
        self._cases = []

    def __call__(self, function=None, *, fails=None):
        if function is None:
            return lambda function: self(function, fails=fails)
        marks = [pytest.mark.xfail(reason=fails, strict=True)] if fails else []
        name = function.__name__.replace("_", " ").strip()
        assert name not in {case.id for case in self._cases}, name
        self._cases.append(pytest.param(function, id=name, marks=marks))
        return function

    def tests(self):
        """A test of each step. Where the library is not installed, all are skipped, which is counted."""

        @pytest.mark.parametrize("step", self._cases)
        def test_a_step_gives_with_our_arrays_what_it_gives_with_numpys(step):
            try:
                library = importlib.import_module(self._library)
            except ImportError:
                pytest.skip(f"`{self._library}` is not installed")
            wanted = step(numpy, library)
            assert wanted is not None, "a step gives what is to be compared"
            compare(step(gpupy, library), wanted)

        return test_a_step_gives_with_our_arrays_what_it_gives_with_numpys


# Sums are within the bound that the operation states; nothing else here rounds otherwise.
TOLERANCE = {"e": 1e-2, "f": 1e-5, "F": 1e-5}


def compare(found, wanted, where="result"):
    """Raises an AssertionError where two results differ: in kind, dtype, shape or elements."""
    if isinstance(wanted, Mapping):
        assert list(found) == list(wanted), where
        for key in wanted:
            compare(found[key], wanted[key], f"{where}[{key!r}]")
    elif type(wanted) in (list, tuple):
        assert type(found) is type(wanted), f"{where}: {found!r}"
        assert len(found) == len(wanted), f"{where}: {found!r}, {wanted!r}"
        for n, (one, other) in enumerate(zip(found, wanted, strict=True)):
            compare(one, other, f"{where}[{n}]")
    elif isinstance(wanted, (str, bytes, bool, int, type, type(None))):
        assert found == wanted, f"{where}: {found!r}, {wanted!r}"
    elif isinstance(wanted, float) and not isinstance(wanted, numpy.generic):
        same = math.isclose(found, wanted, rel_tol=1e-12) or (math.isnan(found) and math.isnan(wanted))
        assert isinstance(found, float) and same, f"{where}: {found!r}, {wanted!r}"
    elif hasattr(wanted, "equals"):
        assert type(found) is type(wanted), f"{where}: {type(found)}, {type(wanted)}"
        assert found.equals(wanted), f"{where}: {found}, {wanted}"
    else:
        _compare_arrays(found, wanted, where)


def _compare_arrays(found, wanted, where):
    """A NumPy array of an array, a scalar, or another library's array, to compare it."""
    found, wanted = numpy.asarray(found), numpy.asarray(wanted)
    kinds = f"{where}: {found.dtype}{found.shape}, {wanted.dtype}{wanted.shape}"
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), kinds
    if wanted.dtype.kind in "fc":
        bound = TOLERANCE.get(wanted.dtype.char, 1e-11)
        numpy.testing.assert_allclose(found, wanted, rtol=bound, atol=bound, err_msg=where)
    else:
        numpy.testing.assert_array_equal(found, wanted, err_msg=where)


@functools.cache
def dispatched(program):
    """What a program says of each of its calls, by its name, where libraries ask arrays for namespaces."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())
