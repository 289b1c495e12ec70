"""Loops over fields on a grid: heat, waves, flows, relaxation, by slices, rolls, pads, copies and `out=`.

Not here: cells with few states (`cells`), matrices (`matrices`), and loops that go through an array
(`rows`).
"""

from . import text
from .beginnings import bodies, directions, hill, noise, ones, other_noise, sites, spot, zeros


@text(spot)
def heat(np, v, steps, see):
    for step in range(steps):
        v[1:-1, 1:-1] += 0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1])
        see(step, v)
    return v


@text(hill, hill)
def wave(np, u, v, steps, see):
    for step in range(steps):
        lap = -4 * v
        lap[1:] += v[:-1]
        lap[:-1] += v[1:]
        lap[:, 1:] += v[:, :-1]
        lap[:, :-1] += v[:, 1:]
        u, v = v, 2 * v - u + 0.1 * lap
        see(step, v)
    return u, v


@text(hill)
def shallow_water(np, h, steps, see):
    vx, vy = np.zeros_like(h), np.zeros_like(h)
    for step in range(steps):
        vx[1:] -= 0.1 * (h[1:] - h[:-1])
        vy[:, 1:] -= 0.1 * (h[:, 1:] - h[:, :-1])
        d = np.zeros_like(h)
        d[:-1] += vx[1:]
        d -= vx
        d[:, :-1] += vy[:, 1:]
        d -= vy
        h = h - 0.1 * d
        see(step, h)
    return h, vx, vy


@text(hill, zeros)
def fdtd(np, e, hz, steps, see):
    for step in range(steps):
        hz[:, :-1] -= 0.5 * (e[:, 1:] - e[:, :-1])
        e[:, 1:-1] += 0.5 * (hz[:, :-2] - hz[:, 1:-1])
        e[0] = 0
        e[-1] = 0
        see(step, e)
    return e, hz


@text(noise)
def advection_by_rolls(np, u, steps, see):
    for step in range(steps):
        u = u - 0.4 * (u - np.roll(u, 1, axis=1)) - 0.2 * (u - np.roll(u, 1, axis=0))
        see(step, u)
    return u


@text(hill, noise)
def upwind(np, u, speed, steps, see):
    speed = speed - 0.5
    for step in range(steps):
        left = u[:, 1:-1] - u[:, :-2]
        right = u[:, 2:] - u[:, 1:-1]
        c = speed[:, 1:-1]
        u[:, 1:-1] -= 0.5 * c * np.where(c > 0, left, right)
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
        see(step, u)
    return u


@text(hill)
def burgers(np, u, steps, see):
    for step in range(steps):
        wide = np.concatenate([u[-1:], u, u[:1]])
        flux = 0.5 * wide * wide
        u = u - 0.1 * (flux[1:-1] - flux[:-2]) + 0.05 * (wide[2:] - 2 * u + wide[:-2])
        see(step, u)
    return u


@text(ones, spot)
def gray_scott(np, u, v, steps, see):
    def laplacian(x):
        return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x

    for step in range(steps):
        reaction = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
            v + 0.08 * laplacian(v) + reaction - 0.1 * v,
        )
        see(step, v)
    return u, v


@text(noise)
def diffusion_by_pads(np, u, steps, see):
    for step in range(steps):
        p = np.pad(u, 1, mode="edge")
        u = u + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
        see(step, u)
    return u


@text(noise)
def drift_by_pads(np, u, steps, see):
    for step in range(steps):
        u = np.pad(u, 1, mode="wrap")[:-2, 2:]
        u %= 0.9
        see(step, u)
    return u


@text(noise, other_noise)
def three_levels(np, a, b, steps, see):
    c = 0.5 * (a + b)
    for step in range(steps):
        a += c
        a[1:-1, 1:-1] += 0.1 * (b[:-2, 1:-1] - b[2:, 1:-1])
        a, b, c = b, c, a
        c *= 0.5
        see(step, c)
    return a, b, c


@text(noise)
def jacobi_by_copies(np, u, steps, see):
    for step in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        see(step, u)
    return u


@text(noise)
def jacobi_until(np, u, steps, see):
    change = 1.0
    for step in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(new - u).max()
        u = new
        see(step, u)
        if change < 1e-12:
            break
    return u, change


@text(noise, zeros)
def double_buffer(np, a, b, steps, see):
    for step in range(steps):
        np.add(a[:-2], a[2:], out=b[1:-1])
        np.multiply(b[1:-1], 0.5, out=b[1:-1])
        np.copyto(b[0], a[0])
        np.copyto(b[-1], a[-1])
        a, b = b, a
        see(step, a)
    return a


@text(noise)
def red_black(np, u, steps, see):
    for step in range(steps):
        for first in (1, 2):
            for i, j in ((1, first), (2, 3 - first)):
                rows, columns = u[i:-1:2], slice(j, -1, 2)
                width = rows[:, columns].shape[1]
                rows[:, columns] = 0.25 * (
                    u[i - 1 : -2 : 2, columns][: len(rows)]
                    + u[i + 1 :: 2, columns][: len(rows)]
                    + rows[:, j - 1 :: 2][:, :width]
                    + rows[:, j + 1 :: 2][:, :width]
                )
        see(step, u)
    return u


@text(spot, other_noise)
def relaxation_by_masks(np, u, walls, steps, see):
    wall = walls < 0.1
    hot = walls > 0.98
    for step in range(steps):
        mean = np.zeros_like(u)
        mean[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        u = np.where(wall, u, u + 1.2 * (mean - u))
        u[hot] = 1
        see(step, u)
    return u


@text(noise, is_exact=False)
def perona_malik(np, u, steps, see):
    for step in range(steps):
        total = np.zeros_like(u)
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            d = np.roll(u, shift, axis) - u
            total += np.exp(-((d / 0.3) ** 2)) * d
        u = u + 0.2 * total
        see(step, u)
    return u


@text(directions, is_exact=False)
def lattice_boltzmann(np, f, steps, see):
    cx = [0, 1, 0, -1, 0, 1, -1, -1, 1]
    cy = [0, 0, 1, 0, -1, 1, 1, -1, -1]
    w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    for step in range(steps):
        for k in range(9):
            f[k] = np.roll(np.roll(f[k], cx[k], axis=0), cy[k], axis=1)
        rho = f.sum(axis=0)
        ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
        uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
        square = 1.5 * (ux * ux + uy * uy)
        for k in range(9):
            along = 3 * (cx[k] * ux + cy[k] * uy)
            f[k] += 0.6 * (w[k] * rho * (1 + along + 0.5 * along * along - square) - f[k])
        see(step, rho)
    return f


@text(noise, sites)
def semi_lagrangian(np, u, at, steps, see):
    rows, columns = at
    for step in range(steps):
        u = 0.75 * u[rows, columns] + 0.25 * u
        see(step, u)
    return u


@text(bodies, bodies, is_exact=False)
def leapfrog(np, x, v, steps, see):
    for step in range(steps):
        apart = x[None, :] - x[:, None]
        pull = apart / ((apart * apart).sum(axis=2, keepdims=True) + 0.01) ** 1.5
        v += 0.001 * pull.mean(axis=1)
        x += 0.001 * v
        see(step, x)
    return x, v
