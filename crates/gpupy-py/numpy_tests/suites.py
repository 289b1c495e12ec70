"""The suites of tests that other projects wrote, and what pytest needs for each.

Owns ``Suite``: NumPy's tests lie in the installed wheel, CuPy's in a checkout that is given. A test's name
in the reports is its path below ``tests``, with class and parameters. Not here: how gpupy gets into NumPy's
place (``replace.py``) and into CuPy's (``cupy_proxy.py``).
"""

import dataclasses
import importlib
import importlib.util
import os
import pathlib
import sys


@dataclasses.dataclass
class Suite:
    """Where the tests lie, and the options of pytest for them."""

    name: str
    root: pathlib.Path
    tests: pathlib.Path
    options: list

    def name_of(self, nodeid):
        """A test's name in the reports."""
        inside = self.tests.relative_to(self.root).as_posix() + "/"
        return nodeid.replace("\\", "/").removeprefix(inside)

    def install(self, package):
        """From here on, the suite's modules are imported with `package` in place of what they test."""
        if self.name == "cupy":
            importlib.import_module("cupy_proxy").install(package, self.root)
        elif package == "gpupy":
            # The other runs are NumPy's alone, without a trace of gpupy.
            importlib.import_module("replace").install()


def numpys():
    """NumPy's own tests."""
    tests = pathlib.Path(importlib.util.find_spec("numpy").origin).parent
    return Suite("numpy", tests.parent, tests, ["-c", os.devnull, "-m", "not slow"])


def cupys(folder):
    """CuPy's tests in a checkout, with the checkout's own configuration of pytest."""
    folder = pathlib.Path(folder).resolve()
    options = ["-c", str(folder / "pyproject.toml"), "-m", "not slow and not multi_gpu"]
    return Suite("cupy", folder, folder / "tests" / "cupy_tests", options)


def of(name, folder):
    """The suite of a name; ``folder`` is its checkout, where it is one."""
    if name in ("cupy", "numpy"):
        return cupys(folder) if name == "cupy" else numpys()
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "library_tests"))
    return importlib.import_module("library_suites").of(name, folder)
