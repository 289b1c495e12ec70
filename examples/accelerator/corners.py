"""Corner detection: where a grey image of 1000 × 1000 pixels has corners, by Kanade, Lucas and Tomasi.

The image is smoothed; the products of its derivatives make a matrix C of 2 × 2 at each pixel, which is
smoothed too; its eigenvalues are both large where edges of two directions meet.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/corners.py --output corners.png
    python -m gpupy examples/accelerator/corners.py --output corners.png
"""

import argparse

import numpy as np

import scene
from convolve import convolve

NINE_TAPS = tuple(tap / 256 for tap in (1, 8, 28, 56, 70, 56, 28, 8, 1))
GAMMA = 0.5


def start(size=1000):
    """The image."""
    return (scene.grey(scene.landscape(size, softness=2)),)


def corners(image):
    """How much of a corner each pixel is: the lesser eigenvalue of C, and a part of the greater one."""
    down, right = np.gradient(convolve(image))
    down_down, right_right = convolve(down * down, NINE_TAPS), convolve(right * right, NINE_TAPS)
    down_right = convolve(down * right, NINE_TAPS)
    mean = (down_down + right_right) / 2
    apart = np.sqrt(((down_down - right_right) / 2) ** 2 + down_right**2)
    return GAMMA * (mean + apart) + (mean - apart)


def picture(image, cornerness):
    """The image, and over it in red how much of a corner it is; the power sets corners off from edges."""
    strength = (cornerness / cornerness.max())[..., np.newaxis] ** 8
    return scene.image((1 - strength) * image[..., np.newaxis] + strength * np.array([255, 0, 0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="pixels in each direction")
    parser.add_argument("--output", default="corners.png", help="the image to write")
    options = parser.parse_args()

    (image,) = start(options.size)
    cornerness = corners(image)
    picture(image, cornerness).save(options.output)
    row, column = np.unravel_index(cornerness.argmax(), cornerness.shape)
    print(f"the best corner is in row {row}, column {column}")


if __name__ == "__main__":
    main()
