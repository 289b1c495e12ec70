"""Matrix × matrix: two of 1000 × 1000 numbers (SGEMM of BLAS).

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/matrix_matrix.py
    python -m gpupy examples/accelerator/matrix_matrix.py
"""

import argparse

import numpy as np

SEED = 1


def start(size=1000):
    """Both matrices."""
    chance = np.random.default_rng(SEED)
    return (
        chance.standard_normal((size, size), dtype=np.float32),
        chance.standard_normal((size, size), dtype=np.float32),
    )


def matrix_matrix(left, right):
    """Their product."""
    return left @ right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="rows, and columns")
    options = parser.parse_args()
    product = matrix_matrix(*start(options.size))
    print(f"the trace of the product is {np.trace(product):.1f}")


if __name__ == "__main__":
    main()
