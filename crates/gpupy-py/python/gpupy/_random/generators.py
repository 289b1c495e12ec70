"""``gpupy.random``: generators of ours have bits of ours, and seeds may be arrays of ours.

Owns ``bits_of_ours``, ``seeds_of_ours`` and ``FUNCTIONS``. Bits are NumPy's own, of a class whose module is
ours: libraries that make more generators of one (Dask, by the module of its bits) make ours, which give our
arrays. Not here: what the methods of generators give (``_fallback/proxy.py``, ``draws.py``).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._fallback.hosts import named_to_host, to_host
from .._fallback.proxy import Proxy, standing_for
from .._gpupy import wrap


def taking_ours(kind: type[Any], **members: Any) -> type[Any]:
    """A subclass of a class of NumPy's, whose seeds may be arrays of ours."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__(self, *to_host(args), **named_to_host(kwargs))

    return standing_for(kind, "gpupy.random", {"__slots__": (), "__init__": __init__, **members})


@functools.cache
def bits_of_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's bits, whose state has arrays of ours."""

    def state(self: Any) -> Any:
        return _through(wrap, kind.state.__get__(self))

    def set_state(self: Any, value: Any) -> None:
        kind.state.__set__(self, _through(to_host, value))

    return taking_ours(kind, state=property(state, set_state, doc=kind.state.__doc__))


def _through(function: Callable[[Any], Any], value: Any) -> Any:
    """A dictionary with a function of its values, also of those that are dictionaries."""
    if type(value) is not dict:
        return function(value)
    return {key: _through(function, item) for key, item in value.items()}


def default_rng(seed: Any = None) -> Any:
    host = to_host(seed)
    if isinstance(host, np.random.Generator) and isinstance(seed, Proxy):
        return seed
    is_seed = not (hasattr(host, "capsule") or isinstance(host, (np.random.Generator, np.random.RandomState)))
    return Proxy(np.random.default_rng(bits_of_ours(np.random.PCG64)(host) if is_seed else host))


@functools.cache
def seeds_of_ours(kind: type[Any]) -> type[Any]:
    """A subclass of a class of NumPy's sequences of seeds."""
    return taking_ours(kind)


FUNCTIONS = {"default_rng": default_rng}
