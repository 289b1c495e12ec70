"""How long an import takes.

Owns ``seconds``. Each import is timed in a process of its own.
"""

import statistics
import subprocess
import sys

from . import drivers

PROGRAM = """
import time
start = time.perf_counter()
import numpy
between = time.perf_counter()
import gpupy
print(between - start, time.perf_counter() - between)
"""


def seconds(rounds: int) -> list[float]:
    """The seconds of NumPy's import, and what gpupy's takes after it; medians."""
    times = []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=drivers.environment(),
            check=True,
            capture_output=True,
            text=True,
        )
        times.append([float(word) for word in done.stdout.split()])
    return [statistics.median(column) for column in zip(*times, strict=True)]
