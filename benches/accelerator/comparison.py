"""The processes of the drivers, and the report of what they measured.

Owns `measure` and `report`. Invariants: what is compared ran in one process, in turns; a value of ours or by
hand that is further from float64 than the article's bound is said, and is the status. Not here: what a
process does (`worker.py`), the picture (`plot.py`).
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import gpupy
import loading
from gpupy._bench import table

FOLDER = pathlib.Path(__file__).resolve().parent
DRIVERS = ("cpu", "gl", "vulkan", "wgpu")
# Those with shaders by hand.
APIS = ("gl", "vulkan")
BOUND = 1e-6
QUICK = dict.fromkeys(loading.PROGRAMS, 64)


def measure(task, words, drivers):
    """Runs the programs on each driver that starts; yields the driver's device and rows, by its name."""
    chosen = [
        name for name, title in loading.PROGRAMS.items() if any(word in title.lower() for word in words)
    ]
    rows = {row["name"]: row for row in gpupy.drivers()}
    for driver in drivers:
        if not rows[driver]["starts"]:
            print(f"   {driver}: left out: {rows[driver]['reason']}", file=sys.stderr)
            continue
        yield {driver: _on(driver, task | {"programs": chosen})}


def _on(driver, task):
    with tempfile.TemporaryDirectory() as caches:
        own = {"GPUPY_DRIVER": driver, "GPUPY_PLACEMENT": "strict", "GPUPY_FALLBACK": "allow"}
        own |= {"XDG_CACHE_HOME": caches, "MESA_SHADER_CACHE_DIR": caches}
        process = subprocess.Popen(
            [sys.executable, FOLDER / "worker.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | own,
        )
        process.stdin.write(json.dumps(task))
        process.stdin.close()
        seen = {"rows": []}
        for line in process.stdout:
            said = json.loads(line)
            if "device" in said:
                seen |= said
                continue
            seen["rows"].append(said)
            print(f"   {driver}: {loading.PROGRAMS[said['program']]}", file=sys.stderr, flush=True)
        if process.wait():
            raise RuntimeError(f"the process of `{driver}` ended with status {process.returncode}")
        return seen


def columns(seen):
    """The sides of all processes: names, each with the rows of its process and its name there."""
    first = next(iter(seen))
    drivers = [(f"gpupy, {driver}", driver, "gpupy") for driver in seen]
    shaders = [(f"shader, {driver}", driver, "shader by hand") for driver in seen if driver in APIS]
    # What runs beside several drivers is shown once.
    once = [("loops", first, "by hand"), ("NumPy", first, "NumPy"), ("JAX", "cpu", "JAX")]
    gpus = [driver for driver in seen if "nvidia" in seen[driver]["device"].lower()][:1]
    once += [(f"{peer}, CUDA", gpu, peer) for gpu in gpus for peer in ("CuPy", "JAX")]
    found = [*once, *drivers, *shaders]
    return [(name, seen[driver]["rows"], side) for name, driver, side in found if driver in seen]


def speedups(seen):
    """How much faster than the loops by hand beside it each side is: by side, then by program."""
    return {
        name: {row["program"]: _speed(row, side) for row in rows if side in row["seconds"]}
        for name, rows, side in columns(seen)[1:]
    }


def report(seen, processors):
    """The lines of the report, in Markdown."""
    devices = ", ".join(f"{driver}: {of_driver['device']}" for driver, of_driver in seen.items())
    return [
        f"# Accelerator's ten programs on {processors} processors",
        "",
        f"{devices}. Medians of runs in turns, each driver in a process of its own, with strict placement; "
        "operands lie on the device and results stay there. Loops by hand in Rust stand for the article's "
        "C++; for the product of two matrices they are NumPy's own.",
        "",
        "## Figures 7 and 8: speed relative to loops by hand",
        "",
        *_grid(seen, lambda row, side: table.three(_speed(row, side))),
        "",
        "By processor time, of all threads together, which another program on the machine changes less, and "
        "which a GPU has none of:",
        "",
        *_grid(seen, lambda row, side: table.three(_speed(row, side, "busy"))),
        "",
        "## Warm times",
        "",
        *_grid(seen, lambda row, side: table.duration(statistics.median(row["seconds"][side]))),
        "",
        "## First times",
        "",
        "In a process that has run other programs, and without anything that was compiled before.",
        "",
        *_grid(seen, lambda row, side: table.duration(row["first"][side])),
        "",
        "## Launches",
        "",
        "Where NumPy did something, its function's name stands behind.",
        "",
        *_grid(seen, _launches),
        "",
        "## Errors",
        "",
        "The largest difference to NumPy in float64, as a part of the largest value.",
        "",
        *_grid(seen, lambda row, side: f"{row['errors'][side]:.1g}"),
        "",
        *wrong(seen),
    ]


def _speed(row, side, kind="seconds"):
    seconds = row[kind]
    return statistics.median(seconds["by hand"]) / statistics.median(seconds[side])


def _launches(row, side):
    counts = {"gpupy": sum(row["launches"].values()), "shader by hand": row["shader_launches"]}
    if side not in counts:
        return ""
    return " ".join((str(counts[side]), *(row["to_numpy"] if side == "gpupy" else ())))


def _grid(seen, cell):
    """A line for each program, a column for each side."""
    sides = columns(seen)
    lines = []
    for name, title in loading.PROGRAMS.items():
        of_program = [([row for row in rows if row["program"] == name], side) for _, rows, side in sides]
        if any(rows for rows, _ in of_program):
            cells = (cell(row, side) if side in row["seconds"] else "" for (row,), side in of_program)
            lines.append((title, *cells))
    return table.aligned(("program", *(name for name, *_ in sides)), lines)


def wrong(seen):
    """A line for each result of ours, or by hand, that is not within the article's bound."""
    return [
        f"- WRONG: {loading.PROGRAMS[row['program']]} by {name}: the error is {row['errors'][side]:.2g}, "
        f"and is to be less than {BOUND:g}."
        for name, rows, side in columns(seen)
        if side not in ("NumPy", "CuPy", "JAX")
        for row in rows
        if side in row["errors"] and not row["errors"][side] < BOUND
    ]
