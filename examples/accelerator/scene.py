"""Input pictures, in place of photographs: a landscape in colour, a pattern that moves, two views.

All are float32 arrays of whole numbers from 0 to 255, as cameras give them: sums of their squares are exact.
"""

import numpy as np
from PIL import Image

SEED = 1


def landscape(size, softness):
    """A picture in colour of hills between a sun and tiles, whose edges are `softness` pixels wide."""
    y, x = np.mgrid[:size, :size] / size
    width = softness / size

    def cover(picture, colour, inside):
        # `inside` is the distance to an edge, positive within.
        share = (0.5 + inside / width).clip(0, 1)[..., np.newaxis]
        return picture * (1 - share) + np.array(colour) * share

    sky = y[..., np.newaxis]
    picture = np.array([60, 110, 200]) * (1 - sky) + np.array([250, 220, 180]) * sky
    picture = cover(picture, (255, 240, 170), 0.11 - np.hypot(y - 0.24, x - 0.68))
    picture = cover(picture, (70, 90, 120), y - 0.42 - 0.07 * np.sin(9 * x + 1) - 0.02 * np.sin(23 * x))
    picture = cover(picture, (60, 120, 70), y - 0.55 - 0.05 * np.sin(6 * x + 4) - 0.01 * np.sin(31 * x))
    # Tiles that are turned, with straight edges and corners of every direction.
    along, across = (np.arcsin(np.sin(19 * d)) / 19 for d in (0.8 * x + 0.6 * y, 0.8 * y - 0.6 * x))
    tiles = np.sign(along * across) * np.minimum(abs(along), abs(across))
    ground = cover(np.array([225, 215, 200]) + 0 * picture, (130, 60, 50), tiles)
    share = (0.5 + (y - 0.68) / width).clip(0, 1)[..., np.newaxis]
    return levels(picture * (1 - share) + ground * share)


def texture(rows, columns, longest, shortest):
    """Waves of all directions and of some lengths, as grey levels at any places."""
    chance = np.random.default_rng(SEED)
    sums = np.zeros(np.broadcast(rows, columns).shape)
    for length in np.geomspace(longest, shortest, 24):
        angle, phase = chance.uniform(0, 2 * np.pi, 2)
        sums += np.cos(2 * np.pi / length * (rows * np.sin(angle) + columns * np.cos(angle)) + phase)
    return levels(127.5 + 22 * sums)


def grey(picture):
    """The brightness of a picture in colour."""
    return levels(0.299 * picture[..., 0] + 0.587 * picture[..., 1] + 0.114 * picture[..., 2])


def levels(brightness):
    """Brightness as an 8-bit camera records it."""
    return brightness.clip(0, 255).astype(np.uint8).astype(np.float32)


def image(pixels):
    """Grey levels (rows, columns), or colours (rows, columns, 3), as an image to save."""
    return Image.fromarray(np.asarray(pixels.clip(0, 255).astype(np.uint8)))
