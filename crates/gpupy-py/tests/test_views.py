"""Views, writes and aliasing: NumPy's, with NumPy's refusals."""

import itertools

import numpy
import numpy as np
import pytest
from pairs import assert_same, check

import gpupy

KEYS = [
    (),
    0,
    -1,
    5,
    -7,
    True,
    None,
    ...,
    slice(None),
    slice(1, 3),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(5, 9),
    slice(None, None, 0),
    1.5,
    "x",
    (0, 1),
    (0, -4),
    (0, 4),
    (slice(1, None), 2),
    (..., 1),
    (..., 1, 2),
    (None, 1, None),
    (slice(None), None, slice(None, None, -2)),
    (0, 0, 0),
    (..., ...),
    numpy.int64(1),
    (numpy.int32(1), slice(None)),
    [0, 2],
    ([0, 2], [1, 3]),
    [True, False, True],
    (slice(None), [0, 0, 1]),
    numpy.array([2, 0]),
    numpy.array([9]),
    (np.arange(3)[:, None], np.arange(2)),
    2**70,
]


def made(xp, dtype="float32"):
    return xp.array(np.arange(12).reshape(3, 4), dtype=dtype)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_read_as_numpys(device, key):
    for dtype in ("float32", "int32", "bool", "float64"):
        check(lambda xp: made(xp, dtype)[key], f"{dtype} {key}")
        check(lambda xp: made(xp, dtype)[:, ::-1].T[key], f"{dtype} transposed {key}")


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_write_as_numpys(device, key):
    values = [7, 2.5, True, [1, 2], np.ones(4), np.int64(3), [[1]], "x", None, 2**40, float("nan")]
    for dtype, value in itertools.product(("float32", "int32", "bool", "float64"), values):

        def function(xp):
            a = made(xp, dtype)
            b = a[::-1]
            b[key] = value
            return a

        if isinstance(value, float) and np.isnan(value) and isinstance(key, (list, np.ndarray)):
            continue
        check(function, f"{dtype} [{key}] = {value}")


def test_an_index_out_of_range_is_refused_at_its_line(device):
    a = made(gpupy)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        a[3]
    with pytest.raises(IndexError, match="too many indices for array: array is 2-dimensional"):
        a[0, 0, 0]
    assert gpupy.stats().blocks_evaluated == 0


def test_views_alias_in_both_directions(device):
    def function(xp):
        a = made(xp)
        rows, column, flat = a[1:], a[:, 2], a.reshape(-1)
        rows[0, 0] = 100
        column *= 2
        flat[-1] = -5
        a[0] = rows[1]
        return [a, rows, column, flat]

    check(function)


def test_overlapping_writes_read_first(device):
    def function(xp):
        a = xp.arange(10, dtype=xp.float32)
        a[1:] = a[:-1]
        b = xp.arange(10, dtype=xp.float32)
        b[:] = b[::-1]
        c = xp.arange(10, dtype=xp.float32)
        c[:-2] += c[2:]
        return [a, b, c]

    check(function)


def test_expressions_keep_the_values_that_they_were_recorded_with(device):
    def function(xp):
        a = xp.arange(4, dtype=xp.float32)
        b = xp.ones(4, dtype=xp.float32)
        c, d = a + b, a + b
        s = a[1]
        a[:] = 100
        b += 1
        c[0] = -1
        return [c, d, a + b, s]

    check(function)


SHAPE_CALLS = {
    "T": lambda xp, a: a.T,
    "transpose": lambda xp, a: xp.transpose(a, (1, 0)),
    "transpose method": lambda xp, a: a.transpose(1, 0),
    "transpose wrong": lambda xp, a: a.transpose(1, 1),
    "swapaxes": lambda xp, a: a.swapaxes(0, 1),
    "swapaxes wrong": lambda xp, a: xp.swapaxes(a, 0, 2),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, -1),
    "expand_dims": lambda xp, a: xp.expand_dims(a, (0, 2)),
    "squeeze": lambda xp, a: xp.squeeze(a[None, :, :1]),
    "squeeze wrong": lambda xp, a: a.squeeze(0),
    "reshape": lambda xp, a: a.reshape(4, 3),
    "reshape -1": lambda xp, a: a.reshape((2, -1)),
    "reshape wrong": lambda xp, a: a.reshape(5, -1),
    "reshape two open": lambda xp, a: a.reshape(-1, -1),
    "reshape copy": lambda xp, a: a.T.reshape(2, 6),
    "reshape F": lambda xp, a: xp.reshape(a, (2, 6), order="F"),
    "reshape text": lambda xp, a: a.reshape("x"),
    "ravel": lambda xp, a: a.ravel(),
    "ravel copy": lambda xp, a: xp.ravel(a.T),
    "ravel F": lambda xp, a: a.ravel("F"),
    "flatten": lambda xp, a: a.flatten(),
    "flip": lambda xp, a: xp.flip(a),
    "flip wrong": lambda xp, a: xp.flip(a, 2),
    "fliplr": lambda xp, a: xp.fliplr(a),
    "rot90": lambda xp, a: xp.rot90(a),
    "diagonal": lambda xp, a: a.diagonal(1),
    "split": lambda xp, a: xp.split(a, 2, axis=1)[1],
    "split wrong": lambda xp, a: xp.split(a, 5),
    "vsplit": lambda xp, a: xp.vsplit(a, 3)[0],
    "atleast_3d": lambda xp, a: xp.atleast_3d(a),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a[0], (2, 4)),
    "broadcast_to wrong": lambda xp, a: xp.broadcast_to(a, (2, 4)),
    "broadcast_arrays": lambda xp, a: xp.broadcast_arrays(a, a[0])[0],
    "real": lambda xp, a: a.real,
    "imag": lambda xp, a: a.imag,
    "view": lambda xp, a: a.view(),
    "mT": lambda xp, a: a.mT,
    "copy": lambda xp, a: a.copy(),
    "asarray": lambda xp, a: xp.asarray(a),
    "array": lambda xp, a: xp.array(a),
    "array copy=None": lambda xp, a: xp.array(a, copy=None),
    "astype": lambda xp, a: a.astype(a.dtype),
    "astype copy=False": lambda xp, a: a.astype(a.dtype, copy=False),
    "concatenate": lambda xp, a: xp.concatenate([a, a]),
    "stack": lambda xp, a: xp.stack([a, a], axis=1),
    "unstack": lambda xp, a: xp.unstack(a)[1],
}


@pytest.mark.parametrize("name", SHAPE_CALLS)
def test_shape_functions_alias_or_copy_as_numpys(device, name):
    call = SHAPE_CALLS[name]
    for dtype in ("float32", "int32", "float64"):
        check(lambda xp: call(xp, made(xp, dtype)), f"{name} {dtype}")

        def written(xp):
            a = made(xp, dtype)
            view = call(xp, a)
            view[...] = 50
            shares = xp.shares_memory(a, view)
            a[1, 1] = -9
            assert type(shares) is bool
            return [a, view, xp.asarray(shares)]

        check(written, f"{name} {dtype} written")


def test_the_parts_of_an_array_of_one_axis_are_numbers(device):
    for dtype in ("float32", "bool", "int64", "complex128"):
        numbers = numpy.array([0, 1, 2]).astype(dtype)
        want, got = numpy.unstack(numbers, axis=-1), gpupy.unstack(gpupy.array(numbers), axis=-1)
        assert type(got) is tuple
        assert got == want
        assert [type(number) for number in got] == [type(number) for number in want]
    check(lambda xp: list(xp.unstack(xp.arange(3), axis=1)), "unstack wrong")
    check(lambda xp: list(xp.unstack(xp.array(1.0))), "unstack of a number")


def test_attributes_are_numpys(device):
    names = "shape dtype ndim size itemsize nbytes strides".split()
    views = [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[1:, ::-2],
        lambda a: a[0, 0:0],
        lambda a: a[None],
        lambda a: a[1, 1, ...],
    ]
    for dtype, view in itertools.product(("float32", "int32", "bool", "float64"), views):
        want, got = view(made(numpy, dtype)), view(made(gpupy, dtype))
        for name in names:
            assert getattr(got, name) == getattr(want, name), (dtype, name)
        for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE"):
            assert got.flags[name] == want.flags[name], (dtype, name)
        assert repr(got) == repr(want)
        assert str(got) == str(want)


def test_shape_can_be_set(device):
    def function(xp):
        a = made(xp)
        b = a[:]
        b.shape = (2, 6)
        b[0] = 1
        return [a, b]

    check(function)
    a = made(gpupy).T
    with pytest.raises(AttributeError):
        a.shape = (12,)


def test_base_is_the_owner(device):
    a = made(gpupy)
    assert a.base is None
    assert a[1:].base is a
    assert a[1:].T[0:1].base is a
    assert a.copy().base is None


def test_flat_reads_writes_and_iterates(device):
    def function(xp):
        a = made(xp)
        a.flat[3] = 33
        a.T.flat[1] = 44
        a[:, ::-1].flat[0:2] = [7, 8]
        copied = a.flat[2:5]
        copied[0] = 1000
        total = max(a.flat)
        assert len(a.flat) == 12
        assert [float(v) for v in a.flat] == a.ravel().tolist()
        b = made(xp)
        b.flat = [1, 2]
        return [a, copied, xp.asarray(a.flat), xp.asarray(total), xp.max(a.flat), b]

    check(function)
    check(lambda xp: made(xp).flat[12])
    check(lambda xp: made(xp).flat[-1])


def test_a_key_of_a_flat_iterator_begins_it_anew(device):
    def function(xp):
        a = made(xp)
        flat, seen = a.flat, []
        for use in ("flat[5]", "flat[2:4]", "flat[[1, 2]]", "flat.copy()", "len(flat)", "flat[99]"):
            next(flat), next(flat)
            try:
                eval(use)
            except IndexError:
                pass
            seen += [flat.index, *flat.coords]
        next(flat)
        flat[7] = 3
        seen += [flat.index, next(flat), next(flat)]
        return [xp.asarray(seen), a]

    check(function)


def test_mutating_methods_write_back(device):
    def function(xp):
        a = xp.array([3, 1, 2, 5, 4], dtype=xp.float32)
        view = a[1:4]
        view.sort()
        a.put([0], 9)
        b = xp.zeros(3, dtype=xp.int32)
        b.fill(4)
        xp.copyto(a[3:], b[:2])
        c = xp.zeros((3, 3), dtype=xp.float32)
        xp.fill_diagonal(c, 2)
        xp.put_along_axis(c, xp.array([[0], [1], [2]]), 7, axis=1)
        xp.place(b, xp.array([True, False, True]), [5, 6])
        d = xp.arange(4, dtype=xp.float32)
        d.partition(2)
        d.resize((2, 3))
        return [a, view, b, c, d]

    check(function)


def test_shuffle_writes_back(device):
    def function(xp):
        a = xp.arange(8, dtype=xp.float32)
        xp.random.seed(3)
        xp.random.shuffle(a)
        b = xp.arange(8, dtype=xp.int32)
        xp.random.default_rng(3).shuffle(b)
        return [a, b]

    check(function)


@pytest.mark.parametrize("dtype", ["f8", "i2", "S3", "i1,f4"])
@pytest.mark.parametrize("shape", [(7,), (5, 4), (3, 4, 2), (0, 3)])
def test_numpys_own_generators_move_each_row_once(device, dtype, shape):
    # They take arrays of other classes for sequences, and swap what `x[i]` gives.
    ways = {
        "Generator": lambda a, axis: numpy.random.default_rng(3).shuffle(a, axis=axis),
        "RandomState": lambda a, axis: numpy.random.RandomState(3).shuffle(a),
        "function": lambda a, axis: (numpy.random.seed(3), numpy.random.shuffle(a)),
        "view": lambda a, axis: numpy.random.default_rng(3).shuffle(a[::-1]),
        "transposed": lambda a, axis: numpy.random.default_rng(3).shuffle(a.T),
        "permuted": lambda a, axis: numpy.random.default_rng(3).permuted(a.copy(), axis=axis, out=a),
    }
    plain = numpy.arange(numpy.prod(shape)).astype("f8" if "," in dtype else dtype)
    given = numpy.zeros(shape, dtype)
    for name in given.dtype.names or [...]:
        given[name] = plain.reshape(shape)
    for axis in range(len(shape)):
        for name, way in ways.items():
            want, got = given.copy(), gpupy.array(given)
            way(want, axis), way(got, axis)
            assert numpy.asarray(got).tobytes() == want.tobytes(), (name, axis)


def test_what_numpys_own_generators_refuse_to_shuffle_stays(device):
    frozen = gpupy.arange(6).reshape(3, 2)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        numpy.random.default_rng(1).shuffle(frozen)
    rows = [gpupy.arange(2), gpupy.arange(3), gpupy.arange(4)]
    moved = list(rows)
    numpy.random.default_rng(3).shuffle(moved)
    assert sorted(map(id, moved)) == sorted(map(id, rows)) and frozen.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_read_only_arrays_refuse_writes(device):
    a = made(gpupy)
    view = gpupy.broadcast_to(a[0], (2, 4))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        view += 1
    a.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a.sort()
    assert_same(a, made(numpy))


def test_empty_and_zero_dimensional_arrays(device):
    calls = {
        "zeros ()": lambda xp: xp.zeros((), xp.float32),
        "zeros () + 1": lambda xp: xp.zeros((), xp.float32) + 1,
        "0-d read": lambda xp: xp.ones((), xp.int32)[()],
        "0-d ...": lambda xp: xp.ones((), xp.int32)[...],
        "0-d None": lambda xp: xp.ones((), xp.float32)[None],
        "len": lambda xp: len(xp.zeros((), xp.float32)),
        "iter": lambda xp: list(xp.zeros((), xp.float32)),
        "empty sum": lambda xp: xp.zeros((0, 3), xp.float32).sum(),
        "empty sum axis": lambda xp: xp.zeros((0, 3), xp.float32).sum(axis=0),
        "empty max": lambda xp: xp.zeros((0, 3), xp.float32).max(),
        "empty max axis": lambda xp: xp.zeros((0, 3), xp.float32).max(axis=1),
        "empty all": lambda xp: xp.zeros(0, bool).all(),
        "empty add": lambda xp: xp.zeros((0, 3), xp.float32) + xp.ones(3, xp.float32),
        "empty reshape": lambda xp: xp.zeros((0, 3), xp.float32).reshape(3, 0),
        "empty reshape open": lambda xp: xp.zeros((0, 3), xp.float32).reshape(-1, 3),
        "empty flat": lambda xp: list(xp.zeros((0, 3), xp.float32).flat),
        "bool": lambda xp: bool(xp.zeros(3, xp.float32)),
        "bool empty": lambda xp: bool(xp.zeros(0, xp.float32)),
        "bool one": lambda xp: bool(xp.ones((1, 1), xp.float32)),
        "float": lambda xp: float(xp.ones(2, xp.float32)),
        "float 0-d": lambda xp: float(xp.ones((), xp.float32)),
        "int": lambda xp: int(xp.ones((), xp.int32)),
        "item": lambda xp: xp.ones(2, xp.float32).item(),
        "item 1": lambda xp: xp.arange(4, dtype=xp.float32).reshape(2, 2).item(2),
        "item pair": lambda xp: xp.arange(4, dtype=xp.float32).reshape(2, 2).item(1, 0),
        "item out": lambda xp: xp.ones(2, xp.float32).item(2),
        "tolist": lambda xp: xp.ones((2, 1), xp.int32).tolist(),
        "contains": lambda xp: 3 in xp.arange(4, dtype=xp.float32),
        "hash": lambda xp: hash(xp.ones(2, xp.float32)),
        "index": lambda xp: [10, 20][xp.array(1, dtype=xp.int32)],
        "negative zeros": lambda xp: xp.zeros(-1, xp.float32),
        "del": lambda xp: xp.zeros(3, xp.float32).__delitem__(0),
    }
    for name, call in calls.items():
        check(call, name)


def test_an_element_takes_no_array_with_axes(device):
    for value in ([1.0], [[1.0]], []):
        for dtype in ("float32", "int32", "float64"):

            def function(xp):
                a = made(xp, dtype)
                a[0, 1:2] = xp.array(value, dtype="float32").reshape(-1)
                a[1, 1] = xp.array(value, dtype="float32")
                return a

            check(function, f"{dtype} {value}")


def test_ravel_of_reversed_elements_is_a_copy(device):
    def function(xp):
        a = xp.arange(5, dtype=xp.float32)
        b, c = a[::-1].ravel(), a[::-1].reshape(-1)
        a += 10
        return [b, c]

    check(function)


def test_a_view_of_a_subclass_shows_the_elements(driver):
    class Mine(gpupy.ndarray):
        pass

    a = gpupy.zeros(3, gpupy.float32)
    a.view(Mine)[1] = 5
    assert type(a.view(Mine)) is Mine and a.tolist() == [0.0, 5.0, 0.0]


def test_writes_to_views_of_another_dtype_reach_the_array_or_are_refused(driver):
    for dtype in (gpupy.int32, gpupy.uint8):
        a, theirs = gpupy.ones(3, gpupy.float32), np.ones(3, np.float32)
        bits = a.view(dtype)
        assert_same(bits, theirs.view(dtype))
        bits[0] = 0
        theirs.view(dtype)[0] = 0
        assert_same(bits, theirs.view(dtype))
        assert_same(a, theirs)
        try:
            bits[:2][0] = 1
        except ValueError as error:
            assert "read-only" in str(error)
        else:
            theirs.view(dtype)[:2][0] = 1
        assert_same(a, theirs)


@pytest.mark.parametrize("order", [*"CFAKcfakX", None])
def test_orders_are_taken_in_small_letters_too(device, order):
    ways = {
        "ravel": lambda a: a.ravel(order),
        "flatten": lambda a: a.flatten(order),
        "reshape": lambda a: a.reshape(4, 3, order=order),
        "copy": lambda a: a.copy(order),
        "astype": lambda a: a.astype("int16", order=order),
    }
    for name, way in ways.items():
        check(lambda xp: way(made(xp)), f"{name} {order}")
        check(lambda xp: way(made(xp).T), f"{name} {order} transposed")


@pytest.mark.parametrize("dtype", ["?", "i4", "f4", "c8"])
def test_the_real_part_of_what_has_no_other_is_the_array_itself(device, dtype):
    for x in (gpupy.ones((3, 2), dtype), gpupy.zeros((), dtype), gpupy.zeros((3, 0), dtype)):
        assert (x.real is x) == (gpupy.real(x) is x) == (dtype != "c8")


@pytest.mark.parametrize("driver_name", ["cpu", "soft"])
@pytest.mark.parametrize("strict", [True, False])
def test_views_of_nothing_are_copied_wherever_they_begin(driver_name, strict):
    gpupy._gpupy.reconfigure(driver_name, strict=strict)
    given = np.arange(12.0).reshape(3, 4)
    a = gpupy.asarray(given)
    for key in [np.s_[3:], np.s_[:, 4:], np.s_[3:, 4:], np.s_[2:, 4:], np.s_[:0], np.s_[3:, ::-1]]:
        for take in (lambda x: x.copy(), lambda x: x.T.ravel(), lambda x: x + 1, lambda x: x.astype("f4")):
            got, want = take(a[key]), take(given[key])
            assert got.shape == want.shape
            assert got.tolist() == want.tolist()
