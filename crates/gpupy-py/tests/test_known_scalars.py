"""A scalar that is known leaves as NumPy's own, so that all code takes it for the number that it is."""

import datetime
import decimal
import fractions
import itertools
import json
import math
import random
import statistics
import struct
import time
import warnings

import numpy
import numpy as np
import pytest

import gpupy

DTYPES = "bool int8 uint8 int32 int64 uint64 float16 float32 float64 complex64 complex128".split()


def known(xp, dtype="float64"):
    """The number 3 as an element, from an iterator, and as results of reductions."""
    a = xp.array([[1, 3], [2, 0]], dtype)
    return [a[0, 1], a[0][1], list(a.ravel())[1], a.max(), xp.max(a[0]), a.ravel()[1:2].sum(dtype=dtype)]


def pending():
    """The number 3 as it comes out of a scope."""
    a = gpupy.array([1.0, 3.0] * 100_000)
    with gpupy.accelerator():
        return (a + gpupy.zeros(200_000))[1]


@pytest.fixture(autouse=True)
def as_users_have_it(auto):
    """Few elements are computed at once, on any driver."""


@pytest.mark.parametrize("dtype", DTYPES)
def test_its_class_is_numpys(dtype):
    for got, want in zip(known(gpupy, dtype), known(numpy, dtype), strict=True):
        assert type(got) is type(want) and got == want


def test_results_of_every_kind_have_numpys_class():
    a = gpupy.array([1.0, 2.0, 4.0])
    for s in (a.sum(), a.mean(), a.std(), a.var(), a @ a, gpupy.ptp(a), gpupy.median(a)):
        assert type(s) is np.float64
    assert type(a.argmax()) is np.int64
    assert type(gpupy.sqrt(a[1])) is type(gpupy.sin(a[1])) is type(a[1] + a[2]) is type(-a[1]) is np.float64


USES = {
    "json, as a key of defaults": lambda s: json.dumps({"m": s, "n": [s]}, default=float),
    "json": lambda s: json.dumps({"m": s}),
    "timedelta": lambda s: datetime.timedelta(seconds=s),
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "sleep": lambda s: time.sleep(s / 1e6),
    "math": lambda s: [math.sqrt(s), math.floor(s), math.hypot(s, s), math.isclose(s, 3), math.fsum([s, s])],
    "percent": lambda s: "%g %d %5.2f %s" % (s, s, s, s),
    "format": lambda s: f"{s} {s:.3f} {s!r} {s:>8}",
    "struct": lambda s: struct.pack("<df", s, s),
    "random": lambda s: (random.seed(s), random.random())[1],
    "round": lambda s: [round(s), round(s, 1), round(-s)],
    "numbers": lambda s: [int(s), float(s), complex(s), bool(s), hash(s)],
    "keys": lambda s: [{3: "x"}[s], {s: 1}[3], s in {3}],
    "statistics": lambda s: statistics.mean([s, 2.0, 4.0]),
    "fromhex": lambda s: s.hex(),
    "ratio": lambda s: s.as_integer_ratio(),
    "sorted": lambda s: sorted([5, s, 1]),
    "sum": lambda s: sum([s, s]),
    "match": lambda s: _matched(s),
}


ASK_FOR_A_FLOAT = ["json", "timedelta", "Decimal", "statistics"]


def _matched(s):
    match s:
        case float():
            return "a float"
    return "something else"


@pytest.mark.parametrize("name", USES)
def test_other_code_does_with_it_as_with_numpys(name):
    for got, want in zip(known(gpupy), known(numpy), strict=True):
        a, b = USES[name](got), USES[name](want)
        assert type(a) is type(b) and a == b


@pytest.mark.parametrize("name", sorted(set(USES) - {*ASK_FOR_A_FLOAT, "match"}))
def test_one_that_is_pending_does_as_numpys_but_where_a_float_itself_is_asked_for(name):
    s = pending()
    assert type(s) is gpupy.scalar
    assert USES[name](s) == USES[name](np.float64(3))


@pytest.mark.parametrize("name", ASK_FOR_A_FLOAT)
def test_one_that_is_pending_never_pretends_to_be_a_float(name):
    s = pending()
    with pytest.raises(TypeError):
        USES[name](s)
    assert type(s._value()) is np.float64


def test_a_function_of_one_has_the_bits_of_an_elements():
    a = gpupy.array(np.random.default_rng(0).uniform(-3, 3, 200))
    for name in ("sin", "exp", "tanh", "cbrt", "log1p"):
        function = getattr(gpupy, name)
        source = abs(a) if name == "log1p" else a
        whole = function(source)
        assert all(function(source[i]) == whole[i] for i in range(200))


@pytest.mark.parametrize(
    "name", ["sin", "exp", "tanh", "cbrt", "log1p", "arctan", "sqrt", "power", "arctan2"]
)
def test_a_function_of_pythons_numbers_has_the_bits_of_an_elements(name):
    function, more = getattr(gpupy, name), (1.7,) if name in ("power", "arctan2") else ()
    for values in (np.random.default_rng(0).uniform(0.1, 3, 200).tolist(), list(range(1, 20))):
        whole = function(gpupy.array(values), *more)
        for at, value in enumerate(values):
            number = function(value, *more)
            assert type(number) is np.float64 and number == whole[at]


def test_pythons_numbers_have_numpys_dtypes_and_warnings():
    calls = [
        (name, args)
        for name in (
            "add",
            "multiply",
            "maximum",
            "floor_divide",
            "power",
            "less",
            "arctan2",
            "hypot",
            "copysign",
        )
        for args in itertools.product((True, 3, -2, 2.5, 0, 0.0, 2**62, 2**63, 2**70, 1e300, 1j), repeat=2)
    ]
    calls += [
        (name, (value,))
        for name in (
            "negative",
            "absolute",
            "sqrt",
            "exp",
            "sign",
            "isnan",
            "floor",
            "invert",
            "reciprocal",
            "log",
        )
        for value in (True, 3, -2, 2.5, 0, -0.0, 2**63, 2**70, 1e300, math.inf, math.nan, 1j)
    ]
    for name, args in calls:
        found = []
        for xp in (numpy, gpupy):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    result = getattr(xp, name)(*args)
                    found.append((type(result), [str(it.message) for it in said], result))
                except (TypeError, ValueError, OverflowError) as error:
                    found.append((type(error), [], str(error)))
        (want, heard, value), (got, told, number) = found
        assert (got, told) == (want, heard), (name, args)
        if isinstance(value, np.floating) and not np.isnan(value):
            np.testing.assert_allclose(number, value, rtol=1e-13)
        else:
            assert number == value or np.isnan(value)


def test_what_numpy_says_of_a_number_is_said():
    a = gpupy.array([0.0, -1.0, 1e308])
    for call in (lambda: gpupy.log(a[0]), lambda: gpupy.sqrt(a[1]), lambda: a[2] * 10, lambda: a[1] / a[0]):
        with pytest.warns(RuntimeWarning):
            call()


def test_with_arrays_of_ours_it_gives_arrays_of_ours():
    a = gpupy.array([1.0, 2.0, 4.0])
    want = np.array([1.0, 2.0, 4.0])
    for name in "add subtract multiply true_divide power less greater_equal not_equal maximum".split():
        wanted = getattr(np, name)(want[1], want)
        for module in (gpupy, np):
            got = getattr(module, name)(a[1], a)
            assert isinstance(got, gpupy.ndarray) and got.tolist() == wanted.tolist()
    for got, wanted in ((a[1] * a, want[1] * want), (a[1] > a, want[1] > want), (a[1] - a, want[1] - want)):
        assert type(got) is gpupy.ndarray and got.tolist() == wanted.tolist()
    assert gpupy.stats().fallbacks == 0


@pytest.mark.parametrize(
    "dtype", "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()
)
def test_numbers_of_numpys_are_operands_and_elements_to_the_bit(dtype):
    kind = np.dtype(dtype)
    limits = np.iinfo(dtype) if kind.kind in "iu" else np.finfo(dtype)
    for value in (limits.min, limits.max, kind.type(limits.max) / kind.type(3), 1, 0):
        number = kind.type(value)
        a, b = gpupy.zeros((2, 2), dtype), np.zeros((2, 2), dtype)
        v, w = gpupy.zeros(3, dtype), np.zeros(3, dtype)
        for x in (a, b):
            x[1, 0] = number
        for x in (v, w):
            x[-1] = number
        assert numpy.asarray(a).tobytes() == b.tobytes() and numpy.asarray(v).tobytes() == w.tobytes()
        got, wanted = numpy.asarray(numpy.maximum(v, number)), np.maximum(w, number)
        assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()
        got, wanted = numpy.asarray(v == number), w == number
        assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, True])
def test_a_pending_truth_to_a_power_has_numpys_dtype(auto, exponent):
    found = [(xp.arange(70_000) > 5).any() ** exponent for xp in (np, gpupy)]
    assert found[0].dtype == found[1].dtype and found[0] == found[1]


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "f2", "f4", "f8", "c8", "c16"])
def test_a_number_has_the_bits_of_an_element(auto, dtype):
    numbers = np.array([0, 1, 0.3, 2.5, 7]).astype(dtype)
    for name in ("tanh", "exp", "sin", "log1p", "sqrt", "cbrt", "arctan", "negative", "square"):
        function = getattr(gpupy, name)
        for turn in range(40):  # as often as machine code is written
            number = numbers[turn % numbers.size]
            try:
                want = getattr(np, name)(number)
            except TypeError:
                break
            got = function(number)
            assert type(got) is type(want)
            alone = np.asarray(function(gpupy.asarray(np.full(3, number))))
            assert got.tobytes() == alone[:1].tobytes()
