"""CuPy's tests are run from a folder that the user names; lists of failures are for pairs of versions."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "numpy_tests"
sys.path.append(str(FOLDER))

# A checkout of CuPy's shape.
TESTING = """
import cupy
import numpy

def same(function):
    def test_same():
        ours, theirs = function(cupy), function(numpy)
        assert isinstance(ours, (cupy.ndarray, numpy.generic))
        numpy.testing.assert_array_equal(cupy.asnumpy(ours), theirs)
    return test_same
"""
SUITE = """
import numpy
import cupy
import cupyx.scipy.sparse
from cupy import cuda, testing
from cupy._core import internal
from cupy.cuda import runtime
from cupy.exceptions import AxisError

test_sums = testing.same(lambda xp: xp.arange(6).reshape(2, 3).sum(axis=0))
test_norms = testing.same(lambda xp: xp.linalg.norm(xp.arange(6.0).reshape(2, 3), axis=1))

def test_a_device_is_a_context():
    assert not runtime.is_hip and issubclass(AxisError, ValueError)
    with cuda.Device(0):
        assert cupy.get_array_module(cupy.ones(internal.prod((2, 3)))) is cupy
        assert cupy.get_array_module(3) is numpy

def test_only_numpy():
    assert cupy.ndarray is numpy.ndarray

def test_only_gpupy():
    assert cupy.ndarray is not numpy.ndarray

def test_kernels():
    cupy.ElementwiseKernel("T x", "T y", "y = x")
"""


def checkout(folder):
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "cupy/_version.py": "__version__ = '0.0.1'\n",
        "cupy/testing/__init__.py": TESTING,
        "tests/cupy_tests/__init__.py": "",
        "tests/cupy_tests/test_small.py": SUITE,
        "tests/cupy_tests/cuda_tests/__init__.py": "",
        "tests/cupy_tests/cuda_tests/test_cuda.py": "def test_nothing(): pass\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(folder):
    command = [sys.executable, FOLDER / "run_cupy.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_score_counts_what_numpy_passes_behind_the_same_package(tmp_path):
    checkout(tmp_path)
    done = run(tmp_path)
    assert "3 of      4  test_small.py" in done.stdout, done.stdout + done.stderr
    assert "3 of 4 of the tests of CuPy 0.0.1 that pass on NumPy pass on gpupy (75.00%)" in done.stdout


def test_a_folder_without_cupys_tests_is_refused_by_name(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 2
    assert f"`{tmp_path}` has no folder `tests/cupy_tests`" in done.stderr


LIST = """
versions = ["NumPy 1, Python 1", "NumPy 2, Python 2"]
[[group]]
reason = "always"
tests = ["a.py::test_a"]
[group.only]
"NumPy 2, Python 2" = ["a.py::test_b"]
"""


def test_a_list_of_failures_is_for_pairs_of_versions(tmp_path):
    import expected

    path = tmp_path / "list.toml"
    path.write_text(LIST)
    first, second, third = (expected.load(path, f"NumPy {n}, Python {n}") for n in (1, 2, 3))
    assert first.strict and first.reasons == {"a.py::test_a": "always"}
    assert second.strict and set(second.reasons) == {"a.py::test_a", "a.py::test_b"}
    assert not third.strict
    outcomes = {"a.py::test_a": ("failed", "x"), "a.py::test_b": ("passed", "")}
    assert expected.compare(first, outcomes, ["a.py"])[0] == []
    assert expected.compare(second, outcomes, ["a.py"])[0] == ["passes, though the list has it: a.py::test_b"]
    path.write_text(LIST.replace('"NumPy 2, Python 2" = ', '"NumPy 7, Python 2" = '))
    with pytest.raises(ValueError, match="NumPy 7"):
        expected.load(path, "NumPy 1, Python 1")


def test_a_list_is_rewritten_from_a_run_for_its_versions_alone(tmp_path):
    import expected
    import rewrite

    path = tmp_path / "list.toml"
    path.write_text("# Known.\n" + LIST)
    outcomes = {
        "a.py::test_a": ("passed", ""),
        "a.py::test_b[1]": ("failed", ""),
        "a.py::test_b[2]": ("failed", ""),
        "a.py::test_c[1]": ("failed", ""),
        "a.py::test_c[2]": ("passed", ""),
    }
    rewrite.rewrite(path, "NumPy 2, Python 2", outcomes)
    first, second = (expected.load(path, f"NumPy {n}, Python {n}") for n in (1, 2))
    assert first.reasons == {"a.py::test_a": "always"}
    assert second.reasons == {"a.py::test_b": "always", "a.py::test_c[1]": rewrite.UNKNOWN}
    assert expected.compare(second, outcomes, ["a.py"])[0] == []
    assert path.read_text().startswith("# Known.\n")
    rewrite.rewrite(path, "NumPy 3, Python 3", outcomes)
    assert expected.load(path, "NumPy 3, Python 3").strict
    assert expected.load(path, "NumPy 2, Python 2").reasons == second.reasons
