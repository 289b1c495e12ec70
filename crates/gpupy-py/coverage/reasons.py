"""Why a function is NumPy's: what `docs/coverage.md` says of it.

Owns ``OF_NAMES``, by module and function, and ``OF_MODULES``, for modules of which every function is NumPy's.
Not here: which functions fall back, which is tried (``write.py``).
"""

_PARTIAL = "partial order has no form of drivers, and sorting everything takes longer"
_COUNTING = "counting by value would add to elements that several points share, which no driver does"
_SEARCHING = "binary search has no form of drivers"
_SLIDING = "sums of products over a moving window have no form of drivers"
_LAPACK = "a decomposition, which is LAPACK's"
_CHECKED = "each index is checked, and refused, before anything is computed"
_FFT = "transforms are pocketfft's"


def _of(words, reason):
    return dict.fromkeys(words.split(), reason)


OF_NAMES = {
    "numpy": {
        **_of(
            "argpartition partition median nanmedian percentile nanpercentile quantile nanquantile", _PARTIAL
        ),
        **_of("bincount histogram histogram2d histogramdd", _COUNTING),
        **_of("histogram_bin_edges", "edges are a handful of numbers"),
        **_of("searchsorted digitize interp", _SEARCHING),
        **_of("convolve correlate poly polymul", _SLIDING),
        **_of("polyfit roots", _LAPACK),
        **_of("choose ravel_multi_index unravel_index", _CHECKED),
        **_of("packbits unpackbits", "bits within bytes are no elements of drivers"),
        **_of("bmat", "matrices are NumPy's own class"),
        **_of("frexp modf", "ufuncs of two results have no form of drivers"),
        **_of("matvec vecmat vecdot", "drivers have no such generalised ufunc"),
        **_of("isnat", "dates are NumPy's own dtype"),
    },
    "numpy.linalg": _of("tensorinv tensorsolve", "a solution, which is LAPACK's"),
    "numpy.fft": {},
}
# Of others.
OTHERWISE = {
    "numpy": "drivers have no such operation",
    "numpy.linalg": _LAPACK,
    "numpy.fft": _FFT,
}

OF_MODULES = {
    "numpy.random": "generators are NumPy's, so that a seed gives NumPy's numbers",
    "numpy.ma": "its Python, run over arrays of gpupy (`docs/masked.md`)",
    "numpy.strings": "strings are NumPy's own dtype",
    "numpy.char": "strings are NumPy's own dtype",
    "numpy.rec": "records are NumPy's own dtype; operations on their numeric fields are the drivers'",
    "numpy.lib.scimath": "it looks at all elements for the dtype of the result",
    "numpy.polynomial": "coefficients are a handful of numbers; NumPy's classes compute with them",
    "numpy.testing": "comparisons for tests",
}
