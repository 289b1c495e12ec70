"""The suites of libraries' own tests, as they lie in their installed packages.

Owns ``SUITES``, the table: which files, how gpupy gets in, and what pytest is told. A suite's folder is the
one that the libraries are installed in. Not here: the processes, the suites of NumPy's and CuPy's
(``numpy_tests``), which failures are known (``expected``), the command (``run_libraries.py``).
"""

import dataclasses
import functools
import importlib
import os
import pathlib
import sys
import types

import numpy
import pytest
from suites import Suite


@dataclasses.dataclass(frozen=True)
class Row:
    """One suite: what it measures, its files as patterns below the folder, and how gpupy gets in."""

    library: str
    about: str
    files: tuple
    way: str = "imports"
    # Options of pytest's that choose the tests.
    only: tuple = ()


_OF_MATPLOTLIB = (
    "cbook colors collections contour dates image lines mlab patches path transforms triangulation units"
)
_OF_SCIPY = "special signal fft ndimage stats integrate"
SUITES = {
    "pandas-frame": Row(
        "pandas", "operators of frames", ("pandas/tests/frame/test_arithmetic.py",), way="pandas"
    ),
    "pandas-series": Row(
        "pandas", "operators of series", ("pandas/tests/series/test_arithmetic.py",), way="pandas"
    ),
    "pandas-ufunc": Row(
        "pandas",
        "ufuncs of series and frames",
        ("pandas/tests/series/test_ufunc.py", "pandas/tests/frame/test_ufunc.py"),
        way="pandas",
    ),
    "pandas-arithmetic": Row(
        "pandas", "operators of all of its classes", ("pandas/tests/arithmetic/test_*.py",), way="pandas"
    ),
    "scipy": Row(
        "scipy",
        "the array API in special, signal, fft, ndimage, stats, integrate",
        tuple(f"scipy/{name}/tests/test_*.py" for name in _OF_SCIPY.split()),
        way="scipy",
        only=("-m", "array_api_backends"),
    ),
    "sklearn": Row(
        "sklearn",
        "the array API",
        ("sklearn/*/tests/test_*.py", "sklearn/tests/test_*.py"),
        way="sklearn",
        only=("-k", "array_api or array_namespace"),
    ),
    "xarray": Row(
        "xarray",
        "arrays of other classes inside its own",
        (
            "xarray/tests/test_duck_array_ops.py",
            "xarray/tests/test_array_api.py",
            "xarray/tests/test_variable.py",
            "xarray/tests/test_nputils.py",
            "xarray/tests/test_ufuncs.py",
            "xarray/tests/test_interp.py",
        ),
    ),
    "dask": Row("dask", "chunks in CuPy's place", ("dask/array/tests/test_cupy_*.py",), way="cupy"),
    "matplotlib": Row(
        "matplotlib",
        "helpers, colours, paths and collections",
        tuple(f"matplotlib/tests/test_{name}.py" for name in _OF_MATPLOTLIB.split()),
        way="pictures",
    ),
    "h5py": Row("h5py", "data sets and attributes", ("h5py/tests/test_*.py",)),
    "networkx": Row(
        "networkx",
        "graphs of matrices",
        (
            "networkx/tests/test_convert_numpy.py",
            "networkx/linalg/tests/test_*.py",
            "networkx/drawing/tests/test_layout.py",
        ),
    ),
}


class LibrarySuite(Suite):
    """A suite of a library's in the folder that it is installed in."""

    def name_of(self, nodeid):
        return nodeid.replace("\\", "/")

    def install(self, package):
        _WAYS[SUITES[self.name].way](package, self.root)


def of(name, folder):
    """The suite of a name."""
    root = pathlib.Path(folder).resolve()
    options = ["-c", os.devnull, *SUITES[name].only]
    return LibrarySuite(name, root, root, options)


def files_of(suite):
    """The test files of a suite, the longest first."""
    row = SUITES[suite.name]
    found = {f for pattern in row.files for f in suite.root.glob(pattern)}
    names = ((-f.stat().st_size, f.relative_to(suite.root).as_posix()) for f in found)
    return [name for _, name in sorted(names)]


def _imports(package, root):
    """The imports of test modules give gpupy; those of the libraries themselves stay."""
    if package != "gpupy":
        return
    imports, script = (importlib.import_module(f"gpupy._program.{name}") for name in ("imports", "script"))
    is_test = functools.partial(_is_test, root)
    sys.meta_path.insert(0, script.Finder(is_test, imports.ours))
    # What code of the tests asks at run time.
    imports.put(
        [
            str(folder)
            for folder in {f.parent for row in SUITES.values() for p in row.files for f in root.glob(p)}
        ],
        True,
    )


def _pandas(package, root):
    """pandas' helpers for tests compare classes by ``type(x)``, and know ``np.array`` by identity."""
    _imports(package, root)
    if package == "gpupy":
        calls = importlib.import_module("gpupy._libraries.calls")
        importlib.import_module("gpupy").ones(1)
        importlib.import_module("pandas._testing")
        for module, name in (("asserters", "assert_numpy_array_equal"), ("", "box_expected")):
            owner = sys.modules[f"pandas._testing.{module}".rstrip(".")]
            calls.put(owner, name, functools.partial(_given, _theirs), always=True)


def _theirs(value):
    """NumPy's counterpart of an object of ours; for an instance of a test's class, what pandas is lent."""
    if issubclass(type(value), importlib.import_module("gpupy").ndarray):
        return importlib.import_module("gpupy._libraries.instances").lent(value)
    return importlib.import_module("gpupy._libraries.compilers").theirs(value)


def _given(theirs, function):
    @functools.wraps(function)
    def given(*args, **kwargs):
        return function(*map(theirs, args), **{key: theirs(value) for key, value in kwargs.items()})

    return given


def _without_pictures(package, root):
    """Matplotlib's wheels have its tests without the pictures that their package looks for first."""
    made = sys.modules["matplotlib.tests"] = types.ModuleType("matplotlib.tests")
    made.__path__ = [str(root / "matplotlib" / "tests")]
    _imports(package, root)


def _is_test(root, file):
    return root in file.parents and (
        file.parent.name == "tests" or "tests" in file.relative_to(root).parts[:-1]
    )


def _scipy(package, root):
    os.environ["SCIPY_ARRAY_API"] = '["numpy"]'
    conftest = importlib.import_module("scipy.conftest")
    behind = importlib.import_module(package)
    marks = pytest.mark.array_api_backends
    conftest.xp_available_backends[:] = [pytest.param(behind, id="numpy", marks=marks)]


def _sklearn(package, root):
    os.environ["SCIPY_ARRAY_API"] = "1"
    sys.modules["cupy"] = _cupy(package)


def _as_cupy(package, root):
    sys.modules["cupy"] = _cupy(package)


def _cupy(package):
    """A module ``cupy`` that is the package, with CuPy's name for a copy in host memory."""
    behind = importlib.import_module(package)
    made = types.ModuleType("cupy")
    made.__getattr__ = functools.partial(getattr, behind)
    made.asnumpy = numpy.array
    return made


_WAYS = {
    "imports": _imports,
    "pandas": _pandas,
    "pictures": _without_pictures,
    "scipy": _scipy,
    "sklearn": _sklearn,
    "cupy": _as_cupy,
}
