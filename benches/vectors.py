"""Programs in vectors beside the same in components by hand, in turns: ``python benches/vectors.py``.

Owns the programs and the table: milliseconds of a run until its results are computed, and microseconds of its
recording, both by hand and in vectors, medians of all rounds. Invariant: after the first round both have the
same values, or the status is 1.
"""

import argparse
import pathlib
import statistics
import sys
import time

import numpy

import gpupy
from gpupy.vectors import vec3

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

import n_body_in_vectors
import shaded_sphere
import sphere_in_vectors

# Runs of a round, by the bodies that there are.
BODIES = {32: 100, 300: 20, 1000: 5}
PIXELS = (128, 512, 1024)


def sphere(size):
    """A lit sphere, by hand and in vectors."""
    yield lambda: shaded_sphere.shaded_sphere(gpupy, gpupy.gpufloat32, size)
    yield lambda: sphere_in_vectors.sphere(size)


def bodies(count, dtype):
    """Bodies that attract each other, by hand and in vectors; a run goes on where the one before ended."""
    masses, places, speeds = n_body_in_vectors.start(count)
    masses, places, speeds = masses.astype(dtype), places.astype(dtype), speeds.astype(dtype)
    parts = [[part.copy() for part in (v.x, v.y, v.z)] for v in (places, speeds)]
    places, speeds = (vec3(*(part.copy() for part in (v.x, v.y, v.z))) for v in (places, speeds))

    def by_hand():
        n_body_in_vectors.step_by_hand(masses, *parts)
        return [*parts[0], *parts[1]]

    def in_vectors():
        n_body_in_vectors.step(masses, places, speeds)
        return [places.array, speeds.array]

    yield by_hand
    yield in_vectors


def flat(results):
    """All components, one after another."""
    parts = [numpy.array(part) for part in results]
    planes = [numpy.moveaxis(part, -1, 0) if part.shape[-1] == 3 else part for part in parts]
    return numpy.concatenate(planes, None)


def compare(sides, runs, rounds):
    """Medians of a run and of its recording, by side, and whether both end alike."""
    sides = list(sides)
    whole, recording, ends, is_alike = [[], []], [[], []], [None, None], True
    for number in range(rounds + 1):
        for side, run in enumerate(sides):
            began = time.perf_counter()
            for _ in range(runs):
                ends[side] = run()
            recorded = time.perf_counter()
            gpupy.evaluate(*ends[side])
            ended = time.perf_counter()
            # The first round is for kernels, and for what is compared.
            if number:
                whole[side].append((ended - began) / runs)
                recording[side].append((recorded - began) / runs)
        if not number:
            is_alike = numpy.allclose(*map(flat, ends), rtol=1e-3, atol=1e-3)
    return map(statistics.median, whole), map(statistics.median, recording), is_alike


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default="auto", help="which driver evaluates")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each side")
    options = parser.parse_args()

    gpupy.use(options.driver)
    print(f"Driver {gpupy.current_driver()}: ms by hand and in vectors, their ratio; of recording, µs\n")
    programs = [(f"sphere, {size}", sphere(size), 1) for size in PIXELS]
    for count, runs in BODIES.items():
        programs += [(f"n-body, {count} {d}", bodies(count, d), runs) for d in ("float32", "float64")]
    right = True
    for name, sides, runs in programs:
        with numpy.errstate(invalid="ignore"):
            (hand, vectors), recording, is_alike = compare(sides, runs, options.rounds)
        right &= is_alike
        figures = f"{hand * 1e3:10.3f}{vectors * 1e3:10.3f}{vectors / hand:7.2f}"
        words = "  ".join(f"{seconds * 1e6:.0f}" for seconds in recording)
        print(f"{name:24}{figures}   {words}{'' if is_alike else '   other values'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
