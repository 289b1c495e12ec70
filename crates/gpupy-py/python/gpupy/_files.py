"""Files: NumPy's, and those of recorded functions.

Owns ``load``, and ``regular``, which opens what is certainly a file. Not here: what a file of a function is
(``_jit/saved.py``).
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO

import numpy as np

from . import _fallback
from ._gpupy import jit as _own


def regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A file, open for reading.

    A pipe would be waited for, and a device may have no end: they are an ``OSError``, at once.
    """
    file = open(path, "rb", opener=_opened_at_once)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "this is a pipe or a device, not a file", os.fspath(path))
    return file


def _opened_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


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
        from ._jit import saved

        return saved.load(file)
    return _fallback.call("load", np.load, (file, *args), kwargs)


FUNCTIONS = {"load": load}
