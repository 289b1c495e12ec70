"""Whole programs: loops of many steps that write to slices, swap buffers, or go through a table by rows.

Each takes the library, the number of steps, and a function that it calls with what it has after each step; it
gives its results. Each is written as a NumPy program. Not here: what is asserted of them (`test_loops.py`).
"""

import numpy

N = 24


def _field(np, dtype="f4"):
    return np.asarray(numpy.random.default_rng(1).random((N, N)).astype(dtype))


def heat(np, steps, look):
    plate = _field(np)
    for _ in range(steps):
        plate[1:-1, 1:-1] += 0.1 * (
            plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * plate[1:-1, 1:-1]
        )
        look(plate)
    return [plate]


def heat_with_edges(np, steps, look):
    plate, hot = _field(np, "f8"), _field(np, "f8") > 0.9
    for _ in range(steps):
        inside = plate[1:-1, 1:-1]
        inside += 0.2 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inside)
        plate[:, 0] = plate[:, 1]
        plate[:, -1] = plate[:, -2]
        plate[hot] = 1.0
        look(plate)
    return [plate]


def life(np, steps, look):
    cells = (_field(np) < 0.4).astype(np.uint8)
    ages = np.full((N, N), 1000, dtype=np.int16)
    for _ in range(steps):
        around = sum(
            np.roll(np.roll(cells, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        born = (around == 3) & (cells == 0)
        stays = ((around == 2) | (around == 3)) & (cells == 1)
        cells[...] = 0
        cells[born | stays] = 1
        ages += 1
        ages[cells == 1] = 0
        look(ages)
    return [cells, ages]


def wave(np, steps, look):
    now = _field(np)
    before = now.copy()
    for _ in range(steps):
        change = np.zeros_like(now)
        change[1:] += now[:-1] - now[1:]
        change[:-1] += now[1:] - now[:-1]
        change[:, 1:] += now[:, :-1] - now[:, 1:]
        change[:, :-1] += now[:, 1:] - now[:, :-1]
        now, before = 2 * now - before + 0.1 * change, now
        look(now)
    return [now, before]


def double_buffer(np, steps, look):
    a = np.linspace(0, 1, 1000, dtype="f4")
    b = a.copy()
    for _ in range(steps):
        np.add(a[:-1], a[1:], out=b[1:])
        b *= np.float32(0.5)
        a, b = b, a
        look(a)
    return [a, b]


def gray_scott(np, steps, look):
    u, v = np.ones((N, N), "f4"), np.zeros((N, N), "f4")
    u[8:14, 8:14], v[8:14, 8:14] = 0.5, 0.25

    def laplacian(x):
        return x[:-2, 1:-1] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1] + x[1:-1, 2:] + x[2:, 1:-1]

    for _ in range(steps):
        inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
        reacts = inner_u * inner_v * inner_v
        change_u = 0.16 * laplacian(u) - reacts + 0.035 * (1 - inner_u)
        change_v = 0.08 * laplacian(v) + reacts - 0.095 * inner_v
        inner_u += change_u
        inner_v += change_v
        for x in (u, v):
            x[0], x[-1] = x[-2], x[1]
            x[:, 0], x[:, -1] = x[:, -2], x[:, 1]
        look(v)
    return [u, v]


def householder(np, steps, look):
    n = min(steps, 60)
    r = np.asarray(numpy.random.default_rng(2).random((n + 20, n)))
    q = np.eye(n + 20)
    for k in range(n):
        x = r[k:, k]
        w = x.copy()
        w[0] += np.where(x[0] < 0, -1.0, 1.0) * np.sqrt((x * x).sum())
        w /= np.sqrt((w * w).sum())
        r[k:, k:] -= 2 * w[:, None] * (w[:, None] * r[k:, k:]).sum(0)
        q[:, k:] -= 2 * (q[:, k:] * w).sum(1)[:, None] * w
        look(r)
    return [r, q]


def edit_distance(np, steps, look):
    """A table of dynamic programming by rows: each row from the one before, by a running minimum."""
    rng = numpy.random.default_rng(3)
    one, other = rng.integers(0, 4, steps), np.asarray(rng.integers(0, 4, 200))
    ramp = np.arange(201)
    row = ramp.copy()
    for letter in one:
        changed = np.empty_like(row)
        changed[0] = row[0] + 1
        changed[1:] = np.minimum(row[1:] + 1, row[:-1] + (other != letter))
        row = np.minimum.accumulate(changed - ramp) + ramp
        look(row)
    return [row]


def table_by_rows(np, steps, look):
    """Falling paths: each row of a table is written from the one above."""
    costs = np.asarray(numpy.random.default_rng(4).random((steps, 64)).astype("f4"))
    table = np.zeros_like(costs)
    table[0] = costs[0]
    for k in range(1, steps):
        above = table[k - 1]
        table[k] = costs[k] + above
        table[k, 1:] = np.minimum(table[k, 1:], costs[k, 1:] + above[:-1])
        table[k, :-1] = np.minimum(table[k, :-1], costs[k, :-1] + above[1:])
        look(table[k])
    return [table]


def tridiagonal(np, steps, look):
    """Thomas's algorithm down the rows of a right-hand side with many columns."""
    d = np.asarray(numpy.random.default_rng(5).random((steps, 32)))
    c = numpy.zeros(steps)
    c[0] = 0.25
    for k in range(1, steps):
        c[k] = 1 / (4 - c[k - 1])
        d[k] = (d[k] + d[k - 1]) * float(c[k])
        look(d[k])
    for k in range(steps - 2, -1, -1):
        d[k] += float(c[k]) * d[k + 1]
    return [d]


def electrodynamics(np, steps, look):
    e, hx, hy = np.zeros((N, N)), np.zeros((N, N - 1)), np.zeros((N - 1, N))
    for k in range(steps):
        hx -= 0.5 * (e[:, 1:] - e[:, :-1])
        hy += 0.5 * (e[1:] - e[:-1])
        e[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1])
        e[N // 2, N // 2] += numpy.sin(0.1 * k)
        look(e)
    return [e, hx, hy]


def shallow_water(np, steps, look):
    h = 1 + 0.1 * _field(np)
    u, v = np.zeros_like(h), np.zeros_like(h)
    for _ in range(steps):
        u[:, :-1] -= 0.05 * (h[:, 1:] - h[:, :-1])
        v[:-1] -= 0.05 * (h[1:] - h[:-1])
        u[:, -1], v[-1] = 0, 0
        h[:, 1:] -= 0.05 * (u[:, 1:] - u[:, :-1])
        h[1:] -= 0.05 * (v[1:] - v[:-1])
        look(h)
    return [h, u, v]


def red_and_black(np, steps, look):
    x, b = np.zeros((N, N)), _field(np, "f8")
    for k in range(steps):
        for colour in (0, 1):
            inside = x[1 + (k + colour) % 2 : -1 : 2, 1:-1]
            rows = slice(1 + (k + colour) % 2, N - 1, 2)
            above = x[rows.start - 1 : N - 2 : 2, 1:-1][: inside.shape[0]]
            below = x[rows.start + 1 :: 2, 1:-1][: inside.shape[0]]
            inside[...] = 0.25 * (above + below + x[rows, :-2] + x[rows, 2:] + b[rows, 1:-1])
        look(x)
    return [x]


def upwind(np, steps, look):
    q = np.exp(-(((np.arange(2000) - 500) / 60.0) ** 2))
    for _ in range(steps):
        q[1:] -= 0.4 * (q[1:] - q[:-1])
        q[0] = q[-1]
        look(q)
    return [q]


def burgers(np, steps, look):
    u = np.sin(np.linspace(0, 6.28, 500)).astype("f4")
    for _ in range(steps):
        u = (
            u
            - np.float32(0.01) * u * (u - np.roll(u, 1))
            + np.float32(0.001) * (np.roll(u, -1) - 2 * u + np.roll(u, 1))
        )
        look(u)
    return [u]


def relaxation(np, steps, look):
    """A chain of values without writes."""
    z, x = np.zeros(3000), np.linspace(0, 1, 3000)
    for _ in range(steps):
        z = z * 0.999 + x
        look(z)
    return [z]


def ring(np, steps, look):
    ring, mean = np.zeros((16, 200), "f4"), np.zeros(200, "f4")
    wave = np.arange(200, dtype="f4")
    for k in range(steps):
        ring[k % 16] = (wave + k) % np.float32(7)
        mean = mean * np.float32(0.9) + ring.sum(0) * np.float32(0.1)
        look(mean)
    return [ring, mean]


def shortest_paths(np, steps, look):
    n = min(steps, 50)
    d = np.asarray(numpy.random.default_rng(6).random((n, n)))
    for k in range(n):
        d = np.minimum(d, d[:, k, None] + d[k])
        look(d)
    return [d]


def gram_schmidt(np, steps, look):
    n = min(steps, 40)
    a = np.asarray(numpy.random.default_rng(7).random((60, n)))
    for k in range(n):
        a[:, k] /= np.sqrt((a[:, k] ** 2).sum())
        a[:, k + 1 :] -= a[:, k, None] * (a[:, k, None] * a[:, k + 1 :]).sum(0)
        look(a)
    return [a]


def particles(np, steps, look):
    rng = numpy.random.default_rng(8)
    at, speed = np.asarray(rng.random((500, 2))), np.asarray(rng.random((500, 2)) - 0.5)
    for _ in range(steps):
        at += 0.01 * speed
        outside = (at < 0) | (at > 1)
        speed[outside] *= -1
        np.clip(at, 0, 1, out=at)
        speed[:, 1] -= 0.001
        look(at)
    return [at, speed]


def escape_time(np, steps, look):
    y, x = np.mgrid[-1.0:1.0:24j, -2.0:0.5:24j]
    c = x + 1j * y
    z, count = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(min(steps, 200)):
        inside = (z.real**2 + z.imag**2) < 4
        z = np.where(inside, z * z + c, z)
        count += inside
        look(count)
    return [count]


def cells_in_a_row(np, steps, look):
    cells = np.zeros(401, bool)
    cells[200] = True
    for _ in range(steps):
        left, right = np.concatenate([cells[-1:], cells[:-1]]), np.concatenate([cells[1:], cells[:1]])
        cells = left ^ (cells | right)
        look(cells)
    return [cells]


def padded(np, steps, look):
    image = _field(np)
    for _ in range(steps):
        p = np.pad(image, 1, mode="edge")
        image = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + p[1:-1, 1:-1]) * np.float32(0.2)
        look(image)
    return [image]


LOOPS = [
    heat, heat_with_edges, life, wave, double_buffer, gray_scott, householder, edit_distance,
    table_by_rows, tridiagonal, electrodynamics, shallow_water, red_and_black, upwind, burgers,
    relaxation, ring, shortest_paths, gram_schmidt, particles, escape_time, cells_in_a_row, padded,
]  # fmt: skip
