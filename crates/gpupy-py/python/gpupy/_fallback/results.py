"""Ours in the place of NumPy's results, which may be views of the arguments.

Owns ``wrapped``. Invariant: a view of an argument's memory is a view of the argument, so that writes reach
it. Not here: where a view lies (``places.py``), containers without arguments (``containers.py``).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._classes import subclass
from .._gpupy import adopt, hold, ndarray, wrap
from . import objects, places
from .hosts import Hosts

# Results that stay as they are.
_VALUES = frozenset({int, float, bool, str, type(None), *(np.dtype(c).type for c in np.typecodes["All"])})


def given_back(name: str, result: Any, arrays: list[ndarray], hosts: Hosts) -> Any:
    if type(result) in _VALUES:
        return result
    if any(array.dtype.hasobject for array in arrays):
        if objects.is_one_of(result, hosts):
            return result
    return wrapped(name, result, arrays, hosts)


def wrapped(name: str, result: Any, arrays: Sequence[ndarray], hosts: Hosts) -> Any:
    """The result as ours; the parts of a tuple or a list, too, may be views."""
    kind = type(result)
    if isinstance(result, subclass.Twin):
        same = next((array for array, host in zip(arrays, hosts, strict=True) if host is result), None)
        if same is not None:
            return same
        view = _view_of_one(name, result, arrays, hosts, type(result)._class())
        return subclass.of_twin(result, wrap(result.view(np.ndarray))) if view is None else view
    if kind is not np.ndarray:
        plain, named = kind in (tuple, list), hasattr(kind, "_make")
        has_twins = (plain or named) and any(isinstance(r, subclass.Twin) for r in result)
        if not has_twins and (not plain or all(type(r) is not np.ndarray for r in result)):
            return wrap(result)
        # An array that is in it twice stays one array.
        made = {id(r): wrapped(name, r, arrays, hosts) for r in result}
        return (kind._make if named else kind)([made[id(r)] for r in result])
    if name == "frombuffer" and result.flags.writeable:
        # Other code owns its memory, may write to it, and reads the array's writes there.
        return adopt(result)
    view = _view_of_one(name, result, arrays, hosts, type(arrays[0]) if name == "view" else ndarray)
    if view is None:
        view = wrap(result)
        # Nothing tells whose view an array without elements is; of read-only ones it is read-only.
        of_read_only = arrays and not result.size and not any(is_writable(a) for a in arrays)
        if (name in _READ_ONLY or of_read_only) and not result.flags.writeable:
            view._writable = False
    return view


# Functions whose views NumPy makes read-only.
_READ_ONLY = frozenset({"diag", "diagonal", "frombuffer", "sliding_window_view"})


def _view_of_one(
    name: str, result: np.ndarray[Any, Any], arrays: Sequence[ndarray], hosts: Hosts, kind: Any
) -> ndarray | None:
    """The array, or the view of it, that NumPy gave back as its host memory; or ``None``.

    A view of an instance of a subclass is of this class, if it is the instance's, and plain otherwise.
    """
    for n, host in enumerate(hosts):
        if result is host:
            return arrays[n]
    if result.base is None:
        return None
    for given, host in zip(arrays, hosts, strict=True):
        array = given if type(given) is kind else subclass.plain(given)
        if not result.size:
            # Without elements, addresses say nothing.
            is_view = result.base is host or result.base is host.base
            if not is_view or (array._lazy and array.dtype != result.dtype):
                continue
            if not array._lazy:
                return hold(result.view(np.ndarray), array)
            view = array._views(np.lib.stride_tricks.as_strided, result.shape, result.strides)
            if name in _READ_ONLY:
                view._writable = False
            return view
        if not np.may_share_memory(result, host):
            continue
        if not array._lazy:
            # A field of records, say: NumPy's view, whatever its dtype, so that writes reach them.
            return hold(result.view(np.ndarray), array)
        place = None
        if array.dtype == result.dtype:
            alike = array.strides == host.strides
            place = places.of_view(host, result) if alike else places.within(array, host, result)
        # Otherwise a copy: writes to it would not reach the array.
        if place is None and type(result) is not np.ndarray:
            made = wrap(result.view(np.ndarray))
            made._writable = False
            return made._like(array)
        view = wrap(result) if place is None else array._views(places.seen, *place)
        if name in _READ_ONLY or not array._shares(view):
            view._writable = False
        return view
    return None


def is_writable(array: ndarray) -> bool:
    return array._lazy and array._writable
