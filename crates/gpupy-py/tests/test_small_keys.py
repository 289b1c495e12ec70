"""Keys on few elements that mix index arrays with numbers and ranges, and arithmetic on single elements."""

import itertools
import operator

import numpy
import pytest
from pairs import check

import gpupy

WAYS = {
    "ours": gpupy.asarray,
    "NumPy's": lambda index: index,
    "a list": lambda index: index.tolist(),
    "a view of ours": lambda index: gpupy.asarray(numpy.repeat(index, 2))[::2],
}
C = numpy.array([1, -2, 0])
KEYS = {
    "both": lambda c: (c, c),
    "the last": lambda c: (slice(None), c),
    "a number and": lambda c: (2, c),
    "and a number": lambda c: (c, -1),
    "and a range": lambda c: (c, slice(1, 3)),
    "flipped and": lambda c: (slice(None, None, -1), c),
    "apart": lambda c: (c, slice(None), c),
    "the middle": lambda c: (slice(None), c, slice(0, 2)),
    "a new axis": lambda c: (None, c),
    "an ellipsis": lambda c: (..., c),
    "three": lambda c: (c, c, c),
    "nothing of": lambda c: (slice(0, 0), c),
    "too large": lambda c: (slice(None), c, 9),
    "beyond": lambda c: (c, 5),
    "in a tuple": lambda c: (c,),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("shape", [(4, 3), (4, 5, 3), (3, 3, 3, 2)], ids=str)
def test_mixed_keys_name_what_numpy_says(auto, shape, key, way):
    given = numpy.arange(numpy.prod(shape)).reshape(shape)
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::2]):
        for dtype in ("f4", "?", "D", "i2"):
            for index in (C, C.astype("i1"), C[:1], C[:0], numpy.abs(C).astype("u8"), C * 9):
                made = [xp.asarray(given.astype(dtype)) for xp in (numpy, gpupy)]

                def picked(xp, made=made, index=index):
                    c = index if xp is numpy else WAYS[way](index)
                    if way == "a list" and xp is numpy:
                        c = index.tolist()
                    return turn(made[xp is gpupy])[KEYS[key](c)]

                check(picked, (dtype, index))
                try:
                    theirs, ours = picked(numpy), picked(gpupy)
                except IndexError:
                    continue
                assert ours.strides == theirs.strides or not ours.size
                # A copy, as NumPy's is.
                ours[...] = 1
                numpy.testing.assert_array_equal(made[1], made[0])


def test_index_arrays_of_several_shapes_broadcast(auto):
    given = numpy.arange(60).reshape(4, 5, 3)
    rows, columns = numpy.array([[0], [3]]), numpy.array([4, 0, -1])
    for a, b in ((rows, columns), (columns, rows), (rows, rows), (columns, columns[:2])):
        check(lambda xp, a=a, b=b: xp.asarray(given)[xp.asarray(a) % 4, xp.asarray(b)])
        check(lambda xp, a=a, b=b: xp.asarray(given)[xp.asarray(a) % 4, :, xp.asarray(b) % 3])
    check(lambda xp: xp.asarray(given)[xp.ones((2, 2), int), xp.zeros(2, int)])


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_takes_are_numpys(auto, axis, mode):
    given = numpy.arange(60).reshape(4, 5, 3)
    for index in (C, C * 3, C * 100, C.reshape(3, 1), numpy.array(2), C.astype("u2"), numpy.array([10**4])):
        for turn in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-1]):
            check(lambda xp: xp.take(turn(xp.asarray(given)), xp.asarray(index), axis, mode=mode))


def test_what_is_picked_of_much_is_read_where_it_lies(auto):
    for size in (1 << 12, 1 << 14, (1 << 14) + 1, 1 << 16):
        given = numpy.arange(2 * size).reshape(2, size)
        for index in (C, numpy.arange(size // 2), numpy.arange(size)[::-1]):
            check(lambda xp: xp.asarray(given)[:, xp.asarray(index)])
            check(lambda xp: xp.asarray(given)[1, xp.asarray(index)])


def test_an_index_array_counts_as_it_is_at_its_line(auto):
    table, index = gpupy.asarray(numpy.arange(20.0).reshape(4, 5)), gpupy.asarray(C)
    found = table[:, index]
    index[:] = 0
    table[:] = -1
    numpy.testing.assert_array_equal(found, numpy.arange(20.0).reshape(4, 5)[:, C])
    # An index that is pending is computed first.
    numpy.testing.assert_array_equal((table + 1)[:, gpupy.arange(1 << 15)[:3] * 2], numpy.zeros((4, 3)))


PLACES = [
    *((1, 2), (-1, -1), (4, 0), (0, -6), (1,), (1, 2, 0), (True, 1), (2**70, 0), (1, None), (1, 1.0), ()),
    *(..., (...,), (..., 1), (1, ...), (0, ..., 1), (..., 1, 0, 2), (..., ...), (None, ..., slice(3, 0, -2))),
    *((slice(1, None), ..., None), (..., slice(1, 1)), (9, ...), (..., 1, slice(None), None)),
]


@pytest.mark.parametrize("key", PLACES, ids=str)
def test_keys_of_numbers_and_ranges_name_what_numpy_says(auto, key):
    given = numpy.arange(20.0).reshape(4, 5)
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[:, 1:]):
        check(lambda xp: turn(xp.asarray(given))[key])
        check(lambda xp: written(xp, turn, key))


def written(xp, turn, key):
    """An array after a write by a key to a view of it."""
    array = xp.asarray(numpy.arange(20.0).reshape(4, 5))
    turn(array)[key] = 7
    return array


@pytest.fixture
def plain():
    """A driver as users have it: no driver computes with numbers that are known."""
    gpupy._gpupy.reconfigure("cpu", strict=False)


def as_float(number):
    """As words, in which one NaN is the other."""
    return repr(float(number))


NUMBERS = {
    "f": [0.0, -0.0, 1.5, -3.25, 1e-38, 3e38, 1e-45, numpy.inf, -numpy.inf, numpy.nan, 16777217.0],
    "d": [0.0, -0.0, 1.5, -3.25, 1e-300, 1e308, 5e-324, numpy.inf, -numpy.inf, numpy.nan, 0.1],
    "e": [0.0, 1.5, -2.0, 65504.0, numpy.nan],
    "b": [0, 1, -1, 127, -128],
    "B": [0, 1, 255],
    "i": [0, 1, -1, 2**31 - 1, -(2**31)],
    "l": [0, 3, -1, 2**63 - 1, -(2**63)],
    "L": [0, 3, 2**64 - 1],
    "?": [False, True],
    "F": [1 + 2j, 0j],
}
PLAIN = [
    0,
    1,
    -1,
    3,
    2**24,
    2**24 + 1,
    2**53 + 1,
    2**63,
    -(2**63),
    2**70,
    300,
    True,
    0.0,
    -0.0,
    0.1,
    1e-42,
    1e300,
]
PLAIN += [float("inf"), float("nan")]
OPERATORS = "add sub mul truediv lt le eq ne gt ge and_ or_ xor floordiv mod".split()


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_on_single_elements_are_numpys(plain, name, dtype):
    function, array = getattr(operator, name), numpy.array(NUMBERS[dtype], dtype)
    for at, number in itertools.product(range(len(array)), PLAIN):
        check(lambda xp: function(xp.asarray(array)[at], number), (array[at], number))
        check(lambda xp: function(number, xp.asarray(array)[at]), (number, array[at]))
    for other, values in NUMBERS.items():
        others = numpy.array(values, other)
        for a, b in itertools.product(range(len(array)), range(len(others))):
            check(lambda xp: function(xp.asarray(array)[a], xp.asarray(others)[b]), (array[a], others[b]))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("function", [operator.neg, abs, operator.pos, operator.invert, bool, as_float])
def test_operators_on_one_element_are_numpys(plain, function, dtype):
    array = numpy.array(NUMBERS[dtype], dtype)
    for at in range(len(array)):
        check(lambda xp: function(xp.asarray(array)[at]), array[at])


@pytest.mark.parametrize("number", [1e300, 1e-42, 2**1030])
def test_numbers_that_a_float32_has_not_are_warned_of_as_numpy_does(auto, number):
    def words(xp):
        with numpy.errstate(all="raise"):
            return xp.asarray(numpy.ones(3, "f4"))[1] * number

    check(words)


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("turned", [False, True])
def test_elements_that_index_arrays_name_are_written_at_once(auto, dtype, turned):
    def program(xp):
        a = xp.asarray(numpy.arange(63).reshape(7, 9).astype(dtype))
        view = a.T if turned else a
        rows, columns = xp.asarray([1, -2, 0, 1, 4]), xp.asarray([3, 0, -1, 3, 6], dtype=numpy.int32)
        # Of two writes to one element the last counts.
        view[rows, columns] = xp.asarray(numpy.arange(5).astype(dtype))
        view[rows, columns] = view[columns, rows]
        view[rows[:, None], columns] = 3
        view[::2, rows] = 5
        view[columns] = xp.asarray(numpy.arange(5 * view.shape[1]).reshape(5, -1).astype(dtype))
        return numpy.asarray(a)

    before = gpupy.stats()
    got = program(gpupy)
    after = gpupy.stats()
    numpy.testing.assert_array_equal(got, program(numpy))
    assert after["launches"] == before["launches"]
    assert after["fallbacks"] == before["fallbacks"]


@pytest.mark.parametrize("key", [([0, 1], [0, 1, 2]), ([0, 7], [0, 1]), ([0, 1], [0, -10])])
def test_index_arrays_that_do_not_fit_write_nothing(auto, key):
    keys = tuple(gpupy.asarray(part) for part in key)
    a = gpupy.zeros((7, 9)) + 1
    gpupy.evaluate(a)
    with pytest.raises(IndexError) as refused:
        a[keys] = 2
    with pytest.raises(IndexError) as wanted:
        numpy.ones((7, 9))[tuple(numpy.asarray(part) for part in key)] = 2
    assert str(refused.value) == str(wanted.value)
    assert numpy.asarray(a).min() == numpy.asarray(a).max() == 1
