"""What launches cost the calling thread: for flushes of one to some fifty launches, each new and known.

Owns the programs and the table. Times are processor time of the thread that evaluates, so that a
software rasteriser's own threads do not count; its waits do not, either. Invariant: what is timed is an
evaluation of few elements, whose kernels are compiled. Not here: times of kernels (`bench --accelerator`),
of planning by kind (`bench --loops --nodes`).
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import gpupy as np

SHAPE = (4, 100)
STEPS = (1, 4, 8, 16, 32)


def turns(x, steps, scale):
    """A chain in which no two steps are one kernel."""
    for _ in range(steps):
        x = x - x.max(1, keepdims=True) * np.float32(scale)
    return x


def counted(work):
    before = np.stats()
    work()
    after = np.stats()
    return {name: after[name] - before[name] for name in ("launches", "sequences", "bytes_downloaded")}


def timed(make, rounds):
    """The first quartile of microseconds to record, and to evaluate."""
    recorded, evaluated = [], []
    for _ in range(rounds):
        began = time.thread_time_ns()
        value = make()
        between = time.thread_time_ns()
        np.evaluate(value)
        recorded.append(between - began)
        evaluated.append(time.thread_time_ns() - between)
    return [statistics.quantiles(times, n=4)[0] / 1e3 for times in (recorded, evaluated)]


def rows(rounds):
    x = np.asarray(np.arange(SHAPE[0] * SHAPE[1]), dtype=np.float32).reshape(SHAPE)
    np.evaluate(x)
    for steps in STEPS:
        for _ in range(8):
            np.evaluate(turns(x, steps, 0.1))
        counts = counted(lambda steps=steps: np.evaluate(turns(x, steps, 0.1)))
        record, known = timed(lambda steps=steps: turns(x, steps, 0.1), rounds)
        # Other scalars each time: commands that a driver kept do not fit.
        scales = iter(range(1, 2 * rounds))
        _, other = timed(lambda steps=steps, scales=scales: turns(x, steps, 1 / next(scales)), rounds)
        yield steps, counts, record / (3 * steps), known, other


def table(name, rounds):
    print(f"\n{name}: microseconds of the calling thread", flush=True)
    print("launches  calls  recording an operation  a flush, again  a launch  with other scalars  a launch")
    for _, counts, record, known, other in rows(rounds):
        launches, calls = counts["launches"], counts["sequences"] or counts["launches"]
        print(
            f"{launches:8} {calls:6} {record:23.2f} {known:15.1f} {known / launches:9.2f}"
            f" {other:19.1f} {other / launches:9.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", action="append", help="a driver's name; all that start, if none is given")
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    chosen = os.environ.get("GPUPY_DRIVER")
    if given.driver == [chosen]:
        return table(chosen, given.rounds)
    for name in given.driver or [row["name"] for row in np.drivers() if row["starts"]]:
        # All on this driver, whatever it costs.
        environment = os.environ | {"GPUPY_DRIVER": name, "GPUPY_PLACEMENT": "strict"}
        again = [sys.executable, __file__, "--driver", name, "--rounds", str(given.rounds)]
        subprocess.run(again, env=environment, check=True)
    return None


if __name__ == "__main__":
    main()
