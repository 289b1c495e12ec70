"""Greatest common divisors and least common multiples, which are loops: compiled functions of numbers.

Owns ``COMPOSED``. Not here: the functions themselves (``_kernel/written.py``), other ufuncs that are composed
(``_compute/composed_ufuncs.py``).
"""

import functools
from typing import Any

import numpy as np

from .._compute.composed_ufuncs import composed, magnitude


@functools.cache
def _kernel(name: str) -> Any:
    # Few programs need a compiler.
    from .._kernel import kernel, written

    function = written.NUMPYS[getattr(np, name)]
    return kernel.Kernel(function, None, 1 << 20)


def _by_kernel(name: str) -> Any:
    def of_magnitudes(a: Any, b: Any) -> Any:
        # Of the least number the magnitude has no sign to hold.
        return _kernel(name)(magnitude(a), magnitude(b)).astype(a.dtype)

    return composed(getattr(np, name), of_magnitudes)


COMPOSED = {name: _by_kernel(name) for name in ("gcd", "lcm")}
