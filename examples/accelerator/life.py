"""Life: one generation of Conway's cells on a torus of 1000 × 1000.

Cells are float32, 0 or 1, as they would be in a cellular automaton of any kind.

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/life.py --output life.png
    python -m gpupy examples/accelerator/life.py --output life.png
"""

import argparse

import numpy as np

import scene

SEED = 1


def start(size=1000):
    """Cells of which a third live."""
    return ((np.random.default_rng(SEED).random((size, size)) < 1 / 3).astype(np.float32),)


def life(cells):
    """The next generation: a cell is born of three neighbours, and lives on with two or three."""
    around = sum(
        np.roll(cells, (down, right), axis=(0, 1))
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    lives = (around == 3) | ((around == 2) & (cells == 1))
    return lives.astype(cells.dtype)


def picture(before, after):
    """The first 150 cells each way, enlarged: survivors are white, born cells green, dying ones red."""
    colours = 255 * np.stack([before * (0.4 + 0.6 * after), after, before * after], axis=-1)
    return scene.image(colours[:150, :150].repeat(5, axis=0).repeat(5, axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="cells in each direction")
    parser.add_argument("--output", default="life.png", help="the image to write")
    options = parser.parse_args()

    (cells,) = start(options.size)
    after = life(cells)
    picture(cells, after).save(options.output)
    print(f"{int(cells.sum())} cells live, then {int(after.sum())}")


if __name__ == "__main__":
    main()
