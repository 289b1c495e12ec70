"""Why a function is NumPy's: what `docs/coverage.md` says of it, and what a call says that goes there.

Owns ``OF_NAMES``, by module and function, ``OF_MODULES``, for modules of which every function is NumPy's, and
``of``, the reason by the name that a call is counted under. Not here: which functions fall back, which is
tried (``coverage/write.py``), and which NumPy does sooner (``_numpys/sooner.py``).
"""

import functools

import numpy as np

_LAPACK = "a decomposition, which is LAPACK's"


def _of(words: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), reason)


OF_NAMES = {
    "numpy": {
        **_of("polyfit roots", _LAPACK),
        **_of("bmat", "matrices are NumPy's own class"),
        **_of("isnat", "dates are NumPy's own dtype"),
    },
    "numpy.linalg": {
        **_of("cond eig eigvals lstsq matrix_rank pinv qr svd svdvals", _LAPACK),
        **_of("cholesky det inv slogdet solve", "of more than four rows it is LAPACK's"),
        **_of("eigh eigvalsh", "of more than three rows, or of complex numbers, it is LAPACK's"),
        **_of("tensorinv tensorsolve", "a solution, which is LAPACK's"),
    },
}

OF_MODULES = {
    "numpy.random": (
        "a seed gives its numbers, one after another; what drivers draw by index, and the host in bulk, "
        "is in `docs/functions.md`"
    ),
    "numpy.ma": "its Python, run over arrays of gpupy (`docs/masked.md`)",
    "numpy.strings": "strings are NumPy's own dtype",
    "numpy.char": "strings are NumPy's own dtype",
    "numpy.rec": "records are NumPy's own dtype; operations on their numeric fields are the drivers'",
    "numpy.lib.scimath": "it looks at all elements for the dtype of the result",
    "numpy.polynomial": "coefficients are a handful of numbers; NumPy's classes compute with them",
    "numpy.testing": "comparisons for tests",
}


@functools.cache
def _all() -> dict[str, str]:
    """The reasons by name alone, for names that mean one function."""
    drawn = set(np.random.__all__) - set(np.__all__)
    found = dict.fromkeys(drawn, OF_MODULES["numpy.random"])
    for reasons in OF_NAMES.values():
        found.update(reasons)
    return found


def of(name: str) -> str | None:
    """Why calls that are counted under a name are NumPy's; ``None`` where other calls of it are recorded."""
    return _all().get(name)
