"""Functions that give views: NumPy computes shape and strides, the elements stay ours.

Owns ``FUNCTIONS`` of that sort. Not here: ``reshape`` and ``transpose``, which are
methods in Rust.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes.subclass import is_instance, plain
from .._creation.conversion import asanyarray
from .._creation.orders import is_of_a_subclass, order_of
from .._fallback.hosts import named_to_host, to_host
from .._fallback.others import decides, of_other
from .._gpupy import call, hold, ndarray
from .._numpys.rebound import by_methods

# NumPy's functions whose result is always a view of their first argument.
_VIEWS = (
    "array_split broadcast_to diagonal dsplit fliplr flipud hsplit "
    "matrix_transpose permute_dims rollaxis rot90 split "
    "vsplit"
).split()

# The methods, or the way to an element, that NumPy asks its argument for.
_ASKED_FOR = {
    **dict.fromkeys(("array_split", "dsplit", "hsplit", "split", "swapaxes", "vsplit"), "swapaxes"),
    **dict.fromkeys(("permute_dims", "transpose"), "transpose"),
}

# By how many axes there are to be at least, and how many there are: the key that gives an array them.
_ALL = slice(None)
_GROWN = {
    (2, 1): (None,),
    (3, 1): (None, _ALL, None),
    (3, 2): (_ALL, _ALL, None),
}

# The key of an axis from its end to its start.
_REVERSED = (slice(None, None, -1),)


def _view(name: str) -> Callable[..., Any]:
    theirs = getattr(np, name)

    def function(*args, **kwargs):
        if not args:
            return call(name, theirs, args, kwargs)
        a = args[0]
        if type(a) is not ndarray:
            if decides(a, _ASKED_FOR.get(name)):
                return of_other(name, *args, **kwargs)
            a = asanyarray(a)
            if name == "broadcast_to" and not kwargs.get("subok"):
                a = plain(a)
            elif name != "broadcast_to" and is_instance(a):
                return by_methods(theirs, a, *args[1:], **kwargs)
        if not a._lazy:
            return call(name, theirs, (a, *args[1:]), kwargs)
        # NumPy's own number or array in place of one of ours, which would ask for this function again.
        return a._views(theirs, *to_host(args[1:]), **(named_to_host(kwargs) if kwargs else kwargs))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = theirs.__doc__
    return function


def _at_least(rank: int) -> Callable[..., Any]:
    theirs = getattr(np, f"atleast_{rank}d")

    def function(*arys):
        return _of(arys[0]) if len(arys) == 1 else tuple(_of(a) for a in arys)

    def _of(given: Any) -> Any:
        if type(given) is not ndarray and decides(given):
            return theirs(given)
        enough = type(given) is ndarray and given.ndim >= rank
        return given if enough else _grown(asanyarray(given), given)

    def _grown(a: ndarray, given: Any) -> Any:
        if is_of_a_subclass(given):
            return theirs(given)
        if a.ndim >= rank:
            return a
        if not a._lazy:
            return call(theirs.__name__, theirs, (a,), {})
        return a[_GROWN[rank, a.ndim]] if a.ndim else a.reshape((1,) * rank)

    function.__name__ = function.__qualname__ = f"atleast_{rank}d"
    return function


atleast_1d, atleast_2d, atleast_3d = _at_least(1), _at_least(2), _at_least(3)
_swapped = _view("swapaxes")


def swapaxes(a, axis1, axis2):
    if type(a) is ndarray and type(axis1) is type(axis2) is int:
        order = [*range(a.ndim)]
        try:
            order[axis1], order[axis2] = order[axis2], order[axis1]
        except IndexError:
            # NumPy has the words.
            return _swapped(a, axis1, axis2)
        return a.transpose(*order)
    return _swapped(a, axis1, axis2)


def swapaxes_method(self, axis1, axis2):
    """The method, which serves functions that ask for one."""
    if type(self) is ndarray:
        return swapaxes(self, axis1, axis2)
    if not self._lazy:
        return call("swapaxes", np.swapaxes, (self, axis1, axis2), {})
    return self._views(np.swapaxes, *to_host((axis1, axis2)))


_transposed = _view("transpose")


def transpose(a, axes=None):
    if type(a) is ndarray and (axes is None or type(axes) is tuple):
        return a.transpose() if axes is None else a.transpose(axes)
    return _transposed(a, axes)


_expanded = _view("expand_dims")


def expand_dims(a, axis):
    axes = (axis,) if type(axis) is int else axis
    plain_axes = type(axes) is tuple and all(type(each) is int for each in axes)
    if plain_axes and type(a) is ndarray and a._c_contiguous:
        shape = [*a.shape]
        rank = len(shape) + len(axes)
        places = {each % rank for each in axes if -rank <= each < rank}
        if len(places) == len(axes):
            for place in sorted(places):
                shape.insert(place, 1)
            return a.reshape(shape)
    # NumPy has the words.
    return _expanded(a, axis)


_moved = _view("moveaxis")


def moveaxis(a, source, destination):
    if type(a) is ndarray and type(source) is type(destination) is int:
        order = [*range(a.ndim)]
        if -a.ndim <= source < a.ndim and -a.ndim <= destination < a.ndim:
            order.insert(destination % a.ndim, order.pop(source))
            return a.transpose(*order)
    return _moved(a, source, destination)


_flipped = _view("flip")


def flip(m, axis=None):
    # All axes, which is nothing that NumPy has to judge.
    if axis is None and type(m) is ndarray and m.ndim:
        return m[_REVERSED * m.ndim]
    if type(m) is not ndarray and hasattr(m, "ndim") and decides(m, "__getitem__"):
        return of_other("flip", m, axis=axis)
    return _flipped(m, axis)


def reshape(a, /, shape, order="C", *, copy=None):
    if type(a) is not ndarray and decides(a, "reshape"):
        return of_other("reshape", a, shape, order=None if order == "C" else order, copy=copy)
    return asanyarray(a).reshape(shape, order=order, copy=copy)


def squeeze(a, axis=None):
    if type(a) is ndarray:
        return a.squeeze(axis)
    if is_of_a_subclass(a):
        return call("squeeze", np.squeeze, (a, axis), {})
    if decides(a, "squeeze"):
        return of_other("squeeze", a, axis=axis)
    # One of another class may have a method that takes no axis.
    return asanyarray(a).squeeze(axis) if axis is not None else asanyarray(a).squeeze()


def ravel(a, order="C"):
    if type(a) is not ndarray and decides(a):
        return of_other("ravel", a, order=None if order == "C" else order)
    if is_of_a_subclass(a):
        # Of a matrix it makes an array, of others an array of their class.
        return call("ravel", np.ravel, (a, order), {})
    return asanyarray(a).ravel(order)


def reshape_as(a: ndarray, shape: Any, order: Any, copy: Any) -> Any:
    """A reshape in an order other than `C`, of a lazy array."""
    letter = order_of(order)
    if letter not in ("C", "F", "A"):
        a._meta_array().reshape(shape, order=order)
        raise ValueError(f"order `{order}` is not permitted for reshaping")
    if letter == "C" or (letter == "A" and not a.flags.fnc):
        return a.reshape(shape, copy=copy)
    # In Fortran's order the axes are read and written backwards.
    wanted = a._meta_array().reshape(shape).shape
    made = a.T.reshape(wanted[::-1], copy=copy)
    return made.T if made.base is not None else made.T._alone()


def broadcast_arrays(*args, subok=False):
    arrays = [asanyarray(a) if subok else plain(asanyarray(a)) for a in args]
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    return tuple(a if a.shape == shape else _written_to(a, shape, subok) for a in arrays)


def _written_to(array: Any, shape: tuple[int, ...], subok: bool) -> Any:
    """A broadcast view that may be written to, as long as NumPy lets the views of ``broadcast_arrays`` be."""
    if type(array) is ndarray and not array._lazy:
        # NumPy warns itself of writes to its own.
        seen, _ = np.broadcast_arrays(array._host(), np.broadcast_to(np.False_, shape))
        return hold(seen, array)
    made = FUNCTIONS["broadcast_to"](array, shape, subok=subok)
    if made._lazy and array._writable:
        made._writable = True
        made._warn_of_write()
    return made


def _sharing(theirs: Any) -> Callable[..., Any]:
    """Ours for a function that says whether two arrays have memory in common."""

    def function(a, b, /, max_work=None):
        a, b = _array_of(a), _array_of(b)
        if isinstance(a, ndarray) and isinstance(b, ndarray) and a._lazy and b._lazy and a._shares(b):
            return _touch(theirs, a, b, max_work)
        if any(isinstance(x, ndarray) and x._lazy and not x._is_pinned for x in (a, b)):
            # Nothing else shows its memory.
            return False
        return call(theirs.__name__, theirs, (a, b, max_work), {})

    return function


def _array_of(value: Any) -> Any:
    """The array of ours that an object gives for itself, if it does; otherwise the object."""
    if isinstance(value, ndarray) or not hasattr(type(value), "__array__"):
        return value
    array = value.__array__()
    return array if isinstance(array, ndarray) else value


def _touch(theirs: Any, a: ndarray, b: ndarray, max_work: Any) -> Any:
    """NumPy's answer for two views of one owner's memory."""
    (low, high), others = _reach(a), _reach(b)
    low, high = min(low, others[0]), max(high, others[1])
    memory = np.empty(max(high - low, 1), np.uint8)

    def over(x: ndarray) -> np.ndarray[Any, Any]:
        return np.ndarray(x.shape, x.dtype, memory, x._offset - low if x.size else 0, x.strides)

    return theirs(over(a), over(b), max_work)


def _reach(a: ndarray) -> tuple[int, int]:
    """The first byte of an array in its owner's memory, and the one behind the last."""
    if not a.size:
        return a._offset, a._offset
    steps = [(n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)]
    first, last = (sum(pick(step, 0) for step in steps) for pick in (min, max))
    return a._offset + first, a._offset + last + a.itemsize


def unstack(x, /, *, axis=0):
    x = asanyarray(x)
    if is_instance(x):
        return by_methods(np.unstack, x, axis=axis)
    if not x._lazy:
        return call("unstack", np.unstack, (x,), {"axis": axis})
    # The parts of an array of one axis are numbers, which are no views.
    return tuple(FUNCTIONS["moveaxis"](x, axis, 0)) if x.ndim == 1 else x._views(np.unstack, axis=axis)


def isfortran(a):
    return a.flags.fnc if isinstance(a, ndarray) else np.isfortran(a)


FUNCTIONS = {name: _view(name) for name in _VIEWS} | {
    "atleast_1d": atleast_1d,
    "atleast_2d": atleast_2d,
    "atleast_3d": atleast_3d,
    "broadcast_arrays": broadcast_arrays,
    "expand_dims": expand_dims,
    "flip": flip,
    "isfortran": isfortran,
    "may_share_memory": _sharing(np.may_share_memory),
    "moveaxis": moveaxis,
    "ravel": ravel,
    "reshape": reshape,
    "shares_memory": _sharing(np.shares_memory),
    "squeeze": squeeze,
    "swapaxes": swapaxes,
    "transpose": transpose,
    "unstack": unstack,
}
