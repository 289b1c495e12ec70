"""Files beyond memory, beside NumPy's memory maps: `cargo xtask bench --scale --beyond` starts it.

A file of 4, 10 and 40 times a limit is computed with, by gpupy within `GPUPY_HOST_BYTES` and by NumPy's
memory map, each in a process of its own, in turns. A time is the median of some rounds; memory is the peak
above what the process had before, in which NumPy's has the pages of the map. The file is sparse, so that
its pages come from the system's cache and not from a disk. Invariant: both end with the same numbers, or
the status is 1. Not here: workers (`scale.py`), the model of both (`model.py`).
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

COLUMNS = 1000

PROGRAMS = {
    "(m * 2 + 1).sum()": "(m * 2 + 1).sum()",
    "m.mean(axis=0)": "m.mean(axis=0).sum()",
    "((m - m.mean(axis=0)) ** 2).sum()": "((m - m.mean(axis=0)) ** 2).sum()",
    "(sqrt(m[1:]) + m[:-1]).max()": "(np.sqrt(m[1:]) + m[:-1]).max()",
}

CHILD = """
import resource, sys, time
import numpy
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
path, rows, columns, which = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if which == "gpupy":
    import gpupy as np
    np.evaluate(np.ones((512, 512)) + 1)
    m = np.open_memmap(path, "f8", (rows, columns))
else:
    np = numpy
    m = np.memmap(path, "f8", "r", shape=(rows, columns))
before, began = peak(), time.perf_counter()
found = float({program})
print(found, time.perf_counter() - began, peak() - before)
"""


def measured(path, rows, program, which, limit):
    """The value, the seconds and the bytes of one process."""
    environment = dict(os.environ, GPUPY_DRIVER="cpu", GPUPY_HOST_BYTES=str(limit))
    words = [sys.executable, "-c", CHILD.replace("{program}", program), path, str(rows), str(COLUMNS), which]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    return tuple(float(word) for word in done.stdout.split())


def table(path, limit, times, rounds):
    """The rows of one size, and whether values agree."""
    rows = limit * times // 8 // COLUMNS
    with open(path, "wb") as file:
        file.truncate(rows * COLUMNS * 8)
        for row in range(0, rows, max(1, rows // 64)):
            file.seek((row * COLUMNS + row % COLUMNS) * 8)
            file.write(b"\0\0\0\0\0\0\x18\x40")
    agree = True
    for name, program in PROGRAMS.items():
        found = {"numpy": [], "gpupy": []}
        for _ in range(rounds):
            for which, got in found.items():
                got.append(measured(path, rows, program, which, limit))
        ours, theirs = found["gpupy"], found["numpy"]
        if None in ours:
            raise SystemExit(f"{name} over {times} times the limit failed")
        line = [f"{times}", f"`{name}`"]
        if None in theirs:
            line += ["fails", f"{statistics.median(row[1] for row in ours):.2f}", "", "fails"]
        else:
            agree &= abs(ours[0][0] - theirs[0][0]) <= 1e-9 * abs(theirs[0][0])
            seconds = [statistics.median(row[1] for row in each) for each in (theirs, ours)]
            ratio = statistics.median(n[1] / g[1] for n, g in zip(theirs, ours, strict=True))
            line += [f"{seconds[0]:.2f}", f"{seconds[1]:.2f}", f"{ratio:.2f}"]
            line += [f"{max(row[2] for row in theirs) / 1e6:.0f}"]
        line += [f"{max(row[2] for row in ours) / 1e6:.0f}"]
        print("| " + " | ".join(line) + " |", flush=True)
    return agree


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=256, help="GPUPY_HOST_BYTES, in MiB")
    parser.add_argument("--times", default="4,10,40", help="the file, in limits")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    given = parser.parse_args()
    print("| × limit | program | NumPy, s | gpupy, s | ratio | NumPy, peak, MB | gpupy, peak, MB |")
    print("|---|---|---:|---:|---:|---:|---:|")
    path, agree = given.folder / f"gpupy-beyond-{os.getpid()}", True
    try:
        for times in map(int, given.times.split(",")):
            agree &= table(str(path), given.limit << 20, times, given.rounds)
    finally:
        path.unlink(missing_ok=True)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
