"""Times functions that `gpupy.kernel` compiles beside numba's: `cargo xtask bench --functions` starts it.

Each function is the examples' own. Numba's are its text by `@njit(parallel=True)` over a loop of `prange`,
and by `@vectorize(target="parallel")`; all sides have the same processors, and their runs take turns. "First"
is the first call of a function of the same text in a process that has computed other things before. Not here:
pictures (the examples).
"""

import argparse
import pathlib
import statistics
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

from processors import share

PROCESSORS = share()

# Only now: each side counts the processors when it is imported.
import numba  # noqa: E402
import numpy as np  # noqa: E402

import black_scholes  # noqa: E402
import collatz  # noqa: E402
import escape_time  # noqa: E402
import gpupy  # noqa: E402


class Case:
    """A function, the arrays that it is called with, and numba's types of these and of its result."""

    def __init__(self, name, kernel, helpers, arrays, types):
        self.name, self.kernel, self.arrays, self.types = name, kernel, arrays, types
        self.text = kernel.__wrapped__
        names = {key: numba.njit(value) for key, value in helpers.items()}
        self.text_for_numba = type(self.text)(self.text.__code__, {**self.text.__globals__, **names})

    def numba_sides(self):
        """Numba's functions, which are compiled when they are called first."""
        scalar, count = numba.njit(self.text_for_numba), len(self.arrays)
        result = np.dtype(str(self.types.return_type))
        given = ", ".join(f"a{k}" for k in range(count))
        items = ", ".join(f"a{k}[i]" for k in range(count))
        names = {"f": scalar, "np": np, "numba": numba, "result": result}
        text = f"def loop({given}):\n    out = np.empty(a0.shape[0], result)\n"
        text += f"    for i in numba.prange(a0.shape[0]):\n        out[i] = f({items})\n    return out\n"
        exec(text, names)
        loop = numba.njit(parallel=True)(names["loop"])
        vectorized = []

        def by_vectorize(*arrays):
            if not vectorized:
                vectorized.append(numba.vectorize([self.types], target="parallel")(self.text_for_numba))
            return vectorized[0](*arrays)

        return {"prange": loop, "vectorize": by_vectorize}


def cases(size):
    """The functions with flat arrays of so many points in each direction."""
    n, f4 = size * size, numba.float32
    x, y = (np.ascontiguousarray(np.asarray(part)) for part in escape_time.plane(size))
    x, y = (np.ascontiguousarray(part).ravel() for part in np.broadcast_arrays(x, y))
    spot, strike, years, volatility, _ = black_scholes.options_of(size)
    spot, years = (
        np.ascontiguousarray(part).ravel()
        for part in np.broadcast_arrays(np.asarray(spot), np.asarray(years))
    )
    others = [np.full(n, number, np.float32) for number in (strike, volatility)]
    options = [spot, others[0], years, others[1], np.arange(n) % 2 == 0]
    distribution = {"distribution": black_scholes.distribution}
    return [
        Case("escape times, 200 turns", escape_time.escape_time, {}, [x, y], numba.int32(f4, f4)),
        Case("Collatz lengths", collatz.length, {}, [np.arange(1, n + 1)], numba.int32(numba.int64)),
        Case(
            "Black and Scholes", black_scholes.price, distribution, options, f4(f4, f4, f4, f4, numba.boolean)
        ),
    ]


def timed(function, *arrays):
    """Seconds of a call that ends with its elements computed, and the result."""
    start = time.perf_counter()
    result = function(*arrays)
    if isinstance(result, gpupy.ndarray):
        gpupy.evaluate(result)
    return time.perf_counter() - start, result


def compare(case, rounds):
    """The row of a function: milliseconds of each side, first and median, and the worst difference."""
    sides = case.numba_sides()
    sides["gpupy"] = gpupy.kernel(case.text)
    ours = [gpupy.asarray(array) for array in case.arrays]
    first, times, results = {}, {name: [] for name in sides}, {}
    for name, side in sides.items():
        first[name], results[name] = timed(side, *(ours if name == "gpupy" else case.arrays))
    for _ in range(rounds):
        for name, side in sides.items():
            # A value that is alive answers an equal call at once.
            results.pop(name, None)
            seconds, results[name] = timed(side, *(ours if name == "gpupy" else case.arrays))
            times[name].append(seconds)
    wanted = np.asarray(results["prange"])
    differ = np.count_nonzero(~np.isclose(np.asarray(results["gpupy"]), wanted, rtol=1e-4, atol=1e-4))
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    best = min(medians["prange"], medians["vectorize"])
    cells = [
        f"{1e3 * first[name]:.1f} / {1e3 * medians[name]:.1f}" for name in ("prange", "vectorize", "gpupy")
    ]
    print(f"| {case.name} | {' | '.join(cells)} | {best / medians['gpupy']:.2f} | {differ} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="runs of each side")
    parser.add_argument("--size", type=int, default=1000, help="points in each direction")
    options = parser.parse_args()

    np.asarray(gpupy.ones((64, 64)) + 1)
    print(
        f"{PROCESSORS} processors, {options.size}² points; milliseconds, first call / median of the others\n"
    )
    print("| function | numba, prange | numba, vectorize | gpupy, cpu | best of numba's / gpupy's | differ |")
    print("|---|---|---|---|---|---|")
    for case in cases(options.size):
        compare(case, options.rounds)


if __name__ == "__main__":
    main()
