"""A package named ``cupy`` that answers with gpupy, or with NumPy, for the time of CuPy's tests.

Owns ``install``. The namespace and its public submodules are the package's; ``cupy.testing`` is the
checkout's own; the few functions that are CuPy's alone (``asnumpy``, ``get_array_module``) are here. CUDA
and CuPy's private modules are ``Absent``: they can be imported, and entered as contexts (a device, a
stream), and are false; a test that wants more of them fails on NumPy as well, and does not count. Not here:
which tests run (``run_cupy.py``).
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import math
import sys
import types

import numpy

_ABSENT = ("cupy.cuda", "cupy.cublas", "cupy.cusolver", "cupyx", "cupy_backends")
"""Packages of which nothing is here."""

_INTERNAL = "cupy._core.internal"
"""The private module of which CuPy's helpers for tests need a function."""

_VERSION = 13000
"""The CUDA that is said to be here, for the tests that are skipped on old ones."""


def install(package, folder):
    """From here on ``import cupy`` gives a proxy of the module ``package``; ``folder`` is CuPy's checkout."""
    behind = importlib.import_module(package)
    if behind is not numpy:
        # CuPy's name for a copy in host memory; tests with tolerances use it.
        behind.ndarray.get = _get
    sys.meta_path.insert(0, _Finder(behind, folder))
    importlib.import_module("cupy")


def _get(array):
    return numpy.array(array)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, behind, folder):
        self._behind, self._folder = behind, folder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ("cupy", "cupyx", "cupy_backends"):
            return None
        if name.startswith("cupy.testing"):
            place = self._folder.joinpath(*name.split("."))
            inside = [str(place)] if place.is_dir() else None
            file = place / "__init__.py" if inside else place.with_suffix(".py")
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        name = spec.name
        if name == "cupy":
            return _Namespace(name, self._behind, _of_cupy(self._behind))
        if name == "cupy.exceptions":
            return _Namespace(name, numpy.exceptions, {})
        if name == _INTERNAL:
            return _Namespace(name, types.SimpleNamespace(), {"prod": math.prod})
        behind = self._submodule(name)
        if behind is None or name.startswith(_ABSENT):
            return _AbsentModule(name)
        return _Namespace(name, behind, {"reset_states": _reset_states} if name == "cupy.random" else {})

    def _submodule(self, name):
        parts = name.split(".")[1:]
        if any(part.startswith("_") for part in parts):
            return None
        found = self._behind
        for part in parts:
            found = getattr(found, part, None)
        return found if isinstance(found, types.ModuleType) else None

    def exec_module(self, module):
        if module.__name__ == "cupy":
            for name in ("cuda", "exceptions", "random", "linalg", "fft", "lib", "testing", "polynomial"):
                importlib.import_module(f"cupy.{name}")


class _Namespace(types.ModuleType):
    """A module of the package's, with what is CuPy's own."""

    def __init__(self, name, behind, own):
        super().__init__(name)
        self.__dict__.update(own)
        self.__dict__["_behind"] = behind

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if not name.startswith("_"):
            found = getattr(self._behind, name)
            if isinstance(found, types.ModuleType):
                return importlib.import_module(f"{self.__name__}.{name}")
            return found
        return importlib.import_module(f"{self.__name__}.{name}")

    def __dir__(self):
        return dir(self._behind)


class Absent:
    """A placeholder for CUDA and CuPy's internals: false, empty, and a context that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _answer(name)

    def __call__(self, *args, **kwargs):
        return Absent()

    def __bool__(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return False


class _AbsentModule(types.ModuleType):
    def __init__(self, name):
        super().__init__(name)
        self.__dict__["_random_states"] = {}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        inside = f"{self.__name__}.{name}"
        return importlib.import_module(inside) if inside == _INTERNAL else _answer(name)


class AbsentError(Exception):
    """An error of CUDA's, which is never raised."""


def _answer(name):
    """The placeholder for an absent name: errors are classes, versions are numbers."""
    if name.endswith(("Error", "Exception", "Warning")):
        return AbsentError
    if name.endswith("GetVersion") or name in (
        "getVersion",
        "get_local_runtime_version",
        "get_build_version",
    ):
        return lambda: _VERSION
    if name == "get_compute_capability":
        return lambda: "90"
    if name.isupper():
        # A constant, such as a size from which on another way is taken.
        return 0
    if name == "issparse":
        return lambda value: False
    return Absent()


def _reset_states():
    """CuPy's way to forget generators; its tests of values look whether the table is a new one."""
    importlib.import_module("cupy.random._generator")._random_states = {}


def _of_cupy(behind):
    """The functions of CuPy's namespace that NumPy has not."""

    def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
        host = numpy.array(a, order=order, copy=None) if not isinstance(a, numpy.generic) else a
        if out is None:
            return numpy.asarray(host)
        out[...] = host
        return out

    def get_array_module(*args):
        return sys.modules["cupy"] if any(isinstance(a, behind.ndarray) for a in args) else numpy

    return {"asnumpy": asnumpy, "get_array_module": get_array_module, "__version__": "proxy"}
