"""Writes by masks of another number of values are refused, and what a mask leaves out is not judged.

The oracle is NumPy, its words included. Not here: the values of such writes (``test_index_arrays.py``).
"""

import itertools
import warnings

import numpy
import pytest

import gpupy

ARRAYS = {
    "ones": lambda np: np.ones(4),
    "zeros": lambda np: np.zeros(4),
    "numbers": lambda np: np.arange(4.0),
    "integers": lambda np: np.ones(4, int),
    "float16": lambda np: np.ones(4, "e"),
    "complex": lambda np: np.ones(4, complex),
    "bools": lambda np: np.ones(4, bool),
    "a view": lambda np: np.ones((4, 2))[:, 0],
    "many": lambda np: np.ones(40_000),
}
KEYS = {
    "a mask": lambda np, a: np.arange(len(a)) != 1,
    "NumPy's mask": lambda np, a: numpy.arange(len(a)) != 1,
    "a list of bools": lambda np, a: [k != 1 for k in range(len(a))],
    "no true element": lambda np, a: np.zeros(len(a), bool),
    "all true": lambda np, a: np.ones(len(a), bool),
    "a comparison": lambda np, a: a >= 0,
    "a mask and an ellipsis": lambda np, a: (np.arange(len(a)) != 1, ...),
    "indices": lambda np, a: np.asarray([0, 2, 3]),
    "a list": lambda np, a: [0, 2, 3],
    "a range": lambda np, a: slice(1, None),
}
VALUES = {
    "as many as elements": lambda np, a: a.copy(),
    "as many constants": lambda np, a: np.ones(len(a), a.dtype),
    "two": lambda np, a: a[:2].copy(),
    "three constants": lambda np, a: np.ones(3, a.dtype),
    "one": lambda np, a: a[:1].copy(),
    "none": lambda np, a: np.ones(0, a.dtype),
    "computed": lambda np, a: np.ones(len(a)) * 1,
    "two of a list": lambda np, a: [1, 1],
    "a row": lambda np, a: np.ones((1, 3), a.dtype),
    "a column": lambda np, a: np.ones((3, 1), a.dtype),
    "a number": lambda np, a: 1,
}


def outcome(np, do):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = do(np)
        except Exception as error:
            made = (type(error).__name__, str(error))
        else:
            made = numpy.asarray(made).tolist(), str(made.dtype)
    return made, [(each.category, str(each.message)) for each in told]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("key", KEYS)
def test_a_write_of_another_number_of_values_is_refused_whatever_they_are(device, array, key):
    for value in VALUES.values():

        def write(np, value=value):
            target = ARRAYS[array](np)
            target[KEYS[key](np, target)] = value(np, target)
            return target

        found, wanted = outcome(gpupy, write), outcome(numpy, write)
        assert found[0] == wanted[0]


def _power(np, case, form, dtype):
    base, exponent, mask = case
    base, exponent = np.asarray(base, dtype), np.asarray(exponent, dtype)
    where = {"array": np.asarray(mask), "list": mask, "NumPy's": numpy.asarray(mask)}[form]
    out = np.zeros(np.broadcast_shapes(base.shape, exponent.shape, numpy.shape(mask)), dtype)
    return np.power(base, exponent, out=out, where=where)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("form", ["array", "list", "NumPy's"])
def test_exponents_that_a_mask_leaves_out_may_be_below_zero(device, dtype, form):
    cases = [
        ([2, 3, 4], [2, -1, 3], [True, False, True]),
        ([2, 3, 4], [2, -1, 3], [True, True, False]),
        ([2, 3, 4], [-1, -1, -1], [False]),
        (2, [-1, 2, 5], [False, True, True]),
        ([[1, 2], [3, 4]], [[1, -1]], [True, False]),
        ([[1, 2], [3, 4]], [[-1], [1]], [[False], [True]]),
        (list(range(100)), [k % 3 - 1 for k in range(100)], [k % 3 > 0 for k in range(100)]),
    ]
    for case in cases:
        do = lambda np, case=case: _power(np, case, form, dtype)
        assert outcome(gpupy, do) == outcome(numpy, do)

    def into_itself(np):
        exponent = np.asarray([-1, 2, 3], dtype)
        return np.power(3, exponent, out=exponent, where=exponent > 0)

    assert outcome(gpupy, into_itself) == outcome(numpy, into_itself)


OPERATIONS = {
    "floor_divide": ([2, 3, 4], [1, 0, 3], int),
    "remainder": ([2, 3, 4], [1, 0, 3], int),
    "divide": ([2, 3, 4], [1, 0, 3], float),
    "power": ([2, 3, 4], [1, -1, 3], int),
    "float_power": ([2, 0, 4], [1, -1, 3], float),
    "left_shift": ([2, 3, 4], [1, 70, 3], int),
    "multiply": ([2.0, 1e300, 4], [1, 1e300, 3], float),
    "log": ([2.0, -3.0, 4.0], None, float),
    "sqrt": ([4.0, -3.0, 16.0], None, float),
    "exp": ([0.0, 1e4, 0.0], None, float),
    "reciprocal": ([2.0, 0.0, 4.0], None, float),
    "arccosh": ([2.0, 0.5, 4.0], None, float),
}


@pytest.mark.parametrize("modes", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("mask", [[True, False, True], [True, True, False]])
def test_what_a_mask_leaves_out_is_no_error_in_any_mode(driver, name, modes, mask):
    first, second, dtype = OPERATIONS[name]

    def do(np):
        given = [np.asarray(x) for x in (first, second) if x is not None]
        with np.errstate(all=modes):
            out = np.zeros(3, dtype)
            made = getattr(np, name)(*given, out=out, where=np.asarray(mask))
            assert made is out
            return np.round(made, 9) if dtype is float else made

    found, wanted = outcome(gpupy, do), outcome(numpy, do)
    assert found == wanted or str(found) == str(wanted)


@pytest.mark.parametrize("where, value", itertools.product(("all", "first", "rest"), (5.0, "row", "column")))
def test_results_of_broadcast_arrays_are_written_to_with_numpys_warning(device, where, value):
    key = {"all": ..., "first": (0, slice(1)), "rest": slice(1, None)}[where]

    def write(np):
        base = np.arange(3.0)
        a, _ = np.broadcast_arrays(base, np.zeros((2, 1)))
        a[key] = {"row": np.ones(3)[: a[key].shape[-1]], "column": np.ones((1, 1))}.get(value, value)
        return np.concatenate([a.ravel(), base])

    assert outcome(gpupy, write) == outcome(numpy, write)


IN_PLACE = {
    "a sum": lambda np, a: a.__iadd__(1),
    "a quotient": lambda np, a: a.__itruediv__(2),
    "a power": lambda np, a: a.__ipow__(2),
    "an output": lambda np, a: np.add(a, 1, out=a),
    "a copy": lambda np, a: np.copyto(a, 5),
    "a number": lambda np, a: a.fill(3),
    "a mask": lambda np, a: a.__setitem__(a > 0, 9),
    "an index": lambda np, a: a.__setitem__([0], 9),
    "an element": lambda np, a: a.__setitem__((1, 2), 9),
    "its transpose": lambda np, a: a.T.__setitem__(..., 3),
    "its flat iterator": lambda np, a: a.flat.__setitem__(0, 3),
    "sorted": lambda np, a: a.sort(),
    "added at": lambda np, a: np.add.at(a, 0, 1),
    "put": lambda np, a: np.put(a, [4], 7),
    "twice": lambda np, a: (a.__iadd__(1), a.__iadd__(1)),
    "once it was made writeable": lambda np, a: (a.setflags(write=True), a.__iadd__(1)),
    "made read-only": lambda np, a: (a.setflags(write=False), a.__iadd__(1)),
}


@pytest.mark.parametrize("way", IN_PLACE)
def test_results_of_broadcast_arrays_are_changed_in_place_with_numpys_warning(device, way):
    def change(np):
        base = np.arange(3.0)
        _, a = np.broadcast_arrays(np.zeros((2, 1)), base)
        IN_PLACE[way](np, a)
        return np.concatenate([a.ravel(), base])

    assert outcome(gpupy, change) == outcome(numpy, change)


BESIDE = {
    "a mask": lambda np, x, seen: np.copyto(x, [7.0, 8.0, 9.0], where=seen > 1),
    "where it is a mask": lambda np, x, seen: np.copyto(x, 7, where=np.broadcast_arrays([True], x)[0]),
    "a source": lambda np, x, seen: np.copyto(x, seen),
    "chosen by a number": lambda np, x, seen: np.select([x > 1, np.array(5) < 0], [x, 2], -1),
    "values put": lambda np, x, seen: np.put(x, [0, 2], seen[:2]),
    "values placed": lambda np, x, seen: np.place(x, x > 0, seen),
    "values along an axis": lambda np, x, seen: np.put_along_axis(x, np.array([1]), seen[:1], 0),
    "a bin of many": lambda np, x, seen: np.add.at(x, [0, 1, 0], seen),
    "both": lambda np, x, seen: np.copyto(seen, x, where=seen > 1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", BESIDE)
def test_results_of_broadcast_arrays_that_are_read_alone_are_not_warned_of(device, way, dtype):
    def change(np):
        x = np.arange(3.0, dtype=dtype)
        seen, _ = np.broadcast_arrays(np.array([5.0], dtype=dtype), x)
        BESIDE[way](np, x, seen)
        # The first write of all is warned of then.
        seen[...] = 1
        return np.concatenate([x, seen])

    assert outcome(gpupy, change) == outcome(numpy, change)


def test_a_result_of_broadcast_arrays_stays_as_it_is_where_its_warning_is_an_error():
    base = gpupy.arange(3.0)
    a, _ = gpupy.broadcast_arrays(base, gpupy.zeros((2, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for write in (lambda: a.__iadd__(1), lambda: a.__setitem__(0, 1), lambda: a.fill(1)):
            with pytest.raises(DeprecationWarning, match="overlapping memory"):
                write()
    assert base.tolist() == [0, 1, 2]
