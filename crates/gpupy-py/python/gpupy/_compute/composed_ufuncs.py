"""Ufuncs that are compositions of others: bits and exponents of numbers, products of vectors.

Owns ``COMPOSED``, which Rust asks before a call of a ufunc goes to NumPy. Invariant: what is not a plain call
with arrays of ours and numbers is ``NotImplemented``, and NumPy's. Not here: ufuncs that drivers have (in
Rust), divisors (``_namespace/divisors.py``), methods (``ufunc_methods.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._creation.conversion import asanyarray
from .._gpupy import is_lazy, ndarray
from .._numpys import sooner

_NUMBERS = frozenset((bool, int, float))


def operands(ufunc: np.ufunc, args: tuple[Any, ...]) -> list[ndarray] | None:
    """The arguments in the dtypes in which NumPy computes; ``None`` where it has to judge them.

    Arguments that it refuses, it does here.
    """
    arrays = [a for a in args if type(a) is ndarray]
    if len(args) != ufunc.nin or not arrays:
        return None
    if not all(type(a) in _NUMBERS or (type(a) is ndarray and a._lazy) for a in args):
        return None
    shown = [a._meta_array() if type(a) is ndarray else a for a in args]
    kinds = [type(a) if type(a) in (int, float) else np.asarray(a).dtype for a in shown]
    try:
        dtypes = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout))[: ufunc.nin]
    except TypeError:
        # NumPy has the words.
        ufunc(*(a[:0] if getattr(a, "ndim", 0) else a for a in shown))
        return None
    if ufunc.signature is None:
        try:
            np.broadcast_shapes(*(a.shape for a in arrays))
        except ValueError:
            ufunc(*shown)
    if not all(map(is_lazy, dtypes)):
        return None
    try:
        # A number that the dtype does not hold is NumPy's to refuse.
        return [
            _cast(a, dtype) if type(a) is ndarray else asanyarray(np.asarray(a, dtype))
            for a, dtype in zip(args, dtypes, strict=True)
        ]
    except OverflowError:
        return None


def _cast(a: Any, dtype: Any) -> Any:
    """An operand in a dtype; by axes along which one element lies again and again, NumPy orders nothing."""
    order = "C" if a.dtype != dtype and 0 in a.strides else "K"
    return a.astype(dtype, order=order, copy=False)


def number(made: Any) -> Any:
    """A result, without axes as a number."""
    return made if made.ndim else made[()]


def composed(ufunc: np.ufunc, function: Callable[..., Any]) -> Callable[..., Any]:
    """The composition as a call of the ufunc; ``function`` gets operands in the dtypes of NumPy's loops."""

    name = ufunc.__name__

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or not args:
            return NotImplemented
        first, last = args[0], args[-1]
        most = last if getattr(last, "size", 0) > getattr(first, "size", 0) else first
        if sooner.is_numpys(name, most, args):
            return NotImplemented
        given = operands(ufunc, args)
        if given is None:
            return NotImplemented
        if ufunc.signature is None and not any(a.ndim for a in given):
            # As numbers they would warn of what happens inside.
            made = function(*(a.reshape(1) for a in given))
            return tuple(each[0] for each in made) if ufunc.nout > 1 else made[0]
        made = function(*given)
        return tuple(map(number, made)) if ufunc.nout > 1 else number(made)

    return call


def magnitude(x: Any) -> Any:
    """Integers without their signs."""
    if x.dtype.kind != "i":
        return x
    return np.where(x < 0, x.dtype.type(0) - x, x).astype(f"u{x.dtype.itemsize}")


# The masks of a sum of bits side by side: of neighbours, of pairs, of fours.
_MASKS = (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)


def _bitwise_count(x: Any) -> Any:
    if x.dtype.kind == "b":
        return x.astype(np.uint8)
    bits = 8 * x.dtype.itemsize
    whole = np.dtype(np.uint64 if bits == 64 else np.uint32)
    x = magnitude(x).astype(whole)
    pairs, fours, eights, ones = (whole.type(mask & (2 ** (8 * whole.itemsize) - 1)) for mask in _MASKS)
    x = x - ((x >> whole.type(1)) & pairs)
    x = (x & fours) + ((x >> whole.type(2)) & fours)
    x = (x + (x >> whole.type(4))) & eights
    return ((x * ones) >> whole.type(8 * whole.itemsize - 8)).astype(np.uint8)


class _Format:
    """A floating-point format: its bits as integers, and where the exponent stands."""

    def __init__(self, dtype: Any, bits: Any) -> None:
        self.dtype, self.bits = np.dtype(dtype), np.dtype(bits)
        self.digits = np.finfo(dtype).nmant
        self.bias = np.finfo(dtype).maxexp - 1
        self.exponents = 2 * self.bias + 1

    def power(self, exponent: Any) -> Any:
        """Two to the power of an exponent of normal numbers."""
        shifted = (exponent.astype(self.bits) + self.bits.type(self.bias)) << self.bits.type(self.digits)
        return shifted.view(self.dtype)


_FORMATS = {np.dtype(np.float32): _Format("f4", "i4"), np.dtype(np.float64): _Format("f8", "i8")}


def _ldexp(x: Any, exponent: Any) -> Any:
    if x.dtype == np.float16:
        return _ldexp(x.astype(np.float32), exponent).astype(np.float16)
    form = _FORMATS[x.dtype]
    least, most, one = 1 - form.bias, form.bias, x.dtype.type
    # Three steps at most, of which only the last one rounds.
    down = least + form.digits + 1
    # Beyond these, the result is the same.
    exponent = np.clip(exponent, 3 * least, 3 * most)
    for _ in range(2):
        is_high, is_low = exponent > most, exponent < least
        x = x * np.where(is_high, one(2.0**most), np.where(is_low, one(2.0**down), one(1)))
        exponent = exponent - np.where(is_high, most, np.where(is_low, down, 0)).astype(exponent.dtype)
    return x * form.power(np.clip(exponent, least, most))


def _frexp(x: Any) -> Any:
    if x.dtype == np.float16:
        mantissa, exponent = _frexp(x.astype(np.float32))
        return mantissa.astype(np.float16), exponent
    form = _FORMATS[x.dtype]
    number = form.bits.type
    is_small = np.abs(x) < np.finfo(x.dtype).tiny
    scale = form.digits + 2
    bits = np.where(is_small, x * x.dtype.type(2.0**scale), x).view(form.bits)
    found = (bits >> number(form.digits)) & number(form.exponents)
    is_plain = np.isfinite(x) & (x != 0)
    half = number((form.bias - 1) << form.digits)
    mantissa = ((bits & number(~(form.exponents << form.digits))) | half).view(form.dtype)
    exponent = found - number(form.bias - 1) - np.where(is_small, number(scale), number(0))
    exponent = np.where(is_plain, exponent, number(0)).astype(np.int32)
    return np.where(is_plain, mantissa, x), exponent


def _modf(x: Any) -> Any:
    whole = np.trunc(x)
    rest = np.where(np.isinf(x), x.dtype.type(0), x - whole)
    return np.copysign(rest, x), whole


def _conjugate(a: Any) -> Any:
    return np.conj(a) if a.dtype.kind == "c" else a


def _fit(*shapes: tuple[int, ...]) -> bool:
    """Whether they can be broadcast together."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def _vecdot(a: Any, b: Any) -> Any:
    fits = a.ndim and b.ndim and a.shape[-1] == b.shape[-1] and _fit(a.shape[:-1], b.shape[:-1])
    if not fits:
        # NumPy has the words.
        return np.vecdot(a._meta_array(), b._meta_array())
    return (_conjugate(a)[..., None, :] @ b[..., :, None])[..., 0, 0]


def _matvec(m: Any, v: Any) -> Any:
    fits = m.ndim > 1 and v.ndim and m.shape[-1] == v.shape[-1] and _fit(m.shape[:-2], v.shape[:-1])
    if not fits:
        return np.matvec(m._meta_array(), v._meta_array())
    return (m @ v[..., :, None])[..., 0]


def _vecmat(v: Any, m: Any) -> Any:
    fits = m.ndim > 1 and v.ndim and m.shape[-2] == v.shape[-1] and _fit(m.shape[:-2], v.shape[:-1])
    if not fits:
        return np.vecmat(v._meta_array(), m._meta_array())
    return (_conjugate(v)[..., None, :] @ m)[..., 0, :]


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bitwise_count": _bitwise_count,
    "frexp": _frexp,
    "ldexp": _ldexp,
    "matvec": _matvec,
    "modf": _modf,
    "vecdot": _vecdot,
    "vecmat": _vecmat,
}
# Some came with NumPy 2.2.
COMPOSED = {
    name: composed(getattr(np, name), function) for name, function in _FUNCTIONS.items() if hasattr(np, name)
}
