"""Reductions of few points: components of vectors fuse with the operations around them."""

import hypothesis
import numpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import outcome

import gpupy

N = 40_000  # more than is computed at once


def vectors(count, dtype="float32", components=3):
    numbers = np.random.default_rng(7).integers(-50, 50, (count, components))
    return (numbers / 16).astype(dtype)


def shaded(xp, normals, light, colour):
    """A lit surface, as it is written in NumPy."""
    along = (normals * light).sum(-1)
    length = xp.sqrt((normals * normals).sum(-1))
    bright = xp.where(along > 0, along / (length + 1), 0)
    return bright * colour + xp.abs(normals).max(axis=-1)


def launches(function):
    before = gpupy.stats()["launches"]
    function()
    return gpupy.stats()["launches"] - before


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_lit_surface_is_one_launch(driver, dtype):
    if driver == "soft":
        pytest.skip("soft has a launch for each operation")
    normals, light = gpupy.asarray(vectors(N, dtype)), gpupy.asarray(vectors(1, dtype)[0])
    bright = shaded(gpupy, normals, light, gpupy.float32(0.5))
    assert launches(lambda: gpupy.evaluate(bright)) == 1
    want = shaded(np, vectors(N, dtype).astype("f8"), vectors(1, dtype)[0].astype("f8"), 0.5)
    np.testing.assert_allclose(np.asarray(bright), want, rtol=1e-5, atol=1e-6)


PROGRAMS = {
    "sum of a product": lambda xp, v: (v * v[::-1]).sum(-1),
    "norm": lambda xp, v: xp.linalg.norm(v, axis=-1),
    "place of the greatest": lambda xp, v: v.argmax(-1),
    "mean of the first axis": lambda xp, v: xp.stack([v[:, 0], v[:, 1], v[:, 2]]).mean(0),
    "any": lambda xp, v: (v > 1).any(axis=1),
    "variance": lambda xp, v: v.var(axis=-1),
    "unit vectors": lambda xp, v: v / xp.sqrt((v * v).sum(-1, keepdims=True) + 1),
    "functions of components": lambda xp, v: xp.exp(-v * v).sum(-1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_computed_of_few_components_is_one_launch(driver, name):
    if driver == "soft":
        pytest.skip("soft has a launch for each operation")
    v = gpupy.asarray(vectors(N))
    result = PROGRAMS[name](gpupy, v)
    assert launches(lambda: gpupy.evaluate(result)) == 1
    want = PROGRAMS[name](np, vectors(N).astype("f8"))
    np.testing.assert_allclose(np.asarray(result), want, rtol=1e-5, atol=1e-6)


def _mirrored(xp, v):
    turned = xp.cross(v, v[::-1])
    return turned, xp.stack([v[:, 0] * 2, xp.exp(-v[:, 1] * v[:, 1]), v[:, 2] - v[:, 0]], axis=-1)


def test_components_put_side_by_side_are_one_launch(driver):
    """Cheap ones are chosen from at each place. Others have a destination each: OpenGL puts these
    together in a second draw, and wgpu has a dispatch for each destination in a block.
    """
    if driver == "soft":
        pytest.skip("soft has a launch for each operation")
    for which in (0, 1):
        v = gpupy.asarray(vectors(10 * N))
        result = _mirrored(gpupy, v)[which]
        wanted = {"gl": 2, "wgpu": 3}.get(driver, 1) if which else 1
        assert launches(lambda result=result: gpupy.evaluate(result)) == wanted
        want = _mirrored(np, vectors(10 * N).astype("f8"))[which]
        np.testing.assert_allclose(np.asarray(result), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "shapes",
    [((5, 3), (5, 3)), ((5, 3), (3,)), ((3,), (4, 5, 3)), ((3,), (3,)), ((5, 1, 3), (2, 3)), ((0, 3),) * 2],
)
def test_cross_products_are_numpys(device, dtype, shapes):
    left, right = ((np.arange(np.prod(shape)) % 7).reshape(shape).astype(dtype) for shape in shapes)
    want = np.cross(left, right)
    for got in (
        gpupy.cross(gpupy.asarray(left), gpupy.asarray(right)),
        gpupy.cross(gpupy.asarray(left), right),
        gpupy.cross(gpupy.asarray(left)[..., ::-1][..., ::-1], gpupy.asarray(right) + 0, axis=-1),
    ):
        assert type(got) is gpupy.ndarray
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert np.array_equal(np.asarray(got), want)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("count", [2, 5, 8, 20, 33])
def test_stacks_of_any_number_of_values_are_numpys(device, axis, count):
    def stacked(xp):
        x, y = xp.arange(35, dtype=np.int32).reshape(5, 7), xp.arange(7, dtype=np.int32)
        shared = x * y + 1
        parts = [shared * k - y if k % 3 else x for k in range(count)]
        whole = xp.stack(parts, axis=axis)
        return whole, whole * 2 + 1, xp.concatenate(parts, axis=axis if axis < 1 else 1)[::-1]

    for got, want in zip(stacked(gpupy), stacked(np), strict=True):
        assert np.array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("components", [2, 3])
@pytest.mark.parametrize("shape", [(8,), (3, 72), (5, 30), (2, 3, 16)])
def test_components_of_whole_fours_of_points_are_numpys(device, shape, components, dtype):
    def programs(xp):
        plane = (xp.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 11).astype(dtype)
        points = xp.stack([plane[::-1] if k % 2 else plane for k in range(components)], axis=-1)
        yield points
        yield points[..., ::-1]
        yield xp.where(plane[..., np.newaxis] > 3, points, points[..., :1])
        # A part of each row, which begins at an element of any texel.
        for before in (4, 5):
            whole = xp.ones((*shape[:-1], shape[-1] + 12, components), dtype)
            whole[..., before : before + shape[-1], :] = points
            yield whole
        yield points | plane[..., np.newaxis] if dtype == "bool" else points * plane[..., np.newaxis]

    for got, want in zip(programs(gpupy), programs(np), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)


DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
NAMES = ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean"]


@st.composite
def calls(draw):
    """An array of few points along some axes, as a view, and the axes to reduce."""
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    name = draw(st.sampled_from(NAMES))
    axes = [*range(-len(shape), len(shape)), None]
    keywords = {"axis": draw(st.sampled_from(axes))}
    if len(shape) > 1 and not name.startswith("arg") and draw(st.booleans()):
        keywords["axis"] = tuple(draw(st.permutations(range(len(shape))))[:2])
    if draw(st.booleans()):
        keywords["keepdims"] = True
    if name in ("sum", "prod", "min", "max") and draw(st.booleans()):
        keywords["initial"] = draw(st.sampled_from([0, 1, 2]))
        keywords["where"] = draw(st.sampled_from([True, "mask"]))
    steps = draw(st.lists(st.sampled_from([1, 2, -1, -2]), min_size=len(shape), max_size=len(shape)))
    order = draw(st.permutations(range(len(shape))))
    return draw(st.sampled_from(DTYPES)), shape, steps, order, name, keywords, draw(st.booleans())


def reduced(xp, call):
    dtype, shape, steps, order, name, keywords, pending = call
    extents = [extent * abs(step) for extent, step in zip(shape, steps, strict=True)]
    numbers = np.random.default_rng(11).integers(0, 4, extents)
    values = (numbers if dtype[0] in "bu" else numbers - 1).astype(dtype)
    view = xp.asarray(values)[tuple(slice(None, None, step) for step in steps)].transpose(order)
    if pending:
        # Exact in every dtype, and not computed yet.
        view = xp.logical_not(view) if dtype == "bool" else view + view
    keywords = dict(keywords)
    if keywords.get("where") == "mask":
        keywords["where"] = xp.asarray(np.indices(view.shape).sum(0) % 2 == 0)
    return getattr(view, name)(**keywords)


# Sums and products of few small integers are exact in every dtype; a mean is one division more.
@given(calls())
@hypothesis.settings(max_examples=150)
def test_reductions_of_few_points_are_numpys(driver, call):
    with np.errstate(all="ignore"):
        want, refused = outcome(lambda xp: reduced(xp, call), np)
        got, also = outcome(lambda xp: reduced(xp, call), gpupy)
    assert refused == also
    if refused:
        return
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    got = np.asarray(got)
    if call[4] == "mean":
        np.testing.assert_allclose(got, want, rtol=1e-3 if want.dtype == "float16" else 1e-6)
    else:
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (got, want)


TREES = {2: lambda a, b: a + b, 3: lambda a, b, c: (a + c) + b, 4: lambda a, b, c, d: (a + c) + (b + d)}


@pytest.mark.parametrize("points", TREES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_are_the_trees_whatever_has_computed_them(driver, dtype, points):
    """Alone or fused, recorded or at once; `docs/ir.md` has the order."""
    if dtype not in next(row["dtypes"] for row in gpupy.drivers() if row["name"] == driver):
        pytest.skip(f"{driver} has no {dtype}, which NumPy adds in its own order")
    values = np.random.default_rng(3).standard_normal((N, points)).astype(dtype)
    want = TREES[points](*values.T)
    for rows in (N, 10):
        given = gpupy.asarray(values[:rows])
        for got in (given.sum(-1), (given * 2).sum(-1) / 2):
            assert np.array_equal(np.asarray(got), want[:rows]), rows


def test_a_reduction_of_few_points_is_no_view_of_what_it_reduces(driver):
    x = gpupy.asarray(np.arange(6.0))
    one = x.reshape(6, 1).sum(axis=1)
    x[0] = 100
    assert float(one[0]) == 0
    one[1] = 50
    assert float(x[1]) == 1
    assert numpy.shares_memory(np.asarray(one), np.asarray(x)) is False


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shapes", [((7, 3, 3), (7, 3, 3)), ((7, 2, 4), (4, 3)), ((2, 3), (6, 1, 3, 4)), ((5, 1, 1), (5, 1, 2))]
)
def test_stacks_of_small_matrices_are_numpys(driver, dtype, shapes):
    """Sums of few products of small integers are exact."""
    left, right = ((np.arange(np.prod(shape)) % 5 - 2).reshape(shape).astype(dtype) for shape in shapes)
    want = left @ right
    for got in (
        gpupy.asarray(left) @ gpupy.asarray(right),
        gpupy.asarray(left.swapaxes(-1, -2).copy()).swapaxes(-1, -2) @ gpupy.asarray(right[::-1])[::-1],
    ):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert np.array_equal(np.asarray(got), want)


def test_a_product_in_a_stack_fuses_and_has_its_bits_at_once_and_recorded(driver):
    if driver == "soft":
        pytest.skip("soft has a launch for each operation")
    chance = np.random.default_rng(4)
    turns, at = (chance.standard_normal((N, 3, n)).astype("float32") for n in (3, 1))
    moved = (gpupy.asarray(turns) @ (gpupy.asarray(at) * 2))[:, :, 0] + 1
    assert launches(lambda: gpupy.evaluate(moved)) == 1
    np.testing.assert_allclose(np.asarray(moved), (turns @ (at * 2))[:, :, 0] + 1, rtol=1e-4, atol=1e-5)
    few = (gpupy.asarray(turns[:10]) @ (gpupy.asarray(at[:10]) * 2))[:, :, 0] + 1
    assert np.array_equal(np.asarray(few), np.asarray(moved)[:10])


@pytest.mark.parametrize("shape", [(4, 2, 2, 6), (2, 2), (3, 1, 4), (5, 2, 3, 2)])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::-1], lambda x: x.T, lambda x: x[..., ::2]])
def test_few_points_over_axes_that_no_view_merges_are_one_eager_launch(auto, shape, view):
    numbers = np.random.default_rng(3).standard_normal(shape).astype("float32")
    x, ours = view(numbers), view(gpupy.array(numbers))
    for axes in [(0, 1), (1, -1), (0, 2), (-1, 0)]:
        if max(axes) >= x.ndim or len({axis % x.ndim for axis in axes}) < len(axes):
            continue
        if np.prod([x.shape[axis] for axis in axes]) > 4:
            continue
        for name in ("max", "min", "sum", "prod"):
            before = gpupy.stats()
            found = getattr(gpupy, name)(ours, axis=axes)
            stats = gpupy.stats()
            assert stats.launches - before.launches == stats.computed_at_once - before.computed_at_once == 1
            wanted = getattr(np, name)(x.astype("float64"), axis=axes)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16", "bool"])
def test_little_products_are_one_eager_launch(auto, dtype):
    def numbers(*shape):
        return np.random.default_rng(len(shape)).integers(0, 3, shape).astype(dtype)

    pairs = [
        (numbers(5, 7), numbers(7)),
        (numbers(7), numbers(7, 5)),
        (numbers(5, 7), numbers(7, 3)),
        (numbers(9, 5).T[::-1], numbers(18)[::2]),
        (numbers(1, 7), numbers(7, 1)),
        (numbers(2, 1, 5, 7), numbers(3, 7, 4)),
        (numbers(3, 5, 7), numbers(7)),
    ]
    for left, right in pairs:
        x, y = gpupy.array(left), gpupy.array(right)
        gpupy.evaluate(x, y)
        before = gpupy.stats()
        found = x @ y
        stats = gpupy.stats()
        assert stats.launches - before.launches == stats.computed_at_once - before.computed_at_once == 1
        assert found.shape == (left @ right).shape and found.dtype == left.dtype
        np.testing.assert_array_equal(np.asarray(found), left @ right)
        if left.ndim < 3:
            np.testing.assert_array_equal(np.asarray(gpupy.dot(x, y)), left.dot(right))
