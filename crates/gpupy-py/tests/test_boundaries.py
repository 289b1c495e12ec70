"""Boundary rules: shifts, margins and views of them, nested, have NumPy's elements, in one launch.

Not here: each of them by itself (``test_joining.py``), the coordinates
(``schedule/walk/piecewise_coordinate.rs``).
"""

import functools
import itertools

import numpy as np
import pytest

import gpupy as gp


def _pad(mode, widths=(2, 1)):
    def step(np, x):
        return np.pad(x, [widths] * x.ndim, mode)

    return step


def _margin(value):
    def step(np, x):
        return np.pad(x, [(1, 2)] * x.ndim, constant_values=value)

    return step


STEPS = {
    "nan": _margin(np.nan),
    "minus zero": _margin(-0.0),
    "edge": _pad("edge"),
    "wrap": _pad("wrap"),
    "reflect": _pad("reflect"),
    "symmetric": _pad("symmetric"),
    "beyond": _pad("symmetric", (7, 9)),
    "rolled": lambda np, x: np.roll(np.roll(x, 1, 0), -2, -1),
    "rolled flat": lambda np, x: np.roll(x, 3),
    "rolled far": lambda np, x: np.roll(x, 17, -1),
    "turned": lambda np, x: x[::-1],
    "every other": lambda np, x: x[..., ::2],
    "transposed": lambda np, x: x.T,
    "flat": lambda np, x: x.reshape(-1)[1:],
    "shifted apart": lambda np, x: np.concatenate([x[1:], x[:1] * 0]),
}
READERS = {
    "map": lambda np, x: x * 2 + np.abs(x),
    "sum": lambda np, x: np.fmax(x, 1).sum(axis=-1),
    "scan": lambda np, x: np.cumsum(np.fmax(x, 1).ravel()),
    "gather": lambda np, x: x.ravel()[np.asarray([0, 5, 2, -1, 5])],
}


def bits(x):
    return np.asarray(x).view(np.uint32)


def given(shape):
    return ((np.arange(np.prod(shape)).reshape(shape) * 7 % 31) - 15).astype(np.float32)


def compare(names, reader, shape):
    """Random numbers would not do more: each element has a value of its own."""
    steps = [STEPS[name] for name in names]

    def run(np, x):
        return READERS[reader](np, functools.reduce(lambda x, step: step(np, x), steps, x))

    a = given(shape)
    with np.errstate(all="ignore"):
        wanted = run(np, a)
        ours = run(gp, gp.asarray(a))
        assert ours.shape == wanted.shape
        np.testing.assert_array_equal(bits(ours), bits(wanted), err_msg=f"{names} {reader} {shape}")


@pytest.mark.parametrize("first", STEPS)
def test_pairs(limited, some, first):
    for number, second in some(enumerate(STEPS), 8):
        compare([first, second], list(READERS)[number % len(READERS)], (5, 7))
        compare([first, second], "map", (3, 9))


def test_triples(driver, some):
    triples = enumerate(list(itertools.product(STEPS, repeat=3))[::17])
    for number, names in some(triples, 8):
        compare(names, list(READERS)[number % len(READERS)], (4, 6))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 1), (2, 2), (1,), (2,)])
def test_little_extents(driver, some, shape):
    for names in some(itertools.product(STEPS, repeat=2), 8):
        # NumPy repeats no edge of what is empty.
        is_empty = names[0] == "flat" and np.prod(shape) == 1
        if "reflect" not in names and not is_empty:
            compare(names, "map", shape)


def _life(np, x):
    shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
    near = sum(np.roll(x, shift, (0, 1)) for shift in shifts)
    return ((near == 3) | ((x == 1) & (near == 2))).astype(x.dtype)


def _neighbours(np, x):
    shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
    return sum(np.roll(np.roll(x, down, 0), right, 1) for down, right in shifts)


def _twice(np, x):
    return np.roll(np.sqrt(np.abs(np.roll(x, 1, 0))) * x, -1, 1) + x


def _by_margin(mode):
    def program(np, x):
        y = np.pad(x * 2, 1, mode)
        return y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * y[1:-1, 1:-1]

    return program


PROGRAMS = {
    "life": (_life, 1),
    "neighbours": (_neighbours, 1),
    "twice": (_twice, 1),
    "edge": (_by_margin("edge"), 1),
    "wrap": (_by_margin("wrap"), 1),
    "reflect": (_by_margin("reflect"), 1),
    "symmetric": (_by_margin("symmetric"), 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_stencils_are_one_launch(driver, name):
    program, launches = PROGRAMS[name]
    a = (given((150, 170)) > 9).astype(np.float32)
    x = gp.asarray(a)
    for turn in range(3):
        gp.reset_stats()
        ours = program(gp, x)
        gp.evaluate(ours)
        if driver != "soft":
            assert gp.stats()["launches"] == launches, turn
        np.testing.assert_array_equal(bits(ours), bits(program(np, a)))


def test_scalars_of_a_chain_are_told_apart_when_it_is_done_again(driver):
    a = given((150, 170))
    x = gp.asarray(a)
    for s, t in [(2, 2), (2, 3), (3, 2), (4, 4)]:
        # Of equal scalars both are read at the same elements.
        ours = np.asarray(gp.roll(x * s, 1, 0) + gp.roll(gp.roll(x, 1, 0) * t, 0, 1) + gp.roll(x * t, 1, 0))
        rolled = np.roll(a, 1, 0)
        np.testing.assert_array_equal(ours, rolled * s + rolled * t + rolled * t)
