"""The grain of a wooden board: the principal axes of the gradients around each pixel, and how clear they are.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/grain.py --output grain.png
    python -m gpupy examples/grain.py --output grain.png
"""

import argparse

import numpy as np
from PIL import Image


def board(size):
    """Rings of wood that bend about two knots."""
    y, x = np.linspace(-1, 1, size)[:, np.newaxis], np.linspace(-1, 1, size)
    bent = y + 0.15 * np.sin(2.5 * x)
    for at_x, at_y, strength in ((-0.45, 0.25, 0.16), (0.5, -0.35, 0.12)):
        square = (x - at_x) ** 2 + (y - at_y) ** 2
        bent = bent + strength * (y - at_y) / (square + 0.02)
    return 0.5 + 0.35 * np.sin(24 * bent) + 0.1 * np.sin(61 * bent + 3 * x)


def smooth(image, width):
    """The mean of the pixels around each: along rows, then along columns."""
    for axis in (0, 1):
        sums = np.cumsum(
            np.pad(image, [(width + 1, width) if a == axis else (0, 0) for a in (0, 1)], "edge"), axis
        )
        span = 2 * width + 1
        image = (
            np.take(sums, range(span, sums.shape[axis]), axis)
            - np.take(sums, range(sums.shape[axis] - span), axis)
        ) / span
    return image


def axes(image, width):
    """Along the grain: a unit vector for each pixel, and from 0 to 1 how much clearer it is than across."""
    down, across = np.gradient(image)
    products = [smooth(each, width) for each in (across * across, across * down, down * down)]
    tensors = np.stack([products[0], products[1], products[1], products[2]], axis=-1).reshape(
        *image.shape, 2, 2
    )
    values, vectors = np.linalg.eigh(tensors)
    # The least change is along the grain.
    return vectors[..., 0], (values[..., 1] - values[..., 0]) / (values.sum(axis=-1) + 1e-12)


def coloured(along, clear, image):
    """The direction as a colour, the lightness that of the image."""
    x, y = along[..., 0], along[..., 1]
    # Twice the angle: opposite vectors are one direction.
    twice = np.stack([x * x - y * y, 2 * x * y], axis=-1)
    thirds = np.array([[1.0, 0.0], [-0.5, 0.866], [-0.5, -0.866]])
    colours = 0.5 + 0.5 * clear[..., np.newaxis] * (twice[..., np.newaxis, :] * thirds).sum(axis=-1)
    return (255 * np.clip(colours * (0.45 + 0.55 * image[..., np.newaxis]), 0.0, 1.0)).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=300, help="pixels along each side")
    parser.add_argument(
        "--width", type=int, default=5, help="pixels on each side that are looked at together"
    )
    parser.add_argument("--output", default="grain.png", help="the image to write")
    options = parser.parse_args()

    image = board(options.size)
    along, clear = axes(image, options.width)
    grey = np.repeat((255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)[..., np.newaxis], 3, axis=-1)
    Image.fromarray(np.asarray(np.concatenate([grey, coloured(along, clear, image)], axis=1))).save(
        options.output
    )
    level = abs(along[..., 0]).mean()
    print(f"the grain is {100 * clear.mean():.1f} % clear, and {100 * level:.1f} % level")


if __name__ == "__main__":
    main()
