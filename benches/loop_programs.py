"""Programs that are loops over elements and rows, as people write them with NumPy.

``python benches/loop_programs.py 5`` prints a line of JSON with the seconds of each program, of its first
run and the best of five; run by ``python -m gpupy`` its loops are compiled. Each program is a function of
arrays, and a function that makes them. Not here: the comparison (``compiled_loops.py``).
"""

import json
import math
import sys
import time

import numpy as np


def nussinov(seq, table):
    n = seq.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    pairs = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pairs)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                    + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip
    return a


def smith_waterman(a, b, table):
    best = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = table[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            table[i, j] = max(0, match, table[i - 1, j] - 2, table[i, j - 1] - 2)
            best = max(best, table[i, j])
    return table


def levenshtein(a, b, table):
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table


def sieve(is_prime):
    n = len(is_prime)
    i = 2
    while i * i < n:
        if is_prime[i]:
            j = i * i
            while j < n:
                is_prime[j] = False
                j += i
        i += 1
    return is_prime


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[k, j]
            a[i, j] = s / a[j, j]
        for j in range(i, n):
            s = a[i, j]
            for k in range(i):
                s -= a[i, k] * a[k, j]
            a[i, j] = s
    return a


def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


def csr_product(starts, columns, values, x, y):
    for i in range(len(y)):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            s += values[k] * x[columns[k]]
        y[i] = s
    return y


def mandelbrot(counts, most):
    height, width = counts.shape[0], counts.shape[1]
    for row in range(height):
        for column in range(width):
            cx, cy = -2.0 + 2.5 * column / width, -1.25 + 2.5 * row / height
            x, y, n = 0.0, 0.0, 0
            while n < most and x * x + y * y < 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                n += 1
            counts[row, column] = n
    return counts


def conway(steps, cells, after):
    n, m = cells.shape[0], cells.shape[1]
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                alive = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            alive += cells[(i + di) % n, (j + dj) % m]
                after[i, j] = 1 if alive == 3 or (alive == 2 and cells[i, j] == 1) else 0
        for i in range(n):
            for j in range(m):
                cells[i, j] = after[i, j]
    return cells


def random_walk(steps, state, path):
    x = 0
    for i in range(steps):
        state = (1103515245 * state + 12345) % 2147483648
        if state >= 1073741824:
            x += 1
        else:
            x -= 1
        path[i] = x
    return path


def recurrence(x, y):
    previous = 0.0
    for i in range(len(x)):
        previous = 0.9 * previous + 0.1 * x[i]
        y[i] = previous
    return y


def gauss_laplace(a, b):
    n = a.shape[0]
    for i in range(1, n):
        for j in range(1, n):
            b[i, j] = (b[i - 1, j] + b[i, j - 1] + math.exp(-a[i, j])) / 3
    return b


def elimination(a):
    n = a.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return a


def thomas(c, d):
    n = d.shape[0]
    for k in range(1, n):
        d[k, :] = (d[k, :] + d[k - 1, :]) * c[k]
    for k in range(n - 2, -1, -1):
        d[k, :] += c[k] * d[k + 1, :]
    return d


def rank_update(alpha, a, c):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return c


def _matrix(np, n):
    rng = np.random.default_rng(1)
    return rng.random((n, n)) + n * np.eye(n)


def _sparse(np, n, each):
    rng = np.random.default_rng(2)
    starts = np.arange(n + 1) * each
    return starts, rng.integers(0, n, n * each), rng.random(n * each), rng.random(n), np.zeros(n)


def _texts(np, n, m):
    rng = np.random.default_rng(3)
    return rng.integers(0, 4, n), rng.integers(0, 4, m), np.zeros((n + 1, m + 1), np.int64)


CASES = {
    "nussinov": (
        nussinov,
        lambda np, n: (np.random.default_rng(4).integers(0, 4, n), np.zeros((n, n), np.int64)),
        90,
    ),
    "seidel_2d": (seidel_2d, lambda np, n: (10, np.random.default_rng(5).random((n, n))), 120),
    "smith_waterman": (smith_waterman, lambda np, n: _texts(np, n, n), 300),
    "levenshtein": (levenshtein, lambda np, n: _texts(np, n, n), 400),
    "sieve": (sieve, lambda np, n: (np.ones(n, bool),), 1_000_000),
    "lu": (lu, lambda np, n: (_matrix(np, n),), 120),
    "floyd_warshall": (floyd_warshall, lambda np, n: (np.random.default_rng(6).random((n, n)),), 90),
    "csr_product": (csr_product, lambda np, n: _sparse(np, n, 20), 20_000),
    "mandelbrot": (mandelbrot, lambda np, n: (np.zeros((n, n), np.int64), 100), 120),
    "conway": (
        conway,
        lambda np, n: (2, np.random.default_rng(7).integers(0, 2, (n, n)), np.zeros((n, n), int)),
        100,
    ),
    "random_walk": (random_walk, lambda np, n: (n, 42, np.zeros(n, np.int64)), 500_000),
    "recurrence": (recurrence, lambda np, n: (np.random.default_rng(8).random(n), np.zeros(n)), 500_000),
    "gauss_laplace": (
        gauss_laplace,
        lambda np, n: (np.random.default_rng(9).random((n, n)), np.ones((n, n))),
        400,
    ),
    "elimination": (elimination, lambda np, n: (_matrix(np, n),), 150),
    "thomas": (
        thomas,
        lambda np, n: (np.random.default_rng(10).random(n), np.random.default_rng(11).random((n, 64))),
        2000,
    ),
    "rank_update": (
        rank_update,
        lambda np, n: (1.5, np.random.default_rng(12).random((n, n // 2)), np.zeros((n, n))),
        150,
    ),
}


def measured(function, made, size, runs):
    """Seconds of the first run and of the best of some, with a number that tells of the result."""
    times = []
    for _ in range(runs):
        given = made(np, size)
        start = time.perf_counter()
        result = function(*given)
        times.append(time.perf_counter() - start)
    return times[0], min(times), float(np.sum(np.asarray(result, float)))


def main():
    """Prints the times; an argument is the number of runs, others are names of programs."""
    runs, names = int(sys.argv[1]), sys.argv[2:] or [*CASES]
    print(json.dumps({name: measured(*CASES[name], runs) for name in names}))


if __name__ == "__main__":
    main()
