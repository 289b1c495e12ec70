"""How many steps numbers take to reach 1 by Collatz's rule: halve an even number, else triple it and add one.

    python examples/collatz.py --output collatz.png

It is not known whether the loop ends for every number, so that the number of turns cannot be planned: points
take turns until none is left.
"""

import argparse

import numpy as np

import gpupy
import palette

NIGHT = ((0.02, 0.02, 0.1), (0.3, 0.1, 0.5), (0.9, 0.3, 0.3), (1.0, 0.9, 0.6))


@gpupy.kernel
def length(n):
    """The steps from a number to 1."""
    steps = np.int32(0)
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512, help="pixels in each direction")
    parser.add_argument("--output", default="collatz.png", help="the image to write")
    options = parser.parse_args()

    # On the way to 1, numbers are larger than int32 has room for.
    numbers = gpupy.arange(1, options.size**2 + 1, dtype=np.int64)
    lengths = np.asarray(length(numbers)).reshape(options.size, options.size)
    palette.picture(lengths / lengths.max(), NIGHT).save(options.output)
    print(f"{int(lengths.argmax()) + 1} takes the most steps: {int(lengths.max())}")


if __name__ == "__main__":
    main()
