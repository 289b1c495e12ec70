"""Bases, views of them and ways to export them, which the tests of exports go through."""

import numpy as np

import gpupy

OWNERS = {
    "given": lambda xp, n: xp.array(list(range(min(n, 50))) + [7.0] * (n - min(n, 50))),
    "constant": lambda xp, n: xp.ones(n),
    "zeros": lambda xp, n: xp.zeros(n),
    "computed": lambda xp, n: xp.arange(float(n)) * 2 + 1,
    "reduced": lambda xp, n: xp.ones((n, 3)).sum(axis=1),
    "copied": lambda xp, n: (xp.arange(float(n)) + 3).copy(),
}
VIEWS = {
    "whole": lambda a: a,
    "slice": lambda a: a[a.size // 3 :],
    "strided": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "reversed strided": lambda a: a[::-3],
    "row": lambda a: a.reshape(1, -1)[0],
    "columns": lambda a: a[: a.size // 2 * 2].reshape(-1, 2).T,
    "second column": lambda a: a[: a.size // 2 * 2].reshape(-1, 2)[:, 1],
    "bits": lambda a: a.view("i8"),
    "halves": lambda a: a.view("u4"),
    "pairs": lambda a: a[: a.size // 2 * 2].view("c16"),
    "new axes": lambda a: a[None, :, None],
    "spread": lambda a: (np if isinstance(a, np.ndarray) else gpupy).broadcast_to(a, (2, a.size)),
    "nothing": lambda a: a[:0],
}
EXPORTS = {
    "asarray": np.asarray,
    "__array__": lambda a: a.__array__(),
    "memoryview": lambda a: np.asarray(memoryview(a)) if a.dtype.kind != "c" else np.asarray(a),
    "data": lambda a: np.asarray(a.data) if a.dtype.kind != "c" else np.asarray(a),
    "dlpack": lambda a: np.from_dlpack(a) if a.flags.writeable else np.asarray(a),
    "__array_struct__": lambda a: np.asarray(Struct(a)),
}


class Struct:
    def __init__(self, array):
        self.__array_struct__ = array.__array_struct__


def same(ours, theirs):
    """Ours, read without an export, beside NumPy's."""
    got = np.array(ours.tolist(), theirs.dtype).reshape(theirs.shape)
    np.testing.assert_array_equal(got, theirs)
