"""The simulations of `examples/` by NumPy and by gpupy in turns: `cargo xtask bench --simulations` starts it.

Owns the sizes and the table. Each program is imported for each side, with gpupy in NumPy's place and with its
step recorded by `gpupy.jit` besides, so what is timed is what the example says. A round is some steps from a
fresh start, timed until their results are computed. Invariant: all sides end with the same values, or the
status is 1."""

import argparse
import importlib.util
import pathlib
import statistics
import sys
import time

import numpy

import gpupy
from gpupy._bench import table

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"


class Operations:
    """Some twenty operations on three arrays, in which there is little besides calls."""

    def __init__(self, module, *, is_recorded):
        self.np = module
        if is_recorded:
            self.step = gpupy.jit(self.step)

    def start(self, size):
        """Three arrays."""
        a = self.np.linspace(0, 1, size)
        return a, a * 0.5, a + 1

    @staticmethod
    def step(a, b, c):
        """The operations, eighteen for x and what is written of it."""
        x, y, z = a, b, c
        for _ in range(3):
            x = x * y + z
            y = y - x * z
            z = z * 0.5 + y
        a[...] = 1 / (x * x + 1)

    def result(self, *state):
        """What the test compares."""
        return state[0]


# What makes a step touch about 10^6 elements, and about 10^3; of calls alone, 10.
SIZES = {
    "operations": (100_000, 10),
    "heat": (1000, 32),
    "life": (1000, 32),
    "n_body": (1000, 32),
    "k_means": (62_500, 62),
    "mandelbrot": (1000, 32),
}
STEPS = (10, 300)
# The ratios that are aimed at where there are few elements: as it is, and recorded.
AIM, AIM_OF_JIT = 1.3, 2

# As a part of the largest value: sums and powers differ in their last bits, which grows from step to step.
TOLERANCE = 1e-6


def load(name, module, *, is_recorded=False):
    """An example by an array module."""
    if name == "operations":
        return Operations(module, is_recorded=is_recorded)
    spec = importlib.util.spec_from_file_location(f"{name} by {module.__name__}", EXAMPLES / f"{name}.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.np = module
    if is_recorded:
        program.step = gpupy.jit(program.step)
    return program


def run(program, size, steps):
    """The seconds of a step, and the result."""
    state = program.start(size)
    if program.np is gpupy:
        gpupy.evaluate(*state)
    before = time.perf_counter()
    for _ in range(steps):
        program.step(*state)
    if program.np is gpupy:
        gpupy.evaluate(*state)
    seconds = (time.perf_counter() - before) / steps
    return seconds, numpy.asarray(program.result(*state))


def compare(name, size, steps, rounds):
    """The median seconds of a step by each side, and the largest difference as a part of the largest
    value."""
    programs = [load(name, numpy), load(name, gpupy), load(name, gpupy, is_recorded=True)]
    times, results = [[] for _ in programs], [None for _ in programs]
    for number in range(rounds + 1):
        for side, program in enumerate(programs):
            seconds, results[side] = run(program, size, steps)
            # The first round is for caches and kernels.
            if number:
                times[side].append(seconds)
    theirs, *ours = (result.astype("f8") for result in results)
    apart = max(abs(theirs - result).max() for result in ours) / abs(theirs).max()
    return *map(statistics.median, times), float(apart)


def main():
    """Times the programs; the status is 1 if a value was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="runs of each side")
    parser.add_argument("--programs", default="", help="words, one of which a program has in its name")
    parser.add_argument("--small", action="store_true", help="only steps of few elements")
    options = parser.parse_args()

    sys.path.insert(0, str(EXAMPLES))
    words = options.programs.split(",")
    rows, right = [], True
    for name, sizes in SIZES.items():
        if not any(word in name for word in words):
            continue
        for size, steps in list(zip(sizes, STEPS, strict=True))[options.small :]:
            *seconds, apart = compare(name, size, steps, options.rounds)
            right &= apart <= TOLERANCE
            theirs, *ours = seconds
            ratios = (table.three(theirs / own) for own in ours)
            rows.append(
                (f"{name.replace('_', ' ')}, {size}", *map(table.duration, seconds), *ratios, f"{apart:.1g}")
            )
            print("   " + "  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(f"A step by NumPy and by gpupy on the driver {gpupy.current_driver()}\n")
    heads = ("program, size", "NumPy", "gpupy", "jit", "NumPy / gpupy", "NumPy / jit", "apart")
    print("\n".join(table.aligned(heads, rows)))
    if options.small:
        print(f"\nAimed at is {AIM} in each row, by jit {AIM_OF_JIT}.")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
