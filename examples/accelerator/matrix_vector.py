"""Matrix × vector: 1000 × 1000 numbers by 1000 (SGEMV of BLAS).

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/matrix_vector.py
    python -m gpupy examples/accelerator/matrix_vector.py
"""

import argparse

import numpy as np

SEED = 1


def start(size=1000):
    """The matrix and the vector."""
    chance = np.random.default_rng(SEED)
    return (
        chance.standard_normal((size, size), dtype=np.float32),
        chance.standard_normal(size, dtype=np.float32),
    )


def matrix_vector(matrix, vector):
    """A number for each row."""
    return matrix @ vector


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="rows, and columns")
    options = parser.parse_args()
    product = matrix_vector(*start(options.size))
    print(f"the product is {np.sqrt((product * product).sum()):.1f} long")


if __name__ == "__main__":
    main()
