"""The bodies of ``n_body.py`` in space: a step is written in vectors, and computed as in components by hand.

    python examples/n_body_in_vectors.py --output n_body_in_vectors.png

Places and speeds are arrays of ``vec3``, one for each body.
"""

import argparse

import numpy

import gpupy as np
import palette
from gpupy.vectors import dot, vec3

SEED = 1
TIME = 0.005  # between two steps
SOFTENING = 0.05  # bodies nearer than that hardly attract each other more
PIXELS = 400
SKY = ((0.01, 0.01, 0.05), (0.15, 0.1, 0.45), (0.8, 0.45, 0.5), (1.0, 0.95, 0.8))


def start(count):
    """The masses of a heavy body and a thick disc around it, their places, and their speeds."""
    chance = numpy.random.default_rng(SEED)
    masses = numpy.full(count, 0.2 / count)
    masses[0] = 1.0
    radius, angle = numpy.sqrt(chance.uniform(0.05, 1, count)), chance.uniform(0, 2 * numpy.pi, count)
    height = chance.normal(0, 0.05, count)
    radius[0] = height[0] = 0
    turn = numpy.divide(1, numpy.sqrt(radius), out=numpy.zeros(count), where=radius > 0)
    places = vec3(radius * numpy.cos(angle), radius * numpy.sin(angle), height)
    return np.asarray(masses), places, vec3(-turn * numpy.sin(angle), turn * numpy.cos(angle), 0.0 * turn)


def step(masses, places, speeds):
    """Moves every body by the forces of all others, in place."""
    apart = places[np.newaxis] - places[:, np.newaxis]
    square = dot(apart, apart) + SOFTENING**2
    pull = masses / (square * np.sqrt(square))
    speeds += TIME * (pull * apart).sum(axis=1)
    places += TIME * speeds


def step_by_hand(masses, places, speeds):
    """The step in the three components."""
    x, y, z = places
    dx, dy, dz = x - x[:, np.newaxis], y - y[:, np.newaxis], z - z[:, np.newaxis]
    square = dx * dx + dy * dy + dz * dz + SOFTENING**2
    pull = masses / (square * np.sqrt(square))
    for axis, apart in enumerate((dx, dy, dz)):
        speeds[axis] += TIME * (pull * apart).sum(axis=1)
        places[axis] += TIME * speeds[axis]


def picture(paths):
    """A plate that was exposed to all places of all bodies, seen from above and a little from the side."""
    x, y, z = paths
    column, row = ((numpy.stack([x, 0.8 * y - 0.6 * z]) / 2.6 + 0.5) * PIXELS).astype(numpy.int64)
    seen = (column >= 0) & (column < PIXELS) & (row >= 0) & (row < PIXELS)
    plate = numpy.zeros((PIXELS, PIXELS))
    numpy.add.at(plate, (row[seen], column[seen]), 1)
    light = numpy.log1p(plate)
    return palette.picture(light / light.max(), SKY)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=300, help="bodies")
    parser.add_argument("--steps", type=int, default=1000, help="steps of time")
    parser.add_argument("--output", default="n_body_in_vectors.png", help="the image to write")
    options = parser.parse_args()

    masses, places, speeds = start(options.size)
    paths = numpy.empty((3, options.steps, options.size))
    for turn in range(options.steps):
        step(masses, places, speeds)
        paths[:, turn] = [numpy.asarray(each) for each in (places.x, places.y, places.z)]
    picture(paths).save(options.output)
    print(f"energy of motion {float((masses * dot(speeds, speeds)).sum() / 2):.6f}")


if __name__ == "__main__":
    main()
