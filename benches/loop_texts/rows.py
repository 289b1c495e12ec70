"""Loops that go through an array row by row, and recurrences in time: filters, programming by rows, solvers.

Those that go through rows begin again at the first when there are more steps. Not here: fields (`grids`).
"""

from . import text
from .beginnings import distances, line, noise, other_noise, wave_line


@text(noise, other_noise)
def thomas(np, c, d, steps, see):
    n = len(c)
    c = -0.4 * c
    b = np.ones_like(d)
    last = min(steps, n - 1)
    for i in range(1, last + 1):
        w = -0.3 / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
        see(i - 1, d)
    d[last] /= b[last]
    for i in range(last - 1, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return d


@text(distances)
def cheapest_way_by_rows(np, cost, steps, see):
    for step in range(steps):
        i = 1 + step % (len(cost) - 1)
        above = cost[i - 1]
        best = above.copy()
        best[1:] = np.minimum(best[1:], above[:-1])
        best[:-1] = np.minimum(best[:-1], above[1:])
        cost[i] += best
        see(step, cost[i])
    return cost


@text(line)
def knapsack(np, best, steps, see):
    best[:] = 0
    for step in range(steps):
        weight, value = 3 + step * 7 % 29, 1 + step * 5 % 17
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
        see(step, best)
    return best


@text(noise)
def filter_by_rows(np, x, steps, see):
    y = np.zeros_like(x)
    y[0] = x[0]
    for step in range(steps):
        i = 1 + step % (len(x) - 1)
        y[i] = 0.2 * x[i] + 0.8 * y[i - 1]
        see(step, y[i])
    return y


@text(noise)
def running_sums(np, x, steps, see):
    mean = np.zeros_like(x[0])
    rows = []
    for step in range(steps):
        mean = mean + (x[step % len(x)] - mean) / (step + 1)
        rows.append(mean)
        see(step, mean)
    return np.stack(rows)


@text(noise, other_noise)
def kalman(np, z, p, steps, see):
    x = np.zeros_like(z)
    for step in range(steps):
        p = p + 0.01
        gain = p / (p + 0.1)
        x = x + gain * (np.roll(z, step, axis=0) - x)
        p = (1 - gain) * p
        see(step, x)
    return x, p


@text(line)
def rows_that_are_stacked(np, x, steps, see):
    rows = x[: len(x) // 8 * 8].reshape(8, -1)
    for step in range(steps):
        rows = np.stack([rows[i] for i in range(8)])
        rows = 0.5 * rows
        see(step, rows)
    return rows


@text(line)
def smoothing(np, x, steps, see):
    s = np.zeros_like(x)
    trend = np.zeros_like(x)
    for step in range(steps):
        before = s
        s = 0.3 * x + 0.7 * (s + trend)
        trend = 0.1 * (s - before) + 0.9 * trend
        see(step, s)
    return s, trend


@text(wave_line)
def korteweg_de_vries(np, u, steps, see):
    old = u.copy()
    for step in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        change = 0.02 * (left + u + right) * (right - left)
        change += 0.01 * (np.roll(u, -2) - 2 * right + 2 * left - np.roll(u, 2))
        u, old = old - change, u
        see(step, u)
    return u


@text(line)
def filter_in_place(np, x, steps, see):
    for step in range(steps):
        x[2:-2] = (x[:-4] + x[4:] + 4 * (x[1:-3] + x[3:-1]) + 6 * x[2:-2]) / 16
        x -= 0.001 * x
        see(step, x)
    return x


@text(noise)
def logistic_maps(np, x, steps, see):
    rate = 3 + 0.5 * x
    total = np.zeros_like(x)
    for step in range(steps):
        x = rate * x * (1 - x)
        total += x
        see(step, total)
    return total / steps


@text(noise)
def sort_by_swaps(np, x, steps, see):
    for step in range(steps):
        first = step % 2
        a, b = x[:, first:-1:2], x[:, first + 1 :: 2]
        a[:], b[:] = np.minimum(a, b), np.maximum(a, b)
        see(step, x)
    return x
