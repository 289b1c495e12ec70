"""`gpupy.accelerator()` over `gpupy.jit`: plain NumPy, recorded once and done again."""

import numpy as np
import pytest

import gpupy as gp

TABLE = np.arange(3.0)


def body(x, y, k):
    a = np.sin(x) * k + y
    for _ in range(3):
        a = np.maximum(a, x) - 0.5
    x[1:] += a[:-1]
    return a + x, a.sum(), x


def recorded(function):
    jit = gp.jit(function)
    return gp.accelerator()(jit), jit


def arguments(seed, n):
    random = np.random.default_rng(seed)
    return random.random(n), random.random(n)


@pytest.mark.parametrize("n", [1, 10, 3000])
def test_calls_are_done_again_and_give_numpys_arrays(auto, n):
    accelerated, jit = recorded(body)
    for seed in range(5):
        x, y = arguments(seed, n)
        own = x.copy()
        wanted = body(x, y, 0.5 + seed)
        a, total, same = accelerated(own, y, 0.5 + seed)
        assert type(a) is np.ndarray
        assert same is own
        # Sines may differ in the last bit.
        np.testing.assert_allclose(own, x, rtol=0, atol=1e-14)
        np.testing.assert_allclose(a, wanted[0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(total, wanted[1], rtol=1e-12)
        assert np is body.__globals__["np"]
        assert type(np.zeros(1)) is np.ndarray
    assert jit.stats()["replays"] == 3
    assert jit.stats()["calls"] == 5


def test_arguments_that_share_memory_do_so_again(auto):
    def moved(x, y):
        y += x
        return x * 2

    accelerated, jit = recorded(moved)
    for seed in range(4):
        memory = np.random.default_rng(seed).random(8)
        own = memory.copy()
        wanted = moved(memory[:6], memory[2:])
        np.testing.assert_array_equal(accelerated(own[:6], own[2:]), wanted)
        np.testing.assert_array_equal(own, memory)
    assert jit.stats()["replays"] == 3


def test_arrays_of_numpys_from_outside_are_read_each_time(auto):
    def plus(x):
        return x + TABLE

    accelerated, _ = recorded(plus)
    x = np.ones(3)
    for turn in range(6):
        TABLE[:] = turn
        np.testing.assert_array_equal(accelerated(x), x + turn)
    assert type(TABLE) is np.ndarray


def test_what_is_raised_leaves_arrays_and_names_as_they_were(auto):
    def fails(x, y):
        x += 1
        return x @ y

    accelerated, jit = recorded(fails)
    for _ in range(3):
        accelerated(np.ones(3), np.ones(3))
    assert jit.stats()["replays"] > 0
    x = np.ones(3)
    with pytest.raises(ValueError, match="matmul"):
        accelerated(x, np.ones(4))
    np.testing.assert_array_equal(x, 2)
    assert type(np.zeros(1)) is np.ndarray


def test_immutable_arguments_stay_so(auto):
    def writes(x):
        x[0] = 3
        return x

    accelerated = gp.accelerator(immutable=True)(gp.jit(writes))
    for _ in range(3):
        x = np.ones(3)
        with pytest.raises(ValueError, match="read-only"):
            accelerated(x)
        assert x[0] == 1
        assert x.flags.writeable
