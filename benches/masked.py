"""Arithmetic of masked arrays by NumPy and by gpupy in turns: `python benches/masked.py [--rounds N]`.

Each line is computed with 10⁶ float64 elements, a seventh and a fifth of which are masked; data and mask
are computed before the clock stops, in one flush. Medians of rounds. What is computed is checked elsewhere
(`crates/gpupy-py/tests/test_masked.py`). Not here: what other calls cost (`python -m gpupy bench`).
"""

import argparse
import statistics
import time

import numpy

import gpupy

SIZE = 10**6
LINES = {
    "a + b": lambda ma, a, b: a + b,
    "a / b": lambda ma, a, b: a / b,
    "a * b + a": lambda ma, a, b: a * b + a,
    "sqrt(a * a + b * b) - a / b": lambda ma, a, b: ma.sqrt(a * a + b * b) - a / b,
    "(a - b).sum()": lambda ma, a, b: (a - b).sum(),
    "a.mean()": lambda ma, a, b: a.mean(),
    "exp(-a) * b": lambda ma, a, b: ma.exp(-a) * b,
}


def operands(xp):
    """The two masked arrays."""
    values = (numpy.linspace(0.1, 1, SIZE), numpy.linspace(2, 3, SIZE))
    masks = (numpy.arange(SIZE) % 7 == 0, numpy.arange(SIZE) % 5 == 0)
    return [xp.ma.array(xp.array(x), mask=xp.array(m)) for x, m in zip(values, masks, strict=True)]


def seconds(xp, line, given):
    """The time of a line; what it gives is dropped before the next one."""
    begun = time.perf_counter()
    made = line(xp.ma, *given)
    parts = [getattr(made, "_data", made), getattr(made, "_mask", None)]
    gpupy.evaluate(*[part for part in parts if isinstance(part, (gpupy.ndarray, gpupy.scalar))])
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    both = [(xp, operands(xp)) for xp in (numpy, gpupy)]
    print("| line | NumPy, ms | gpupy, ms | ratio |\n|---|---:|---:|---:|")
    for name, line in LINES.items():
        times = [[], []]
        for _ in range(rounds):
            for into, (xp, given) in zip(times, both, strict=True):
                into.append(seconds(xp, line, given) * 1e3)
        theirs, ours = map(statistics.median, times)
        print(f"| `{name}` | {theirs:.2f} | {ours:.2f} | {theirs / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
