"""Masked arrays: how operations on them are recorded, so that data and mask fuse.

Owns ``complete``, which puts these ways into NumPy's classes of masked operations, run over our arrays
(``rerun.py``). NumPy asks a mask whether any of its elements is true before it writes under it; here the
choice is recorded. Not here: all else of masked arrays, which is NumPy's Python.
"""

import contextlib
import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._fallback import hosts
from .._gpupy import eager, evaluate, ndarray, scalar, wrap
from .._indexing import select


def complete(core: Any) -> None:
    """Gives the classes of masked operations of a module their ways."""
    core._MaskedUnaryOperation.__call__ = _unary(core)
    core._MaskedBinaryOperation.__call__ = _binary(core)
    core._DomainedBinaryOperation.__call__ = _domained(core)
    core.make_mask = _of_ours(core.make_mask)
    core.MaskedArray.filled = _filled(core, core.MaskedArray.filled)
    core.MaskedArray.sum = _sum(core, core.MaskedArray.sum)
    core.MaskedArray._gpupy_twin = _theirs
    core.MaskedArray._gpupy_numpys = np.ma.MaskedArray
    core.masked_print_option = np.ma.core.masked_print_option
    for name in ("__repr__", "__str__", "tolist"):
        setattr(core.MaskedArray, name, _written(core, getattr(core.MaskedArray, name)))
    core.MaskedArray.__array__ = _array
    core.MaskedArray.lend = _lend
    core.MaskedArray.__new__ = staticmethod(_made(core.MaskedArray.__new__))
    subclass.OURS[np.ma.MaskedArray] = functools.partial(_ours, core)
    for tell in subclass.MASKED_IS_MADE:
        tell()


def _lend(masked: Any, kind: str = "texture", *, write: bool = False) -> Any:
    """In place of ``ndarray.lend``: nothing would say which elements are masked."""
    raise TypeError(
        "a masked array has no texture for its mask: lend `x.data`, `x.mask` or `x.filled(value)`"
    )


def _of_ours(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with an array of ours for one of NumPy's, whose fields it would not find."""

    @functools.wraps(theirs)
    def of_ours(m: Any, *args: Any, **kwargs: Any) -> Any:
        return theirs(wrap(m) if isinstance(m, np.ndarray) else m, *args, **kwargs)

    return of_ours


def complete_records(module: types.ModuleType) -> None:
    """Makes the constructors of masked records accept NumPy's record arrays."""
    theirs: Any = vars(module)["fromrecords"]

    @functools.wraps(theirs)
    def fromrecords(reclist: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(reclist, np.ndarray):
            reclist = subclass.ours(reclist)
            reclist = wrap(reclist.view(np.ndarray)) if isinstance(reclist, np.ndarray) else reclist
        return theirs(reclist, *args, **kwargs)

    vars(module)["fromrecords"] = fromrecords


def _theirs(array: Any, host: Any, is_shared: bool = False) -> Any:
    """NumPy's masked array over the memory of one of ours; a mask to write to is given out, too."""
    if array.__class__.__name__ == "MaskedConstant":
        return np.ma.masked
    mask: Any = array._mask
    made = host.view(np.ma.MaskedArray)
    if isinstance(mask, ndarray):
        mask = mask._pinned() if is_shared else mask._host()
    made._mask = mask
    made._fill_value, made._hardmask = hosts.to_host(array._fill_value), array._hardmask
    return made


def _ours(core: Any, array: Any) -> Any:
    """A masked array of ours with the elements and the mask of one of NumPy's."""
    if array is np.ma.masked:
        return core.masked
    is_records = type(array).__name__ == "MaskedRecords"
    if type(array) is not np.ma.MaskedArray and not is_records:
        # A class of the program's, which decides for itself.
        return array
    mask = array._mask if array._mask is np.ma.nomask else wrap(np.array(array._mask))
    made = wrap(np.asarray(array.data)).view(core.MaskedArray)
    made._mask, made._hardmask = mask, array._hardmask
    made._fill_value = wrap(array._fill_value)
    return made.view(importlib.import_module("gpupy.ma.mrecords").MaskedRecords) if is_records else made


def _array(self: Any, dtype: Any = None, *, copy: Any = None) -> Any:
    """NumPy's masked array over the same memory, of which ``numpy.asarray`` takes the data."""
    made = self._gpupy_twin(self._pinned(), True)
    return made if dtype is None and not copy else np.array(made, dtype, copy=copy, subok=True)


def _written(core: Any, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A method that writes elements down, which NumPy's masked array does."""

    @functools.wraps(theirs)
    def written(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not core.MaskedArray or self._baseclass is not ndarray:
            return theirs(self, *args, **kwargs)
        return getattr(self._gpupy_twin(self._host()), theirs.__name__)(*args, **kwargs)

    return written


def _made(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def __new__(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        # One of NumPy's masked arrays would say of itself over which class it is.
        is_theirs = isinstance(data, np.ma.MaskedArray)
        return theirs(cls, subclass.ours(data) if is_theirs else data, *args, **kwargs)

    return __new__


def _is_lazy(*values: Any) -> bool:
    return all(type(x) is not ndarray or x._lazy for x in values)


def _quietly(*operands: Any) -> Any:
    """A context in which NumPy says nothing of undefined values; drivers do so only where they are asked."""
    if _is_lazy(*operands) and not eager():
        return contextlib.nullcontext()
    return np.errstate(divide="ignore", invalid="ignore")


def _under(result: Any, mask: Any, value: Any, casting: Any) -> Any:
    """A result with an operand's elements, or a number, where a mask is true, if they can be cast so."""
    dtype = getattr(value, "dtype", None)
    plain = type(result) is ndarray and type(mask) is ndarray and (type(value) is ndarray or dtype is None)
    if plain and _is_lazy(result, mask, value):
        if dtype is not None and not np.can_cast(dtype, result.dtype, casting):
            return result
        known = value.astype(result.dtype) if dtype is not None else result.dtype.type(value)
        made = select.where(mask, known, result)
        return made if made.shape == result.shape else result
    # A result that cannot be written stays as it was computed.
    with contextlib.suppress(Exception):
        select.copyto(result, value, casting=casting, where=mask)
    return result


def _finished(core: Any, result: Any, mask: Any, *operands: Any) -> Any:
    """A result as a masked array of the operands' class."""
    made = result.view(core.get_masked_subclass(*operands))
    made._mask = mask
    for operand in operands:
        if isinstance(operand, core.MaskedArray):
            made._update_from(operand)
            break
    return made


def _are_recorded(data: Any, mask: Any) -> bool:
    """Whether data and mask are plain lazy arrays with axes, each element with one truth of its own."""
    plain = type(data) is ndarray and type(mask) is ndarray and data._lazy and mask._lazy
    return plain and mask.dtype == np.bool and mask.shape == data.shape and data.ndim > 0


def _filled(core: Any, theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def filled(self: Any, fill_value: Any = None) -> Any:
        data, mask = self._data, self._mask
        if not _are_recorded(data, mask):
            return theirs(self, fill_value)
        fill = self.fill_value if fill_value is None else core._check_fill_value(fill_value, data.dtype)[()]
        made = select.where(mask, fill, data)
        return made if made.dtype == data.dtype else theirs(self, fill_value)

    return filled


def _sum(core: Any, theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def sum(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = np._NoValue
    ) -> Any:
        if axis is not None or out is not None or keepdims is not np._NoValue:
            return theirs(self, axis, dtype, out, keepdims)
        if not _are_recorded(self._data, self._mask):
            return theirs(self, axis, dtype)
        total, nothing = self.filled(0).sum(dtype=dtype), self._mask.all()
        # Whether there is a sum has to be known now; both are computed in one flush.
        pending: Any = [x for x in (total, nothing) if isinstance(x, (ndarray, scalar))]
        evaluate(*pending)
        return core.masked if nothing else total

    return sum


def _unary(core: Any) -> Callable[..., Any]:
    def __call__(self: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        """The operation on an array, masked where it is, or where the operation is undefined."""
        data, mask = core.getdata(a), core.getmask(a)
        with _quietly(data):
            result = self.f(data, *args, **kwargs)
        if self.domain is not None:
            where = ~core.umath.isfinite(result) | self.domain(data)
            mask = where if mask is core.nomask else where | mask
        if not result.ndim:
            return core.masked if mask else result
        if mask is not core.nomask:
            result = _under(result, mask, data, "same_kind")
        return _finished(core, result, mask, a)

    return __call__


def _joined(core: Any, a: Any, b: Any) -> Any:
    """Where one of two operands is masked."""
    first, second = core.getmask(a), core.getmask(b)
    if first is core.nomask and second is core.nomask:
        return core.nomask
    first = core.getmaskarray(a) if first is core.nomask else first
    second = core.getmaskarray(b) if second is core.nomask else second
    return core.umath.logical_or(first, second)


def _binary(core: Any) -> Callable[..., Any]:
    def __call__(self: Any, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        """The operation on two arrays, masked where either is."""
        first, second = core.getdata(a), core.getdata(b)
        with _quietly(first, second):
            result = self.f(first, second, *args, **kwargs)
        mask = _joined(core, a, b)
        if not result.ndim:
            return core.masked if mask else result
        if mask is not core.nomask:
            result = _under(result, mask, first, "unsafe")
        return _finished(core, result, mask, a, b)

    return __call__


def _domained(core: Any) -> Callable[..., Any]:
    def __call__(self: Any, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        """The operation on two arrays, masked where either is, or where it is undefined."""
        first, second = core.getdata(a), core.getdata(b)
        with _quietly(first, second):
            result = self.f(first, second, *args, **kwargs)
        mask = ~core.umath.isfinite(result)
        for given in (core.getmask(a), core.getmask(b)):
            mask = mask if given is core.nomask else mask | given
        domain = core.ufunc_domain.get(self.f)
        if domain is not None:
            mask = mask | domain(first, second)
        if not mask.ndim:
            return core.masked if mask else result
        kept = np.can_cast(first.dtype, result.dtype, "safe")
        result = _under(result, mask, first if kept else 0, "unsafe")
        return _finished(core, result, mask, a, b)

    return __call__
