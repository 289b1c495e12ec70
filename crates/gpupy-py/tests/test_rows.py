"""Kernels of many operands over rows of any length: the results are exact, so they must be NumPy's.

Arrays are large enough that nothing is computed at once. Operands are views of every kind; what comes of them
is reduced over some axes, of which some are long and some short. Every number is whole and small, so sums are
exact in any order.
"""

import random

import numpy as np
import pytest

import gpupy as gp

PROGRAMS = {"cpu": 150}
MOST = {"cpu": 100_000}

KINDS = ["whole", "whole", "turned", "stepped", "backwards", "inside", "repeated"]
STEPS = ["add", "add", "maximum", "minimum", "where", "less", "abs", "roll"]


def _shape(chance, most):
    extents = [chance.choice([(1, 20), (20, 300), (300, 9000)]) for _ in range(chance.randint(1, 4))]
    shape = [chance.randint(*extent) for extent in extents]
    while np.prod(shape) > most:
        longest = shape.index(max(shape))
        shape[longest] //= 2
    return tuple(shape)


def _operand(chance, shape, dtype, kinds):
    """An array, and how a module sees it with this shape."""
    elements = np.random.default_rng(chance.randrange(1 << 32))

    def given(*extents):
        return elements.integers(0, 2 if dtype == "bool" else 40, extents).astype(dtype)

    rank = len(shape)
    axis = chance.randrange(rank)
    kind = chance.choice(kinds)
    if kind == "turned":
        order = chance.sample(range(rank), rank)
        return given(*(shape[a] for a in order)), lambda _, x: x.transpose(np.argsort(order).tolist())
    if kind == "stepped":
        step = chance.randint(2, 3)
        extents = [n * step if a == axis else n for a, n in enumerate(shape)]
        return given(*extents), lambda _, x: x[(slice(None),) * axis + (slice(None, None, step),)]
    if kind == "backwards":
        return given(*shape), lambda _, x: x[(slice(None),) * axis + (slice(None, None, -1),)]
    if kind == "inside":
        return given(*(n + 2 for n in shape)), lambda _, x: x[(slice(1, -1),) * rank]
    if kind == "repeated":
        extents = [1 if a == axis else n for a, n in enumerate(shape)]
        return given(*extents), lambda np, x: np.broadcast_to(x, shape)
    return given(*shape), lambda _, x: x


def _program(chance, most):
    """Arrays, and a function of a module and of them."""
    shape = _shape(chance, most)
    dtype = chance.choice(["float32", "float32", "float64", "int32", "int64", "int16", "uint8", "bool"])
    count = chance.choice([1, 2, 3, 4, 8, 16, 26])
    mixed = chance.random() < 0.3
    dtypes = [
        chance.choice(["float32", "int16", "bool", "float64"]) if mixed else dtype for _ in range(count)
    ]
    # Rows go on from one to the next where all operands lie as they are seen.
    kinds = chance.choice([["whole"], KINDS])
    operands = [_operand(chance, shape, each, kinds) for each in dtypes]
    steps = [(chance.choice(STEPS), chance.randrange(count)) for _ in range(2 * count)]
    steps += [("add", number) for number in range(count)]
    axes = tuple(sorted(chance.sample(range(len(shape)), chance.randint(1, len(shape)))))
    last = chance.choice(["sum", "max", "min", "any", "count_nonzero", "argmax", None])
    by = chance.randint(-3, 3)

    def run(np, arrays):
        seen = [see(np, array) for array, (_, see) in zip(arrays, operands, strict=True)]
        value = seen[0]
        for step, number in steps:
            other = seen[number]
            if step == "where":
                value = np.where(other != 0, value, other)
            elif step == "roll":
                value = np.maximum(value, np.roll(other, by, axes[0]))
            elif step == "abs":
                value = np.abs(value)
            else:
                value = getattr(np, step)(value, other)
        if last is None:
            return value
        return getattr(np, last)(value, axis=axes[0] if last == "argmax" else axes)

    return [array for array, _ in operands], run


@pytest.mark.parametrize("part", range(3))
def test_whatever_the_rows_and_operands_of_a_kernel_are_it_gives_numpys_values(driver, part):
    for number in range(PROGRAMS.get(driver, 4)):
        arrays, run = _program(random.Random(f"{part} {number}"), MOST.get(driver, 20_000))
        wanted = run(np, arrays)
        ours = [gp.asarray(array) for array in arrays]
        # Interpreted at first, as machine code later.
        for times in range(3):
            got = np.asarray(run(gp, ours))
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted, f"program {number}, evaluated {times + 1} times")
