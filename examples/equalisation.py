"""A dim picture whose greys are spread over the whole range: histogram equalisation.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/equalisation.py --output equalisation.png
    python -m gpupy examples/equalisation.py --output equalisation.png
"""

import argparse

import numpy as np
from PIL import Image

LEVELS = 256


def scene(size):
    """Hills in haze below a pale sun, in few of the greys from 0 to 255."""
    y, x = np.linspace(0, 1, size)[:, np.newaxis], np.linspace(0, 1, size)
    light = 120 + 18 * (1 - y) + 9 / (1 + 160 * ((x - 0.7) ** 2 + (y - 0.25) ** 2))
    for k in range(5):
        # Parabolas in the place of waves, so that every library has the same bits.
        phase = (x * (2 + k) + 0.37 * k) % 1
        crest = 0.45 + 0.1 * k - 0.25 * phase * (1 - phase)
        light = np.where(y > crest, 128 - 6 * k + 14 * (y - crest), light)
    return light.astype(np.uint8)


def counts_of(image):
    """How many pixels have each grey."""
    counts, _ = np.histogram(image, LEVELS, (0, LEVELS))
    return counts


def equalised(image):
    """The image with greys by the share of pixels that are no lighter."""
    share = np.cumsum(counts_of(image)) / image.size
    return np.interp(image, np.arange(LEVELS), 255 * share).astype(np.uint8)


def chart(image):
    """The histogram of an image as bars below each other, as wide as the image."""
    counts, size = counts_of(image), image.shape[1]
    columns = np.arange(size) * LEVELS // size
    bars = np.sqrt(counts / counts.max())[columns]
    height = np.linspace(1, 0, size // 3)[:, np.newaxis]
    return np.where(bars > height, 230, 40).astype(np.uint8)


def picture(before, after):
    """Both images side by side, each above its histogram."""
    sides = [np.concatenate([image, chart(image)]) for image in (before, after)]
    return Image.fromarray(np.asarray(np.concatenate(sides, axis=1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, help="pixels along each side")
    parser.add_argument("--output", default="equalisation.png", help="the image to write")
    options = parser.parse_args()

    before = scene(options.size)
    after = equalised(before)
    picture(before, after).save(options.output)
    for name, image in (("before", before), ("after", after)):
        low, middle, high = np.percentile(image, [5, 50, 95]).tolist()
        print(f"{name}: 5 % of the pixels are below {low:g}, half below {middle:g}, 95 % below {high:g}")


if __name__ == "__main__":
    main()
