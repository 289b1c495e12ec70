"""Vectors and small matrices: GLSL's meaning over NumPy's shapes, to the bit, in one launch.

The oracle of a function is the line of NumPy in its docstring, over the arrays with the axis of components.
"""

import importlib
import inspect
import itertools
import operator
import pathlib
import pickle
import re

import numpy as np
import pytest

import gpupy as gp
from gpupy import vectors

VECTORS = {2: gp.vec2, 3: gp.vec3, 4: gp.vec4}
MATRICES = {2: gp.mat2, 3: gp.mat3, 4: gp.mat4}
FUNCTIONS = [
    name
    for name, function in vars(vectors).items()
    if inspect.isfunction(function) and function.__module__ == vectors.__name__
]


def given(size, shape=(5, 4), dtype=np.float32, seed=0):
    chance = np.random.default_rng(seed)
    return chance.integers(-9, 10, (*shape, size)).astype(dtype)


def laid(array, how):
    """Equal components with another stride."""
    if how == "planes":
        return gp.moveaxis(gp.asarray(np.ascontiguousarray(np.moveaxis(array, -1, 0))), 0, -1)
    if how == "apart":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        return gp.asarray(wide)[..., 1::2]
    if how == "backwards":
        return gp.asarray(np.ascontiguousarray(array[..., ::-1]))[..., ::-1]
    return gp.asarray(array)


def same(ours, theirs):
    array = ours.array if isinstance(ours, vectors.Vector | vectors.Matrix) else ours
    assert array.dtype == theirs.dtype and array.shape == theirs.shape
    np.testing.assert_array_equal(array, theirs)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("how", ["together", "planes", "apart", "backwards"])
def test_a_function_is_the_line_in_its_docstring(driver, name, size, how):
    function = getattr(vectors, name)
    line = re.search(r"NumPy: ``(.*)``", inspect.getdoc(function)).group(1)
    operands, ours = {}, []
    for number, parameter in enumerate(inspect.signature(function).parameters):
        array = given(size, seed=number)
        if parameter == "condition" or (name in ("any", "all")):
            array = array > 3
        elif parameter == "share":
            array = np.float32(0.25)
        operands[parameter] = array
        ours.append(array if array.ndim == 0 else VECTORS[size].from_array(laid(array, how)))
    if name == "cross" and size != 3:
        with pytest.raises(ValueError, match="vec3"):
            function(*ours)
        return
    with np.errstate(all="ignore"):
        wanted = eval(line, {"np": np, **operands})
        same(function(*ours), wanted)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_swizzles_read_and_assigned(driver, size):
    for letters in ("xyzw", "rgba", "stpq"):
        for count in (1, 2, 3, 4):
            for numbers in itertools.islice(itertools.product(range(size), repeat=count), 0, None, 3):
                name = "".join(letters[number] for number in numbers)
                array = given(size)
                v = VECTORS[size].from_array(gp.asarray(array))
                wanted = array[..., numbers[0]] if count == 1 else array[..., list(numbers)]
                same(getattr(v, name), wanted)
                if len(set(numbers)) < count:
                    with pytest.raises(AttributeError, match="twice"):
                        setattr(v, name, 1)
                    continue
                # The components that are assigned are each other's.
                setattr(v, name, 2 if count == 1 else getattr(v, name[::-1]) + 1)
                array[..., list(numbers)] = 2 if count == 1 else wanted[..., ::-1] + 1
                same(v, array)


def test_a_swizzle_in_order_is_a_view(driver):
    v = gp.vec4.from_array(gp.asarray(given(4)))
    for name, numbers in {
        "xy": [0, 1],
        "yzw": [1, 2, 3],
        "wzyx": [3, 2, 1, 0],
        "xz": [0, 2],
        "yx": [1, 0],
    }.items():
        part = getattr(v, name)
        part[0] = 77
        assert np.asarray(v.array)[0][:, numbers].tolist() == [[77] * len(numbers)] * 4
        v[0] = 0


def test_ways_to_make_one(driver):
    x, y = gp.arange(3, dtype=np.float32), gp.ones((2, 1), np.float32)
    same(gp.vec2(x, y), np.stack(np.broadcast_arrays(np.arange(3, dtype="f4"), np.ones((2, 1), "f4")), -1))
    same(gp.vec3(gp.vec2(x, 7), 1), np.array([[0, 7, 1], [1, 7, 1], [2, 7, 1]], "f4"))
    same(gp.vec4(x), np.array([[0] * 4, [1] * 4, [2] * 4], "f4"))
    same(gp.vec3(1, 2.5, 3), np.array([1, 2.5, 3], "f4"))
    same(gp.vec2(True, False), np.array([True, False]))
    same(gp.vec2(1, 2, dtype=np.int32), np.array([1, 2], "i4"))
    same(gp.vec2(np.arange(2, dtype="i4"), 1), np.array([[0, 1], [1, 1]], "i4"))
    for kind in ([("x", "f4"), ("y", "f4")], [("p", "f4", 2)]):
        array = np.zeros(3, kind)
        array[array.dtype.names[0]] = 5
        v = gp.vec2.from_array(array)
        assert v.shape == (3,) and v.x.tolist() == [5, 5, 5]
    apart = np.zeros(3, [("x", "f4"), ("n", "i8"), ("y", "f4")])[["x", "y"]]
    assert gp.vec2.from_array(apart).shape == (3,)
    for call in (
        lambda: gp.vec3(1, 2),
        lambda: gp.vec2(gp.vec3(1)),
        lambda: gp.vec3.from_array(np.zeros((3, 2))),
        lambda: gp.vec2.from_array(np.zeros(2, [("x", "f4"), ("y", "f4"), ("z", "f4")])),
        lambda: gp.vec2(1) + gp.vec3(1),
        lambda: gp.mat2(gp.vec3(1), gp.vec3(1)),
        lambda: bool(gp.vec2(1) == 1),
        lambda: setattr(gp.vec3(1), "xy", gp.vec3(1)),
    ):
        with pytest.raises(ValueError):
            call()
    for name in ("q", "xq", "xyzwx", "xg", "w", ""):
        with pytest.raises(AttributeError):
            getattr(gp.vec3(1), name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.bool])
def test_arithmetic(driver, dtype):
    a, b = given(3, dtype=dtype), given(3, dtype=dtype, seed=1)
    v, w = gp.vec3.from_array(gp.array(a)), gp.vec3.from_array(gp.array(b))
    each = given(4, shape=(5,), dtype=dtype, seed=2)
    same(v + w, a + b)
    same(v * gp.asarray(each), a * each[..., None])
    same(each * v, a * each[..., None])
    same(np.maximum(v, w), np.maximum(a, b))
    same(gp.maximum(v, 1), np.maximum(a, 1))
    same(v < w, a < b)
    same(v == 2, a == 2)
    same(v[1:, 2], a[1:, 2])
    same(v[..., 0], a[:, 0])
    same(v[gp.asarray(each) > 0], a[each > 0])
    v[2], a[2] = w[0, 0], b[0, 0]
    v[0], a[0] = each[1], each[1][:, None]
    same(v, a)
    with pytest.raises(TypeError):
        v += 1j
    if dtype != np.bool:
        same(-v, -a)
        v += w
        v *= each
        same(v, (a + b) * each[..., None])
    assert len(v) == 5 and v.shape == (5, 4) and v.ndim == 2 and v.dtype == dtype
    same(pickle.loads(pickle.dumps(v)), np.asarray(v.array))
    same(v.reshape(2, 10).copy(), np.asarray(v.array).reshape(2, 10, 3))
    assert repr(gp.vec2(1, 2)) == "vec2([1., 2.], dtype=float32)"


@pytest.mark.parametrize("size", [2, 3, 4])
def test_products_of_matrices(driver, size):
    m, n = given(size, shape=(5, size)), given(size, shape=(5, size), seed=1)
    v = given(size, shape=(5,), seed=2)
    ours, other = (MATRICES[size].from_array(gp.asarray(array)) for array in (m, n))
    vector = VECTORS[size].from_array(gp.asarray(v))
    same(ours @ vector, np.einsum("...ij,...j", m, v))
    same(vector @ ours, np.einsum("...i,...ij", v, m))
    same(ours @ other, m @ n)
    same(ours.T, m.swapaxes(-1, -2))
    same(ours * other, m * n)
    columns = [VECTORS[size].from_array(gp.asarray(m[..., number])) for number in range(size)]
    same(MATRICES[size](*columns), m)
    same(MATRICES[size](2), 2 * np.eye(size, dtype=np.float32))
    same(MATRICES[size](2) @ vector, 2 * v)
    with pytest.raises(TypeError):
        ours @ gp.vec2(1) if size != 2 else ours @ gp.vec3(1)


def test_an_expression_in_vectors_is_one_launch(driver):
    x, y, z = (gp.asarray(given(200, shape=(200,), seed=seed)) for seed in range(3))
    for _ in range(2):
        gp.reset_stats()
        ray = vectors.normalize(gp.vec3(x, y, z) - gp.vec3(1, 2, 3))
        lit = vectors.dot(vectors.reflect(ray, gp.vec3(0, 0, 1)), gp.vec3(0, 1, 0))
        colour = vectors.mix(gp.vec3(0.1, 0.2, 0.3), gp.vec3(1), vectors.clamp(lit, 0, 1))
        gp.evaluate(*(255 * component for component in (colour.x, colour.y, colour.z)))
    if driver != "soft":
        assert gp.stats()["launches"] == 1


def test_sums_of_vectors_are_along_axes_of_their_shape(driver):
    model = given(3, (4, 5))
    v = gp.vec3.from_array(gp.asarray(model))
    for axis, axes in [(None, (0, 1)), (0, (0,)), (1, (1,)), (-1, (1,)), (-2, (0,)), ((1, 0), (0, 1))]:
        assert type(v.sum(axis)) is gp.vec3
        same(v.sum(axis), model.sum(axis=axes))
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        v.sum(2)


def test_arrays_leave_operators_to_vectors_and_operators_in_place_keep_them(driver):
    model, weights = given(3, (4, 5)), given(1, (4, 5))[..., 0]
    v, array = gp.vec3.from_array(gp.asarray(model)), gp.asarray(weights)
    for name in ("add", "sub", "mul", "eq", "lt", "ge"):
        function = getattr(operator, name)
        same(function(array, v), function(weights[..., None], model))
        same(function(v, array), function(model, weights[..., None]))
        same(function(weights, v), function(weights[..., None], model))
    before, kept = v, v.array
    v += array
    v *= 2
    v -= v
    assert v is before and v.array is kept
    same(v, np.zeros_like(model))
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add'"):
        gp.vec3.from_array(gp.asarray(model.astype(np.int32))).__iadd__(0.5)


def test_bodies_in_vectors_do_as_in_components_by_hand(auto, monkeypatch):
    folder = pathlib.Path(__file__).resolve().parents[3] / "examples"
    monkeypatch.syspath_prepend(str(folder))
    n_body = importlib.import_module("n_body_in_vectors")
    masses, places, speeds = n_body.start(40)
    hand = [np.array([np.asarray(part) for part in (v.x, v.y, v.z)]) for v in (places, speeds)]
    masses_by_hand = np.asarray(masses)
    for _ in range(5):
        n_body.step(masses, places, speeds)
        n_body.step_by_hand(np.array(masses_by_hand), *hand)
    for vectors_of, parts in zip((places, speeds), hand, strict=True):
        assert np.allclose(np.moveaxis(np.asarray(vectors_of), -1, 0), parts, rtol=1e-12, atol=1e-12)
