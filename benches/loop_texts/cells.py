"""Loops over cells with few states, with masks and random numbers: automata, spins, piles, walks, sets.

Not here: fields of real numbers (`grids`).
"""

from . import text
from .beginnings import bit_line, bits, grains, noise, plane, spins, zero_line


@text(bits)
def life_by_slices(np, cells, steps, see):
    for step in range(steps):
        n = np.zeros_like(cells)
        n[1:-1, 1:-1] = (
            cells[:-2, :-2]
            + cells[:-2, 1:-1]
            + cells[:-2, 2:]
            + cells[1:-1, :-2]
            + cells[1:-1, 2:]
            + cells[2:, :-2]
            + cells[2:, 1:-1]
            + cells[2:, 2:]
        )
        birth = (n == 3) & (cells == 0)
        stays = ((n == 2) | (n == 3)) & (cells == 1)
        cells[...] = 0
        cells[birth | stays] = 1
        see(step, cells)
    return cells


@text(bits)
def life_by_rolls(np, cells, steps, see):
    for step in range(steps):
        n = sum(
            np.roll(np.roll(cells, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i != 0 or j != 0
        )
        cells = ((n == 3) | ((cells == 1) & (n == 2))).astype(np.uint8)
        see(step, cells)
    return cells


@text(bit_line)
def rule_30(np, cells, steps, see):
    for step in range(steps):
        cells = np.roll(cells, 1) ^ (cells | np.roll(cells, -1))
        see(step, cells)
    return cells


@text(spins, noise)
def ising(np, spin, chance, steps, see):
    n = len(spin)
    black = np.add.outer(np.arange(n), np.arange(n)) % 2 == 0
    bound = -0.5 * np.log(chance)
    for step in range(steps):
        for colour in (black, ~black):
            around = np.roll(spin, 1, 0) + np.roll(spin, -1, 0) + np.roll(spin, 1, 1) + np.roll(spin, -1, 1)
            flips = colour & (0.4 * spin * around < bound)
            spin = np.where(flips, -spin, spin)
        bound = np.roll(bound, 7, axis=1)
        see(step, spin)
    return spin


@text(grains)
def sandpile(np, z, steps, see):
    for step in range(steps):
        over = z >= 4
        z[over] -= 4
        z[1:] += over[:-1]
        z[:-1] += over[1:]
        z[:, 1:] += over[:, :-1]
        z[:, :-1] += over[:, 1:]
        see(step, z)
    return z


@text(noise)
def forest_fire(np, chance, steps, see):
    forest = (chance < 0.7).astype(np.int8)
    forest[0] *= 2
    for step in range(steps):
        burns = forest == 2
        near = np.zeros(forest.shape, bool)
        near[1:] |= burns[:-1]
        near[:-1] |= burns[1:]
        near[:, 1:] |= burns[:, :-1]
        near[:, :-1] |= burns[:, 1:]
        forest[(forest == 1) & near] = 2
        forest[burns] = 0
        forest[(forest == 0) & (chance > 0.99)] = 1
        see(step, forest)
    return forest


@text(zero_line)
def random_walk(np, x, steps, see):
    rng = np.random.default_rng(1)
    for step in range(steps):
        x += rng.standard_normal(len(x))
        x[x > 10] = 10
        x[x < -10] = -10
        see(step, x)
    return x


@text(zero_line)
def walk_of_integers(np, x, steps, see):
    rng = np.random.default_rng(2)
    x = x.astype(int)
    farthest = np.zeros_like(x)
    for step in range(steps):
        x = x + rng.choice([-1, 1], size=x.shape)
        farthest = np.maximum(farthest, np.abs(x))
        see(step, farthest)
    return x, farthest


@text(plane, is_exact=False)
def mandelbrot_by_masks(np, c, steps, see):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, int)
    inside = np.ones(c.shape, bool)
    for step in range(steps):
        z[inside] = z[inside] * z[inside] + c[inside]
        inside = inside & (np.abs(z) < 2)
        count[inside] += 1
        see(step, count)
    return count


@text(plane, is_exact=False)
def newton_fractal(np, z, steps, see):
    z = z + 0.05
    for step in range(steps):
        z = z - (z * z * z - 1) / (3 * z * z)
        see(step, np.abs(z))
    return z
