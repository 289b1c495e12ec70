"""bfloat16 of the package ml_dtypes, beside NumPy with that package, whose bits are the oracle.

Sums are compared with float64's: ml_dtypes rounds at each step.
"""

import copy
import ctypes
import io
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import table
from hypothesis import given
from hypothesis import strategies as st

import gpupy as gp

BF16 = np.dtype(ml_dtypes.bfloat16)
EVERY = np.arange(65536, dtype=np.uint16).view(BF16)
OTHERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
TINY = float(ml_dtypes.finfo(BF16).tiny)
# Half of the distance from 1 to the next bfloat16.
UNIT = 2.0**-8
# Of several operations, and exact.
COMPOSED = {1: ["square", "reciprocal", "positive", "logical_not", "conjugate", "fabs"]}
COMPOSED[2] = ["floor_divide", "remainder", "fmax", "fmin", "nextafter", "heaviside"]
COMPOSED[2] += ["logical_and", "logical_or", "logical_xor"]
ROUNDED = {1: ["deg2rad", "rad2deg"], 2: ["logaddexp", "logaddexp2"]}


def flushes(driver):
    """Whether the driver's device takes subnormal numbers for zero, as it says."""
    return any(row["flushes_subnormals"] for row in gp.drivers() if row["name"] == driver)


def normal(driver, *arrays):
    """The places at which all numbers are ones that the driver's device keeps, and gives."""
    kept = np.ones(arrays[0].shape, bool)
    for array in arrays if flushes(driver) else ():
        numbers = np.abs(np.asarray(array, np.float64))
        kept &= ~((numbers > 0) & (numbers <= TINY))
    return kept


def steps(a, b):
    """How many bfloat16 lie between each two, with none between NaN."""
    places = [np.asarray(x).view(np.int16).astype(np.int64) for x in (a, b)]
    places = [np.where(place < 0, -32768 - place, place) for place in places]
    nan = [np.isnan(np.asarray(x, np.float32)) for x in (a, b)]
    far = np.where(nan[0] & nan[1], 0, abs(places[0] - places[1]))
    return np.where(nan[0] != nan[1], 65536, far)


def assert_same(ours, theirs, at=..., most=0):
    """The same dtype, shape and bits, with one NaN for all; or ``most`` bfloat16 apart."""
    ours = np.asarray(ours)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    ours, theirs = ours[at], theirs[at]
    if theirs.dtype == BF16:
        bad = steps(ours, theirs) > most
        if not most:
            is_nan = np.isnan(theirs.astype(np.float32))
            bad |= (ours.view(np.uint16) != theirs.view(np.uint16)) & ~is_nan
    else:
        bad = (ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs))
    assert not bad.any(), (np.flatnonzero(bad)[:5], ours[bad][:5], theirs[bad][:5])


def counted():
    return dict(gp._gpupy.fallback_counts())


def computes(driver):
    """Whether the driver alone computes with bfloat16; else NumPy does, which is counted."""
    return driver != "soft"


def counts(driver, name, *args):
    """Whether the operation is NumPy's: where the driver alone lacks it in float32, or bfloat16."""
    gp.reset_stats()
    gp.array(getattr(gp, name)(*(gp.array(arg).astype(np.float32)[:3] for arg in args)))
    is_numpys = bool(counted())
    gp.reset_stats()
    return is_numpys or not computes(driver)


def quiet(function, *args):
    with np.errstate(all="ignore"):
        return function(*args)


UNARY = [(name, 0) for name in [*table.ufuncs(1, True), *COMPOSED[1]]]
UNARY += [(name, 1) for name in [*table.ufuncs(1, False), *ROUNDED[1]]]
BINARY = [(name, 0) for name in [*table.ufuncs(2, True), *COMPOSED[2]]]
BINARY += [(name, 1) for name in [*table.ufuncs(2, False), *ROUNDED[2]]]
# Of integers alone.
BITWISE = {"invert", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "most"), [row for row in UNARY if row[0] not in BITWISE])
def test_functions_of_every_bfloat16_are_those_of_ml_dtypes(driver, name, most):
    theirs, is_numpys = quiet(getattr(np, name), EVERY), counts(driver, name, EVERY)
    assert_same(getattr(gp, name)(gp.array(EVERY)), theirs, normal(driver, EVERY, theirs), most)
    assert bool(counted()) == is_numpys


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "most"), [row for row in BINARY if row[0] not in BITWISE])
def test_operations_on_two_are_those_of_ml_dtypes(driver, name, most):
    rng = np.random.default_rng(7)
    x, y = (np.concatenate([rng.choice(EVERY, 3000), rng.normal(size=3000).astype(BF16)]) for _ in "xy")
    ends = np.array([0, -0.0, 1, -2, np.inf, -np.inf, np.nan, 1e-40, 3e38], BF16)
    x, y = np.concatenate([x, np.repeat(ends, 9)]), np.concatenate([y, np.tile(ends, 9)])
    theirs = quiet(getattr(np, name), x, y)
    kept, is_numpys = normal(driver, x, y, theirs), counts(driver, name, x, y)
    assert_same(getattr(gp, name)(gp.array(x), gp.array(y)), theirs, kept, most)
    assert bool(counted()) == is_numpys


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("other", OTHERS)
def test_casts_are_those_of_ml_dtypes(device, other):
    dtype = np.dtype(other)
    # Numbers that do not fit have no value in NumPy.
    fits = np.ones(EVERY.shape, bool)
    if dtype.kind in "iu":
        ends, wide = np.iinfo(dtype), EVERY.astype(np.float64)
        fits = (wide >= ends.min) & (wide < ends.max)
    kept = EVERY[fits]
    theirs = kept.astype(dtype)
    assert_same(gp.array(kept).astype(dtype), theirs, normal(device, kept))
    rng = np.random.default_rng(3)
    given = (rng.integers(0, 2, 4096) > 0) if other == "bool" else np.frombuffer(rng.bytes(1 << 14), dtype)
    if dtype.kind == "f":
        # Ties, and their neighbours on both sides.
        halves = (np.arange(65536, dtype=np.uint32)[:, None] << 16) + np.array([0x7FFF, 0x8000, 0x8001], "u4")
        halves = halves.view(np.float32).ravel()[:: 1 if device == "cpu" else 41]
        given = np.concatenate([given, halves.astype(dtype)])
    theirs = given.astype(BF16)
    assert_same(gp.array(given).astype(BF16), theirs, normal(device, given, theirs))


_SHAPES = st.lists(st.integers(1, 5), max_size=3).map(tuple)


# The most instructions, loads, temporaries, parameters, destinations and buffers of a kernel: enough for one
# operation, which is several without bfloat16, and for few more.
_TIGHT = [48, 4, 48, 4, 1, 5, 0, 0]


@pytest.mark.parametrize("is_tight", [False, True])
@given(st.data())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_programs_on_views_are_those_of_ml_dtypes(device, is_tight, data):
    if is_tight and device not in ("vulkan", "wgpu"):
        pytest.skip("other drivers count other resources")
    if is_tight:
        gp._gpupy.reconfigure(device, resources=_TIGHT)
    shape = data.draw(_SHAPES)
    seed = data.draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    numbers = (rng.normal(size=(2, *shape)) * 8).astype(BF16)
    a, b = numbers
    x, y = gp.array(a), gp.array(b)
    for _ in range(data.draw(st.integers(1, 4))):
        way = data.draw(st.sampled_from("add multiply subtract where cast turn cut max view negate".split()))
        other = data.draw(st.sampled_from(["float16", "float32", "float64", "int32"]))
        if way in ("add", "multiply", "subtract"):
            (a, b), (x, y) = (getattr(np, way)(a, b), a), (getattr(gp, way)(x, y), x)
        elif way == "where":
            a, x = np.where(a > b, a, b), gp.where(x > y, x, y)
        elif way == "cast":
            a, x = (
                np.clip(a.astype("f4"), -99, 99).astype(other),
                gp.clip(x.astype("f4"), -99, 99).astype(other),
            )
            a, x = a.astype(BF16), x.astype(BF16)
        elif way == "turn":
            a, b, x, y = a.T, b.T, x.T, y.T
        elif way == "cut" and a.ndim:
            a, b, x, y = a[::-2], b[::-2], x[::-2], y[::-2]
        elif way == "max" and a.ndim:
            a, b, x, y = a.max(-1), b.min(-1), x.max(-1), y.min(-1)
        elif way == "view" and a.ndim:
            a, x = (a.copy().view("u2") ^ 0x8000).view(BF16), (x.copy().view("u2") ^ 0x8000).view(BF16)
        elif way == "negate":
            a, x = -abs(a), -abs(x)
    theirs = np.asarray(a)
    assert_same(x, theirs, normal(device, theirs))


@pytest.mark.parametrize("shape", [(7,), (1000,), (300, 41), (3, 5, 70), (40_000,)])
def test_sums_and_means_keep_the_digits_of_float32(device, shape):
    if not computes(device):
        pytest.skip("NumPy computes, which rounds at each step")
    a = np.random.default_rng(1).uniform(0.5, 2, shape).astype(BF16)
    x, exact = gp.array(a), a.astype(np.float64)
    for axis in (None, 0, -1):
        for name in ("sum", "mean", "var"):
            got, want = getattr(x, name)(axis), getattr(exact, name)(axis)
            assert got.dtype == BF16
            error = abs(np.asarray(got, np.float64) - want)
            assert (error <= 1.02 * UNIT * abs(want)).all(), name
    got = np.asarray(gp.array(a[..., :3]).prod(-1), np.float64)
    assert np.allclose(got, exact[..., :3].prod(-1), rtol=1.02 * UNIT, atol=0)
    assert not counted()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_orders_and_places_are_those_of_ml_dtypes(auto):
    # ml_dtypes compares NaN to numbers as it likes.
    numbers = EVERY[~np.isnan(EVERY)]
    a = np.random.default_rng(5).choice(numbers, (40, 60))
    x = gp.array(a)
    for axis in (0, 1):
        assert_same(gp.sort(x, axis), np.sort(a, axis))
        # Where equal numbers have an order.
        assert_same(gp.argsort(x, axis, kind="stable"), np.argsort(a.astype("f4"), axis, kind="stable"))
        for name in ("argmax", "argmin"):
            assert_same(getattr(gp.array(a), name)(axis), getattr(a.astype("f4"), name)(axis))
    with_nan = gp.sort(gp.array([np.nan, 2, -np.inf, -np.nan, 1], BF16))
    assert np.array_equal(with_nan.astype("f4"), [-np.inf, 1, 2, np.nan, np.nan], equal_nan=True)
    assert not counted()


def test_products_have_the_dtypes_of_numpy(auto):
    a, b = (np.random.default_rng(seed).normal(size=(20, 20)).astype(BF16) for seed in (1, 2))
    x, y = gp.array(a), gp.array(b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    for function in (np.matmul, np.dot):
        got, want = getattr(gp, function.__name__)(x, y), function(a, b)
        assert got.dtype == want.dtype
        unit = UNIT if got.dtype == BF16 else 2.0**-24
        size = abs(a).astype(np.float64) @ abs(b).astype(np.float64)
        assert (abs(np.asarray(got, np.float64) - exact) <= 21 * unit * size).all()


@pytest.mark.parametrize("other", [*OTHERS, "complex64", "complex128"])
@pytest.mark.parametrize(
    "shapes", [((3, 2), (2, 4)), ((2,), (2,)), ((3, 2), ()), ((), (2,)), ((2, 3, 2), (2, 2))]
)
def test_products_with_other_dtypes_have_those_of_numpy(auto, other, shapes):
    def run(xp, function, dtypes):
        # Numbers whose products are exact in every dtype.
        a, b = (np.arange(np.prod(shape)).reshape(shape) % 3 for shape in shapes)
        if function == "inner":
            b = b.T
        try:
            made = getattr(xp, function)(xp.array(a.astype(dtypes[0])), xp.array(b.astype(dtypes[1])))
        except (TypeError, ValueError) as error:
            return type(error)
        # Of objects without axes there is one, no array.
        host = np.asarray(made)
        return type(made) is float, host.dtype, host.tolist(), host.strides

    for function in ("dot", "inner", "vdot", "matmul"):
        for dtypes in ((BF16, other), (other, BF16)):
            assert run(gp, function, dtypes) == run(np, function, dtypes), (function, dtypes)


@pytest.mark.parametrize("other", [*OTHERS, "complex64", "complex128"])
def test_promotion_is_numpys(auto, other):
    def outcome(xp, operation):
        try:
            result = operation(xp.ones(3, BF16), xp.ones(3, other))
        except TypeError as error:
            return type(error)
        return result.dtype

    for operation in (lambda x, y: x + y, lambda x, y: y * x, lambda x, y: x < y):
        assert outcome(gp, operation) == outcome(np, operation)
    for number in (2, 0.5, 1j, True, np.float32(2), np.float64(2), BF16.type(2)):
        assert (gp.ones(3, BF16) * number).dtype == (np.ones(3, BF16) * number).dtype
        assert (gp.ones(3, BF16) ** number).dtype == (np.ones(3, BF16) ** number).dtype


def test_elements_are_read_and_written_as_numpys(device):
    def program(xp):
        a = xp.array([1.5, -2, 3, 0.1, 7], BF16)
        a[0] = 1.00390625
        a[1] = BF16.type(2.5)
        a[2:4] = np.float32(3.14159)
        a[a > 6] = 0.3
        a += 1
        yield a
        yield a[[0, 3, 1]]
        yield xp.concatenate([a, a[::-1]])
        yield xp.stack([a, a]).T[1:]
        yield xp.full((2, 2), 0.1, BF16)
        yield xp.zeros(3, "bfloat16")
        yield xp.take(a, [1, 1])
        yield a.astype("f8").astype(BF16).reshape(5, 1) * a

    for ours, theirs in zip(program(gp), program(np), strict=True):
        assert_same(ours, theirs)
    a = gp.array([1.5, 2], BF16)
    assert type(a[0].item()) is float and a.tolist() == [1.5, 2.0]
    assert repr(a) == repr(np.array([1.5, 2], BF16))


def test_every_bit_comes_back(device):
    x = gp.array(EVERY)
    moved = gp.where(gp.ones(65536, bool), x[::-1][::-1], x)
    got = (x, moved, x.copy(), x.view("u2").view(BF16), gp.array(x), pickle.loads(pickle.dumps(x)))
    for array in (*got, copy.deepcopy(x), x.reshape(256, 256).T.ravel().reshape(256, 256).T.ravel()):
        assert np.array_equal(np.asarray(array).view("u2"), EVERY.view("u2"))


def test_files_hold_what_numpys_hold(driver):
    files = [io.BytesIO() for _ in range(2)]
    np.save(files[0], EVERY)
    gp.save(files[1], gp.array(EVERY))
    assert files[0].getvalue() == files[1].getvalue()


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class _Elsewhere:
    """A tensor of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_names_bfloat16_both_ways(driver):
    x = gp.array([1.5, -2, 3], BF16) * 2
    capsule = x.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    assert (tensor.code, tensor.bits, tensor.lanes) == (4, 16, 1)
    assert_same(gp.from_dlpack(_Elsewhere(x)), np.array([3, -4, 6], BF16))
    assert_same(gp.from_dlpack(_Elsewhere(gp.ones(3, "u2"))), np.ones(3, "u2"))


def test_buffers_are_refused_as_numpys(driver):
    for array in (gp.ones(3, BF16), np.ones(3, BF16)):
        with pytest.raises(ValueError, match="cannot include dtype"):
            memoryview(array)


def test_what_numpy_alone_does_is_counted(driver):
    x = gp.array([1.5, 2, 3], BF16)
    gp.reset_stats()
    assert_same(gp.cumsum(x), np.cumsum(np.array([1.5, 2, 3], BF16)))
    assert_same(gp.clip(x, 2, 2.5), np.clip(np.array([1.5, 2, 3], BF16), 2, 2.5))
    assert {name for name, _, _ in counted()} == {"cumsum", "clip"}


def test_the_package_is_found_once_a_program_has_imported_it():
    program = """
import gpupy, sys
assert "ml_dtypes" not in sys.modules
try:
    gpupy.zeros(3, "bfloat16")
except TypeError as error:
    assert "bfloat16" in str(error)
else:
    raise AssertionError
assert "ml_dtypes" not in sys.modules
import ml_dtypes
assert (gpupy.zeros(3, "bfloat16") + 1)._lazy
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_pending_scalars_meet_scalars_of_the_package(auto):
    """A scalar of this dtype is not pending: code of ml_dtypes takes no other class for a number."""
    one, x = BF16.type(1), np.full(100_000, 3, BF16)
    a = gp.array(x)
    assert type(a.max()) is BF16.type
    assert one + a.max() == 4 and one == a.min() - 2 and float(sum([one, a.max()])) == 4
    assert a.mean() - a.max() == 0 and a[5] == a.max() and max(one, a.max()) == 3
    assert_same(np.array([a.max()], BF16), np.array([3], BF16))
    z = np.zeros(3, BF16)
    z[0], z[1:] = a.max(), a.min()
    assert_same(z, np.array([3, 3, 3], BF16))
    assert (one + a.max()).dtype == (one * a.max()).dtype == BF16


def test_extremes_are_found_beside_reductions_of_other_dtypes(driver):
    x = np.tile(np.array([2, np.nan, -3, 7, 0.5], BF16), 1200)
    a = gp.array(x)
    assert gp.nanmax(a) == 7 and gp.nanmin(a) == -3 and np.isnan(gp.max(a))
    b = gp.array(np.where(np.isnan(x), BF16.type(0), x))
    found = [b.max(), b.any(), b.astype("f4").max(), b.min()]
    gp.evaluate(*found)
    assert [float(value) for value in found] == [7, 1, 7, -3]
    assert_same(b.reshape(60, -1).max(1) + b.reshape(60, -1).min(1), np.full(60, 4, BF16))
    y = (gp.ones((3, 20_000), BF16) * 2).reshape(-1)
    assert y.max() - y.sum() == BF16.type(2) - y.sum() < -100


@pytest.mark.parametrize("compare", ["less", "less_equal", "greater", "greater_equal"])
def test_a_choice_by_order_keeps_nan(driver, compare):
    x = np.tile(np.array([0, 1, np.nan, 2], BF16), 1500)
    y = np.tile(np.array([np.nan, 2, 1, np.nan], BF16), 1500)
    wanted = np.where(getattr(np, compare)(x, y), x, y)
    a, b = gp.array(x), gp.array(y)
    assert_same(gp.where(getattr(gp, compare)(a, b), a, b), wanted)

    @gp.jit
    def chosen(a, b):
        return gp.where(getattr(gp, compare)(a, b), a, b)

    assert_same(chosen(a, b), wanted)


def test_a_kernel_s_choice_keeps_nan(driver):
    if driver == "soft":
        pytest.skip("the driver has no branches")
    x, y = np.array([0, 1, np.nan, 2], BF16), np.array([np.nan, 2, 1, np.nan], BF16)

    @gp.kernel
    def lesser(a, b):
        return a if a < b else b

    assert_same(lesser(gp.array(x), gp.array(y)), np.where(x < y, x, y))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("shape", [(0,), (3,), (40_000,), (3, 4)])
def test_every_protocol_of_pickle_keeps_the_dtype(auto, protocol, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(BF16)
    buffers = []
    for given_out in ({}, {"buffer_callback": buffers.append} if protocol == 5 else {}):
        data = pickle.dumps(gp.array(x), protocol, **given_out)
        assert_same(pickle.loads(data, buffers=buffers), x)
    assert_same(pickle.loads(pickle.dumps(gp.array(x)[::-1], protocol)), x[::-1])


@pytest.mark.parametrize("value", [np.int64(3), np.float16(0.1), np.uint8(200), np.float64(1e300), True])
def test_masked_writes_cast_as_numpy_does(driver, value):
    x = np.arange(5000).astype(BF16)
    a = gp.array(x) + 1
    x = x + BF16.type(1)
    with np.errstate(over="ignore"):
        a[a > 7], x[x > 7] = value, value
    assert_same(a, x)


@pytest.mark.parametrize("limit", [np.int64(2), np.float16(2), np.float32(2), BF16.type(2), 2, 2.5])
def test_one_limit_promotes_as_numpy_does(driver, limit):
    x = np.array([1, 2, 3], BF16)
    wanted = np.clip(x, limit, None)
    found = np.asarray(gp.clip(gp.array(x), limit, None))
    assert found.dtype == wanted.dtype and (found == wanted).all()
