"""Library operations, NumPy and gpupy in turns: transforms, decompositions, random numbers, counting, order.

``python benches/library.py [--rounds N] [--rows WORD,…]``. Owns the rows, each with the ratio that is aimed
at: NumPy's time over gpupy's. Both sides are read to the end, with one thread, and BLAS's as many as it
takes for itself. The least time of all rounds counts. Not here: values (the tests have them), many sizes of
one family (``families.py``).
"""

import argparse
import os
import time

os.environ.setdefault("GPUPY_THREADS", "1")
os.environ.setdefault("GPUPY_DRIVER", "cpu")

import numpy

import gpupy

RANDOM = numpy.random.default_rng(0)
MANY, MILLION = 10_000_000, 1_000_000
# Least time of a side in a round, in seconds.
LEAST = 2e-3


def normal(*shape):
    """Operands that no row shares."""
    return [RANDOM.standard_normal(shape)]


def positive(*shape):
    """Symmetric matrices, positive definite."""
    a = RANDOM.standard_normal(shape)
    return [a @ a.swapaxes(-1, -2) + shape[-1] * numpy.eye(shape[-1])]


def symmetric(*shape):
    """Symmetric matrices."""
    a = RANDOM.standard_normal(shape)
    return [a + a.swapaxes(-1, -2)]


def systems(count, k):
    """Systems with one right side each."""
    return [RANDOM.standard_normal((count, k, k)), RANDOM.standard_normal((count, k, 1))]


def complex_ones(*shape):
    """Complex numbers."""
    return [RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)]


def _decompositions():
    for k in (100, 500, 1000):
        yield (
            f"cholesky {k}²",
            2.0 if k == 1000 else 0.95,
            positive(k, k),
            lambda np, a: np.linalg.cholesky(a),
        )
        yield f"qr {k}²", 0.95, normal(k, k), lambda np, a: np.linalg.qr(a)
        yield f"svd {k}²", 0.95, normal(k, k), lambda np, a: np.linalg.svd(a)
        yield f"eigh {k}²", 0.95, symmetric(k, k), lambda np, a: np.linalg.eigh(a)
        both = [*normal(k, k), *normal(k)]
        yield f"solve {k}²", 0.95, both, lambda np, a, b: np.linalg.solve(a, b)
        yield f"inv {k}²", 0.95, normal(k, k), lambda np, a: np.linalg.inv(a)


def _batches():
    for k, count in ((3, 100_000), (4, 50_000), (8, 10_000), (16, 2_000), (30, 500)):
        aim = 5.0 if k == 3 else 0.95
        many = f"{count} of {k}²"
        yield f"solve {many}", aim, systems(count, k), lambda np, a, b: np.linalg.solve(a, b)
        yield f"inv {many}", aim, normal(count, k, k), lambda np, a: np.linalg.inv(a)
        yield f"det {many}", aim, normal(count, k, k), lambda np, a: np.linalg.det(a)
        yield f"eigh {many}", aim, symmetric(count, k, k), lambda np, a: np.linalg.eigh(a)
        yield f"cholesky {many}", aim, positive(count, k, k), lambda np, a: np.linalg.cholesky(a)


def _transforms():
    yield "fft 2²⁰", 2.0, complex_ones(1 << 20), lambda np, x: np.fft.fft(x)
    yield "rfft 2²⁰", 2.0, normal(1 << 20), lambda np, x: np.fft.rfft(x)
    yield "irfft 2²⁰", 2.0, complex_ones((1 << 19) + 1), lambda np, x: np.fft.irfft(x)
    yield "fft 1000² rows", 1.2, complex_ones(1000, 1000), lambda np, x: np.fft.fft(x)
    yield "fft 1000² columns", 1.2, complex_ones(1000, 1000), lambda np, x: np.fft.fft(x, axis=0)
    yield "fft2 1000²", 1.2, complex_ones(1000, 1000), lambda np, x: np.fft.fft2(x)
    yield "rfft2 1000²", 1.2, normal(1000, 1000), lambda np, x: np.fft.rfft2(x)
    yield "fft2 1000² float32", 1.2, [normal(1000, 1000)[0].astype("f4")], lambda np, x: np.fft.fft2(x)
    yield "fft 64", 0.8, complex_ones(64), lambda np, x: np.fft.fft(x)
    yield "rfft 64", 0.8, normal(64), lambda np, x: np.fft.rfft(x)
    yield "fft 1009", 0.95, complex_ones(1009), lambda np, x: np.fft.fft(x)
    yield "fft 100003", 0.95, complex_ones(100_003), lambda np, x: np.fft.fft(x)


def _random():
    def draw(line):
        return lambda np: line(np.random.default_rng(1))

    def by_philox(line):
        return lambda np: line(np.random.Generator(np.random.Philox(1)))

    yield "random 10⁷", 1.0, [], draw(lambda r: r.random(MANY))
    yield "standard_normal 10⁷", 1.5, [], draw(lambda r: r.standard_normal(MANY))
    yield "standard_normal 10⁷ f4", 1.5, [], draw(lambda r: r.standard_normal(MANY, dtype="f4"))
    yield "normal 10⁷", 1.5, [], draw(lambda r: r.normal(2.0, 3.0, MANY))
    yield "normal 10⁷ Philox", 1.5, [], by_philox(lambda r: r.normal(2.0, 3.0, MANY))
    yield "standard_exponential 10⁷", 1.0, [], draw(lambda r: r.standard_exponential(MANY))
    yield "exponential 10⁷", 1.0, [], draw(lambda r: r.exponential(2.0, MANY))
    yield "integers(1000) 10⁷", 2.0, [], draw(lambda r: r.integers(1000, size=MANY))
    yield "integers(1024) 10⁷", 2.0, [], draw(lambda r: r.integers(1024, size=MANY))
    yield "integers(10⁶) 10⁷ Philox", 2.0, [], by_philox(lambda r: r.integers(MILLION, size=MANY))
    yield "integers(100) 10⁷ u1", 2.0, [], draw(lambda r: r.integers(100, size=MANY, dtype="u1"))
    yield "integers(10⁶) 10⁷ i4", 2.0, [], draw(lambda r: r.integers(MILLION, size=MANY, dtype="i4"))
    yield "integers(10¹²) 10⁷", 2.0, [], draw(lambda r: r.integers(10**12, size=MANY))
    yield "permutation 10⁶", 0.95, [], draw(lambda r: r.permutation(MILLION))
    yield "choice(10⁶, 10⁶)", 0.95, [], draw(lambda r: r.choice(MILLION, MILLION))
    generators = {np: np.random.default_rng(3) for np in (numpy, gpupy)}
    yield "standard_normal 10", 0.8, [], lambda np: generators[np].standard_normal(10)
    yield "normal 10", 0.8, [], lambda np: generators[np].normal(0.0, 1.0, 10)
    yield "integers(6) 10", 0.8, [], lambda np: generators[np].integers(0, 6, 10)
    yield "random 10", 0.8, [], lambda np: generators[np].random(10)
    yield "random()", 0.8, [], lambda np: generators[np].random()
    yield "integers(6)", 0.8, [], lambda np: generators[np].integers(6)


def _counting():
    x = normal(MILLION)
    i = [RANDOM.integers(0, 1000, MILLION)]
    edges = [numpy.sort(RANDOM.standard_normal(1000)), *x]
    sorted_many = [numpy.sort(RANDOM.standard_normal(MILLION)), *x]
    yield "histogram", 1.3, x, lambda np, x: np.histogram(x)
    yield "histogram 100 bins", 1.3, x, lambda np, x: np.histogram(x, 100)
    yield "bincount", 1.3, i, lambda np, i: np.bincount(i)
    yield "bincount weights", 1.3, [*i, *x], lambda np, i, x: np.bincount(i, x)
    yield "searchsorted 10³", 1.3, edges, lambda np, a, x: np.searchsorted(a, x)
    yield "searchsorted 10⁶", 1.3, sorted_many, lambda np, a, x: np.searchsorted(a, x)
    yield "median", 1.3, x, lambda np, x: np.median(x)
    yield "percentile", 1.3, x, lambda np, x: np.percentile(x, [5.0, 95.0])
    yield "unique", 1.3, x, lambda np, x: np.unique(x)
    yield "unique ints", 1.3, i, lambda np, i: np.unique(i)
    yield "unique counts", 1.3, i, lambda np, i: np.unique(i, return_counts=True)
    yield "partition", 1.3, x, lambda np, x: np.partition(x, 500_000)
    yield "argpartition", 1.3, x, lambda np, x: np.argpartition(x, 500_000)


GROUPS = (_transforms, _decompositions, _batches, _random, _counting)


def seconds(line, given, xp, times, clock):
    """The time of a line and of reading all that it gives."""
    begun = clock()
    for _ in range(times):
        made = line(xp, *given)
        if xp is gpupy:
            for each in made if isinstance(made, tuple) else (made,):
                numpy.asarray(each)
    return (clock() - begun) / times


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default="", help="parts of their names")
    parsed = parser.parse_args()
    wanted = parsed.rows.split(",")
    print("| row | NumPy, ms | gpupy, ms | ratio | aim |\n|---|---:|---:|---:|---:|")
    for group in GROUPS:
        # Other programs count for less in the time of this thread; BLAS has threads of its own.
        clock = time.perf_counter if group is _decompositions else time.thread_time
        for name, aim, operands, line in group():
            if not any(part in name for part in wanted):
                continue
            sides = [(numpy, operands), (gpupy, [gpupy.array(x) for x in operands])]
            least = [float("inf")] * 2
            # The first calls compile.
            once = [min(seconds(line, given, xp, 1, clock) for _ in range(2)) for xp, given in sides]
            rounds = parsed.rounds if max(once) < 0.5 else min(parsed.rounds, 3)
            for _ in range(rounds):
                for side, (xp, given) in enumerate(sides):
                    took = seconds(line, given, xp, max(1, round(LEAST / once[side])), clock)
                    least[side] = min(least[side], took)
            ratio = least[0] / least[1]
            mark = "" if ratio >= aim else " *"
            print(
                f"| {name} | {1e3 * least[0]:.4g} | {1e3 * least[1]:.4g} | {ratio:.2f}{mark} | {aim} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
