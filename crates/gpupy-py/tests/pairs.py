"""NumPy and gpupy side by side: the same call on both, and the same bits afterwards."""

import warnings

import numpy
import numpy as np

import gpupy


def bits(array):
    """The elements as bits, with one NaN for all."""
    array = np.array(array)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
        # Long doubles have padding between them.
        return array if array.dtype == np.longdouble else array.view(f"i{array.itemsize}")
    return array


def assert_same(got, want, context=""):
    """Asserts that both are of one type, with the same dtype, shape and bits."""
    if isinstance(want, np.ndarray):
        assert isinstance(got, gpupy.ndarray), f"{context}: {type(got)} for an ndarray"
        assert not isinstance(got, np.ndarray)
    else:
        assert not isinstance(got, (gpupy.ndarray, np.ndarray)), f"{context}: {type(got)}"
    assert got.dtype == want.dtype, f"{context}: dtype {got.dtype}, want {want.dtype}"
    assert got.shape == want.shape, f"{context}: shape {got.shape}, want {want.shape}"
    a, b = bits(np.asarray(got)), bits(want)
    if not np.array_equal(a, b):
        where = np.argwhere(np.atleast_1d(a != b))[0]
        at = tuple(where) if a.ndim else ()
        raise AssertionError(
            f"{context}: at {at} got {np.asarray(got)[at]!r} ({a[at]}), "
            f"want {np.asarray(want)[at]!r} ({b[at]})"
        )


def outcome(function, module):
    """The outcome of a call: its result, or its exception's type and message."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(module), None
    except Exception as error:
        return None, (type(error).__name__, str(error).replace("gpupy.ndarray", "numpy.ndarray"))


def check(function, context=""):
    """Runs ``function(numpy)`` and ``function(gpupy)``: same result or same refusal."""
    want, refused = outcome(function, numpy)
    got, refusal = outcome(function, gpupy)
    if refused is not None or refusal is not None:
        assert refusal == refused, f"{context}: {refusal}, want {refused}"
        return
    if isinstance(want, (tuple, list)):
        assert type(got) is type(want) and len(got) == len(want), context
        for g, w in zip(got, want, strict=True):
            if hasattr(w, "dtype"):
                assert_same(g, w, context)
            else:
                assert type(g) is type(w) and g == w, f"{context}: {g!r}, want {w!r}"
    elif hasattr(want, "dtype"):
        assert_same(got, want, context)
    else:
        assert type(got) is type(want), f"{context}: {type(got)}, want {type(want)}"
        assert got == want, f"{context}: {got!r}, want {want!r}"
