"""The Mandelbrot set: how long each point of the plane takes to escape, by a mask of those still inside.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/mandelbrot.py --output mandelbrot.png
    python -m gpupy examples/mandelbrot.py --output mandelbrot.png
"""

import argparse

import numpy as np

import palette

HORIZON = 2.0
DUSK = ((0.0, 0.02, 0.2), (0.1, 0.4, 0.8), (0.95, 0.95, 0.9), (1.0, 0.6, 0.0), (0.0, 0.0, 0.0))


def start(size):
    """The points of the plane, where each has got to, and the last step at which it was inside."""
    x = np.linspace(-2.2, 0.8, size)
    y = np.linspace(-1.5, 1.5, size)[:, np.newaxis]
    plane = x + 1j * y
    return plane, np.zeros_like(plane), np.zeros(plane.shape, dtype=np.int32)


def step(plane, reached, last):
    """Moves the points that have not escaped, in place."""
    inside = abs(reached) < HORIZON
    last[inside] += 1
    reached[inside] = reached[inside] ** 2 + plane[inside]


def result(plane, reached, last):
    """The result for the test."""
    return last


def picture(plane, reached, last):
    """A colour for each number of steps; points that never escape are black."""
    return palette.picture((last / last.max()) ** 0.4, DUSK)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, help="pixels in each direction")
    parser.add_argument("--steps", type=int, default=80, help="steps after which a point counts as inside")
    parser.add_argument("--output", default="mandelbrot.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    for _ in range(options.steps):
        step(*state)
    picture(*state).save(options.output)
    _, _, last = state
    print(f"{int((last == options.steps).sum())} points never escaped")


if __name__ == "__main__":
    main()
