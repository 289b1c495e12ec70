"""Libraries that set how many threads others use, and are told of ours: threadpoolctl.

Owns ``ROWS``: by the name of a module, what registers the threads of the driver ``cpu`` there. Not here: when
this is done (``__init__.py``).
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from .. import _gpupy


def _threadpoolctl() -> None:
    theirs: Any = sys.modules["threadpoolctl"]

    class Controller(theirs.LibController):  # type: ignore[misc]
        """The threads of the driver ``cpu``, whose library is this package's compiled module."""

        user_api = "gpupy"
        internal_api = "gpupy"
        filename_prefixes = (os.path.basename(_gpupy.__file__).split(".")[0],)

        def get_num_threads(self) -> int:
            return _gpupy.threads()

        def set_num_threads(self, num_threads: int) -> None:
            _gpupy.set_threads(num_threads)

        def get_version(self) -> str:
            return sys.modules["gpupy"]._VERSION

    theirs.register(Controller)


ROWS: dict[str, Callable[[], None]] = {
    "threadpoolctl": _threadpoolctl,
}
