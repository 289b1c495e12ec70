"""NumPy's submodules under our name: ``gpupy.random``, ``gpupy.linalg`` and the others.

Owns ``install``, which makes them importable without importing NumPy's. Not here: what their
functions become (``_namespace/namespace.py``).
"""

import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes.texts import TextOf

NAMES = (
    "char ctypeslib dtypes emath exceptions fft lib lib.array_utils lib.format lib.mixins lib.npyio "
    "lib.recfunctions lib.scimath lib.stride_tricks linalg ma ma.core ma.extras ma.mrecords "
    "ma.testutils polynomial polynomial.chebyshev polynomial.hermite polynomial.hermite_e "
    "polynomial.laguerre polynomial.legendre polynomial.polynomial polynomial.polyutils random rec "
    "strings testing typing"
).split()

_PREFIX = "numpy."


class _Module(types.ModuleType):
    __doc__ = TextOf(
        "A submodule of NumPy's, looked at when a name of it is asked for.",
        lambda own: source_of(own).__doc__,
    )

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            raise AttributeError(name)
        try:
            return _lookup(self, name)
        except AttributeError as error:
            theirs, ours = (f"module '{name}'" for name in (source_of(self).__name__, self.__name__))
            if not str(error).startswith((theirs, ours)):
                raise
            words = str(error).replace(theirs, ours, 1)
            # With the module, of whose names Python suggests one that is alike.
            raise AttributeError(words, name=name, obj=self) from None

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes import it; functions that are sent there name it.
        return importlib.import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*dir(source_of(self)), *self.__dict__})


# The object of a submodule of ours under a name.
_lookup: Callable[[types.ModuleType, str], Any]


def register(lookup: Callable[[types.ModuleType, str], Any]) -> None:
    """Registers the look-up of names in submodules, which is the namespace's."""
    global _lookup
    _lookup = lookup


def source_of(module: types.ModuleType) -> Any:
    """NumPy's module behind one of ours. Some are attributes under other names."""
    names = module.__name__.split(".")[1:]
    try:
        return functools.reduce(getattr, names, np)
    except AttributeError:
        # One that NumPy does not import by itself.
        return importlib.import_module(_PREFIX + ".".join(names))


def install(package: str) -> None:
    """Makes the submodules importable."""
    for name in NAMES:
        module = _Module(f"{package}.{name}")
        sys.modules[module.__name__] = module
        parent, _, last = module.__name__.rpartition(".")
        setattr(sys.modules[parent], last, module)


def module_of(source: types.ModuleType) -> types.ModuleType:
    """Our module for a submodule of NumPy's."""
    name = source.__name__.removeprefix(_PREFIX)
    full = f"gpupy.{name}"
    if source.__name__ == name or name.startswith("_"):
        return source
    if full not in sys.modules:
        sys.modules[full] = _Module(full)
    return sys.modules[full]
