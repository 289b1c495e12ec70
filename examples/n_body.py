"""Bodies that attract each other, every one all others: a disc that turns, and the paths that it draws.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/n_body.py --output n_body.png
    python -m gpupy examples/n_body.py --output n_body.png
"""

import argparse

import numpy as np

import palette

SEED = 1
TIME = 0.005  # between two steps
SOFTENING = 0.05  # bodies nearer than that hardly attract each other more
PIXELS = 400
SKY = ((0.01, 0.01, 0.05), (0.15, 0.1, 0.45), (0.8, 0.45, 0.5), (1.0, 0.95, 0.8))


def start(count):
    """The masses of a heavy body and a disc around it, their places, and their speeds."""
    chance = np.random.default_rng(SEED)
    masses = np.full(count, 0.2 / count)
    masses[0] = 1.0
    radius, angle = np.sqrt(chance.uniform(0.05, 1, count)), chance.uniform(0, 2 * np.pi, count)
    places = radius * np.stack([np.cos(angle), np.sin(angle)])
    speeds = np.stack([-np.sin(angle), np.cos(angle)]) / np.sqrt(radius)
    places[:, 0] = speeds[:, 0] = 0
    return masses, places, speeds


def step(masses, places, speeds):
    """Moves every body by the forces of all others, in place."""
    x, y = places
    dx, dy = x - x[:, np.newaxis], y - y[:, np.newaxis]
    square = dx**2 + dy**2 + SOFTENING**2
    pull = masses / (square * np.sqrt(square))
    speeds[0] += TIME * (pull * dx).sum(axis=1)
    speeds[1] += TIME * (pull * dy).sum(axis=1)
    places += TIME * speeds


def result(masses, places, speeds):
    """The result for the test."""
    return np.concatenate([places, speeds])


def picture(paths):
    """A plate that was exposed to all places of all bodies."""
    column, row = ((paths / 2.6 + 0.5) * PIXELS).astype(np.int64)
    seen = (column >= 0) & (column < PIXELS) & (row >= 0) & (row < PIXELS)
    plate = np.zeros((PIXELS, PIXELS))
    np.add.at(plate, (row[seen], column[seen]), 1)
    light = np.log1p(plate)
    return palette.picture(light / light.max(), SKY)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=300, help="bodies")
    parser.add_argument("--steps", type=int, default=1000, help="steps of time")
    parser.add_argument("--output", default="n_body.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    masses, places, speeds = state
    paths = np.empty((2, options.steps, options.size))
    for turn in range(options.steps):
        step(*state)
        paths[:, turn] = places
    picture(paths).save(options.output)
    print(f"energy of motion {float((masses * (speeds**2).sum(axis=0)).sum() / 2):.6f}")


if __name__ == "__main__":
    main()
