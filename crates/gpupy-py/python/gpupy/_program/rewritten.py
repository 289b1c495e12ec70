"""What stands in a program's code in the place of two things that NumPy's C decides by the very class.

Owns ``viewed``, for ``x.view(np.ndarray)`` of an array of NumPy's, and ``given``, for methods ``__array__``
of the program's classes. Not here: the rewriting (``script.py``).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._gpupy import adopt, ndarray
from .._libraries.calls import numpys


def viewed(x: Any, *args: Any, **kwargs: Any) -> Any:
    """``x.view(…)``, which of NumPy's arrays gives, for our class, ours over the same memory."""
    if not isinstance(x, np.ndarray) or not any(value is ndarray for value in (*args, *kwargs.values())):
        return x.view(*args, **kwargs)
    args = tuple(np.ndarray if value is ndarray else value for value in args)
    made = x.view(*args, **{key: np.ndarray if value is ndarray else value for key, value in kwargs.items()})
    return adopt(made)


def given(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method ``__array__`` whose results are NumPy's: code in C refuses others."""

    @functools.wraps(method)
    def __array__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return numpys(method(self, *args, **kwargs))

    return __array__
