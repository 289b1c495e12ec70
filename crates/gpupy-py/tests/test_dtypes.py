"""Every numeric dtype beside NumPy: promotion, values to the bit, refusals."""

import itertools
import operator
import warnings

import numpy
import numpy as np
import pytest
import table
from hypothesis import given
from hypothesis import strategies as st
from pairs import check, outcome

import gpupy

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
REALS = ["bool", *INTEGERS, "float16", "float32", "float64"]
ALL = [*REALS, "complex64", "complex128"]
UNARY = (
    "absolute ceil conjugate deg2rad degrees fabs floor invert isfinite isinf isnan logical_not "
    "negative positive rad2deg radians reciprocal rint sign signbit sqrt square trunc"
).split()
BINARY = (
    "add bitwise_and bitwise_or bitwise_xor copysign divide equal floor_divide fmax fmin fmod greater "
    "greater_equal left_shift less less_equal logical_and logical_or logical_xor maximum minimum "
    "multiply not_equal remainder right_shift subtract"
).split()
# Complex products and quotients are rounded once or twice, as the compiler and the machine like it.
FUSED = {"multiply", "divide", "square", "reciprocal", "absolute", "sign"}


@pytest.fixture(params=["cpu", "gl"])
def everywhere(request):
    """A driver that has every dtype, and one that leaves most of them to the one beside it."""
    if not any(row["name"] == request.param and row["starts"] for row in gpupy.drivers()):
        pytest.skip("the driver does not start")
    gpupy._gpupy.reconfigure(request.param, strict=False)
    gpupy.reset_stats()


def values(dtype):
    """Small numbers, the ends of the range, and what is not a number."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([True, False, True, True, False, False] * 2)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        most = [ends.max, ends.min, ends.max - 1, ends.max // 2]
        return np.array([0, 1, 2, 3, 7, 12, 100, 33, *most], dtype)
    with np.errstate(over="ignore"):
        reals = np.array([0.0, -0.0, 1, -2.5, 3, 1e20, -1e-10, np.inf, -np.inf, np.nan, 0.5, -7])
        if dtype.kind == "f":
            return reals.astype(dtype)
        return (np.array([0, 1, -2, 3, 4, 0.5, -7, 8, 9, 1e3, -0.25, 6]) + 1j * np.arange(-6, 6)).astype(
            dtype
        )


def array(xp, dtype, backwards=False):
    found = values(dtype)
    return xp.array(found[::-1] if backwards else found)


def near(dtype):
    """A few units in the last place, relative."""
    return 8 * float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0


def close(function, context):
    """Equal but for the last places, with NumPy's dtype and shape."""
    (got, refusal), (want, refused) = outcome(function, gpupy), outcome(function, numpy)
    assert refusal == refused, context
    if want is not None:
        assert (got.dtype, got.shape) == (want.dtype, want.shape), context
        bound = near(want.dtype)
        np.testing.assert_allclose(np.asarray(got), want, rtol=bound, err_msg=context)


def compare(function, name, *dtypes):
    fused = name in FUSED and any(np.dtype(dtype).kind == "c" for dtype in dtypes)
    # Which zero NumPy's fmax gives depends on the place in the array.
    (close if fused or name in ("fmax", "fmin") else check)(function, f"{name} {dtypes}")


@pytest.mark.parametrize("name", UNARY)
def test_unary_ufuncs_are_numpys(everywhere, name):
    for dtype in ALL:
        compare(lambda xp: getattr(xp, name)(array(xp, dtype)), name, dtype)


@pytest.mark.parametrize("name", BINARY)
def test_binary_ufuncs_are_numpys(everywhere, name):
    for a, b in itertools.product(ALL, ALL):
        compare(lambda xp: getattr(xp, name)(array(xp, a), array(xp, b, True)), name, a, b)


def test_what_is_computed_in_a_dtype_is_lazy(everywhere):
    for dtype in ALL:
        a, b = array(gpupy, dtype), array(gpupy, dtype, True)
        assert (a + a)._lazy and (a == b)._lazy and a[::2]._lazy and a.astype("float64")._lazy
        assert gpupy.where(a != b, a * a, a)._lazy and (a < b)._lazy and abs(a)._lazy
        assert a.real._lazy and a.imag._lazy and gpupy.isnan(a)._lazy and (a / a)._lazy
    assert gpupy.stats().blocks_evaluated == gpupy.stats().fallbacks == 0


def test_a_float64_program_is_one_kernel():
    gpupy._gpupy.reconfigure("cpu")
    gpupy.reset_stats()
    x = gpupy.linspace(0, 1, 1000)
    y = gpupy.arange(1000)
    numpy.asarray(gpupy.sqrt(x * x + 1) / (y + 2) - x)
    assert gpupy.stats().launches == 1 and gpupy.stats().fallbacks == 0


SCALARS = [
    *(0, 3, -2, 2**40, 2**63, -(2**63), 2**64 - 1, 2**70, 2.5, float("nan"), True, 1 + 2j),
    *(np.float16(1.5), np.float32(1.5), np.float64(1e300), np.int8(-4), np.int64(5), np.uint8(200)),
    *(np.uint64(2**63), np.complex64(1j), np.complex128(2), np.bool(False), np.longlong(3)),
]
OPERATORS = [
    *(operator.add, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.sub),
    *(operator.lt, operator.ge, operator.eq, operator.and_, operator.lshift),
]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_scalars_promote_as_numpys(everywhere, op):
    name = {"mul": "multiply", "truediv": "divide"}.get(op.__name__, op.__name__)
    for dtype, scalar in itertools.product(ALL, SCALARS):
        fused = name in FUSED and (np.dtype(dtype).kind == "c" or np.iscomplexobj(scalar))
        beside = close if fused else check
        beside(lambda xp: op(array(xp, dtype), scalar), f"{dtype} {name} {scalar!r}")
        beside(lambda xp: op(scalar, array(xp, dtype)), f"{scalar!r} {name} {dtype}")


def test_casts_are_numpys(everywhere):
    for a, b in itertools.product(ALL, ALL):
        floats = np.dtype(a).kind == "f" and np.dtype(b).kind in "iu"
        # Numbers that do not fit differ between machines in NumPy too.
        part = (
            slice(2, 5, 2) if floats and np.dtype(b).kind == "u" else slice(2, 5) if floats else slice(None)
        )
        check(lambda xp: array(xp, a)[part].astype(b), f"{a} to {b}")


def test_in_place_operators_refuse_what_numpys_refuse(everywhere):
    for a, b in itertools.product(ALL, [*ALL, 1, 1.5, 1j, True]):
        for op in (operator.iadd, operator.itruediv, operator.iand):

            def function(xp):
                x = array(xp, a)
                y = array(xp, b) if isinstance(b, str) else b
                same = op(x, y)
                assert same is x
                return x

            context = f"{a} {op.__name__} {b}"
            complex_ = op is operator.itruediv and "complex" in a
            (close if complex_ else check)(function, context)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "ptp", "var"])
def test_reductions_have_numpys_dtypes_and_values(everywhere, name):
    small = np.arange(24).reshape(2, 3, 4) % 5
    for dtype, axis, keepdims in itertools.product(ALL, [None, 0, -1, (0, 2)], [False, True]):

        def function(xp, dtype=dtype, axis=axis, keepdims=keepdims):
            return getattr(xp, name)(xp.asarray(small.astype(dtype)), axis=axis, keepdims=keepdims)

        exact = name not in ("mean", "var") and "complex" not in dtype
        context = f"{name} {dtype} {axis} {keepdims}"
        if exact:
            check(function, context)
        else:
            got, want = function(gpupy), function(numpy)
            assert got.dtype == want.dtype and got.shape == want.shape, context
            np.testing.assert_allclose(np.asarray(got), want, rtol=near(want.dtype), err_msg=context)
    for dtype, wanted in itertools.product(ALL, ["int64", "float32", "float64", "uint8"]):
        if name in ("sum", "prod"):
            function = lambda xp: getattr(xp.asarray(small.astype(dtype)), name)(axis=1, dtype=wanted)
            check(function, f"{name} of {dtype} as {wanted}")
    for dtype in ALL:
        check(lambda xp: getattr(xp.zeros((0, 3), dtype), name)(axis=0), f"{name} of no {dtype}")


def test_powers_of_integers_are_numpys(everywhere):
    for dtype in INTEGERS:
        for exponent in [0, 1, 2, 3, 5, 10, 63, -1, np.uint8(3), np.int64(4), 2.0, 0.5, 300]:
            if isinstance(exponent, float):
                close(lambda xp: xp.arange(1, 9, dtype=dtype) ** exponent, f"{dtype} ** {exponent}")
            else:
                check(lambda xp: xp.arange(-3, 9).astype(dtype) ** exponent, f"{dtype} ** {exponent}")
        check(lambda xp: xp.arange(5, dtype=dtype) ** xp.arange(5, dtype=dtype), dtype)
        check(lambda xp: 2 ** xp.arange(5, dtype=dtype), dtype)


def test_scalars_of_every_dtype_serve_as_numpys(everywhere):
    uses = {
        "repr": repr,
        "hash": hash,
        "int": int,
        "float": float,
        "complex": complex,
        "bool": bool,
        "item": lambda s: s.item(),
        "index": operator.index,
        "nbytes": lambda s: s.nbytes,
        "is": lambda s: isinstance(s, (np.integer, np.floating, np.complexfloating, float)),
        "add": lambda s: s + 1,
        "key": lambda s: {3: "x"}.get(s),
    }
    for dtype, (name, use) in itertools.product(ALL, uses.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(lambda xp: use(xp.array([1, 3], dtype)[1]), f"{name} {dtype}")


def written(a, value):
    a[1] = value
    return a


def with_part(a, name, value):
    setattr(a, name, value)
    return a


CALLS = {
    "arange": lambda xp: xp.arange(5),
    "arange big": lambda xp: xp.arange(2**62, 2**62 + 9, 2),
    "arange float": lambda xp: xp.arange(0.1, 3, 0.3),
    "arange down": lambda xp: xp.arange(10, -10, -3),
    "linspace": lambda xp: xp.linspace(-1, 2, 7),
    "linspace open": lambda xp: xp.linspace(0, 1, 7, endpoint=False),
    "linspace step": lambda xp: list(xp.linspace(0, 1, 7, retstep=True)),
    "linspace int": lambda xp: xp.linspace(0, 10, 7, dtype=int),
    "linspace one": lambda xp: xp.linspace(3, 4, 1),
    "linspace same": lambda xp: xp.linspace(3, 3, 5),
    "linspace array": lambda xp: xp.linspace(xp.zeros(2), 4, 3),
    "eye": lambda xp: xp.eye(3, 4, 1),
    "eye F": lambda xp: xp.eye(3, 4, -1, order="F"),
    "identity": lambda xp: xp.identity(3),
    "tri": lambda xp: xp.tri(3, 5, -1),
    "tril": lambda xp: xp.tril(xp.arange(12).reshape(3, 4), -1),
    "triu": lambda xp: xp.triu(xp.arange(24.0).reshape(2, 3, 4), 1),
    "triu of a row": lambda xp: xp.triu(xp.arange(3)),
    "tril of a list": lambda xp: xp.tril([[1, 2], [3, 4]]),
    "zeros": lambda xp: xp.zeros((2, 3)),
    "full": lambda xp: xp.full(3, 2**40),
    "ones_like": lambda xp: xp.ones_like(xp.arange(3)),
    "indices": lambda xp: xp.indices((2, 3)),
    "mean as float16": lambda xp: xp.arange(9).mean(dtype="float16"),
    "mean of float16": lambda xp: xp.full(9, 60000, "float16").mean(),
    "round 2": lambda xp: xp.round(xp.array([0.125, 2.675, -1e17, np.inf]), 2),
    "round -1": lambda xp: xp.round(xp.array([25.0, 14.9]), -1),
    "round int": lambda xp: xp.array([3, 4]).round(),
    "view": lambda xp: xp.array([1.0, -0.0]).view(np.int64),
    "view wider": lambda xp: xp.arange(4, dtype="int8").view("int32"),
    "real": lambda xp: xp.array([1 + 2j, 3]).real,
    "imag": lambda xp: xp.array([1 + 2j, 3]).imag,
    "imag of real": lambda xp: xp.array([1.0, 3]).imag,
    "real function": lambda xp: xp.real(xp.array([1 + 2j, 3])),
    "imag function": lambda xp: [xp.imag(xp.array([1.0, 3])), xp.imag([1j, 2])],
    "real of a number": lambda xp: xp.real(3.5),
    "angle": lambda xp: xp.angle(xp.array([1 + 1j, -3, 1j])),
    "angle of reals": lambda xp: xp.angle(xp.array([1.0, -3])),
    "angle in degrees": lambda xp: xp.angle(xp.array([1 + 1j, 4j]), deg=True),
    "conj": lambda xp: xp.array([1 + 2j, 3]).conj(),
    "where": lambda xp: xp.where(xp.array([True, False]), 1j, xp.arange(2)),
    "clip": lambda xp: xp.clip(xp.arange(9), 2, 6),
    "divmod": lambda xp: list(divmod(xp.array([7, -7]), 4)),
    "float divmod": lambda xp: list(divmod(xp.array([7.5, -7.5]), 4)),
    "divmod function": lambda xp: list(xp.divmod(xp.array([7, -7]), xp.array([2, 0]))),
    "divmod of a scalar": lambda xp: list(divmod(10, xp.array([7, -7]))),
    "tolist": lambda xp: xp.array([1, 2], "uint64").tolist(),
    "bytes": lambda xp: xp.array([1, 2], "int16").tobytes(),
    "set": lambda xp: written(xp.arange(3), 2.9),
    "set wrong": lambda xp: xp.arange(3, dtype="uint8").__setitem__(1, 300),
    "set complex": lambda xp: written(xp.zeros(3, complex), 2 + 1j),
    "set real": lambda xp: with_part(xp.array([1j, 2]), "real", 7),
    "set imag": lambda xp: with_part(xp.array([1j, 2]), "imag", [7, 8]),
    "dates": lambda xp: xp.array(["2020-01-01"], "datetime64[D]") + 1,
    "objects": lambda xp: xp.array([1, "x"], object),
    "text": lambda xp: xp.array(["a", "b"]),
    "longdouble": lambda xp: xp.ones(2, np.longdouble) * 3,
    "big endian": lambda xp: (xp.ones(2, ">f8") * 3).astype(float),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_numpys_give(everywhere, name):
    check(CALLS[name], name)


def test_comparisons_know_numbers_that_a_dtype_does_not_hold(everywhere):
    ops = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
    for op, dtype, number in itertools.product(ops, INTEGERS, [300, -300, 2**63, -(2**63), 2**64 - 1]):
        check(lambda xp: op(array(xp, dtype), number), f"{dtype} {op.__name__} {number}")
        check(lambda xp: op(number, array(xp, dtype)), f"{number} {op.__name__} {dtype}")
    assert gpupy.stats().fallbacks == 0


FUNCTIONS = table.ufuncs(arity=1, exact=False)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_float64_and_float16_are_near_numpys(everywhere, name):
    end = 1 if name in ("arccos", "arcsin", "arctanh") else 9
    x = np.linspace(1 if name == "arccosh" else 0.01, end, 200)
    for dtype in ("float64", "float16", "int8", "int64"):
        with np.errstate(all="ignore"):
            got, want = (getattr(xp, name)(xp.asarray(x.astype(dtype))) for xp in (gpupy, numpy))
            assert got.dtype == want.dtype
            exact = getattr(np, name)(x.astype(dtype).astype(np.longdouble))
            distance = abs(np.asarray(got) - exact) / np.spacing(abs(want))
        assert distance[np.isfinite(want)].max() <= FUNCTIONS[name], dtype
    assert gpupy.stats().fallbacks == 0


NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.sampled_from([np.inf, -np.inf, np.nan, 0.5, -1.5, 100.0, 127, 255, 2**31, -(2**15)]),
)
VIEWS = {
    "whole": lambda a: a,
    "backwards": lambda a: a[::-1],
    "every other": lambda a: a[:, ::2],
    "transposed": lambda a: a.T,
    "row": lambda a: a[1],
    "element": lambda a: a[1, 2],
    "without axes": lambda a: a[1, 2, ...],
}


OPERANDS = st.tuples(
    st.sampled_from(REALS),
    st.lists(NUMBERS, min_size=12, max_size=12),
    st.sampled_from(sorted(VIEWS)),
)


@given(st.sampled_from([*BINARY, "add", "multiply", "where", "clip"]), OPERANDS, OPERANDS)
def random_operation(name, left, right):
    operands, sources = (left, right), []
    for dtype, numbers, _ in operands:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sources.append(np.array(numbers, float).reshape(3, 4).astype(dtype))

    def function(xp):
        x, y = (VIEWS[o[2]](xp.array(s)) for o, s in zip(operands, sources, strict=True))
        if name == "where":
            return xp.where(x, y, x)
        if name == "clip":
            return xp.clip(x, y, 7)
        return getattr(xp, name)(x, y)

    # Which zero NumPy's fmax gives depends on the place in the array.
    (close if name in ("fmax", "fmin") else check)(function, f"{name} {operands}")


def test_random_operations_are_numpys():
    gpupy._gpupy.reconfigure("cpu")
    random_operation()


@pytest.mark.parametrize(
    "fields",
    [
        [("d", "M8[D]"), ("x", int)],
        [("t", "m8[s]")],
        [("o", object), ("x", int)],
        [("x", int), ("y", bool)],
        [("inner", [("d", "M8[h]"), ("y", "S3")]), ("x", "f4", (2,))],
        [("d", ("M8[D]", (2,)))],
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (2,), (2, 0), (1, 3)])
def test_records_go_to_numpy_with_their_fields(auto, fields, shape):
    ours = gpupy.zeros(shape, dtype=fields)
    wanted = np.zeros(shape, dtype=fields)
    for made in (np.asarray(ours), np.array(ours), np.asanyarray(ours)):
        assert type(made) is np.ndarray and made.dtype == wanted.dtype and made.shape == shape
        assert repr(made.tolist()) == repr(wanted.tolist())
