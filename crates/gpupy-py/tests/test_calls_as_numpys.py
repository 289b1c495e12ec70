"""Calls that NumPy takes, in forms that programs seldom use: the same results or the same refusals."""

import collections.abc
import copy
import hashlib
import pickle

import numpy
import pytest
from pairs import check

import gpupy

SPLITS = {
    "split": lambda xp: (xp.split, xp.arange(12)),
    "array_split": lambda xp: (xp.array_split, xp.arange(12)),
    "hsplit": lambda xp: (xp.hsplit, xp.arange(24).reshape(2, 12)),
    "vsplit": lambda xp: (xp.vsplit, xp.arange(24).reshape(12, 2)),
    "dsplit": lambda xp: (xp.dsplit, xp.arange(48).reshape(2, 2, 12)),
}
WHERE = {
    "an array": lambda xp: xp.array([2, 5, 7]),
    "an array without axes": lambda xp: xp.array(3),
    "an element": lambda xp: xp.array([3, 0])[0],
    "a sum": lambda xp: xp.array([1, 2]).sum(),
    "a pending sum": lambda xp: (xp.array([1, 2]) + xp.zeros(2, int)).sum(),
    "scalars in a list": lambda xp: [xp.array([2, 0])[0], 5],
    "a number that does not divide": lambda xp: xp.array([5, 0])[0],
    "floats": lambda xp: xp.array([2.0, 5.0]),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", SPLITS)
def test_arrays_are_split_where_arrays_and_scalars_say(device, name, where):
    def by_position(xp):
        function, array = SPLITS[name](xp)
        return function(array, WHERE[where](xp))

    def by_name(xp):
        function, array = SPLITS[name](xp)
        return function(array, indices_or_sections=WHERE[where](xp))

    check(by_position)
    check(by_name)


TWO = {
    "divmod": lambda xp: (xp.divmod, (xp.arange(4.0), 3.0)),
    "divmod of ints": lambda xp: (xp.divmod, (xp.arange(4), 3)),
    "modf": lambda xp: (xp.modf, (xp.arange(4.0) / 2,)),
    "frexp": lambda xp: (xp.frexp, (xp.arange(4.0),)),
}
OUTS = {
    "the first": lambda a, b: (a,),
    "both": lambda a, b: (a, b),
    "the second": lambda a, b: (None, b),
    "none": lambda a, b: (None, None),
    "one too many": lambda a, b: (a, b, a),
}


@pytest.mark.parametrize("outs", OUTS)
@pytest.mark.parametrize("name", TWO)
def test_ufuncs_of_two_results_take_outputs_by_position(device, name, outs):
    def run(xp):
        function, operands = TWO[name](xp)
        second = "i4" if name == "frexp" else "f8"
        first = "i8" if "ints" in name else "f8"
        a, b = xp.zeros(4, first), xp.zeros(4, first if "ints" in name else second)
        results = function(*operands, *OUTS[outs](a, b))
        given = [r is out for r, out in zip(results, OUTS[outs](a, b), strict=False)]
        return [*results, a, b, *given]

    check(run)


def test_any_negative_extent_is_the_open_one(device):
    for shape in ((3, -2), (-5, 2), -7, (-1, -1), (-2, -3), (4, -2)):
        check(lambda xp: xp.arange(6).reshape(shape))
        check(lambda xp: xp.reshape(xp.arange(6), shape))


def test_triangles_take_what_numpys_take():
    for arguments in ((3, 3, 0.5), (3, None, -0.5), (2.5,), (3, 2, 1), ("a",)):
        check(lambda xp: xp.tri(*arguments))


VIEWS = {
    "C order": lambda a: a,
    "F order": lambda a: a.T,
    "steps": lambda a: a[::2],
    "steps in the last axis": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "nothing": lambda a: a[:0],
    "no axes": lambda a: a[1, 1, ...],
    "a new axis": lambda a: a[None],
}


@pytest.mark.parametrize("columns", [6, 6000])
@pytest.mark.parametrize("view", VIEWS)
def test_pickles_out_of_band_are_numpys(driver, view, columns):
    outcomes = []
    for xp in (numpy, gpupy):
        a = VIEWS[view](xp.arange(4.0 * columns).reshape(4, columns))
        for protocol in (2, 4, 5):
            buffers = []
            keep = {"buffer_callback": buffers.append} if protocol == 5 else {}
            data = pickle.dumps(a, protocol, **keep)
            loaded = pickle.loads(data, buffers=buffers)
            same = bool((loaded == a).all()) and type(loaded) is type(a)
            outcomes.append((len(buffers), same, loaded.strides, loaded.shape))
    assert outcomes[3:] == outcomes[:3]


def test_what_was_pickled_is_not_what_is_written_afterwards():
    gpupy._gpupy.reconfigure("cpu")
    a, buffers = gpupy.arange(5000.0) + 1, []
    data = pickle.dumps(a, 5, buffer_callback=buffers.append)
    a[0] = -1
    loaded = pickle.loads(data, buffers=buffers)
    assert (float(loaded[0]), float(a[0])) == (1.0, -1.0)
    loaded[1] = 7
    assert float(a[1]) == 2.0


def test_arrays_take_the_state_of_numpys():
    for given in (numpy.arange(6.0).reshape(2, 3), numpy.asfortranarray(numpy.ones((2, 3), "i2"))):
        a = gpupy.zeros(3)
        a.__setstate__(given.__reduce__()[2])
        assert (a.shape, a.strides, a.dtype) == (given.shape, given.strides, given.dtype)
        assert a.tolist() == given.tolist()
    for state in ((), (1, (2,), numpy.dtype("f8"), False, b"short")):
        check(lambda xp: xp.zeros(3).__setstate__(state))


def test_arrays_of_any_rank_are_hashed_as_bytes():
    for shape in ((6,), (2, 3), (1, 2, 3), ()):
        a = gpupy.full(shape, 1.5)
        assert hashlib.sha256(a).digest() == hashlib.sha256(numpy.full(shape, 1.5)).digest()


def test_scalars_give_tensors_and_pending_ones_are_of_our_namespace():
    # Fallbacks give NumPy's own scalars, so only on the driver without fallbacks.
    gpupy._gpupy.reconfigure("cpu")
    for x in (gpupy.ones(3, "i4")[1], gpupy.float32(2) * gpupy.ones(2, "f4")[0]):
        assert isinstance(x, numpy.generic) and gpupy.from_dlpack(x).item() == x
    many = gpupy.arange(60_000, dtype="f4") + 1

    def numbers():
        with gpupy.accelerator():
            return [many.sum(), many[1], gpupy.float32(2) * many[0]]

    for x in numbers():
        assert type(x) is gpupy.scalar
        assert x.__array_namespace__() is gpupy.array_api
        assert x.__array_namespace__(api_version="2024.12") is gpupy.array_api
        assert x.__dlpack_device__() == numpy.ones(1).__dlpack_device__()
        for module in (numpy, gpupy):
            found = module.from_dlpack(x)
            assert (found.shape, found.dtype, found.item()) == ((), x.dtype, x.item())


NORMS = [
    {},
    {"keepdims": True},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 1)},
    {"axis": (1, 0), "ord": "fro", "keepdims": True},
    {"axis": 1, "ord": 1},
    {"axis": 1, "ord": numpy.inf},
    {"axis": 1, "ord": -numpy.inf},
    {"axis": 1, "ord": 0},
    {"axis": 1, "ord": 3},
    {"axis": (0, 1), "ord": 1},
    {"axis": (0, 0)},
    {"axis": 5},
    {"axis": 0.5},
    {"ord": "fro"},
    {"ord": 2},
    {"ord": "nuc", "axis": (0, 1)},
]


def results(function):
    """The results of a call on NumPy and on gpupy: arrays, or error messages."""
    found = []
    for xp in (numpy, gpupy):
        try:
            found.append(numpy.asarray(function(xp)))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "bool"])
def test_sums_of_linalg_are_numpys(device, dtype):
    data = numpy.random.default_rng(5).integers(-4, 5, (3, 4, 5)).astype(dtype)

    def same(function):
        want, found = results(function)
        if isinstance(want, str) or isinstance(found, str):
            assert found == want
        else:
            assert (found.dtype, found.shape) == (want.dtype, want.shape)
            numpy.testing.assert_allclose(found, want, rtol=1e-5)

    for shape in ((3, 4, 5), (4, 5), (5,)):
        part = data.reshape(-1)[: numpy.prod(shape)].reshape(shape)
        for options in NORMS:
            same(lambda xp: xp.linalg.norm(xp.asarray(part), **options))
        for options in ({}, {"axis": 0}, {"axis": 0, "keepdims": True}, {"keepdims": True}, {"ord": 1}):
            same(lambda xp: xp.linalg.vector_norm(xp.asarray(part), **options))
        for options in ({}, {"offset": 1}, {"dtype": "c16"}):
            same(lambda xp: xp.linalg.trace(xp.asarray(part), **options))
            same(lambda xp: xp.trace(xp.asarray(part), **options))
        for function in ("matrix_norm", "diagonal", "matrix_transpose"):
            same(lambda xp: getattr(xp.linalg, function)(xp.asarray(part)))
        for axis in (-1, 0, 7):
            same(lambda xp: xp.linalg.vecdot(xp.asarray(part), xp.asarray(part), axis=axis))
        same(lambda xp: xp.linalg.outer(xp.asarray(part), xp.asarray(part)))
        same(lambda xp: xp.linalg.tensordot(xp.asarray(part), xp.asarray(part), axes=1))
        same(lambda xp: xp.linalg.matmul(xp.asarray(part), xp.asarray(part).T))


def test_sums_of_linalg_are_recorded():
    gpupy._gpupy.reconfigure("cpu")
    a = gpupy.ones((3, 4))
    with gpupy.fallback("error"):
        for x in (a, a * 1j):
            gpupy.linalg.norm(x), gpupy.linalg.norm(x, axis=1), gpupy.linalg.norm(x, "fro")
            gpupy.linalg.vector_norm(x), gpupy.linalg.matrix_norm(x), gpupy.linalg.trace(x)
            gpupy.linalg.vecdot(x, x), gpupy.linalg.matmul(x, x.T), gpupy.linalg.tensordot(x, x)
            gpupy.linalg.diagonal(x), gpupy.linalg.matrix_transpose(x), gpupy.linalg.outer(x[0], x[1])


def test_copies_of_copies_own_their_elements():
    a = gpupy.asfortranarray(gpupy.ones((2, 3)))
    for made in (
        a,
        a.copy("F"),
        gpupy.zeros((2, 3), order="F"),
        gpupy.zeros_like(a),
        a.astype("f4", order="F"),
    ):
        assert made.base is None and made.flags.owndata and made.flags.f_contiguous
    assert copy.deepcopy(a).base is None


def test_the_device_of_an_array_is_numpys_and_stays():
    def moved(xp):
        xp.zeros(3).device = "other"

    check(lambda xp: xp.zeros(3).device)
    check(moved)


def test_arrays_match_patterns_of_sequences_where_numpys_do(device):
    def matched(xp):
        match xp.arange(6).reshape(2, 3):
            case [[a, b, c], second]:
                return xp.asarray([a, b, c]) + second
            case _:
                return xp.zeros(0)

    check(matched)
    assert not isinstance(gpupy.zeros(2), collections.abc.Sequence)


@pytest.mark.parametrize("name", ["all", "any"])
def test_the_methods_of_truth_take_a_dtype(device, name):
    for values in ([1, 0, 3], [[True, False], [True, True]], [0.5, 2.0]):
        check(lambda xp: getattr(xp.asarray(values), name)(dtype=bool))
        check(lambda xp: getattr(xp.asarray(values), name)(0, None, keepdims=True))
        check(
            lambda xp: getattr(xp.asarray(values), name)(0, bool, xp.ones(xp.asarray(values).shape[1:], bool))
        )
    objects = getattr(gpupy.asarray([1, 2], dtype=object), name)(dtype=object, keepdims=True)
    assert objects.dtype == object


@pytest.mark.parametrize("key", [True, False, [1.0], [0, 2.0], [[1, 2]], 5, [7]], ids=repr)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_flat_iterators_take_truth_values_for_masks_and_floats_for_places(device, key):
    def written(xp):
        array = xp.arange(6).reshape(2, 3)
        array.flat[key] = 10
        return array

    check(written)
    check(lambda xp: xp.arange(6).reshape(2, 3).flat[key])


@pytest.mark.parametrize(
    "values", [numpy.array([1, 3]), numpy.array([], "S"), numpy.array(["a"], "S")], ids=repr
)
def test_flat_iterators_take_others_for_keys(device, values):
    check(lambda xp: xp.arange(6).reshape(2, 3).flat[xp.asarray(values).flat])


OUTPUTS = {
    "as it is to be": lambda xp: xp.zeros((4, 2)),
    "turned": lambda xp: xp.zeros((2, 4)).T,
    "every other column": lambda xp: xp.zeros((4, 4))[:, ::2],
    "another dtype": lambda xp: xp.zeros((4, 2), "float32"),
    "another shape": lambda xp: xp.zeros((4, 3)),
}


@pytest.mark.parametrize("out", OUTPUTS)
def test_dot_writes_to_an_output_in_c_order_alone(device, out):
    check(lambda xp: xp.dot(xp.ones((4, 3)), xp.ones((3, 2)), OUTPUTS[out](xp)))


@pytest.mark.parametrize("keywords", [{"ndmax": 1}, {"ndmax": 2}, {"value": 1}], ids=repr)
def test_array_takes_the_keywords_that_numpys_takes(device, keywords):
    check(lambda xp: xp.array(xp.arange(6).reshape(2, 3), **keywords))
    check(lambda xp: xp.array(xp.arange(6).reshape(2, 3), dtype=xp.float32, **keywords))


def test_the_protocol_of_ufuncs_refuses_what_is_none(device):
    check(lambda xp: xp.ones(2).__array_ufunc__(1, 2))
    check(lambda xp: xp.ones(2).__array_ufunc__(numpy.add, "__call__", xp.ones(2), 2))
