"""awkward: ragged arrays made of ours, and chosen from by ours."""

import pytest
from steps import Steps

import gpupy

step = Steps("awkward")


@step
def an_array(np, ak):
    return ak.to_list(ak.Array(np.arange(6.0).reshape(2, 3)))


@step
def an_array_of_numpys(np, ak):
    return ak.to_list(ak.from_numpy(np.arange(4)))


@step
def rows_of_counts(np, ak):
    return ak.to_list(ak.unflatten(np.arange(5), np.array([2, 0, 3])))


@step
def chosen_by_a_mask(np, ak):
    return ak.to_list(ak.Array([[1, 2], [], [3]])[np.array([True, False, True])])


@step
def chosen_by_positions(np, ak):
    return ak.to_list(ak.Array([[1, 2], [], [3]])[np.array([2, 0])])


@step
def arithmetic(np, ak):
    return ak.to_list(ak.Array([1.0, 2.0, 3.0]) * np.arange(3.0))


@step
def arithmetic_on_the_left(np, ak):
    return ak.to_list(np.arange(3.0) * ak.Array([1.0, 2.0, 3.0]))


@step
def a_ufunc(np, ak):
    return ak.to_list(np.sqrt(ak.Array([[1.0, 4.0], [9.0]])))


@step
def records(np, ak):
    return ak.to_list(ak.zip({"x": np.arange(2.0), "y": np.arange(2)}))


@step
def an_array_that_is_ours_again(np, ak):
    return np.asarray(ak.Array([1.0, 2.0])) + 1


@step
def a_sum(np, ak):
    return float(ak.sum(np.arange(4.0)))


@step
def the_type_of_an_array(np, ak):
    return str(ak.type(np.arange(3, dtype=np.float32)))


test_awkward = step.tests()


def test_typed_lists_come_and_go():
    ak = pytest.importorskip("awkward")
    typed = gpupy.TypedList([[1, 2], [], [3]], dtype="f4")
    there = typed.to_awkward()
    assert ak.to_list(there) == typed.tolist() == ak.to_list(ak.Array(typed))
    for array in (there, there[1:], there[[2, 0]]):
        back = gpupy.TypedList.from_awkward(array)
        assert back.tolist() == ak.to_list(array) and back.dtype == "f4"
