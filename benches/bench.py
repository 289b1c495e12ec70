"""Times NumPy against gpupy: whole programs, the recording of one operation, and the import.

`cargo xtask bench` builds gpupy and starts this. The programs are those of `examples/`, with the same text
for both. Nothing is judged here: the results are printed, and written to `out/bench.md` and `out/bench.json`.
"""

import argparse
import itertools
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import numpy

import gpupy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

import distance_map
import measure
import shaded_sphere

SEED = 1
# Fewer operations than a flush by itself needs, so that only recording is timed.
RECORDED = 200
HEADS = (
    "program",
    "NumPy",
    "gpupy first",
    "gpupy warm",
    "NumPy / warm",
    "launches warm",
    "fallbacks",
    "largest difference",
)


def sphere(size):
    def run(xp, dtype):
        return shaded_sphere.shaded_sphere(xp, dtype, size)

    return measure.Program(f"shaded sphere {size}²", run)


def distances(size, points):
    """The distance map before it is scaled, with the same points in every run."""
    places = distance_map.random_points(points, size, SEED)

    def run(xp, dtype):
        return [distance_map.distance_map(xp, dtype, places, size)]

    return measure.Program(f"distance map {size}², {points} points", run)


def new_distances(size, points):
    """The distance map with other points in every run: kernels that hold the points are of no use."""
    seeds = {True: itertools.count(), False: itertools.count()}

    def run(xp, dtype):
        # Each side counts its own runs, so that both have the same points in the same run.
        places = distance_map.random_points(points, size, next(seeds[xp is gpupy]))
        return [distance_map.distance_map(xp, dtype, places, size)]

    return measure.Program(f"distance map {size}², {points} new points", run)


def arithmetic(count):
    """Arrays of the program's own, little arithmetic: what the way to the device and back costs."""
    x = numpy.linspace(0, 1, count, dtype=numpy.float32)
    y = numpy.linspace(1, 2, count, dtype=numpy.float32)

    def run(xp, dtype):
        return [2.5 * xp.asarray(x, dtype=dtype) + xp.asarray(y, dtype=dtype)]

    return measure.Program(f"2.5*x + y, {count} elements", run)


def programs(quick):
    if quick:
        return [sphere(128), distances(128, 20), new_distances(128, 20), arithmetic(1000)]
    return [
        sphere(512),
        sphere(2048),
        distances(512, 100),
        new_distances(512, 100),
        arithmetic(16),
        arithmetic(4_000_000),
    ]


def nanoseconds_an_operation(xp, dtype, rounds):
    """Times `x * 0.999 + y` on 16 elements, recorded and dropped, never read."""
    y = xp.arange(16, dtype=dtype)
    times = []
    for _ in range(rounds):
        x = xp.arange(16, dtype=dtype)
        start = time.perf_counter_ns()
        for _ in range(RECORDED // 2):
            x = x * 0.999 + y
        times.append((time.perf_counter_ns() - start) / RECORDED)
        del x
    return statistics.median(times)


def import_times(rounds):
    """Returns the seconds of NumPy's import, and what gpupy's takes on top, in fresh processes."""
    program = (
        "import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import gpupy; "
        "c = time.perf_counter(); print(b - a, c - b)"
    )
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        runs.append([float(word) for word in done.stdout.split()])
    return [statistics.median(times) for times in zip(*runs, strict=True)]


def small_costs(rounds):
    """Returns the rows of what has no program: recording and import."""
    gpupy.reset_stats()
    recorded = nanoseconds_an_operation(gpupy, gpupy.gpufloat32, 20 * rounds)
    launches = gpupy.stats()["launches"]
    by_numpy = nanoseconds_an_operation(numpy, numpy.float32, 20 * rounds)
    numpy_import, over_numpy = import_times(2 * rounds + 1)
    return {
        "record_ns": recorded,
        "record_launches": launches,
        "numpy_operation_ns": by_numpy,
        "numpy_import_s": numpy_import,
        "import_over_numpy_s": over_numpy,
    }


def program_row(seen):
    """Returns what the report keeps of one comparison."""
    return {
        "program": seen.name,
        "numpy_s": seen.numpy,
        "gpupy_first_s": seen.first,
        "gpupy_warm_s": seen.warm,
        "numpy_runs_s": seen.numpy_times,
        "gpupy_runs_s": seen.warm_times,
        "largest_difference": seen.difference,
        "warm_launches": seen.warm_launches,
        **seen.counts,
    }


def report(driver, rows, costs):
    """Returns the lines of the report, in Markdown."""
    lines = [
        f"gpupy on driver {driver['name']} ({driver['device']}), NumPy {numpy.__version__}, "
        f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}",
        "",
        f"| {' | '.join(HEADS)} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [
            row["program"],
            measure.duration(row["numpy_s"]),
            measure.duration(row["gpupy_first_s"]),
            measure.duration(row["gpupy_warm_s"]),
            f"{row['numpy_s'] / row['gpupy_warm_s']:.2f}",
            str(row["warm_launches"]),
            str(row["fallbacks"]),
            f"{row['largest_difference']:.3g}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"Recording one operation on 16 elements: {costs['record_ns']:.0f} ns "
        f"(NumPy computes it in {costs['numpy_operation_ns']:.0f} ns); "
        f"{costs['record_launches']} launches meanwhile.",
        "In the core alone: "
        + (f"{costs['core_record_ns']:.0f} ns." if costs["core_record_ns"] else "not timed."),
        f"Import: {measure.duration(costs['import_over_numpy_s'])} over NumPy's "
        f"{measure.duration(costs['numpy_import_s'])}.",
        "",
        "Times are medians, NumPy and gpupy in turns, up to the values in host memory.",
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", help="a driver's name; by default the best that starts")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each program on each side")
    parser.add_argument("--quick", action="store_true", help="small programs, to see that all works")
    parser.add_argument("--core-ns", type=float, help="what the core alone takes, for the report")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder to write to")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {options.rounds}")

    try:
        driver = measure.driver_in_use(gpupy, options.driver)
    except (ValueError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    rows = []
    for program in programs(options.quick):
        print(f"   {program.name}", flush=True)
        rows.append(program_row(measure.compare(program, gpupy, options.rounds)))
    print("   recording and import", flush=True)
    costs = small_costs(options.rounds) | {"core_record_ns": options.core_ns}

    text = "\n".join(report(driver, rows, costs))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "bench.md").write_text(text + "\n")
    results = {"driver": driver, "programs": rows, "costs": costs}
    (options.out / "bench.json").write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{text}\n\nWritten: {options.out}/bench.md, {options.out}/bench.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
