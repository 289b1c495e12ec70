"""Libraries that compile functions of arrays, and are told how they get at ours: numba and JAX.

Owns ``ROWS``: by the name of a module, what registers our classes there. Both get NumPy's array over the
pinned base, so that numba's functions may write to it, and numba finds NumPy's functions where code that it
compiles names ours. Not here: when this is done (``__init__.py``).
"""

import sys
import types as python_types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._gpupy import ndarray, scalar, ufunc
from . import calls


def theirs(value: Any) -> Any:
    """NumPy's counterpart of an object of ours: a module, a function, an array."""
    if type(value) is ufunc:
        return value._numpy
    array = calls.numpys(value)
    if array is not value:
        return array
    if value is ndarray:
        return np.ndarray
    is_module = isinstance(value, python_types.ModuleType)
    module = value.__name__ if is_module else getattr(value, "__module__", None)
    if not isinstance(module, str) or module.split(".")[0] != "gpupy":
        return value
    # Compiled functions are in the namespace as well.
    ours = "gpupy" if module == "gpupy._gpupy" else module
    source = sys.modules.get("numpy" + ours.removeprefix("gpupy"), value)
    if is_module:
        return source
    name = getattr(value, "__name__", "")
    return getattr(source, name, value) if getattr(sys.modules[ours], name, None) is value else value


def _numba() -> None:
    from numba.core import interpreter, types
    from numba.core.boxing import unbox_array
    from numba.core.datamodel.models import ArrayModel
    from numba.core.typing.typeof import typeof_impl
    from numba.extending import NativeValue, register_model, unbox

    class Ours(types.Array):  # type: ignore[misc]
        """An array that comes in as one of ours; results made of it are numba's own."""

    register_model(Ours)(ArrayModel)

    def giving_theirs(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: theirs(function(*args))

    # Functions that are compiled use the program's names, which are ours: numba knows NumPy's.
    for name in ("get_global_value", "get_closure_value"):
        calls.put(interpreter.Interpreter, name, giving_theirs, always=True)

    @typeof_impl.register(ndarray)
    def type_of_array(value: Any, context: Any) -> Any:
        found = typeof_impl(value._pinned(), context)
        if not isinstance(found, types.Array):
            return found
        return Ours(found.dtype, found.ndim, found.layout, not found.mutable, aligned=found.aligned)

    @typeof_impl.register(scalar)
    def type_of_scalar(value: Any, context: Any) -> Any:
        return typeof_impl(value._value(), context)

    @unbox(Ours)
    def unbox_ours(kind: Any, given: Any, context: Any) -> Any:
        host = context.pyapi.call_method(given, "_pinned", ())
        native = unbox_array(kind, host, context)

        def cleanup() -> None:
            if native.cleanup is not None:
                native.cleanup()
            context.pyapi.decref(host)

        return NativeValue(native.value, is_error=native.is_error, cleanup=cleanup)


def _jax() -> None:
    from jax._src import core, dtypes
    from jax._src.interpreters import pxla

    def host(value: Any) -> Any:
        return np.asarray(value)

    def shards(values: Sequence[Any], *rest: Any) -> Any:
        return pxla.shard_arg_handlers[np.ndarray]([host(value) for value in values], *rest)

    for kind in (ndarray, scalar):
        core.pytype_aval_mappings[kind] = core.pytype_aval_mappings[np.ndarray]
        dtypes.register_canonicalize_value_handler(kind, lambda value: dtypes.canonicalize_value(host(value)))
        pxla.shard_arg_handlers[kind] = shards


ROWS: dict[str, Callable[[], None]] = {
    "jax": _jax,
    "numba": _numba,
}
