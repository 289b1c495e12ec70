"""``ctypeslib``: pointers for C have to be to the array's own memory, and writable.

Owns ``FUNCTIONS``. Not here: ``ndpointer``, which is NumPy's and takes our arrays
(``_libraries/calls.py``), and ``x.ctypes`` (``_methods.py``).
"""

from typing import Any

import numpy as np

from ._gpupy import ndarray


def as_ctypes(obj: Any) -> Any:
    # The object that ctypes gets has the array's address alone.
    return np.ctypeslib.as_ctypes(obj._pinned(for_life=True) if isinstance(obj, ndarray) else obj)


FUNCTIONS = {"as_ctypes": as_ctypes}
