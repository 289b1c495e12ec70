"""Convolve: a grey image of 1000 × 1000 pixels by a Gaussian filter of 5 × 5.

A Gaussian filter is the product of one down and one across, so two convolutions by five taps do what one by
25 would.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/convolve.py --output convolve.png
    python -m gpupy examples/accelerator/convolve.py --output convolve.png
"""

import argparse

import numpy as np

import scene

# Binomials, the usual small Gaussian filters: their variance is a quarter of the intervals between taps.
FIVE_TAPS = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


def start(size=1000):
    """The image, with the noise of a camera."""
    noise = np.random.default_rng(1).normal(0, 20, (size, size))
    image = scene.grey(scene.landscape(size, softness=2))
    return (scene.levels(image + noise),)


def convolve(image, taps=FIVE_TAPS):
    """The image smoothed down and across; outside is the nearest pixel."""
    height, width = image.shape
    reach = len(taps) // 2
    tall = np.pad(image, ((reach, reach), (0, 0)), mode="edge")
    smooth = sum(tap * tall[k : k + height] for k, tap in enumerate(taps))
    wide = np.pad(smooth, ((0, 0), (reach, reach)), mode="edge")
    return sum(tap * wide[:, k : k + width] for k, tap in enumerate(taps))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="pixels in each direction")
    parser.add_argument("--output", default="convolve.png", help="the image to write")
    options = parser.parse_args()

    (image,) = start(options.size)
    smooth = convolve(image)
    scene.image(smooth).save(options.output)
    print(f"pixels deviate by {image.std():.2f}, then by {smooth.std():.2f}")


if __name__ == "__main__":
    main()
