"""pyarrow: Arrow's arrays, tables and tensors of our arrays."""

import sys

import pytest
from steps import Steps

import gpupy

step = Steps("pyarrow")


@step
def an_array(np, pa):
    return pa.array(np.arange(4) * 0.5)


@step
def an_array_of_bools(np, pa):
    return pa.array(np.arange(4) > 2)


@step
def an_array_under_another_type(np, pa):
    return pa.array(np.arange(4), type=pa.float32())


@step
def an_array_with_a_mask(np, pa):
    return pa.array(np.arange(3), mask=np.array([False, True, False]))


@step
def an_array_of_a_view_with_strides(np, pa):
    return pa.array(np.arange(8)[::-2])


@step
def a_chunked_array(np, pa):
    return pa.chunked_array([np.arange(3), np.arange(2)])


@step
def a_table(np, pa):
    return pa.table({"v": np.arange(3.0), "w": np.arange(3, dtype=np.int16)})


@step
def a_record_batch(np, pa):
    return pa.record_batch({"v": np.arange(3.0)})


@step(fails="a tensor asks for NumPy's class, in C")
def a_tensor(np, pa):
    return pa.Tensor.from_numpy(np.arange(6.0).reshape(2, 3))


@step
def a_scalar(np, pa):
    return pa.scalar(np.arange(4.0).sum())


@step
def a_list_with_scalars(np, pa):
    return pa.array([np.arange(4.0).sum(), None])


@step
def a_buffer(np, pa):
    return pa.py_buffer(np.arange(3.0)).to_pybytes()


@step
def an_appended_column(np, pa):
    return pa.table({"v": [1, 2]}).append_column("w", pa.array(np.array([0.5, 1.0])))


@step
def taken_by_positions(np, pa):
    return pa.array([5, 6, 7]).take(pa.array(np.array([2, 0])))


@step
def rows_by_a_mask(np, pa):
    return pa.table({"v": [1, 2, 3]}).filter(pa.array(np.array([True, False, True])))


@step
def an_array_of_a_column(np, pa):
    return np.asarray(pa.array([1.0, 2.0])) + 1


@step
def values_in_a_set(np, pa):
    import pyarrow.compute as pc

    return pc.is_in(pa.array([1, 2, 3]), value_set=pa.array(np.array([1, 3])))


test_pyarrow = step.tests()


def test_arrows_capsules_are_of_the_arrays_own_memory():
    pa = pytest.importorskip("pyarrow")
    a = gpupy.arange(4.0)
    taken = pa.Array._import_from_c_capsule(*a.__arrow_c_array__())
    assert taken.to_pylist() == [0.0, 1.0, 2.0, 3.0]
    a[2] = 9
    assert taken.to_pylist() == [0.0, 1.0, 9.0, 3.0]


def test_without_pyarrow_the_words_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for ask in (gpupy.ones(2).__arrow_array__, gpupy.ones(2).__arrow_c_array__):
        with pytest.raises(ImportError, match="Arrow's layout of an array is made by pyarrow: install it"):
            ask()


def test_typed_lists_come_and_go():
    pa = pytest.importorskip("pyarrow")
    typed = gpupy.TypedList([[1, 2], [], [3]], dtype="f4")
    there = pa.array(typed)
    assert there.type == pa.large_list(pa.float32()) and there.to_pylist() == typed.tolist()
    assert pa.array(typed, type=pa.list_(pa.float64())).to_pylist() == typed.tolist()
    for array in (there, there[1:], pa.array([[1.5], [2.5, 3.5]])):
        assert gpupy.TypedList.from_arrow(array).tolist() == array.to_pylist()
    for array in ([[1.0], None], [[1.0, None]]):
        with pytest.raises(ValueError, match="nulls"):
            gpupy.TypedList.from_arrow(pa.array(array))
