"""Functions of few elements, which are computed at once: values, dtypes, shapes and refusals are NumPy's."""

import numpy
import pytest
from pairs import assert_same, check, outcome

import gpupy

DTYPES = "? b B h H i I l L e f d F D".split()
# Around the lanes of a search, and the most elements that are work for now.
SIZES = [1, 31, 32, 33, 100, 32 << 10, (32 << 10) + 1]
VIEWS = {
    "whole": lambda a: a,
    "part": lambda a: a[1:],
    "strided": lambda a: a[::3],
    "flipped": lambda a: a[::-1],
    "broadcast": lambda a: a[:1] + a[:1] * 0,
}


def numbers(size, dtype, kind):
    """Elements with ties, extremes at either end, NaN and zeros of both signs, as the kind says."""
    found = numpy.random.default_rng(size).integers(0, 9, size).astype(dtype)
    if kind == "last":
        found[-1] = 10
    if kind == "zeros":
        found = numpy.where(numpy.arange(size) % 2, 0.0, -0.0).astype(dtype)
    if kind == "NaN" and found.dtype.kind in "fc":
        found[size // 2 :: 5] = numpy.nan
    return found


@pytest.mark.parametrize("kind", ["ties", "last", "zeros", "NaN"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", VIEWS)
def test_places_of_extremes_are_numpys(auto, view, dtype, kind):
    for size in SIZES:
        given = numbers(size, dtype, kind)
        if VIEWS[view](given).size:
            for name in ("argmax", "argmin"):
                check(lambda xp, name=name: getattr(xp, name)(VIEWS[view](xp.asarray(given))), (size, name))
                check(lambda xp, name=name: getattr(VIEWS[view](xp.asarray(given)), name)(0), (size, name))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, 2, -3, True, (0,), 1.0, numpy.int64(1)], ids=str)
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (0, 3, 2), (3, 0, 2), ()], ids=str)
def test_places_along_axes_are_numpys(auto, shape, axis):
    given = numpy.random.default_rng(1).integers(0, 4, shape).astype("f4")
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-1] if a.ndim else a):
        for name in ("argmax", "argmin"):
            for more in ({}, {"keepdims": True}, {"keepdims": False}):
                check(lambda xp: getattr(xp, name)(turn(xp.asarray(given)), axis, **more))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, 2, 3, True, 1.0], ids=str)
@pytest.mark.parametrize("repeats", [0, 1, 2, 7, -1, True, 2.0, [1, 2, 0], [2], "x", numpy.int32(3)], ids=str)
@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 3, 4), (0, 3), (3, 0), ()], ids=str)
def test_repeats_are_numpys(auto, shape, repeats, axis):
    given = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype("f4")
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1] if a.ndim else a):
        check(lambda xp: xp.repeat(turn(xp.asarray(given)), repeats, axis))
        check(lambda xp: turn(xp.asarray(given)).repeat(repeats, axis=axis))
    check(lambda xp: xp.repeat(given.tolist(), repeats, axis))


@pytest.mark.parametrize(
    "reps", [0, 1, 3, (2,), (2, 3), (1, 1), [2, 1, 2], (), (0, 2), -1, 2.0, True], ids=str
)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2), (0, 3), ()], ids=str)
def test_tiles_are_numpys(auto, shape, reps):
    given = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype("i2")
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1] if a.ndim else a):
        check(lambda xp: xp.tile(turn(xp.asarray(given)), reps))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_comes_several_times_is_a_copy_of_its_own(auto, dtype):
    for size in (1, 5, 4096, 8192, 8193):
        given = gpupy.asarray((numpy.arange(size) % 2).astype(dtype))
        wanted = numpy.asarray(given).copy()
        several, tiles = gpupy.repeat(given, 2), gpupy.tile(given, (2, 1))
        assert several.base is None and several.flags.owndata
        given[:] = 1
        assert_same(several, numpy.repeat(wanted, 2))
        assert_same(tiles, numpy.tile(wanted, (2, 1)))


def test_arrays_of_many_axes_are_repeated(auto):
    check(lambda xp: xp.tile(xp.asarray(numpy.arange(2.0)), (2,) * 5 + (1,) * 28))
    check(lambda xp: xp.repeat(xp.asarray(numpy.ones((1,) * 60 + (2,))), 3, axis=-1))


SUMS = [
    *("i,i", "i,i->", "i,j", "i,j->ji", "ij,j", "ij,j->i", "ij,i->j", "i,ij->j", "ij,jk", "ij,kj->ik"),
    *("ij,jk->ki", "ij,ij->i", "ij,ij", "ij,ij->ij", "bij,bjk->bik", "bij,bkj->bki", "ij,bj->bi", "ij,->ij"),
    *(",i->i", ",", "ij,kl->ijkl", "ij,kl->kjil", "ii,i->i", "ij,jk->ijk", " ij , jk -> ik ", "iJ,Jk"),
    *("ij,jk->iz", "ij,j->ii", "i.,i", "ij,jkl", "abc,cd->abe", "abc,be->ace"),
]


@pytest.mark.parametrize("subscripts", SUMS)
@pytest.mark.parametrize("dtype", ["d", "l", "D", "?"])
def test_sums_of_products_are_numpys(auto, subscripts, dtype):
    extents = {label: n for n, label in enumerate("ijkblJace", 2)}
    for change in ({}, {"i": 1}, {"j": 1}, {"j": 0}):
        for turned in (False, True):
            sizes = extents | change
            shapes = [
                [sizes[label] for label in part if label in sizes]
                for part in subscripts.partition("->")[0].split(",")
            ]

            def summed(xp, shapes=shapes, turned=turned):
                made = []
                for shape in shapes:
                    a = (numpy.arange(numpy.prod(shape, dtype=int)) % 5 + 1).astype(dtype)
                    a = a.reshape(shape[::-1]).T if turned else a.reshape(shape)
                    made.append(xp.asarray(numpy.asfortranarray(a) if turned else a))
                return xp.einsum(subscripts, *made)

            # The second call goes the way that the first one found.
            for _ in range(2):
                check(summed, (change, turned))
            if not change and outcome(summed, numpy)[0] is not None:
                assert summed(gpupy).strides == summed(numpy).strides


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", VIEWS)
def test_norms_are_near_numpys(auto, view, dtype):
    for size in (1, 2, 100, 16385):
        given = numbers(size, dtype, "last")
        for shape in ((size,), (size, 1)):
            want = numpy.linalg.norm(VIEWS[view](given.reshape(shape)))
            found = gpupy.linalg.norm(VIEWS[view](gpupy.asarray(given.reshape(shape))))
            assert found.dtype == want.dtype and numpy.shape(found) == ()
            numpy.testing.assert_allclose(found, want, 1e-2 if dtype == "e" else 1e-5)
    check(lambda xp: xp.linalg.norm(xp.asarray(numpy.zeros((0, 3)))))
    check(lambda xp: xp.linalg.norm(xp.asarray(numpy.array([3.0, 4.0])), keepdims=True))


CALLS = {
    "swapaxes": lambda xp, a: [xp.swapaxes(a, 0, -1), a.swapaxes(0, 1)],
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, -1),
    "expand_dims": lambda xp, a: xp.expand_dims(a, (0, -1)),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
    "diagonal": lambda xp, a: xp.diagonal(a, 1, -1, 0),
    "split": lambda xp, a: xp.array_split(a, 2),
    "rot90": lambda xp, a: xp.rot90(a),
    "transpose": lambda xp, a: a.transpose(*range(1, a.ndim), 0),
    "transpose by a tuple": lambda xp, a: a.transpose((-1, *range(a.ndim - 1))),
    "transpose twice": lambda xp, a: a.transpose((0,) * a.ndim),
    "transpose beyond": lambda xp, a: a.transpose(*range(1, a.ndim + 1)),
    "transpose by less": lambda xp, a: a.transpose(0),
    "swapaxes wrongly": lambda xp, a: [xp.swapaxes(a, 0, 9), xp.swapaxes(a, -1, 0)],
    "swapaxes otherwise": lambda xp, a: [xp.swapaxes(a, -1, 0), xp.swapaxes(a, 0, True), a.swapaxes(-1, -2)],
    "atleast_1d": lambda xp, a: xp.atleast_1d(a),
    "atleast_2d": lambda xp, a: xp.atleast_2d(a),
    "atleast_3d": lambda xp, a: xp.atleast_3d(a),
    "atleast_2d of several": lambda xp, a: xp.atleast_2d(a, a[..., :1]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4,), (1, 3), (3, 1), (0, 3), ()], ids=str)
def test_views_lie_where_numpys_do(auto, shape, name):
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-1], lambda a: a[:1]):
        arrays = [
            xp.asarray(numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)) for xp in (numpy, gpupy)
        ]
        check(lambda xp, arrays=arrays: CALLS[name](xp, turn(arrays[xp is gpupy])))
        try:
            theirs, ours = (CALLS[name](xp, turn(a)) for xp, a in zip((numpy, gpupy), arrays, strict=True))
        except (IndexError, ValueError):
            continue
        pairs = zip(theirs, ours, strict=True) if isinstance(theirs, (list, tuple)) else [(theirs, ours)]
        for there, here in pairs:
            assert not there.size or there.strides == here.strides
            assert there.flags.writeable == here.flags.writeable
            if there.size and there.flags.writeable:
                for view in (there, here):
                    view[...] = -1
        numpy.testing.assert_array_equal(arrays[1], arrays[0])
