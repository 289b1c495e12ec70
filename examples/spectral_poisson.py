"""Forces between charges in a periodic box: the potential by a Fourier transform, and charges that follow it.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/spectral_poisson.py --output potential.png
    python -m gpupy examples/spectral_poisson.py --output potential.png
"""

import argparse

import numpy as np

import palette

RATE = 0.05  # how far charge flows in a step
FIELD = ((0.1, 0.2, 0.7), (0.4, 0.7, 0.95), (0.98, 0.98, 0.95), (0.98, 0.6, 0.3), (0.6, 0.05, 0.1))


def start(size):
    """Charges as a ring and two bars, of no charge in all, and the squares of all waves' numbers."""
    rows, columns = np.indices((size, size)) / size
    ring = abs(np.hypot(rows - 0.4, columns - 0.42) - 0.18) < 0.02
    upper = (abs(rows - 0.78) < 0.015) & (abs(columns - 0.5) < 0.3)
    side = (abs(columns - 0.85) < 0.015) & (abs(rows - 0.35) < 0.2)
    charge = 1.0 * ring - 1.0 * upper - 0.5 * side
    charge -= charge.mean()
    waves = 2 * np.pi * np.fft.fftfreq(size, 1 / size)
    squares = waves[:, None] ** 2 + (2 * np.pi * np.fft.rfftfreq(size, 1 / size)) ** 2
    squares[0, 0] = 1.0
    return charge, squares


def potential(charge, squares):
    """Solves Poisson's equation: the waves of the potential are those of the charge over their squares."""
    return np.fft.irfft2(np.fft.rfft2(charge) / squares, s=charge.shape)


def step(charge, squares):
    """Lets charge spread along the field, as in a conductor of little conductance."""
    field = potential(charge, squares)
    slope = np.roll(field, 1, 0) + np.roll(field, -1, 0) + np.roll(field, 1, 1) + np.roll(field, -1, 1)
    charge += RATE * charge.size * (slope - 4 * field)


def result(charge, squares):
    """The result for the test."""
    return potential(charge, squares)


def picture(charge, squares):
    """The potential, from the most negative to the most positive."""
    field = potential(charge, squares)
    return palette.picture(0.5 + field / (2 * abs(field).max()), FIELD)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=20, help="steps of time")
    parser.add_argument("--output", default="potential.png", help="the image to write")
    options = parser.parse_args()

    state = start(options.size)
    for _ in range(options.steps):
        step(*state)
    picture(*state).save(options.output)
    print(f"largest potential {float(potential(*state).max()):.6f}")


if __name__ == "__main__":
    main()
