"""``array.resize``: NumPy's elements, shapes and refusals, while something else may see the array's memory.

Not here: ``np.resize``, which makes another array (``test_rebound.py``).
"""

import weakref

import numpy
import pytest

import gpupy


class Holder:
    """An object that shows an array's memory by the protocol of arrays."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


# What may see the memory of an array.
KEEPERS = {
    "nothing": lambda xp, a: None,
    "another name": lambda xp, a: a,
    "a list": lambda xp, a: [a],
    "a view": lambda xp, a: a[1:],
    "a view of a view": lambda xp, a: a[1:][::-1],
    "all of it": lambda xp, a: a[...],
    "another shape": lambda xp, a: a.reshape(2, -1),
    "another dtype": lambda xp, a: a.view("i8"),
    "its transpose": lambda xp, a: a.T,
    "an iterator": lambda xp, a: iter(a),
    "a flat iterator": lambda xp, a: a.flat,
    "its bound method": lambda xp, a: a.sum,
    "a copy": lambda xp, a: a.copy(),
    "an expression": lambda xp, a: a + 1,
    "an element": lambda xp, a: a[0],
    "an array of NumPy's": lambda xp, a: numpy.asarray(a),
    "a view of NumPy's": lambda xp, a: numpy.asarray(a)[1:],
    "a copy of NumPy's": lambda xp, a: numpy.array(a),
    "a buffer": lambda xp, a: memoryview(a),
    "its data": lambda xp, a: a.data,
    "a part of a buffer": lambda xp, a: memoryview(a)[1:],
    "a capsule": lambda xp, a: a.__dlpack__(),
    "an array by DLPack": lambda xp, a: numpy.from_dlpack(a),
    "a structure": lambda xp, a: a.__array_struct__,
    "an interface": lambda xp, a: a.__array_interface__,
    "an object with its interface": lambda xp, a: numpy.asarray(Holder(a)),
    "its address": lambda xp, a: a.ctypes,
    "a weak reference": lambda xp, a: weakref.ref(a),
    "a weak reference to a view": lambda xp, a: weakref.ref(a[1:]),
}
DTYPES = ["f8", "f4", "?", "D", "i2", [("x", "f4"), ("n", "i8")], "O", "U3"]


def _outcome(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def _kept(xp, keep, dtype, size, **kwargs):
    """The elements after the call, or its error, while something was kept; then those after it is gone."""
    a = xp.ones(6, dtype)
    try:
        kept = keep(xp, a)
    except Exception as error:
        return type(error)
    # Not by `_outcome`, whose arguments refer to the array, too.
    try:
        a.resize(size, **kwargs)
        first = None
    except Exception as error:
        first = type(error), str(error)
    while_kept = first, a.shape, numpy.array(a).tolist()
    del kept
    try:
        a.resize(4)
        second = None
    except Exception as error:
        second = type(error), str(error)
    return while_kept, second, a.shape, numpy.array(a).tolist()


@pytest.mark.parametrize("keep", KEEPERS)
@pytest.mark.parametrize("dtype", ["f8", "O"])
def test_it_is_refused_as_by_numpy_while_something_else_may_see_the_memory(driver, keep, dtype):
    for size in (3, 6, 9, (2, 3), (2, 4)):
        for kwargs in ({}, {"refcheck": False}):
            given = KEEPERS[keep], dtype, size
            assert _kept(gpupy, *given, **kwargs) == _kept(numpy, *given, **kwargs), (size, kwargs)


def test_memory_that_others_have_stays_theirs(driver):
    a = gpupy.arange(6.0)
    outside = numpy.asarray(a)
    a.resize(3, refcheck=False)
    a[0] = 9
    outside[1] = 7
    assert outside.tolist() == [0, 7, 2, 3, 4, 5] and a.tolist() == [9, 1, 2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("order", "CF")
def test_elements_keep_their_order_in_memory(device, dtype, order):
    def run(xp, shape, own):
        a = xp.array(numpy.arange(6).astype(dtype).reshape(own), order=order)
        a.resize(shape)
        return a.shape, a.strides, a.flags.owndata, numpy.array(a).tolist()

    for own in ((6,), (2, 3), (3, 2), (1, 6), (2, 3, 1)):
        for shape in ((6,), (3, 2), (2, 2), (4,), (5, 3), (1, 6, 1), (0,), (3, 0), ()):
            assert run(gpupy, shape, own) == run(numpy, shape, own), (own, shape)


def _views(xp):
    a = xp.arange(12.0).reshape(3, 4)
    return {
        "rows": a[1:],
        "columns": a[:, 1:],
        "a transpose": a.T,
        "no element": a[3:],
        "one element": a[1, 1:2],
        "foreign memory": xp.frombuffer(bytearray(48)),
        "a subclass": a[0].view(type("V", (xp.ndarray,), {})),
    }


@pytest.mark.parametrize("view", _views(numpy))
def test_views_keep_their_size(device, view):
    for shape in (1, (2, 4), (4, 2), (1, 6), 8, (0, 3), 6, 4, (1, 4)):
        results = []
        for xp in (numpy, gpupy):
            a = _views(xp)[view]
            error = _outcome(a.resize, shape, refcheck=False)
            results.append((error, a.shape, numpy.array(a).tolist()))
        assert results[0] == results[1], shape


ARGUMENTS = [
    (),
    (None,),
    (2, 2),
    ((2, 2),),
    ([2, 2],),
    (numpy.int64(3),),
    (numpy.array([2, 2]),),
    (-3,),
    ((-3, 0),),
    (2.0,),
    ("a",),
    ((2**62, 8),),
    (None, 2),
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_arguments_are_numpys(auto, arguments):
    def run(xp, **kwargs):
        a = xp.arange(6.0)
        return _outcome(a.resize, *arguments, refcheck=False), a.shape, a.tolist()

    assert run(gpupy) == run(numpy)


def test_it_is_recorded(driver):
    a = gpupy.asarray(numpy.ones(10_000, numpy.float32)) * 2
    for shape in ((100, 50), (100, 200)):
        a.resize(shape)
    assert gpupy.stats()["launches"] == 0
    assert float(a.sum()) == 10_000 and gpupy.stats()["fallbacks"] == 0
