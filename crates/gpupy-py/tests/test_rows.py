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


DTYPES = "bool int8 uint16 int32 float16 float32 int64 float64".split()


def _few_numbers(chance, shape, dtype):
    """Elements of which many are equal, and some NaN where that exists."""
    given = chance.integers(0, 5, shape).astype(dtype)
    if given.dtype.kind == "f":
        given[chance.random(shape) < 0.3 / shape[-1]] = np.nan
        given[chance.random(shape) < 0.2] *= -1
    return given


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equal_extremes_is_found_in_rows_of_any_length(name, dtype):
    chance = np.random.default_rng(3)
    for n in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 79, 80, 81, 200]:
        for rows in (1, 3, 4, 5, 8, 11, 37):
            given = _few_numbers(chance, (rows, n), dtype)
            for view in (given, given[::-1], given[:, ::-1], given.T):
                for axis in (0, 1, None):
                    found = getattr(gp, name)(gp.asarray(view), axis=axis)
                    np.testing.assert_array_equal(np.asarray(found), getattr(np, name)(view, axis=axis))


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_any_width_and_height_are_reduced_like_rows(dtype):
    chance = np.random.default_rng(4)
    for columns in [1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 64, 130]:
        for rows in (2, 6, 15, 16, 17, 33, 255, 256, 257, 530):
            given = _few_numbers(chance, (rows, columns), dtype)
            x, wide = gp.asarray(given), given.astype("float64")
            for name in ("sum", "max", "min"):
                at_once = np.asarray(getattr(x, name)(axis=0))
                by_rows = np.asarray(getattr(gp.asarray(np.ascontiguousarray(given.T)), name)(axis=1))
                np.testing.assert_array_equal(at_once, by_rows)
                computed = np.asarray(getattr(x * 1, name)(axis=0))
                np.testing.assert_array_equal(np.nan_to_num(computed), np.nan_to_num(at_once))
                wanted = getattr(wide, name)(axis=0)
                np.testing.assert_allclose(at_once.astype("float64"), wanted, rtol=2e-3)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "uint64"])
def test_products_of_whole_numbers_and_vectors_wrap(dtype):
    chance = np.random.default_rng(5)
    for m, k, n in [
        (1, 700, 2),
        (900, 3, 1),
        (1, 5, 600),
        (33, 1, 17),
        (3, 513, 3),
        (70, 80, 4),
        (520, 2, 520),
    ]:
        a, b = (chance.integers(0, 256, shape).astype(dtype) for shape in ((m, k), (k, n)))
        for left, right in (
            (a, b),
            (np.asfortranarray(a), b),
            (a, np.asfortranarray(b)),
            (a[::-1], b[:, ::-1]),
        ):
            np.testing.assert_array_equal(np.asarray(gp.asarray(left) @ gp.asarray(right)), left @ right)
        np.testing.assert_array_equal(np.asarray(gp.asarray(a) @ gp.asarray(b[:, 0])), a @ b[:, 0])
        np.testing.assert_array_equal(np.asarray(gp.asarray(a[0]) @ gp.asarray(b)), a[0] @ b)
