"""The Mandelbrot set by a loop for each point, as it is written for one number.

    python examples/escape_time.py --output escape_time.png

The function is Python's; `gpupy.kernel` makes one program of it, in which each point takes as many turns as
it needs. (``mandelbrot.py`` is the same in NumPy's way, where every point takes every turn.)
"""

import argparse

import numpy as np

import gpupy
import palette

TURNS = 200
DUSK = ((0.0, 0.02, 0.2), (0.1, 0.4, 0.8), (0.95, 0.95, 0.9), (1.0, 0.6, 0.0), (0.0, 0.0, 0.0))


@gpupy.kernel
def escape_time(x, y):
    """How many turns a point of the plane stays near the origin."""
    re, im = np.float32(0), np.float32(0)
    turns = np.int32(0)
    for _ in range(TURNS):
        if re * re + im * im > np.float32(4):
            break
        re, im = re * re - im * im + x, np.float32(2) * re * im + y
        turns += np.int32(1)
    return turns


def plane(size):
    """The points of the picture, as columns and rows."""
    x = gpupy.linspace(-2.2, 0.8, size, dtype=np.float32)
    y = gpupy.linspace(-1.5, 1.5, size, dtype=np.float32)[:, None]
    return x, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=600, help="pixels in each direction")
    parser.add_argument("--output", default="escape_time.png", help="the image to write")
    options = parser.parse_args()

    turns = np.asarray(escape_time(*plane(options.size)))
    palette.picture((turns / TURNS) ** 0.4, DUSK).save(options.output)
    print(f"{int((turns == TURNS).sum())} points never escaped")


if __name__ == "__main__":
    main()
