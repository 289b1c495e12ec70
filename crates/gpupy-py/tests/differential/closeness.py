"""Whether two values are the same: kind, dtype, shape, and elements to the bit or within a bound.

Owns ``difference``, which says in words what differs, ``exported_difference``, the same of what foreign code
sees, and ``settle``.
"""

import numpy as np

import gpupy

_OURS = (gpupy.ndarray, gpupy.scalar)
# Units in the last place that functions may be off, and what each element of a sum adds to its error.
_ULP = 8
# Elements whose sum is as far off as that of any number: chunks of so many are summed one by one at most, and
# their sums in chunks again (docs/ir.md).
CHUNKED = 600


def difference(got, want, context=""):
    """The difference in words, or ``None``; elements are compared to the bit."""
    return kind_difference(got, want, context) or _elements(got, want, context)


def kind_difference(got, want, context=""):
    """The difference except in elements, in words, or ``None``; nothing is evaluated."""
    if isinstance(want, (list, tuple)):
        if type(got) is not type(want) and not _named(got, want):
            return f"{context}: {type(got).__name__} for {type(want).__name__}"
        if len(got) != len(want):
            return f"{context}: {len(got)} parts for {len(want)}"
        parts = zip(got, want, strict=True)
        return next(
            filter(None, (kind_difference(g, w, f"{context}[{i}]") for i, (g, w) in enumerate(parts))), None
        )
    if isinstance(want, np.ndarray):
        if not isinstance(got, gpupy.ndarray):
            return f"{context}: {type(got)} for an array"
    elif isinstance(want, np.generic):
        if not isinstance(got, (np.generic, gpupy.scalar)):
            return f"{context}: {type(got)} for {type(want)}"
    else:
        return None if type(got) is type(want) else f"{context}: {type(got)} for {type(want)}"
    if got.dtype != want.dtype:
        return f"{context}: {got.dtype} for {want.dtype}"
    return None if got.shape == want.shape else f"{context}: shape {got.shape} for {want.shape}"


def exported_difference(got, want, context):
    """The difference between two of NumPy's arrays in words, or ``None``."""
    if want is None or got is None:
        return None if want is got else f"{context}: {got!r} for {want!r}"
    for name in ("dtype", "shape"):
        a, b = getattr(got, name), getattr(want, name)
        if a != b:
            return f"{context}: {name} {a} for {b}"
    # Nothing is a stride of an axis of one element away.
    steps = [step for step in zip(got.strides, want.strides, want.shape, strict=True) if step[2] > 1]
    if want.size and any(a != b for a, b, _ in steps):
        return f"{context}: strides {got.strides} for {want.strides}"
    if got.flags.writeable != want.flags.writeable:
        return f"{context}: writeable {got.flags.writeable} for {want.flags.writeable}"
    return _elements(got, want, context)


def _named(got, want):
    return hasattr(want, "_fields") and getattr(got, "_fields", None) == want._fields


def _elements(got, want, context):
    if isinstance(want, (list, tuple)) and not _plain(want):
        parts = zip(got, want, strict=True)
        return next(
            filter(None, (_elements(g, w, f"{context}[{i}]") for i, (g, w) in enumerate(parts))), None
        )
    if not isinstance(want, (np.ndarray, np.generic)):
        return None if repr(got) == repr(want) else f"{context}: {got!r} for {want!r}"
    a, b = np.asarray(got), np.asarray(want)
    if a.tobytes() == b.tobytes():
        return None
    same = equal(a, b)
    if same.all():
        return None
    at = tuple(map(int, np.argwhere(~same)[0])) if same.ndim else ()
    return f"{context}: at {at} {a[at]!r} for {b[at]!r}, of {want.dtype} {want.shape}"


def _plain(values):
    return not any(isinstance(v, (np.ndarray, np.generic, list, tuple)) for v in values)


def equal(a, b):
    """Where elements are equal: NaN is NaN, and zeros have signs."""
    if a.dtype.kind == "c":
        return equal(a.real, b.real) & equal(a.imag, b.imag)
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    return np.asarray(((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b)))


def settle(got, want, scale):
    """A difference beyond the bound in words, or ``None``; and the value for both to go on with.

    A ``scale`` is a word (``Line.scale``), or of a sum or product its count of elements, the same of their
    magnitudes, and what products of some of the factors may come to at most and at least.
    """
    if isinstance(want, (list, tuple)) or not isinstance(want, (np.ndarray, np.generic)):
        return _elements(got, want, "result"), want
    a, b = np.asarray(got), np.asarray(want)
    if b.dtype.kind not in "fc":
        return _elements(got, want, "result"), want
    with np.errstate(all="ignore"):
        near = _near(a, b, scale)
    if not near.all():
        at = tuple(map(int, np.argwhere(~near)[0])) if near.ndim else ()
        return f"result: at {at} {a[at]!r} for {b[at]!r}, beyond the bound", want
    if isinstance(want, np.ndarray) and want.flags.writeable:
        want[...] = a
        return None, want
    return None, a[()] if isinstance(want, np.generic) else np.array(a)


def astray(got, exact, scale):
    """Where a long sum is farther from one in wider numbers than one in chunks can be, in words, or ``None``.

    NumPy's own sums one by one where an axis is not the innermost, so it says nothing of a long one.
    """
    a, b = np.asarray(got), np.asarray(exact)
    if a.dtype.kind not in "fc" or a.dtype.itemsize >= b.dtype.itemsize or a.shape != b.shape:
        return None
    with np.errstate(all="ignore"):
        bound = 2 * CHUNKED * np.finfo(a.dtype).eps * np.abs(np.asarray(scale[1]))
        far = (np.abs(a - b) > bound + np.finfo(a.dtype).tiny) & np.isfinite(a) & np.isfinite(b)
    if not far.any():
        return None
    at = tuple(map(int, np.argwhere(far)[0])) if far.ndim else ()
    return f"result: at {at} {a[at]!r}, exactly {b[at]!r}: not summed in chunks"


def _near(a, b, scale):
    eps = np.finfo(b.dtype).eps
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    distance = np.abs(a.astype(wide) - b.astype(wide))
    least = _ULP * float(np.finfo(b.dtype).tiny)
    if scale == "zeros":
        return np.asarray((a == b) | np.isnan(a) & np.isnan(b))
    if scale == "ulp":
        bound = _ULP * eps * np.abs(b.astype(wide)) + least
    else:
        count, magnitude, grown, shrunk = scale
        bound = (_ULP + 2 * count) * eps * np.abs(np.asarray(magnitude)) + least
    # Where magnitudes overflow, infinities and NaN may come and go with the order.
    beyond = ~np.isfinite(bound) & ~np.isfinite(a) & ~np.isfinite(b)
    if scale != "ulp":
        # So may those of sums and products that overflow in one order alone, whatever comes of another.
        over = np.maximum(np.abs(np.asarray(magnitude)), grown) > np.finfo(b.dtype).max / 2
        beyond |= over & ~(np.isfinite(a) & np.isfinite(b))
        # And what a product of small factors lost, others do not bring back.
        beyond |= np.asarray(shrunk) < np.finfo(b.dtype).tiny
    return np.asarray(
        (distance <= bound) & np.isfinite(distance) | (a == b) | np.isnan(a) & np.isnan(b) | beyond
    )
