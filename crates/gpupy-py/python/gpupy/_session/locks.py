"""Locks of this package's own state in Python.

Owns ``over_forks``, and ``LOADING``, the lock of what is made of NumPy's code. Not here: the locks of arrays
and evaluations, which are Rust's.
"""

import os
import threading
from contextlib import AbstractContextManager


def over_forks() -> AbstractContextManager[bool]:
    """A lock that one thread may take twice. A fork waits for it, so that a child never finds it taken.

    The state behind a lock that another thread held would stay half written in the child.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# Held until all that a function or module of NumPy's needs is bound to ours, so that other threads see no
# part of it. One for both, as each needs the other.
LOADING = over_forks()
