"""NumPy's test modules, imported with gpupy in NumPy's place.

Owns ``install``. Only what the test modules themselves import is replaced: the public modules that
gpupy has, and of the private ones two that tests use as another name of the namespace. Other
private modules (``numpy._core``, ``numpy.lib._…``) stay NumPy's, and NumPy itself sees nothing of
all this. Not here: how imports are replaced (gpupy's ``_program/script.py``), the running of the tests
(``worker.py``).
"""

import functools
import importlib
import pathlib
import sys
import types

import numpy

import gpupy
from gpupy._classes.ufuncs import ufunc_of
from gpupy._namespace import namespace
from gpupy._program import imports, script

_NAMESPACES = ("umath", "numeric")
"""Modules of ``numpy._core`` whose public names are the namespace's."""

_IN_C = "_multiarray_tests"
"""The module of ``numpy._core`` with tests in C. Its functions take what C extensions take, NumPy's arrays,
and some crash on anything else; so they get host memory, as NumPy's other functions do."""

_CASTS = "_multiarray_umath"
"""The module of ``numpy._core`` that gives the loops of casts to tests; their arguments are C's, too."""


def install():
    """From here on, test modules of NumPy's are imported with gpupy instead of NumPy."""
    gpupy._core = _core()
    sys.meta_path.insert(0, script.Finder(_is_test, _ours))


def _core():
    """``numpy._core`` with gpupy's objects where the namespace has the same ones."""
    core = types.ModuleType("gpupy._core")
    core.__dict__.update({k: v for k, v in vars(numpy._core).items() if not k.startswith("__")})
    for name in _NAMESPACES:
        theirs = getattr(numpy._core, name)
        module = types.ModuleType(f"gpupy._core.{name}")
        for key, value in vars(theirs).items():
            if key.startswith("__"):
                continue
            public = getattr(numpy, key, None) is value and not isinstance(value, types.ModuleType)
            if isinstance(value, numpy.ufunc):
                module.__dict__[key] = ufunc_of(value)
            else:
                module.__dict__[key] = getattr(gpupy, key) if public else value
        setattr(core, name, module)
        sys.modules[module.__name__] = module
    tests = importlib.import_module(f"numpy._core.{_IN_C}")
    module = types.ModuleType(f"gpupy._core.{_IN_C}")
    module.__dict__.update({k: _InC(k, v) for k, v in vars(tests).items() if k[0] != "_" and callable(v)})
    setattr(core, _IN_C, module)
    sys.modules[module.__name__] = module
    theirs = importlib.import_module(f"numpy._core.{_CASTS}")
    module = types.ModuleType(f"gpupy._core.{_CASTS}")
    module.__getattr__ = functools.partial(getattr, theirs)
    module._get_castingimpl = lambda *dtypes: _Cast(theirs._get_castingimpl(*dtypes))
    setattr(core, _CASTS, module)
    sys.modules[module.__name__] = module
    # Modules that NumPy has not imported so far.
    core.__getattr__ = lambda name: getattr(numpy._core, name)
    sys.modules[core.__name__] = core
    return core


class _InC:
    """A function in C with gpupy's arrays going in and coming out. As C's, it binds to no instance."""

    def __init__(self, name, function):
        self._function = namespace.adapt(name, function, f"gpupy._core.{_IN_C}")

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


class _Cast:
    """A loop of NumPy's that casts, with the elements of gpupy's arrays going in and coming out."""

    def __init__(self, theirs):
        self._theirs = theirs

    def __getattr__(self, name):
        return getattr(self._theirs, name)

    def _simple_strided_call(self, args):
        hosts = tuple(numpy.array(a) if isinstance(a, gpupy.ndarray) else a for a in args)
        self._theirs._simple_strided_call(hosts)
        for array, before, host in zip(args, map(numpy.asarray, args), hosts, strict=True):
            if before.tobytes() != host.tobytes():
                array[...] = host


def _is_test(file):
    """Whether a file is a test module of NumPy's."""
    root = pathlib.Path(numpy.__file__).resolve().parent
    return file.name.startswith("test_") and file.parent.name == "tests" and root in file.parents


def _ours(module):
    """gpupy's module for one of NumPy's; ``None`` where gpupy has none."""
    package, _, name = module.rpartition(".")
    if package == "numpy._core" and name in (*_NAMESPACES, _IN_C, _CASTS):
        return f"gpupy._core.{name}"
    return imports.ours(module)
