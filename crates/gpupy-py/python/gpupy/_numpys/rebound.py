"""Functions that NumPy writes in Python, run over our arrays: their names are bound to ours.

Owns ``over_ours``, the loader, and ``NAMES``, the functions that it is for. A function's code is NumPy's;
the names of its module (``np``, ``asarray``, ``add``, a helper) are bound to gpupy's counterparts.
A call without an array of ours, or with one that NumPy works on alone, is NumPy's own. Not here: functions
that we write ourselves.
"""

import builtins
import dis
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gpupy

from .._classes import subclass
from .._classes.ufuncs import ufunc_of
from .._creation.conversion import asanyarray
from .._fallback import policy
from .._fallback.through_numpy import through_numpy
from .._gpupy import call, ndarray, ufunc
from .._session import locks
from . import sooner, submodules

# Others need operations that no driver has, or read NumPy's own memory.
NAMES = frozenset(
    # Numbers and comparisons.
    "allclose array_equal array_equiv cumulative_prod cumulative_sum fix isclose iscomplex "
    "isneginf isposinf isreal nan_to_num real_if_close resize sinc "
    # Differences, averages and integrals.
    "average corrcoef cov diff ediff1d gradient kron trapezoid unwrap "
    # Searches, counts, medians and quantiles.
    "digitize histogram2d histogram_bin_edges interp median nanmedian nanpercentile nanquantile percentile "
    "quantile "
    # Shapes and places.
    "apply_along_axis apply_over_axes asarray_chkfinite block delete diag diag_indices_from diagflat "
    "fill_diagonal insert ix_ mask_indices piecewise require row_stack select "
    "tril_indices_from trim_zeros triu_indices_from vander "
    # Functions that skip NaN.
    "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar "
    # Sets.
    "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse "
    "unique_values "
    # Polynomials and functions.
    "convolve correlate i0 poly polyadd polyder polydiv polyint polysub polyval sort_complex "
    # Functions of numbers.
    "bartlett blackman diag_indices geomspace hamming hanning kaiser logspace tril_indices "
    "triu_indices".split()
)
# By module of ours: the same of NumPy's submodules.
NAMES_INSIDE = {
    "gpupy.fft": frozenset(("fftfreq", "fftshift", "ifftshift", "rfftfreq")),
    "gpupy.linalg": frozenset(("cross", "matrix_power", "multi_dot")),
}
# Those that make arrays of numbers.
_MAKING = frozenset(
    "bartlett blackman diag_indices fftfreq geomspace hamming hanning kaiser logspace rfftfreq "
    "tril_indices triu_indices".split()
)


def is_rebound(name: str, theirs: Any, module: str) -> bool:
    """Whether a module of ours has such a function under this name."""
    if name in NAMES and getattr(np, name, None) is theirs:
        return True
    return name in NAMES_INSIDE.get(module, ())


def over_ours(name: str, theirs: Any, fallback: Callable[..., Any]) -> Callable[..., Any] | None:
    """NumPy's function, over our arrays; ``None`` where the NumPy at hand has it otherwise than in Python."""
    source = getattr(theirs, "_implementation", theirs)
    if not isinstance(source, types.FunctionType) or not _is_bound(source):
        return None
    ours: Callable[..., Any] | None = None
    is_making, is_choice = name in _MAKING, name in sooner.FEW or name in sooner.ON_CPU

    def function(*args: Any, **kwargs: Any) -> Any:
        nonlocal ours
        if is_choice and sooner.is_numpys_call(name, args, kwargs):
            return call(name, theirs, args, kwargs)
        if is_making or _is_for_drivers(args, kwargs):
            if ours is None:
                ours = _bound(source)
            return sooner.by_drivers(ours, args, kwargs) if is_choice else ours(*args, **kwargs)
        return fallback(*args, **kwargs)

    return function


def _is_for_drivers(args: Any, kwargs: Any) -> bool:
    """Whether arrays of ours take part, and none on which NumPy works alone."""
    found = False
    for value in (*args, *kwargs.values()) if kwargs else args:
        kind = type(value)
        if kind is ndarray or (kind not in _PLAIN and isinstance(value, ndarray)):
            if not value._lazy:
                return False
            found = True
        elif kind is list or kind is tuple:
            inside = _of_items(value)
            if inside is False:
                return False
            found = found or inside is True
        elif kind not in _PLAIN and isinstance(value, np.ndarray):
            return False
    return found


def _of_items(values: Any) -> bool | None:
    """Whether arrays of ours are in a container, and none on which NumPy works alone; ``None``: neither."""
    found = None
    for value in values:
        kind = type(value)
        ours = kind is ndarray or (kind not in _PLAIN and isinstance(value, ndarray))
        inside = value._lazy if ours else _of_items(value) if kind in (list, tuple) else None
        if inside is False or (inside is None and kind not in _PLAIN and isinstance(value, np.ndarray)):
            return False
        found = found or inside
    return found


# NumPy's own arrays become ours; those of subclasses are NumPy's.
_PLAIN = frozenset((int, float, bool, str, type(None), np.ndarray, ufunc))


def _is_bound(function: types.FunctionType) -> bool:
    """Whether all that the code looks up is there, and nothing that it brings of its own is."""
    if function.__closure__:
        return False
    known = function.__globals__
    return all(name in known or hasattr(builtins, name) for name in _looked_up(function.__code__))


def _looked_up(code: types.CodeType) -> Iterator[str]:
    """The names that code looks up in its module, that of functions inside it too."""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _looked_up(constant)


# By the id of a module's names: those that are bound to ours so far.
_tables: dict[int, dict[str, Any]] = {}
# By NumPy's function: ours, from when its names begin to be bound, as one may call another that calls it.
_functions: dict[types.FunctionType, types.FunctionType] = {}


def _bound(function: types.FunctionType) -> types.FunctionType:
    """The function, with the names that it looks up in its module bound to ours."""
    with locks.LOADING:
        try:
            return _functions.get(function) or _bind(function)
        except BaseException:
            # Such as an interrupt: the next call begins anew, and what is complete keeps its tables.
            _functions.clear()
            _tables.clear()
            raise


def _bind(function: types.FunctionType) -> types.FunctionType:
    theirs = function.__globals__
    names = _tables.setdefault(id(theirs), {"__name__": theirs["__name__"], "__builtins__": builtins})
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    _functions[function] = made
    for name in _looked_up(function.__code__):
        if name in theirs and name not in names:
            names[name] = ours_of(theirs[name])
    return made


def inside(source: Any, functions: dict[str, Any]) -> dict[Any, Any]:
    """Ours by NumPy's private functions of these names, which not every release has."""
    return {getattr(source, name): own for name, own in functions.items() if hasattr(source, name)}


def bound(theirs: Any) -> Any:
    """A function that NumPy writes in Python, over our arrays; NumPy's own where it is otherwise."""
    source = getattr(theirs, "_implementation", theirs)
    plain = isinstance(source, types.FunctionType) and _is_bound(source)
    return _bound(source) if plain else through_numpy(theirs.__name__, theirs)


def by_methods(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The result, for instances, of a function that NumPy writes in Python and that calls their methods."""
    return bound(function)(*args, **kwargs)


class _Module:
    """A private module of NumPy's, with its names bound to ours."""

    def __init__(self, source: types.ModuleType) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        made = ours_of(getattr(self._source, name))
        setattr(self, name, made)
        return made


_modules: dict[int, Any] = {}


def ours_of(value: Any) -> Any:
    """Gpupy's counterpart of an object of NumPy's."""
    if value is np:
        return gpupy
    if value is np.ndarray:
        return ndarray
    if value is warnings:
        return _Warnings
    if isinstance(value, types.ModuleType):
        if not value.__name__.startswith("numpy"):
            return value
        if id(value) not in _modules:
            public = value.__name__.removeprefix("numpy.") in submodules.NAMES
            _modules[id(value)] = submodules.module_of(value) if public else _Module(value)
        return _modules[id(value)]
    if getattr(value, "__name__", "") in _INSTEAD:
        return _INSTEAD[value.__name__]
    if isinstance(value, np.ufunc):
        return ufunc_of(value)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, np.ufunc):
        return getattr(ufunc_of(owner), value.__name__)
    return _function(value) if callable(value) and not isinstance(value, type) else value


# Our implementation of a function of NumPy's, if there is one.
_override: Callable[[Any], Any]


def register(override: Callable[[Any], Any]) -> None:
    """Registers the look-up of our implementations, which is the namespace's."""
    global _override
    _override = override


def _function(value: Any) -> Any:
    found = _override(value)
    if found is not None:
        return found
    name = getattr(value, "__name__", "")
    public = getattr(np, name, None)
    if public is value or getattr(public, "_implementation", None) is value:
        return getattr(gpupy, name)
    if not (getattr(value, "__module__", None) or "").startswith("numpy") or name in _OF_NUMBERS:
        return value
    source = getattr(value, "_implementation", value)
    if isinstance(source, types.FunctionType):
        return _bound(source) if _is_bound(source) else value
    return through_numpy(name, value) if isinstance(source, types.BuiltinFunctionType) else value


class _Warnings:
    """``warnings``, for code that counts the frames up to the user's, of which there are others here."""

    catch_warnings, simplefilter = warnings.catch_warnings, warnings.simplefilter

    @staticmethod
    def warn(message: Any, category: Any = None, stacklevel: int = 1, **_: Any) -> None:
        """Warns at the line of the user's program."""
        frame, level = sys._getframe(1), 2
        while frame.f_back is not None and frame.f_code.co_filename.startswith(policy.PACKAGES):
            frame, level = frame.f_back, level + 1
        warnings.warn(message, category, level)


# Functions of NumPy's in C that look at no array.
_OF_NUMBERS = frozenset(("normalize_axis_index",))
_WEAK = (int, float, complex)


class _Converter:
    """NumPy's ``_array_converter``, for arrays of ours."""

    def __init__(self, *given: Any) -> None:
        self._given = given
        self._arrays = tuple(asanyarray(x) for x in given)
        self.scalar_input = tuple(type(x) in _WEAK for x in given)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, at: int) -> Any:
        return self._arrays[at]

    def as_arrays(self, subok: bool = True, pyscalars: str = "convert_if_no_array") -> tuple[Any, ...]:
        """The arguments as arrays."""
        return self._arrays

    def result_type(self, extra_dtype: Any = None, ensure_inexact: bool = False) -> Any:
        """The dtype that all arguments, and one more, have together."""
        pairs = zip(self._given, self._arrays, strict=True)
        given = [x if type(x) in _WEAK else a.dtype for x, a in pairs]
        found = np.result_type(*given, *(() if extra_dtype is None else (extra_dtype,)))
        return np.result_type(found, 1.0) if ensure_inexact and found.kind not in "fc" else found

    def wrap(self, array: Any, /, to_scalar: bool | None = None) -> Any:
        """A result as the arguments' classes have it."""
        to_scalar = all(not a.ndim for a in self._arrays) if to_scalar is None else to_scalar
        if subclass.any_instance(self._given):
            return subclass.wrapped_by(self._given, array, to_scalar)
        return array[()] if to_scalar and isinstance(array, ndarray) and not array.ndim else array


def _no_table(array: Any, **_: Any) -> Any:
    return NotImplemented


# What NumPy has in C for its own functions, by its name: a table of hashes is one of two ways that they know.
_INSTEAD = {"_array_converter": _Converter, "_unique_hash": _no_table}
