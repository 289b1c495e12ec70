"""Pickles with out-of-band elements: nothing is copied, and no side sees later writes of the other."""

import copy
import mmap
import pickle

import numpy
import pytest

import gpupy

# Columns of four rows of float32: many, which are recorded, and the fewest that are not copied.
LARGE = 1 << 14
SMALL = 1 << 10


def beside(array):
    """A pickle of protocol 5 and its buffers."""
    buffers = []
    return pickle.dumps(array, 5, buffer_callback=buffers.append), buffers


def numbers(dtype="f4", columns=LARGE):
    return (numpy.arange(4 * columns) % 100).astype(dtype).reshape(4, columns)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_every_dtype_comes_back_with_its_elements(driver, dtype):
    wanted = numbers(dtype)
    for given in [gpupy.asarray(wanted), gpupy.asarray(wanted).T, gpupy.asarray(wanted)[1:, ::2]]:
        pickled, buffers = beside(given)
        if given._lazy and given.flags.forc:
            assert len(pickled) < 1000 and sum(len(b.raw()) for b in buffers) == given.nbytes
        for found in [pickle.loads(pickled, buffers=buffers), pickle.loads(pickle.dumps(given, 5))]:
            assert type(found) is gpupy.ndarray and found.dtype == given.dtype
            numpy.testing.assert_array_equal(found, numpy.asarray(given))


def test_an_order_of_columns_stays(driver):
    pickled, buffers = beside(gpupy.asarray(numbers()).T)
    assert pickle.loads(pickled, buffers=buffers).strides == numbers().T.strides


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_elements_lie_as_those_of_numpys_pickles(driver, protocol):
    """In C order, unless an array is contiguous in Fortran's, however its elements come to host memory."""
    for columns in (3, SMALL, LARGE):
        for make in (numpy.zeros, numpy.ones):
            wanted, given = make((4, columns)), getattr(gpupy, make.__name__)((4, columns))
            for name, part in {
                "whole": lambda x: x,
                "columns": lambda x: x.T,
                "rows of columns": lambda x: x.T[1:],
                "columns of rows": lambda x: x[1:].T,
                "columns, without some": lambda x: x.T[:, 1:],
                "backwards": lambda x: x[::-1, ::2],
                "swapped": lambda x: (x + 1)[1:-1].swapaxes(0, 1),
                "one": lambda x: x[1:2, 1:2],
                "none": lambda x: x[:0].T,
            }.items():
                found = pickle.loads(pickle.dumps(part(given), protocol))
                again = pickle.loads(pickle.dumps(part(wanted), protocol))
                numpy.testing.assert_array_equal(found, again)
                assert found.strides == again.strides, (name, columns)


def test_nothing_is_copied_on_either_way(auto):
    # Computed elements are in host memory on these drivers.
    array = gpupy.asarray(numbers("f8")) + 1
    gpupy.evaluate(array)
    address = array._host().ctypes.data
    pickled, buffers = beside(array)
    assert numpy.frombuffer(buffers[0]).ctypes.data == address
    found = pickle.loads(pickled, buffers=buffers)
    assert found._host().ctypes.data == address
    assert (found * 2).sum() == (array * 2).sum()
    assert found._host().ctypes.data == address


def test_what_is_written_later_stays_on_its_side(limited):
    wanted = numbers()
    array = gpupy.asarray(wanted) * 1
    pickled, buffers = beside(array)
    found = pickle.loads(pickled, buffers=buffers)
    array[1] = -1
    array += 1
    again = pickle.loads(pickled, buffers=buffers)
    found[2, ::2] = -2
    numpy.testing.assert_array_equal(again, wanted)
    changed = wanted.copy()
    changed[2, ::2] = -2
    numpy.testing.assert_array_equal(found, changed)
    wanted[1] = -1
    numpy.testing.assert_array_equal(array, wanted + 1)


def test_a_pinned_array_is_copied(driver):
    array = gpupy.asarray(numbers())
    shown = numpy.asarray(array)
    pickled, buffers = beside(array)
    shown[:] = -1
    numpy.testing.assert_array_equal(pickle.loads(pickled, buffers=buffers), numbers())


WRITES = {
    "an element": lambda a: a.__setitem__((0, 3), -1),
    "a slice": lambda a: a.__setitem__((slice(1, 3), slice(None, None, 2)), -1),
    "a row of an array": lambda a: a.__setitem__(0, a[1] * 2),
    "all": lambda a: a.__setitem__(..., 7),
    "by a mask": lambda a: a.__setitem__(a > 50, 0),
    "by an index array": lambda a: a.__setitem__((slice(None), [5, 1]), 9),
    "in place": lambda a: a.__iadd__(1),
    "by a ufunc": lambda a: numpy.sqrt(a, out=a),
    "by NumPy": lambda a: numpy.asarray(a).__setitem__((0, 0), 5),
    "sorted": lambda a: a.sort(),
    "by a view": lambda a: a.T[3:9].__imul__(2),
    "under another dtype": lambda a: a.view("u4").__setitem__((0, 0), 1),
}


def check_that_a_write_is_elsewhere(write, columns, folder):
    # A write to these pages would end the process.
    path = folder / "elements"
    path.write_bytes(numbers(columns=columns).tobytes())
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    pickled, _ = beside(gpupy.asarray(numbers(columns=columns)))
    found, wanted = pickle.loads(pickled, buffers=[memory]), numbers(columns=columns)
    assert found.flags.writeable
    write(found)
    write(wanted)
    numpy.testing.assert_array_equal(found, wanted)
    again = pickle.loads(pickled, buffers=[memory])
    numpy.testing.assert_array_equal(again, numbers(columns=columns))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("columns", [LARGE, SMALL])
def test_what_may_not_be_written_is_not(limited, write, columns, tmp_path):
    check_that_a_write_is_elsewhere(write, columns, tmp_path)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_few_elements_that_may_not_be_written_are_not(auto, write, tmp_path):
    # They are computed at once.
    check_that_a_write_is_elsewhere(write, SMALL, tmp_path)


@pytest.mark.parametrize("columns", [LARGE, SMALL])
def test_a_loop_of_updates_in_place_leaves_the_buffer(limited, columns):
    pickled, buffers = beside(gpupy.asarray(numbers(columns=columns)))
    memory = bytearray(buffers[0].raw())
    found, wanted = pickle.loads(pickled, buffers=[memory]), numbers(columns=columns)

    def update(array):
        for step in range(5):
            array *= 0.5
            array[1:3, 1:-1] += array[1:3, 2:] * step

    update(found)
    update(wanted)
    numpy.testing.assert_array_equal(found, wanted)
    assert memory == numbers(columns=columns).tobytes()


def test_the_memory_is_kept_by_what_is_pending(driver):
    pickled, buffers = beside(gpupy.asarray(numbers()))
    memory = bytearray(buffers[0].raw())
    pending = pickle.loads(pickled, buffers=[memory]) + 1
    with pytest.raises(BufferError):
        memory.extend(b"more")
    numpy.testing.assert_array_equal(pending, numbers() + 1)


def test_elements_that_lie_between_multiples_of_their_size_are_copied(driver):
    pickled, buffers = beside(gpupy.asarray(numbers()))
    memory = memoryview(b"." + bytes(buffers[0].raw()))[1:]
    numpy.testing.assert_array_equal(pickle.loads(pickled, buffers=[memory]), numbers())


def test_a_truth_value_is_any_byte_but_0(driver):
    pickled, _ = beside(gpupy.asarray(numbers("?")))
    found = pickle.loads(pickled, buffers=[bytes([0, 1, 2, 255]) * LARGE])
    assert found.sum() == 3 * LARGE
    assert (found == numpy.tile([False, True, True, True], LARGE).reshape(4, LARGE)).all()


def test_what_has_no_elements_and_what_has_no_axes_go_too(driver):
    for given in [gpupy.zeros((0, 3)), gpupy.asarray(numpy.array(2.5)), gpupy.zeros((3, 0)).T]:
        pickled, buffers = beside(given)
        found = pickle.loads(pickled, buffers=buffers)
        assert (found.shape, found.dtype) == (given.shape, given.dtype)
        numpy.testing.assert_array_equal(found, numpy.asarray(given))


def test_dtypes_of_numpys_own_go_as_numpys(driver):
    for given in [gpupy.asarray(numpy.array(["a", "bc"])), gpupy.asarray(numpy.array([{}, None], object))]:
        assert numpy.array_equal(pickle.loads(pickle.dumps(given, 5)), numpy.asarray(given))


def test_copies_are_no_pickles(driver):
    array = gpupy.asarray(numbers()) + 1
    for copied in [copy.copy(array), copy.deepcopy(array)]:
        copied[:] = 0
    numpy.testing.assert_array_equal(array, numbers() + 1)


@pytest.mark.parametrize("name", ["random", "linalg", "fft", "lib.stride_tricks"])
def test_a_submodule_is_pickled_by_its_name(name):
    module = eval(f"gpupy.{name}")
    assert pickle.loads(pickle.dumps(module)) is module
