"""How much memory there is for a benchmark.

Owns ``available`` and ``needed``. Not here: what a device has (its driver's business).
"""

import os
import pathlib

# Operands, temporaries and results of NumPy, of gpupy and on its device, and what is kept to compare.
ARRAYS = 13


def needed(size: int) -> int:
    """The bytes that ``2.5*x + y`` on so many elements takes, by NumPy and by gpupy at once."""
    return ARRAYS * 4 * size


def available() -> int:
    """The bytes that a new process may take."""
    bounds = [_of_machine(), _of_group()]
    return min(bound for bound in bounds if bound is not None)


def _of_machine() -> int:
    try:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        kilobytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return int(kilobytes) * 1024
    except (OSError, StopIteration):
        pass
    try:
        # Half of what is built in: how much of it is free, this system does not say.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _of_group() -> int | None:
    """What the control group leaves, where there is one with a limit."""
    folder = pathlib.Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        return int(limit) - int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return None
