"""Which tests run on GPU drivers: a share of the front end's, and all that are named."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import duties
import pytest

HERE = pathlib.Path(__file__).resolve().parent
CONFTEST = """
import duties
from duties import *

def pytest_collection_modifyitems(config, items):
    duties.leave_out(config, items)
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(100))
@pytest.mark.parametrize("driver", [("cpu", {}), ("DRIVER", {})])
def test_one(driver, number):
    pass

def test_of_no_driver():
    pass
"""
# Of which 101 need no GPU.
EVERY = 201


@pytest.fixture
def run(tmp_path):
    """Runs pytest in a folder with a file of tests of each duty; the tests that ran, and the output."""
    drivers = sorted(duties._GPU_DRIVERS)
    if not drivers:
        pytest.skip("the module has no GPU driver")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("views", "counts"):
        (tmp_path / f"test_{name}.py").write_text(TESTS.replace("DRIVER", drivers[0]))

    def run(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-v", "-p", "no:hypothesispytest", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        ran = {name for name in re.findall(r"test_\w+\.py::[^\s]+", done.stdout)}
        return ran, done.stdout + done.stderr

    return run


def of(file, ran):
    return {name for name in ran if name.startswith(file)}


def test_a_run_has_the_share_of_its_commit_and_says_so(run):
    ran, said = run("--share=0123456789abcdef")
    assert len(of("test_counts", ran)) == EVERY
    share = of("test_views", ran)
    assert 101 < len(share) < 140
    assert (
        f"{len(share) - 101} of 100 tests of the front end ran on GPU drivers, the share of commit 01234567; "
        "`--share=all` or `cargo xtask test all` runs all" in said.splitlines()
    )
    assert run("--share=0123456789abcdef")[0] == ran
    assert of("test_views", run("--share=fedcba9876543210")[0]) != share


def test_processes_of_one_run_have_one_share(run):
    if importlib.util.find_spec("xdist") is None:
        pytest.skip("pytest-xdist is not installed")
    ran, said = run("-n", "2")
    assert ran == run()[0]
    assert f"{len(of('test_views', ran)) - 101} of 100 tests of the front end ran on GPU drivers" in said


def test_what_is_named_is_never_left_out(run):
    everything, said = run("--share=all")
    assert len(everything) == 2 * EVERY
    assert "the share of commit" not in said
    out = min(everything - run()[0])
    for words in (["-k", "test_one"], ["-m", "not none"], ["test_views.py"], ["test_views.py::test_one"]):
        ran, said = run(*words)
        assert len([name for name in of("test_views", ran) if "::test_one" in name]) == 200
        assert "the share of commit" not in said
    assert run(out)[0] == {out}


def test_what_failed_runs_again_in_a_later_commit(run, tmp_path):
    file = tmp_path / "test_views.py"
    file.write_text(file.read_text().replace("    pass", "    assert driver[0] == 'cpu'", 1))
    failed = {name for name in run("--share=0123456789abcdef", status=1)[0] if "driver1" in name}
    failed = of("test_views", failed)
    assert failed
    assert run("--lf", "--share=fedcba9876543210", status=1)[0] >= failed


CASES = """
import duties
import pytest

@pytest.mark.parametrize("driver", [("cpu", {}), ("DRIVER", {})])
def test_cases(request, driver):
    print(driver[0], "goes through", duties.some(request.node, range(100), 4))
"""


def test_a_test_of_many_cases_goes_through_some_of_them_on_gpu_drivers(run, tmp_path):
    driver = sorted(duties._GPU_DRIVERS)[0]
    (tmp_path / "test_counts.py").write_text(CASES.replace("DRIVER", driver))

    def cases(*arguments):
        _, said = run("-s", *arguments)
        found = re.findall(r"(\w+) goes through \[(.*)\]", said)
        return {name: [int(case) for case in cases.split(", ")] for name, cases in found}

    everything = {"cpu": list(range(100)), driver: list(range(100))}
    share = cases("--share=0123456789abcdef")
    assert share["cpu"] == everything["cpu"]
    assert len(share[driver]) == 25 and share[driver] == sorted(set(share[driver]))
    assert cases("--share=0123456789abcdef") == share
    assert cases("--share=fedcba9876543210") != share
    assert cases("--share=all") == cases("test_counts.py") == everything


@pytest.mark.parametrize("processes", ["0", "1"])
def test_a_file_that_states_no_duty_fails(run, tmp_path, processes):
    if importlib.util.find_spec("xdist") is None:
        pytest.skip("pytest-xdist is not installed")
    (tmp_path / "test_views.py").rename(tmp_path / "test_of_something.py")
    _, said = run("-n", processes, status=1)
    assert "100 failed" in said
    assert (
        "`test_of_something.py` has tests on GPU drivers and states no duty: add `test_of_something` to"
        in said
    )
    assert "in `crates/gpupy-py/tests/duties.py`" in said


def test_each_commit_has_about_a_tenth_and_each_test_its_turn():
    names = [f"test_views.py::test_one[gl-{number}]" for number in range(1000)]
    commits = [f"{number:040x}" for number in range(200)]
    for commit in commits[:10]:
        assert 60 < sum(duties.is_in_share(name, commit) for name in names) < 140
    assert all(any(duties.is_in_share(name, commit) for commit in commits) for name in names)


def test_each_file_with_a_duty_exists_and_has_one():
    root = HERE.parents[2]
    names = {path.stem for folder in (HERE, root / "examples/tests") for path in folder.rglob("test_*.py")}
    files = {name.partition("::")[0] for name in duties.FRONT_END}
    assert duties.EVERY_DRIVER | files <= names
    assert not duties.EVERY_DRIVER & duties.FRONT_END
    for file, _, function in (name.partition("::") for name in sorted(duties.FRONT_END)):
        if function:
            assert file in duties.EVERY_DRIVER
            assert f"def {function}(" in (HERE / f"{file}.py").read_text()
