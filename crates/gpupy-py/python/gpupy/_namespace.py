"""NumPy's namespace: ours where we have a function, NumPy's wrapped where we have not.

Owns ``lookup``. Types and constants are NumPy's own objects. Not here: what the functions do.
"""

import functools
import types

import numpy as np

from . import (
    _complex,
    _creation,
    _errors,
    _fallback,
    _flat,
    _indexing,
    _iteration,
    _joining,
    _linear,
    _proxy,
    _reduce,
    _select,
    _shape,
    _sorting,
    _ufunc,
)
from ._gpupy import ndarray, ufunc

OWN = {
    **_complex.FUNCTIONS,
    **_creation.FUNCTIONS,
    **_errors.FUNCTIONS,
    **_indexing.FUNCTIONS,
    **_iteration.FUNCTIONS,
    **_joining.FUNCTIONS,
    **_linear.FUNCTIONS,
    **_reduce.FUNCTIONS,
    **_select.FUNCTIONS,
    **_shape.FUNCTIONS,
    **_sorting.FUNCTIONS,
}

_adapted = {}


def lookup(name):
    """The object that gpupy's namespace has under a name of NumPy's."""
    if name in OWN:
        return _own(OWN[name], getattr(np, name))
    if name in _CLASSES:
        return _CLASSES[name]()
    return adapt(name, getattr(np, name))


def _own(own, theirs):
    """A function of ours as programs see it."""
    if not isinstance(own, type(_own)):
        return own
    # Ours do what NumPy's page of the name says.
    own.__doc__ = own.__doc__ or theirs.__doc__
    # So `inspect` shows NumPy's signature, and pickles find the name.
    own.__wrapped__, own.__module__ = theirs, "gpupy"
    return _Unbound(own) if isinstance(theirs, types.BuiltinFunctionType) else own


class _Unbound(staticmethod):
    """A function that binds to no instance when it is an attribute of a class, as those in C."""

    def __get__(self, instance, owner=None):
        return self

    def __reduce__(self):
        return self.__name__


def adapt(name, value):
    """Ours in place of an object of NumPy's: ufuncs and functions wrapped, others as they are."""
    if isinstance(value, np.ufunc):
        return ufunc_of(value)
    if isinstance(value, types.ModuleType):
        from . import _submodules

        return _submodules.module_of(value)
    if isinstance(value, type):
        if name in _GENERATORS:
            return _proxy.giving_ours(value)
        return _proxy.called_giving_ours(value) if name in _POLYNOMIALS else value
    if isinstance(value, (np.generic, *_CONSTANTS)) or _runs_code_of_callers(name, value):
        return value
    if callable(value):
        return function_of(name, value)
    return _proxy.Proxy(value)


def _runs_code_of_callers(name, value):
    """Whether it is one of ``numpy.testing`` that calls a function, which has to get arrays of ours."""
    module = getattr(value, "__module__", None) or ""
    return module.startswith("numpy.testing") and name not in _COMPARISONS


_COMPARISONS = frozenset(
    "assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal "
    "assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_array_max_ulp "
    "assert_equal".split()
)
# Classes of NumPy's whose methods give arrays.
_GENERATORS = ("Generator", "RandomState")
_POLYNOMIALS = frozenset("Chebyshev Hermite HermiteE Laguerre Legendre Polynomial poly1d".split())
_CONSTANTS = (
    *(int, float, complex, str, bytes, tuple, list, dict, set, frozenset),
    *(type(None), type(np._NoValue)),
)


def ufunc_of(value):
    """Our ufunc for one of NumPy's, or of another library's."""
    found = _adapted.get(id(value))
    if found is None:
        # The pair keeps the original alive, so that its id names it for ever.
        found = _adapted[id(value)] = (ufunc(value.__name__, value), value)
    return found[0]


def function_of(name, value):
    """A function of NumPy's, with arrays of ours going in and coming out."""
    found = _adapted.get(id(value))
    if found is None:
        found = _adapted[id(value)] = (_wrapped(name, value), value)
    return found[0]


# Functions that look at dtypes and shapes alone: they need no elements.
_SHAPES_ALONE = frozenset(
    "broadcast_shapes can_cast common_type iscomplexobj isrealobj isfortran issubdtype "
    "min_scalar_type ndim promote_types result_type shape size".split()
)


def _wrapped(name, value):
    if name in _SHAPES_ALONE:

        def function(*args, **kwargs):
            hollow = _fallback.to_host((args, kwargs), None, ndarray._hollow)
            return value(*hollow[0], **hollow[1])

    else:

        def function(*args, **kwargs):
            return _fallback.call(name, value, args, kwargs)

    try:
        functools.update_wrapper(function, value)
    except (AttributeError, TypeError):
        function.__name__ = name
    function.__module__ = "gpupy"
    return function


@functools.cache
def _overrides():
    found = {}
    for name, own in OWN.items():
        theirs = getattr(np, name, None)
        if theirs is not None:
            found[theirs] = own
    return found


def override(function):
    """Our implementation of a function of NumPy's, if there is one."""
    own = _overrides().get(function)
    if own is None and getattr(function, "__name__", "") in _SHAPES_ALONE:
        return function_of(function.__name__, function)
    return own


def _vectorize():
    class vectorize(np.vectorize):
        def __call__(self, *args, **kwargs):
            return _fallback.call("vectorize", super().__call__, args, kwargs)

    return vectorize


# Classes whose instances would give out plain arrays, and those that stand for our own.
_CLASSES = {
    "errstate": lambda: _errors.errstate,
    "flatiter": lambda: _flat.flatiter,
    "nditer": lambda: _iteration.nditer,
    "vectorize": _vectorize,
}
_ufunc.lookup_ufunc = ufunc_of
