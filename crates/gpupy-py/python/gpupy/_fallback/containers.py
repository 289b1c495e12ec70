"""Results of NumPy's other than arrays: containers, generators, archives.

Owns ``wrap_inside``. Not here: plain arrays (``wrap`` in Rust), results that may be views (``results.py``).
"""

import operator
import sys
from typing import Any

import numpy as np

from .._classes import subclass
from .._gpupy import wrap
from .proxy import Archive, Proxy


def wrap_inside(value: Any) -> Any:
    """Arrays of ours in place of NumPy's in a container; one of none, and other values, as they are."""
    kind = type(value)
    if kind is dict:
        named = {key: wrap(item) for key, item in value.items()}
        return value if all(map(operator.is_, named.values(), value.values())) else named
    if kind is list or isinstance(value, tuple):
        items = [wrap(item) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        if kind is list or kind is tuple:
            return kind(items)
        return kind._make(items) if hasattr(kind, "_make") else value
    if isinstance(value, np.ndarray):
        return subclass.ours(value)
    if isinstance(value, (np.random.Generator, np.random.RandomState) if _random() else ()):
        # One that was made by ours is ours.
        is_ours = kind is Proxy or any(each.__module__ == "gpupy.random" for each in kind.__mro__)
        return value if is_ours else Proxy(value)
    if isinstance(value, np.lib.npyio.NpzFile):
        return Archive(value)
    return value


def _random() -> bool:
    return "numpy.random" in sys.modules
