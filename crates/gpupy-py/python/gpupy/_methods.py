"""The methods of arrays that are a few lines: ours where something can stay lazy, else NumPy's.

Importing this module completes the class. Not here: methods that are fast or basic enough for Rust.
"""

import abc
import operator
import pickle
import sys
import types
import weakref
from typing import Any

import numpy as np

from . import (
    _complex,
    _creation,
    _extents,
    _gpupy,
    _indexing,
    _joining,
    _linear,
    _objects,
    _reduce,
    _select,
    _shape,
    _sorting,
)
from ._fallback import call, call_writing, named_to_host, to_host
from ._flat import flatiter, set_flat
from ._gpupy import (
    assign_all,
    count_fallback,
    hold,
    kind_of,
    ndarray,
    new_array,
    numpy_attribute,
    retyped,
    wrap,
    wrap_constant,
    zeros,
)
from ._subclass import plain


def _described(function: Any, theirs: Any) -> types.FunctionType:
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


def _method(name: str) -> types.FunctionType:
    theirs = getattr(np.ndarray, name)

    def of_its_class(array, /, *args, **kwargs):
        return getattr(array, name)(*args, **kwargs)

    def method(self, /, *args, **kwargs):
        storing = name == "put" and self.dtype.hasobject
        return (call_writing if storing else call)(name, of_its_class, (self, *args), kwargs)

    return _described(method, theirs)


def _reader(name: str) -> types.FunctionType:
    """A method that only reads elements out: no fallback."""
    theirs = getattr(np.ndarray, name)

    def method(self, /, *args, **kwargs):
        return theirs(self._host(), *args, **kwargs)

    return _described(method, theirs)


def _view_method(name: str) -> types.FunctionType:
    theirs = getattr(np.ndarray, name)

    def method(self, /, *args, **kwargs):
        return self._views(theirs, *to_host(args), **named_to_host(kwargs))

    return _described(method, theirs)


def copy(self, order="C"):
    """The method, called with an order."""
    return _creation.array(self, order="C" if order is None else order, copy=True, subok=True)


def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not subok and type(self) is not ndarray:
        self = self._as(ndarray)
    if order == "K" and casting == "unsafe" and copy is True:
        made = self._cast(dtype)
        if made is not None:
            return made
    given, dtype = dtype, np.dtype(dtype)
    if dtype.kind in "SU" and self.dtype == object and type(self) is ndarray:
        self = hold(_objects.as_texts_of(self))
    if self._lazy and _creation.is_lazy(dtype):
        letter = order if order == "K" else _creation.order_of(order)
        # For arrays in neither order, "A" means C.
        wanted = "C" if letter == "A" and not self.flags.forc else letter
        if dtype == self.dtype and not copy and _creation.lies_in(self, wanted):
            return self
        # `same_value` looks at the elements.
        if casting == "unsafe" or (casting != "same_value" and np.can_cast(self.dtype, dtype, casting)):
            return self._copy(dtype, True) if letter == "K" else _creation.copied(self, letter, dtype)
    if isinstance(given, type) and issubclass(given, np.dtype):
        # The elements decide about the rest of the dtype, such as the length of strings.
        dtype = given
    options = {"order": order, "casting": casting, "subok": subok, "copy": copy}
    return call("astype", np.ndarray.astype, (self, dtype), options)


def conjugate(self, *args, **kwargs):
    # NumPy copies the dtypes of others.
    if not args and not kwargs and self.dtype.kind in "biuf":
        return self
    if kind_of(self.dtype) in "SUTVMm":
        # NumPy has the words.
        self._host().conj()
    return np.conjugate(self, *args, **kwargs)


def ravel(self, order="C"):
    row = self._row() if order == "C" else None
    if row is not None:
        return row
    if not self._lazy:
        return call("ravel", lambda array, order: array.ravel(order), (self, order), {})
    order = _creation.order_of(order)
    flags = self.flags
    if order == "K" and not flags.c_contiguous:
        turned = self.transpose(_creation.axes_as_they_lie(self))
        if turned.flags.c_contiguous:
            return turned.reshape(-1)
        made = self._copy_as_read()
        return made.transpose(_creation.axes_as_they_lie(made)).reshape(-1)
    if order == "A":
        order = "F" if flags.fnc else "C"
    # A view of other strides could be one axis as well, but NumPy's ravel copies.
    if order == "F":
        return self.T.reshape(-1) if flags.f_contiguous else self.T._copy().reshape(-1)
    return self.reshape(-1) if flags.c_contiguous else self._copy().reshape(-1)


def flatten(self, order="C"):
    made = ravel(self, order)
    return made if made.base is None and made is not self else made.copy()


def fill(self, value):
    if self._lazy:
        assign_all(self, value)
    else:
        host = self._host()
        # One element of objects may be a sequence.
        one = (
            _objects.itself if host.dtype == object else _objects.stored if host.dtype.hasobject else to_host
        )
        host.fill(one(value))


def item(self, *args):
    # An element's number is asked for, whatever a class gives by an index.
    self = plain(self)
    if not self._lazy:
        return self._host().item(*args)
    if not args:
        key = (0,) * self.ndim if self.size == 1 else None
    elif len(args) == 1 and not isinstance(args[0], tuple):
        key = self._place(args[0])
    else:
        key = args[0] if len(args) == 1 else args
    if key is None or len(key) != self.ndim:
        return self._meta_array().item(*args)
    element = self[key]
    return to_host(element).item()


def _place(self, flat):
    flat = operator.index(flat)
    if not -self.size <= flat < self.size:
        return None
    return tuple(int(i) for i in np.unravel_index(flat % self.size, self.shape))


# `view` has an argument of this name.
_CLASS = type


def view(self, dtype=None, type=None):
    if type is None and isinstance(dtype, _CLASS) and issubclass(dtype, ndarray | np.ndarray):
        dtype, type = None, dtype
    if type is np.ndarray:
        type = ndarray
    # Of NumPy's masked arrays there are ours.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    if isinstance(type, _CLASS) and issubclass(type, np.ndarray) and not issubclass(type, masked):
        # NumPy's own class, or the program's of it: it shows this array's memory.
        count_fallback("view", [self])
        host = self._pinned()
        return host.view(type=type) if dtype is None else host.view(dtype, type)
    if isinstance(type, _CLASS) and issubclass(type, ndarray):
        made = self._as(type)
        return made if dtype is None else _seen_as(made, dtype)
    if _CLASS(self) is not ndarray and type is None and dtype is not None:
        return _seen_as(self._as(_CLASS(self)), dtype)
    same = dtype is None or (isinstance(dtype, np.dtype | str) or dtype in np.sctypeDict.values())
    if type is None and same:
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        # Dtypes of others may call themselves equal.
        if dtype == self.dtype and _CLASS(dtype) is _CLASS(self.dtype):
            return self._views(np.ndarray.view)
    if type is None and self._lazy:
        made = self._under(dtype)
        if made is not None:
            return made
        # A dtype that is NumPy's own, or elements that lie at no multiples of their size.
        host = self._pinned()
        count_fallback("view", [self])
        return hold(host.view(dtype), self)
    given = [x for x in (dtype, type) if x is not None]
    return call("view", np.ndarray.view, (self, *given), {})


def _seen_as(made: Any, dtype: Any) -> Any:
    """A view that is another's own, under another dtype: a class may have a way of its own to set that."""
    made.dtype = dtype
    return made


def resize(self, new_shape, is_shared):
    """The rest of ``array.resize``, which knows whether anything else may see the array's memory."""
    if not new_shape or (len(new_shape) == 1 and new_shape[0] is None):
        return
    own = plain(self)
    flags = own.flags
    if not flags.forc:
        raise ValueError("resize only works on single-segment arrays")
    # NumPy reads the shape; elements of no bytes take no room.
    read = np.empty(own.shape, np.dtype([]))
    read.resize(*new_shape, refcheck=False)
    size = read.size
    if size != own.size:
        _check_resized(self, is_shared)
    if not own._lazy:
        host = own._host() if size == own.size else own._host().copy("K")
        host.resize(*new_shape, refcheck=False)
        if size != own.size:
            self._replace(wrap(host))
        return
    # Elements keep their order in memory, and axes theirs.
    row, shape = (own.T, read.shape[::-1]) if flags.fnc else (own, read.shape)
    row = row if size == own.size else _resized(row.reshape(-1), size)
    # Without elements even the same shape gets strides of its own, as another one does.
    made = (row if size else row[None]).reshape(shape)
    self._replace(made.T if flags.fnc else made)


def _check_resized(array, is_shared):
    if not array._owns:
        raise ValueError("cannot resize this array: it does not own its data")
    if is_shared or weakref.getweakrefcount(array):
        # NumPy has the words.
        shared = [np.empty(1)] * 2
        shared[0].resize(2)


def _resized(row, size):
    if size <= row.size:
        return row[:size].copy()
    return _joining.concatenate([row, zeros(size - row.size, row.dtype)])


def squeeze(self, axis=None):
    # Where no axis goes, NumPy gives the array itself; it takes 0 and -1 for axes of an array without any.
    axis = None if axis is None else to_host(axis)
    nothing = axis is None and 1 not in self.shape
    if nothing or (type(axis) is tuple and not axis) or (not self.ndim and axis in (0, -1)):
        return self
    return self._views(np.ndarray.squeeze, axis)


def setflags(self, write=None, align=None, uic=None):
    if not self._lazy:
        self._host().setflags(write=write, align=align, uic=uic)
    elif write is not None:
        if write and self.base is not None and not self.base._writable:
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        self._writable = bool(write)


def class_getitem(cls, item):
    # NumPy has the words for too few types and too many.
    np.ndarray[item]  # type: ignore[valid-type]
    return types.GenericAlias(cls, item)


def clip(self, min=None, max=None, out=None, **kwargs):
    if out is None and not kwargs and type(self) is ndarray:
        made = _gpupy.clip(self, min, max)
        if made is not None:
            return made
    return _select.clip_method(self, min, max, out, **kwargs)


def contains(self, value):
    return bool(plain(self == value).any())


# The first protocol of pickle whose buffers may go beside the pickle.
OUT_OF_BAND = 5


def reduce(self):
    if type(self) is not ndarray:
        return _reconstructed, (type(self), (0,), b"b"), self._host().__reduce__()[2]
    return _rebuild, (self._constant() if self._lazy else self._host(),)


def reduce_ex(self, protocol, /):
    """For pickle: from protocol 5 on the elements are a buffer, which may go beside it without a copy.

    A pending array is evaluated. Later writes to it do not reach the buffer.
    """
    if type(self) is not ndarray:
        return self.__reduce__()
    if protocol < OUT_OF_BAND or not self._lazy:
        return reduce(self)
    host = self._constant()
    if not host.flags.forc:
        # As NumPy's: they follow each other in the pickle.
        return _rebuild, (host,)
    order = "F" if host.flags.fnc else "C"
    elements: Any = host.ravel(order="K")
    if elements.dtype.kind == "V":
        # The buffer protocol has no letter for bfloat16.
        elements = elements.view(np.uint16)
    return from_buffer, (pickle.PickleBuffer(elements), host.dtype, host.shape, order)


def _reconstructed(kind: type[Any], shape: tuple[int, ...], letter: bytes) -> Any:
    """An instance of a subclass that is to get its state."""
    return ndarray.__new__(kind, shape, letter.decode())


def setstate(self, state, /):
    """NumPy's state of an array: its version, shape, dtype, order and elements."""
    made = np.empty(0)
    made.__setstate__(state)
    self._replace(_lying_like(wrap(made), made))


def _lying_like(array: Any, host: np.ndarray[Any, Any]) -> Any:
    """The array with the strides of NumPy's, which is no new one, where there are no elements."""
    if host.size or not array._lazy:
        return array
    return array._views(np.lib.stride_tricks.as_strided, host.shape, host.strides)._alone()


def _rebuild(array: np.ndarray[Any, Any]) -> Any:
    return _lying_like(wrap_constant(array), array)


def from_buffer(buffer: Any, dtype: Any, shape: tuple[int, ...], order: Any) -> Any:
    """An array whose elements are read where the buffer has them: it is given up."""
    if 0 in shape:
        host = np.empty(0, dtype).reshape(shape, order=order)
        return _lying_like(wrap_constant(host), host)
    # The result of `frombuffer` keeps the buffer from moving.
    return wrap_constant(np.frombuffer(buffer, dtype).reshape(shape, order=order))


def shallow_copy(self, /):
    return copy(self, "K")


def deepcopy(self, memo):
    if self._lazy:
        return copy(self, "K")
    import copy as copying

    made = wrap(copying.deepcopy(self._host(), memo))
    return made if type(self) is ndarray else made._like(self)


def dlpack(self, **kwargs):
    host = self._pinned()
    if kind_of(host.dtype) == host.dtype.kind:
        return host.__dlpack__(**kwargs)
    # bfloat16, of which NumPy makes no capsules.
    capsule = host.view(np.uint16).__dlpack__(**kwargs)
    retyped(capsule, _creation.DLPACK_UINT, _creation.DLPACK_BFLOAT)
    return capsule


def arrow_array(self, type=None):
    """Arrow's array of the elements, which it shares where Arrow lays them out as NumPy."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Arrow's layout of an array is made by pyarrow: install it") from error
    return pyarrow.array(self._pinned(), type=type)


def arrow_c_array(self, requested_schema=None):
    # Arrow's own package makes the capsules: it knows how each dtype lies.
    return arrow_array(self).__arrow_c_array__(requested_schema)


def jax_array(self):
    import jax.numpy

    return jax.numpy.asarray(np.asarray(self))


def to_numpy(self, dtype=None, copy=False):
    """A NumPy array of the elements: over the same memory, unless a copy or another dtype is requested."""
    return np.array(self._pinned(), dtype=dtype, copy=True if copy else None)


def array_wrap(self, array, context=None, return_scalar=False, /):
    made = wrap(array)
    if type(self) is not ndarray:
        return made if type(made) is type(self) else made._like(self)
    made = made if type(made) is ndarray else made._as(ndarray)
    return made[()] if return_scalar and not made.ndim else made


def ctypes(self):
    # The address is a bare number: C may read and write there as long as there is the memory.
    made = self._pinned(for_life=True).ctypes
    # The pointers that it gives keep the array, as NumPy's do.
    made._arr = self
    return made


def device(self):
    return "cpu"


def set_device(self, value):
    # NumPy has the words.
    np.empty(0).device = value  # type: ignore[misc]


def _namespace(self, *, api_version=None):
    import gpupy

    return gpupy


def set_dtype(self, dtype):
    """``array.dtype = dtype``: the same memory under another dtype."""
    self._replace(view(plain(self), dtype))


def sizeof(self):
    """The bytes of the object, and of the elements if it owns them, evaluated or not."""
    meta_array = self._meta_array()
    own = self.nbytes if self._lazy and self.base is None else 0
    return np.ndarray.__sizeof__(meta_array) + own


def set_shape(self, shape):
    """``array.shape = shape``, as newer releases of NumPy name it to their subclasses."""
    ndarray.shape.__set__(self, shape)  # type: ignore[attr-defined]


_OWN = {
    **_extents.ATTRIBUTES,
    **_reduce.METHODS,
    "_set_dtype": set_dtype,
    "_set_shape": set_shape,
    "__sizeof__": sizeof,
    "__array_namespace__": _namespace,
    "__array_priority__": 0.0,
    "__array_wrap__": array_wrap,
    "__arrow_array__": arrow_array,
    "__arrow_c_array__": arrow_c_array,
    "__class_getitem__": classmethod(class_getitem),
    "__contains__": contains,
    "__copy__": shallow_copy,
    "__deepcopy__": deepcopy,
    "__dlpack__": dlpack,
    "__dlpack_device__": _reader("__dlpack_device__"),
    "__jax_array__": jax_array,
    "__reduce__": reduce,
    "__setstate__": setstate,
    "__reduce_ex__": reduce_ex,
    "_place": _place,
    "argsort": _sorting.argsort_method,
    "astype": astype,
    "clip": clip,
    "compress": _indexing.compress_method,
    "conj": conjugate,
    "conjugate": conjugate,
    "ctypes": property(ctypes),
    "device": property(device, set_device),
    "dot": _linear.dot,
    "fill": fill,
    "flat": property(flatiter, set_flat),
    "flatten": flatten,
    "imag": _complex.attribute("imag"),
    "item": item,
    "mT": property(lambda self: self._views(operator.attrgetter("mT"))),
    "nonzero": _indexing.nonzero_method,
    "ravel": ravel,
    "real": _complex.attribute("real"),
    "repeat": _joining.repeat_method,
    "round": _select.round_method,
    "setflags": setflags,
    "squeeze": squeeze,
    "sort": _sorting.sort_in_place,
    "swapaxes": _shape.swapaxes_method,
    "take": _indexing.take_method,
    "to_numpy": to_numpy,
    "view": view,
}
_READERS = "dump dumps tobytes tofile".split()
_VIEWS = ["diagonal"]
# Attributes that objects of all classes have.
_SKIPPED = {"__hash__"}


def _attribute(name: str) -> property:
    return property(lambda self: numpy_attribute(self, name))


def _complete() -> None:
    for name, value in _OWN.items():
        theirs = getattr(np.ndarray, name, None)
        is_method = isinstance(value, types.FunctionType) and callable(theirs)
        setattr(ndarray, name, _described(value, theirs) if is_method else value)
    for name in _READERS:
        setattr(ndarray, name, _reader(name))
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
