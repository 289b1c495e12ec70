"""Dask's arrays of our chunks: the back end ``gpupy``, functions looked up by a chunk's class, sizes, tokens.

Owns ``ROWS`` and ``backend``, which the entry point of ``dask.array.backends`` names. Invariants: a size or a
token is given without an evaluation; two chunks with other elements never have the same token. Not here: what
tasks and workers do (``dask_workers.py``), when this is done (``__init__.py``).
"""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import ndarray, scalar, wrap
from . import calls


def backend() -> Any:
    """The back end for ``array.backend: gpupy``, registered as soon as gpupy is imported."""
    from dask.array.backends import array_creation_dispatch

    return array_creation_dispatch.dispatch("gpupy")


def to_gpupy(chunk: Any, **_: Any) -> Any:
    """A chunk as one of ours."""
    return sys.modules["gpupy"].asanyarray(chunk)


def to_numpy(chunk: Any, **_: Any) -> Any:
    """A chunk of ours as one of NumPy's."""
    return np.asanyarray(chunk)


def _chunk_types() -> None:
    sys.modules["dask.array.chunk_types"].register_chunk_type(ndarray)


def _backends() -> None:
    import dask.array.backends as theirs
    from dask.array import dispatch

    gpupy: Any = sys.modules["gpupy"]
    for name in ("concatenate", "einsum", "empty", "take", "tensordot"):
        getattr(dispatch, f"{name}_lookup").register(ndarray, getattr(gpupy, name))
    dispatch.divide_lookup.register(ndarray, theirs.np_divide)
    dispatch.nannumel_lookup.register(ndarray, theirs._nannumel)
    dispatch.numel_lookup.register(ndarray, theirs._numel_arraylike)
    dispatch.percentile_lookup.register(ndarray, theirs.percentile)
    for name in ("concatenate", "divide", "numel", "tensordot"):
        _masked(getattr(dispatch, f"{name}_lookup"), None)
    _masked(dispatch.empty_lookup, _empty_masked)
    dispatch.to_numpy_dispatch.register((ndarray, scalar), to_numpy)
    theirs.array_creation_dispatch.register_backend("gpupy", _made(theirs, gpupy))


def _empty_masked(*args: Any, **kwargs: Any) -> Any:
    return sys.modules["gpupy"].ma.empty(*args, **kwargs)


def _masked(lookup: Any, function: Any) -> None:
    """Tells a lookup of Dask's of masked chunks, once it meets a class of gpupy's that it has not seen."""

    def register() -> None:
        masked = sys.modules["gpupy"].ma.MaskedArray
        # Dask's functions for NumPy call functions of `numpy.ma`, which with our arrays are gpupy's.
        lookup.register(masked, function or lookup.dispatch(np.ma.MaskedArray))

    lookup.register_lazy("gpupy", register)


def _made(theirs: Any, gpupy: Any) -> Any:
    def with_our_meta(name: str, key: str = "meta") -> Any:
        def create(*args: Any, **kwargs: Any) -> Any:
            import dask
            import dask.array as da

            if kwargs.get(key) is None:
                kwargs[key] = gpupy.empty(0)
            with dask.config.set({"array.backend": "numpy"}):
                return getattr(da, name)(*args, **kwargs)

        create.__name__, create.__doc__ = name, f"NumPy's ``{name}`` in chunks of ours."
        return staticmethod(create)

    class Backend(theirs.ArrayBackendEntrypoint):  # type: ignore[misc]
        """The entry point of Dask for ``array.backend: gpupy``."""

        @classmethod
        def to_backend_dispatch(cls) -> Callable[..., Any]:
            return to_gpupy

        @classmethod
        def to_backend(cls, data: Any, **kwargs: Any) -> Any:
            if isinstance(data._meta, ndarray):
                return data
            return data.map_blocks(to_gpupy, meta=to_gpupy(data._meta), **kwargs)

        @property
        def RandomState(self) -> Any:
            return gpupy.random.RandomState

        @property
        def default_bit_generator(self) -> Any:
            return gpupy.random.PCG64

        ones = with_our_meta("ones")
        zeros = with_our_meta("zeros")
        empty = with_our_meta("empty")
        full = with_our_meta("full")
        arange = with_our_meta("arange", "like")

    return Backend()


def _giving_ours(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Dask's call of a function of SciPy's, which gives NumPy's arrays."""

    @functools.wraps(theirs)
    def scipy_linalg_safe(name: str, *args: Any, **kwargs: Any) -> Any:
        result = theirs(name, *args, **kwargs)
        return wrap(result) if any(isinstance(value, ndarray) for value in args) else result

    return scipy_linalg_safe


def _by_numpys_indices(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Dask's assignment to a chunk, which takes places beyond it out of NumPy's index arrays alone."""

    @functools.wraps(theirs)
    def setitem(x: Any, v: Any, indices: Any) -> Any:
        return theirs(x, v, calls.numpys(indices))

    return setitem


def _assignments() -> None:
    calls.put(sys.modules["dask.array.slicing"], "setitem", _by_numpys_indices)


def _functions() -> None:
    calls.put(sys.modules["dask.array.utils"], "scipy_linalg_safe", _giving_ours)


def _sizes() -> None:
    @sys.modules["dask.sizeof"].sizeof.register(ndarray)
    def sizeof(array: ndarray) -> int:
        """The bytes of the elements, pending or not; elements that an axis repeats count once.

        Those of arrays that an instance keeps, such as a mask, count too.
        """
        size = array.itemsize
        for extent, stride in zip(array.shape, array.strides, strict=True):
            size *= extent if stride else min(extent, 1)
        if type(array) is not ndarray:
            size += sum(sizeof(kept) for kept in vars(array).values() if type(kept) is ndarray)
        return size


# Distinguishes this process's values from another's.
_process: tuple[int, str] | None = None


def _here() -> str:
    global _process
    if _process is None or _process[0] != os.getpid():
        _process = os.getpid(), os.urandom(16).hex()
    return _process[1]


# Attributes of a masked array that are not part of its value, or redundant.
_SAYS_NOTHING = frozenset(("_basedict", "_isfield", "_sharedmask"))


def _tokens() -> None:
    tokens: Any = sys.modules["dask.tokenize"]

    @tokens.normalize_token.register(ndarray)
    def of_array(array: ndarray) -> Any:
        if type(array) is not ndarray:
            kept = {name: value for name, value in vars(array).items() if name not in _SAYS_NOTHING}
            own = f"{type(array).__module__}.{type(array).__qualname__}"
            return own, of_array(array._as(ndarray)), tokens.normalize_token(kept)
        kind = "gpupy", str(array.dtype), array.shape
        match array._name():
            case None:
                return kind, tokens.normalize_token(array._host())
            case "constant", bits:
                return kind, bits
            case name:
                # Equal to no other process's, and to that of no array that is computed to the same elements.
                tokens._maybe_raise_nondeterministic("the array is pending; evaluate it first")
                return kind, name, _here()

    @tokens.normalize_token.register(scalar)
    def of_scalar(value: scalar) -> Any:
        return "scalar", of_array(value._array())


ROWS: dict[str, Callable[[], None]] = {
    "dask.array.backends": _backends,
    "dask.array.chunk_types": _chunk_types,
    "dask.sizeof": _sizes,
    "dask.tokenize": _tokens,
}
EXCHANGED: dict[str, Callable[[], None]] = {
    "dask.array.slicing": _assignments,
    "dask.array.utils": _functions,
}
