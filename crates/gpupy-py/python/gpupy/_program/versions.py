"""What a report of a mistake needs to have: versions, the machine, the drivers.

Owns ``show_versions``. Invariant: of the environment only gpupy's own variables are printed. Not here: the
limits of a driver (``info`` in ``drivers.py``).
"""

import importlib.metadata
import os
import pathlib
import platform
import sys

from .. import _gpupy

# Distributions that gpupy works with, and whose versions matter when it does not.
_WITH = ("numpy", "ml_dtypes", "dask", "threadpoolctl", "scipy", "pandas", "matplotlib", "ipython", "pytest")


def show_versions() -> None:
    """Prints what a report of a mistake needs: versions, system, processor, variables, drivers.

    Each driver is tried, so that the first call takes as long as starting them.
    """
    print("\n".join(_lines()))


def _lines() -> list[str]:
    implementation = f"{platform.python_implementation()}, {platform.python_compiler()}"
    lines = [
        f"gpupy {sys.modules['gpupy']._VERSION}",
        f"Python {platform.python_version()} ({implementation})",
    ]
    lines += [f"{name} {version}" for name in _WITH if (version := _version(name))]
    lines.append(
        f"{platform.system()} {platform.release()}, {platform.machine()}, {'-'.join(platform.libc_ver())}"
    )
    lines.append(f"{processor()}, {processors()} processors")
    lines += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("GPUPY_")]
    for row in _gpupy.drivers():
        kind = "hardware" if row["hardware"] else "software"
        state = f"{row['device']} ({kind})" if row["starts"] else f"cannot start: {row['reason']}"
        lines.append(f"{row['name']}: {state}")
    return lines


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The processor's name, as the system says it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
