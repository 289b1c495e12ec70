"""Random programs of views, joins and writes: each value is NumPy's, in whatever order they are wanted.

The numbers are small integers and halves, so that all are exact. The operations are those that the engine
reads through rather than stores, since what one of them is depends on what the others made of it.

Not here: each of them alone (``test_joining.py``, ``test_parted.py``, ``test_boundaries.py``), ufuncs
(``test_differential.py``).
"""

import random

import numpy as np
import pytest

import gpupy as gp

# Where programs are not compiled, a program takes a millisecond.
COUNT = {"cpu": 400, "soft": 400}
COUNT_COMPILED = 12


def _slice(r, n):
    start = r.choice([None, r.randint(-2, n + 1), 1, 0, -1])
    stop = r.choice([None, r.randint(-2, n + 1), -1, n - 1, n])
    return slice(start, stop, r.choice([None, None, 1, 2, -1]))


def _place(r, shape, further=()):
    return tuple(r.choice([_slice(r, n), slice(1, -1), *further]) for n in shape)


def _pad(np, r, x, _):
    if x.size:
        mode = r.choice(["edge", "wrap", "constant"])
        return np.pad(x, [(r.randint(0, 3), r.randint(0, 3)) for _ in x.shape], mode)
    return None


def _written(np, r, x, _):
    y = x.copy() if r.random() < 0.7 else np.zeros(x.shape, x.dtype)
    for _ in range(r.randint(1, 4)):
        place = _place(r, x.shape, [slice(None)])
        kind = r.randrange(3)
        if kind == 0:
            y[place] = r.randint(-3, 3)
        elif kind == 1:
            y[place] = x[place] * 2 + 1
        else:
            y[place] = y[place] + x[place]
    return y


def _in_place(np, r, x, _):
    place = _place(r, x.shape)
    x[place] = x[place] * 0.5 + r.randint(0, 2)
    return x


def _concatenated(np, r, x, _):
    second = x * 2 if r.random() < 0.5 else x[::-1]
    return np.concatenate([x, second, x][: r.randint(2, 3)], axis=r.randrange(x.ndim))


def _with_another(np, r, x, values):
    return x + r.choice([value for value in values if value.shape == x.shape]) * 2


def _gathered(np, r, x, _):
    return x[np.asarray([0, -1, len(x) // 2])] if len(x) else None


def _greatest(np, r, x, _):
    return abs(x).max(axis=r.randrange(x.ndim)) if x.ndim > 1 and x.size else None


def _stacked(np, r, x, _):
    if x.ndim > 2:
        return None
    return np.stack([x, x + 1, x * 2][: r.randint(2, 3)], axis=r.randint(0, x.ndim))


OPERATIONS = [
    lambda np, r, x, _: np.roll(x, r.randint(-5, 5), r.randrange(x.ndim)),
    _pad,
    lambda np, r, x, _: x[_place(r, x.shape)],
    _written,
    _written,
    _in_place,
    _concatenated,
    lambda np, r, x, _: abs(x) * 0.5 + r.randint(0, 3),
    _with_another,
    _greatest,
    lambda np, r, x, _: x.T,
    _stacked,
    lambda np, r, x, _: x.copy(),
    lambda np, r, x, _: np.where(x > 1, x, -x),
    _gathered,
]


def _run(np, seed, given):
    """The values of the program with this seed, or why NumPy has none."""
    r = random.Random(seed)
    values = [np.array(a) for a in given]
    for _ in range(r.randint(2, 14)):
        operation, x = r.choice(OPERATIONS), r.choice(values)
        try:
            y = operation(np, r, x, values)
        except (ValueError, IndexError):
            continue
        if y is not None and y.ndim and y.size < 400_000:
            values.append(y)
    return values


def _given(seed):
    r = random.Random(seed)
    shapes = [
        (r.randint(1, 9), r.randint(1, 9)),
        (r.randint(20, 90), r.randint(20, 90)),
        (r.randint(3, 300),),
        (r.randint(2, 6), r.randint(1, 20), r.randint(2, 20)),
    ]
    numbers = np.random.default_rng(seed)
    return [numbers.integers(-4, 5, shape).astype(np.float32) for shape in r.sample(shapes, 2)]


@pytest.mark.parametrize("part", range(4))
def test_values_of_random_programs_are_those_of_numpy(limited, part):
    count = COUNT.get(limited, COUNT_COMPILED)
    for seed in range(part * count, (part + 1) * count):
        given = _given(seed)
        theirs, ours = _run(np, seed, given), _run(gp, seed, given)
        assert [x.shape for x in ours] == [x.shape for x in theirs], seed
        order = list(range(len(ours)))
        r = random.Random(seed)
        r.shuffle(order)
        for number in order[: r.choice([1, 2, len(order)])]:
            np.testing.assert_array_equal(ours[number], theirs[number], err_msg=f"{seed}, {number}")
