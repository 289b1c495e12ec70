"""``load``: NumPy's files, and those of recorded functions.

Not here: what a file of a function is (``_jit/saved.py``).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import _gpupy
from .._gpupy import jit as _own


def _is_function(file: Any) -> bool:
    """Whether a path is that of a recorded function's file."""
    if not isinstance(file, (str, os.PathLike)):
        return False
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as source:
            return source.read(len(_own.MAGIC)) == _own.MAGIC
    except OSError:
        return False


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """Like NumPy's ``load``; for a file that ``gpupy.jit`` saved, returns the function."""
    if not args and not kwargs and _is_function(file):
        # Programs without recorded functions need not wait for it.
        from .._jit import saved

        return saved.load(file)
    return _gpupy.call("load", np.load, (file, *args), kwargs)


FUNCTIONS = {"load": load}
