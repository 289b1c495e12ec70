"""One process of the run: pytest on some files of NumPy's tests, each outcome written at once.

``worker.py PACKAGE OUTCOMES FILE…``; ``PACKAGE`` is ``gpupy`` or ``numpy``. Each line of ``OUTCOMES``
is a JSON object, so that what ran when the process died is known: a test that begins, its outcome,
or a module that could not be imported. On standard input come the names of tests, one on a line:
after ``-`` those to leave out, after ``+`` the only ones to run. Not here: what the outcomes mean
(``run.py``).
"""

import importlib
import json
import os
import sys
import warnings

import numpy
import pytest

LONGEST = 4000
"""Characters of a failure's text that are kept."""


def name_of(nodeid):
    """A test's name in the reports: its path below NumPy's folder, with class and parameters."""
    return nodeid.replace("\\", "/").removeprefix("numpy/")


class Recorder:
    """Writes down what pytest reports."""

    def __init__(self, file, selection):
        self._file = file
        self._without = {line[1:] for line in selection if line.startswith("-")}
        self._only = {line[1:] for line in selection if line.startswith("+")}

    def _write(self, **record):
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def pytest_collection_modifyitems(self, config, items):
        def chosen(item):
            name = name_of(item.nodeid)
            return name not in self._without and (not self._only or name in self._only)

        left_out = [item for item in items if not chosen(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if chosen(item)]

    def pytest_collectreport(self, report):
        if report.failed:
            self._write(module=name_of(report.nodeid), text=str(report.longrepr)[-LONGEST:])

    def pytest_runtest_logstart(self, nodeid):
        self._outcome, self._text = "passed", ""
        self._write(begins=name_of(nodeid))

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed" and self._outcome != "failed":
            xfailed = hasattr(report, "wasxfail")
            self._outcome = "skipped" if xfailed or report.outcome == "skipped" else "failed"
            self._text = str(report.longrepr)[-LONGEST:]

    def pytest_runtest_logfinish(self, nodeid):
        self._write(test=name_of(nodeid), outcome=self._outcome, text=self._text)


def main(package, outcomes, *files):
    selection = sys.stdin.read().splitlines()
    if package == "gpupy":
        # The other runs are NumPy's alone, without a trace of gpupy.
        importlib.import_module("replace").install()
    # The folder from which the names of tests are counted.
    root = os.path.dirname(os.path.dirname(numpy.__file__))
    paths = [os.path.join(root, "numpy", file) for file in files]
    options = ["-q", "--assert=plain", "--tb=short", "-m", "not slow", "-p", "no:cacheprovider"]
    options += ["-c", os.devnull, "--rootdir", root, "--disable-warnings", "--import-mode=prepend"]
    options += ["--continue-on-collection-errors"]
    with open(outcomes, "a", encoding="utf-8") as file, warnings.catch_warnings():
        code = pytest.main([*options, *paths], plugins=[Recorder(file, selection)])
    return 0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
