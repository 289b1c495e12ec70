"""Families of loops in time, chains and trees: k steps, or many steps on an array with an axis of k.

Not here: loops that are read at each step (`benches/loops.py`), windows written as loops (`windows.py`).
"""

from . import family


@family(lambda data, k: [data.grid()], k=(1, 30))
def heat_in_place(np, k, u):
    u = u.copy()
    for _ in range(k):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


@family(lambda data, k: [data.numbers(data.n // k, k)], k=(3, 300))
def heat_of_a_thin_plate(np, k, u):
    u = u.copy()
    for _ in range(5):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u[0], u[-1] = u[1], u[-2]
    return u


@family(lambda data, k: [data.line(), data.line()], k=(1, 30))
def wave_by_three_levels(np, k, u, old):
    for _ in range(k):
        new = 2 * u - old
        new[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = new[-1] = 0
        old, u = u, new
    return u


@family(lambda data, k: [data.normal(data.n // k, k), data.normal(data.n // k, k)], k=(1, 12))
def particles_in_a_box(np, k, x, v):
    x, v = x.copy(), v.copy()
    for _ in range(5):
        v -= 0.01 * x
        x += 0.01 * v
        out = np.abs(x) > 1
        v[out] *= -1
        np.clip(x, -1, 1, out=x)
    return x, v


@family(lambda data, k: [data.line()], k=(1, 40))
def polynomial_by_horner(np, k, x):
    y = np.zeros_like(x)
    for i in range(k, -1, -1):
        y = y * x + 1 / (i + 1)
    return y


@family(lambda data, k: [data.line()], k=(1, 12))
def polynomial_by_powers(np, k, x):
    return sum(x**i / (i + 1) for i in range(k + 1))


@family(lambda data, k: [data.line() + 0.5], k=(1, 20))
def square_root_by_newton(np, k, a):
    x = a
    for _ in range(k):
        x = 0.5 * (x + a / x)
    return x


@family(lambda data, k: [data.line()], k=(1, 8))
def logistic_map(np, k, x):
    for _ in range(k):
        x = 3.2 * x * (1 - x)
    return x, x.mean()


@family(lambda data, k: [data.numbers(data.n // 8) for _ in range(k)], k=(2, 20))
def tree_of_sums(np, k, *arrays):
    arrays = list(arrays)
    while len(arrays) > 1:
        pairs = zip(arrays[::2], arrays[1::2], strict=False)
        arrays = [np.sqrt(a * b + 1) for a, b in pairs] + arrays[len(arrays) & ~1 :]
    return arrays[0]


@family(lambda data, k: [data.numbers(data.n // k, k)], k=(2, 100))
def exponential_average_along_rows(np, k, x):
    out = np.empty_like(x)
    out[:, 0] = x[:, 0]
    for t in range(1, k):
        out[:, t] = 0.9 * out[:, t - 1] + 0.1 * x[:, t]
    return out


@family(lambda data, k: [data.numbers(k, data.n // k)], k=(2, 100))
def exponential_average_along_time(np, k, x):
    out = np.empty_like(x)
    state = x[0]
    for t in range(k):
        state = 0.9 * state + 0.1 * x[t]
        out[t] = state
    return out


@family(lambda data, k: [data.numbers(k, data.n // k), data.numbers(data.n // k)], k=(2, 100))
def list_of_states(np, k, drive, state):
    states = []
    for force in drive:
        state = np.tanh(state + 0.1 * force)
        states.append(state)
    return np.array(states)


@family(lambda data, k: [data.line()], k=(2, 40))
def chain_of_functions(np, k, x):
    for i in range(k):
        x = np.sin(x) + 0.5 if i % 2 else np.exp(-x)
    return x


@family(lambda data, k: [data.line(), data.line(), data.line()], k=(1, 20))
def midpoints_of_the_lorenz_system(np, k, x, y, z):
    def speed(x, y, z):
        return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z

    for _ in range(k):
        a, b, c = speed(x, y, z)
        a, b, c = speed(x + 0.005 * a, y + 0.005 * b, z + 0.005 * c)
        x, y, z = x + 0.01 * a, y + 0.01 * b, z + 0.01 * c
    return x, y, z


@family(lambda data, k: [data.numbers(data.n // (3 * k), 3, k)], k=(2, 60))
def sweeps_over_columns(np, k, x):
    x = x.copy()
    for j in range(1, k):
        x[:, :, j] = np.minimum(x[:, :, j], x[:, :, j - 1] + 0.1)
    for j in range(k - 2, -1, -1):
        x[:, :, j] = np.minimum(x[:, :, j], x[:, :, j + 1] + 0.1)
    return x


@family(lambda data, k: [data.mask(0.3, data.side(2), data.side(2))], k=(1, 12))
def life_on_a_torus(np, k, cells):
    for _ in range(k):
        count = sum(
            np.roll(cells, (i, j), axis=(0, 1)).astype(np.int8)
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        cells = (count == 3) | (cells & (count == 2))
    return cells
