"""``ctypeslib``: what C and an array have in common is one memory, to which both may write.

Owns ``FUNCTIONS``. Not here: ``ndpointer``, which is NumPy's and takes our arrays
(``_libraries/calls.py``), and ``x.ctypes`` (``_methods/methods.py``).
"""

from typing import Any

import numpy as np

from .._fallback.hosts import to_host
from .._gpupy import adopt, ndarray, wrap
from .conversion import asarray


def as_ctypes(obj: Any) -> Any:
    # The object that ctypes gets has the array's address alone.
    return np.ctypeslib.as_ctypes(obj._pinned(for_life=True) if isinstance(obj, ndarray) else obj)


def as_array(obj: Any, shape: Any = None) -> Any:
    if isinstance(obj, ndarray):
        return asarray(obj)
    made = np.ctypeslib.as_array(to_host(obj), to_host(shape))
    # A list has no memory of its own, and an array that NumPy makes of one has no other owner.
    return wrap(made) if isinstance(obj, (list, tuple)) else adopt(made)


FUNCTIONS = {"as_array": as_array, "as_ctypes": as_ctypes}
