"""The Array API's tests are run from a folder that the user names."""

import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[1] / "numpy_tests" / "array_api.py"

# A folder of the suite's shape: the module under test is named by the environment.
SUITE = """
import importlib, os
import pytest
from hypothesis import given, strategies

xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])

@given(strategies.integers(0, 9))
def test_sizes(n):
    assert xp.ones(n).size == n

def test_only_numpy():
    assert xp.__name__ == "numpy"

def test_nobody():
    assert xp.arange(3).size == 4

def test_skipped():
    pytest.skip("not asked for")
"""


def run(folder):
    command = [sys.executable, SCRIPT, folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_score_counts_what_numpy_passes_too(tmp_path):
    (tmp_path / "array_api_tests").mkdir()
    (tmp_path / "array_api_tests" / "test_small.py").write_text(SUITE)
    done = run(tmp_path)
    assert done.returncode == 1, done.stderr
    said = [line for line in done.stdout.splitlines() if "NumPy" in line]
    assert said == [
        "only NumPy passes: array_api_tests.test_small::test_only_numpy",
        "1 of 2 tests of the Array API that pass on NumPy pass on gpupy",
    ]


def test_a_folder_without_the_suite_is_refused_by_name(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 2
    assert f"`{tmp_path}` has no folder `array_api_tests`" in done.stderr
