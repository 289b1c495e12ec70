"""Short inner axes of every length, NumPy and gpupy in turns.

``python benches/short_axes.py [--rounds N] [--families A,B]``. Owns the families and the table: nanoseconds
an element by gpupy, and NumPy's time over it, for each length of the inner axis from 1 to 32, one row for a
family, so that a length that falls off from its neighbours is seen. Values are checked elsewhere
(``crates/driver-cpu/tests/short_axes.rs``). One thread, processor time, the least of all rounds.
"""

import argparse
import os
import time

os.environ.setdefault("GPUPY_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy

import gpupy

# Elements of each operand.
SIZE = 300_000
LENGTHS = range(1, 33)

RANDOM = numpy.random.default_rng(0)


def numbers(*shape):
    """Uniform float32."""
    return RANDOM.random(shape, dtype="f4")


def rows(k):
    """Rows of ``k`` numbers."""
    return numbers(SIZE // k, k)


def matrices(k):
    """Matrices of ``k`` by ``k`` numbers."""
    return numbers(SIZE // k**2, k, k)


def square(k):
    """A square image of as many blocks of ``k`` by ``k`` pixels as fit."""
    side = int(SIZE**0.5) // k * k
    return numbers(side, side)


def softmax(xp, x):
    """Softmax along rows."""
    e = xp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def block_means(xp, x, k):
    """The mean of each block."""
    m = len(x) // k
    return x.reshape(m, k, m, k).mean(axis=(1, 3))


# By name: the operands, and the line.
FAMILIES = {
    "x.sum(1)": (lambda k: [rows(k)], lambda xp, k, x: x.sum(1)),
    "x.sum(1), float64": (lambda k: [rows(k).astype("f8")], lambda xp, k, x: x.sum(1)),
    "x.max(1)": (lambda k: [rows(k)], lambda xp, k, x: x.max(1)),
    "x.any(1)": (lambda k: [rows(k) > 0.9], lambda xp, k, x: x.any(1)),
    "x.argmin(1)": (lambda k: [rows(k)], lambda xp, k, x: x.argmin(1)),
    "(x*x).sum(1)": (lambda k: [rows(k)], lambda xp, k, x: (x * x).sum(1)),
    "x - x.mean(1)": (lambda k: [rows(k)], lambda xp, k, x: x - x.mean(1, keepdims=True)),
    "softmax": (lambda k: [rows(k)], lambda xp, k, x: softmax(xp, x)),
    "block means": (lambda k: [square(k)], lambda xp, k, x: block_means(xp, x, k)),
    "x * w[:, None]": (lambda k: [rows(k), numbers(SIZE // k)], lambda xp, k, x, w: x * w[:, None]),
    "x[:, ::k] + x[:, 1::k]": (
        lambda k: [numbers(SIZE // 300, 300 * max(k, 2))],
        lambda xp, k, x: x[:, :: max(k, 2)] + x[:, 1 :: max(k, 2)],
    ),
    "cumsum(x, 1)": (lambda k: [rows(k)], lambda xp, k, x: xp.cumsum(x, 1)),
    "sort(x, 1)": (lambda k: [rows(k)], lambda xp, k, x: xp.sort(x, 1)),
    "sort(x, 0)": (lambda k: [rows(k).T.copy()], lambda xp, k, x: xp.sort(x, 0)),
    "argsort(x, 1)": (lambda k: [rows(k)], lambda xp, k, x: xp.argsort(x, 1)),
    "m @ v": (
        lambda k: [matrices(k), numbers(SIZE // k**2, k, 1)],
        lambda xp, k, m, v: m @ v,
    ),
    "a @ b": (lambda k: [matrices(k), matrices(k)], lambda xp, k, a, b: a @ b),
}


def seconds(line, k, given, xp):
    """The processor time of a line; what it gives is dropped before the next one."""
    begun = time.thread_time()
    made = line(xp, k, *given)
    if xp is gpupy:
        gpupy.evaluate(made)
    return time.thread_time() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--families", default=",".join(FAMILIES), help="parts of their names")
    parsed = parser.parse_args()
    wanted = parsed.families.split(",")
    print("| family |" + "".join(f" {k} |" for k in LENGTHS))
    print("|---|" + "---:|" * len(LENGTHS))
    for name, (operands, line) in FAMILIES.items():
        if not any(part in name for part in wanted):
            continue
        cells = []
        for k in LENGTHS:
            given = operands(k)
            sides = [(numpy, given), (gpupy, [gpupy.array(x) for x in given])]
            least = [float("inf")] * 2
            # The first rounds are for kernels.
            for number in range(parsed.rounds + 3):
                for side, (xp, arrays) in enumerate(sides):
                    took = seconds(line, k, arrays, xp)
                    if number >= 3:
                        least[side] = min(least[side], took)
            cells.append(f" {1e9 * least[1] / SIZE:.2f} ({least[0] / least[1]:.1f}) |")
        print(f"| `{name}` |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
