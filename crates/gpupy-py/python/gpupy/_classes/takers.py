"""Packages whose code takes NumPy's class alone, and what it is lent of ours.

Owns the table, which is filled as such packages are imported. Not here: which packages these are, and how
their code gets what it is lent (``_libraries/lending.py``).
"""

import functools

from .._gpupy import lend_to

# What is lent: masked arrays and those whose elements no driver has, all arrays, what the code that called
# is lent, or, besides the first, integers and truth values without axes.
NO_DRIVERS, ALL, AS_CALLER, KEYS = 1, 2, 3, 4

_LENT: dict[str, int] = {}


def lend(package: str, what: int) -> None:
    """From here on, code of a package is lent arrays when it asks for their class; 0 for none."""
    _LENT[package] = what
    which.cache_clear()
    lend_to(package, what)


@functools.cache
def which(module: str | None) -> int:
    """What a module is lent, as the innermost package around it."""
    while module:
        if module in _LENT:
            return _LENT[module]
        module = module.rpartition(".")[0]
    return 0


def takes_numpys(value: object) -> bool:
    """Whether an object is of such a package."""
    return bool(_LENT) and which(type(value).__module__) == ALL
