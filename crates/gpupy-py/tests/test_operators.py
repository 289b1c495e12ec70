"""Operators and ufuncs: NumPy's dtypes, shapes, bits and refusals."""

import itertools
import operator

import numpy
import pytest
import table
from pairs import check, outcome

import gpupy

FLOATS = [0.0, -0.0, 1.0, -2.5, 3.0, 1e30, -1e30, float("inf"), float("-inf"), float("nan"), 0.5, 7]
INTS = [0, 1, -1, 2, -7, 2**31 - 1, -(2**31), 12345, 3, -3, 31, 33]
BOOLS = [True, False] * 6
DTYPES = {"float32": FLOATS, "int32": INTS, "bool": BOOLS, "float64": FLOATS, "int64": INTS}
BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
    *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, divmod),
]
SCALARS = {
    "int": 3,
    "negative int": -2,
    "zero": 0,
    "huge int": 2**40,
    "float": 2.5,
    "nan": float("nan"),
    "bool": True,
    "float32": numpy.float32(1.5),
    "float64": numpy.float64(1.5),
    "int32": numpy.int32(-4),
    "int64": numpy.int64(5),
    "uint8": numpy.uint8(5),
    "numpy bool": numpy.bool(False),
    "complex": 1j,
    "none": None,
    "text": "x",
}


def array(xp, dtype, reverse=False):
    values = DTYPES[dtype][::-1] if reverse else DTYPES[dtype]
    return xp.array(values, dtype=dtype)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_operators_between_arrays_are_numpys(device, op):
    for a, b in itertools.product(DTYPES, DTYPES):
        check(lambda xp: op(array(xp, a), array(xp, b, True)), f"{a} {op.__name__} {b}")


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_operators_with_scalars_promote_as_numpys(device, op):
    for dtype, (name, scalar) in itertools.product(DTYPES, SCALARS.items()):
        check(lambda xp: op(array(xp, dtype), scalar), f"{dtype} {op.__name__} {name}")
        check(lambda xp: op(scalar, array(xp, dtype)), f"{name} {op.__name__} {dtype}")


@pytest.mark.parametrize("op", [operator.neg, operator.pos, abs, operator.invert])
def test_unary_operators_are_numpys(device, op):
    for dtype in DTYPES:
        check(lambda xp: op(array(xp, dtype)), dtype)


# Ufuncs that are no operation of the core but several.
EXACT = [
    *table.ufuncs(arity=1, exact=True),
    *"conjugate deg2rad degrees logical_not positive rad2deg radians reciprocal square".split(),
]
EXACT_BINARY = [*table.ufuncs(arity=2, exact=True), "logical_and", "logical_or", "logical_xor"]


@pytest.mark.parametrize("name", EXACT)
def test_exact_unary_ufuncs_are_numpys_to_the_bit(device, name):
    for dtype in DTYPES:
        check(lambda xp: getattr(xp, name)(array(xp, dtype)), f"{name} {dtype}")


@pytest.mark.parametrize("name", EXACT_BINARY)
def test_exact_binary_ufuncs_are_numpys_to_the_bit(device, name):
    for a, b in itertools.product(DTYPES, DTYPES):
        function = lambda xp: getattr(xp, name)(array(xp, a), array(xp, b, True))
        check(function, f"{name} {a} {b}")


# Bounds in ULP, and the intervals that operands are of where a function overflows or is undefined elsewhere.
FUNCTIONS = table.ufuncs(arity=1, exact=False)
FUNCTIONS_OF_TWO = table.ufuncs(arity=2, exact=False)
EVERYWHERE = (-1e30, 1e30)
INTERVALS = {
    "arccos": (-1, 1),
    "arccosh": (1, 1e30),
    "arcsin": (-1, 1),
    "arctanh": (-1, 1),
    "cosh": (-88, 88),
    "exp": (-80, 88),
    "exp2": (-120, 127),
    "expm1": (-80, 88),
    "log": (1e-30, 1e30),
    "log10": (1e-30, 1e30),
    "log1p": (-1, 1e30),
    "log2": (1e-30, 1e30),
    "sinh": (-88, 88),
    "tanh": (-88, 88),
}


def check_function(name, bound, *operands):
    got = getattr(gpupy, name)(*map(gpupy.array, operands))
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(*(x.astype(numpy.float64) for x in operands))
        rounded = want.astype(numpy.float32)
        distance = abs(numpy.asarray(got) - want) / abs(numpy.spacing(rounded)).astype(float)
    # Infinities and NaN, whose distance is NaN, and results that a device may flush are apart.
    special = ~numpy.isfinite(rounded)
    numpy.testing.assert_array_equal(numpy.asarray(got)[special], rounded[special])
    worst = numpy.where(special | (abs(rounded) < 1.2e-38), 0, distance)
    at = worst.argmax()
    assert worst[at] <= bound, f"{name}: {worst[at]} ULP at {[x[at] for x in operands]}"
    assert gpupy.stats().fallbacks == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_the_bound_of_their_row(device, name):
    least, most = INTERVALS.get(name, EVERYWHERE)
    close = numpy.linspace(max(least, -9), min(most, 9), 60)
    far = numpy.geomspace(1e-30, 1e30, 60)
    ends = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan]
    x = numpy.concatenate([close, far[far <= most], -far[-far >= least], ends])
    check_function(name, FUNCTIONS[name], x.astype(numpy.float32))


@pytest.mark.parametrize("name", FUNCTIONS_OF_TWO)
def test_functions_of_two_operands_are_within_the_bound_of_their_row(device, name):
    numbers = numpy.array([0, -0.0, 1, -1, 0.3, 2, -2, 3, 1e-10, 1e10, -7.5, 40, -41])
    numbers = numpy.concatenate([numbers, [numpy.inf, -numpy.inf, numpy.nan]])
    x, y = numpy.meshgrid(numbers.astype(numpy.float32), numbers.astype(numpy.float32))
    check_function(name, FUNCTIONS_OF_TWO[name], x.ravel(), y.ravel())


def test_powers_are_numpys_fast_paths(device):
    for exponent in [2, 2.0, 1, 1.0, 0, 0.0, -1, -1.0, 0.5]:
        check(lambda xp: array(xp, "float32") ** exponent, f"** {exponent}")
    check(lambda xp: array(xp, "int32") ** 2, "int ** 2")
    assert gpupy.stats().fallbacks == 0


def test_shapes_broadcast_or_are_refused_in_numpys_words(device):
    shapes = [(), (3,), (1,), (2, 3), (2, 1), (0,), (4,), (1, 1, 3), (2, 0), (5, 2, 3)]
    for a, b in itertools.product(shapes, shapes):
        check(
            lambda xp: xp.ones(a, dtype=xp.float32) + xp.full(b, 2, dtype=xp.float32),
            f"{a} + {b}",
        )


def test_in_place_operators_keep_identity_and_dtype(device):
    for dtype, (name, scalar) in itertools.product(DTYPES, SCALARS.items()):
        for op in (operator.iadd, operator.imul, operator.itruediv, operator.isub, operator.iand):

            def function(xp):
                a = b = array(xp, dtype)
                view = a[2:5]
                a = op(a, scalar)
                assert a is b
                assert xp.shares_memory(a, view)
                return [b, view]

            check(function, f"{dtype} {op.__name__} {name}")


def test_in_place_operators_between_arrays(device):
    for a, b in itertools.product(DTYPES, DTYPES):
        for op in (operator.iadd, operator.imul, operator.ipow):
            if op is operator.ipow and (a, b) != ("float32", "float64"):
                continue

            def function(xp):
                x = array(xp, a)
                x[::2] = op(x[::2], array(xp, b)[::2] if op is not operator.ipow else 2)
                return x

            check(function, f"{a} {op.__name__} {b}")
    check(lambda xp: operator.iadd(xp.zeros(3, xp.float32), xp.ones((2, 3), xp.float32)))
    check(lambda xp: operator.iadd(xp.zeros((2, 3), xp.float32), xp.ones(3, xp.float32)))


def test_out_takes_results_as_numpys(device):
    def function(xp, dtype, shape, out_shape):
        a = xp.full(shape, 3, dtype=xp.float32)
        out = xp.zeros(out_shape, dtype=dtype)
        result = xp.add(a, 1, out=out)
        assert result is out
        assert xp.multiply(a, 2, out) is out
        return out

    for dtype in ("float32", "float64", "int32", "bool"):
        check(lambda xp: function(xp, dtype, (3,), (3,)), dtype)
        check(lambda xp: function(xp, dtype, (3,), (2, 3)), dtype)
        check(lambda xp: function(xp, dtype, (2, 3), (3,)), dtype)
        check(lambda xp: function(xp, dtype, (1, 3), (3,)), dtype)


def test_out_may_be_an_operand(device):
    def function(xp):
        a = xp.arange(6, dtype=xp.float32)
        xp.add(a[:-1], a[1:], out=a[1:])
        return a

    check(function)


def test_numpy_functions_called_with_ours_give_ours(device):
    a = gpupy.arange(4, dtype=gpupy.float32)
    assert type(numpy.add(a, 1)) is gpupy.ndarray
    assert type(numpy.sqrt(a)) is gpupy.ndarray
    assert type(numpy.ones(4, numpy.float32) + a) is gpupy.ndarray
    assert type(numpy.ones(4) * a) is gpupy.ndarray
    assert type(numpy.concatenate([a, numpy.ones(4, numpy.float32)])) is gpupy.ndarray
    assert type(numpy.linalg.norm(a)) is not numpy.ndarray
    assert type(gpupy.add(numpy.ones(3), numpy.ones(3))) is gpupy.ndarray


def test_numpy_array_as_target_of_ours_stays_itself(device):
    def function(target):
        b = target
        b += gpupy.arange(3, dtype=gpupy.float32)
        return b

    target = numpy.zeros(3, numpy.float32)
    assert function(target) is target
    assert target.tolist() == [0, 1, 2]


def test_where_argument_leaves_the_rest_alone(device):
    def function(xp):
        a = xp.arange(5, dtype=xp.float32)
        out = xp.full(5, 9, dtype=xp.float32)
        xp.add(a, 1, out=out, where=a > 2)
        return out

    check(function)


def test_ufunc_methods_are_numpys(device):
    check(lambda xp: xp.add.reduce(xp.arange(5, dtype=xp.float32)))
    check(lambda xp: xp.maximum.reduce(xp.arange(6, dtype=xp.float32).reshape(2, 3)))
    check(lambda xp: xp.add.accumulate(xp.arange(5, dtype=xp.float32)))
    check(lambda xp: xp.multiply.outer(xp.arange(3, dtype=xp.float32), xp.ones(2, xp.float32)))
    check(lambda xp: [xp.add.nin, xp.add.nout, xp.add.__name__][2])

    def at(xp):
        a = xp.zeros(4, xp.float32)
        xp.add.at(a, [1, 1, 2], 1)
        return a

    check(at)


def test_unknown_operands_are_left_to_their_own_class(device):
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

        def __add__(self, other):
            return "mine"

    class Silent:
        __array_ufunc__ = None

    class Said:
        def __init__(self):
            # The class says nothing of it.
            self.__array_ufunc__ = None

        def __radd__(self, other):
            return type(other).__name__

    assert gpupy.ones(3, gpupy.float32) + Other() == "mine"
    for silent in (lambda xp: Silent() + xp.ones(3), lambda xp: Silent() > xp.ones(3)):
        assert outcome(silent, gpupy) == outcome(silent, numpy)
    check(lambda xp: xp.array((xp.ones(3) + Said()).tolist() == ["float"] * 3))
    assert outcome(lambda xp: xp.ones(3, xp.float32) + object(), gpupy)[1][0] == "TypeError"


def test_of_zeros_of_float16_clip_takes_the_one_that_numpys_takes():
    # Of other dtypes NumPy's choice depends on the machine.
    def results(xp):
        zero = xp.asarray(numpy.array([[0.0, 2.5, -0.0]], dtype="float16"))
        yield from (xp.clip(-zero, zero, None), xp.clip(zero, None, -zero), xp.clip(-zero, zero, zero))

    for got, want in zip(results(gpupy), results(numpy), strict=True):
        numpy.testing.assert_array_equal(numpy.signbit(numpy.asarray(got)), numpy.signbit(want))


def test_where_and_clip_promote_as_numpys(device):
    sides = {**SCALARS, **{d: d for d in DTYPES}}

    def value(xp, name):
        return array(xp, name) if name in DTYPES and name == sides[name] else sides[name]

    names = [n for n in sides if n not in ("complex", "none", "text")]
    for x, y in itertools.product(names, names):
        check(lambda xp: xp.where(array(xp, "bool"), value(xp, x), value(xp, y)), f"{x} {y}")
    check(lambda xp: xp.where(array(xp, "float32"), 1, 2))
    check(lambda xp: xp.where(xp.zeros((2, 1), bool), xp.ones(3, xp.float32), xp.ones(4)))
    for dtype in ("float32", "int32", "bool", "float64"):
        for low, high in itertools.product([None, 0, 1.5, float("nan"), -3], [None, 2, 2.5, -5]):
            check(lambda xp: xp.clip(array(xp, dtype), low, high), f"clip {dtype} {low} {high}")
