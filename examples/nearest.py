"""Points of four kinds, and for each place of a map the kind that most of its nearest points have.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/nearest.py --output nearest.png
    python -m gpupy examples/nearest.py --output nearest.png
"""

import argparse

import numpy as np
from PIL import Image

KINDS = 4
NEAREST = 9
COLOURS = np.array([[214, 96, 77], [67, 147, 195], [90, 174, 97], [245, 195, 66]], dtype=np.uint8)


def known(count):
    """Points all over the unit square, and their kinds: that of a spiral arm, with some in the wrong one."""
    # Multiples of irrational numbers fill the square evenly.
    k = np.arange(count)
    points = np.stack([(k * 0.754877666) % 1, (k * 0.569840291) % 1], axis=-1)
    x, y = points[:, 0] - 0.5, points[:, 1] - 0.5
    arms = (x * x + y * y) * 5 + np.where(y > 0, 0.5, 0) + np.where(x * y > 0, 0.25, 0)
    kinds = (arms * KINDS).astype(np.int64) % KINDS
    return points, np.where(k % 11 == 5, (kinds + 1) % KINDS, kinds)


def kinds_of(places, points, kinds):
    """The most frequent kind of the nearest points, and the share of these that have it."""
    apart = places[:, np.newaxis, :] - points
    nearest = np.argpartition((apart * apart).sum(axis=2), NEAREST, axis=1)[:, :NEAREST]
    votes = (kinds[nearest][..., np.newaxis] == np.arange(KINDS)).sum(axis=1)
    return votes.argmax(axis=1), votes.max(axis=1) / NEAREST


def picture(size, points, kinds):
    """A map of the kinds, paler where the nearest points are of several, with the points in it."""
    middle = (np.arange(size) + 0.5) / size
    row, column = np.meshgrid(middle, middle, indexing="ij")
    found, share = kinds_of(np.stack([column.ravel(), row.ravel()], axis=-1), points, kinds)
    pale = 255 - (255 - COLOURS[found].astype(np.float64)) * share[:, np.newaxis] * 0.6
    pixels = pale.astype(np.uint8).reshape(size, size, 3)
    at = (points * size).astype(np.int64)
    pixels[at[:, 1], at[:, 0]] = COLOURS[kinds]
    return pixels, np.bincount(found, minlength=KINDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=150, help="places along each side of the map")
    parser.add_argument("--points", type=int, default=400, help="points whose kind is known")
    parser.add_argument("--output", default="nearest.png", help="the image to write")
    options = parser.parse_args()

    pixels, counts = picture(options.size, *known(options.points))
    image = Image.fromarray(np.asarray(pixels))
    image.resize((450, 450), Image.Resampling.NEAREST).save(options.output)
    print("places of each kind:", *counts.tolist())


if __name__ == "__main__":
    main()
