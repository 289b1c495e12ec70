"""Sum: the sum of the absolute values of a matrix of 1000 × 1000 numbers (SASUM of BLAS).

An ordinary NumPy program. It runs by NumPy as it is, and by gpupy without a change:

    python examples/accelerator/absolute_sum.py
    python -m gpupy examples/accelerator/absolute_sum.py
"""

import argparse

import numpy as np

SEED = 1


def start(size=1000):
    """The matrix."""
    return (np.random.default_rng(SEED).standard_normal((size, size), dtype=np.float32),)


def absolute_sum(matrix):
    """One number."""
    return np.abs(matrix).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="rows, and columns")
    options = parser.parse_args()
    print(f"the sum is {absolute_sum(*start(options.size)):.1f}")


if __name__ == "__main__":
    main()
