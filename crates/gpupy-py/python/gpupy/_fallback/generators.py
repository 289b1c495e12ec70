"""``gpupy.random``: generators of ours have bits of ours.

Owns ``bits_of_ours`` and ``FUNCTIONS``. Bits are NumPy's own, of a class whose module is ours: libraries that
make more generators of one (Dask, by the module of its bits) make ours, which give our arrays. Not here: what
the methods of generators give (``proxy.py``).
"""

import functools
from typing import Any

import numpy as np

from .hosts import to_host
from .proxy import Proxy, standing_for


@functools.cache
def bits_of_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's bits."""
    return standing_for(kind, "gpupy.random", {"__slots__": ()})


def default_rng(seed: Any = None) -> Any:
    host = to_host(seed)
    if isinstance(host, np.random.Generator) and isinstance(seed, Proxy):
        return seed
    is_seed = not (hasattr(host, "capsule") or isinstance(host, (np.random.Generator, np.random.RandomState)))
    return Proxy(np.random.default_rng(bits_of_ours(np.random.PCG64)(host) if is_seed else host))


FUNCTIONS = {"default_rng": default_rng}
