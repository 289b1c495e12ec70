"""Modules that NumPy writes in Python, run anew over our arrays: ``gpupy.ma``.

Owns ``load``. The code of such a module is NumPy's; its imports of NumPy give gpupy's counterparts, so that
its classes extend ``gpupy.ndarray``. Four kinds of expressions are replaced: views of numbers, allocations of
classes, addresses of arrays, and calls of the class of a dtype's scalars.

Not here: single functions (``_numpys/rebound.py``), our own parts of masked arrays (``masked.py``).
"""

import ast
import builtins
import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import gpupy

from .._fallback import hosts
from .._gpupy import adopt, ndarray, scalar, wrap
from .._numpys import rebound, submodules
from .._session import locks
from . import masked

# The modules that are run anew, by our names: those of NumPy's with the code of each.
NAMES = {
    **{f"gpupy.ma.{name}": (f"numpy.ma.{name}",) for name in ("core", "extras", "mrecords", "testutils")},
    # The class of `r_`, which `mr_` extends.
    "gpupy.lib._index_tricks_impl": ("numpy.lib._index_tricks_impl",),
    "gpupy.ma": ("numpy.ma.core", "numpy.ma.extras"),
}
_LOADED = "_gpupy_is_loaded"


def lookup(module: types.ModuleType, name: str) -> Any:
    """Gpupy's counterpart of a name of such a module, looked up for the first time."""
    ours = module.__name__
    if name == "__path__":
        raise AttributeError(name)
    with locks.LOADING:
        # Another thread may have loaded it meanwhile.
        if name in vars(module):
            return vars(module)[name]
        if (ours, name) == ("gpupy.ma", "is_masked") and not vars(module).get(_LOADED):
            return is_masked
        if len(NAMES[ours]) == 1:
            if vars(module).get(_LOADED):
                raise AttributeError(f"module '{ours}' has no attribute '{name}'", name=name)
            return getattr(load(NAMES[ours][0]), name)
        if not vars(module).get(_LOADED):
            parts = [load(each) for each in NAMES[ours]]
            vars(module)[_LOADED] = True
            names = {each: vars(part)[each] for part in parts for each in part.__all__}
            # Beside modules that are there already.
            vars(module).update({"__all__": list(names), **names, **vars(module)})
    if name in vars(module):
        return vars(module)[name]
    # Objects that are no arrays, such as the runner of NumPy's tests.
    return getattr(submodules.source_of(module), name)


def is_masked(x: Any) -> Any:
    """NumPy's function of the name, which `unique` asks: its modules are run only for arrays with a mask."""
    return type(x) is not ndarray and hasattr(x, "_mask") and load("numpy.ma.core").is_masked(x)


def load(name: str) -> types.ModuleType:
    """The module of ours for one of NumPy's that is run anew."""
    with locks.LOADING:
        return _loaded(name)


def _loaded(name: str) -> types.ModuleType:
    ours = "gpupy" + name.removeprefix("numpy")
    module = sys.modules.setdefault(ours, types.ModuleType(ours))
    if vars(module).get(_LOADED):
        return module
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"NumPy {np.__version__} has no module `{name}`", name=name)
    source = spec.loader.get_source(name)  # type: ignore[attr-defined]
    if source is None:
        raise ImportError(f"`{name}` of NumPy {np.__version__} comes without its source", name=name)
    tree = ast.fix_missing_locations(_Views().visit(ast.parse(source)))
    code = compile(tree, spec.origin or name, "exec", dont_inherit=True)
    module.__package__, module.__file__ = ours.rpartition(".")[0], spec.origin
    # Also while it runs: modules import each other.
    vars(module)[_LOADED] = True
    vars(module)["__builtins__"] = {
        **vars(builtins),
        "__import__": _import,
        _NEW: _new,
        _VIEW: _view,
        _PLACE: _Place,
        _OURS: _of_type,
    }
    try:
        exec(code, vars(module))
    except BaseException:
        del vars(module)[_LOADED]
        raise
    for made in vars(module).values():
        if isinstance(made, types.FunctionType):
            # Functions that wrap ours take it over, which those that wrap NumPy's have not.
            vars(made).pop("__text_signature__", None)
    if name == "numpy.ma.core":
        masked.complete(module)
    if name == "numpy.ma.mrecords":
        masked.complete_records(module)
    if name == "numpy.ma.testutils":
        # Compared objects may be NumPy's, such as records.
        vars(module)["ndarray"] = (ndarray, np.ndarray)
    return module


# What stands in the code for each call of a method `view` or `__new__`, for where an array begins in memory,
# and for a call of the class of a dtype's scalars, which of an array gives one of NumPy's.
_VIEW, _NEW, _PLACE, _OURS = "_gpupy_view", "_gpupy_new", "_gpupy_place", "_gpupy_ours"


class _Views(ast.NodeTransformer):
    """Puts ``_view(x, …)`` in the place of ``x.view(…)``, and others as said above."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "view":
            node.args.insert(0, node.func.value)
            node.func = ast.copy_location(ast.Name(_VIEW, ast.Load()), node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__new__":
            node.args.insert(0, node.func.value)
            node.func = ast.copy_location(ast.Name(_NEW, ast.Load()), node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "type":
            args = [node.func, *node.args]
            return ast.copy_location(ast.Call(ast.Name(_OURS, ast.Load()), args, []), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if ast.unparse(node).endswith(".__array_interface__['data'][0]"):
            array = node.value.value.value  # type: ignore[attr-defined]
            return ast.copy_location(ast.Call(ast.Name(_PLACE, ast.Load()), [array], []), node)
        return node


def _view(value: Any, *args: Any, **kwargs: Any) -> Any:
    """A view of an array, or of a number, which as NumPy's scalar is one of no class of ours."""
    if isinstance(value, type):
        # The method of a class, called with an array.
        return value.view(_array(args[0]), *args[1:], **kwargs)  # type: ignore[attr-defined]
    if isinstance(value, (np.generic, scalar)):
        # To NumPy's, too, it stays a number, whatever the class.
        is_class = lambda x: isinstance(x, type) and issubclass(x, ndarray)  # noqa: E731
        asked = [x for x in (*args, *kwargs.values()) if not is_class(x)]
        return value.view(*asked)
    return _array(value).view(*args, **kwargs)


def _new(owner: Any, kind: Any, *args: Any, **kwargs: Any) -> Any:
    """Allocates for a subclass; record arrays are NumPy's, and their subclasses here ours."""
    if isinstance(owner, type) and issubclass(owner, np.ndarray) and issubclass(kind, ndarray):
        made = owner.__new__(owner, *hosts.to_host(args), **hosts.named_to_host(kwargs))
        return _array(made).view(kind)
    if owner is ndarray and issubclass(kind, np.ndarray):
        return np.ndarray.__new__(kind, *args, **kwargs)
    return owner.__new__(kind, *args, **kwargs)


def _of_type(kind: Any, value: Any) -> Any:
    """A call of the class of a dtype's scalars: a number, or an array of the same class."""
    return value.astype(kind) if isinstance(value, ndarray) and value.ndim else wrap(kind(value))


def _array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # Such as a field of records: writes to it reach them.
        return adopt(value.view(np.ndarray)) if value.flags.writeable else gpupy.asarray(value)
    return gpupy.asarray(value) if isinstance(value, (np.generic, scalar)) else value


class _Place:
    """Where an array's elements begin, which is asked without giving their memory out."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __ne__(self, other: object) -> bool:
        a, b = self._array, other._array  # type: ignore[attr-defined]
        if a._lazy and b._lazy:
            return not a._shares(b) or a._offset != b._offset
        hosts = [x._host() for x in (a, b)]
        return hosts[0].ctypes.data != hosts[1].ctypes.data


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """``__import__`` for such a module."""
    if level:
        package = "numpy" + str((globals or {}).get("__package__")).removeprefix("gpupy")
        parent = package.rsplit(".", level - 1)[0]
        if not name:
            return _Imported({each: load(f"{parent}.{each}") for each in fromlist or ()})
        name = f"{parent}.{name}"
    elif name != "numpy" and not name.startswith("numpy."):
        return builtins.__import__(name, globals, locals, fromlist or (), 0)
    ours = "gpupy" + name.removeprefix("numpy")
    if ours in NAMES and fromlist:
        return load(name) if len(NAMES[ours]) == 1 else sys.modules[ours]
    source = importlib.import_module(name)
    # `import a.b as c` reads an attribute of the package.
    return _ours(source) if fromlist else _package()


def _ours(source: types.ModuleType) -> Any:
    if source.__name__ == "numpy._utils":
        return _Imported({"set_module": _set_module}, source)
    return rebound.ours_of(source)


class _Imported:
    """The module from which an import statement takes names."""

    def __init__(self, names: dict[str, Any], source: Any = None) -> None:
        self.__dict__.update(names)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


class _Package:
    """``numpy``, or ``numpy.lib``, to a module that is run anew: gpupy's, with private modules too."""

    def __init__(self, theirs: Any, ours: Any) -> None:
        self._theirs, self._own = theirs, ours

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(self._theirs, name, None)
        if isinstance(found, types.ModuleType) and name.startswith("_"):
            found = rebound.ours_of(found)
        elif name == "lib":
            found = _Package(found, self._own.lib)
        else:
            return getattr(self._own, name)
        setattr(self, name, found)
        return found


@functools.cache
def _package() -> _Package:
    return _Package(np, gpupy)


def _set_module(module: str) -> Any:
    """The decorator of NumPy's that says where a name is public, which is in gpupy."""

    def decorated(made: Any) -> Any:
        made.__module__ = "gpupy" + module.removeprefix("numpy")
        return made

    return decorated
