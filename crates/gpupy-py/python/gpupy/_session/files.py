"""What is certainly a file.

Owns ``regular``. Not here: NumPy's files (``_namespace/files.py``), arrays over files (``_outside``).
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


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
