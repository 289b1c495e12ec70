"""NumPy's test modules, imported with gpupy in NumPy's place.

Owns ``install``. Only what the test modules themselves import is replaced: the public modules that
gpupy has, and of the private ones two that tests use as another name of the namespace. Other
private modules (``numpy._core``, ``numpy.lib._…``) stay NumPy's, and NumPy itself sees nothing of
all this. Not here: the running of the tests (``worker.py``).
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys
import types

import numpy

import gpupy

_NAMESPACES = ("umath", "numeric")
"""Modules of ``numpy._core`` whose public names are the namespace's."""

_IN_C = "_multiarray_tests"
"""The module of ``numpy._core`` with tests in C. Its functions take what C extensions take, NumPy's arrays,
and some crash on anything else; so they get host memory, as NumPy's other functions do."""


def install():
    """From here on, test modules of NumPy's are imported with gpupy instead of NumPy."""
    gpupy._core = _core()
    sys.meta_path.insert(0, _Finder())


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
                module.__dict__[key] = gpupy._namespace.ufunc_of(value)
            else:
                module.__dict__[key] = getattr(gpupy, key) if public else value
        setattr(core, name, module)
        sys.modules[module.__name__] = module
    tests = importlib.import_module(f"numpy._core.{_IN_C}")
    module = types.ModuleType(f"gpupy._core.{_IN_C}")
    module.__dict__.update({k: _InC(k, v) for k, v in vars(tests).items() if k[0] != "_" and callable(v)})
    setattr(core, _IN_C, module)
    sys.modules[module.__name__] = module
    # Modules that NumPy has not imported so far.
    core.__getattr__ = lambda name: getattr(numpy._core, name)
    sys.modules[core.__name__] = core
    return core


class _InC:
    """A function in C with gpupy's arrays going in and coming out. As C's, it binds to no instance."""

    def __init__(self, name, function):
        self._function = gpupy._namespace.adapt(name, function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self._root = pathlib.Path(numpy.__file__).parent

    def find_spec(self, fullname, path, target=None):
        if not fullname.rpartition(".")[2].startswith("test_"):
            return None
        # Where the folder of the tests is no package, the module's name is just the file's.
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        file = pathlib.Path(spec.origin)
        if file.parent.name != "tests" or self._root not in file.parents:
            return None
        loader = _Loader(fullname, spec.origin)
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=loader)


class _Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        tree = _Imports().visit(ast.parse(data, path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def cache_from_source(self, path):
        raise NotImplementedError

    def get_code(self, fullname):
        # Never from bytecode, which was compiled from the module as it lies there.
        return self.source_to_code(self.get_data(self.path), self.path)


class _Imports(ast.NodeTransformer):
    """Puts ``gpupy`` in the place of ``numpy`` in import statements."""

    def visit_Import(self, node):
        new = []
        for name in node.names:
            ours = _ours(name.name)
            if ours is None or (name.asname is None and "." in name.name):
                new.append(ast.Import([name]))
            else:
                new.append(ast.Import([ast.alias(ours, name.asname or "numpy")]))
        # `import numpy.x` binds `numpy`, which then is gpupy as well.
        if any(n.name.startswith("numpy.") and n.asname is None for n in node.names):
            new.append(ast.Import([ast.alias("gpupy", "numpy")]))
        return [ast.copy_location(statement, node) for statement in new]

    def visit_ImportFrom(self, node):
        ours = _ours(node.module or "") if node.level == 0 else None
        if ours is not None:
            node.module = ours
        return node


def _ours(module):
    """gpupy's module for one of NumPy's; ``None`` where gpupy has none."""
    if module != "numpy" and not module.startswith("numpy."):
        return None
    ours = "gpupy" + module.removeprefix("numpy")
    private = any(part.startswith("_") for part in module.split("."))
    if private and module.removeprefix("numpy._core.") not in (*_NAMESPACES, _IN_C):
        return None
    try:
        found = importlib.util.find_spec(ours) if ours not in sys.modules else sys.modules[ours]
    except (ImportError, ValueError):
        return None
    return None if found is None else ours
