"""Spins of a magnet at several temperatures: the Ising model by Metropolis' rule, on a checkerboard.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/ising.py --output ising.png
    python -m gpupy examples/ising.py --output ising.png

Random numbers are those of NumPy's generator, which the device draws itself.
"""

import argparse

import numpy as np
from PIL import Image

# In units of the coupling; order ends at 2.269.
TEMPERATURES = (1.6, 2.269, 3.2)


def chances():
    """By temperature: how often a spin turns that has more equal neighbours by two, or by four."""
    shares = np.exp(-np.array([4.0, 8.0]) / np.array(TEMPERATURES)[:, np.newaxis])
    return shares.astype(np.float32)[..., np.newaxis, np.newaxis]


def half_sweep(spins, rng, below, colour):
    """Turns spins of one colour of the checkerboard: those that gain by it, and others by chance."""
    around = sum(np.roll(spins, step, axis) for step in (1, -1) for axis in (1, 2))
    held = spins * around
    drawn = rng.random(spins.shape, dtype=np.float32)
    chance = np.where(held == 2, drawn < below[:, 0], drawn < below[:, 1])
    return np.where(colour & ((held <= 0) | chance), -spins, spins)


def cooled(size, sweeps):
    """The spins of a magnet at each temperature, from a random start."""
    rng = np.random.default_rng(20)
    spins = 1 - 2 * rng.integers(0, 2, (len(TEMPERATURES), size, size), dtype=np.int8)
    colour = np.indices((size, size)).sum(axis=0) % 2 == 0
    below = chances()
    for _ in range(sweeps):
        for each in (colour, ~colour):
            spins = half_sweep(spins, rng, below, each)
    return spins


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=160, help="sites along each side; an even number")
    parser.add_argument("--sweeps", type=int, default=300, help="how often each spin is looked at")
    parser.add_argument("--output", default="ising.png", help="the image to write")
    options = parser.parse_args()

    spins = cooled(options.size, options.sweeps)
    shades = np.where(spins > 0, 235, 40).astype(np.uint8)
    image = Image.fromarray(np.asarray(np.concatenate(list(shades), axis=1)))
    image.resize((2 * image.width, 2 * image.height), Image.Resampling.NEAREST).save(options.output)
    for temperature, magnet in zip(TEMPERATURES, spins, strict=True):
        print(f"temperature {temperature:g}: magnetisation {abs(magnet.mean(dtype=np.float64)):.3f}")


if __name__ == "__main__":
    main()
