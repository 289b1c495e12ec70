"""``gpupy.reduction``: functions of points, combined along axes in the order of sums."""

import numpy as np
import pytest

import gpupy as gp

LENGTHS = [1, 2, 15, 16, 17, 31, 255, 256, 257, 300, 1000, 70000]


def square(x):
    return x * x


def add(x, y):
    return x + y


def with_place(x, i):
    return x, i


def larger(x, i, y, j):
    return (x, i) if x > y or (x == y and i < j) else (y, j)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_sum_has_the_bits_of_sum(driver, length):
    if driver == "soft" and length > 1000:
        pytest.skip("the driver does one operation at a time")
    x = gp.asarray(np.random.default_rng(1).random(length, dtype=np.float32))
    ours = gp.reduction(square, add)(x)
    assert np.float32(ours).tobytes() == np.float32((x * x).sum()).tobytes()
    assert np.ndim(ours) == 0


def test_axes_are_those_of_reductions(driver):
    x = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    total = gp.reduction(square, add, identity=0)
    for axis in (0, 1, -1, (0, 2), (1, 0), None, ()):
        for keepdims in (False, True):
            ours = total(gp.asarray(x), axis=axis, keepdims=keepdims)
            np.testing.assert_array_equal(ours, np.sum(x * x, axis=axis, keepdims=keepdims))
    assert total(gp.zeros((0, 3), "f4"), axis=0).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="no identity"):
        gp.reduction(square, add)(gp.zeros(0, "f4"))
    with pytest.raises(np.exceptions.AxisError):
        total(gp.asarray(x), axis=3)


def test_several_numbers_are_combined_together(driver):
    x = np.random.default_rng(2).integers(0, 50, (7, 61)).astype(np.int32)
    largest = gp.reduction(with_place, larger)
    places = np.arange(61, dtype=np.int32)
    value, place = largest(gp.asarray(x), places, axis=1)
    np.testing.assert_array_equal(value, x.max(axis=1))
    np.testing.assert_array_equal(place, x.argmax(axis=1))
    value, place = largest(x.ravel(), np.arange(x.size, dtype=np.int32))
    assert (value, place) == (x.max(), x.argmax())


def test_dtypes_that_change_are_refused(auto):
    with pytest.raises(TypeError, match="other dtypes"):
        gp.reduction(square, lambda x, y: (x + y) / 2)(gp.arange(4))
