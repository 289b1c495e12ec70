"""Selection between elements (``where``, ``clip``), with NumPy's signatures.

Owns ``where``, ``select``, ``clip``, ``round``, ``tril``, ``triu`` and ``copyto``. Not here: promotion of
their operands (in Rust).
"""

from typing import Any

import numpy as np

from .. import _gpupy
from .._classes import subclass
from .._creation.conversion import asanyarray
from .._creation.coordinates import tri
from .._creation.orders import in_c_order
from .._fallback import others
from .._fallback.through_numpy import through_numpy
from .._gpupy import assign_all, call, kind_of, ndarray, scalar, zeros
from .._numpys.rebound import over_ours
from . import masks, positions

_UNSET = np._NoValue


def _ours(value: Any) -> Any:
    """Plain arrays of lazy dtypes as arrays of ours; the rest as it is."""
    return asanyarray(value) if type(value) is np.ndarray else value


def where(condition, x=_UNSET, y=_UNSET, /):
    if x is _UNSET or y is _UNSET:
        known = tuple(v for v in (condition, x, y) if v is not _UNSET)
        if len(known) == 1 and not others.decides(condition):
            return positions.nonzero(asanyarray(condition))
        return call("where", np.where, known, {})
    given = (_ours(condition), _ours(x), _ours(y))
    made = _gpupy.select(*given)
    return call("where", np.where, given, {}) if made is None else made


def clip(a, a_min=_UNSET, a_max=_UNSET, out=None, *, min=_UNSET, max=_UNSET, **kwargs):
    low = min if a_min is _UNSET else a_min
    high = max if a_max is _UNSET else a_max
    a = _ours(a)
    if type(a) is not ndarray and subclass.has_own(a, "clip"):
        return a.clip(*(x for x in (low, high) if x is not _UNSET), out=out, **kwargs)
    return clip_method(a, a_min, a_max, out, min=min, max=max, **kwargs)


def clip_method(a, a_min=_UNSET, a_max=_UNSET, out=None, *, min=_UNSET, max=_UNSET, **kwargs):
    low = min if a_min is _UNSET else a_min
    high = max if a_max is _UNSET else a_max
    if type(a) is not ndarray and subclass.is_instance(a):
        return _clipped_instance(a, low, high, out, kwargs)
    pair = [limit is not _UNSET for limit in (a_min, a_max)]
    # One of two, or two pairs: NumPy has the words.
    mixed = any(pair) and not (all(pair) and min is max is _UNSET)
    if isinstance(a, ndarray) and not kwargs and not mixed:
        limits = [None if v is _UNSET else _ours(v) for v in (low, high)]
        made = _gpupy.clip(a, *limits)
        if made is not None and out is None:
            return made
        if made is not None and _fits(out, made):
            assign_all(out, made)
            return out
    given = {"a_min": a_min, "a_max": a_max, "min": min, "max": max}
    given = {key: value for key, value in given.items() if value is not _UNSET}
    if out is not None:
        given["out"] = out
    return call("clip", np.clip, (a,), {**given, **kwargs})


# The ufunc that clips between two limits.
_CLIP = np._core.umath.clip  # type: ignore[attr-defined]


def _clipped_instance(a: Any, low: Any, high: Any, out: Any, kwargs: dict[str, Any]) -> Any:
    """An instance of a subclass between limits: by the ufunc that NumPy calls for those that there are."""
    limits = [x for x in (low, high) if x is not _UNSET and x is not None]
    kwargs = kwargs if out is None else {**kwargs, "out": (out,)}
    if len(limits) == 2:
        made = None if out is not None or kwargs else _gpupy.clip(a, *map(subclass.plain, limits))
        if made is None:
            return subclass.of_ufunc("clip", _CLIP, (a, *limits), kwargs)
        return subclass.given_as(a, made, (_CLIP, (a, *limits), 0))
    if not limits:
        # Older releases have words for it.
        np.clip(np.empty(0), None, None)
        return subclass.of_ufunc("positive", np.positive, (a,), kwargs)
    name = "minimum" if low is _UNSET or low is None else "maximum"
    return subclass.of_ufunc(name, getattr(np, name), (a, *limits), kwargs)


def _fits(out: Any, made: Any) -> bool:
    """Whether an output can hold a result as it is; NumPy has the words for others."""
    return isinstance(out, ndarray) and out._writable and (out.dtype, out.shape) == (made.dtype, made.shape)


def round_(a, decimals=0, out=None):
    if type(a) is not ndarray and others.decides(a, "round"):
        return others.of_other("round", a, decimals=decimals or None, out=out)
    if subclass.has_own(a, "round"):
        return a.round(decimals=decimals, out=out)
    return round_method(a, decimals, out)


def round_method(a, decimals=0, out=None):
    if subclass.is_instance(a):
        # NumPy returns scaled arrays as plain ones, and arrays without axes as numbers.
        keeps = out is not None or (a.ndim > 0 and (decimals == 0 or a.dtype.kind in "biuc"))
        if not keeps:
            return round_method(subclass.plain(a), decimals)[()]
        return subclass.through(round_method, a, decimals, out=out)
    if isinstance(a, (ndarray, scalar)) and getattr(a, "_lazy", True) and type(decimals) is int:
        made = _rounded(a, decimals)
        if made is not None and out is None:
            return made
        if made is not None and _fits(out, made):
            assign_all(out, made)
            return out
    given = {} if out is None else {"out": out}
    return call("round", np.round, (asanyarray(a), decimals), given)


def _rounded(a: Any, decimals: int) -> Any:
    """NumPy's own steps, or ``None`` where it takes others."""
    if a.dtype.kind in "iu" and decimals >= 0:
        # A copy, in the order of the strides: a ufunc knows no order of axes along which one element lies.
        return a.copy("K") if a.ndim > 1 else +a
    if decimals == 0 and kind_of(a.dtype) == "f":
        return np.rint(a)
    if a.dtype.kind != "f":
        return None
    power = 10.0 ** abs(decimals)
    made = np.rint(a * power) / power if decimals > 0 else np.rint(a / power) * power
    # In C order, or in Fortran's: other orders of axes are not kept.
    fits = not made.ndim or made.flags.c_contiguous or a.flags.fnc
    return made if fits else made.copy()


def tril(m, k=0):
    return _triangle("tril", m, k)


def triu(m, k=0):
    return _triangle("triu", m, k)


def _triangle(name: str, m: Any, k: Any) -> Any:
    a = subclass.plain(asanyarray(m))
    if not a._lazy or not a.ndim or type(k) is not int:
        return call(name, getattr(np, name), (m, k), {})
    inside = tri(*a.shape[-2:], k=k if name == "tril" else k - 1, dtype=bool)  # type: ignore[misc]
    zero = zeros(1, a.dtype)
    return where(inside, a, zero) if name == "tril" else where(inside, zero, a)


_where = where
_select_as_numpys = through_numpy("select", np.select)
_select_as_numpys = over_ours("select", np.select, _select_as_numpys) or _select_as_numpys


def select(condlist, choicelist, default=0):
    if type(condlist) is list and type(choicelist) is list and 0 < len(condlist) == len(choicelist):
        chosen = _chosen(condlist, choicelist, default)
        if chosen is not None:
            return chosen
    return _select_as_numpys(condlist, choicelist, default)


def _chosen(conditions: list[Any], choices: list[Any], default: Any) -> Any:
    """Elements of the first choice whose condition is true; ``None`` where NumPy judges the arguments."""
    first = choices[0]
    if any(type(x) is not ndarray or not x._lazy for x in (*conditions, *choices)) or not first.ndim:
        return None
    alike = all(x.shape == first.shape for x in (*conditions, *choices[1:]))
    same = all(x.dtype is first.dtype for x in choices) and all(x.dtype is _BOOL for x in conditions)
    if not alike or not same or type(default) not in (int, float):
        return None
    made = default
    for mask, choice in zip(reversed(conditions), reversed(choices), strict=True):
        made = _gpupy.select(mask, choice, made)
        if made is None:
            return None
    return in_c_order(made)


_BOOL = np.dtype(bool)


def copyto(dst, src, casting="same_kind", where=True):
    if type(dst) is ndarray and where is True and _copies(dst, src, casting):
        return
    dst, src, where = subclass.plain(dst), subclass.plain(src), subclass.plain(where)
    if dst is src and isinstance(dst, ndarray):
        # NumPy looks at nothing else then.
        return
    if where is not True and copied_where(dst, src, casting, where):
        return
    if where is True and _fills(dst, src, casting):
        return
    plain = isinstance(dst, ndarray) and isinstance(src, ndarray) and where is True
    if plain and dst._lazy and dst._writable and src._lazy and np.can_cast(src.dtype, dst.dtype, casting):
        dst[...] = src
    else:
        call("copyto", np.copyto, (dst, src), {"casting": casting, "where": where})


def _fills(dst: Any, src: Any, casting: Any) -> bool:
    """Writes a number to all elements; false, with nothing done, for anything else."""
    if not isinstance(src, (bool, int, float, complex, np.number, np.bool)) or not isinstance(dst, ndarray):
        return False
    if not (dst._lazy and dst._writable) or dst.dtype.kind not in "biufc":
        return False
    one = np.empty((), dst.dtype)
    # NumPy judges it, and warns.
    np.copyto(one, src, casting=casting)
    dst[...] = one[()]
    return True


def _copies(dst: ndarray, src: Any, casting: Any) -> bool:
    """Writes elements of the same dtype, or a number; false, with nothing done, where it takes more."""
    if not (dst._lazy and dst._writable):
        return False
    if type(src) is ndarray:
        alike = dst is not src and dst.dtype is src.dtype and src._lazy
    else:
        alike = casting == "same_kind" and dst.dtype.kind in masks.KINDS.get(type(src), "")
    if alike:
        dst[...] = src
    return alike


def copied_where(dst: Any, src: Any, casting: Any, where: Any) -> bool:
    """Writes elements where a mask says so; false, with nothing done, where NumPy has to judge it."""
    if type(dst) is not ndarray or not dst._lazy or not dst._writable or not dst._shows_each_once:
        return False
    mask = masks.mask_of(dst, where)
    if mask is None:
        return False
    if type(src) is ndarray:
        fits = src._lazy and np.can_cast(src.dtype, dst.dtype, casting) and src.ndim <= dst.ndim
        extents = zip(reversed(src.shape), reversed(dst.shape), strict=False)
        if not fits or not all(own in (1, wanted) for own, wanted in extents):
            return False
        value: Any = src if src.dtype == dst.dtype else src.astype(dst.dtype)
    elif isinstance(src, np.generic):
        if type(src) is np.bool or src.dtype.kind not in "iufc" or not np.can_cast(src, dst.dtype, casting):
            return False
        value = src.astype(dst.dtype)
    else:
        # NumPy judges what other rules allow.
        is_number = type(src) in (bool, int, float, complex) and casting in ("same_kind", "unsafe")
        if not is_number or masks.number_of(dst, src) is None:
            return False
        value = dst.dtype.type(src)
    if type(value) is not ndarray and mask.shape == dst.shape:
        dst[mask] = value
    else:
        assign_all(dst, _where(mask, value, dst))
    return True


FUNCTIONS = {
    "around": round_,
    "clip": clip,
    "copyto": copyto,
    "round": round_,
    "select": select,
    "tril": tril,
    "triu": triu,
    "where": where,
}
