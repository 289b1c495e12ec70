"""Pending values that live on are not computed again for each use, whatever uses them."""

import numpy
import pytest

import gpupy

N = 40_000
LONG = 120


def chain(n=N):
    y = gpupy.asarray(numpy.linspace(0.0, 2.0, n, dtype="f4"))
    want = numpy.linspace(0.0, 2.0, n, dtype="f4")
    for i in range(LONG):
        number = numpy.float32(1 + (i % 7) / 64)
        y, want = (y * number, want * number) if i % 2 else (y - number, want - number)
    return y, want


def masked(n=N):
    y = gpupy.asarray(numpy.linspace(0.0, 200.0, n, dtype="f4"))
    want = numpy.linspace(0.0, 200.0, n, dtype="f4")
    for i in range(LONG // 2):
        y[y > 190 - i] = 3 + i / 8
        want[want > 190 - i] = 3 + i / 8
    return y, want


MADE = {"operations": chain, "masked writes": masked}

POSITIONS = numpy.arange(0, N, 3)
VECTOR = numpy.linspace(-1, 1, N).astype("f4")

USES = {
    "an element": lambda m, y, i: float((y + i)[3]),
    "another element": lambda m, y, i: float((y + i)[N - 1 - i]),
    "a slice": lambda m, y, i: (y * i)[5 : N // 2].copy(),
    "a step": lambda m, y, i: (y - i)[::2].copy(),
    "a sum": lambda m, y, i: (y > i).sum(),
    "rows": lambda m, y, i: (y + i).reshape(100, -1).max(axis=1),
    "a masked write": lambda m, y, i: _written(m, y, i, lambda z: z > 2),
    "a write": lambda m, y, i: _written(m, y, i, lambda z: slice(3, N - 7)),
    "an index array": lambda m, y, i: (y + i)[m.asarray(POSITIONS)],
    "a product": lambda m, y, i: (y * (i + 1)) @ m.asarray(VECTOR),
    "a join": lambda m, y, i: m.concatenate([y + i, y[:5]]),
    "a sort": lambda m, y, i: m.sort(y - i),
}


def _written(m, y, i, where):
    z = y + i
    z[where(z)] = 1
    return z


def _work():
    """Operations that were launched since the last call."""
    done = gpupy.stats()
    gpupy.reset_stats()
    return done["instructions"], done["launches"]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", MADE)
def test_from_the_third_use_on_nothing_is_computed_again(driver, made, use):
    y, want = MADE[made]()
    work = []
    _work()
    for i in range(5):
        found = USES[use](gpupy, y, i)
        wanted = USES[use](numpy, want, i)
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=2e-3, atol=1e-3)
        work.append(_work())
    # An operation may be a dozen of a device's, and a sort or a sum some launches.
    assert all(operations <= LONG // 2 for operations, _ in work[2:]), work
    assert work[3] == work[4], work


def test_a_result_that_is_dropped_is_not_stored(driver):
    gpupy.reset_stats()
    for _ in range(4):
        y, _want = chain()
        assert abs(float((y + 1)[3])) < 1e9
        del y
    assert gpupy.stats()["blocks"] <= 2


def test_few_elements_that_live_on_are_stored_when_a_later_value_is_read():
    """Then what is done with them is eager again: a loop that asks for its error computes each step once."""
    gpupy._gpupy.reconfigure("cpu", strict=False)
    x, want = chain(20_000)
    later, wanted = numpy.sin(x) + numpy.cos(x), numpy.sin(want) + numpy.cos(want)
    assert (later > 0.5).any() == (wanted > 0.5).any()
    gpupy.reset_stats()
    made = later * 2
    assert gpupy.stats().computed_at_once == 1
    numpy.testing.assert_allclose(numpy.asarray(made), wanted * 2, rtol=1e-5, atol=1e-6)


def _adam(np, start, steps):
    """Steps of an optimiser, whose three values each read the others."""
    w, m, v = 0 * start, 0 * start, 0 * start
    for step in range(1, steps + 1):
        gradient = 2 * (w - start) + 0.1 * np.sin(w)
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient * gradient
        w = w - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return w, m, v


def _weighted(np, start, points):
    """Weighted means of several kinds, which share their weights."""
    means, slopes, weights = 0 * start, 0 * start, 0 * start
    for point in range(points):
        weight = np.exp(-((start - point / points) ** 2) * 9) + 1 / (abs(start - point) + 1)
        means, slopes = means + weight * (point % 3), slopes + weight * (start - point)
        weights = weights + weight
    return means / weights, slopes / weights, weights


@pytest.mark.parametrize("steps", [2, 3, 6, 10, 20])
@pytest.mark.parametrize("made", [_adam, _weighted], ids=["optimiser", "means"])
def test_values_that_share_their_terms_are_computed_once(driver, made, steps):
    start = numpy.linspace(0.1, 1, N).astype("f4")
    gpupy.evaluate(made(gpupy, gpupy.asarray(start), steps)[0])
    _work()
    read = made(gpupy, gpupy.asarray(start), steps)
    gpupy.evaluate(read[0])
    first, _ = _work()
    want = made(numpy, start, steps)
    for value, expected in zip(read, want, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(value), expected, rtol=1e-3, atol=1e-6)
    # Those after the first one take some operations more, but no term is computed again.
    assert _work()[0] <= first / 2


@pytest.mark.parametrize(("rounds", "steps"), [(9, 60), (9, 80), (10, 60)])
def test_held_values_that_read_each_other_are_planned_in_an_order(driver, rounds, steps):
    """Of what is computed beside a value nothing is needed first that is made of it."""

    def run(np):
        x = np.asarray(numpy.arange(64, dtype="i4"))
        a, b, held = x * 1, x * 2, []
        for _ in range(rounds):
            for _ in range(steps):
                a = a * 3 + 7
            for _ in range(steps):
                b = b * 5 + 1
            c = a + b
            a = c * a
            b = b - c * 2
            held += [c, a, b]
        return held

    for found, wanted in zip(run(gpupy)[::-1], run(numpy)[::-1], strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(found), wanted)
