"""User code that runs in the middle of a write: its writes to the same array are not lost."""

import numpy
import pytest

import gpupy


def index(a, number=1):
    """A number whose `__index__` writes to the array."""

    class Index:
        def __index__(self):
            a[0] = 7.0
            return number

    return Index()


def number(a, value=1.0):
    """A number whose `__float__` writes to the array."""

    class Number:
        def __float__(self):
            a[0] = 7.0
            return value

    return Number()


def array(a, shape=(), value=1.0):
    """An object that converts to an array, and writes to ours."""

    class Array:
        def __array__(self, dtype=None, copy=None):
            a[0] = 7.0
            return numpy.full(shape, value, dtype)

    return Array()


def sequence(a, length=2, value=1.0):
    """A sequence whose `__len__` and `__getitem__` write to the array."""

    class Sequence:
        def __len__(self):
            a[0] = 7.0
            return length

        def __getitem__(self, place):
            if place >= length:
                raise IndexError
            a[0] = a[0] + 1.0
            return value

    return Sequence()


MIDDLE = [False, True, True, False]


def setting(key, value):
    return lambda xp, a: a.__setitem__(key(a), value(a))


WRITES = {
    "an index": setting(index, lambda a: 1.0),
    "an index in a tuple": setting(lambda a: (index(a),), lambda a: 1.0),
    "an index that comes to what it writes": setting(lambda a: index(a, 0), lambda a: 0.0),
    "a slice": setting(lambda a: slice(index(a), None), lambda a: 1.0),
    "a slice of a list": setting(lambda a: slice(index(a, 2), None), lambda a: [5.0, 6.0]),
    "a list of indices": setting(lambda a: [index(a), 2], lambda a: 9.0),
    "an index of a sequence": setting(lambda a: sequence(a), lambda a: 4.0),
    "an index that is an array": setting(lambda a: array(a, (1,), 1), lambda a: 4.0),
    "a number": setting(lambda a: 1, number),
    "a number that comes to what it writes": setting(lambda a: 0, lambda a: number(a, 0.0)),
    "a number to a part": setting(lambda a: slice(1, None), number),
    "a number to all": setting(lambda a: ..., number),
    "a number by a mask": setting(lambda a: MIDDLE, number),
    "numbers in a list": setting(lambda a: slice(2, None), lambda a: [number(a), number(a)]),
    "numbers in a list by indices": setting(lambda a: [2, 3], lambda a: [number(a), number(a)]),
    "an array to a part": setting(lambda a: slice(2, None), lambda a: array(a, (2,))),
    "an array by a mask": setting(lambda a: MIDDLE, array),
    "a sequence": setting(lambda a: slice(2, None), sequence),
    "a sequence by indices": setting(lambda a: [2, 3], sequence),
    "a view": lambda xp, a: a[1:].__setitem__(index(a), 3.0),
    "a view of two axes": lambda xp, a: a.reshape(2, 2).__setitem__((1, index(a, 0)), 3.0),
    "a row": lambda xp, a: a.reshape(2, 2).__setitem__((index(a),), [3.0, 4.0]),
    "an index beside indices": lambda xp, a: a.reshape(2, 2).__setitem__(([1], index(a)), [3.0]),
    "flat, an index": lambda xp, a: a.flat.__setitem__(index(a), 1.0),
    "flat, a number": lambda xp, a: a.flat.__setitem__(1, number(a)),
    "flat, a sequence": lambda xp, a: a.flat.__setitem__(slice(2, None), sequence(a)),
    "flat, indices": lambda xp, a: a.flat.__setitem__([1, 2], number(a)),
    "all of flat": lambda xp, a: setattr(a, "flat", sequence(a, 4)),
    "put at an index": lambda xp, a: a.put(index(a), 1.0),
    "the function put at an index": lambda xp, a: xp.put(a, index(a), 1.0),
    "put a number": lambda xp, a: a.put(1, number(a)),
    "put a sequence": lambda xp, a: xp.put(a, [2, 3], sequence(a)),
    "put_along_axis": lambda xp, a: xp.put_along_axis(a, xp.array([2]), number(a), 0),
    "fill": lambda xp, a: a.fill(number(a)),
    "copyto": lambda xp, a: xp.copyto(a, array(a, (4,))),
    "copyto where": lambda xp, a: xp.copyto(a, array(a, (4,)), where=MIDDLE),
    "copyto where it comes to what it writes": lambda xp, a: xp.copyto(a, array(a, (4,), 0.0), where=MIDDLE),
    "place": lambda xp, a: xp.place(a, MIDDLE, sequence(a)),
    "putmask": lambda xp, a: xp.putmask(a, MIDDLE, sequence(a)),
    "putmask by a mask that writes": lambda xp, a: xp.putmask(a, array(a, (4,), True), 2.0),
    "fill_diagonal": lambda xp, a: xp.fill_diagonal(a.reshape(2, 2), number(a)),
    "add.at": lambda xp, a: xp.add.at(a, index(a), 1.0),
    "add.at an array": lambda xp, a: xp.add.at(a, [1, 2], array(a)),
    "in place": lambda xp, a: a.__iadd__(array(a, (4,))),
    "in place in a view": lambda xp, a: a[2:].__iadd__(array(a, (2,))),
    "out": lambda xp, a: xp.add(array(a, (4,)), 1.0, out=a),
    "out where": lambda xp, a: xp.add(array(a, (4,)), 1.0, out=a, where=numpy.array(MIDDLE)),
    "out of a reduction": lambda xp, a: xp.sum(array(a, (4,)), out=a[1:2].reshape(())),
    "out of running sums": lambda xp, a: xp.cumsum(array(a, (4,)), out=a),
    "out of take": lambda xp, a: xp.take(xp.arange(10.0), [index(a), 2, 3, 1], out=a),
    "sort": lambda xp, a: a.sort(axis=index(a, 0)),
    "partition": lambda xp, a: a.partition(index(a, 2)),
    "the real part": lambda xp, a: setattr(a, "real", number(a)),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_code_writes_in_the_middle_of_a_write_stays(driver, write):
    for zeros in (lambda xp: xp.zeros(4), lambda xp: xp.zeros(4) + xp.array([0.0, 0, 0, 0])):
        outcomes = []
        for xp in (numpy, gpupy):
            a = zeros(xp)
            try:
                WRITES[write](xp, a)
                error = None
            except Exception as raised:
                error = type(raised)
            outcomes.append((error, a.tolist()))
        assert outcomes[1] == outcomes[0]


def test_an_index_is_asked_once():
    asked = []

    class Index:
        def __index__(self):
            asked.append(1)
            return 2

    a = gpupy.arange(4.0)
    a[Index()] = 9
    assert (a[Index()], len(asked)) == (9, 2)


@pytest.mark.parametrize("bits", ["i1", "u1", "i2", "i4"])
def test_integers_over_bools_keep_what_no_bool_says(driver, bits):
    if not all(gpupy.zeros(8, dtype)._lazy for dtype in (bits, "u1")):
        pytest.skip("the driver leaves these integers to NumPy, so they are no view of the bools")
    for make in (lambda xp: xp.zeros(8, bool), lambda xp: xp.arange(8) > 3):
        outcomes = []
        for xp in (numpy, gpupy):
            b = make(xp)
            part, seen = b[2:6], b.view(bits)
            seen[0] = 5
            said = [seen.tolist(), b.tolist(), part.tolist(), b.view("u1").tolist(), int(b.sum() > 1)]
            b[0] = False
            part[1] = True
            said += [seen.tolist(), b.tolist()]
            b.view("i1")[7] = -3
            b[1] = True
            said += [seen.tolist(), b.view("i1").tolist(), (~b)[1:7].tolist(), b.copy().tolist()]
            outcomes.append(said)
        assert outcomes[1] == outcomes[0]


def test_a_key_of_a_subclass_of_tuples_names_an_element_for_each_axis():
    class Pair(tuple):
        pass

    a = gpupy.arange(25).reshape(5, 5)
    assert a[Pair([[1], [2]])].tolist() == [7]
    a[Pair([[1], [2]])] = -1
    assert (int(a[1, 2]), int((a < 0).sum())) == (-1, 1)
