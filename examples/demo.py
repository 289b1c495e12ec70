"""The main job: a shaded sphere, a distance map, and heat in a plate, each by NumPy and by gpupy.

`cargo xtask demo` builds gpupy and starts this. Pictures are written to `out/`.
"""

import argparse
import pathlib
import sys

import numpy

import distance_map
import gpupy
import heat
import measure
import pictures
import shaded_sphere
import sweep

SEED = 1
ROUNDS = 5
STEPS = 1000  # of heat.py, as it is by itself


def programs(size, points):
    """Returns the programs, as they are in `shaded_sphere.py`, `distance_map.py` and `heat.py`."""
    places = distance_map.random_points(points, size, SEED)

    def sphere(xp, dtype):
        return shaded_sphere.shaded_sphere(xp, dtype, size)

    def shades(xp, dtype):
        return [distance_map.shades(xp, distance_map.distance_map(xp, dtype, places, size))]

    def warmth(xp, _):
        # An ordinary program has one module, and its own dtype.
        heat.np = xp
        state = heat.start(size)
        for _ in range(STEPS):
            heat.step(*state)
        return [heat.result(*state)]

    return [
        measure.Program(f"shaded sphere {size}²", sphere),
        measure.Program(f"distance map {size}², {points} points", shades),
        measure.Program(f"heat {size}², {STEPS} steps", warmth),
    ]


def write_pictures(size, points, folder):
    """Runs the programs to their ends, which are pictures, by NumPy and by gpupy; heat would look alike."""
    sphere, shades, _ = programs(size, points)
    rows = []
    for name, program, draw in (
        ("shaded_sphere", sphere, lambda values: shaded_sphere.picture(values, size)),
        ("distance_map", shades, lambda values: distance_map.picture(values[0], size)),
    ):
        row = []
        for by, module, dtype in (("numpy", numpy, numpy.float32), ("gpupy", gpupy, gpupy.gpufloat32)):
            with numpy.errstate(invalid="ignore"):
                # The arrays go to the imaging library as they are: it reads gpupy's own buffers.
                image = draw(program.run(module, dtype))
            image.save(folder / f"{name}_{by}.png")
            row.append((f"{name.replace('_', ' ')}, {'NumPy' if by == 'numpy' else 'gpupy'}", image))
        rows.append(row)
    pictures.side_by_side(rows).save(folder / "side_by_side.png")


def table(comparisons, driver):
    """Returns the lines of the table, one column for each program."""

    def line(title, cell):
        return f"{title:<20}" + "".join(f"{cell(c):>34}" for c in comparisons)

    return [
        line("program", lambda c: c.name),
        line("driver", lambda c: driver["name"]),
        line("device", lambda c: driver["device"][:32]),
        line("NumPy", lambda c: measure.duration(c.numpy)),
        line("gpupy, first time", lambda c: measure.duration(c.first)),
        line("gpupy, warm", lambda c: measure.duration(c.warm)),
        line("warm against NumPy", lambda c: f"{c.numpy / c.warm:.1f} times as fast"),
        line("largest difference", lambda c: f"{c.difference:.3g}"),
        line("kernels compiled", lambda c: c.counts["kernels_compiled"]),
        line("launches", lambda c: c.counts["launches"]),
        line("bytes to the device", lambda c: measure.amount(c.counts["bytes_uploaded"])),
        line("bytes to the host", lambda c: measure.amount(c.counts["bytes_downloaded"])),
        line("fallbacks", lambda c: c.counts["fallbacks"]),
    ]


def announce(driver):
    """Prints the device of the programs, and why other drivers do not start."""
    print(f"   driver {driver['name']} on {driver['device']}")
    others = [other for other in gpupy.drivers() if not other["starts"]]
    for other in others:
        print(f"   {other['name']} does not start here: {other['reason']}")
    if others and driver["name"] == "soft":
        print("   without them this runs on the reference driver, one operation at a time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", help="a driver's name; by default the best that starts")
    parser.add_argument("--points", type=int, default=100, help="random points of the distance map")
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--sweep", action="store_true", help="draw time against the number of points")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder to write to")
    options = parser.parse_args()
    for name in ("points", "size"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(options, name)}")

    try:
        driver = measure.driver_in_use(gpupy, options.driver)
    except (ValueError, RuntimeError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    announce(driver)
    options.out.mkdir(parents=True, exist_ok=True)

    def say(text):
        print(f"   {text}", flush=True)

    comparisons = [
        measure.compare(program, gpupy, ROUNDS, say) for program in programs(options.size, options.points)
    ]
    say("pictures")
    write_pictures(options.size, options.points, options.out)
    print()
    print("\n".join(table(comparisons, driver)))
    print("\nTimes are up to the values in host memory; NumPy and warm: median of runs in turns.")
    print("Counts are those of the first run.")
    print(f"Pictures: {options.out}/side_by_side.png, and each by itself beside it")
    if options.sweep:
        sweep.run(gpupy, driver, options.size, options.out, say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
