"""Rotate: a picture of 1000 × 1000 pixels in colour, turned by 10 degrees, bilinear, cropped to its frame.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/rotate.py --output rotate.png
    python -m gpupy examples/accelerator/rotate.py --output rotate.png
"""

import argparse
import math

import numpy as np

import scene

ANGLE = math.radians(10)


def start(size=1000):
    """The picture."""
    return (scene.landscape(size, softness=12),)


def rotate(picture, angle=ANGLE):
    """The picture turned about its centre; outside is black."""
    height, width, _ = picture.shape
    i = np.arange(height)[:, np.newaxis]
    j = np.arange(width)
    y = (i - (height - 1) / 2).astype(picture.dtype)
    x = (j - (width - 1) / 2).astype(picture.dtype)

    # How far from its own place a pixel comes: smaller numbers than its place, so their fractions are finer.
    down = (math.cos(angle) - 1) * y - math.sin(angle) * x
    right = math.sin(angle) * y + (math.cos(angle) - 1) * x
    rows, columns = np.floor(down), np.floor(right)
    lower, righter = (down - rows)[..., np.newaxis], (right - columns)[..., np.newaxis]
    top, left = i + rows.astype(np.int32), j + columns.astype(np.int32)
    inside = (top >= 0) & (top < height - 1) & (left >= 0) & (left < width - 1)

    top, left = top.clip(0, height - 2), left.clip(0, width - 2)
    above = (1 - righter) * picture[top, left] + righter * picture[top, left + 1]
    below = (1 - righter) * picture[top + 1, left] + righter * picture[top + 1, left + 1]
    return np.where(inside[..., np.newaxis], (1 - lower) * above + lower * below, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="pixels in each direction")
    parser.add_argument("--output", default="rotate.png", help="the image to write")
    options = parser.parse_args()

    turned = rotate(*start(options.size))
    scene.image(turned).save(options.output)
    red, green, blue = turned.mean(axis=(0, 1), dtype=np.float64)
    print(f"the mean colour is {red:.2f}, {green:.2f}, {blue:.2f}")


if __name__ == "__main__":
    main()
