"""The class of arrays is completed by methods in Python: ours where something can stay lazy, else NumPy's.

Importing this module does it. Not here: methods that are fast or basic enough for Rust.
"""

import abc
import operator
import types
from typing import Any

import numpy as np

from .._classes import extents
from .._compute import complex_parts, linear, reductions, sorting
from .._fallback.calls import call_writing
from .._fallback.hosts import named_to_host, to_host
from .._gpupy import call, ndarray, new_array, numpy_attribute
from .._indexing import choices, index_arrays, positions, select
from .._searches import ranking, searching
from .._views import joining, shape
from .._views.flat import flatiter, set_flat
from .elements import astype, clip, conjugate, contains, fill, flatten, item, place_of, ravel, view
from .exchange import (
    array_wrap,
    arrow_array,
    arrow_c_array,
    ctypes,
    device,
    dlpack,
    jax_array,
    namespace_of,
    repr_inline,
    set_device,
    to_numpy,
)
from .memory import class_getitem, set_dtype, set_shape, set_strides, setflags, sizeof, squeeze
from .pickling import deepcopy, reduce, reduce_ex, setstate, shallow_copy


def described(function: Any, theirs: Any) -> types.FunctionType:
    """The function with the page and the signature of NumPy's method; a copy, as others show its own."""
    made = types.FunctionType(
        function.__code__,
        function.__globals__,
        theirs.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__doc__ = theirs.__doc__
    made.__wrapped__ = theirs  # type: ignore[attr-defined]
    return made


def _described(value: Any, theirs: Any) -> Any:
    """The same for methods and properties; other attributes stay."""
    if isinstance(value, property):
        return property(value.fget, value.fset, value.fdel, theirs.__doc__)
    is_method = isinstance(value, types.FunctionType) and callable(theirs)
    return described(value, theirs) if is_method else value


def _method(name: str) -> types.FunctionType:
    theirs = getattr(np.ndarray, name)

    def of_its_class(array, /, *args, **kwargs):
        return getattr(array, name)(*args, **kwargs)

    def method(self, /, *args, **kwargs):
        storing = name == "put" and self.dtype.hasobject
        return (call_writing if storing else call)(name, of_its_class, (self, *args), kwargs)

    return described(method, theirs)


def reader(name: str) -> types.FunctionType:
    """A method that only reads elements out: no fallback."""
    theirs = getattr(np.ndarray, name)

    def method(self, /, *args, **kwargs):
        return theirs(self._host(), *args, **kwargs)

    return described(method, theirs)


def _view_method(name: str) -> types.FunctionType:
    theirs = getattr(np.ndarray, name)

    def method(self, /, *args, **kwargs):
        return self._views(theirs, *to_host(args), **named_to_host(kwargs))

    return described(method, theirs)


def public_names(self):
    """The names of an array, without those that only gpupy itself uses: errors suggest names that it has."""
    within = {name for name in vars(ndarray) if name.startswith("_") and not name.startswith("__")}
    within.difference_update(dir(np.ndarray))
    names = (name for name in object.__dir__(self) if not name.startswith("_gpupy_"))
    return [name for name in names if name not in within]


_OWN = {
    **extents.ATTRIBUTES,
    **reductions.METHODS,
    "_set_dtype": set_dtype,
    "_repr_inline_": repr_inline,
    "_set_shape": set_shape,
    "_set_strides": set_strides,
    "__sizeof__": sizeof,
    "__array_namespace__": namespace_of,
    "__array_priority__": 0.0,
    "__array_wrap__": array_wrap,
    "__arrow_array__": arrow_array,
    "__arrow_c_array__": arrow_c_array,
    "__class_getitem__": classmethod(class_getitem),
    "__contains__": contains,
    "__copy__": shallow_copy,
    "__deepcopy__": deepcopy,
    "__dir__": public_names,
    "__dlpack__": dlpack,
    "__dlpack_device__": reader("__dlpack_device__"),
    "__jax_array__": jax_array,
    "__reduce__": reduce,
    "__setstate__": setstate,
    "__reduce_ex__": reduce_ex,
    "_place": place_of,
    "argpartition": ranking.argpartition_method,
    "argsort": sorting.argsort_method,
    "astype": astype,
    "choose": choices.choose_method,
    "clip": clip,
    "compress": index_arrays.compress_method,
    "conj": conjugate,
    "conjugate": conjugate,
    "ctypes": property(ctypes),
    "device": property(device, set_device),
    "dot": linear.dot,
    "fill": fill,
    "flat": property(flatiter, set_flat),
    "flatten": flatten,
    "imag": complex_parts.attribute("imag"),
    "item": item,
    "mT": property(lambda self: self._views(operator.attrgetter("mT"))),
    "nonzero": positions.nonzero_method,
    "partition": ranking.partition_in_place,
    "ravel": ravel,
    "real": complex_parts.attribute("real"),
    "repeat": joining.repeat_method,
    "round": select.round_method,
    "searchsorted": searching.searchsorted_method,
    "setflags": setflags,
    "squeeze": squeeze,
    "sort": sorting.sort_in_place,
    "swapaxes": shape.swapaxes_method,
    "take": index_arrays.take_method,
    "to_numpy": to_numpy,
    "view": view,
}

_READERS = "dump dumps tobytes tofile".split()
_VIEWS = ["diagonal"]
# Attributes that objects of all classes have.
_SKIPPED = {"__hash__"}


def _attribute(name: str) -> property:
    return property(lambda self: numpy_attribute(self, name), doc=getattr(np.ndarray, name).__doc__)


def _complete() -> None:
    for name, value in _OWN.items():
        theirs = getattr(np.ndarray, name, None)
        setattr(ndarray, name, value if theirs is None else _described(value, theirs))
    for name in _READERS:
        setattr(ndarray, name, reader(name))
    for name in _VIEWS:
        setattr(ndarray, name, _view_method(name))
    ndarray.__new__ = staticmethod(new_array)  # type: ignore[method-assign, assignment]
    ours = {*dir(ndarray), *dir(object), *_SKIPPED}
    for name in dir(np.ndarray):
        if name in ours:
            continue
        if isinstance(vars(np.ndarray)[name], types.GetSetDescriptorType):
            setattr(ndarray, name, _attribute(name))
        else:
            setattr(ndarray, name, _method(name))


_complete()


def _match_as_numpys() -> None:
    """Arrays match patterns of sequences in ``match`` where NumPy's do, and stay no ``Sequence``."""
    sequence = 1 << 5
    if np.ndarray.__flags__ & sequence:
        # The way of `collections.abc`, whose own classes would call arrays sequences.
        abc.ABCMeta("Matched", (), {"__abc_tpflags__": sequence}).register(ndarray)


_match_as_numpys()
