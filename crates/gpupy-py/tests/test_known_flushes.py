"""A flush is planned once, also where its program looks at something in each step and goes on."""

import numpy
import pytest

import gpupy

STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]
STEPS = 12
N = 300


def _converging(np, u):
    """Each step is looked at by a reduction, and the next one goes on from it."""
    for _ in range(STEPS):
        new = u.copy()
        new[1:-1] = 0.5 * (u[:-2] + u[2:]) + 0.25 * u[1:-1]
        if not float(np.abs(new - u).max()) >= 0:
            break
        u = new
    return u


def _orthogonal(np, a):
    """What was computed in passing is computed again, and stored."""
    a = a.reshape(20, -1).copy()
    for k in range(min(STEPS, a.shape[1])):
        q = a[:, k] / np.sqrt(float((a[:, k] * a[:, k]).sum()))
        a[:, k] = q
        a[:, k + 1 :] -= np.outer(q, q @ a[:, k + 1 :])
    return a


def _two_that_are_read(np, x):
    """Two values are held that come from the same ones, and one is read after the other."""
    s = trend = np.zeros_like(x)
    for _ in range(STEPS):
        before = s
        s = 0.3 * x + 0.7 * (s + trend)
        trend = 0.1 * (s - before) + 0.9 * trend
    return numpy.asarray(s) + numpy.asarray(trend)


def _looked_at_beside(np, x):
    """Sums of what is held, with sums beside them that nobody wants yet."""
    total = 0.0
    for _ in range(STEPS):
        y = x * x + 0.5
        highest, lowest = y.max(), (y * 2).min()
        total += float(y.sum())
        x = y / (1 + float(highest)) + 0.1 * float(lowest)
    return x + total


def _held_beside(np, x):
    """A number of values that are computed from what the flush computes, some of them in several steps."""
    for _ in range(STEPS):
        y = x
        for k in range(10):
            y = (y * y + k) / (2 + abs(y))
        besides = [(y + k) * (x - k) for k in range(3)]
        x = numpy.asarray(y * 0.5) if np is numpy else gpupy.asarray(numpy.asarray(y * 0.5))
        del besides
    return x


PROGRAMS = [_converging, _orthogonal, _two_that_are_read, _looked_at_beside, _held_beside]


def _random(seed=5):
    return numpy.random.default_rng(seed).random(N).astype("f4")


@pytest.mark.parametrize("driver", STARTING)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_runs_again_plans_nothing(driver, program):
    gpupy._gpupy.reconfigure(driver, strict=True)
    wanted = program(numpy, _random())
    stats = []
    for _ in range(4):
        given = gpupy.asarray(_random())
        gpupy.evaluate(given)
        gpupy.reset_stats()
        got = numpy.asarray(program(gpupy, given))
        numpy.testing.assert_allclose(got, wanted, rtol=2e-4, atol=1e-5)
        stats.append(gpupy.stats())
    # Numbers that are read begin chains of their own in the first runs.
    assert stats[-1].nodes_walked == 0, [run.nodes_walked for run in stats]
    assert stats[-1].launches == stats[-2].launches <= stats[0].launches
    assert stats[-1].kernels_compiled == 0


@pytest.mark.parametrize("driver", ["cpu", "soft"])
def test_a_step_that_is_looked_at_is_computed_once(driver):
    gpupy._gpupy.reconfigure(driver, strict=True)
    given = gpupy.asarray(_random())
    gpupy.evaluate(given)
    _converging(gpupy, given)
    gpupy.reset_stats()
    numpy.asarray(_converging(gpupy, given))
    # Five operations on the elements, the bounds of the join, and two of the reduction.
    assert gpupy.stats().instructions <= 24 * STEPS


@pytest.mark.parametrize("driver", ["cpu", "soft"])
def test_another_value_beside_is_another_flush(driver):
    """What may be computed beside is part of what a flush is known by."""
    gpupy._gpupy.reconfigure(driver, strict=True)
    x = _random()

    def run(beside):
        given = gpupy.asarray(x)
        y = given
        for k in range(20):
            y = y * 0.5 + k
        held = [make(y) for make in beside]
        numpy.testing.assert_array_equal(numpy.asarray(y * 2), _long(x) * 2)
        return [numpy.asarray(value) for value in held]

    def _long(y):
        for k in range(20):
            y = y * numpy.float32(0.5) + numpy.float32(k)
        return y

    ways = [lambda y: y + 1, lambda y: y - y[::-1], lambda y: y.sum(keepdims=True), lambda y: (y * y) * y]
    for turn in range(2):
        for number in range(16):
            beside = [way for place, way in enumerate(ways) if number >> place & 1]
            for got, way in zip(run(beside), beside, strict=True):
                numpy.testing.assert_allclose(got, way(_long(x)), rtol=1e-5, err_msg=f"{turn}")


def _reasons(program, *args):
    """Why flushes of a program's second run are planned once more."""
    for _ in range(2):
        gpupy.reset_stats()
        program(*args)
    return gpupy.stats()["flushes_not_kept"]


def _writes_where(x):
    """Elements decide where something is written."""
    y = x * 2
    y[(x * 3).astype(int) % len(y)] = x + 1
    return numpy.asarray(y + 1)


@pytest.mark.parametrize("driver", STARTING)
def test_a_flush_that_is_planned_each_time_is_counted_with_its_reason(driver):
    with gpupy.driver(driver):
        reasons = _reasons(_writes_where, gpupy.array(_random()))
    assert set(reasons) == {"elements decide what is done in host memory"}, reasons
    assert all(isinstance(count, int) and count > 0 for count in reasons.values())


@pytest.mark.parametrize("driver", STARTING)
@pytest.mark.parametrize("program", PROGRAMS)
def test_of_flushes_that_are_kept_no_reason_is_counted(driver, program):
    with gpupy.driver(driver):
        assert _reasons(lambda: numpy.asarray(program(gpupy, gpupy.array(_random())))) == {}


def _denoised(np, image, radius=3):
    """Means of what lies around each point, by how alike neighbourhoods are: several sums of one weight."""
    total = weights = best = np.zeros_like(image)
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            moved = np.roll(image, (i, j), (0, 1))
            apart = (moved - image) ** 2
            around = sum(np.roll(apart, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1))
            weight = np.exp(-around / 0.5)
            total, weights = total + weight * moved, weights + weight
            best = np.maximum(best, weight)
    return total, weights, best


def test_steps_that_several_kernels_read_are_known_again(driver):
    """Where an element lies is computed for several kernels, and stored: no value of the program's own."""
    image = numpy.random.default_rng(3).random((100, 150)).astype("f4")
    given = gpupy.asarray(image)
    for _ in range(2):
        gpupy.evaluate(*_denoised(gpupy, given))
    gpupy.reset_stats()
    found = _denoised(gpupy, given)
    gpupy.evaluate(*found)
    stats = gpupy.stats()
    # Where each operation is a kernel, there are thousands of commands, and that is counted.
    too_long = {"more values or commands than are kept": 1} if driver == "soft" else {}
    assert stats.flushes_not_kept == too_long, stats
    assert stats.flushes_replayed >= (not too_long), stats
    for own, wanted in zip(found, _denoised(numpy, image), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(own), wanted, rtol=1e-4)
