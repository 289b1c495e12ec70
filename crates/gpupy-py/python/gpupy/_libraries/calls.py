"""Functions of libraries that ask for NumPy's very class in C: they get NumPy's arrays in the place of ours.

Owns ``EXCHANGED``, the list of them, and ``numpys``. What they get is an array over the pinned base, so that
both sides see what is written; of a scalar, NumPy's. Invariants: nothing is in the list that a protocol
serves, or a question (``lending.py``); where nothing is ours, the function sees its own arguments. Not here:
when this is done (``__init__.py``).
"""

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .._gpupy import Border, ndarray, scalar

# By the module that has them.
TAKING = {
    # The class is looked up by `type(x)`.
    "awkward.operations.ak_from_numpy": "from_numpy",
    "h5py._hl.attrs": "AttributeManager.create",
    "h5py._hl.dataset": "Dataset.__getitem__ Dataset.__setitem__ Dataset.read_direct Dataset.write_direct",
    "matplotlib._image": "resample",
    # A view of NumPy's as the class of an argument.
    "matplotlib.colors": "LightSource.hillshade",
    # Masks; other arrays come by the protocol.
    "pyarrow": "array scalar",
}
# Lists that are longer are looked at by their first item: they are numbers, or rows alike.
SHORT = 32


def numpys(value: Any) -> Any:
    """NumPy's array or scalar for one of ours, also inside tuples, lists and dictionaries."""
    other = _other_of(type(value))
    return value if other is None else other(value)


def _items(value: Any) -> Any:
    if len(value) > SHORT and not isinstance(value[0], (ndarray, scalar)):
        return value
    items = [numpys(item) for item in value]
    return value if all(map(operator.is_, items, value)) else type(value)(items)


def _values(value: dict[Any, Any]) -> dict[Any, Any]:
    found = {key: numpys(item) for key, item in value.items()}
    return value if all(map(operator.is_, found.values(), value.values())) else found


def _array(array: Any) -> Any:
    return array.__array__()


def _pinned(array: ndarray) -> Any:
    host = array._pinned()
    return _without_ours(host) if host.dtype.hasobject else host


def _without_ours(host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of objects, or of records with some: a copy with NumPy's arrays, where some of them are ours.

    Code in C takes the objects for NumPy's arrays without a look at their class.
    """
    if host.dtype.names is not None:
        fields = {name: (host[name], _without_ours(host[name])) for name in host.dtype.names}
        if all(not _is_changed(*pair) for pair in fields.values()):
            return host
        made = host.copy()
        for name, (_, field) in fields.items():
            made[name] = field
        return made
    if host.dtype != object:
        return host
    items = [numpys(item) for item in host.flat]
    if all(map(operator.is_, items, host.flat)):
        return host
    made = np.empty(host.size, host.dtype)
    for at, item in enumerate(items):
        made[at] = item
    return made.reshape(host.shape)


def _record(value: np.void) -> Any:
    return _without_ours(np.asarray(value))[()] if value.dtype.hasobject else value


def _is_changed(before: np.ndarray[Any, Any], now: np.ndarray[Any, Any]) -> bool:
    return not np.may_share_memory(before, now)


# Names that are not in it stay themselves.
_OTHERS: dict[type, Callable[[Any], Any]] = {
    dict: _values,
    list: _items,
    ndarray: _pinned,
    np.void: _record,
    scalar: lambda value: value._value(),
    tuple: _items,
}


def _other_of(kind: type) -> Callable[[Any], Any] | None:
    other = _OTHERS.get(kind)
    # Of a masked array it is NumPy's masked array; of other instances, the plain one.
    return _array if other is None and issubclass(kind, ndarray) else other


def _taking_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def taking_numpys(*args: Any, **kwargs: Any) -> Any:
        given = [value if (other := _other_of(type(value))) is None else other(value) for value in args]
        if kwargs:
            kwargs = {key: numpys(value) for key, value in kwargs.items()}
        return function(*given, **kwargs)

    return taking_numpys


# Wrappers of functions.
_Border: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def put(owner: Any, name: str, border: _Border = _taking_numpys, *, always: bool = False) -> None:
    """Exchanges a function of a module, or of a class; others still find the function under its name.

    Without arrays of ours among the arguments the function itself is called, but for a border of all calls.
    """
    found = vars(owner)[name]
    kind = type(found)
    if kind in (classmethod, staticmethod):
        setattr(owner, name, kind(_exchanged(found.__func__, border, always)))
        return
    made = _exchanged(found, border, always)
    setattr(owner, name, made)
    if isinstance(owner, type) or found.__module__ != owner.__name__:
        return
    # Modules that have taken the function from this one already.
    package = owner.__name__.split(".")[0]
    for module in [m for n, m in sys.modules.items() if n.split(".")[0] == package]:
        for key in [key for key, value in vars(module).items() if value is found]:
            setattr(module, key, made)


def _exchanged(found: Callable[..., Any], border: _Border, always: bool) -> Any:
    if always:
        return border(found)
    return functools.update_wrapper(Border(found, border(found), not hasattr(type(found), "__get__")), found)


def put_all(module: str, names: str, border: _Border = _taking_numpys) -> None:
    """Calls ``put`` for functions of an imported module, by their names in it."""
    for name in names.split():
        *inside, last = name.split(".")
        put(functools.reduce(getattr, inside, sys.modules[module]), last, border)


def _of_polars() -> None:
    """The function by which polars guesses from the name of a class whether to ask for NumPy's."""
    module: Any = sys.modules["polars._dependencies"]
    theirs = module._might_be

    def might_be(kind: type, package: str) -> bool:
        return (package == "numpy" and issubclass(kind, ndarray)) or theirs(kind, package)

    # What it knows of a class it keeps, as before.
    module._might_be = functools.wraps(theirs)(functools.cache(might_be))


EXCHANGED: dict[str, Callable[[], None]] = {
    **{module: functools.partial(put_all, module, names) for module, names in TAKING.items()},
    "polars._dependencies": _of_polars,
}
