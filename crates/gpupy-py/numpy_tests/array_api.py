"""The Array API's own tests (data-apis/array-api-tests) on gpupy, beside NumPy in the same environment.

``array_api.py FOLDER`` takes a checkout of that suite, which is no part of this project, runs its
``array_api_tests`` on NumPy and on gpupy, prints what only NumPy passes, and the score. Not here: NumPy's
own tests (``run.py``).
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

_TESTS = "array_api_tests"


def outcomes(folder, package):
    """A dictionary from test to whether it passed; what was skipped is left out."""
    with tempfile.TemporaryDirectory() as place:
        report = pathlib.Path(place, "report.xml")
        command = [sys.executable, "-m", "pytest", _TESTS, "-q", "--tb=no", "--disable-warnings"]
        command += ["-p", "no:cacheprovider", f"--junitxml={report}", "--hypothesis-seed=0"]
        environment = {**os.environ, "ARRAY_API_TESTS_MODULE": package, "PYTHONDONTWRITEBYTECODE": "1"}
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        if not report.exists():
            raise SystemExit(f"pytest ended with status {status} on `{package}` and left no report")
        cases = xml.etree.ElementTree.parse(report).iter("testcase")
        return {
            f"{case.get('classname')}::{case.get('name')}": not {"failure", "error"} & {c.tag for c in case}
            for case in cases
            if case.find("skipped") is None
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="a checkout of data-apis/array-api-tests")
    parser.add_argument("--driver", default="cpu", help="the driver that gpupy uses")
    given = parser.parse_args()
    if not (given.folder / _TESTS).is_dir():
        parser.error(f"`{given.folder}` has no folder `{_TESTS}`: it is no checkout of array-api-tests")
    os.environ["GPUPY_DRIVER"] = given.driver
    theirs, ours = (outcomes(given.folder, package) for package in ("numpy", "gpupy"))
    wanted = sorted(test for test, passed in theirs.items() if passed)
    missed = [test for test in wanted if not ours.get(test, False)]
    for test in missed:
        print(f"only NumPy passes: {test}")
    passed = len(wanted) - len(missed)
    print(f"{passed} of {len(wanted)} tests of the Array API that pass on NumPy pass on gpupy")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
