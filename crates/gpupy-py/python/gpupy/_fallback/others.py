"""Functions of NumPy's that leave the work to the class of what they are given.

NumPy asks an argument's class for ``__array_function__``, and many of its functions ask the argument for a
method of their own name first: ``np.cumsum`` of a series is a series. Owns ``decides`` and ``of_other``.
Invariant: nothing is asked of what is ours, NumPy's or Python's. Not here: ufuncs (``_classes/subclass.py``).
"""

from typing import Any

import numpy as np

from .._gpupy import call, ndarray, scalar

_PLAIN = frozenset((list, tuple, int, float, complex, bool, str, bytes, type(None), range, ndarray, scalar))
_OURS_OR_NUMPYS = (np.ndarray, np.generic, np.flatiter, ndarray)


def decides(value: Any, method: str | None = None) -> bool:
    """Whether the class of a value has the function: by a protocol, or by the method that NumPy asks for."""
    kind = type(value)
    if kind in _PLAIN or issubclass(kind, _OURS_OR_NUMPYS) or kind.__module__.startswith("gpupy."):
        return False
    if hasattr(kind, "__array_function__"):
        return True
    if method is None:
        return False
    # Without the method NumPy computes it itself, and asks the class by the protocols of ufuncs.
    asked = ("__array_ufunc__", "__array_wrap__")
    return callable(getattr(value, method, None)) or any(hasattr(kind, name) for name in asked)


def of_other(name: str, /, *args: Any, **given: Any) -> Any:
    """NumPy's function of what decides; keywords that say nothing are left out."""
    said = {key: value for key, value in given.items() if value is not np._NoValue and value is not None}
    return call(name, getattr(np, name), args, said)
