"""Joining, shifting and padding: lazy, and as NumPy does it."""

import functools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import gpupy as gp

MODES = ("constant", "edge", "wrap", "symmetric", "reflect")


def given(shape, dtype=np.float32):
    return (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) * 7 % 31).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool])
@pytest.mark.parametrize(
    ("shift", "axis"),
    [(1, None), (-3, 0), (2, 1), (100, -1), ((1, -2), (0, 1)), ((1, 1), (0, 0)), (3, (0, 1)), (0, 0)],
)
def test_roll(limited, dtype, shift, axis):
    a = given((5, 7), dtype)
    with gp.fallback("error"):
        result = gp.roll(gp.asarray(a), shift, axis) if axis is not None else gp.roll(gp.asarray(a), shift)
    np.testing.assert_array_equal(result, np.roll(a, shift, axis))
    assert result.dtype == a.dtype


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [2, (1, 3), ((0, 2), (3, 0)), 0])
def test_pad(limited, mode, width):
    a = given((5, 7))
    with gp.fallback("error"):
        result = gp.pad(gp.asarray(a), width, mode)
    np.testing.assert_array_equal(result, np.pad(a, width, mode))


@pytest.mark.parametrize("mode", [*MODES, "maximum", "mean", "linear_ramp"])
def test_what_is_padded_lies_in_the_order_that_numpy_gives_it(driver, mode):
    a = given((2, 3, 3), np.int32)
    views = [lambda a: a, lambda a: a.T, lambda a: a.T[-2:], lambda a: a.T[:, ::2], lambda a: a[::-1, :1].T]
    for view in views:
        ours, theirs = gp.pad(view(gp.asarray(a)), 1, mode), np.pad(view(a), 1, mode)
        assert (ours.strides, ours.flags.fnc) == (theirs.strides, theirs.flags.fnc)
        np.testing.assert_array_equal(ours, theirs)


def test_constants_around(driver):
    a = given((3, 4), np.int32)
    result = gp.pad(gp.asarray(a), ((1, 1), (2, 0)), constant_values=((1, 2), (3, 4)))
    np.testing.assert_array_equal(result, np.pad(a, ((1, 1), (2, 0)), constant_values=((1, 2), (3, 4))))


def test_what_numpy_alone_pads_and_what_it_refuses(driver):
    a = given((3, 4))
    for extra in (
        {"mode": "wrap"},
        {"mode": "reflect"},
        {"mode": "mean"},
        {"mode": "reflect", "reflect_type": "odd"},
    ):
        np.testing.assert_array_equal(gp.pad(gp.asarray(a), 9, **extra), np.pad(a, 9, **extra))
    for width, mode in [(-1, "edge"), ((1, 2, 3), "edge"), (1, "sideways")]:
        with pytest.raises(ValueError) as theirs:
            np.pad(a, width, mode)
        with pytest.raises(ValueError) as ours:
            gp.pad(gp.asarray(a), width, mode)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(np.exceptions.AxisError):
        gp.roll(gp.asarray(a), 1, 2)


def test_a_result_has_elements_of_its_own(driver):
    a = gp.asarray(given((4,)))
    for result in (gp.roll(a, 0, 0), gp.pad(a, 0), gp.concatenate([a])):
        result[0] = 99
        assert a[0] == 0


# Views that turn an array round.
TURNED = {
    "itself": lambda x: x,
    "transposed": lambda x: x.T,
    "flipped": lambda x: x[::-1],
    "turned": lambda x: x[:, ::-1].T,
}


@pytest.mark.parametrize("turned", TURNED.values(), ids=TURNED)
@pytest.mark.parametrize("parts", [(slice(1, None), slice(-1)), (slice(-2), slice(2, None))], ids=str)
def test_a_shift_by_slices_is_read_where_it_lies_in_any_order_of_axes(driver, turned, parts):
    into, of = parts

    def shifted(xp, x):
        out = turned(xp.zeros_like(x))
        out[into] = turned(x)[of]
        return x - out * 2

    a = given((40, 40))
    x = gp.asarray(a)
    gp.reset_stats()
    result = np.asarray(shifted(gp, x))
    np.testing.assert_array_equal(result, shifted(np, a))
    if driver == "cpu":
        assert gp.stats()["launches"] == 1


def test_a_stencil_over_shifts_is_one_launch(driver):
    a = given((40, 50))
    x = gp.asarray(a)
    gp.reset_stats()
    steps = [(1, 0), (-1, 0), (1, 1), (-1, 1)]
    ours = np.asarray(sum(gp.roll(x, by, axis) for by, axis in steps) - 4 * x)
    np.testing.assert_array_equal(ours, sum(np.roll(a, by, axis) for by, axis in steps) - 4 * a)
    if driver != "soft":
        assert gp.stats()["launches"] == 1


@hypothesis.given(
    parts=st.lists(st.integers(0, 5), min_size=1, max_size=5), axis=st.integers(-2, 1), rows=st.integers(0, 4)
)
def test_parts_behind_each_other(parts, axis, rows):
    shape = (lambda n: (n, rows)) if axis % 2 == 0 else (lambda n: (rows, n))
    arrays = [given(shape(n)) + k for k, n in enumerate(parts)]
    ours = gp.concatenate([gp.asarray(a) for a in arrays], axis)
    np.testing.assert_array_equal(ours[::-1] * 2, np.concatenate(arrays, axis)[::-1] * 2)


@pytest.mark.parametrize("axes", [(1, 3), (0, 2), (0, 1, 2, 3), (3,), (1,)])
def test_sums_over_blocks_of_shifted_arrays_read_them_where_they_lie(driver, axes):
    # Whole numbers, whose sums are exact in any order.
    a, b = given((64, 96)), given((64, 96))[::-1].copy()
    shifts = [(1, 0), (0, -3), (-8, 5), (2, 2), (31, 0), (0, 48), (-1, 1)]
    with gp.fallback("error"):
        x, y = gp.asarray(a), gp.asarray(b)
        apart = [gp.abs(x - gp.roll(y, shift, (0, 1))) for shift in shifts]
        totals = [difference.reshape(8, 8, 12, 8).sum(axis=axes) for difference in apart]
        del apart
        gp.evaluate(*totals)
    for shift, total in zip(shifts, totals, strict=True):
        wanted = np.abs(a - np.roll(b, shift, (0, 1))).reshape(8, 8, 12, 8).sum(axis=axes)
        np.testing.assert_array_equal(total, wanted)


def test_a_search_over_shifts_stores_nothing_on_the_way(driver):
    a, b = given((64, 64)), given((64, 64))[::-1].copy()
    x, y = gp.asarray(a), gp.asarray(b)
    shifts = [(down, right) for down in (-2, 0, 1) for right in (-1, 3)]
    gp.reset_stats()
    totals = gp.stack([gp.abs(x - gp.roll(y, shift, (0, 1))).sum(axis=1) for shift in shifts])
    np.testing.assert_array_equal(
        totals, np.stack([np.abs(a - np.roll(b, shift, (0, 1))).sum(axis=1) for shift in shifts])
    )
    if driver != "soft":
        # The sums, together or each alone, and what joins them: neither shifts nor differences are stored.
        assert gp.stats()["blocks_evaluated"] <= len(shifts) + 1


def _pieces(n, each=7):
    """As many small arrays, some of them pending."""
    given = [np.arange(each, dtype="f4") + i for i in range(n)]
    ours = [gp.asarray(part) for part in given]
    pending = [part + 1 for part in ours]
    return given, ours, [part + 1 for part in given], pending


JOINS = {
    "concatenate": lambda m, parts: m.concatenate(parts),
    "stack": lambda m, parts: m.stack(parts),
    "columns": lambda m, parts: m.stack(parts, axis=1),
    "hstack": lambda m, parts: m.hstack(parts),
    "vstack": lambda m, parts: m.vstack(parts),
    "dstack": lambda m, parts: m.dstack(parts),
    "array": lambda m, parts: m.array(parts),
    "block": lambda m, parts: m.block(parts),
    "scalars": lambda m, parts: m.array([part.sum() for part in parts]),
    "nested": lambda m, parts: m.concatenate(
        [m.concatenate(parts[k : k + 10]) for k in range(0, len(parts), 10)]
    ),
    "appended": lambda m, parts: functools.reduce(m.append, parts),
    "split again": lambda m, parts: m.concatenate(m.split(m.concatenate(parts) * 2, len(parts))),
}


@pytest.mark.parametrize("join", JOINS)
def test_the_launches_of_many_parts_grow_as_the_parts_do(driver, join):
    def launches(n):
        results = []
        for given, parts in zip(*[iter(_pieces(n))] * 2, strict=True):
            gp.reset_stats()
            found = JOINS[join](gp, parts)
            assert np.array_equal(np.asarray(found), JOINS[join](np, given))
            results.append(gp.stats()["launches"])
        return results

    for few, many in zip(launches(50), launches(400), strict=True):
        assert many <= max(few, 10) * 9


def test_boxes_that_are_cast_are_no_copies(auto):
    """Parts of one value that lie as they do in the result are one copy only if they have its dtype."""
    n = 40_000
    for given, through, to in [
        ("f8", "f4", "f4"),
        ("f8", "i8", "i8"),
        ("i8", "f8", "f8"),
        ("f8", "i4", "f8"),
    ]:

        def program(xp, given=given, through=through, to=to):
            x = xp.array((np.arange(n) * 0.75).astype(given)) * 2
            float(x.sum())
            parts, others = x.astype(through).astype(to), xp.array(np.ones(n, to)) + 1
            pairs = [(parts[i : i + 3999], others[:1]) for i in range(0, n, 4000)]
            return np.asarray(xp.concatenate([part for pair in pairs for part in pair]))

        np.testing.assert_array_equal(program(gp), program(np), strict=True)


def test_small_blocks_of_parts_that_are_cast(limited):
    def program(xp):
        q = xp.roll(xp.array((np.arange(170).reshape(17, 10) % 7 + 1).astype("f4")), 1, axis=1) * 2
        parts = [q.astype("i4"), q.sum(axis=0)[None].astype("i4")]
        return np.asarray(xp.concatenate(parts))

    np.testing.assert_array_equal(program(gp), program(np), strict=True)


STACKED = {"as they were": range(8), "shuffled": [3, 1, 7, 0, 5, 2, 6, 4], "back": range(7, -1, -1)}


@pytest.mark.parametrize("order", STACKED.values(), ids=STACKED)
@pytest.mark.parametrize("steps", [4, 6, 7, 8, 20])
def test_rows_that_are_stacked_anew_at_each_step_are_as_many_operations_as_steps(order, steps):
    """Coordinates through eight stacks of eight rows were 16 million numbers."""
    gp._gpupy.reconfigure("cpu", strict=False)

    def stacked(module):
        rows = module.asarray(np.random.default_rng(1).random((8, 5000)))
        for _ in range(steps):
            rows = module.stack([rows[k] for k in order]) * 0.5
        return np.asarray(rows)

    gp.reset_stats()
    np.testing.assert_array_equal(stacked(gp), stacked(np))
    assert gp.stats().instructions <= 16 * steps


def test_what_is_written_to_a_part_of_what_was_padded_is_planned_once_a_step():
    gp._gpupy.reconfigure("cpu", strict=True)

    def drifted(module, steps):
        field = module.asarray(np.random.default_rng(1).random((40, 40)))
        for _ in range(steps):
            field = module.pad(field, 1, mode="wrap")[:-2, 2:]
            field %= 0.9
        return np.asarray(field)

    gp.reset_stats()
    np.testing.assert_array_equal(drifted(gp, 60), drifted(np, 60))
    assert gp.stats().nodes_walked <= 200 * 60
