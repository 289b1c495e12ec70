"""The slow path of calls to NumPy: outputs, masks, views, other classes, writes to arguments.

Owns ``longer_call``, ``call_writing`` and ``in_place``; ``call`` in Rust is the fast path, for plain
arguments. Not here: the policy (``policy.py``).
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._classes import subclass, takers
from .._classes.subclass import decides
from .._gpupy import call, count_fallback, count_made, ndarray, scalar, wrap
from .._gpupy import jit as _own
from . import objects, records
from .hosts import PLAIN, Hosts, named_to_host, to_host
from .results import given_back, is_writable

_COMPARISONS = frozenset(("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"))


def _comparable(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of a comparison, with infinity for Python's integers that the other's dtype does not hold.

    With ``where``, some releases of NumPy crash on these.
    """
    for at, value in enumerate(args):
        other = getattr(args[1 - at], "dtype", None) if len(args) == 2 and type(value) is int else None
        if other is not None and other.kind in "iu":
            limits = np.iinfo(other)
            if not limits.min <= value <= limits.max:
                # Compared as it would be: all elements are on one side of it.
                return (*args[:at], np.inf if value > 0 else -np.inf, *args[at + 1 :])
    return args


def longer_call(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The slow path of ``call``: outputs, masks, views, other classes."""
    outputs = isinstance(function, np.ufunc) and len(args) > function.nin
    if outputs and (len(args) > function.nargs or any(x is ... for x in args)):
        # NumPy has the words.
        return function(*to_host(tuple(args)), **named_to_host(kwargs))
    is_ufunc = isinstance(function, np.ufunc) or function in _OPERATORS
    if is_ufunc and any(type(x) is scalar for x in args) and not _own.is_recording():
        if any(type(x) not in PLAIN and (decides(x) or subclass.is_instance(x)) for x in args):
            # The other class sees NumPy's number, as it does of few elements.
            args = tuple(x._value() if type(x) is scalar else x for x in args)
            if function in _OPERATORS and not any(type(x) is ndarray for x in args):
                return Onward(function, args, {}, is_numpys=True)
    if is_ufunc and subclass.any_instance((*args, *kwargs.values())):
        if not any(type(x) not in PLAIN and decides(x) for x in args):
            return subclass.of_ufunc(name, function, args, kwargs)
    if outputs and "out" not in kwargs:
        given = tuple(args[function.nin :])
        # NumPy makes those that are not given.
        kwargs = {**kwargs, "out": given + (None,) * (function.nout - len(given))}
        args = args[: function.nin]
    if "where" in kwargs and name in _COMPARISONS:
        args = _comparable(args)
    seen: list[ndarray] = []
    hosts: Hosts = []
    out = kwargs.get("out")
    if any(type(x) not in PLAIN and decides(x) for x in args) or (out is not None and others_out(out)):
        # NumPy's ufunc calls the other class, not ours.
        if getattr(function, "__module__", None) == "_operator":
            function = getattr(np, name, function)
        if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
            return Onward(function, tuple(args), dict(kwargs))
    if out is not None:
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}

    outs = () if out is None or out is ... else out if isinstance(out, tuple) else (out,)
    targets = [to_write(o) for o in outs]

    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        # NumPy has to read and write one memory.
        read_there = any(isinstance(o, ndarray) and array._shares(o) for o in outs)
        host = array._pinned() if read_there else array._host()
        hosts.append(host if type(array) is ndarray else subclass.twin(array, host))
        return hosts[-1]

    host_args = to_host(tuple(args), seen, pick)
    host_kwargs = named_to_host(kwargs, seen, pick)
    if out is ...:
        # A result without axes stays an array.
        host_kwargs["out"] = out
        if is_ufunc and all(map(_is_few, args)):
            # As numbers alone are: nothing of ours takes part.
            return wrap(function(*host_args, **host_kwargs))
        out = None
    if out is None:
        return _called(name, function, args, kwargs, seen, hosts, host_args, host_kwargs)
    seen.extend(o for o in outs if isinstance(o, ndarray))
    count_fallback(name, seen)
    host_out = tuple(targets) if isinstance(out, tuple) else targets[0]
    try:
        result = function(*host_args, **host_kwargs, out=host_out)
    except ValueError as error:
        # Of one that overwrites its input as well.
        result = refused(error, function, args, {**kwargs, "out": host_out}, seen)
        if result is error:
            raise
    if isinstance(result, tuple):
        return tuple(_originals(r, targets, outs) for r in result)
    return _originals(result, targets, outs)


# NumPy computes with so many numbers of Python's while it makes an array of them.
_FEW = 64


def _is_few(value: Any) -> bool:
    """Whether it is a number of Python's, or a list or tuple of few."""
    if type(value) in (list, tuple):
        return len(value) <= _FEW and all(type(x) in (bool, int, float) for x in value)
    return type(value) in (bool, int, float)


def _called(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    arrays: list[ndarray],
    hosts: Hosts,
    host_args: tuple[Any, ...],
    host_kwargs: dict[str, Any],
) -> Any:
    """Wraps NumPy's result for host memory, with the arrays that own it."""
    count_fallback(name, arrays)
    try:
        result = function(*host_args, **host_kwargs)
    except ValueError as error:
        result = refused(error, function, args, kwargs, arrays)
        if result is error:
            raise
        return result
    if not arrays:
        count_made(name, args, result)
    return given_back(name, result, arrays, hosts)


def refused(
    error: ValueError,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    arrays: list[ndarray],
) -> Any:
    """Repeats a failed call with writable arguments, if it was to write to them; else gives the error."""
    # NumPy's own arrays raise it too, and then nothing of ours would be changed.
    if "read-only" not in str(error) or not any(is_writable(a) or subclass.is_masked(a) for a in arrays):
        return error
    return _write_back(function, args, kwargs)


def others_out(out: Any) -> bool:
    return any(decides(x) or subclass.overrides(x) for x in (out if isinstance(out, tuple) else (out,)))


# Python's functions of operators that are ufuncs.
_OPERATORS = frozenset(
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift "
    "lt le eq ne gt ge neg pos abs invert".split()
) | {divmod}


def to_write(target: Any) -> Any:
    if type(target) is scalar:
        raise TypeError("return arrays must be of ArrayType")
    if not isinstance(target, ndarray):
        return target
    if target._lazy:
        target._may_write()
    return target._pinned()


class Onward:
    """A call of NumPy's ufunc, or of a method of it, with an operand whose class decides; Rust makes it.

    A class that takes NumPy's arrays alone would leave the decision to ours: it gets NumPy's, over our
    memory.
    """

    __slots__ = ("_is_numpys", "_lent", "args", "function", "kwargs")

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        is_numpys: bool = False,
    ) -> None:
        """``is_numpys`` says that no argument is ours, so that the result stays as it is."""
        self.function, self.args, self.kwargs, self._is_numpys = function, args, kwargs, is_numpys
        self._lent: list[tuple[Any, ndarray]] = []
        if any(takers.takes_numpys(x) for x in args):
            self.args = tuple(_lent(value, self._lent) for value in args)
            self.kwargs = {key: _lent(value, self._lent) for key, value in kwargs.items()}

    def given_back(self, result: Any) -> Any:
        """The result as ours; an output that was lent is itself."""
        for host, array in self._lent:
            if result is host:
                return array
        return result if self._is_numpys else wrap(result)


def _lent(value: Any, lent: list[tuple[Any, ndarray]]) -> Any:
    """NumPy's array over the memory of one of ours, noted with it; outputs come in tuples."""
    if isinstance(value, tuple):
        return tuple(_lent(item, lent) for item in value)
    if isinstance(value, ndarray):
        lent.append((value.__array__() if subclass.is_masked(value) else value._pinned(), value))
        return lent[-1][0]
    return value._value() if type(value) is scalar else value


def _originals(result: Any, targets: Sequence[Any], outs: Sequence[Any]) -> Any:
    for out, target in zip(outs, targets, strict=True):
        if result is target:
            return out
    return wrap(result)


def call_writing(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``function(*args, **kwargs)`` by NumPy, which writes to its first argument."""
    if not isinstance(args[0] if args else None, ndarray):
        return call(name, function, args, kwargs)
    seen: list[ndarray] = []
    if args[0].dtype.hasobject:
        host_args = tuple(map(objects.stored, args[1:]))
        host_kwargs = {key: objects.stored(value) for key, value in kwargs.items()}
    else:
        host_args, host_kwargs = to_host(tuple(args[1:]), seen), named_to_host(kwargs, seen)
    count_fallback(name, [args[0], *seen])
    return function(to_write(args[0]), *host_args, **host_kwargs)


def _write_back(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function that changes its arguments, on the arrays' own memory."""
    written, warning = [], []

    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        masked = subclass.is_masked(array)
        if not masked and not is_writable(array):
            return array._host()
        host = array.__array__() if masked else array._pinned()
        if not masked and array._warns_of_write:
            # NumPy alone knows whether it writes to this one.
            host = host.view()
            setattr(host.flags, "_warn_on_write", True)  # noqa: B010  (NumPy's stubs have none)
            warning.append((array, host))
        written.append((array, host))
        return host

    result = function(*to_host(tuple(args), None, pick), **named_to_host(kwargs, None, pick))
    for array, host in warning:
        if not host.flags.num & _WARNS:
            # Only the first write is warned of.
            array.flags.writeable = True
    for array, host in written:
        if result is host:
            return array
    return wrap(result)


# NumPy's flag of arrays of which the first write is warned of.
_WARNS = 1 << 31


def in_place(operator_name: str, ufunc_name: str, target: ndarray, value: Any) -> Any:
    """``target op= value`` by NumPy."""
    function = getattr(operator, "i" + operator_name.rstrip("_"))
    if subclass.any_instance((target, value)) and not decides(value):
        if value is not None and getattr(type(value), "__array_ufunc__", PLAIN) is None:
            return NotImplemented
        return subclass.of_ufunc(ufunc_name, getattr(np, ufunc_name), (target, value), {"out": (target,)})
    if decides(value):
        return getattr(np, ufunc_name)(target, value, out=(target,))
    if not target._lazy and records.changed(target, lambda elements: function(elements, value)):
        return None
    seen = [target]
    host_value = to_host(value, seen)
    count_fallback(ufunc_name, seen)
    function(to_write(target), host_value)
    return None
