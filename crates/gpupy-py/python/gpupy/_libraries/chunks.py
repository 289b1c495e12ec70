"""Libraries that hold or move arrays of any class, once they are told of it: einops and Dask.

Owns ``ROWS``: by the name of a module, what registers our class there. Not here: when this is done
(``__init__.py``), libraries that compile functions (``compilers.py``).
"""

import sys
from collections.abc import Callable
from typing import Any

from .._gpupy import ndarray


def _einops() -> None:
    """A back end, which einops finds among the subclasses of its own."""
    backends: Any = sys.modules["einops._backends"]

    class Backend(backends.NumpyBackend):  # type: ignore[misc]
        framework_name = "gpupy"

        def __init__(self) -> None:
            self.np = sys.modules["gpupy"]

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, ndarray)

    # Its class is kept by the table that einops looks into first.
    backends._type2backend[ndarray] = Backend()


def _dask_chunks() -> None:
    sys.modules["dask.array.chunk_types"].register_chunk_type(ndarray)


def _dask_functions() -> None:
    from dask.array.backends import percentile

    sys.modules["dask.array.dispatch"].percentile_lookup.register(ndarray, percentile)


ROWS: dict[str, Callable[[], None]] = {
    "dask.array.backends": _dask_functions,
    "dask.array.chunk_types": _dask_chunks,
    "einops._backends": _einops,
}
