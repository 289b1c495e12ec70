"""One process of the run: pytest on some files of a suite, each outcome written at once.

``worker.py SUITE FOLDER PACKAGE OUTCOMES FILE…``; ``PACKAGE`` is ``gpupy`` or ``numpy``. Each line of
``OUTCOMES`` is a JSON object, so that what ran when the process died is known: a test that begins, its
outcome, or a module that could not be imported. On standard input come the names of tests, one on a line:
as JSON, after ``-`` those to leave out, after ``+`` the only ones to run. Not here: what the outcomes mean
(``run.py``).
"""

import json
import sys
import warnings

import pytest
import suites

LONGEST = 4000
"""Characters of a failure's text that are kept."""


class Recorder:
    """Writes down what pytest reports."""

    def __init__(self, suite, file, selection):
        self._name_of, self._file = suite.name_of, file
        self._without = {json.loads(line[1:]) for line in selection if line.startswith("-")}
        self._only = {json.loads(line[1:]) for line in selection if line.startswith("+")}

    def _write(self, **record):
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def pytest_collection_modifyitems(self, config, items):
        def chosen(item):
            name = self._name_of(item.nodeid)
            return name not in self._without and (not self._only or name in self._only)

        left_out = [item for item in items if not chosen(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if chosen(item)]

    def pytest_collectreport(self, report):
        if report.failed:
            self._write(module=self._name_of(report.nodeid), text=str(report.longrepr)[-LONGEST:])

    def pytest_runtest_logstart(self, nodeid):
        self._outcome, self._text = "passed", ""
        self._write(begins=self._name_of(nodeid))

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed" and self._outcome != "failed":
            xfailed = hasattr(report, "wasxfail")
            self._outcome = "skipped" if xfailed or report.outcome == "skipped" else "failed"
            self._text = str(report.longrepr)[-LONGEST:]

    def pytest_runtest_logfinish(self, nodeid):
        self._write(test=self._name_of(nodeid), outcome=self._outcome, text=self._text)


def main(name, folder, package, outcomes, *files):
    selection = sys.stdin.read().splitlines()
    suite = suites.of(name, folder)
    suite.install(package)
    paths = [str(suite.tests / file) for file in files]
    options = ["-q", "--assert=plain", "--tb=short", "-p", "no:cacheprovider", *suite.options]
    options += ["--rootdir", str(suite.root), "--disable-warnings", "--import-mode=prepend"]
    options += ["--continue-on-collection-errors"]
    with open(outcomes, "a", encoding="utf-8") as file, warnings.catch_warnings():
        code = pytest.main([*options, *paths], plugins=[Recorder(suite, file, selection)])
    return 0 if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
