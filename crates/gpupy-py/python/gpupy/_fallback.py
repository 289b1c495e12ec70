"""Fallback: operations that no driver has are NumPy's; arguments are flushed, calls counted, results wrapped.

Owns the policy (``GPUPY_FALLBACK``), and the slow path of arguments to NumPy and of results back; ``call`` in
Rust is the fast path, for plain arguments. Not here: which calls fall back (the modules that call ``call``).
"""

import contextvars
import operator
import os
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _places, _records, _subclass
from ._gpupy import (
    Bracket,
    adopt,
    call,
    count_fallback,
    count_made,
    current_driver,
    fallback_counts,
    hold,
    in_one_step,
    ndarray,
    reset_fallback_counts,
    scalar,
    set_driver_fallback,
    tell_of_fallbacks,
    wrap,
)

_Mode: TypeAlias = Literal["allow", "warn", "error"]
# NumPy's arrays that stand for ours, in the same order.
_Hosts: TypeAlias = list[np.ndarray[Any, Any]]
# Functions that read an array of ours.
_Pick: TypeAlias = Callable[[ndarray], np.ndarray[Any, Any]]
_MODES = ("allow", "warn", "error")
_INSIDE = (os.path.dirname(__file__) + os.sep, os.path.dirname(np.__file__) + os.sep)

_COMPARISONS = frozenset(("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"))


class FallbackError(RuntimeError):
    """A call went to NumPy although fallbacks are forbidden."""


class FallbackWarning(UserWarning):
    """A call went to NumPy."""


def _checked(mode: Any, source: str) -> _Mode:
    if mode not in _MODES:
        choices = ", ".join(f"`{m}`" for m in _MODES)
        raise ValueError(f"{source} is `{mode}`; choose one of {choices}")
    return mode


_mode: _Mode = "allow"


def _setting(mode: _Mode) -> tuple[Any, ...]:
    """The calls that set the mode."""
    return (
        (globals().__setitem__, "_mode", mode),
        # An error in NumPy is one on every driver.
        (set_driver_fallback, mode != "error"),
        (tell_of_fallbacks, mode != "allow"),
    )


in_one_step(*_setting(_checked(os.environ.get("GPUPY_FALLBACK") or "allow", "GPUPY_FALLBACK")))


class fallback(Bracket):
    """Sets the mode for fallbacks: ``allow``, ``warn`` or ``error``; as a context manager, until its end."""

    _lock = None

    def __init__(self, mode: _Mode) -> None:
        self._before = _mode
        in_one_step(*_setting(_checked(mode, "the fallback mode")))

    def _begin(self, _frame: Any) -> tuple[Any, ...]:
        return (), None, _setting(self._before), self


def sites() -> list[tuple[str, str, int, int]]:
    """The fallbacks so far: (function, file, line, count), most frequent first."""
    rows = [(*site, count) for site, count in fallback_counts().items()]
    return sorted(rows, key=lambda row: -row[3])


def reset() -> None:
    """Forgets the fallbacks so far."""
    reset_fallback_counts()


def _tell(site: tuple[str, str, int], seen: Sequence[ndarray], frame: types.FrameType | None) -> None:
    """Warns of a call to NumPy with these arrays, or forbids it."""
    name, file, line = site
    for_name, why = _because.get()
    words = f"`{name}` runs in NumPy: {why if name == for_name else _reason(seen)} ({file}:{line})"
    if _mode == "error":
        raise FallbackError(words)
    module = "?" if frame is None else frame.f_globals.get("__name__", "?")
    warnings.warn_explicit(words, FallbackWarning, file, line, module)


def is_allowed() -> bool:
    """Whether calls may go to NumPy without a word."""
    return _mode == "allow"


# A function whose calls go to NumPy now, and the reason, where that is no dtype's.
_because: contextvars.ContextVar[tuple[str, str]] = contextvars.ContextVar("_because", default=("", ""))


def call_because(
    why: str, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``call`` for a reason of its own."""
    before = _because.set((name, why))
    try:
        return call(name, function, args, kwargs)
    finally:
        _because.reset(before)


def _reason(seen: Sequence[ndarray]) -> str:
    numpys = sorted({str(a.dtype) for a in seen if not a._lazy})
    if numpys:
        return f"{', '.join(numpys)} is NumPy's own"
    if not seen:
        return "no driver computes it"
    dtypes = ", ".join(sorted({str(a.dtype) for a in seen}))
    return f"driver `{current_driver()}` does not compute it for these arguments ({dtypes})"


def to_host(value: Any, seen: list[ndarray] | None = None, pick: _Pick | None = None) -> Any:
    """NumPy's arrays and scalars in place of ours, also inside lists and tuples.

    Arrays of ours that were met are appended to ``seen``; ``pick`` replaces how they are read. Dictionaries
    stay as they are: to NumPy one is an object.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        items = [to_host(item, seen, pick) for item in value]
        # One without arrays of ours stays itself: the function may be one that writes to it.
        return value if all(map(operator.is_, items, value)) else kind(items)
    if kind is scalar:
        return value._value()
    if isinstance(value, ndarray):
        if seen is not None:
            seen.append(value)
        if pick is not None:
            return pick(value)
        return value._host() if kind is ndarray else _subclass.host_of(value)
    if kind is slice:
        return slice(*[to_host(x, seen, pick) for x in (value.start, value.stop, value.step)])
    unwrap = getattr(kind, "__gpupy_host__", None)
    if unwrap is not None:
        return unwrap(value)
    if hasattr(kind, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
        return _array_of(value)
    return value


def named_to_host(
    kwargs: dict[str, Any], seen: list[ndarray] | None = None, pick: _Pick | None = None
) -> Any:
    """``to_host`` of arguments by name."""
    return {name: to_host(value, seen, pick) for name, value in kwargs.items()}


def _array_of(value: Any) -> Any:
    """The array of ours to which an object converts itself, if it is one."""
    try:
        array = value.__array__()
    except Exception:
        # NumPy asks again, and has the words.
        return value
    return array._host() if isinstance(array, ndarray) else value


_PLAIN = frozenset({int, float, bool, str, type(None), np.ndarray, np.dtype, type})
# Results that stay as they are.
_VALUES = frozenset({int, float, bool, str, type(None), *(np.dtype(c).type for c in np.typecodes["All"])})


def wrap_inside(value: Any) -> Any:
    """Arrays of ours in place of NumPy's in a container; one of none, and other values, as they are."""
    kind = type(value)
    if kind is dict:
        named = {key: wrap(item) for key, item in value.items()}
        return value if all(map(operator.is_, named.values(), value.values())) else named
    if kind is list or isinstance(value, tuple):
        items = [wrap(item) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        if kind is list or kind is tuple:
            return kind(items)
        return kind._make(items) if hasattr(kind, "_make") else value
    if isinstance(value, np.ndarray):
        return _subclass.ours(value)
    if isinstance(value, (np.random.Generator, np.random.RandomState) if _random() else ()):
        from ._proxy import Proxy

        return Proxy(value)
    if isinstance(value, np.lib.npyio.NpzFile):
        from ._proxy import Archive

        return Archive(value)
    return value


def _random() -> bool:
    return "numpy.random" in sys.modules


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


def through_numpy(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's, with arrays of ours going in and coming out."""
    if name == "shuffle":
        return _shuffling(function)
    if name in _READING:
        return _reading(name, function)
    if name in _STORING:
        return _storing(name, function)
    if name in ("array", "fromrecords") and getattr(function, "__module__", None) == "numpy.rec":
        return _of_records(name, function)
    return lambda *args, **kwargs: call(name, function, args, kwargs)


# Functions that write elements down, or give them to NumPy's matrices: they compute nothing.
_READING = frozenset("array2string array_repr array_str asmatrix save savetxt savez savez_compressed".split())


# Functions that put values into their first argument, or into a copy of it.
_STORING = frozenset(("fill_diagonal", "insert"))


def _storing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def storing(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], ndarray) or not args[0].dtype.hasobject:
            return call(name, function, args, kwargs)
        return wrap(call_writing(name, function, args, kwargs))

    return storing


def _of_records(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes records of lists, in which objects may be."""

    def of_records(*args: Any, **kwargs: Any) -> Any:
        made = call(name, function, args, kwargs)
        if not (args and isinstance(args[0], (list, tuple)) and made.dtype.hasobject):
            return made
        from . import _objects

        return function(*map(_objects.stored, args), **named_to_host(kwargs))

    return of_records


def _reading(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        # A text has the name of the class.
        return array._host() if type(array) is ndarray else _subclass.twin(array, array._host())

    def reading(*args: Any, **kwargs: Any) -> Any:
        made = function(*to_host(args, None, pick), **named_to_host(kwargs, None, pick))
        return wrapped(name, made, [], [])

    return reading


def _shuffling(function: Callable[..., Any]) -> Callable[..., Any]:
    def shuffle(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, list):
            # It moves the items of the list itself, whatever they are.
            return function(x, *to_host(args), **named_to_host(kwargs))
        if _subclass.is_masked(x):
            # More than elements would be moved.
            return function(x.__array__(), *to_host(args), **named_to_host(kwargs))
        return call("shuffle", function, (x, *args), kwargs)

    return shuffle


def _longer_call(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The slow path of ``call``: outputs, masks, views, other classes."""
    outputs = isinstance(function, np.ufunc) and len(args) > function.nin
    if outputs and (len(args) > function.nargs or any(x is ... for x in args)):
        # NumPy has the words.
        return function(*to_host(tuple(args)), **named_to_host(kwargs))
    is_ufunc = isinstance(function, np.ufunc) or function in _OPERATORS
    if is_ufunc and _subclass.any_instance((*args, *kwargs.values())):
        if not any(type(x) not in _PLAIN and _decides(x) for x in args):
            return _subclass.of_ufunc(name, function, args, kwargs)
    if outputs and "out" not in kwargs:
        given = tuple(args[function.nin :])
        # NumPy makes those that are not given.
        kwargs = {**kwargs, "out": given + (None,) * (function.nout - len(given))}
        args = args[: function.nin]
    if "where" in kwargs and name in _COMPARISONS:
        args = _comparable(args)
    seen: list[ndarray] = []
    hosts: _Hosts = []
    out = kwargs.get("out")
    if any(type(x) not in _PLAIN and _decides(x) for x in args) or (out is not None and _others_out(out)):
        # NumPy's ufunc calls the other class, not ours.
        if getattr(function, "__module__", None) == "_operator":
            function = getattr(np, name, function)
        if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
            return wrap(function(*args, **kwargs))
    if out is not None:
        kwargs = {key: value for key, value in kwargs.items() if key != "out"}

    outs = () if out is None or out is ... else out if isinstance(out, tuple) else (out,)
    targets = [_to_write(o) for o in outs]

    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        # NumPy has to read and write one memory.
        read_there = any(isinstance(o, ndarray) and array._shares(o) for o in outs)
        host = array._pinned() if read_there else array._host()
        hosts.append(host if type(array) is ndarray else _subclass.twin(array, host))
        return hosts[-1]

    host_args = to_host(tuple(args), seen, pick)
    host_kwargs = named_to_host(kwargs, seen, pick)
    if out is ...:
        # A result without axes stays an array.
        host_kwargs["out"] = out
        out = None
    if out is None:
        return _called(name, function, args, kwargs, seen, hosts, host_args, host_kwargs)
    seen.extend(o for o in outs if isinstance(o, ndarray))
    count_fallback(name, seen)
    host_out = tuple(targets) if isinstance(out, tuple) else targets[0]
    result = function(*host_args, **host_kwargs, out=host_out)
    if isinstance(result, tuple):
        return tuple(_originals(r, targets, outs) for r in result)
    return _originals(result, targets, outs)


def _called(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    arrays: list[ndarray],
    hosts: _Hosts,
    host_args: tuple[Any, ...],
    host_kwargs: dict[str, Any],
) -> Any:
    """Wraps NumPy's result for host memory, with the arrays that own it."""
    count_fallback(name, arrays)
    try:
        result = function(*host_args, **host_kwargs)
    except ValueError as error:
        return _refused(error, function, args, kwargs, arrays)
    if not arrays:
        count_made(name, args, result)
    return _given_back(name, result, arrays, hosts)


def _refused(
    error: ValueError,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    arrays: list[ndarray],
) -> Any:
    """Handles a failed call: if it was to write to its arguments, repeats it with writable ones."""
    # NumPy's own arrays raise it too, and then nothing of ours would be changed.
    if "read-only" not in str(error) or not any(_writable(a) or _subclass.is_masked(a) for a in arrays):
        raise error
    return _write_back(function, args, kwargs)


def _given_back(name: str, result: Any, arrays: list[ndarray], hosts: _Hosts) -> Any:
    if type(result) in _VALUES:
        return result
    if any(array.dtype.hasobject for array in arrays):
        from . import _objects

        if _objects.is_one_of(result, hosts):
            return result
    return wrapped(name, result, arrays, hosts)


def wrapped(name: str, result: Any, arrays: Sequence[ndarray], hosts: _Hosts) -> Any:
    """The result as ours; the parts of a tuple or a list, too, may be views."""
    kind = type(result)
    if isinstance(result, _subclass.Twin):
        same = next((array for array, host in zip(arrays, hosts, strict=True) if host is result), None)
        if same is not None:
            return same
        view = _view_of_one(name, result, arrays, hosts, type(result)._class())
        return _subclass.of_twin(result, wrap(result.view(np.ndarray))) if view is None else view
    if kind is not np.ndarray:
        plain, named = kind in (tuple, list), hasattr(kind, "_make")
        has_twins = (plain or named) and any(isinstance(r, _subclass.Twin) for r in result)
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
        of_read_only = arrays and not result.size and not any(_writable(a) for a in arrays)
        if (name in _READ_ONLY or of_read_only) and not result.flags.writeable:
            view._writable = False
    return view


def _decides(value: object) -> bool:
    """Whether the class of a value, not ours or NumPy's, overrides ufuncs."""
    if isinstance(value, (ndarray, scalar, np.generic)):
        return False
    own = getattr(type(value), "__array_ufunc__", None)
    return own is not None and own is not np.ndarray.__array_ufunc__


def _others_out(out: Any) -> bool:
    return any(_decides(x) or _subclass.overrides(x) for x in (out if isinstance(out, tuple) else (out,)))


# Python's functions of operators that are ufuncs.
_OPERATORS = frozenset(
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift "
    "lt le eq ne gt ge neg pos abs invert".split()
) | {divmod}
# Functions whose views NumPy makes read-only.
_READ_ONLY = frozenset({"diag", "diagonal", "frombuffer", "sliding_window_view"})


def _view_of_one(
    name: str, result: np.ndarray[Any, Any], arrays: Sequence[ndarray], hosts: _Hosts, kind: Any
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
        array = given if type(given) is kind else _subclass.plain(given)
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
            place = _places.of_view(host, result) if alike else _places.within(array, host, result)
        # Otherwise a copy: writes to it would not reach the array.
        if place is None and type(result) is not np.ndarray:
            made = wrap(result.view(np.ndarray))
            made._writable = False
            return made._like(array)
        view = wrap(result) if place is None else array._views(_places.seen, *place)
        if name in _READ_ONLY or not array._shares(view):
            view._writable = False
        return view
    return None


def _writable(array: ndarray) -> bool:
    return array._lazy and array._writable


def _to_write(target: Any) -> Any:
    if type(target) is scalar:
        raise TypeError("return arrays must be of ArrayType")
    if not isinstance(target, ndarray):
        return target
    if target._lazy:
        target._may_write()
    return target._pinned()


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
        from . import _objects

        host_args = tuple(map(_objects.stored, args[1:]))
        host_kwargs = {key: _objects.stored(value) for key, value in kwargs.items()}
    else:
        host_args, host_kwargs = to_host(tuple(args[1:]), seen), named_to_host(kwargs, seen)
    count_fallback(name, [args[0], *seen])
    return function(_to_write(args[0]), *host_args, **host_kwargs)


def _write_back(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function that changes its arguments, on the arrays' own memory."""
    written = []

    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        masked = _subclass.is_masked(array)
        if not masked and not (_writable(array) and array._may_write()):
            return array._host()
        written.append((array, array.__array__() if masked else array._pinned()))
        return written[-1][1]

    result = function(*to_host(tuple(args), None, pick), **named_to_host(kwargs, None, pick))
    for array, host in written:
        if result is host:
            return array
    return wrap(result)


def in_place(operator_name: str, ufunc_name: str, target: ndarray, value: Any) -> Any:
    """``target op= value`` by NumPy."""
    function = getattr(operator, "i" + operator_name.rstrip("_"))
    if _subclass.any_instance((target, value)) and not _decides(value):
        if value is not None and getattr(type(value), "__array_ufunc__", _PLAIN) is None:
            return NotImplemented
        return _subclass.of_ufunc(ufunc_name, getattr(np, ufunc_name), (target, value), {"out": (target,)})
    if _decides(value):
        return getattr(np, ufunc_name)(target, value, out=(target,))
    if not target._lazy and _records.changed(target, lambda elements: function(elements, value)):
        return None
    seen = [target]
    host_value = to_host(value, seen)
    count_fallback(ufunc_name, seen)
    function(_to_write(target), host_value)
    return None


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's ufuncs called with arrays of ours."""
    from . import _namespace, _ufunc

    if not isinstance(ufunc, (np.ufunc, _namespace.ufunc)):
        # NumPy has the words.
        return np.empty(0).__array_ufunc__(ufunc, method, *to_host(inputs))  # type: ignore[arg-type]
    outs = kwargs.get("out", ())
    if any(_decides(x) or _subclass.overrides(x) for x in inputs) or _others_out(outs):
        return NotImplemented
    if method == "__call__" and not kwargs and ufunc.__name__ in _subclass.COMPARED and len(inputs) == 2:
        mine, other = _subclass.COMPARED[ufunc.__name__], inputs[1]
        if type(inputs[0]) is np.ndarray and _subclass.has_own(other, mine):
            # As an operator it asks a subclass of NumPy's first, which an instance of ours is none of.
            return getattr(other, mine)(wrap(inputs[0]))
    if method == "__call__":
        return _namespace.ufunc_of(ufunc)(*inputs, **kwargs)
    return _ufunc.method(ufunc.__name__, ufunc, method)(*inputs, **kwargs)


def array_function(
    function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """NumPy's functions called with arrays of ours."""
    from . import _namespace

    own = _namespace.override(function)
    if own is not None:
        return own(*args, **kwargs)
    return call(function.__name__, function, args, kwargs)
