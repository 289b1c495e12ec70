"""Masked arrays of ours given to functions of ``numpy.ma``, and to some of Dask's, once there are any.

Owns ``EXCHANGED``. A function of ``numpy.ma`` that gets one is gpupy's of the same name, as NumPy's functions
are; what makes arrays gives NumPy's. Dask's get NumPy's masked array over the same memory, and give ours. Not
here: libraries that ask for the class of masked arrays (``lending.py``), what ``numpy.asanyarray`` gives of
one (``_masked/masked.py``), when this is done (``__init__.py``).
"""

import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from . import calls


def _is_masked(value: Any) -> bool:
    """Whether it is a masked array of ours, or has one among its items."""
    kind = type(value)
    if kind is tuple or kind is list:
        return any(_is_masked(item) for item in value[: calls.SHORT])
    return subclass.is_masked(value)


def _theirs(value: Any) -> Any:
    """An argument, with NumPy's masked arrays in place of ours."""
    if not _is_masked(value):
        return value
    kind = type(value)
    return kind(map(_theirs, value)) if kind in (tuple, list) else value.__array__()


def _ours(value: Any) -> Any:
    if type(value) in (tuple, list):
        return type(value)(map(_ours, value))
    return subclass.ours(value) if isinstance(value, np.ndarray) else value


def _taking_theirs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper of the function, which gets NumPy's masked arrays in place of ours."""

    @functools.wraps(function)
    def taking_theirs(*args: Any, **kwargs: Any) -> Any:
        if any(map(_is_masked, args)) or any(map(_is_masked, kwargs.values())):
            args, kwargs = tuple(map(_theirs, args)), {key: _theirs(x) for key, x in kwargs.items()}
        return function(*args, **kwargs)

    return taking_theirs


def _among_theirs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper like ``_taking_theirs``, whose results are ours where an argument was."""
    taking_theirs = _taking_theirs(function)

    @functools.wraps(function)
    def among_theirs(*args: Any, **kwargs: Any) -> Any:
        made = taking_theirs(*args, **kwargs)
        return _ours(made) if any(map(_is_masked, args)) or any(map(_is_masked, kwargs.values())) else made

    return among_theirs


def _going_to_ours(find: Callable[[Any], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or the one of ours that is found for its first argument, where one of ours is given."""

    @functools.wraps(function)
    def going_to_ours(*args: Any, **kwargs: Any) -> Any:
        if any(map(_is_masked, args)) or any(map(_is_masked, kwargs.values())):
            own = find(args[0] if args else None)
            if own is not None:
                # An output stays itself, so that writes to it are seen.
                given = {key: x if key == "out" else _ours(x) for key, x in kwargs.items()}
                return own(*map(_ours, args), **given)
        return function(*args, **kwargs)

    return going_to_ours


def _writing(border: Callable[[Any], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or ours, of whichever the array is that it writes to, which comes first."""
    ours, theirs = border(function), _taking_theirs(function)

    @functools.wraps(function)
    def writing(a: Any, *args: Any, **kwargs: Any) -> Any:
        return (ours if _is_masked(a) else theirs)(a, *args, **kwargs)

    return writing


# Functions that write to their first argument.
_WRITING = frozenset("harden_mask put putmask set_fill_value soften_mask".split())
# Functions that make an array of their argument, and their counterparts.
_MAKING = frozenset("array asanyarray asarray default_fill_value masked_array".split())


def _numpys(name: str) -> None:
    """The functions of a module of ``numpy.ma``, and the operations that are objects of its classes."""
    module = sys.modules[name]
    ours = "gpupy" + name.removeprefix("numpy")

    def of_ours(key: str, _: Any = None) -> Any:
        return getattr(importlib.import_module(ours), key)

    names = {}
    for key in module.__all__:
        value = vars(module)[key]
        if isinstance(value, types.FunctionType):
            border = functools.partial(_going_to_ours, functools.partial(of_ours, key))
            border = functools.partial(_writing, border) if key in _WRITING else border
            calls.put(module, key, _taking_theirs if key in _MAKING else border)
        elif callable(value) and type(value).__module__.startswith("numpy.ma"):
            names[id(value)] = key
    if name != "numpy.ma.core":
        return
    for kind in {type(value) for value in vars(module).values() if id(value) in names}:
        for method in {"__call__", "reduce", "outer", "accumulate"} & {*vars(kind)}:

            def found(operation: Any, method: str = method) -> Any:
                key = names.get(id(operation))
                if key is None:
                    return None
                bound = getattr(of_ours(key), method)

                def without_itself(_: Any, *args: Any, **kwargs: Any) -> Any:
                    return bound(*args, **kwargs)

                return without_itself

            calls.put(kind, method, functools.partial(_going_to_ours, found))
    calls.put(module.MaskedArray, "__new__", _taking_theirs)


_AMONG = {
    "dask.array.ma": "_set_fill_value",
    "dask.array.reductions": "_cumprod_merge _cumsum_merge _sqrt",
}
EXCHANGED: dict[str, Callable[[], None]] = {
    **{
        module: functools.partial(calls.put_all, module, names, _among_theirs)
        for module, names in _AMONG.items()
    },
    "numpy.ma.core": functools.partial(_numpys, "numpy.ma.core"),
    "numpy.ma.extras": functools.partial(_numpys, "numpy.ma.extras"),
}
