"""One device beside a group of several: `cargo xtask bench --scale --groups` starts it.

Each program runs by one device and by the group in turns, in one process; a time is the median of some
rounds, after as many runs as a group needs to measure its members. Two software devices on one machine
share its cores, and show what sharing costs rather than what two devices give. Invariant: both end with the
same bits, or the status is 1. Not here: workers (`scale.py`), files (`beyond.py`).
"""

import argparse
import statistics
import sys
import time

import numpy

import gpupy

# Runs after which shares are settled and kernels are compiled.
FIRST = 6


def chain(x):
    """Twenty operations at each point."""
    y = gpupy.asarray(x)
    for _ in range(10):
        y = y * numpy.float32(0.75) + numpy.float32(0.5)
    return y


def total(x):
    """A reduction of a map."""
    return (chain(x) * 2).sum()


def heat(x):
    """Ten steps, each of which reads its neighbours' edges."""
    y = gpupy.asarray(x)
    for _ in range(10):
        inner = (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) * numpy.float32(0.25)
        y[1:-1, 1:-1] = inner
        gpupy.evaluate(y)
    return y


PROGRAMS = {"chain": chain, "chain and sum": total, "heat": heat}


def run(words, program, x):
    """The seconds of a run, and its value."""
    with gpupy.driver(words):
        began = time.perf_counter()
        value = program(x)
        gpupy.evaluate(value)
        # One element waits for all devices.
        float(numpy.ravel(value[(0,) * numpy.ndim(value)])[0])
        return time.perf_counter() - began, numpy.asarray(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="vulkan,vulkan", help="the group; its first one is timed alone")
    parser.add_argument("--size", type=int, default=2048, help="rows and columns")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    group, alone = given.devices, given.devices.split(",")[0]
    x = numpy.random.default_rng(1).random((given.size, given.size), dtype="f4")
    print(f"| program | {alone}, ms | {group}, ms | ratio | shares |")
    print("|---|---:|---:|---:|---|")
    agree = True
    for name, program in PROGRAMS.items():
        for _ in range(FIRST):
            run(group, program, x)
        gpupy.reset_stats()
        pairs = [(run(alone, program, x), run(group, program, x)) for _ in range(given.rounds)]
        members = gpupy.stats().groups[group]
        shared = sum(member["slabs"] for member in members) > 0
        shares = ", ".join(f"{member['share']:.2f}" for member in members) if shared else "not shared"
        times = [statistics.median(pair[side][0] for pair in pairs) * 1e3 for side in (0, 1)]
        ratio = statistics.median(one[0] / several[0] for one, several in pairs)
        agree &= all(one[1].tobytes() == several[1].tobytes() for one, several in pairs)
        print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {ratio:.2f} | {shares} |", flush=True)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
