"""Heat that spreads in a plate from sources of fixed warmth: 1000 steps of explicit differences, in place.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/heat.py --output heat.png
    python -m gpupy examples/heat.py --output heat.png
"""

import argparse

import numpy as np

import palette

RATE = 0.2  # the flow to each neighbour in a step, as a part of the difference
GLOW = ((0.0, 0.0, 0.1), (0.4, 0.0, 0.5), (0.9, 0.2, 0.2), (1.0, 0.8, 0.2), (1.0, 1.0, 0.9))


def start(size):
    """A cold plate of `size` squared cells, and where it is heated: a ring and a bar."""
    rows, columns = np.indices((size, size)) / size
    radius = np.hypot(rows - 0.38, columns - 0.4)
    hot = (abs(radius - 0.2) < 0.02) | ((abs(rows - 0.8) < 0.02) & (abs(columns - 0.6) < 0.25))
    return np.zeros((size, size)), hot


def step(plate, hot):
    """Lets heat flow for one step. Nothing passes the left and right edges; the others are kept cold."""
    inside = plate[1:-1, 1:-1]
    inside += RATE * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * inside)
    plate[:, 0] = plate[:, 1]
    plate[:, -1] = plate[:, -2]
    plate[hot] = 1.0


def result(plate, hot):
    """The result for the test."""
    return plate


def picture(plate, hot):
    """The warmth as a glow; roots brighten faint values."""
    return palette.picture(np.sqrt(plate), GLOW)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=1000, help="steps of time")
    parser.add_argument("--output", default="heat.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    for _ in range(options.steps):
        step(*state)
    picture(*state).save(options.output)
    print(f"mean warmth {float(state[0].mean()):.6f}")


if __name__ == "__main__":
    main()
