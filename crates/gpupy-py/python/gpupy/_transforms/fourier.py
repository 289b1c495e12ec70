"""``numpy.fft``: transforms along one axis are recorded, those along several are NumPy's Python over them.

Owns ``FUNCTIONS``, and ``INSIDE``, the step of NumPy's that transforms. What arguments mean, and the words
about them, are NumPy's. Not here: dtypes and factors (``src/compute/fourier.rs``), shifts and frequencies
(``_numpys/rebound.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import call, fourier, ndarray
from .._numpys.rebound import bound, inside

_fft: Any = np.fft
_steps: Any = getattr(_fft, "_pocketfft", None)


def fft(a, n=None, axis=-1, norm=None, out=None):
    made = fourier(a, n, axis, False, True, norm) if out is None else None
    return _stepwise(_fft.fft, a, n, axis, norm, out) if made is None else made


def ifft(a, n=None, axis=-1, norm=None, out=None):
    made = fourier(a, n, axis, False, False, norm) if out is None else None
    return _stepwise(_fft.ifft, a, n, axis, norm, out) if made is None else made


def rfft(a, n=None, axis=-1, norm=None, out=None):
    made = fourier(a, n, axis, True, True, norm) if out is None else None
    return _stepwise(_fft.rfft, a, n, axis, norm, out) if made is None else made


def irfft(a, n=None, axis=-1, norm=None, out=None):
    made = fourier(a, n, axis, True, False, norm) if out is None else None
    return _stepwise(_fft.irfft, a, n, axis, norm, out) if made is None else made


def _stepwise(theirs: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """NumPy's steps over arrays of ours; of an array that only NumPy holds, its own."""
    a = args[0] if args else kwargs.get("a")
    if _steps is None or (isinstance(a, ndarray) and not a._lazy):
        return call(theirs.__name__, theirs, args, kwargs)
    return bound(theirs)(*args, **kwargs)


def _by_steps(name: str) -> Callable[..., Any]:
    theirs = getattr(_fft, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        return _stepwise(theirs, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def _transformed(a, n, axis, is_real, is_forward, norm, out=None):
    """NumPy's ``_raw_fft``, by a driver."""
    made = fourier(a, int(n) if isinstance(n, np.integer) else n, axis, is_real, is_forward, norm)
    if made is not None and out is not None:
        fits = isinstance(out, ndarray) and out.shape == made.shape and out.flags.writeable
        if fits and np.can_cast(made.dtype, out.dtype, "same_kind"):
            out[...] = made
            return out
        made = None
    if made is not None:
        return made
    theirs = getattr(_fft, ("" if is_forward else "i") + ("rfft" if is_real else "fft"))
    return call(theirs.__name__, theirs, (a, n, axis, norm), {} if out is None else {"out": out})


_SEVERAL = "hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
FUNCTIONS = {
    "fft": fft,
    "ifft": ifft,
    "rfft": rfft,
    "irfft": irfft,
    **{name: _by_steps(name) for name in _SEVERAL},
}
INSIDE = inside(_steps, {"_raw_fft": _transformed})
