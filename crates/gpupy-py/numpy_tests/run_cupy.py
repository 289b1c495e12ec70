"""CuPy's own tests, of which a checkout is given, with gpupy in CuPy's place.

``run_cupy.py FOLDER [FILE…]`` runs them on gpupy and on NumPy behind the same proxy, and counts those that
NumPy passes; what only NumPy passes is held against ``expected_cupy.toml``. Owns the command line and the
choice of files. Not here: the proxy (``cupy_proxy.py``), the processes (``processes.py``), the verdict
(``run.py``).
"""

import argparse
import json
import os
import pathlib
import sys
import time

import expected
import processes
import rewrite
import run
import suites

_LIST = pathlib.Path(__file__).with_name("expected_cupy.toml")

_WITHOUT = (
    *("cuda_tests", "testing_tests", "core_tests/fusion_tests", "core_tests/test_raw.py"),
    *("core_tests/test_userkernel.py", "test_cublas.py"),
)
"""Tests of CUDA, of CuPy's own compilers, and of its helpers for tests, not of what NumPy has."""


def all_files(suite):
    """The test files, the longest first."""
    found = [
        (-f.stat().st_size, f.relative_to(suite.tests).as_posix()) for f in suite.tests.rglob("test_*.py")
    ]
    return [name for _, name in sorted(found) if not name.startswith(_WITHOUT)]


def version(folder):
    """The version that the checkout states."""
    text = (folder / "cupy" / "_version.py").read_text(encoding="utf-8")
    return text.partition("__version__ = ")[2].split()[0].strip("'\"")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="a checkout of cupy/cupy")
    parser.add_argument("files", nargs="*", help="such as `math_tests/test_matmul.py`; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--json", type=pathlib.Path, help="where to write outcomes and texts")
    parser.add_argument("--driver", default="cpu", help="the driver that gpupy uses")
    parser.add_argument("--rewrite", action="store_true", help="make the list what this run gives")
    given = parser.parse_args()
    suite = suites.cupys(given.folder)
    if not suite.tests.is_dir():
        parser.error(f"`{given.folder}` has no folder `tests/cupy_tests`: it is no checkout of cupy")
    os.environ["GPUPY_DRIVER"] = given.driver
    known = all_files(suite)
    unknown = [f for f in given.files if f not in known]
    if unknown:
        parser.error(f"no test file `{unknown[0]}` below {suite.tests}")
    begun = time.monotonic()
    files = given.files or known
    groups = run.grouped(suite, files)
    theirs = processes.outcomes(suite, "numpy", groups, given.jobs)
    passing = [test for test, (outcome, _) in theirs.items() if outcome == "passed"]
    ours = processes.outcomes(suite, "gpupy", groups, given.jobs, only=passing)
    missing = ("failed", "it was not collected")
    outcomes = {test: ours.get(test, ours.get(test.partition("::")[0], missing)) for test in passing}
    if given.json:
        given.json.write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    whose = f"CuPy {version(given.folder)}"
    if given.rewrite and not given.files:
        rewrite.rewrite(_LIST, f"{whose}, {run.versions()}", outcomes)
    reasons = expected.load(_LIST, f"{whose}, {run.versions()}")
    return run.report(reasons, f"the tests of {whose}", outcomes, files, time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main())
