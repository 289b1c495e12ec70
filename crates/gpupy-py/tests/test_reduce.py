"""Reductions: exact ones to the bit, sums within float32's reach of float64."""

import itertools

import numpy
import numpy as np
import pytest
from pairs import check, outcome

import gpupy

AXES = [None, 0, 1, -1, (0, 2), (), (0, 1, 2), 3, (0, 0)]
EXACT = ("min", "max", "any", "all", "amin", "amax", "ptp")


def data(dtype, shape=(3, 4, 5)):
    rng = np.random.default_rng(5)
    values = rng.integers(-4, 5, shape) * 0.5
    return values.astype(dtype)


@pytest.mark.parametrize("name", EXACT)
def test_exact_reductions_are_numpys(device, name):
    for dtype, axis in itertools.product(("float32", "int32", "bool", "float64"), AXES):
        for keepdims in (False, True):
            check(
                lambda xp: getattr(xp, name)(xp.asarray(data(dtype)), axis=axis, keepdims=keepdims),
                f"{name} {dtype} {axis} {keepdims}",
            )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "std", "var"])
def test_sums_of_halves_are_numpys(device, name):
    # Sums of halves are exact whatever the order, and so are products of integers; the others are
    # near enough.
    for dtype, axis in itertools.product(("float32", "int32", "bool", "float64"), AXES):
        function = lambda xp: getattr(xp.asarray(data(dtype)), name)(axis=axis)
        want, refused = outcome(function, np)
        if refused or name == "sum" or want.dtype.kind in "iu":
            check(function, f"{name} {dtype} {axis}")
        else:
            got = function(gpupy)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            exact = getattr(data(dtype).astype(np.longdouble), name)(axis=axis)
            eps = 16 * float(np.finfo(want.dtype).eps)
            np.testing.assert_allclose(np.asarray(got), exact, rtol=eps, atol=eps)


def test_nan_wins_in_extremes(device):
    for values in ([1, np.nan, 2], [np.nan] * 3, [np.inf, -np.inf], [-0.0, 0.0], [0.0, -0.0]):
        for name in ("min", "max"):
            a = np.array(values, np.float32)
            got = getattr(gpupy.asarray(a), name)()
            assert np.array_equal(got, getattr(a, name)(), equal_nan=True), (values, name)


def test_large_sums_are_as_accurate_as_pairwise(driver):
    values = np.random.default_rng(1).random(100_000).astype(np.float32)
    got = float(gpupy.asarray(values).sum())
    want = float(values.astype(np.float64).sum())
    assert abs(got - want) <= 20 * np.spacing(np.float32(want))
    got = float(gpupy.asarray(values).mean())
    assert abs(got - want / 100_000) <= 20 * np.spacing(np.float32(want / 100_000))


def test_arguments_of_reductions(device):
    check(lambda xp: xp.sum(xp.asarray(data("float32")), axis=0, out=xp.zeros((4, 5), xp.float32)))
    check(lambda xp: xp.sum(xp.asarray(data("float32")), axis=0, out=xp.zeros((4, 5))))
    check(lambda xp: xp.sum(xp.asarray(data("float32")), axis=0, out=xp.zeros((4, 4))))
    check(lambda xp: xp.sum(xp.asarray(data("float32")), dtype=xp.float64))
    check(lambda xp: xp.sum(xp.asarray(data("float32")), initial=10))
    check(lambda xp: xp.max(xp.asarray(data("float32")), initial=10))
    check(lambda xp: xp.asarray(data("float32")).sum(where=xp.asarray(data("float32")) > 0))
    check(lambda xp: xp.argmax(xp.asarray(data("float32"))))
    check(lambda xp: xp.asarray(data("int32")).argmin(axis=1))
    check(lambda xp: xp.count_nonzero(xp.asarray(data("int32"))))
    check(lambda xp: xp.any(xp.asarray(data("float32")) > 1, axis=1))


def test_float32_sums_are_no_fallbacks(driver):
    a = gpupy.asarray(data("float32"))
    for name in ("sum", "min", "max", "mean", "any", "all"):
        numpy.asarray(getattr(a, name)(axis=1))
    assert gpupy.stats().fallbacks == 0


def test_what_two_reductions_read_at_great_cost_is_computed_once():
    gpupy._gpupy.reconfigure("cpu")
    values = np.random.default_rng(5).uniform(1, 2, (200, 200))

    def sums(count):
        x = gpupy.asarray(values)
        power = x**-1.5
        made = [(power * x).sum(axis=1), (power + x).sum(axis=1)][:count]
        del power
        gpupy.reset_stats()
        gpupy.evaluate(*made)
        return made, gpupy.stats().instructions

    (_, one), (both, two) = sums(1), sums(2)
    assert two < 1.2 * one
    power = values**-1.5
    for got, want in zip(both, [(power * values).sum(axis=1), (power + values).sum(axis=1)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "amin", "any", "all", "ptp", "mean", "argmax", "cumsum"]
)
@pytest.mark.parametrize("axis", [1, 1.5, (0, 0)])
@pytest.mark.parametrize("kind", ["float", "int64", "list"])
def test_what_cannot_be_written_is_refused_as_numpy_refuses_it(name, axis, kind):
    def program(xp):
        out = [1] if kind == "list" else xp.zeros(3, dtype=kind)
        if kind != "list":
            out.setflags(write=False)
        return getattr(xp, name)(xp.arange(3), axis=axis, out=out)

    assert outcome(program, np)[1] is not None
    check(program)


@pytest.mark.parametrize("width", [1, 3, 100, 255, 256, 257, 300])
def test_a_sum_has_the_same_bits_whether_its_map_is_stored_or_not(driver, width):
    # Of blocks of 4096 elements several make a map, and rows end anywhere in them.
    gpupy._gpupy.reconfigure(driver, block_bytes=1 << 14)
    column = gpupy.asarray(np.linspace(0, 3, 20_000 // width, dtype=np.float32)[:, None])
    row = gpupy.asarray(np.linspace(1, 2, width, dtype=np.float32))
    maps = [lambda: column * row + 1, lambda: gpupy.exp(column * row), lambda: gpupy.exp(column) * row]
    for of in maps:
        for axis in (None, 0, 1):
            fused = np.asarray(of().sum(axis=axis))
            stored = of()
            gpupy.evaluate(stored)
            assert fused.tobytes() == np.asarray(stored.sum(axis=axis)).tobytes()


@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (-3, -2), (0, 3), (1,), (0, 1, 2, 3)])
def test_axes_that_no_view_merges_take_a_copy_and_one_launch(auto, axes):
    images = numpy.random.default_rng(0).normal(0, 1, (4, 9, 9, 3)).astype("f4")
    want, x = images[:, 2:4, 2:4], gpupy.array(images)[:, 2:4, 2:4]
    for name in ("max", "sum", "mean", "all"):
        getattr(gpupy, name)(x, axis=axes)
        gpupy.reset_stats()
        made = getattr(gpupy, name)(x, axis=axes)
        # A mean is a sum and a quotient, a truth a cast and a reduction.
        assert gpupy.stats().launches <= 2
        exact = getattr(numpy, name)(want, axis=axes)
        numpy.testing.assert_allclose(numpy.asarray(made), exact, rtol=1e-5, atol=1e-6, strict=True)


# The last but one has as many points as are combined one by one.
WINDOWS = [(1, 5), (17, 1), (1, 64), (2, 3), (3, 3), (4, 4), (5, 3), (3, 8), (7, 7), (9, 9), (2, 33), (16, 8)]
WINDOWS += [(17, 15)]
WINDOW_MAPS = [
    lambda w: w,
    lambda w: w * w,
    lambda w: gpupy.maximum(w, 0.25)[::-1, :, ::-1],
    lambda w: w.transpose(1, 0, 3, 2) * 2 - 1,
]


def test_windows_of_every_size_have_the_same_bits_as_their_copies(driver, some):
    given = numpy.random.default_rng(1).random((70, 90), dtype="f4")
    windows, x = numpy.lib.stride_tricks.sliding_window_view, gpupy.asarray(given)
    for size, made in some(list(itertools.product(WINDOWS, WINDOW_MAPS)), 8):
        copied = gpupy.asarray(numpy.ascontiguousarray(windows(given, size)))
        for name in ("sum", "max"):
            reduced = numpy.asarray(getattr(made(windows(x, size)), name)(axis=(2, 3)))
            alone = numpy.asarray(getattr(made(copied), name)(axis=(2, 3)))
            assert reduced.tobytes() == alone.tobytes()


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (5, 5), (4, 8), (9, 9), (1, 31), (11, 11)])
def test_windows_are_reduced_in_one_launch_without_a_copy_of_each(size):
    gpupy._gpupy.reconfigure("cpu")
    x = gpupy.asarray(numpy.random.default_rng(1).random((400, 500)))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, size)
    for made in (windows, windows**2):
        gpupy.reset_stats()
        gpupy.evaluate(made.mean(axis=(2, 3)))
        assert gpupy.stats()["launches"] == 1


@pytest.mark.parametrize("axes", [(True,), (False, 1), (0, 0), (0, -2), (5,), (0, 1.0)])
def test_axes_that_numpy_refuses_are_refused_in_its_words(driver, axes):
    x = numpy.ones((2, 3))
    with pytest.raises(Exception) as theirs:
        numpy.max(x, axis=axes)
    with pytest.raises(theirs.type) as ours:
        gpupy.max(gpupy.array(x), axis=axes)
    assert str(ours.value) == str(theirs.value)


OBJECTS = [numpy.int64(0), numpy.int32(-1), numpy.array(0), numpy.uint8(1), numpy.float64(1.0), [0]]


@pytest.mark.parametrize("axis", OBJECTS, ids=repr)
@pytest.mark.parametrize("shape", [(), (3,), (3, 2)])
def test_objects_that_name_an_axis_are_taken_or_refused_as_by_numpy(driver, shape, axis):
    for name in ("sum", "max", "any", "prod"):
        check(lambda xp, name=name: getattr(xp, name)(xp.ones(shape), axis=axis), name)


@pytest.mark.parametrize("k", [2, 3, 5, 8, 16, 31, 64, 100, 200])
def test_windows_of_a_line_have_the_same_bits_as_their_copies(auto, k):
    line = numpy.random.default_rng(2).random(5000)
    of_each = numpy.lib.stride_tricks.sliding_window_view
    windows, copied = of_each(gpupy.asarray(line), k), gpupy.asarray(of_each(line, k).copy())
    for name in ("sum", "max", "std", "prod"):
        reduced = numpy.asarray(getattr(windows, name)(axis=1))
        assert reduced.tobytes() == numpy.asarray(getattr(copied, name)(axis=1)).tobytes()
        numpy.testing.assert_allclose(reduced, getattr(numpy.asarray(copied), name)(axis=1), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_averages_under_a_mask_are_numpys_where_a_driver_lacks_the_dtype_of_the_count(device, name, dtype):
    for given in ({}, {"dtype": "f4"}, {"dtype": "f8", "axis": 0}):

        def averaged(xp, given=given):
            x = xp.asarray(numpy.arange(12).reshape(3, 4).astype(dtype))
            return getattr(xp, name)(x, where=x > 3, **given)

        with numpy.errstate(all="ignore"):
            want, got = averaged(numpy), averaged(gpupy)
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-5)


WORDS = [None, numpy.True_, numpy.False_, 0, 2, -1, 2**40, "a", "", (), [], 1.0, object(), numpy.int64(1)]
KEEPERS = {
    **{
        name: lambda xp, x, said, name=name: getattr(xp, name)(x, **said)
        for name in ["sum", "max", "all", "mean"]
    },
    **{
        name: lambda xp, x, said, name=name: getattr(x, name)(**said)
        for name in ["prod", "min", "any", "std"]
    },
    "argmax": lambda xp, x, said: x.argmax(**said),
    "count_nonzero": lambda xp, x, said: xp.count_nonzero(x, **said),
    "nansum": lambda xp, x, said: xp.nansum(x, **said),
    "ptp": lambda xp, x, said: xp.ptp(x, **said),
    "reduce": lambda xp, x, said: xp.add.reduce(x, **said),
    "norm": lambda xp, x, said: xp.linalg.norm(x, **said),
    "vector_norm": lambda xp, x, said: xp.linalg.vector_norm(x, **said),
    "matrix_norm": lambda xp, x, said: xp.linalg.matrix_norm(x, keepdims=said["keepdims"]),
}


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("name", KEEPERS)
def test_words_for_keepdims_are_taken_or_refused_as_by_numpy(driver, name, axis):
    for word in [*WORDS, numpy.array(1), numpy.array([1, 2])]:

        def called(xp, word=word):
            return KEEPERS[name](xp, xp.array([[3.0, 1.0], [0.0, 4.0]]), {"axis": axis, "keepdims": word})

        check(called, f"{name} {word!r}")


# Axes of few points to combine, and of a chunk of the canonical tree or nearly so.
SHORT_AXES = [
    ((5, 200, 200), 0),
    ((17, 120, 100), 0),
    ((100, 7, 60), 1),
    ((5, 6, 40, 40), (0, 1)),
    ((200, 200, 5), 2),
    ((255, 30, 30), 0),
    ((257, 30, 30), 0),
]


@pytest.mark.parametrize("shape, axes", SHORT_AXES, ids=str)
def test_short_axes_of_values_beyond_a_block_take_one_or_two_launches_for_each_block(driver, shape, axes):
    block = 1 << 14
    given = numpy.random.default_rng(3).normal(size=shape).astype("f4")
    results = []
    for limits in ({}, {"block_bytes": block}):
        gpupy._gpupy.reconfigure(driver, **limits)
        x = gpupy.asarray(given)
        gpupy.reset_stats()
        results.append(numpy.asarray((x * numpy.float32(1.5)).sum(axis=axes)).tobytes())
    assert results[0] == results[1]
    # A block has room for elements of any dtype. Parts end with rows of the result: some are half as long.
    most = -(-given.size // (block // numpy.dtype(complex).itemsize))
    assert gpupy.stats()["launches"] <= 2 * most + 20
    exact = (given.astype("f8") * 1.5).sum(axis=axes)
    numpy.testing.assert_allclose(numpy.frombuffer(results[0], "f4").reshape(exact.shape), exact, atol=1e-3)
