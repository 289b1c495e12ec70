"""Writes to arrays that are pending anyway: right, and no launch of their own.

Not here: writes into elements that are there (``test_writing.py``), joins (``test_joining.py``).
"""

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import gpupy as gp


def given(shape):
    return ((np.arange(np.prod(shape)).reshape(shape) * 7 % 31) - 15).astype(np.float32)


def _inside(np, x):
    """The points with all neighbours inside, in an array of zeros."""
    y = np.zeros_like(x)
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return y


def _repeated(np, x):
    """A margin by hand: the nearest element."""
    height, width = x.shape
    y = np.zeros((height + 2, width + 2), x.dtype)
    y[1:-1, 1:-1] = x
    y[0, 1:-1], y[-1, 1:-1] = x[0], x[-1]
    y[:, 0], y[:, -1] = y[:, 1], y[:, -2]
    return y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]


def _gradient(np, x):
    """Differences along an axis: in the middle over two steps, at the ends over one."""
    y = np.empty_like(x)
    y[1:-1] = (x[2:] - x[:-2]) / 2
    y[0] = x[1] - x[0]
    y[-1] = x[-1] - x[-2]
    return y


def _life(np, x):
    y = np.zeros_like(x)
    near = sum(
        x[1 + down : x.shape[0] - 1 + down, 1 + right : x.shape[1] - 1 + right]
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if (down, right) != (0, 0)
    )
    y[1:-1, 1:-1] = (near == 3) | ((x[1:-1, 1:-1] == 1) & (near == 2))
    return y


def _three_steps(np, x):
    """Heat, each step written into a copy of the one before."""
    for _ in range(3):
        y = x.copy()
        y[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4
        x = y
    return x


PROGRAMS = {
    "inside": (_inside, 1),
    "repeated": (_repeated, 1),
    "gradient": (_gradient, 1),
    "life": (_life, 1),
    "three steps": (_three_steps, 5),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_into_a_new_array_is_no_launch_of_its_own(driver, name):
    program, launches = PROGRAMS[name]
    a = (given((150, 170)) > 9).astype(np.float32)
    x = gp.asarray(a)
    for turn in range(3):
        gp.reset_stats()
        ours = program(gp, x)
        gp.evaluate(ours)
        if driver != "soft":
            assert gp.stats()["launches"] <= launches, turn
        np.testing.assert_array_equal(ours, program(np, a))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(3, 3), (3, 9), (17, 5), (64, 65)])
def test_the_same_at_other_extents(limited, name, shape):
    program, _ = PROGRAMS[name]
    a = given(shape)
    np.testing.assert_array_equal(program(gp, gp.asarray(a)), program(np, a))


@pytest.mark.parametrize("shape", list(itertools.product((1, 3), (1, 2), (1, 9))))
def test_axes_of_one_element_are_axes(limited, shape):
    def run(np):
        y = np.asarray(given((5, 3, 15)))[tuple(slice(1, 1 + n) for n in shape)].copy()
        y[..., 1:-1] = 3
        return y

    np.testing.assert_array_equal(run(gp), run(np))


def _slices(extent):
    return st.tuples(
        st.integers(-extent - 1, extent + 1),
        st.integers(-extent - 1, extent + 1),
        st.sampled_from([1, 1, 1, 2, -1]),
    ).map(lambda three: slice(*three))


@st.composite
def _writes(draw):
    """Places in an array, each with the source of a write: a number, or some of its own elements."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    writes = []
    for _ in range(draw(st.integers(1, 9))):
        place = tuple(draw(_slices(n) | st.integers(0, n - 1) | st.just(slice(None))) for n in shape)
        writes.append((place, draw(st.sampled_from(["number", "given", "own", "turned"]))))
    return shape, draw(st.sampled_from(["zeros", "rolled", "joined", "map"])), writes


def test_writes_one_after_another(limited, some):
    examples = hypothesis.settings(max_examples=len(some(range(100), 4)))
    examples(hypothesis.given(_writes())(_writes_are_numpys))()


def _writes_are_numpys(asked):
    shape, start, writes = asked

    def run(np):
        a = np.asarray(given(shape))
        y = {
            "zeros": lambda: np.zeros(shape, np.float32),
            "rolled": lambda: np.roll(a, 1, 0),
            "joined": lambda: np.concatenate([a[:1], a[:-1]], axis=0),
            "map": lambda: a * 2,
        }[start]()
        kept = []
        for number, (place, what) in enumerate(writes):
            seen = y[place]
            if what == "number":
                y[place] = number + 0.5
            elif what == "given":
                y[place] = a[place] + number
            elif what == "own":
                y[place] = seen * 2 + number
            else:
                # NumPy copies what overlaps.
                y[place] = seen[::-1] if getattr(seen, "ndim", 0) else seen
            if number % 3 == 0:
                kept.append(y.copy())
        return [y, *kept]

    for ours, theirs in zip(run(gp), run(np), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("writes", ["rows", "columns", "rows and columns"])
def test_a_pending_value_is_gone_through_little_after_little(driver, writes):
    size = 120
    gone = {}
    for xp in (np, gp):
        a = xp.asarray(np.arange(size * size, dtype="f4").reshape(size, size)) * 2
        v = xp.asarray(np.arange(size, dtype="f4"))
        gp.reset_stats()
        for k in range(size - 1):
            if "rows" in writes:
                a[k, k + 1 :] = v[k + 1 :] * k
            if "columns" in writes:
                a[k + 1 :, k] = v[k + 1 :] + k
        gone[xp] = np.asarray(a)
    # Each write is one launch, or two where the product is a launch, and no copy of the rest.
    assert gp.stats()["launches"] <= 5 * size
    np.testing.assert_array_equal(gone[gp], gone[np])


def test_reads_and_writes_of_little_count_together():
    gp._gpupy.reconfigure("cpu", strict=False)
    size, steps, gone = 1 << 20, 200, {}
    for xp in (np, gp):
        a = xp.sqrt(xp.asarray(np.arange(size, dtype="f4")))
        for k in range(steps):
            if k == steps * 3 // 4:
                gp.reset_stats()
            a[4 * k + 4 : 4 * k + 8] = a[4 * k : 4 * k + 4] * 0.5 + a[4 * k + 4 : 4 * k + 8]
        counts = gp.stats()
        gone[xp] = np.asarray(a)
    # By then the array is in host memory, where these are moves and eager operations.
    assert counts["launches"] == counts["computed_at_once"] > 0
    np.testing.assert_array_equal(gone[gp], gone[np])
