"""The potential of charged plates in a box: Poisson's equation, solved by conjugate gradients.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/conjugate_gradients.py --output conjugate_gradients.png
    python -m gpupy examples/conjugate_gradients.py --output conjugate_gradients.png
"""

import argparse

import numpy as np
from PIL import Image


def charges(size):
    """Two plates of opposite charge, and a ring, in a square whose border has no potential."""
    y, x = np.linspace(-1, 1, size)[:, np.newaxis], np.linspace(-1, 1, size)
    density = np.zeros((size, size))
    density[(abs(x + 0.55) < 0.02) & (abs(y) < 0.5)] = 1.0
    density[(abs(x - 0.55) < 0.02) & (abs(y) < 0.5)] = -1.0
    density[abs(np.sqrt(x**2 + y**2) - 0.2) < 0.015] = 0.6
    return density


def stiffness(potential):
    """Four times each value less its neighbours; beyond the border there is nothing."""
    made = 4.0 * potential
    made[1:] -= potential[:-1]
    made[:-1] -= potential[1:]
    made[:, 1:] -= potential[:, :-1]
    made[:, :-1] -= potential[:, 1:]
    return made


def solved(density, most=2000, within=1e-8):
    """The potential, and in how many steps it was found."""
    potential = np.zeros_like(density)
    residual = density.copy()
    direction = residual.copy()
    square = first = (residual * residual).sum()
    for step in range(most):
        if square <= within * within * first:
            return potential, step
        turned = stiffness(direction)
        length = square / (direction * turned).sum()
        potential += length * direction
        residual -= length * turned
        before, square = square, (residual * residual).sum()
        direction = residual + square / before * direction
    return potential, most


def picture(potential):
    """Red where the potential is positive, blue where it is negative, with lines of equal potential."""
    share = potential / abs(potential).max()
    pale = 1.0 - np.sqrt(abs(share))
    line = abs(share * 12 - np.rint(share * 12)) < 0.06
    colours = np.stack([np.where(share > 0, 1.0, pale), pale, np.where(share > 0, pale, 1.0)], axis=-1)
    return (255 * np.where(line[..., np.newaxis], 0.75 * colours, colours)).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=300, help="points along each side")
    parser.add_argument("--output", default="conjugate_gradients.png", help="the image to write")
    options = parser.parse_args()

    potential, _ = solved(charges(options.size))
    Image.fromarray(np.asarray(picture(potential))).save(options.output)
    print(f"potentials from {potential.min():.3f} to {potential.max():.3f}")


if __name__ == "__main__":
    main()
