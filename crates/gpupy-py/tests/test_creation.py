"""Creation and joining: NumPy's signatures, dtypes and values."""

import types

import numpy
import pytest
from pairs import check

import gpupy

ONES = numpy.ones(3)
CALLS = {
    "array list": lambda xp: xp.array([1.5, 2]),
    "array float32": lambda xp: xp.array([1.5, 2], dtype=xp.float32),
    "array nested": lambda xp: xp.array([[1, 2], [3, 4]], dtype="int32"),
    "array ragged": lambda xp: xp.array([[1, 2], [3]]),
    "array of arrays": lambda xp: xp.array([xp.ones(2, xp.float32), xp.zeros(2, xp.float32)]),
    "array of scalars": lambda xp: xp.array([xp.ones(2, xp.float32)[0], 3]),
    "array ndmin": lambda xp: xp.array(xp.ones(2, xp.float32), ndmin=3),
    "array text": lambda xp: xp.array("x", dtype=xp.float32),
    "array object": lambda xp: xp.array([None, 1]).shape,
    "array casts": lambda xp: xp.array(xp.arange(3, dtype=xp.float32), dtype=xp.int32),
    "array F": lambda xp: xp.array(xp.ones((2, 3), xp.float32), order="F").flags.f_contiguous,
    "asarray": lambda xp: xp.asarray([True, False]),
    "zeros": lambda xp: xp.zeros((2, 3), xp.float32),
    "zeros default": lambda xp: xp.zeros(3),
    "zeros F": lambda xp: xp.zeros((2, 3), xp.float32, order="F").strides,
    "ones": lambda xp: xp.ones(4, dtype=bool),
    "full": lambda xp: xp.full((2, 2), 7, dtype=xp.int32),
    "full default": lambda xp: xp.full(2, 7),
    "full float32": lambda xp: xp.full(2, numpy.float32(1.5)),
    "full array": lambda xp: xp.full((2, 3), [1, 2, 3], dtype=xp.float32),
    "full wrong": lambda xp: xp.full((2, 3), [1, 2], dtype=xp.float32),
    "full nan int": lambda xp: xp.full(2, 2**40, dtype=xp.int32),
    "zeros_like": lambda xp: xp.zeros_like(xp.ones((2, 3), xp.float32)),
    "ones_like dtype": lambda xp: xp.ones_like(xp.ones((2, 3), xp.float32), dtype=xp.int32),
    "ones_like list": lambda xp: xp.ones_like([1.0, 2.0]),
    "full_like": lambda xp: xp.full_like(xp.ones((2, 3), xp.int32), 2.7),
    "arange": lambda xp: xp.arange(5),
    "arange float32": lambda xp: xp.arange(5, dtype=xp.float32),
    "arange step": lambda xp: xp.arange(0.1, 2.0, 0.1, dtype=xp.float32),
    "arange down": lambda xp: xp.arange(5, -5, -1.3, dtype=xp.float32),
    "arange big": lambda xp: xp.arange(1e8, 1e8 + 50, 3, dtype=xp.float32),
    "arange -0.0": lambda xp: xp.arange(-0.0, 4, dtype=xp.float32),
    "arange int32": lambda xp: xp.arange(3, 30, 4, dtype=xp.int32),
    "arange empty": lambda xp: xp.arange(3, 1, dtype=xp.float32),
    "arange zero step": lambda xp: xp.arange(0, 1, 0, dtype=xp.float32),
    "arange bool": lambda xp: xp.arange(2, dtype=bool),
    "arange bool 3": lambda xp: xp.arange(3, dtype=bool),
    "linspace": lambda xp: xp.linspace(0, 1, 5, dtype=xp.float32),
    "eye": lambda xp: xp.eye(3, dtype=xp.float32),
    "indices": lambda xp: xp.indices((2, 3), dtype=xp.float32),
    "indices int32": lambda xp: xp.indices((2, 3), dtype=xp.int32)[1],
    "indices sparse": lambda xp: xp.indices((2, 3), dtype=xp.int32, sparse=True),
    "indices default": lambda xp: xp.indices((2, 3)),
    "fromfunction": lambda xp: xp.fromfunction(lambda x, y: x * 10 + y, (3, 2), dtype=xp.float32),
    "fromfunction default": lambda xp: xp.fromfunction(lambda x, y: x + y, (3, 2)),
    "meshgrid": lambda xp: xp.meshgrid(xp.arange(3, dtype=xp.float32), xp.arange(2, dtype=xp.float32)),
    "meshgrid ij": lambda xp: xp.meshgrid(
        xp.arange(3, dtype=xp.float32), xp.arange(2, dtype=xp.float32), indexing="ij", sparse=True
    ),
    "mgrid": lambda xp: xp.mgrid[0:3, 0:2],
    "r_": lambda xp: xp.r_[1:4, 0, 4],
    "concatenate": lambda xp: xp.concatenate([xp.ones(2, xp.float32), xp.zeros(3, xp.float32)]),
    "concatenate mixed": lambda xp: xp.concatenate([xp.ones(2, xp.float32), xp.zeros(3)]),
    "concatenate bool": lambda xp: xp.concatenate([xp.ones(2, bool), xp.zeros(3, xp.float32)]),
    "concatenate axis": lambda xp: xp.concatenate([xp.ones((2, 1), xp.int32)] * 3, axis=1),
    "concatenate None": lambda xp: xp.concatenate([xp.ones((2, 1), xp.int32)] * 3, axis=None),
    "concatenate wrong": lambda xp: xp.concatenate([xp.ones((2, 1), xp.int32), xp.ones((3, 2), xp.int32)]),
    "concatenate 0-d": lambda xp: xp.concatenate([xp.ones((), xp.int32)]),
    "concatenate nothing": lambda xp: xp.concatenate([]),
    "concatenate axis wrong": lambda xp: xp.concatenate([xp.ones(2, xp.int32)], axis=1),
    "stack wrong": lambda xp: xp.stack([xp.ones(2, xp.int32), xp.ones(3, xp.int32)]),
    "stack -1": lambda xp: xp.stack([xp.ones(2, xp.int32), xp.zeros(2, xp.int32)], axis=-1),
    "vstack": lambda xp: xp.vstack([xp.ones(2, xp.float32), xp.zeros((2, 2), xp.float32)]),
    "hstack": lambda xp: xp.hstack([xp.ones((2, 1), xp.float32), xp.zeros((2, 2), xp.float32)]),
    "dstack": lambda xp: xp.dstack([xp.ones((2, 1), xp.float32), xp.zeros((2, 1), xp.float32)]),
    "column_stack": lambda xp: xp.column_stack([xp.ones(2, xp.float32), xp.zeros(2, xp.float32)]),
    "append": lambda xp: xp.append(xp.ones(2, xp.float32), xp.zeros((1, 2), xp.float32)),
    "tile": lambda xp: xp.tile(xp.arange(3, dtype=xp.float32), 2),
    "roll": lambda xp: xp.roll(xp.arange(5, dtype=xp.float32), 2),
    "where one": lambda xp: xp.where(xp.array([0, 1, 2], dtype=xp.float32)),
    "sort": lambda xp: xp.sort(xp.array([3, 1, 2], dtype=xp.float32)),
    "unique": lambda xp: xp.unique(xp.array([3, 1, 3], dtype=xp.int32)),
    "cumsum": lambda xp: xp.cumsum(xp.array([3, 1, 3], dtype=xp.float32)),
    "dot": lambda xp: xp.dot(xp.ones((2, 3), xp.float32), xp.ones(3, xp.float32)),
    "matmul": lambda xp: xp.ones((2, 3), xp.float32) @ xp.ones((3, 2), xp.float32),
    "result_type": lambda xp: str(xp.result_type(xp.ones(2, xp.float32), 1.0)),
    "shape": lambda xp: xp.shape(xp.ones((2, 3), xp.float32)),
    "round": lambda xp: xp.round(xp.array([0.5, 1.5, -2.5], dtype=xp.float32)),
    "round 1": lambda xp: xp.array([0.54, 1.55], dtype=xp.float32).round(1),
    "nan_to_num": lambda xp: xp.nan_to_num(xp.array([numpy.nan, 1], dtype=xp.float32)),
    "isclose": lambda xp: xp.isclose(xp.ones(2, xp.float32), 1.0),
    "allclose": lambda xp: xp.allclose(xp.ones(2, xp.float32), 1.0),
    "array_equal": lambda xp: xp.array_equal(xp.ones(2, xp.float32), xp.ones(2, xp.float32)),
    "vectorize": lambda xp: xp.vectorize(lambda x: x + 1)(xp.ones(2, xp.float32)),
    "apply_along_axis": lambda xp: xp.apply_along_axis(sum, 0, xp.ones((2, 3), xp.float32)),
    "fft": lambda xp: xp.fft.fft(xp.ones(4, xp.float32)),
    "eigh": lambda xp: tuple(xp.linalg.eigh(xp.ones((2, 2), xp.float32))),
    "missing": lambda xp: str(hasattr(xp, "no_such_name")),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_numpys_give(device, name):
    check(CALLS[name], name)


def test_asarray_gives_back_what_is_an_array_already(device):
    a = gpupy.ones(3, gpupy.float32)
    assert gpupy.asarray(a) is a
    assert gpupy.asanyarray(a, dtype="float32") is a
    assert gpupy.array(a) is not a


def test_asarray_copies_what_it_is_given(device):
    source = numpy.arange(4, dtype=numpy.float32)
    a = gpupy.asarray(source)
    source[0] = 100
    assert a.tolist() == [0, 1, 2, 3]


def test_constants_and_ranges_take_no_upload(driver):
    gpupy.evaluate(gpupy.arange(1000, dtype=gpupy.float32) * 2 + gpupy.zeros(1000, gpupy.float32))
    assert gpupy.stats().bytes_uploaded == 0


def test_gpufloat32_is_another_name_of_float32():
    assert gpupy.gpufloat32 is numpy.float32
    assert gpupy.float32 is numpy.float32
    assert gpupy.pi == numpy.pi and gpupy.newaxis is None


def test_the_star_import_is_numpys_and_the_dtype():
    names = {}
    exec("from gpupy import *", names)
    assert set(numpy.__all__) | {"gpufloat32"} <= set(names)
    assert names["max"] is gpupy.max and names["sum"] is gpupy.sum


def test_functions_have_numpys_pages():
    for name in ("sum", "zeros", "where", "concatenate", "reshape"):
        assert getattr(gpupy, name).__doc__ == getattr(numpy, name).__doc__
    assert gpupy.ndarray.astype.__doc__ == numpy.ndarray.astype.__doc__


class Theirs:
    """Another library's array."""

    def __array_function__(self, func, types, args, kwargs):
        return func.__name__


@pytest.mark.parametrize(
    "name, args",
    [
        *(("zeros", (2,)), ("ones", (2,)), ("empty", (2,)), ("full", (2, 1)), ("array", ([1],))),
        *(("asarray", ([1],)), ("asanyarray", ([1],)), ("arange", (3,)), ("eye", (2,)), ("tri", (2,))),
        *(("identity", (2,)), ("require", ([1],)), ("fromfunction", (lambda i: i, (2,)))),
        *(("ascontiguousarray", ([1],)), ("asfortranarray", ([1],))),
    ],
)
def test_like_leaves_the_making_to_the_class_of_another_array(name, args):
    assert getattr(gpupy, name)(*args, like=Theirs()) == name
    assert type(getattr(gpupy, name)(*args, like=gpupy.ones(1))) is gpupy.ndarray
    with pytest.raises(TypeError, match="like"):
        getattr(gpupy, name)(*args, like=3)


class Choosy:
    """An array whose class knows the functions of one module."""

    def __init__(self, xp):
        self.xp, self.asked = xp, []

    def __array_function__(self, func, types, args, kwargs):
        self.asked.append(func)
        assert types == (Choosy,) and "like" not in kwargs
        return func.__name__ if func is getattr(self.xp, func.__name__) else NotImplemented


LIKE = {
    "asarray": ([1],),
    "zeros": (2,),
    "ones": (2,),
    "arange": (3,),
    "eye": (2,),
    "frombuffer": (bytes(8),),
    "fromiter": (range(3), int),
    "fromstring": ("1,2", int, -1),
    "loadtxt": (["1 2"],),
}


@pytest.mark.parametrize("name", LIKE)
def test_like_asks_for_the_function_that_a_program_knows_then_for_numpys(name):
    ours, numpys, neither = Choosy(gpupy), Choosy(numpy), Choosy(object)
    more = {"sep": ","} if name == "fromstring" else {}
    assert getattr(gpupy, name)(*LIKE[name], **more, like=ours) == name
    assert getattr(gpupy, name)(*LIKE[name], **more, like=numpys) == name
    assert ours.asked == [getattr(gpupy, name)]
    assert numpys.asked == [getattr(gpupy, name), getattr(numpy, name)]
    made = getattr(gpupy, name)(*LIKE[name], **more, like=gpupy.ones(1))
    assert type(made) is gpupy.ndarray
    neither.xp = types.SimpleNamespace(**{name: None})
    with pytest.raises(TypeError, match="no implementation found"):
        getattr(gpupy, name)(*LIKE[name], **more, like=neither)


@pytest.mark.parametrize("order", ["K", "A", "C", "F"])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (4, 3, 2), (24,), 6, (2, 3, 2, 2)])
def test_arrays_alike_of_other_shapes_lie_as_numpys(order, shape):
    axes = [(2, 1, 0), (0, 1, 2), (1, 0, 2)]
    given = [numpy.zeros((2, 3, 4), "u1").transpose(order) for order in axes] + [numpy.zeros((2, 3), "u1").T]
    for array in given:
        for name in ("ones_like", "zeros_like", "empty_like"):
            wanted = getattr(numpy, name)(array, shape=shape, order=order)
            found = getattr(gpupy, name)(gpupy.asarray(array), shape=shape, order=order)
            assert (found.shape, found.strides) == (wanted.shape, wanted.strides), (name, array.strides)
