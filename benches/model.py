"""What many workers would take: bytes and seconds by a model, `cargo xtask bench --scale --model` starts it.

A program is so many operations on each number, exchanges of edges or parts that are combined; a cluster is
workers of some cores with a network, disks and a scheduler. The time is the sum of what each of these is
busy. Owns the programs' numbers and the formulas; what they were checked by stands in `docs/scale.md`. Not
here: measurements (`scale.py`).
"""

import argparse
import dataclasses
import math
import sys

ITEM = 8  # bytes of a number


@dataclasses.dataclass(frozen=True)
class Program:
    """What a program asks of its cluster."""

    # Nanoseconds of one core for a number, in all steps together.
    work: float
    # Tasks for a chunk, in all steps together.
    tasks: float
    # How often chunks need their neighbours' edges.
    exchanges: int = 0
    # Bytes of what a chunk gives to the sum of all.
    parts: int = 8


# From `scale.py` on one worker: its time less its tasks' time, over its numbers.
PROGRAMS = {
    "chain and sum": Program(work=9.0, tasks=2),
    "heat by map_overlap": Program(work=400.0, tasks=30, exchanges=3, parts=16_000),
    "PCA": Program(work=80.0, tasks=6, parts=20_000),
    "histogram": Program(work=60.0, tasks=3, parts=800),
}


@dataclasses.dataclass(frozen=True)
class Cluster:
    """What there is."""

    workers: int
    cores: int
    # Bytes in a second to and from a worker, and seconds until the first comes.
    bandwidth: float
    latency: float
    # Seconds of the scheduler for a task, and of a worker.
    scheduler: float
    worker: float
    # Bytes of a worker's memory for chunks, and in a second to and from its disk.
    memory: float
    disk: float


def neighbours_apart(chunks, workers):
    """Pairs of neighbours in a square of chunks of which each worker has an own square."""
    side, across = math.sqrt(chunks), math.sqrt(min(workers, chunks))
    return 2 * side * (across - 1) if workers > 2 else side * (workers - 1)


def predicted(program, size, chunk, cluster):
    """The bytes that are sent, and the seconds of each part, for so many bytes in chunks of so many."""
    chunks = max(1, math.ceil(size / chunk))
    busy = min(cluster.workers, chunks)
    # Dask fuses the slice of an edge into the task that reads it, so the whole chunk goes.
    apart = neighbours_apart(chunks, busy)
    sent = program.exchanges * apart * chunk + program.parts * max(0, chunks - chunks / busy)
    messages = program.exchanges * apart + chunks
    lanes = busy * cluster.cores
    seconds = {
        "cores": math.ceil(chunks / lanes)
        * (program.work * 1e-9 * chunk / ITEM + program.tasks * cluster.worker),
        "network": sent / busy / cluster.bandwidth + messages / busy * cluster.latency,
        "scheduler": chunks * program.tasks * cluster.scheduler,
    }
    beyond = max(0.0, size / busy - cluster.memory)
    # What does not fit is written and read again.
    seconds["disk"] = 2 * beyond / cluster.disk
    return sent, seconds


# What `scale.py` measured on two cores: numbers, then milliseconds and megabytes sent with one worker of
# two threads, and with two of one.
MEASURED = {
    "chain and sum": (16e6, (100, 0.0), (74, 0.0)),
    "heat by map_overlap": (4e6, (1089, 0.0), (1258, 24.3)),
    "PCA": (8e6, (369, 0.0), (381, 0.1)),
    "histogram": (8e6, (313, 0.0), (252, 0.0)),
}


def check():
    """The model beside what was measured, in 16 chunks."""
    print("| program | workers | ms | by the model | sent, MB | by the model |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (numbers, *rows) in MEASURED.items():
        for workers, (milliseconds, megabytes) in enumerate(rows, 1):
            cluster = Cluster(workers, 2 // workers, 0.5e9, 0.2e-3, 0.3e-3, 0.3e-3, 1e10, 1e9)
            sent, seconds = predicted(PROGRAMS[name], numbers * ITEM, numbers * ITEM / 16, cluster)
            cells = [name, f"{workers}", f"{milliseconds}", f"{1e3 * sum(seconds.values()):.0f}"]
            print("| " + " | ".join([*cells, f"{megabytes}", f"{sent / 1e6:.1f}"]) + " |")


def sizes():
    """The chunks that are tried: from 1 MB to 1 GB."""
    return [base * 10**power for power in (6, 7, 8) for base in (1, 2, 5)] + [10**9]


def best(program, size, cluster):
    """The chunk that takes the least time, with what it sends and takes; of equal ones the smallest.

    Ten chunks of each thread fit in memory.
    """
    most = max(10**6, cluster.memory / cluster.cores / 10)
    tried = [(predicted(program, size, chunk, cluster), chunk) for chunk in sizes() if chunk <= most]
    (sent, seconds), chunk = min(tried, key=lambda row: (round(sum(row[0][1].values()), 9), row[1]))
    return chunk, sent, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1000.0, help="of all numbers together")
    parser.add_argument("--workers", default="2,10,1000", help="numbers of workers")
    parser.add_argument("--cores", type=int, default=8, help="of each worker")
    parser.add_argument("--bandwidth", type=float, default=1.25, help="GB/s of each worker")
    parser.add_argument("--latency", type=float, default=0.2, help="ms of a message")
    parser.add_argument("--scheduler", type=float, default=0.3, help="ms of the scheduler for a task")
    parser.add_argument("--task", type=float, default=0.3, help="ms of a worker for a task")
    parser.add_argument("--memory", type=float, default=32.0, help="GB of each worker for chunks")
    parser.add_argument("--disk", type=float, default=1.0, help="GB/s of each worker")
    parser.add_argument("--check", action="store_true", help="print the model beside measurements")
    given = parser.parse_args()
    if given.check:
        check()
        return 0
    print("| program | workers | chunk, MB | sent, GB | seconds | most of it |")
    print("|---|---:|---:|---:|---:|---|")
    for name, program in PROGRAMS.items():
        for workers in map(int, given.workers.split(",")):
            cluster = Cluster(
                workers,
                given.cores,
                given.bandwidth * 1e9,
                given.latency * 1e-3,
                given.scheduler * 1e-3,
                given.task * 1e-3,
                given.memory * 1e9,
                given.disk * 1e9,
            )
            chunk, sent, seconds = best(program, given.gigabytes * 1e9, cluster)
            where = max(seconds, key=seconds.__getitem__)
            share = seconds[where] / sum(seconds.values())
            cells = [
                name,
                f"{workers}",
                f"{chunk / 1e6:g}",
                f"{sent / 1e9:.3g}",
                f"{sum(seconds.values()):.3g}",
            ]
            print("| " + " | ".join([*cells, f"{where}, {share:.0%}"]) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
