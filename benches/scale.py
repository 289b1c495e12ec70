"""Dask with NumPy's chunks and with ours, on one and two workers: `cargo xtask bench --scale` starts it.

Owns the programs and their sizes. Both back ends take turns on the same workers, from data that lies there. A
time is the median of some rounds; bytes are those that workers sent in a round, to each other and to the
client; memory is a worker's peak in a last round, above what it had when all free memory was given back.
Invariant: both back ends end with the same values, or the status is 1. Not here: operations on one process
(`python -m gpupy bench`).
"""

import argparse
import ctypes
import gc
import pathlib
import statistics
import sys
import time

import dask
import dask.array as da
import numpy
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, wait

import gpupy

BACK_ENDS = ("numpy", "gpupy")
MEGA = 1e6


def chain_start(size):
    """A line of numbers in 16 chunks."""
    return (da.random.default_rng(1).random(size, chunks=size // 16),)


def chain(line):
    """Ten operations on each number, and a sum."""
    x = da.sqrt(line * line + 1) * 2 - line / (1 + line)
    return da.where(x > 2, x - 1, x * 0.5).sum()


def heat_start(size):
    """A square plate in 16 chunks."""
    side = int(size**0.5)
    return (da.random.default_rng(2).random((side, side), chunks=side // 4),)


DEPTH = 10  # steps between two exchanges of edges


def flow(plate):
    """Some steps of heat in a chunk with its neighbours' edges, which are cut off afterwards."""
    for _ in range(DEPTH):
        inside = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate = numpy.pad(inside + 0.2 * (around - 4 * inside), 1, mode="edge")
    return plate


def heat(plate):
    """Thirty steps by three exchanges; the mean of each row."""
    for _ in range(3):
        plate = plate.map_overlap(flow, depth=DEPTH, boundary="reflect", meta=plate._meta)
    return plate.mean(axis=1)


def pca_start(size):
    """A tall table of 50 columns in 8 chunks, with two directions in which it is wide."""
    rows = size // 50
    generator = da.random.default_rng(3)
    table = generator.normal(size=(rows, 50), chunks=(rows // 8, 50))
    return (table + 5 * table[:, :1] - 3 * table[:, 1:2],)


def pca(table):
    """The variances along the main directions."""
    _, values, _ = da.linalg.svd(table - table.mean(axis=0))
    return values**2 / (len(table) - 1)


def histogram_start(size):
    """A line of numbers in 16 chunks."""
    return (da.random.default_rng(4).normal(size=size, chunks=size // 16),)


def histogram(line):
    """How many of the squares fall between each two of a hundred bounds."""
    return da.histogram(line * line, bins=100, range=(0, 9))[0]


# What a program starts with, and how many numbers that are.
PROGRAMS = {
    "chain and sum": (chain_start, chain, 16_000_000),
    "heat by map_overlap": (heat_start, heat, 4_000_000),
    "PCA": (pca_start, pca, 8_000_000),
    "histogram": (histogram_start, histogram, 8_000_000),
}


def forget_peak():
    """Gives free memory back, and has Linux measure the peak of this process anew; gives what it has now."""
    gc.collect()
    gpupy.trim()
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(name):
    """A line of what Linux knows of this process's memory, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/self/status has no {name}")


def sent(dask_worker):
    """Bytes that a worker has sent since it started."""
    return dask_worker.transfer_outgoing_bytes_total


class Round:
    """One program on one back end: its data on the workers, and what each round took."""

    def __init__(self, client, back_end, start, program, size):
        self.client, self.program, self.back_end = client, program, back_end
        with dask.config.set({"array.backend": back_end}):
            self.data = [array.persist() for array in start(size)]
        wait(self.data)
        self.seconds, self.bytes, self.peak, self.result = [], [], 0, None

    def compute(self):
        """The result; gives the seconds that it took."""
        with dask.config.set({"array.backend": self.back_end}):
            began = time.perf_counter()
            self.result = numpy.asarray(self.program(*self.data).compute())
            return time.perf_counter() - began

    def run(self):
        """A round that is timed."""
        before = self.client.run(sent)
        self.seconds.append(self.compute())
        after = self.client.run(sent)
        self.bytes.append(sum(after[w] - before[w] for w in before))

    def run_for_memory(self):
        """A round that says how much memory a worker took at most."""
        held = self.client.run(forget_peak)
        self.compute()
        peak = self.client.run(memory, "VmHWM")
        self.peak = max(peak[w] - held[w] for w in held)


def measured(workers, names, rounds, factor):
    """A row of the table for each program on so many workers, and whether all values agree."""
    rows, agree = [], True
    threads = max(1, CPU_COUNT // workers)
    options = {"n_workers": workers, "threads_per_worker": threads, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        for name in names:
            start, program, size = PROGRAMS[name]
            sides = [Round(client, back_end, start, program, int(size * factor)) for back_end in BACK_ENDS]
            # The first round compiles, and fills pools.
            for count in range(rounds + 1):
                for side in sides:
                    side.run()
                    if count == 0:
                        del side.seconds[:], side.bytes[:]
            for side in sides:
                side.run_for_memory()
            theirs, ours = sides
            same = numpy.allclose(theirs.result, ours.result, rtol=1e-9)
            agree &= same
            rows.append((name, workers, threads, theirs, ours, same))
            del sides, theirs, ours
    return rows, agree


def table(rows):
    """The rows in Markdown."""
    head = ["program", "workers × threads", "NumPy, ms", "gpupy, ms", "ratio"]
    head += [f"{side}, {what}" for what in ("sent, MB", "peak, MB") for side in ("NumPy", "gpupy")]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)]
    for name, workers, threads, theirs, ours, same in rows:
        median = [statistics.median(side.seconds) for side in (theirs, ours)]
        cells = [name, f"{workers} × {threads}", *(f"{1e3 * seconds:.0f}" for seconds in median)]
        cells.append(f"{median[0] / median[1]:.2f}" + ("" if same else " (VALUES DIFFER)"))
        cells += [f"{statistics.median(side.bytes) / MEGA:.1f}" for side in (theirs, ours)]
        cells += [f"{side.peak / MEGA:.1f}" for side in (theirs, ours)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="", help="words that the names of programs contain")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that are timed, of each back end")
    parser.add_argument("--factor", type=float, default=1.0, help="by what the sizes are multiplied")
    parser.add_argument("--workers", default="1,2", help="numbers of workers")
    options = parser.parse_args()
    words = options.programs.split(",")
    names = [name for name in PROGRAMS if any(word in name for word in words)]
    rows, agree = [], True
    for workers in map(int, options.workers.split(",")):
        found, same = measured(workers, names, options.rounds, options.factor)
        rows += found
        agree &= same
    text = table(rows)
    print(text)
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    (out / "scale.md").write_text(text)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
