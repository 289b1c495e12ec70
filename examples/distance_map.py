"""Shades each pixel by its distance to the nearest of some random points.

NumPy and gpupy run the same text; they differ in the module that it is given, and in the dtype.

    python examples/distance_map.py --gpupy --points 100 --output map.png
"""

import argparse
import random

from PIL import Image


def random_points(count, size, seed):
    """Returns `count` points, as pairs of Python floats, within a square of `size` pixels."""
    generator = random.Random(seed)
    return [(size * generator.random(), size * generator.random()) for _ in range(count)]


def distance(point, centre, exponent):
    """Returns the distance of two points; 2 is the exponent of Euclid."""
    x, y = point
    x0, y0 = centre
    return ((x - x0) ** exponent + (y - y0) ** exponent) ** (1.0 / exponent)


def distances_to(xp, dtype, centre, size, exponent):
    """Returns an array of the distance from each pixel to `centre`."""
    return xp.fromfunction(lambda x, y: distance((x, y), centre, exponent), (size, size), dtype=dtype)


def distance_map(xp, dtype, points, size, exponent=2):
    """Returns an array of the distance from each pixel to the nearest of the points."""
    nearest = distances_to(xp, dtype, points[0], size, exponent)
    for centre in points[1:]:
        nearest = xp.minimum(distances_to(xp, dtype, centre, size, exponent), nearest)
    return nearest


def shades(xp, distances):
    """Scales distances to shades of grey from 0 to 255."""
    darkest = 0
    brightest = xp.max(distances.flat)
    return 255 * ((distances - darkest) / (brightest - darkest))


def picture(pixels, size):
    """Makes an image of a plane, which is read as it is in memory."""
    return Image.frombuffer("F", (size, size), pixels, "raw", "F", 0, 1).convert("L")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpupy", action="store_true", help="compute by gpupy instead of NumPy")
    parser.add_argument("--exponent", type=float, default=2, help="of the distance; even, or it has NaNs")
    parser.add_argument("--points", type=int, default=8, help="how many random points")
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--seed", type=int, default=1, help="of the random points")
    parser.add_argument("--output", default="distance_map.png", help="the image to write")
    parser.add_argument("--raw", help="a file for the pixels as float32")
    options = parser.parse_args()

    if options.gpupy:
        import gpupy as xp  # noqa: PLC0415

        dtype = xp.gpufloat32
    else:
        import numpy as xp  # noqa: PLC0415

        dtype = xp.float32

    points = random_points(options.points, options.size, options.seed)
    pixels = shades(xp, distance_map(xp, dtype, points, options.size, options.exponent)).astype(dtype)
    picture(pixels, options.size).save(options.output)
    print(f"{options.output}: the distance to the nearest of {options.points} points")
    if options.raw:
        with open(options.raw, "wb") as file:
            file.write(memoryview(pixels))


if __name__ == "__main__":
    main()
