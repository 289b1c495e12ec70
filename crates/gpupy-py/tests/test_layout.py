"""Results lie in memory as NumPy's do: order ``K``, as near to that of the operands as can be."""

import copy
import itertools

import numpy
import pytest

import gpupy

SHAPE = (2, 3, 4)

# Every order of axes, and parts of them.
VIEWS = {f"axes {axes}": lambda a, axes=axes: a.transpose(axes) for axes in itertools.permutations(range(3))}
VIEWS |= {
    "backwards": lambda a: a.T[::-1, :, ::-1],
    "a part": lambda a: a.T[1:3, ::2],
    "one row": lambda a: a.T[:, :1],
    "two axes": lambda a: a[1].T,
    "one axis": lambda a: a[1, :, 2],
}

OPERATIONS = {
    "a number": lambda xp, a: a + 1,
    "itself": lambda xp, a: a * a,
    "one operand": lambda xp, a: xp.sqrt(a),
    "a comparison": lambda xp, a: a > 5,
    "C order wins": lambda xp, a: a + a.copy(),
    "broadcast": lambda xp, a: a + a[..., :1],
    "fewer axes": lambda xp, a: a - a[0],
    "a choice": lambda xp, a: xp.where(a > 5, a, -a),
    "a cast": lambda xp, a: a.astype("int32"),
    "a cast in C order": lambda xp, a: a.astype("int32", order="C"),
    "a cast in any order": lambda xp, a: a.astype("int32", order="A"),
    "positive": lambda xp, a: +a,
    "a copy": lambda xp, a: a.copy(order="K"),
    "the copy of a copier": lambda xp, a: copy.copy(a),
    "the copy of a deep copier": lambda xp, a: copy.deepcopy(a),
    "a copy in C order": lambda xp, a: a.copy(),
    "a copy in any order": lambda xp, a: a.copy(order="A"),
    "an array": lambda xp, a: xp.array(a),
    "an array of another dtype": lambda xp, a: xp.array(a, dtype="int32"),
    "an array of another dtype in F order": lambda xp, a: xp.array(a, dtype="int32", order="F"),
    "several operations": lambda xp, a: (2 * a + 1) // 3,
    "a sum": lambda xp, a: a.sum(axis=0),
    "a sum over the last axis": lambda xp, a: a.sum(axis=-1),
    "a sum with its axis": lambda xp, a: a.sum(axis=0, keepdims=True),
    "a maximum over two axes": lambda xp, a: a.max(axis=(0, -1)) if a.ndim > 2 else a.max(axis=0),
    "a mean": lambda xp, a: a.mean(axis=0),
    "running sums": lambda xp, a: a.cumsum(axis=0),
    "running maxima": lambda xp, a: xp.maximum.accumulate(a, axis=-1),
    "sorted": lambda xp, a: xp.sort(-a, axis=0),
    "sorted along the last axis": lambda xp, a: xp.sort(-a),
    "positions in order": lambda xp, a: xp.argsort(-a, axis=0),
    "places": lambda xp, a: xp.argmax(a, axis=0),
    "joined": lambda xp, a: xp.concatenate([a, a + 1]),
    "joined along the last axis": lambda xp, a: xp.concatenate([a, a[..., :1]], axis=-1),
    "shifted": lambda xp, a: xp.roll(a, 1, axis=0),
    "shifted along the last axis": lambda xp, a: xp.roll(a, 1, axis=-1),
    "differences": lambda xp, a: xp.diff(a, axis=0),
    "padded": lambda xp, a: xp.pad(a, 1, mode="edge"),
    "in one row": lambda xp, a: a.ravel("K"),
    "in one row, of the like": lambda xp, a: a.ravel("A"),
    "repeated": lambda xp, a: xp.repeat(a, 2, axis=0),
    "given to NumPy": lambda xp, a: numpy.asarray(a * 2),
}


@pytest.fixture(params=[("cpu", False), ("cpu", True), ("soft", True)], ids=str)
def placement(request):
    """Small work computed at once, and all work recorded."""
    driver, strict = request.param
    gpupy._gpupy.reconfigure(driver, strict=strict)


def steps(array):
    """The strides of axes along which there are steps to take."""
    return [stride for stride, n in zip(array.strides, array.shape, strict=True) if n > 1]


@pytest.mark.parametrize("view", VIEWS)
def test_results_lie_in_memory_as_numpys_do(placement, view):
    given = numpy.arange(24, dtype=numpy.float32).reshape(SHAPE)
    for name, operation in OPERATIONS.items():
        want = operation(numpy, VIEWS[view](given))
        found = operation(gpupy, VIEWS[view](gpupy.array(given)))
        assert steps(found) == steps(want), name
        assert found.flags["C_CONTIGUOUS"] == want.flags["C_CONTIGUOUS"], name
        assert found.flags["F_CONTIGUOUS"] == want.flags["F_CONTIGUOUS"], name
        numpy.testing.assert_array_equal(numpy.asarray(found), want, name)


def test_operands_that_do_not_broadcast_are_refused_in_numpys_words(placement):
    a, b = (numpy.asfortranarray(numpy.ones(shape, "f4")) for shape in ((3, 4), (2, 3)))
    with pytest.raises(ValueError) as wanted:
        a + b
    with pytest.raises(ValueError) as found:
        gpupy.array(a) + gpupy.array(b)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 3)])
def test_the_places_of_elements_are_columns_of_one_array(shape):
    given = numpy.arange(numpy.prod(shape)).reshape(shape) % 3
    a = gpupy.array(given)
    for mine in (gpupy.nonzero(a), a.nonzero(), gpupy.where(a)):
        theirs = numpy.nonzero(given)
        assert type(mine) is tuple and len(mine) == len(theirs)
        for x, y in zip(mine, theirs, strict=True):
            assert (x.shape, x.strides, x.dtype) == (y.shape, y.strides, y.dtype)
            assert x.tolist() == y.tolist()
