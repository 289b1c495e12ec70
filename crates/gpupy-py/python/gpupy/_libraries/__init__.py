"""What other libraries are told of our arrays, and when: as they are imported, or once there is an array.

Owns ``install`` and the finder that sees the imports. Invariants: no library is imported from here; a
function of a library is exchanged only when the next array is made after the library's import; a library that
has changed so that it cannot be told is imported all the same, and a warning says so; ``GPUPY_LIBRARIES=0``
turns all of it off. Not here: libraries that are lent NumPy's arrays when they ask (``lending.py``),
functions that take NumPy's arrays in the place of ours (``calls.py``), what libraries register
(``compilers.py``, ``dask_arrays.py``, ``dask_workers.py``, ``einops_backend.py``, ``pools.py``), NumPy's
generators (``shuffles.py``), which namespace they find (``namespaces.py``), what they get of masked arrays
(``masked.py``).
"""

import importlib.machinery
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .._classes import subclass
from .._gpupy import await_array, register_python
from . import (
    calls,
    compilers,
    dask_arrays,
    dask_workers,
    einops_backend,
    lending,
    masked,
    namespaces,
    pools,
    shuffles,
)

# The tables: each row maps a module's name to an action. What libraries keep a table for is registered when
# the module is imported, which costs other arrays nothing.
_TABLES = (compilers, dask_arrays, dask_workers, einops_backend, lending, pools)
# Functions that are exchanged, when the next array is made after the module's import.
_EXCHANGED = (calls, dask_arrays, dask_workers, namespaces, shuffles)

_Action = Callable[[], None]
# The actions for modules that are not imported yet, by name: at once, and for the next array.
_TOLD: dict[str, list[_Action]] = {}
_EXCHANGES: dict[str, list[_Action]] = {}
# What is exchanged when the next array is made, with the module's name.
_WAITING: list[tuple[str, _Action]] = []


def install() -> None:
    """From here on, libraries are told when they are imported, and those that are there at once."""
    if not _is_on():
        return
    for tables, kept, key in ((_TABLES, _TOLD, "ROWS"), (_EXCHANGED, _EXCHANGES, "EXCHANGED")):
        for table in tables:
            for module, action in getattr(table, key).items():
                kept.setdefault(module, []).append(action)
    for name in [name for name in {**_TOLD, **_EXCHANGES} if name in sys.modules]:
        _tell(name)
    subclass.MASKED_IS_MADE.append(_tell_of_masked)
    sys.meta_path.insert(0, _Finder())


def _tell_of_masked() -> None:
    """What is exchanged for masked arrays alone is so from now on."""
    for module, action in masked.EXCHANGED.items():
        _EXCHANGES.setdefault(module, []).append(action)
        if module in sys.modules:
            _tell(module)


def _is_on() -> bool:
    value = os.environ.get("GPUPY_LIBRARIES", "1")
    if value not in ("0", "1"):
        raise ValueError(f"GPUPY_LIBRARIES is `0` or `1`, not `{value}`")
    return value == "1"


def _tell(module: str) -> None:
    for action in _TOLD.pop(module, ()):
        _do(module, action)
    waiting = _EXCHANGES.pop(module, ())
    if waiting:
        _WAITING.extend((module, action) for action in waiting)
        await_array()


def _exchange() -> None:
    """Exchanges functions of libraries that were imported since the last array was made."""
    waiting = _WAITING.copy()
    _WAITING.clear()
    for module, action in waiting:
        _do(module, action)


def _do(module: str, action: _Action) -> None:
    try:
        action()
    except Exception as error:
        words = f"gpupy cannot tell `{module}` of its arrays: {type(error).__name__}: {error}; "
        words += "give it NumPy's (`numpy.asarray(x)`)"
        warnings.warn(words, RuntimeWarning, stacklevel=3)


register_python(array_is_made=_exchange, lend=lending.lend)


# The classes of `importlib.abc` would add nothing, and take as long to import as the rest.
class _Finder:
    """Finds a module that is to be told as others find it, with a loader that tells it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _TOLD and fullname not in _EXCHANGES:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """The loader of a module, which is told when it has been executed."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        # To the module it is as if this had not been here.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _tell(module.__name__)
