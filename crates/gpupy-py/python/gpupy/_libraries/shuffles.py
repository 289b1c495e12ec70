"""Methods of NumPy's own generators that write to an array, of which ours is none to them.

Owns ``EXCHANGED``, the exchange. ``shuffle`` would take an array of ours for a sequence, and swap views of
its rows; ``permuted`` would refuse it as the output. The generator gets NumPy's array over the pinned base,
so that a seed gives NumPy's order, for any number of axes and for records. Invariant: a list stays the list
whose items are moved, whatever is in it. Not here: the generators of ``gpupy.random``
(``_fallback/generators.py``).
"""

import ctypes
import functools
import gc
import sys
from collections.abc import Callable
from typing import Any

from .._gpupy import Border, ndarray
from . import calls


def _shuffling(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def shuffle(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, calls.numpys(x) if isinstance(x, ndarray) else x, *args, **kwargs)

    return shuffle


def _permuting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def permuted(self: Any, x: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if not isinstance(out, ndarray):
            return function(self, x, **kwargs)
        function(self, calls.numpys(x), **{**kwargs, "out": calls.numpys(out)})
        return out

    return permuted


def _put(kind: type[Any], name: str, border: Callable[..., Any]) -> None:
    """Exchanges a method of a compiled class, which refuses to have it set: its table is a dictionary."""
    found = vars(kind)[name]
    (table,) = (each for each in gc.get_referents(kind.__dict__) if type(each) is dict)
    table[name] = functools.update_wrapper(Border(found, border(found)), found)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _exchange() -> None:
    module: Any = sys.modules["numpy.random"]
    _put(module.Generator, "shuffle", _shuffling)
    _put(module.Generator, "permuted", _permuting)
    _put(module.RandomState, "shuffle", _shuffling)
    # The functions of the module are methods of one generator.
    for owner in (module, module.mtrand):
        owner.shuffle = owner.shuffle.__self__.shuffle


EXCHANGED: dict[str, Callable[[], None]] = {"numpy.random": _exchange}
