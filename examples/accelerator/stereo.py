"""Stereo matching: how near each pixel of 1000 × 1000 is, from the pictures of two cameras side by side.

What the left camera sees at some place, the right one sees further left, the more so the nearer it is. Of 16
offsets the one is taken whose squared differences have the least sum over 7 × 7 pixels.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/stereo.py --output stereo.png
    python -m gpupy examples/accelerator/stereo.py --output stereo.png
"""

import argparse

import numpy as np

import scene

OFFSETS = 16
WINDOW = 7


def start(size=1000):
    """The left picture and the right one: a slope, and on it a ball, a ring and a board."""
    y, x = np.mgrid[:size, :size]
    depth = 1 + 5 * y / size
    radius = np.hypot(y / size - 0.35, x / size - 0.3)
    depth = np.where(radius < 0.2, 8 + 35 * np.sqrt((0.04 - radius**2).clip(0)), depth)
    radius = np.hypot(y / size - 0.4, x / size - 0.72)
    depth = np.where(abs(radius - 0.14) < 0.045, 10, depth)
    depth = np.where((abs(y / size - 0.78) < 0.1) & (abs(x / size - 0.5) < 0.35), 12, depth)
    right = scene.texture(y, x, 60, 4)
    left = right[y, (x - depth.astype(np.int64)).clip(0)]
    noise = np.random.default_rng(1).integers(-4, 5, (size, size))
    return scene.levels(left + noise), right


def stereo(left, right):
    """The offset of each pixel."""
    width = left.shape[1]
    wide = np.pad(right, ((0, 0), (OFFSETS - 1, 0)), mode="edge")
    nearest = np.zeros_like(left)
    least = np.full_like(left, np.inf)
    for offset in range(OFFSETS):
        first = OFFSETS - 1 - offset
        cost = window_sums((left - wide[:, first : first + width]) ** 2)
        nearest = np.where(cost < least, offset, nearest)
        least = np.minimum(cost, least)
    return nearest


def window_sums(image):
    """The sums of the pixels around each; outside is the nearest pixel."""
    height, width = image.shape
    padded = np.pad(image, WINDOW // 2, mode="edge")
    sums = sum(padded[k : k + height] for k in range(WINDOW))
    return sum(sums[:, k : k + width] for k in range(WINDOW))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="pixels in each direction")
    parser.add_argument("--output", default="stereo.png", help="the image to write")
    options = parser.parse_args()

    offsets = stereo(*start(options.size))
    scene.image(offsets * (255 / (OFFSETS - 1))).save(options.output)
    print(f"the mean offset is {offsets.mean():.3f}")


if __name__ == "__main__":
    main()
