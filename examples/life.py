"""Conway's Game of Life: 1000 generations from a random start, and how long ago each cell last lived.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/life.py --output life.png
    python -m gpupy examples/life.py --output life.png
"""

import argparse

import numpy as np

import palette

SEED = 1
EMBERS = ((0.02, 0.02, 0.06), (0.1, 0.15, 0.4), (0.2, 0.5, 0.6), (1.0, 1.0, 0.8))


def start(size):
    """Cells of which a quarter live, inside a dead frame, and the ages: generations since each last lived."""
    cells = np.zeros((size, size), dtype=np.uint8)
    cells[1:-1, 1:-1] = np.random.default_rng(SEED).random((size - 2, size - 2)) < 0.25
    return cells, np.full((size, size), 1000, dtype=np.int16)


def step(cells, ages):
    """Goes on by one generation, in place."""
    around = (
        cells[:-2, :-2] + cells[:-2, 1:-1] + cells[:-2, 2:]
        + cells[1:-1, :-2] + cells[1:-1, 2:]
        + cells[2:, :-2] + cells[2:, 1:-1] + cells[2:, 2:]
    )  # fmt: skip
    inside = cells[1:-1, 1:-1]
    born = (around == 3) & (inside == 0)
    stays = ((around == 2) | (around == 3)) & (inside == 1)
    cells[...] = 0
    inside[born | stays] = 1
    ages += 1
    ages[cells == 1] = 0


def result(cells, ages):
    """The result for the test: both in one array."""
    return np.where(cells == 1, -1, ages)


def picture(cells, ages):
    """Living cells are bright; where they were they leave a trace that fades."""
    return palette.picture(np.where(cells == 1, 1.0, 0.7 * np.exp(ages / -60.0)), EMBERS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=1000, help="generations")
    parser.add_argument("--output", default="life.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    for _ in range(options.steps):
        step(*state)
    picture(*state).save(options.output)
    print(f"{int((state[0] == 1).sum())} cells live")


if __name__ == "__main__":
    main()
