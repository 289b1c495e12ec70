"""Functions of few elements, which are computed at once: values, dtypes, shapes and refusals are NumPy's."""

import random

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


# Numbers of Python's and NumPy's: beyond other dtypes, between their numbers, of both signs, and none.
NUMBERS = [
    *(1.5, -0.0, 3.7e300, float("nan"), float("inf"), 2, -3, 300, 10**12, 10**20, True, False),
    *(1.5 - 2j, complex("nan"), 1e300j, numpy.float32(1.5), numpy.float64(1e300), numpy.float16(2)),
    *(numpy.int8(-3), numpy.uint8(200), numpy.int64(2**53 + 1), numpy.uint64(2**64 - 1)),
    *(numpy.bool(True), numpy.complex64(2 + 1j), "2", "x", None, [1], [1, 2]),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_written_as_numpys(auto, dtype):
    keys = (2, -1, slice(1, 4), slice(None, None, -2), [0, 3], numpy.arange(5) % 2 == 0, ..., (None, 1))
    for number in NUMBERS:
        for key in keys:

            def written(xp, number=number, key=key):
                array = xp.asarray(numpy.arange(5).astype(dtype))
                view = array[::-1]
                view[key] = number
                return array

            check(written, (number, key))
        check(lambda xp: xp.full(3, number), number)
        if dtype != "?" or type(number) is not int or number < 2**63:
            # That is true to gpupy, and too large to NumPy.
            check(lambda xp: xp.full((2, 1), number, dtype), number)

        def copied(xp, number=number):
            array = xp.asarray(numpy.arange(5).astype(dtype))
            xp.copyto(array[1:], number)
            return array

        check(copied, number)


# Of no more than 64 bits: among others NumPy makes them objects.
LISTED = [number for number in NUMBERS[:-4] if type(number) is not int or number < 2**63]


def _listed(draw, depth):
    """A number, or a list or tuple of such, of few classes; seldom ragged or empty."""
    if depth == 0:
        return draw.choice(LISTED if draw.random() < 0.1 else LISTED[draw.randrange(4) :: 6])
    length = draw.choice([1, 2, 3])
    if draw.random() < 0.05:
        return [_listed(draw, draw.randrange(depth)) for _ in range(draw.randrange(3))]
    return draw.choice([list, tuple])([_listed(draw, depth - 1) for _ in range(length)])


@pytest.mark.parametrize("seed", range(8))
def test_arrays_of_lists_are_numpys(auto, seed):
    draw = random.Random(seed)
    for _ in range(150):
        items, dtype = _listed(draw, draw.randrange(4)), draw.choice([None, None, float, int, *DTYPES])
        ndmin, copy = draw.randrange(5), draw.choice([True, None])
        for make in (
            lambda xp: xp.array(items),
            lambda xp: xp.array(items, dtype),
            lambda xp: xp.array(items, dtype=dtype, ndmin=ndmin, copy=copy),
            lambda xp: xp.asarray(items, dtype=dtype),
            lambda xp: xp.asanyarray(items),
        ):
            check(make, (items, dtype, ndmin, copy))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_stay_themselves_where_numpys_do(auto, dtype):
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1]):
        array = turn(gpupy.asarray(numpy.arange(6).astype(dtype).reshape(2, 3)))
        for make in (
            *(gpupy.asarray, gpupy.asanyarray, lambda a: gpupy.asarray(a, dtype)),
            *(lambda a: gpupy.array(a, copy=None), lambda a: gpupy.array(a, copy=False, ndmin=2)),
            *(lambda a: gpupy.array(a, copy=None, subok=True), lambda a: gpupy.asarray(a, order="K")),
        ):
            assert make(array) is array
        shown = gpupy.array(array, copy=None, ndmin=3)
        assert shown.shape == (1, *array.shape) and numpy.shares_memory(shown, array)
        shown[0, 0, 0] = 1
        assert array[0, 0] == 1
        assert not gpupy.shares_memory(gpupy.array(array), array)


@pytest.mark.parametrize("seed", range(8))
def test_joins_of_arrays_lists_and_numbers_are_numpys(auto, seed):
    draw = random.Random(seed)
    for _ in range(100):
        parts = []
        for _ in range(draw.choice([1, 2, 2, 3])):
            shape = [draw.choice([2, 2, 3, 1, 0]) for _ in range(draw.choice([0, 1, 1, 2, 2, 3]))]
            array = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)
            array = array.astype(draw.choice(DTYPES))
            turn = draw.choice(["a", "a.T", "a[::-1]" if shape else "a", "a + a", "a.tolist()", "numpy_a"])
            parts.append((array, turn))

        def of(xp, parts=parts):
            names = [{"a": xp.asarray(array), "numpy_a": array} for array, _ in parts]
            return [eval(turn, given) for given, (_, turn) in zip(names, parts, strict=True)]

        axis = draw.choice([0, 1, -1, 2, None])
        for name in ("concatenate", "stack"):
            check(lambda xp: getattr(xp, name)(of(xp), axis=axis), (name, axis, parts))
        for name in ("hstack", "vstack", "dstack", "column_stack"):
            check(lambda xp: getattr(xp, name)(tuple(of(xp))), (name, parts))
        check(lambda xp: xp.append(of(xp)[0], of(xp)[-1]), ("append", parts))
        check(lambda xp: xp.append(of(xp)[0], of(xp)[-1], axis), ("append", axis, parts))


def test_what_is_joined_is_a_copy_that_lies_as_numpys(auto):
    for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"):
        for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1]):
            wanted, given = (turn(xp.asarray(numpy.arange(6.0).reshape(2, 3))) for xp in (numpy, gpupy))
            made, want = getattr(gpupy, name)([given, given]), getattr(numpy, name)([wanted, wanted])
            assert (made.strides, made.flags.owndata, made.base is None) == (
                *(want.strides, want.flags.owndata),
                want.base is None,
            )
            given[...] = 0
            assert_same(made, want)


@pytest.mark.parametrize("seed", range(4))
def test_ranges_of_few_floats_have_numpys_bits(auto, seed):
    draw = random.Random(seed)
    for _ in range(400):
        given = [draw.choice([draw.uniform(-9, 9), draw.randrange(-9, 9), numpy.float64(draw.random())])]
        given += [
            draw.choice([draw.uniform(-9, 9), draw.randrange(-99, 99)]) for _ in range(draw.randrange(2))
        ]
        if len(given) == 2 and draw.random() < 0.7:
            given.append(
                draw.choice([0.1, -0.1, 1.0, -1.0, 0.3, 2, -2, 7e-1, 0, 0.0, 1e300, numpy.float64(0.7)])
            )
        named = draw.choice([{}, {}, {"dtype": float}, {"dtype": int}, {"dtype": "f4"}, {"dtype": None}])
        check(lambda xp: xp.arange(*given, **named), (given, named))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (257,), (3, 4), (2, 3, 4), (0, 3), ()], ids=str)
def test_places_and_orders_are_numpys(auto, shape, dtype):
    count = int(numpy.prod(shape))
    given = numpy.random.default_rng(count).integers(0, 3, shape).astype(dtype)
    if given.dtype.kind in "fc" and count > 3:
        given.reshape(-1)[::3], given.reshape(-1)[1::4] = -0.0, numpy.nan
    for turn in (lambda a: a, lambda a: a.T, lambda a: a[::-1] if a.ndim else a, lambda a: a + a):
        for name in ("nonzero", "argwhere", "flatnonzero", "where", "count_nonzero"):
            check(lambda xp: getattr(xp, name)(turn(xp.asarray(given))), name)
        for axis in (-1, 0, 1, None):
            check(lambda xp: xp.argsort(turn(xp.asarray(given)), axis, kind="stable"), axis)
            for keys in (1, 2, 3):

                def in_order(xp, turn=turn, axis=axis, keys=keys):
                    array = turn(xp.asarray(given))
                    return xp.lexsort([array, array[::-1] if array.ndim else array, array][:keys], axis)

                check(in_order, (axis, keys))
    if given.ndim > 1 and count:
        columns = gpupy.nonzero(gpupy.asarray(given + 1))
        assert all(column.base is columns[0].base is not None for column in columns)


@pytest.mark.parametrize("keepdims", [True, False, 1, 0], ids=str)
@pytest.mark.parametrize("dtype", "? b B i l e f d D".split())
def test_reductions_that_keep_axes_are_numpys(auto, dtype, keepdims):
    for shape in ((4,), (2, 3), (1, 1), (2, 0), ()):
        given = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        for name in ("sum", "prod", "max", "min", "all", "any", "mean"):
            for axis in (None, 0, -1, 1, (0, 1), (), (0, 0)):
                for turn in (lambda a: a, lambda a: a.T):
                    for way in (
                        lambda xp: getattr(xp, name)(turn(xp.asarray(given)), axis=axis, keepdims=keepdims),
                        lambda xp: getattr(turn(xp.asarray(given)), name)(axis=axis, keepdims=keepdims),
                    ):
                        check(way, (name, shape, axis))
    for name in ("sum", "prod", "max", "min", "all", "any", "amax"):
        for number in NUMBERS[:-4]:
            for axis in (None, 0, 1):
                check(lambda xp: getattr(xp, name)(number, axis=axis, keepdims=keepdims), (name, number))


def test_choices_and_products_of_parts_are_numpys(auto):
    one, other = numpy.arange(6.0).reshape(2, 3), numpy.arange(6).reshape(2, 3)
    for default in (0, 1.5, True, -1, numpy.float32(2), [7, 8, 9], 10**30):
        for choices in (
            "[a, a]",
            "[b, a]",
            "[b, b]",
            "[a, 1]",
            "[a.T, a.T]",
            "[a]",
            "[a[0], a[0]]",
            "(a, b)",
        ):
            for masks in ("[a > 1, b > 3]", "[a > 1]", "[a.T > 1, a.T > 3]", "[a, a]", "[b > 1, True]", "[]"):

                def select(xp, masks=masks, choices=choices, default=default):
                    names = {"a": xp.asarray(one), "b": xp.asarray(other)}
                    return xp.select(eval(masks, names), eval(choices, names), default)

                check(select, (masks, choices, default))
    for text in (
        "a, b",
        "a, b.T",
        "a.T, a.T",
        "a[0], b[1]",
        "a[0], b",
        "a[::-1], b",
        "a, 2.0",
        "a[:, :0], b",
        "a > 1, a > 2",
    ):
        check(lambda xp: xp.kron(*eval(text, {"a": xp.asarray(one), "b": xp.asarray(other)})), text)
    for n, m, k in (
        (3, 3, 0),
        (3, 5, 1),
        (3, 5, 7),
        (4, 2, -2),
        (2, 4, -5),
        (0, 3, 0),
        (3, 0, 0),
        (40, 40, 3),
    ):
        for dtype in ("?", "i4", "f8", "D"):
            check(lambda xp: xp.eye(n, m, k, dtype), (n, m, k))
            check(lambda xp: xp.eye(n, m, k, dtype, "F"), (n, m, k))
