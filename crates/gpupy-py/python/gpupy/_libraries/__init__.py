"""Registration of our arrays with other libraries, when they are imported.

Owns ``install`` and the finder that sees the imports. Invariants: no library is imported from here; one
that has changed so that it cannot be told is imported all the same. Not here: whose functions take NumPy's
arrays in the place of ours (``calls.py``), what libraries register (``compilers.py``, ``dask_arrays.py``,
``dask_workers.py``, ``einops_backend.py``, ``pools.py``), which namespace they find (``namespaces.py``), what
they get of masked arrays (``masked.py``).
"""

import importlib.machinery
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from . import calls, compilers, dask_arrays, dask_workers, einops_backend, masked, namespaces, pools

# The tables: each row maps a module's name to an action for when it is imported.
_TABLES = (compilers, dask_arrays, dask_workers, einops_backend, masked, namespaces, pools)

# The actions for modules that are not imported yet, by name.
_TOLD: dict[str, list[Callable[[], None]]] = {}


def install() -> None:
    """From here on, libraries are told when they are imported, and those that are there at once."""
    for tell in (*calls.rows(), *(row for table in _TABLES for row in table.ROWS.items())):
        _TOLD.setdefault(tell[0], []).append(tell[1])
    for name in [name for name in _TOLD if name in sys.modules]:
        _tell(name)
    sys.meta_path.insert(0, _Finder())


def _tell(module: str) -> None:
    for tell in _TOLD.pop(module, ()):
        try:
            tell()
        except Exception as error:
            words = f"gpupy cannot tell `{module}` of its arrays: {type(error).__name__}: {error}"
            warnings.warn(words, ImportWarning, stacklevel=2)


# The classes of `importlib.abc` would add nothing, and take as long to import as the rest.
class _Finder:
    """Finds a module that is to be told as others find it, with a loader that tells it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _TOLD:
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
