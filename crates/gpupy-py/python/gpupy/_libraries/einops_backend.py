"""A library that moves elements of arrays of any class, once it is told of it: einops.

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


ROWS: dict[str, Callable[[], None]] = {
    "einops._backends": _einops,
}
