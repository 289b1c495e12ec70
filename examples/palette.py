"""Numbers from 0 to 1 as colours, for the pictures of the simulations."""

import numpy as np
from PIL import Image


def picture(shares, stops):
    """Makes an image of numbers; the colours `stops` (red, green, blue) are spaced evenly from 0 to 1."""
    levels = np.linspace(0, 1, 256)
    places = np.linspace(0, 1, len(stops))
    table = np.stack([np.interp(levels, places, channel) for channel in zip(*stops, strict=True)], axis=-1)
    colours = np.rint(255 * table).astype(np.uint8)
    return Image.fromarray(np.asarray(colours[(255 * shares.clip(0, 1)).astype(np.uint8)]))
