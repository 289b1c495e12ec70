"""Demosaic: a picture in colour from the one value a pixel that a camera's sensor has, 1000 × 1000.

The interpolation is that of Malvar, He and Cutler (High-quality linear interpolation for demosaicing of
Bayer-patterned color images, 2004): a missing colour is the mean of its nearest neighbours, corrected by how
far the colour that is there departs from its own.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/demosaic.py --output demosaic.png
    python -m gpupy examples/accelerator/demosaic.py --output demosaic.png
"""

import argparse

import numpy as np

import scene


def start(size=1000):
    """The sensor's output: red and green in even rows, green and blue in odd ones."""
    picture = scene.landscape(size, softness=2)
    raw = picture[..., 1].copy()
    raw[::2, ::2] = picture[::2, ::2, 0]
    raw[1::2, 1::2] = picture[1::2, 1::2, 2]
    return (raw,)


def demosaic(raw):
    """Red, green and blue of every pixel."""
    height, width = raw.shape
    mirrored = np.pad(raw, 2, mode="reflect")

    def near(down, right):
        return mirrored[2 + down : 2 + down + height, 2 + right : 2 + right + width]

    beside = near(0, -1) + near(0, 1)
    above_below = near(-1, 0) + near(1, 0)
    diagonal = near(-1, -1) + near(-1, 1) + near(1, -1) + near(1, 1)
    far_beside = near(0, -2) + near(0, 2)
    far_above_below = near(-2, 0) + near(2, 0)

    # Each filter has its taps in eighths.
    cross = (4 * raw + 2 * (beside + above_below) - (far_beside + far_above_below)) / 8
    of_row = (5 * raw + 4 * beside - diagonal - far_beside + 0.5 * far_above_below) / 8
    of_column = (5 * raw + 4 * above_below - diagonal - far_above_below + 0.5 * far_beside) / 8
    opposite = (6 * raw + 2 * diagonal - 1.5 * (far_beside + far_above_below)) / 8

    even_row = np.arange(height)[:, np.newaxis] % 2 == 0
    even_column = np.arange(width) % 2 == 0
    red = np.where(even_row, np.where(even_column, raw, of_row), np.where(even_column, of_column, opposite))
    green = np.where(even_row == even_column, cross, raw)
    blue = np.where(even_row, np.where(even_column, opposite, of_column), np.where(even_column, of_row, raw))
    return np.stack([red, green, blue], axis=-1).clip(0, 255)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="pixels in each direction")
    parser.add_argument("--output", default="demosaic.png", help="the image to write")
    options = parser.parse_args()

    colours = demosaic(*start(options.size))
    scene.image(colours).save(options.output)
    red, green, blue = colours.mean(axis=(0, 1), dtype=np.float64)
    print(f"the mean colour is {red:.2f}, {green:.2f}, {blue:.2f}")


if __name__ == "__main__":
    main()
