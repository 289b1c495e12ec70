"""Spins of a magnet at several temperatures: the Ising model by Metropolis' rule, on a checkerboard.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/ising.py --output ising.png
    python -m gpupy examples/ising.py --output ising.png

Random numbers are those of an xorshift generator at each site, so that every library has the same ones.
"""

import argparse

import numpy as np
from PIL import Image

# In units of the coupling; order ends at 2.269.
TEMPERATURES = (1.6, 2.269, 3.2)


def seeds(shape):
    """A state other than zero for the generator of each site."""
    state = np.arange(1, np.prod(shape) + 1, dtype=np.uint32).reshape(shape) * np.uint32(2654435769)
    for _ in range(8):
        state = drawn(state)
    return state


def drawn(state):
    """The next state of each generator."""
    state = state ^ (state << np.uint32(13))
    state = state ^ (state >> np.uint32(17))
    return state ^ (state << np.uint32(5))


def thresholds():
    """By temperature: below which number a spin turns that has more equal neighbours by two, or by four."""
    shares = np.exp(-np.array([4.0, 8.0]) / np.array(TEMPERATURES)[:, np.newaxis])
    return (shares * 2**32).astype(np.uint32)[..., np.newaxis, np.newaxis]


def half_sweep(spins, state, below, colour):
    """Turns spins of one colour of the checkerboard: those that gain by it, and others by chance."""
    around = sum(np.roll(spins, step, axis) for step in (1, -1) for axis in (1, 2))
    held = spins * around
    state = drawn(state)
    chance = np.where(held == 2, state < below[:, 0], state < below[:, 1])
    return np.where(colour & ((held <= 0) | chance), -spins, spins), state


def cooled(size, sweeps):
    """The spins of a magnet at each temperature, from a random start."""
    state = seeds((len(TEMPERATURES), size, size))
    spins = np.where(state & np.uint32(1 << 16), 1, -1).astype(np.int8)
    colour = np.indices((size, size)).sum(axis=0) % 2 == 0
    below = thresholds()
    for _ in range(sweeps):
        for each in (colour, ~colour):
            spins, state = half_sweep(spins, state, below, each)
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
