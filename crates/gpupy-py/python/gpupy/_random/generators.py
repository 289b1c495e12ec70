"""``gpupy.random``: generators of ours have bits of ours, and seeds may be arrays of ours.

Owns ``bits_of_ours``, ``taking_ours`` and ``FUNCTIONS``. Bits are NumPy's own, of a class whose module is
ours: libraries that make more generators of one (Dask, by the module of its bits) make ours, which give our
arrays. Not here: what the methods of generators give (``_fallback/proxy.py``, ``draws.py``).
"""

import functools
from typing import Any

import numpy as np

from .._fallback.hosts import named_to_host, to_host
from .._fallback.proxy import Proxy, standing_for


@functools.cache
def taking_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's, whose seeds may be arrays of ours."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__(self, *to_host(args), **named_to_host(kwargs))

    return standing_for(kind, "gpupy.random", {"__slots__": (), "__init__": __init__})


def bits_of_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's bits."""
    return taking_ours(kind)


def default_rng(seed: Any = None) -> Any:
    host = to_host(seed)
    if isinstance(host, np.random.Generator) and isinstance(seed, Proxy):
        return seed
    is_seed = not (hasattr(host, "capsule") or isinstance(host, (np.random.Generator, np.random.RandomState)))
    return Proxy(np.random.default_rng(bits_of_ours(np.random.PCG64)(host) if is_seed else host))


FUNCTIONS = {"default_rng": default_rng}
