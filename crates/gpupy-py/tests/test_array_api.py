"""The namespace of the Array API: results are arrays of it, pending, and the same elements as gpupy's.

Not here: the standard's own suite, which is run against ``gpupy.array_api`` by hand.
"""

import pickle

import numpy
import pytest

import gpupy

xp = gpupy.array_api

CALLS = {
    "sum": lambda x: xp.sum(x),
    "method": lambda x: x.mean(),
    "element": lambda x: x[1, 2],
    "negative": lambda x: x[-1, -1],
    "row": lambda x: x[1],
    "mask": lambda x: x[x > 2],
    "by an array": lambda x: x[xp.asarray(1)],
    "operators": lambda x: (x[0, 1] + 1) * x[1, 1] - x[1, 2] ** 2,
    "with NumPy's": lambda x: numpy.float64(2) * x[0, 1] + x[0, 0] * numpy.float64(3),
    "compared": lambda x: xp.max(x) > 2,
    "ufunc": lambda x: xp.sin(x[0, 2]),
    "where": lambda x: xp.where(x[0, 0] > 1, x, 0.0),
    "any": lambda x: xp.any(x > 4),
    "argmax": lambda x: xp.argmax(x),
    "norm": lambda x: xp.linalg.vector_norm(x),
    "product": lambda x: x[0] @ x[1],
    "transform": lambda x: xp.fft.fft(x)[0, 1],
    "stack": lambda x: xp.stack([x[0, 0], xp.sum(x)]),
    "cast": lambda x: xp.astype(x[0, 1], xp.float32),
    "new axes": lambda x: x[None, 0, 0],
    "all of none": lambda x: x[0, 0][()],
    "ellipsis": lambda x: x[0, 0][...],
    "creation": lambda x: xp.full((), 3.0) + xp.zeros_like(x)[0, 0],
    "sorted": lambda x: xp.sort(x, descending=True)[0, 0],
    "positions": lambda x: xp.argsort(x, axis=0, descending=True),
    "clipped": lambda x: xp.clip(x[0, 1], min=2),
    "frequencies": lambda x: xp.fft.fftfreq(4, dtype=xp.float32)[1],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_an_array_of_the_namespace(auto, name):
    host = numpy.asarray([[3.0, 1, 2], [5, 4, 0]])
    got = CALLS[name](xp.asarray(host))
    assert type(got) is xp.Array and got.__array_namespace__() is xp
    # The same by gpupy's plain functions, which are NumPy's.
    if name not in ("sorted", "positions", "clipped", "frequencies"):
        plain = CALLS[name].__code__
        namesake = type(CALLS[name])(plain, {"xp": numpy, "numpy": numpy, "__builtins__": __builtins__})
        want = namesake(host)
        assert got.dtype == want.dtype and got.shape == want.shape
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-12)


def test_several_results_are_arrays_of_the_namespace(auto):
    x = xp.asarray([2.0, 1.0, 2.0])
    found = xp.unique_all(x)
    assert type(found).__name__ == "UniqueAllResult" and all(type(part) is xp.Array for part in found)
    assert [type(part) for part in x] == [xp.Array] * 3
    assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x[0])) is list
    with pytest.raises(TypeError, match="iteration"):
        iter(x[0])


def test_descending_orders_keep_equal_elements_in_order(auto):
    host = numpy.random.default_rng(0).integers(0, 5, (7, 9))
    for axis in (0, 1, -1):
        got = xp.argsort(xp.asarray(host), axis=axis, descending=True)
        want = numpy.argsort(-host, axis=axis, stable=True)
        assert (numpy.asarray(got) == want).all()
        assert (
            numpy.asarray(xp.sort(xp.asarray(host), axis=axis, descending=True)) == -numpy.sort(-host, axis)
        ).all()


def test_numbers_are_pending_arrays(device):
    x = xp.asarray(numpy.arange(5000, dtype="f4")) * 2 + 1
    found = [xp.sum(x), x.mean(), x[7], xp.max(x), xp.where(x[0] > 1, x[1], x[2])]
    assert gpupy.stats().launches == 0
    assert [float(number) for number in found] == [24_999_998 + 2, 5000.0, 15.0, 9999.0, 5.0]


def test_plain_arrays_are_of_the_namespace_and_stay_plain(auto):
    x = gpupy.asarray([1.0, 2.0])
    assert x.__array_namespace__() is xp and type(x.sum()) is numpy.float64
    assert type(xp.sum(x)) is xp.Array
    view = xp.asarray(x)
    view[0] = 5
    assert x[0] == 5 and type(gpupy.asarray(view)) is gpupy.ndarray
    with pytest.raises(ValueError, match="version"):
        x.__array_namespace__(api_version="1999.12")


def test_names_are_numpys():
    assert xp.float32 is numpy.float32 and xp.pi == numpy.pi and xp.bool is numpy.bool
    assert "sum" in dir(xp) and "Array" in dir(xp) and "fftfreq" in dir(xp.fft)
    with pytest.raises(AttributeError, match="jit"):
        xp.jit  # noqa: B018
    # Names of NumPy's that Python has, too, hide none in the package.
    assert xp.all and xp.max and xp.sum and xp.abs
    assert type(xp.asarray([1.0, 2.0])[0]) is xp.Array


def test_arrays_of_the_namespace_are_pickled():
    x = xp.asarray([1.0, 2.0])
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is xp.Array and again.tolist() == [1.0, 2.0]
