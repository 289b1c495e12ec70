"""NumPy's namespace: ours where we have a function, NumPy's wrapped where we have not.

Owns ``lookup``, and registers its look-ups with ``_numpys``, which comes before it. Types and constants are
NumPy's own objects. Not here: the functions themselves.
"""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._classes.ufuncs import ufunc_of
from .._compute import (
    complex_parts,
    einsum,
    linalg,
    linear,
    packed_bits,
    reductions,
    sorting,
    windows,
)
from .._creation import asked, constants, conversion, coordinates, pointers, ranges, tensors
from .._fallback import hosts, proxy, through_numpy
from .._gpupy import ndarray
from .._indexing import choices, index_arrays, positions, select
from .._numpys import rebound, submodules
from .._random import draws, generators
from .._searches import counting, ranking, searching
from .._session import errstate
from .._small_matrices import cholesky, eigenvectors, elimination
from .._transforms import fourier
from .._views import flat, grids, iteration, joining, shape, strides
from . import files

OWN = {
    **choices.FUNCTIONS,
    **complex_parts.FUNCTIONS,
    **constants.FUNCTIONS,
    **counting.FUNCTIONS,
    **conversion.FUNCTIONS,
    **coordinates.FUNCTIONS,
    **ranges.FUNCTIONS,
    **tensors.FUNCTIONS,
    **grids.FUNCTIONS,
    **einsum.FUNCTIONS,
    **errstate.FUNCTIONS,
    **files.FUNCTIONS,
    **index_arrays.FUNCTIONS,
    **positions.FUNCTIONS,
    **iteration.FUNCTIONS,
    **joining.FUNCTIONS,
    **linear.FUNCTIONS,
    **packed_bits.FUNCTIONS,
    **ranking.FUNCTIONS,
    **reductions.FUNCTIONS,
    **searching.FUNCTIONS,
    **select.FUNCTIONS,
    **shape.FUNCTIONS,
    **sorting.FUNCTIONS,
    **windows.FUNCTIONS,
}

# By the id of NumPy's object: ours, and that object.
_adapted: dict[int, tuple[Any, Any]] = {}

# Our functions in NumPy's submodules.
OWN_INSIDE: dict[str, dict[str, Any]] = {
    "gpupy.ctypeslib": pointers.FUNCTIONS,
    "gpupy.fft": fourier.FUNCTIONS,
    "gpupy.lib._utils_impl": ranking.UTILITIES,
    "gpupy.lib.stride_tricks": strides.FUNCTIONS,
    "gpupy.linalg": {
        **linalg.FUNCTIONS,
        **cholesky.FUNCTIONS,
        **eigenvectors.FUNCTIONS,
        **elimination.FUNCTIONS,
    },
    "gpupy.random": generators.FUNCTIONS,
}
# NumPy loads it when it is asked for, and none of its functions asks an array for another one.
_NOT_DISPATCHED = frozenset(("gpupy.random",))


def lookup(name: str) -> Any:
    """The object that gpupy's namespace has under a name of NumPy's."""
    if name in OWN:
        return _own(name, OWN[name], getattr(np, name), "gpupy")
    if name in _CLASSES:
        return _CLASSES[name]()
    return adapt(name, getattr(np, name), "gpupy")


def lookup_inside(module: str, name: str, theirs: Any) -> Any:
    """The object that a submodule of ours has under a name of NumPy's."""
    own = OWN_INSIDE.get(module, {}).get(name)
    if own is not None:
        return _own(name, own, theirs, module)
    # Some names are those of functions of NumPy's namespace.
    known = getattr(theirs, "__name__", "")
    if known in OWN and getattr(np, known, None) is theirs:
        return getattr(sys.modules["gpupy"], known)
    return adapt(name, theirs, module)


def _own(name: str, own: Any, theirs: Any, module: str) -> Any:
    """A function of ours as programs see it."""
    if not isinstance(own, type(_own)):
        return own
    # Ours have the docstring of NumPy's.
    own.__doc__ = own.__doc__ or theirs.__doc__
    # So `inspect` shows NumPy's signature, and pickles find the name: one of those that it has here.
    if OWN_INSIDE.get(module, OWN).get(own.__name__) is not own:
        own.__name__ = own.__qualname__ = name
    own.__wrapped__, own.__module__ = theirs, module
    made = _Unbound(own) if isinstance(theirs, types.BuiltinFunctionType) else own
    _sign(made, theirs)
    return made


def _sign(own: Any, theirs: Any) -> None:
    """Gives a function of ours the signature of NumPy's."""
    for name in ("__signature__", "__text_signature__"):
        found = getattr(theirs, name, None)
        if found is not None:
            setattr(own, name, found)


class _Unbound(staticmethod):  # type: ignore[type-arg]
    """A function that binds to no instance when it is an attribute of a class, as those in C."""

    def __get__(self, instance: Any, owner: Any = None) -> "_Unbound":
        return self

    def __reduce__(self) -> str:
        return self.__name__


def adapt(name: str, value: Any, module: str) -> Any:
    """Ours in place of what a module of NumPy's has under a name: ufuncs and functions wrapped, others as is.

    ``module`` is the name of ours that stands for it.
    """
    if isinstance(value, np.ufunc):
        return ufunc_of(value)
    if isinstance(value, types.ModuleType):
        return submodules.module_of(value)
    if isinstance(value, type):
        if name in _GENERATORS:
            return proxy.giving_ours(value)
        if module == "gpupy.random" and np.random.BitGenerator in value.__bases__:
            return generators.bits_of_ours(value)
        if module == "gpupy.random" and value is np.random.SeedSequence:
            return generators.seeds_of_ours(value)
        return proxy.called_giving_ours(value) if name in _POLYNOMIALS else value
    # One of a subclass is compared by identity, as ``ma.masked`` is; what types are named by is subscripted.
    if isinstance(value, (np.generic, np.ndarray, *_CONSTANTS)) or type(value).__module__ in _OF_TYPES:
        return value
    if _runs_code_of_callers(name, value):
        return value
    if callable(value):
        return function_of(name, value, module)
    return proxy.Proxy(value)


def _runs_code_of_callers(name: str, value: Any) -> bool:
    """Whether it is one of ``numpy.testing`` that calls a function, which has to get arrays of ours."""
    module = getattr(value, "__module__", None) or ""
    return module.startswith("numpy.testing") and name not in _COMPARISONS


_COMPARISONS = frozenset(
    "assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal assert_array_compare "
    "assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_array_max_ulp "
    "assert_equal".split()
)

# Classes of NumPy's whose methods give arrays.
_GENERATORS = ("Generator", "RandomState")
_POLYNOMIALS = frozenset("Chebyshev Hermite HermiteE Laguerre Legendre Polynomial poly1d".split())
_OF_TYPES = ("types", "typing")

_CONSTANTS = (
    *(int, float, complex, str, bytes, tuple, list, dict, set, frozenset),
    *(type(None), type(np._NoValue)),
)


def function_of(name: str, value: Any, module: str) -> Any:
    """A function of NumPy's, with arrays of ours going in and coming out."""
    found = _adapted.get(id(value))
    if found is None:
        found = _adapted[id(value)] = (_wrapped(name, value, _home(name, value, module)), value)
    return found[0]


def _home(name: str, value: Any, module: str) -> str:
    """The module of ours that a pickle finds a function in: NumPy's own choice where that has it."""
    theirs = getattr(value, "__module__", None) or ""
    if theirs.split(".")[0] == "numpy" and getattr(sys.modules.get(theirs), name, None) is value:
        ours = "gpupy" + theirs.removeprefix("numpy")
        return ours if ours in sys.modules else module
    return module


# Functions that look at dtypes and shapes alone: they need no elements.
_SHAPES_ALONE = frozenset(
    "can_cast common_type einsum_path is_masked iscomplexobj isrealobj isscalar issubdtype "
    "iterable ndim promote_types result_type shape size".split()
)

# Of these, functions that give what an array says of itself.
_ATTRIBUTES = frozenset(("ndim", "shape", "size"))

# Functions of NumPy's alone that take ``like``.
_LIKE = frozenset("fromfile frombuffer fromiter fromstring genfromtxt loadtxt".split())


def _given_like(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which the class of ``like`` is asked for first."""

    def given(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("like") is not None:
            rest = {key: value for key, value in kwargs.items() if key != "like"}
            like = kwargs["like"]
            if isinstance(like, ndarray) and not subclass.has_own(like, "__array_function__"):
                return function(*args, **rest)
            made = asked.asked(kwargs["like"], name, args, rest)
            if made is not NotImplemented:
                return made
        return function(*args, **kwargs)

    return given


def _meta_array(array: ndarray) -> Any:
    """A stand-in for an array; one without axes may be a number, such as an axis, and stays itself."""
    return array._meta_array() if array.ndim else array._host()


def _dtype_of(array: ndarray) -> Any:
    return array.dtype


def _wrapped(name: str, value: Any, module: str) -> Callable[..., Any]:
    if name in _SHAPES_ALONE:
        # To promotion an array is its dtype.
        pick = _dtype_of if name == "result_type" else _meta_array
        attribute = name if name in _ATTRIBUTES else None

        def function(*args: Any, **kwargs: Any) -> Any:
            if attribute is not None and len(args) == 1 and type(args[0]) is ndarray and not kwargs:
                return getattr(args[0], attribute)
            shapes = hosts.to_host(args, None, pick)
            return value(*shapes, **hosts.named_to_host(kwargs, None, pick)) if kwargs else value(*shapes)

    else:
        function = through_numpy.through_numpy(name, value)
        if name in _LIKE:
            function = _given_like(name, function)
        if rebound.is_rebound(name, value, module):
            function = rebound.over_ours(name, value, function) or function

    try:
        functools.update_wrapper(function, value)
    except (AttributeError, TypeError):
        pass
    _sign(function, value)
    # By these names pickles find it.
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    return function


@functools.cache
def _overrides() -> dict[Any, Any]:
    found = {}
    for name, own in OWN.items():
        theirs = getattr(np, name, None)
        if theirs is not None:
            found[theirs] = own
    for module, functions in OWN_INSIDE.items():
        if module in _NOT_DISPATCHED:
            continue
        source = functools.reduce(getattr, module.split(".")[1:], np)
        found.update({getattr(source, name): own for name, own in functions.items() if hasattr(source, name)})
    for inside in (counting.INSIDE, fourier.INSIDE, ranking.INSIDE, searching.INSIDE, windows.INSIDE):
        found.update(inside)
    return found


def override(function: Any) -> Any:
    """Our implementation of a function of NumPy's, if there is one."""
    own = _overrides().get(function)
    if own is None:
        name = getattr(function, "__name__", "")
        if name in _SHAPES_ALONE or rebound.is_rebound(name, function, "gpupy"):
            return function_of(name, function, "gpupy")
    return own


def _vectorize() -> type[np.vectorize]:
    # Few programs need a compiler.
    from .._vectorize.vectorize import vectorize

    return vectorize


# Classes whose instances would give out plain arrays, and those that stand for our own.
_CLASSES = {
    "errstate": lambda: np.errstate,
    "flatiter": lambda: flat.flatiter,
    "nditer": lambda: iteration.nditer,
    "vectorize": _vectorize,
}


def _inside(module: types.ModuleType, name: str) -> Any:
    """The object of a submodule of ours under a name, which is looked up for the first time."""
    # Reading and compiling modules waits for the first name of one.
    from .._masked import rerun

    if module.__name__ in rerun.NAMES:
        return rerun.lookup(module, name)
    source = submodules.source_of(module)
    if name == "__all__":
        return source.__all__
    value = vars(module)[name] = lookup_inside(module.__name__, name, getattr(source, name))
    return value


submodules.register(_inside)
proxy.register(draws.method_of)
rebound.register(override)
