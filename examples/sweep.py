"""How the time of the distance map grows with the number of points: NumPy, gpupy and a C program.

Draws figure 5.2 of the thesis and prints its table 5.3 for the machine at hand. `cargo xtask demo --sweep`
starts it.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess

import numpy

import distance_map
import measure

COUNTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "benches" / "distance_map.c"
# No -ffast-math: the C program computes what the others do. It need not set errno, as they do not.
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off")
# Longer programs run fewer times.
PATIENCE = 4.0  # seconds
ROUNDS = 3
SCALE = 1.0e9
SEED = 1


class CProgram:
    """The distance map in C, compiled here; one thread."""

    def __init__(self, folder):
        compiler = os.environ.get("CC") or shutil.which("cc")
        if compiler is None:
            raise FileNotFoundError("no C compiler (`cc`)")
        self.path = folder / "distance_map_c"
        command = [compiler, *FLAGS, "-o", str(self.path), str(SOURCE), "-lm"]
        subprocess.run(command, check=True, capture_output=True, text=True)

    def run(self, points, size):
        """Returns the seconds that it took, without its start and its output, and the pixels."""
        text = "".join(f"{x!r} {y!r}\n" for x, y in points)
        command = [str(self.path), str(size), str(len(points))]
        done = subprocess.run(command, input=text.encode(), check=True, capture_output=True)
        pixels = numpy.frombuffer(done.stdout, dtype=numpy.float32).reshape(size, size)
        return float(done.stderr), pixels


def relative_error(reference, value):
    """Returns mean, deviation and maximum of the relative error; the absolute one where NumPy has zero."""
    reference, value = reference.astype("f8"), value.astype("f8")
    error = numpy.abs(value - reference) / numpy.where(reference == 0, 1, numpy.abs(reference))
    return error.mean(), error.std(), error.max()


def measured(gpupy, points, size, c_program):
    """Runs the three versions with the same points; returns one row of the results."""

    def shades(xp, dtype):
        return [distance_map.shades(xp, distance_map.distance_map(xp, dtype, points, size))]

    program = measure.Program("distance map", shades)
    once, _ = measure.timed(program, numpy, numpy.float32)
    seen = measure.compare(program, gpupy, ROUNDS if once < PATIENCE else 1)
    row = {
        "points": len(points),
        "numpy": seen.numpy,
        "gpupy_first": seen.first,
        "gpupy": seen.warm,
        "kernels_compiled": seen.counts["kernels_compiled"],
        "launches": seen.counts["launches"],
        "error": relative_error(seen.numpy_values[0], seen.gpupy_values[0]),
    }
    if c_program:
        runs = [c_program.run(points, size) for _ in range(ROUNDS)]
        row["c"] = statistics.median(seconds for seconds, _ in runs)
        row["c_error"] = relative_error(seen.numpy_values[0], runs[0][1])
    return row


def draw(rows, driver, size, path):
    """Writes the plot: time against the number of points, both logarithmic."""
    import matplotlib  # noqa: PLC0415

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    lines = [
        ("numpy", "o-", f"NumPy {numpy.__version__}"),
        ("gpupy_first", "^:", f"gpupy, first time ({driver['name']})"),
        ("gpupy", "^-", f"gpupy, warm ({driver['name']}: {driver['device']})"),
        ("c", "s-", f"C, one thread ({' '.join(FLAGS)})"),
    ]
    for key, style, label in lines:
        if key in rows[0]:
            axes.loglog([r["points"] for r in rows], [r[key] for r in rows], style, label=label)
    axes.set_xlabel("points")
    axes.set_ylabel("time in seconds")
    axes.set_title(f"Distance map, {size} × {size} pixels, float32")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def times(rows):
    """Returns the lines of the table of times."""
    heads = ("points", "NumPy", "gpupy first", "gpupy warm", "C", "kernels", "launches")
    lines = ["".join(f"{head:>13}" for head in heads)]
    for row in rows:
        cells = [
            row["points"],
            measure.duration(row["numpy"]),
            measure.duration(row["gpupy_first"]),
            measure.duration(row["gpupy"]),
            measure.duration(row["c"]) if "c" in row else "none",
            row["kernels_compiled"],
            row["launches"],
        ]
        lines.append("".join(f"{cell:>13}" for cell in cells))
    return lines


def errors(rows):
    """Returns the lines of the table of relative errors, times 10^9."""
    lines = [f"{'points':>13}{'mean':>13}{'deviation':>13}{'maximum':>13}{'maximum of C':>15}"]
    for row in rows:
        cells = "".join(f"{error * SCALE:>13.1f}" for error in row["error"])
        c_error = f"{row['c_error'][2] * SCALE:>15.1f}" if "c_error" in row else f"{'none':>15}"
        lines.append(f"{row['points']:>13}{cells}{c_error}")
    return lines


def run(gpupy, driver, size, folder, say):
    """Measures, draws and prints."""
    try:
        c_program = CProgram(folder.resolve())
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"without the C program: {getattr(error, 'stderr', None) or error}")
        c_program = None
    rows = []
    for count in COUNTS:
        say(f"sweep: {count} points")
        points = distance_map.random_points(count, size, SEED)
        rows.append(measured(gpupy, points, size, c_program))
    draw(rows, driver, size, folder / "figure_5_2.png")
    (folder / "sweep.json").write_text(json.dumps({"driver": driver, "size": size, "rows": rows}, indent=1))
    print(f"\nTime against the number of points, {size}² pixels (plot: {folder}/figure_5_2.png)")
    print("\n".join(times(rows)))
    print("\nRelative error against NumPy, times 10^9")
    print("\n".join(errors(rows)))
