"""Arrays without elements have NumPy's strides and flags: new ones steps of 0, views those of what they show.

Not here: their values, which no operation has, and reductions of nothing (``test_reduce.py``).
"""

import warnings

import hypothesis
import hypothesis.strategies as st
import numpy
import pytest

import gpupy

# New arrays of a shape.
NEW = {
    "zeros": lambda xp, shape: xp.zeros(shape),
    "ones of int8": lambda xp, shape: xp.ones(shape, "i1"),
    "empty in F order": lambda xp, shape: xp.empty(shape, "f4", order="F"),
    "full": lambda xp, shape: xp.full(shape, 2j),
    "an array": lambda xp, shape: xp.array(numpy.zeros(shape, "i4")),
    "an array in F order": lambda xp, shape: xp.array(numpy.zeros(shape), order="F"),
    "lists": lambda xp, shape: xp.array(numpy.zeros(shape).tolist()),
    "no rows": lambda xp, shape: xp.ones([n + 3 for n in shape])[tuple(slice(n) for n in shape)],
    "no steps": lambda xp, shape: xp.ones([n + 3 for n in shape])[tuple(slice(0, 2 * n, 2) for n in shape)],
    "broadcast": lambda xp, shape: xp.broadcast_to(xp.zeros(shape[-1:], "f4"), shape),
    "indices": lambda xp, shape: xp.indices(shape)[0],
    "from a function": lambda xp, shape: xp.fromfunction(lambda *at: at[0] * 2, shape),
}

# Functions of an array.
STEPS = {
    "a number more": lambda xp, a: a + 1,
    "itself": lambda xp, a: a * a,
    "negative": lambda xp, a: -a,
    "a comparison": lambda xp, a: a > 0,
    "a root": lambda xp, a: xp.sqrt(a + 0.0),
    "an operand without axes": lambda xp, a: a * xp.array(3.0),
    "an operand of one axis": lambda xp, a: a + xp.ones(a.shape[-1:], "f4"),
    "its last column": lambda xp, a: a + xp.ones((*a.shape[:-1], 1)),
    "with its transpose": lambda xp, a: a + a.T if a.shape == a.T.shape else a.T - 1,
    "of axes apart": lambda xp, a: xp.add.outer(a, xp.zeros(2)),
    "both results": lambda xp, a: xp.divmod(xp.abs(a), 2.0)[1],
    "a copy": lambda xp, a: a.copy(),
    "a copy in order K": lambda xp, a: a.copy(order="K"),
    "a copy in order F": lambda xp, a: a.copy(order="F"),
    "another dtype": lambda xp, a: a.astype("i2"),
    "ascontiguousarray": lambda xp, a: xp.ascontiguousarray(a),
    "asfortranarray": lambda xp, a: xp.asfortranarray(a),
    "zeros like it": lambda xp, a: xp.zeros_like(a),
    "its transpose": lambda xp, a: a.T,
    "axes in turn": lambda xp, a: a.transpose(*range(1, a.ndim), 0) if a.ndim else a,
    "swapped axes": lambda xp, a: a.swapaxes(0, -1),
    "moved axes": lambda xp, a: xp.moveaxis(a, 0, -1),
    "another shape": lambda xp, a: a.reshape(0, 5),
    "two more axes": lambda xp, a: a.reshape(2, *a.shape, 3),
    "the same shape": lambda xp, a: a.reshape(a.shape),
    "another shape in order F": lambda xp, a: a.reshape((3, 0), order="F"),
    "another shape in order A": lambda xp, a: a.reshape((2, 0, 3), order="A"),
    "a new axis": lambda xp, a: a[None],
    "a new last axis": lambda xp, a: a[..., None],
    "expanded": lambda xp, a: xp.expand_dims(a, 1),
    "squeezed": lambda xp, a: a.squeeze(),
    "one row": lambda xp, a: a.ravel(),
    "one row in order K": lambda xp, a: a.ravel("K"),
    "one row in order F": lambda xp, a: a.ravel("F"),
    "flat": lambda xp, a: a.flatten(),
    "a slice": lambda xp, a: a[1:],
    "a slice with steps": lambda xp, a: a[..., ::2],
    "backwards": lambda xp, a: a[::-1],
    "flipped": lambda xp, a: xp.flip(a),
    "a part of an axis": lambda xp, a: a[..., 1:1],
    "indices": lambda xp, a: a[[0] * min(a.shape[0], 1)],
    "no indices": lambda xp, a: a[[]],
    "a mask": lambda xp, a: a[a > 0],
    "a mask of rows": lambda xp, a: a[xp.zeros(a.shape[0], bool)],
    "taken": lambda xp, a: a.take([], 0),
    "of the last axis": lambda xp, a: xp.take(a, [], axis=-1),
    "a diagonal": lambda xp, a: xp.diagonal(a),
    "broadcast": lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
    "bytes": lambda xp, a: a.view("u1"),
    "another dtype's view": lambda xp, a: a.view("i4"),
    "real": lambda xp, a: a.real,
    "imaginary": lambda xp, a: a.imag,
    "a sum": lambda xp, a: a.sum(0),
    "a sum of the last axis": lambda xp, a: a.sum(-1),
    "a sum with its axis": lambda xp, a: a.sum(0, keepdims=True),
    "a mean": lambda xp, a: a.mean(-1),
    "a maximum": lambda xp, a: a.max(0),
    "places": lambda xp, a: a.argmax(-1),
    "truth": lambda xp, a: a.any(-1),
    "running sums": lambda xp, a: a.cumsum(0),
    "differences": lambda xp, a: xp.diff(a, axis=0),
    "sorted": lambda xp, a: xp.sort(a, 0),
    "places in order": lambda xp, a: xp.argsort(a),
    "joined": lambda xp, a: xp.concatenate([a, a]),
    "joined in the last axis": lambda xp, a: xp.concatenate([a, a], -1),
    "stacked": lambda xp, a: xp.stack([a, a]),
    "stacked last": lambda xp, a: xp.stack([a, a], -1),
    "repeated": lambda xp, a: a.repeat(2, 0),
    "tiled": lambda xp, a: xp.tile(a, 2),
    "rolled": lambda xp, a: xp.roll(a, 1, 0),
    "a choice": lambda xp, a: xp.where(a > 0, a, 1.0),
    "limits": lambda xp, a: a.clip(0, 1),
    "rounded": lambda xp, a: a.round(1),
    "padded": lambda xp, a: xp.pad(a, 1),
    "a product": lambda xp, a: a @ xp.ones((a.shape[-1], 2)),
    "a product from the left": lambda xp, a: xp.ones((2, a.shape[-2])) @ a,
    "a product by dot": lambda xp, a: xp.dot(a, xp.ones((a.shape[-1], 2))),
    "inner": lambda xp, a: xp.inner(a, xp.ones((3, a.shape[-1]))),
    "outer": lambda xp, a: xp.outer(a, [1.0, 2.0]),
    "tensordot": lambda xp, a: xp.tensordot(a, xp.ones((a.shape[-1], 2)), 1),
    "einsum": lambda xp, a: xp.einsum("ij,jk->ik", a, xp.ones((a.shape[-1], 2))),
    "einsum, turned": lambda xp, a: xp.einsum("ij,ik->kj", a, xp.ones((a.shape[0], 2))),
    "einsum of axes": lambda xp, a: xp.einsum("ij->ji", a),
    "einsum of no axes": lambda xp, a: xp.einsum("ij,j->i", a, xp.ones(a.shape[-1])),
}
SHAPES = [(0,), (0, 3), (3, 0), (0, 0), (0, 1), (1, 0), (2, 0, 3), (0, 2, 3), (2, 3, 0), (2, 1, 0, 3)]


def seen(a):
    """What an array shows of its memory; where there are elements, without the strides of axes of one."""
    if not isinstance(a, (numpy.ndarray, gpupy.ndarray)):
        return "a scalar", str(a.dtype)
    flags = a.flags
    strides = [step for step, n in zip(a.strides, a.shape, strict=True) if n > 1 or not a.size]
    owns = flags.owndata if a.size == 0 else None
    return str(a.dtype), a.shape, strides, flags.c_contiguous, flags.f_contiguous, flags.writeable, owns


def run(xp, new, shape, steps):
    """What the array shows after each step; the error of one that is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = NEW[new](xp, shape)
        shown = [seen(a)]
        for step in steps:
            try:
                a = STEPS[step](xp, a)
            except Exception as error:
                shown.append(type(error).__name__)
                break
            shown.append(seen(a))
            if not isinstance(a, (numpy.ndarray, gpupy.ndarray)) or not a.ndim or a.ndim > 6:
                break
    return shown


@pytest.fixture(params=[("cpu", False), ("cpu", True), ("soft", True)], ids=str)
def placement(request):
    """Small work computed at once, and all work recorded."""
    driver, strict = request.param
    gpupy._gpupy.reconfigure(driver, strict=strict)


@pytest.mark.parametrize("new", NEW)
def test_strides_and_flags_after_each_step_are_numpys(placement, new):
    for shape in SHAPES:
        for step in STEPS:
            assert run(gpupy, new, shape, [step]) == run(numpy, new, shape, [step]), (shape, step)


@hypothesis.settings(max_examples=300)
@hypothesis.given(
    new=st.sampled_from(sorted(NEW)),
    shape=st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(lambda shape: 0 in shape),
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=4),
)
def test_strides_and_flags_after_several_steps_are_numpys(placement, new, shape, steps):
    assert run(gpupy, new, tuple(shape), steps) == run(numpy, new, tuple(shape), steps)


ALONG = {
    "sort": lambda xp, a, axis: xp.sort(a, axis=axis),
    "argsort": lambda xp, a, axis: xp.argsort(a, axis=axis),
    "cumsum": lambda xp, a, axis: xp.cumsum(a, axis=axis),
    "cumprod": lambda xp, a, axis: a.cumprod(axis),
    "maximum.accumulate": lambda xp, a, axis: xp.maximum.accumulate(a, axis),
    "sum of sums": lambda xp, a, axis: xp.cumsum(a, axis=axis) + 1,
    "flip": lambda xp, a, axis: xp.flip(a, axis) * 2,
}


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("shape", [(0,), (8, 0), (0, 8), (3, 0, 4), (3, 4, 0), (0, 0)])
def test_traced_functions_work_along_any_axis_of_nothing(name, shape):
    for axis in range(len(shape)):
        want = ALONG[name](numpy, numpy.zeros(shape), axis)
        traced = gpupy.jit(lambda a, axis=axis: ALONG[name](gpupy, a, axis))
        for array in (gpupy.zeros(shape), gpupy.zeros(shape[::-1]).T, gpupy.zeros(shape)):
            found = traced(array)
            assert found.shape == want.shape and found.dtype.kind == want.dtype.kind
