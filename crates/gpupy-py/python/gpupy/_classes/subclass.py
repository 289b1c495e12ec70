"""Instances of subclasses of ``gpupy.ndarray``: which results are of which class, by NumPy's rules.

Owns ``of_ufunc``, ``of_method`` and ``through``, which compute with the plain arrays of the same elements and
then ask the classes: ``__array_ufunc__``, ``__array_priority__``, ``__array_wrap__``. Of what NumPy computes
NumPy tells itself, by a ``twin``: an instance of a subclass of its own class in the place of one of ours.
Plain arrays never come here.

Not here: how instances are made, and views and copies, which have the class of their array (in Rust).
"""

import contextlib
import importlib
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._gpupy import array, ndarray, scalar
from .._gpupy import ufunc as ufunc_class
from .ufuncs import ufunc_of

_UFUNC: Any = ndarray.__array_ufunc__

# The reflected methods of comparisons.
COMPARED = {
    "equal": "__eq__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "not_equal": "__ne__",
}


def is_instance(value: Any) -> bool:
    """Whether it is of a subclass of ``gpupy.ndarray``."""
    return isinstance(value, ndarray) and type(value) is not ndarray


# Called once the class of masked arrays is made.
MASKED_IS_MADE: list[Callable[[], None]] = []


def is_masked(value: Any) -> bool:
    """Whether it is an instance with a mask, for which NumPy has a class of its own."""
    return hasattr(type(value), "_gpupy_twin")


def any_instance(values: Iterable[Any]) -> bool:
    """Whether one of them is, or is in a tuple or a list of them."""
    for value in values:
        kind = type(value)
        if kind is ndarray or kind in _NEVER:
            continue
        if isinstance(value, ndarray) or (kind in (list, tuple) and any_instance(value)):
            return True
    return False


_NEVER = frozenset((int, float, bool, str, type(None), np.ndarray, scalar))


def plain(value: Any) -> Any:
    """The plain array of an instance's elements; other values as they are."""
    return value._as(ndarray) if is_instance(value) else value


def overrides(value: Any) -> bool:
    """Whether it is an instance whose class overrides ufuncs."""
    return is_instance(value) and type(value).__array_ufunc__ is not _UFUNC


def has_own(value: Any, name: str) -> bool:
    """Whether it is an instance whose class has a method of this name in the place of ours."""
    return is_instance(value) and getattr(type(value), name, None) is not getattr(ndarray, name, None)


def through(function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """A function's result for the plain array, as a result of an instance; numbers become instances, too."""
    out = kwargs.get("out")
    if out is not None:
        kwargs["out"] = plain(out)
    made = function(a._as(ndarray), *map(plain, args), **kwargs)
    return _as_output(out, None) if out is not None else _applied(a.__array_wrap__, a, made, None, True)


def like(function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """A function's result for the plain array, as an instance of the class; numbers stay as they are."""
    out = kwargs.get("out")
    if out is not None:
        kwargs["out"] = plain(out)
    made = function(a._as(ndarray), *map(plain, args), **kwargs)
    return out if out is not None else made._like(a) if isinstance(made, ndarray) else made


def of_ufunc(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc, or of its operator, for instances."""
    is_operator = not isinstance(function, (np.ufunc, ufunc_class))
    ufunc = ufunc_of(getattr(np, name) if is_operator else getattr(function, "_numpy", function))
    if is_operator and len(args) == 2 and _gives_up(*args):
        return NotImplemented
    args = tuple(map(_as_operand, args))
    inputs, outs = args[: ufunc.nin], _outputs(ufunc, args, kwargs)
    if any(overrides(x) for x in (*inputs, *outs)):
        return dispatched(ufunc, "__call__", args, kwargs)
    given = {key: plain(value) for key, value in kwargs.items() if key != "out"}
    as_array = kwargs.get("out") is ...
    if as_array:
        given["out"] = ...
    elif outs:
        given["out"] = tuple(map(plain, outs))
    call = function if is_operator and not given else ufunc
    made = call(*map(_bare, inputs), **given)
    full = (*inputs, *outs)
    several = made if isinstance(made, tuple) else (made,)
    wrap = _chosen(inputs) if kwargs.get("subok", True) is not False else None
    results = []
    for at, each in enumerate(several):
        context = (ufunc, full, at)
        if outs and outs[at] is not None:
            results.append(_as_output(outs[at], context))
        else:
            results.append(each if wrap is None else _applied(*wrap, each, context, not as_array))
    return tuple(results) if isinstance(made, tuple) else results[0]


def _as_operand(value: Any) -> Any:
    """A list or a tuple with instances in it as the plain array that it is to a ufunc; others as they are.

    What was lent for an instance is one.
    """
    if isinstance(value, Twin):
        return ours(value)
    return _as_array(value) if type(value) in (list, tuple) and any_instance(value) else value


def _bare(value: Any) -> Any:
    """A plain array for an operand whose class overrides results; others as they are."""
    says = not isinstance(value, (np.ndarray, ndarray)) and hasattr(type(value), "__array_wrap__")
    return _as_array(value) if says and not isinstance(value, (np.generic, scalar)) else plain(value)


def _gives_up(left: Any, right: Any) -> bool:
    """Whether an operator leaves itself to its right operand, which has a greater priority."""
    if not isinstance(left, ndarray) or isinstance(right, (ndarray, np.ndarray, np.generic)):
        return False
    if type(right) in _NEVER or hasattr(type(right), "__array_ufunc__"):
        return False
    return _priority(right) > _priority(left)


def _outputs(ufunc: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    out = kwargs.get("out", args[ufunc.nin :])
    if out is None or out is ...:
        return ()
    given = out if isinstance(out, tuple) else (out,)
    return given if any(x is not None for x in given) else ()


def of_method(ufunc: Any, which: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc's method for instances."""
    out = kwargs.get("out")
    outs = out if isinstance(out, tuple) else () if out is None or out is ... else (out,)
    numbered = {"reduce": 3, "accumulate": 3, "reduceat": 4}.get(which, len(args))
    if len(args) > numbered and args[numbered] is not None:
        outs, out = (args[numbered],), args[numbered]
    if any(overrides(x) for x in (*args, *outs)):
        return dispatched(ufunc, which, args, kwargs)
    method = getattr(ufunc_of(ufunc), which)
    given = {key: plain(value) for key, value in kwargs.items()}
    if isinstance(out, tuple):
        given["out"] = tuple(map(plain, out))
    made = method(*map(plain, args), **given)
    if which == "at":
        return made
    if outs:
        return _as_output(outs[0], None)
    inputs = args[:2] if which == "outer" else args[:1]
    wrap = _chosen(inputs)
    context = (ufunc_of(ufunc), _spread(*inputs), 0) if which == "outer" else None
    return made if wrap is None else _applied(*wrap, made, context, out is not ...)


def _spread(a: Any, b: Any) -> tuple[Any, Any]:
    """The operands of an outer operation as those of one with broadcasting, which classes are told of."""
    rank = getattr(b, "ndim", None)
    b = _as_array(b) if rank is None else b
    return (a.reshape(a.shape + (1,) * b.ndim) if isinstance(a, ndarray) else a), b


def dispatched(ufunc: Any, which: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc's call by the classes of its operands, one of which at least overrides it."""
    ufunc = ufunc_of(getattr(ufunc, "_numpy", ufunc))
    args, kwargs = _named(which, args, kwargs)
    nin = ufunc.nin if which == "__call__" else len(args)
    outs = _outputs(ufunc, args, kwargs) if which == "__call__" else kwargs.get("out", ())
    outs = outs if isinstance(outs, tuple) else (outs,)
    inputs = args[:nin]
    if any(x is not None for x in outs):
        kwargs = {**kwargs, "out": outs}
    given = [x for x in (*inputs, *outs) if overrides(x) or _is_foreign(x)]
    classes = list(dict.fromkeys(type(x) for x in given))
    ordered: list[Any] = []
    for kind in classes:
        # A subclass comes before those that it extends.
        at = next((n for n, other in enumerate(ordered) if issubclass(kind, other)), len(ordered))
        ordered.insert(at, kind)
    for kind in ordered:
        owner = next(x for x in given if type(x) is kind)
        own = kind.__array_ufunc__
        if own is None:
            raise TypeError(f"operand '{kind.__name__}' does not support ufuncs (__array_ufunc__=None)")
        made = own(owner, ufunc if is_instance(owner) else ufunc._numpy, which, *inputs, **kwargs)
        if made is not NotImplemented:
            return made
    names = ", ".join(repr(type(x).__name__) for x in (*inputs, *outs))
    words = ", ".join([*map(repr, inputs), *(f"{key}={value!r}" for key, value in kwargs.items())])
    call = f"__array_ufunc__({ufunc!r}, {which!r}, {words})"
    raise TypeError(f"operand type(s) all returned NotImplemented from {call}: {names}")


def _named(which: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a ufunc's method as NumPy tells them to classes: arrays, and the rest by name."""
    arrays, *names = _ARGUMENTS.get(which, (len(args),))
    named = dict(zip(names, args[arrays:], strict=False))
    out = named.get("out", kwargs.get("out"))
    kept = {key: value for key, value in (named | kwargs).items() if value is not np._NoValue}
    if out is None or out is ...:
        kept.pop("out", None)
    return args[:arrays], kept


# The methods of ufuncs: how many arrays they take, and the names of the other arguments.
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "accumulate": (1, "axis", "dtype", "out"),
    "reduce": (1, "axis", "dtype", "out", "keepdims", "initial", "where"),
    "reduceat": (2, "axis", "dtype", "out"),
}


def decides(value: object) -> bool:
    """Whether the class of a value, not ours or NumPy's, overrides ufuncs."""
    if isinstance(value, (ndarray, scalar, np.generic)):
        return False
    own = getattr(type(value), "__array_ufunc__", None)
    return own is not None and own is not np.ndarray.__array_ufunc__


def _is_foreign(value: Any) -> bool:

    return not isinstance(value, ndarray) and decides(value)


def _priority(value: Any) -> float:
    with contextlib.suppress(Exception):
        return float(value.__array_priority__)
    return _OF_SCALARS


# NumPy's priority of objects without one.
_OF_SCALARS = -1000000.0


def _chosen(inputs: Iterable[Any]) -> tuple[Any, Any] | None:
    """The operand whose ``__array_wrap__`` makes the results; ``None`` where they are plain."""
    best: tuple[Any, Any] | None = None
    most = float("-inf")
    for value in inputs:
        if type(value) in (ndarray, np.ndarray):
            if most < 0.0:
                best, most = None, 0.0
            continue
        wrap = None if type(value) in _NEVER or isinstance(value, np.generic) else _wrap_of(value)
        if wrap is None:
            continue
        priority = _priority(value)
        if priority > most or (best is None and priority == most):
            best, most = (wrap, value), priority
    return best


def wrapped_by(inputs: Iterable[Any], made: Any, return_scalar: bool, context: Any = None) -> Any:
    """A result, wrapped by the classes of the inputs."""
    wrap = _chosen(inputs)
    return made if wrap is None else _applied(*wrap, made, context, return_scalar)


def given_as(a: Any, made: Any, context: Any) -> Any:
    """A ufunc's result for the plain array of an instance, wrapped by its class."""
    return _applied(a.__array_wrap__, a, made, context, True)


def _wrap_of(value: Any) -> Any:
    own = getattr(type(value), "__array_wrap__", None)
    return None if own is None else value.__array_wrap__


def _as_output(out: Any, context: Any) -> Any:
    """An output that was written, as its class gives it back."""
    if not is_instance(out) or not has_own(out, "__array_wrap__"):
        return out
    return _applied(out.__array_wrap__, out, out, context, False)


def _applied(wrap: Any, of: Any, made: Any, context: Any, return_scalar: bool) -> Any:
    """A result, wrapped by a class through one of the three signatures of ``__array_wrap__``."""
    if not isinstance(made, ndarray):
        made = made._array() if isinstance(made, scalar) else _as_array(made)
    return_scalar = return_scalar and not made.ndim
    if isinstance(of, ndarray) and not has_own(of, "__array_wrap__"):
        return made if type(made) is type(of) else made._like(of)
    try:
        return wrap(made, context, return_scalar)
    except TypeError as error:
        for given in ((made, context), (made,)):
            with contextlib.suppress(TypeError):
                found = wrap(*given)
                warnings.warn(
                    "__array_wrap__ must accept context and return_scalar arguments (positionally) in the "
                    "future. (Deprecated NumPy 2.0)",
                    DeprecationWarning,
                    stacklevel=4,
                )
                return found
        raise error


def _as_array(made: Any) -> Any:
    return array(made, copy=None)


def as_of(made: Any, a: Any, b: Any) -> Any:
    """A result of two plain arrays, as the class of the operand with the greater priority."""
    first, second = (_priority(x) if is_instance(x) else 0.0 for x in (a, b))
    of = b if type(a) is not type(b) and second > first else a
    return made._like(of) if is_instance(of) and isinstance(made, ndarray) and made.ndim else made


def joined_as(parts: Iterable[Any], made: Any) -> Any:
    """A joined array, as the class of the greatest priority above that of plain ones."""
    best, most = None, 0.0
    for part in parts:
        if is_instance(part) and _priority(part) > most:
            best, most = type(part), _priority(part)
    return made if best is None or not isinstance(made, ndarray) else made._as(best, False)


class Twin(np.ndarray[Any, Any]):
    """NumPy's array in the place of an instance of ours: NumPy's rules say which results are of its class."""

    _of: Any = None
    _class: Any = staticmethod(lambda: None)

    def __array_finalize__(self, of: Any) -> None:
        self._of = getattr(of, "_of", None)


_twins: weakref.WeakKeyDictionary[Any, type[Twin]] = weakref.WeakKeyDictionary()


def twin(array: Any, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The memory of an instance as an array of a subclass of NumPy's."""
    kind = type(array)
    if is_masked(array):
        return array._gpupy_twin(host)
    if kind not in _twins:
        members = {"__array_priority__": _priority(array), "_class": staticmethod(weakref.ref(kind))}
        _twins[kind] = type(kind.__name__, (Twin,), members)
    made = host.view(_twins[kind])
    made._of = array
    return made


def host_of(array: Any) -> np.ndarray[Any, Any]:
    """The array that NumPy reads for an instance: of the corresponding NumPy class, if there is one."""
    host = array._host()
    return array._gpupy_twin(host) if is_masked(array) else host


# By a class of NumPy's: the conversion of its instances to ours.
OURS: dict[type, Any] = {}


def ours(value: np.ndarray[Any, Any]) -> Any:
    """An array of a subclass of NumPy's as one of ours, where ours has such a class; otherwise itself."""
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray):
        # The access imports it.
        importlib.import_module("gpupy.ma").MaskedArray  # noqa: B018
    make = next((OURS[kind] for kind in type(value).__mro__ if kind in OURS), None)
    return value if make is None else make(value)


def of_twin(result: Twin, made: Any) -> Any:
    """An array of ours with the elements that NumPy gave as a twin, as of the class that this stands for."""
    if not isinstance(made, ndarray):
        return made
    kind = type(result)._class()
    return (
        made
        if kind is None
        else made._like(result._of)
        if type(result._of) is kind
        else made._as(kind, False)
    )


def warn_of_none() -> None:
    """NumPy's own words about ``__array_finalize__ = None``."""

    class Unfinished(np.ndarray[Any, Any]):
        __array_finalize__ = None  # type: ignore[assignment]

    np.empty(0).view(Unfinished)
