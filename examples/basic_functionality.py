"""Compares every basic operation of gpupy with NumPy's, on random float32 numbers from 0 to 1.

Prints the mean, the deviation and the maximum of the relative error of each operation, times 10^9, and ends
with status 1 if one of them is wrong by more than some units in the last place. All is computed on the driver
that is in use, as the last column says, or by NumPy where that driver cannot: placement is strict, without
which the driver `cpu` computes so few elements, because that is faster.

    python examples/basic_functionality.py
    GPUPY_DRIVER=gl python examples/basic_functionality.py
"""

import operator
import os
import random as python_random
import sys

# The references are computed by real NumPy: calls below through `numpy` have nothing of gpupy in them.
import numpy

# Before gpupy is imported, which reads it.
os.environ["GPUPY_PLACEMENT"] = "strict"
import gpupy
from gpupy import *

SIZE = 1024
SEED = 1
SCALE = 1.0e9
LIMIT = 1.0e-6  # about 8 units in the last place; NumPy itself promises 4

UNARY = (
    absolute, arccos, arcsin, arctan, cos, cosh, exp, fabs, log, log10, sin, sinh, sqrt, tan, tanh,
)  # fmt: skip
BINARY = (
    add, arctan2, divide, equal, fmod, maximum, minimum, multiply, operator.pow, power, subtract,
)  # fmt: skip


def relative_errors(values, references):
    """Returns the relative error of each element; the absolute one where the reference is zero."""
    # Element by element, as a program does that knows nothing of arrays.
    values = numpy.array([float(value) for value in values])
    references = numpy.array([float(reference) for reference in references])
    errors = numpy.abs(values - references)
    return errors / numpy.where(references == 0, 1, numpy.abs(references))


def check(operation, *data):
    """Runs one operation by gpupy and by NumPy on the same data; returns their errors, and what ran."""
    gpupy.reset_stats()
    result = operation(*(array(numbers, dtype=gpufloat32) for numbers in data))
    reference = getattr(numpy, operation.__name__)(*(numpy.array(n, dtype=numpy.float32) for n in data))
    if result.shape != reference.shape or result.dtype != reference.dtype:
        raise TypeError(
            f"{operation.__name__} gave {result.shape} {result.dtype}, "
            f"NumPy gives {reference.shape} {reference.dtype}"
        )
    errors = relative_errors(result, reference)
    return errors.mean(), errors.std(), errors.max(), ", ".join(where_it_ran())


def where_it_ran():
    """The drivers that have launched something since the last operation, and NumPy if it was called."""
    counts = gpupy.stats()
    drivers = [name for name, own in counts["drivers"].items() if own["launches"]]
    return [*drivers, "NumPy"] if counts["fallbacks"] else drivers


def main():
    generator = python_random.Random(SEED)
    data = [[generator.random() for _ in range(SIZE)] for _ in range(2)]
    results = {operation.__name__: check(operation, data[0]) for operation in UNARY}
    results |= {operation.__name__: check(operation, *data) for operation in BINARY}

    print("relative error, times 10^9")
    print(f"{'operation':<12}{'mean':>10}{'deviation':>12}{'maximum':>10}   on")
    for name in sorted(results):
        *errors, place = results[name]
        mean, deviation, worst = (error * SCALE for error in errors)
        print(f"{name:<12}{mean:>10.0f}{deviation:>12.0f}{worst:>10.0f}   {place}")

    wrong = sorted(name for name, (_, _, worst, _) in results.items() if not worst <= LIMIT)
    if wrong:
        print(f"wrong by more than {LIMIT}: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
