"""NumPy's dispatch protocols: its ufuncs and functions, called with arrays of ours.

Owns ``array_ufunc`` and ``array_function``. Not here: plain calls of ufuncs (``src/methods/dispatch.rs``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._classes.subclass import decides
from .._classes.ufuncs import ufunc_of
from .._compute import ufunc_methods
from .._fallback.calls import others_out
from .._fallback.hosts import to_host
from .._gpupy import call, wrap
from .._gpupy import ufunc as ufunc_class
from . import namespace


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's ufuncs called with arrays of ours."""
    if not isinstance(ufunc, (np.ufunc, ufunc_class)):
        # NumPy has the words.
        return np.empty(0).__array_ufunc__(ufunc, method, *to_host(inputs))  # type: ignore[arg-type]
    outs = kwargs.get("out", ())
    if any(decides(x) or subclass.overrides(x) for x in inputs) or others_out(outs):
        return NotImplemented
    if method == "__call__" and not kwargs and ufunc.__name__ in subclass.COMPARED and len(inputs) == 2:
        mine, other = subclass.COMPARED[ufunc.__name__], inputs[1]
        if type(inputs[0]) is np.ndarray and subclass.has_own(other, mine):
            # As an operator it asks a subclass of NumPy's first, which an instance of ours is none of.
            return getattr(other, mine)(wrap(inputs[0]))
    if method == "__call__":
        return ufunc_of(ufunc)(*inputs, **kwargs)
    return ufunc_methods.method(ufunc.__name__, ufunc, method)(*inputs, **kwargs)


def array_function(
    function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """NumPy's functions called with arrays of ours."""
    own = namespace.override(function)
    if own is not None:
        return own(*args, **kwargs)
    return call(function.__name__, function, args, kwargs)
