"""Heat that spreads through a plate of two metals, by implicit steps: rows of equations, then columns.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/implicit_heat.py --output implicit_heat.png
    python -m gpupy examples/implicit_heat.py --output implicit_heat.png

A step may be many times as long as an explicit one (`heat.py`): each half of it solves a tridiagonal system
for every row, or for every column, from one end to the other and back.
"""

import argparse

import numpy as np
from PIL import Image


def plate(size):
    """How hot each cell is, and how well it conducts: a bar of copper in iron, hot at its end."""
    y, x = np.linspace(0, 1, size)[:, np.newaxis], np.linspace(0, 1, size)
    is_copper = abs(y - 0.3 - 1.2 * x * (1.0 - x)) < 0.05
    is_hot = (x < 0.12) & (abs(y - 0.33) < 0.08)
    return np.where(is_hot, 1.0, 0.0), np.where(is_copper, 60.0, 2.0)


def half_step(heat, conducts):
    """The heat after a step along the first axis, with ends that let no heat out."""
    between = 2.0 * conducts[1:] * conducts[:-1] / (conducts[1:] + conducts[:-1])
    rows = len(heat)
    share, rest = [], []
    for at in range(rows):
        above = between[at - 1] if at else 0.0
        below = between[at] if at < rows - 1 else 0.0
        pivot = 1.0 + above + below - (above * share[-1] if at else 0.0)
        share.append(below / pivot)
        rest.append((heat[at] + (above * rest[-1] if at else 0.0)) / pivot)
    found = [rest[-1]]
    for at in range(rows - 2, -1, -1):
        found.append(rest[at] + share[at] * found[-1])
    return np.stack(found[::-1])


def spread(heat, conducts, steps):
    """The heat after some steps."""
    for _ in range(steps):
        heat = half_step(half_step(heat, conducts).T, conducts.T).T
    return heat


def picture(heat):
    """From black over red and yellow to white."""
    level = 3.0 * (heat / heat.max()) ** 0.4
    channels = [np.clip(level - at, 0.0, 1.0) for at in range(3)]
    return (255 * np.stack(channels, axis=-1)).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, help="cells along each side")
    parser.add_argument("--steps", type=int, default=40, help="steps between two pictures")
    parser.add_argument("--output", default="implicit_heat.png", help="the image to write")
    options = parser.parse_args()

    heat, conducts = plate(options.size)
    pictures = [picture(heat)]
    for _ in range(2):
        heat = spread(heat, conducts, options.steps)
        pictures.append(picture(heat))
    Image.fromarray(np.asarray(np.concatenate(pictures, axis=1))).save(options.output)
    print(f"the warmest cell has {heat.max():.3f} of its first heat, the coldest {heat.min():.1e}")


if __name__ == "__main__":
    main()
