"""Points that fall into groups, found by Lloyd's algorithm: each centre moves to the mean of its points.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/k_means.py --output k_means.png
    python -m gpupy examples/k_means.py --output k_means.png
"""

import argparse

import numpy as np
from PIL import Image

SEED = 2
GROUPS = 8
PIXELS = 400


def start(count):
    """Points around some places in the unit square, a first guess of the centres, and room for labels."""
    chance = np.random.default_rng(SEED)
    places = chance.uniform(0.15, 0.85, (GROUPS, 2))
    points = places[chance.integers(0, GROUPS, count)] + chance.normal(0, 0.05, (count, 2))
    points = points.clip(0, 0.999).astype(np.float32)
    return points, points[:GROUPS].copy(), np.zeros(count, dtype=np.int32)


def step(points, centres, labels):
    """Gives each point to its nearest centre, and moves each centre to the mean of its points, in place."""
    apart = points[:, np.newaxis, :] - centres
    labels[:] = (apart * apart).sum(axis=2).argmin(axis=1)
    for k in range(GROUPS):
        mine = labels == k
        if mine.any():
            centres[k] = points[mine].mean(axis=0, dtype=np.float64)


def result(points, centres, labels):
    """The result for the test."""
    return np.concatenate([centres.ravel(), labels])


def picture(points, centres, labels):
    """Points in the colours of their groups, and the centres in white."""
    angle = 2 * np.pi * np.arange(GROUPS)[:, np.newaxis] / GROUPS
    colours = (127 + 127 * np.cos(angle + np.array([0, 2, 4]))).astype(np.uint8)
    pixels = np.full((PIXELS, PIXELS, 3), 16, dtype=np.uint8)
    column, row = (points * PIXELS).astype(np.int64).T
    pixels[row, column] = colours[labels]
    for x, y in (centres * PIXELS).astype(np.int64):
        pixels[max(y - 3, 0) : y + 4, max(x - 3, 0) : x + 4] = 255
    return Image.fromarray(np.asarray(pixels))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=20_000, help="points")
    parser.add_argument("--steps", type=int, default=50, help="times that the centres move")
    parser.add_argument("--output", default="k_means.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    for _ in range(options.steps):
        step(*state)
    picture(*state).save(options.output)
    _, _, labels = state
    print("points of each group:", *np.bincount(labels, minlength=GROUPS).tolist())


if __name__ == "__main__":
    main()
