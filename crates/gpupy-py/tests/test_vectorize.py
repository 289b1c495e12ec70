"""`vectorize` compiles functions of Python's numbers, with NumPy's results; NumPy runs all others.

Not here: random functions (``test_random_vectorize.py``).
"""

import concurrent.futures
import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import gpupy as gp
from gpupy._kernel import kernel

SOME = np.array([-3.5, -1.0, -0.25, 0.5, 2.0, 7.25])
WHOLE = np.arange(-6, 9)
POSITIVE = np.array([0.1, 0.5, 1.0, 2.5, 30.0])
SCALE = 3.0


def check(function, *arguments, exact=True, **options):
    """Asserts that a function is compiled, with the results of NumPy's vectorize as arrays of ours."""
    wanted = np.vectorize(function, **options)(*arguments)
    with gp.fallback("error"):
        ours = gp.vectorize(function, **options)(*map(ours_of, arguments))
    assert type(ours) is type(wanted) or not isinstance(wanted, tuple)
    ours, wanted = (given if isinstance(given, tuple) else (given,) for given in (ours, wanted))
    assert len(ours) == len(wanted)
    for own, want in zip(ours, wanted, strict=True):
        assert isinstance(own, gp.ndarray)
        assert (own.dtype, own.shape) == (want.dtype, want.shape)
        if exact:
            np.testing.assert_array_equal(own, want)
        else:
            np.testing.assert_allclose(own, want, rtol=8 * np.finfo(want.dtype).eps)


def ours_of(value):
    return gp.asarray(value) if isinstance(value, np.ndarray) else value


def refused(words, function, *arguments, **options):
    """That a call is NumPy's, and says why; gives NumPy's result or its error."""
    ours = gp.vectorize(function, **options)
    given = [ours_of(value) for value in arguments]
    with gp.fallback("error"), pytest.raises(gp.FallbackError, match=words):
        ours(*given)
    wanted = np.vectorize(function, **options)
    try:
        want = wanted(*arguments)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            ours(*given)
        assert str(caught.value) == str(error)
    else:
        np.testing.assert_array_equal(ours(*given), want)


def difference(a, b):
    if a > b:
        return a - b
    return a + b


def rectified(x):
    return x if x > 0 else 0


def scaled(x):
    return max(x, 0) * SCALE + (1 if x < 1 else 0)


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def escape(x, y, most=20):
    re = im = 0.0
    for n in range(most):
        if re * re + im * im > 4:
            return n
        re, im = re * re - im * im + x, 2 * re * im + y
    return most


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i2", "i1"])
def test_values_are_of_pythons_numbers(auto, dtype):
    x = SOME.astype(dtype)
    check(difference, x, x[::-1])
    check(rectified, x)
    check(scaled, x)
    check(lambda a, b: (a / (b * b + 1), a * b), x, 3)


def test_small_unsigned_numbers_do_not_wrap(auto):
    small = np.array([0, 1, 200, 255], np.uint8)
    check(lambda x: x - 300 if x > 300 else x, small)
    # Python's ints do not wrap, and the first one's dtype has no room for theirs.
    refused("does not fit", lambda x: x * 2, small, otypes="B")
    check(lambda x: x * 2, small, otypes="l")


def test_loops(auto):
    check(collatz, np.arange(1, 200))
    check(escape, SOME, SOME[::-1])
    check(escape, SOME[:, None], SOME, 5)


def test_a_loop_of_which_nobody_knows_the_end_stops_at_the_first_error(auto):
    def grows(n):
        while n > 0:
            n = n * 3
        return n

    compiled = gp.vectorize(lambda n: grows(n) if n > 0 else n)
    with gp.fallback("error"), pytest.raises(gp.FallbackError, match="raises an error"):
        compiled(gp.asarray(WHOLE))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: math.exp(-x) / (1 + math.exp(-x)),
        lambda x: math.log(x) + math.sqrt(x) - math.sin(x),
        lambda x: x**1.5 + x**-2,
        lambda x: np.log1p(x) * np.cos(x),
        lambda x: math.hypot(x, 2) + math.atan2(1, x) + math.log(x, 3),
    ],
)
def test_functions_are_within_their_bounds(auto, function):
    check(function, POSITIVE, exact=False)


@pytest.mark.parametrize(
    ("function", "at"),
    [
        (lambda x: 1 / x, 0.0),
        (lambda x: 7 // x, 0),
        (lambda x: 7.5 % x, 0.0),
        (lambda x: math.sqrt(x), -1.0),
        (lambda x: math.log(x), 0.0),
        (lambda x: math.exp(x), 1e3),
        (lambda x: math.acos(x / 8), 9.0),
        (lambda x: x**-1.5, 0.0),
        (lambda x: (x * 1e100) ** 2.0, 1e100),
        (lambda x: math.floor(x), np.nan),
        (lambda x: int(x), np.inf),
        (lambda x: 1 << x, -1),
    ],
)
def test_errors_are_pythons(auto, function, at):
    harmless = np.array([2, 3, 4], type(at))
    compiled = gp.vectorize(function)
    with gp.fallback("error"):
        compiled(gp.asarray(harmless))
    refused("Python raises an error", function, np.append(harmless, at).astype(type(at)))


def test_an_error_where_it_is_not_computed_is_none(auto):
    check(lambda x: 1 / x if x else 0.0, np.array([1.0, 0.0, 2.0]))
    check(lambda x: x > 0 and 1 / x > 1, np.array([1.0, 0.0, 0.5]))

    def root(x):
        return math.sqrt(x)

    check(lambda x: root(x) if x >= 0 else -root(-x), SOME, exact=False)


def test_ints_have_no_end(auto):
    large = np.array([3, 2**40, 2**62])
    check(lambda n: n * 2 - n if n < 2**41 else n, large)
    refused("Python raises an error", lambda n: n * n, large, otypes="d")
    refused("Python raises an error", lambda n: n + n + n, large, otypes="O")
    check(lambda n: n**3 % 1000, WHOLE)
    check(lambda n: (n << 3) ^ (n >> 1) | ~n, WHOLE)


def test_bools_are_ints_of_pythons(auto):
    check(lambda x, y: (x > 0) + (y > 0), SOME, SOME[::-1])
    check(lambda x: -x, np.array([True, False]), otypes="l")
    check(lambda x: x & True, np.array([True, False]))
    check(lambda x: not x, SOME)
    check(lambda x: x == 1 or x > 5, WHOLE)


def test_dtypes_are_those_of_the_first_element(auto):
    # The first one is an int, so that the others lose their fractions.
    check(lambda x: 0 if x < 0 else x, SOME)
    check(lambda x: x if x < 0 else 0, SOME)
    check(lambda x: x * 2, SOME.astype("f4"))
    check(lambda x: x, SOME, otypes=[np.float32])
    check(lambda x: (x, x > 0), SOME, otypes="d?")
    # Of float32 it is the dtype; the product is Python's, of more digits.
    check(lambda x: x * 1.1, SOME.astype("f4"))
    refused("does not fit", lambda x: x * 1e300, SOME, otypes="f")


def test_arguments(auto):
    def power_sum(x, c=2.0, *, by=1.0, over):
        return x * c + by if over else x

    x, c = gp.asarray(SOME), gp.asarray(SOME[::-1].copy())
    for args, kwargs, options in [
        ((x,), {"over": True}, {"excluded": {"over"}}),
        ((x, c), {"over": True, "by": c}, {"excluded": ["over"]}),
        ((x,), {"c": c, "over": False}, {"excluded": {"over"}}),
        ((x, 4.0), {"over": True}, {"excluded": {1, "over"}}),
        ((x,), {"over": gp.asarray(SOME > 0)}, {}),
    ]:
        with gp.fallback("error"):
            ours = gp.vectorize(power_sum, **options)(*args, **kwargs)
        hosts = [np.asarray(one) if isinstance(one, gp.ndarray) else one for one in args]
        named = {k: np.asarray(v) if isinstance(v, gp.ndarray) else v for k, v in kwargs.items()}
        np.testing.assert_array_equal(ours, np.vectorize(power_sum, **options)(*hosts, **named))


def test_defaults_and_globals_are_looked_up_again(auto):
    def shifted(x, by=1.0):
        return x + by

    compiled = gp.vectorize(shifted)
    with gp.fallback("error"):
        assert compiled(gp.ones(3))[0] == 2
        shifted.__defaults__ = (5.0,)
        assert compiled(gp.ones(3))[0] == 6
        compiled.pyfunc = lambda x: x - 1
        assert compiled(gp.ones(3))[0] == 0


def test_as_a_decorator(auto):
    @gp.vectorize
    def doubled(x):
        """Twice as much."""
        return x * 2

    @gp.vectorize(otypes=[float], cache=True)
    def halved(x):
        return x / 2

    assert doubled.__doc__ == "Twice as much." and halved.__name__ == "halved"
    with gp.fallback("error"):
        np.testing.assert_array_equal(doubled(gp.asarray(SOME)), SOME * 2)
        np.testing.assert_array_equal(halved(gp.asarray(SOME)), SOME / 2)


@pytest.mark.parametrize(
    ("words", "function"),
    [
        (r"`print\(x\)`", lambda x: print(x) or x),
        ("only Python's functions", math.sqrt),
        ("no expression of a kernel", lambda x: [x][0]),
        ("no function of a kernel", lambda x: hash(x)),
        ("no number|no kind in common", lambda x: "a" if x > 0 else "b"),
        ("gives arrays", lambda x: np.where(x > 0, x, -x)),
        ("float32", lambda x: np.float32(x) * x),
        ("no numbers of Python's", lambda x: complex(x, x)),
    ],
)
def test_what_is_not_compiled_says_why(auto, capsys, words, function):
    refused(words, function, SOME[3:])


def test_what_is_numpys_own(auto):
    refused("with a signature", lambda x: x.sum(), SOME, signature="(n)->()")
    empty = gp.vectorize(lambda x: x + 1, otypes="d")(gp.zeros((0, 3)))
    assert empty.shape == (0, 3) and empty.dtype == np.float64
    with pytest.raises(ValueError, match="size 0"):
        gp.vectorize(lambda x: x + 1)(gp.zeros(0))
    refused("not given|not those of the function", lambda x, y: x, SOME)
    refused("are NumPy's own", lambda x: x * 2, SOME.astype(complex))
    refused("are NumPy's own", lambda x: x * 2, SOME.astype(np.longdouble))
    refused("are NumPy's own", lambda x: x, np.array([1, 2], np.uint64))
    refused("shape", lambda x, y: x + y, SOME, WHOLE)
    refused("read as a whole", lambda x, c: x, SOME, SOME, excluded={1})
    with np.errstate(under="warn"):
        refused("too small", lambda x: x * 1e-200, SOME)


def test_warnings_are_numpys(auto):
    def warned(vectorize, x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = vectorize(lambda x: np.sqrt(x))(x)
        return np.asarray(result), [str(one.message) for one in caught]

    for points in (SOME[3:], SOME):
        ours, said = warned(gp.vectorize, gp.asarray(points))
        want, numpys = warned(np.vectorize, points)
        np.testing.assert_array_equal(ours, want)
        assert said == numpys


def test_order_in_memory_is_numpys(auto):
    for shape, of in [
        ((3, 4), lambda x: x.T),
        ((3, 4), lambda x: x[::2, 1:]),
        ((2, 3, 4), lambda x: x.transpose(1, 0, 2)),
    ]:
        x = np.arange(float(np.prod(shape))).reshape(shape)
        with gp.fallback("error"):
            ours = gp.vectorize(lambda a: a + 1)(of(gp.asarray(x)))
        want = np.vectorize(lambda a: a + 1)(of(x))
        np.testing.assert_array_equal(ours, want)
        assert ours.strides == want.strides


def test_few_elements_are_numpys_and_many_are_compiled(auto):
    add = gp.vectorize(lambda x: x + 1)
    small, large = gp.ones(10), gp.ones(40_000)
    for _ in range(3):
        add(small)
    before = sum(count for *_, count in gp._fallback.policy.sites())
    np.testing.assert_array_equal(add(large), 2)
    assert sum(count for *_, count in gp._fallback.policy.sites()) == before
    add(small)
    assert sum(count for *_, count in gp._fallback.policy.sites()) == before + 1


def test_calls_rest_after_errors(auto):
    invert = gp.vectorize(lambda x: 1 / x)
    zeros = gp.concatenate([gp.ones(40_000), gp.zeros(1)])
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            invert(zeros)
    np.testing.assert_array_equal(invert(gp.ones(40_000)), 1)


def test_it_is_pickled_and_copied_as_numpys(auto):
    compiled = gp.vectorize(difference)
    for one in (compiled, pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        with gp.fallback("error"):
            np.testing.assert_array_equal(one(gp.ones(3), 2), 3)


def test_what_was_refused_is_not_tried_again(auto, monkeypatch):
    tried = []
    monkeypatch.setattr(kernel, "read", lambda function: tried.append(function))
    text = gp.vectorize(lambda x: len(str(x)))
    for _ in range(3):
        text(gp.ones(40_000))
    assert len(tried) == 1


def test_each_thread_gets_its_results(auto):
    add = gp.vectorize(collatz)
    given = [np.arange(1, 30_000 + k) for k in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for ours, n in zip(pool.map(lambda n: np.asarray(add(gp.asarray(n))), given), given, strict=True):
            assert len(ours) == len(n) and ours[26] == 111


@pytest.mark.parametrize("size", [1, 2, 511, 512, 513, 16_383, 16_384, 16_385, 70_000])
def test_sizes_around_thresholds(auto, size):
    compiled = gp.vectorize(rectified)
    x = np.linspace(-1, 1, size)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(gp.asarray(x)), np.vectorize(rectified)(x))


def test_what_changes_without_a_trace_is_read_each_time(auto):
    class Options:
        scale = 2.0

        @property
        def counted(self):
            return 1.0

    options, flags = Options(), []
    scaled = gp.vectorize(lambda x: x * options.scale)
    with gp.fallback("error"):
        assert scaled(gp.ones(3))[0] == 2
        options.scale = 5.0
        assert scaled(gp.ones(3))[0] == 5
    refused("may do something", lambda x: x * options.counted, SOME)
    refused("is true is not known", lambda x: x if flags else -x, SOME)
    refused("no numbers", lambda x: x if flags == () else -x, SOME)


def test_a_source_that_is_not_the_functions_is_not_compiled(auto, tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x + 1\n")
    names = {}
    exec(compile(path.read_text(), path, "exec"), names)
    path.write_text("def f(x):\n    return x + 2\n")
    refused("not to be had", names["f"], SOME)
