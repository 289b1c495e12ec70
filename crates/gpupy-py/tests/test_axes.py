"""Arrays have at most 64 axes, wherever one is added: more are refused in NumPy's words."""

import numpy
import pytest

import gpupy

FORMULAS = """
v.reshape(MORE)
np.reshape(v, MORE)
v.reshape(MORE, order="F")
np.arange(6).reshape((6, *MANY))
np.ones(1).view("f4").reshape((2, *MANY))
setattr(np.ones(1), "shape", MORE)
np.ones(1).resize(MORE)
np.resize(v, MORE)
np.expand_dims(a, 0)
np.expand_dims(a, (0, 1))
a[None]
a[..., None]
v[(None,) * 65]
v[(None,) * 64 + (0,)]
a[None, ..., 0]
a[numpy.zeros((1, 1), int)]
a[np.zeros((1, 1), int)]
a[[[0]]]
a[[0]]
a[np.zeros((1, 1), int), np.zeros((1, 1), int)]
a[True]
a.__setitem__((None, ...), 1)
np.take(a, numpy.zeros((1, 1), int), axis=0)
np.zeros(MORE)
np.ones(MORE)
np.full(MORE, 2)
np.empty(MORE)
np.zeros_like(v, shape=MORE)
np.full_like(v, 1, shape=MORE)
np.empty_like(v, shape=MORE)
np.array(v, ndmin=65)
np.array(a, ndmin=64)
np.indices(MANY)
np.fromfunction(lambda *all: all[0], MANY)
np.ix_(*[numpy.zeros(1, int)] * 65)
np.meshgrid(*[v] * 65)
np.broadcast_to(v, MORE)
np.broadcast_shapes(MORE)
np.lib.stride_tricks.as_strided(v, MORE, (0,) * 65)
np.lib.stride_tricks.sliding_window_view(a, 1, axis=0)
np.stack([a, a])
np.stack([a, a], axis=-1)
np.add.outer(a, v)
np.multiply.outer(a, a)
np.subtract.outer(np.arange(3), a)
np.kron(a, a)
np.tensordot(a, a, 0)
np.dot(a, a)
np.inner(a, a)
np.tri(1).reshape(MORE)
np.zeros(MANY)
a.sum(keepdims=True)
np.where(a > 0, a, v)
np.concatenate([a, a])
a.T
""".strip().splitlines()


def outcome(formula, np):
    names = {"np": np, "numpy": numpy, "MANY": (1,) * 64, "MORE": (1,) * 65}
    names |= {"a": np.ones((1,) * 64), "v": np.ones(1)}
    try:
        return getattr(eval(formula, names), "shape", None)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("formula", FORMULAS)
def test_more_than_64_axes_are_refused_as_numpy_refuses_them(formula):
    assert outcome(formula, gpupy) == outcome(formula, numpy)
