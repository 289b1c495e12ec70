"""Loops in plain NumPy by NumPy and by gpupy in turns: `cargo xtask bench --loops` starts it.

Owns the options, the sizes, the aims and the table. Each row is a loop at a size, with so many steps, read
at each step, at every tenth, or at the end; it is measured in a new process with empty caches of kernels,
so that its first run is one. Invariant: a wrong result, a row that fails and one that takes too long give
the status 1; times never do. `--nodes` measures planning instead, in µs a node (`benches/loop_nodes.py`).
Not here: a row's process (`benches/loop_run.py`), the loops (`benches/loop_texts`).
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import loop_nodes
import processors
from loop_run import TEXTS

import gpupy
from gpupy._bench import drivers, table

HERE = pathlib.Path(__file__).resolve().parent
# Sides of a square, and the steps of a loop at that size.
STEPS = {32: 1000, 100: 200, 256: 60, 500: 20, 1000: 5}
QUICK = {64: 12}
# The names of the readings, and at every how manyth step they are; 0: only at the end.
READINGS = {"each": 1, "tenth": 10, "end": 0}
ROUNDS = 5
# Seconds after which a row is given up. NumPy needs at most some.
LIMIT = 120
# NumPy's time over gpupy's warm time is at least this where NumPy takes so many seconds a step and more,
# and below.
SLOW_STEP, AIM, AIM_BELOW = 100e-6, 1.0, 0.9
# A first run takes at most so many times NumPy's time, and so many seconds more.
FIRST_TIMES, FIRST_MORE = 1.5, 2e-3
# The geometric mean of the ratios, from this size on.
LARGE, AIM_OF_MEAN = 256, 1.5
HEADS = (
    *("program", "size", "steps", "read"),
    *("NumPy, ms", "first, ms", "warm, ms", "NumPy / warm", "misses", ""),
)


def numbers(option):
    """What reads positive numbers with commas between."""

    def read(words):
        if not re.fullmatch(r"[1-9][0-9]*(,[1-9][0-9]*)*", words):
            raise argparse.ArgumentTypeError(f"{option} takes positive numbers, got `{words}`")
        return [int(word) for word in words.split(",")]

    return read


def positive(option):
    """What reads one positive number."""

    def read(word):
        if not re.fullmatch(r"[1-9][0-9]*", word):
            raise argparse.ArgumentTypeError(f"{option} takes a positive number, got `{word}`")
        return int(word)

    return read


def parsed(arguments=None):
    """The options; a wrong one ends the program with words about it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one small size, read at the end")
    parser.add_argument("--nodes", action="store_true", help="µs a node of recording and planning instead")
    parser.add_argument("--programs", default="", metavar="WORD,…", help="those with a word in their names")
    parser.add_argument("--sizes", type=numbers("--sizes"), metavar="N,…", help="sides of a square")
    parser.add_argument("--steps", type=positive("--steps"), metavar="N", help="the steps at each size")
    parser.add_argument("--readings", metavar="NAME,…", help=f"some of {', '.join(READINGS)}")
    parser.add_argument("--rounds", type=positive("--rounds"), default=ROUNDS, help="warm runs of each side")
    parser.add_argument("--driver", metavar="NAME", help="instead of the one that is chosen by itself")
    parser.add_argument("--threads", type=positive("--threads"), metavar="N", help="processors of both sides")
    options = parser.parse_args(arguments)

    if options.nodes and (options.quick or options.sizes or options.steps or options.readings):
        parser.error("--nodes takes --driver, --programs and --threads alone")
    known = loop_nodes.KINDS if options.nodes else TEXTS
    words = options.programs.split(",")
    for word in words:
        if not any(word in name for name in known):
            parser.error(f"no program has `{word}` in its name; there are: {', '.join(known)}")
    options.programs = [name for name in known if any(word in name for word in words)]
    options.readings = (options.readings or ("end" if options.quick else ",".join(READINGS))).split(",")
    for name in options.readings:
        if name not in READINGS:
            parser.error(f"there is no reading `{name}`; there are {', '.join(READINGS)}")
    if min(options.sizes or [8]) < 8:
        parser.error("--sizes: the loops need at least 8")
    names = {row["name"]: row for row in gpupy.drivers()}
    if options.driver and os.path.sep not in options.driver:
        if options.driver not in names:
            parser.error(f"there is no driver `{options.driver}`; there are {', '.join(names)}")
        if not names[options.driver]["starts"]:
            parser.error(f"driver `{options.driver}` cannot start: {names[options.driver]['reason']}")
    return options


def environment(options, folder):
    """A row's: caches of kernels in an empty folder, NumPy's products by the processor's own instructions."""
    own = drivers.environment() | {"XDG_CACHE_HOME": folder, "MESA_SHADER_CACHE_DIR": folder}
    own = {name: value for name, value in own.items() if not name.startswith("OPENBLAS_")}
    if options.nodes:
        own["GPUPY_PLACEMENT"] = "strict"
    return own | ({"GPUPY_DRIVER": options.driver} if options.driver else {})


def started(script, task, options, limit=LIMIT):
    """What a new process measured, or a sentence about how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / script), json.dumps(task)]
        try:
            done = subprocess.run(
                command,
                env=environment(options, folder),
                check=False,
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return f"not done after {limit} s"
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return f"status {done.returncode}: {said[-1]}" if said else f"status {done.returncode}"
    return json.loads(done.stdout)


def misses(task, measured):
    """Which aims a row misses."""
    theirs, first, warm = (measured[name] for name in ("numpy", "first", "warm"))
    aim = AIM if theirs > SLOW_STEP * task["steps"] else AIM_BELOW
    slow = ["warm"] if theirs < aim * warm else []
    return slow + (["first"] if first > FIRST_TIMES * theirs + FIRST_MORE else [])


def remarks(measured):
    """What a reader must not overlook in a row."""
    wrong = [] if measured["right"] else ["WRONG"]
    fallbacks = [f"fallbacks {measured['fallbacks']}"] if measured["fallbacks"] else []
    return wrong + fallbacks + [f"≠ {changed}" for changed in measured["changed"]]


def cells(task, measured):
    """The row of the table."""
    start = (task["program"], str(task["size"]), str(task["steps"]), task["reading"])
    if isinstance(measured, str):
        return (*start, *["" for _ in range(5)], f"FAILED: {measured}")
    times = (table.three(1e3 * measured[name]) for name in ("numpy", "first", "warm"))
    ratio = table.three(measured["numpy"] / measured["warm"])
    return (*start, *times, ratio, ", ".join(misses(task, measured)), "; ".join(remarks(measured)))


def tasks(options):
    """All rows."""
    steps = QUICK if options.quick else STEPS
    if options.sizes:
        # As much work as at the next smaller size that has its number of steps.
        steps = {n: STEPS[max((known for known in STEPS if known <= n), default=32)] for n in options.sizes}
    for program in options.programs:
        for size, number in steps.items():
            for reading in options.readings:
                yield {
                    "program": program,
                    "size": size,
                    "steps": options.steps or number,
                    "reading": reading,
                    "every": READINGS[reading],
                    "rounds": 3 if options.quick else options.rounds,
                }


def loops(options):
    """Measures and prints the table; the status."""
    rows, ratios, missed, failed = [], [], 0, 0
    for task in tasks(options):
        measured = started("loop_run.py", task, options)
        rows.append(cells(task, measured))
        print("   " + "  ".join(rows[-1]), file=sys.stderr, flush=True)
        if isinstance(measured, str):
            failed += 1
            continue
        failed += not measured["right"]
        missed += bool(misses(task, measured))
        if task["size"] >= LARGE:
            ratios.append(measured["numpy"] / measured["warm"])
    print("\n".join(table.aligned(HEADS, rows)))
    if ratios:
        mean = table.three(math.exp(sum(map(math.log, ratios)) / len(ratios)))
        print(f"\nThe geometric mean of NumPy / warm from {LARGE}² on is {mean}; aimed at is {AIM_OF_MEAN}.")
    print(
        f"\n{missed} of {len(rows)} rows miss an aim. Warm: NumPy / warm is at least {AIM} where NumPy takes "
        f"over {SLOW_STEP * 1e6:.0f} µs a step, and {AIM_BELOW} below. First: a first run takes at most "
        f"{FIRST_TIMES} times NumPy's time and {FIRST_MORE * 1e3:.0f} ms. ≠: counts that differ between two "
        "warm runs."
    )
    return 1 if failed else 0


def main():
    """Measures what the options say."""
    options = parsed()
    if options.threads:
        os.environ["GPUPY_THREADS"] = str(options.threads)
    shared = processors.share()
    driver = options.driver or gpupy.current_driver()
    processors_of_both = f"{shared} processor{'s' if shared > 1 else ''}"
    print(f"Loops by NumPy and by gpupy on the driver {driver}, {processors_of_both}\n")
    return loop_nodes.report(options, started) if options.nodes else loops(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
