"""Compiled functions: at each point the function's result for NumPy's scalars.

Not here: names behind loops, ends of ranges, arguments by name (``test_kernel_names.py``), random functions
(``test_random_kernels.py``), what is refused (``test_refused_kernels.py``).
"""

import functools
import math
import pickle
import threading
import types
import warnings

import numpy as np
import pytest

import gpupy as gp

SOME = np.array([-3.5, -1.0, -0.0, 0.0, 0.5, 2.0, 7.25, 1e3])
WHOLE = np.arange(-6, 9)


def by_point(function, *arguments):
    """A function's results for each point's NumPy scalars; a list of arrays where it returns tuples."""
    arrays = np.broadcast_arrays(*arguments)
    points = zip(*(array.ravel() for array in arrays), strict=True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = [function(*point) for point in points]
    shape = arrays[0].shape
    if given and isinstance(given[0], tuple):
        return [np.array(part).reshape(shape) for part in zip(*given, strict=True)]
    return [np.array(given).reshape(shape)]


def check(function, *arguments, exact=True):
    """Asserts that a kernel has its function's results, with the same dtype."""
    ours = gp.kernel(function)(*map(gp.asarray, arguments))
    wanted = by_point(function, *arguments)
    ours = ours if isinstance(ours, tuple) else (ours,)
    assert len(ours) == len(wanted)
    for own, want in zip(ours, wanted, strict=True):
        assert isinstance(own, gp.ndarray)
        assert own.dtype == want.dtype
        if exact or own.dtype.kind != "f":
            np.testing.assert_array_equal(own, want)
        else:
            np.testing.assert_allclose(own, want, rtol=8 * np.finfo(own.dtype).eps)


def has_loops(driver):
    """Drivers that have them: the reference driver does one operation at a time."""
    return driver != "soft"


@pytest.fixture
def looping(driver):
    if not has_loops(driver):
        pytest.skip("the driver has no loops")
    return driver


def branches(x):
    if x > 1:
        y = x * 2
    elif x > 0:
        y = -x
    else:
        return x - 1
    return y + 1


def early(x):
    if x < 0:
        return x
    x = x / 2
    if x > 1:
        return x * x
    return x + 100


def conditional(x, y):
    return (x if x < y else y) if not x == 2 else x + y


def chained(x):
    return -1 < x <= 2 != x


def truths(x, y):
    return (x > 0 and y > 0) or not (x < y)


def rest(x):
    a, (b, c) = x + 1, (x * 2, 3.0)
    a, b = b, a
    return a, b, c


def extremes(x, y):
    return min(x, y), max(x, y, np.float32(1.5)), abs(x)


@pytest.mark.parametrize("function", [branches, chained])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_statements(driver, function, dtype):
    check(function, SOME.astype(dtype))


@pytest.mark.parametrize("function", [early, rest])
def test_statements_of_several_dtypes(auto, function):
    check(function, SOME.astype("f4"))
    check(function, SOME)


@pytest.mark.parametrize("function", [conditional, truths, extremes])
def test_expressions_of_two_arguments(driver, function):
    check(function, SOME.astype("f4"), SOME[::-1].astype("f4"))


def test_calls_of_ufuncs_and_of_math(auto):
    def ufuncs(x):
        return np.sqrt(np.abs(x)), np.sin(x) * np.float32(2), np.where(x > 0, x, 0), np.clip(x, -1, 1)

    def of_math(x):
        return math.exp(-abs(x) / 100), math.floor(x), math.hypot(x, 3), math.pi * x, math.isinf(x)

    check(ufuncs, SOME.astype("f4"), exact=False)
    check(of_math, SOME, exact=False)


def test_pythons_numbers_are_weak(auto):
    def weak(x):
        n, y = 1, 0.5
        n = n + 2
        return x * y, x + n, n, y * n

    for dtype in "f4 f8 i1 i4 u1 ?".split():
        check(weak, np.array([0, 1, 1, 0]).astype(dtype))


def test_kinds_that_meet_promote(auto):
    def mixed(x):
        y = np.float32(1) if x > 0 else 2
        z = 1
        if x > 3:
            z = 0.5
        return y, z

    ours = gp.kernel(mixed)(gp.asarray(SOME))
    assert [own.dtype for own in ours] == [np.float32, np.float64]
    np.testing.assert_array_equal(ours[0], np.where(SOME > 0, 1, 2))
    np.testing.assert_array_equal(ours[1], np.where(SOME > 3, 0.5, 1))


def countdown(n):
    k = np.int32(0)
    while n > 0:
        n = n - 2
        k += 1
        if k == 3:
            break
    else:
        k = k + 100
    return k


def skips(n):
    total = np.int32(0)
    for i in range(2, 12, 3):
        if i == n:
            continue
        total += np.int32(i)
        if total > 15:
            return total
    total -= np.int32(1000)
    return total


def nested(n):
    total = np.int32(0)
    for i in range(4):
        for j in range(i):
            if j == n:
                break
            total += np.int32(i * j + 1)
        if total > n + np.int32(7):
            break
    return total


def backwards(n):
    last = np.int32(-1)
    for i in range(5, n, -2):
        last = np.int32(i)
    return last


@pytest.mark.parametrize("function", [countdown, skips, nested, backwards])
def test_loops(looping, function):
    check(function, WHOLE.astype(np.int32))


def test_a_loop_whose_end_nobody_knows(looping):
    def collatz(n):
        k = np.int32(0)
        while n != 1:
            n = n // np.int32(2) if n % np.int32(2) == 0 else np.int32(3) * n + np.int32(1)
            k += np.int32(1)
        return k

    check(collatz, np.arange(1, 400, dtype=np.int32))


def test_a_loop_is_longer_than_what_a_device_runs(looping):
    def count(n, step):
        k = np.int32(0)
        for _ in range(300):
            i = np.int32(0)
            while i < n:
                i = i + step
                k = k + np.int32(1)
        return k

    kernel = gp.kernel(count)
    given = np.array([0, 1, 5, 400], dtype=np.int32)
    # 120,000 iterations at the last point.
    np.testing.assert_array_equal(kernel(gp.asarray(given), np.int32(1)), 300 * given)


def test_a_loop_that_is_bounded_is_recorded(looping):
    @gp.kernel
    def powers(x):
        y = x
        for _ in range(5):
            if y > 100:
                break
            y = y * x
        return y

    x = np.arange(1, 40, dtype=np.float32)
    given = gp.asarray(x)
    gp.evaluate(given)
    gp.reset_stats()
    y = powers(given + np.float32(1)) * np.float32(2)
    assert gp.stats()["launches"] == 0
    np.testing.assert_array_equal(y, by_point(powers.__wrapped__, x + np.float32(1))[0] * 2)
    assert gp.stats()["launches"] == 1


def helper(x, scale=2):
    if x > 1:
        return x * scale
    return -x


@gp.kernel
def halves(n):
    k = np.int32(0)
    while n > 1:
        n = n // np.int32(2)
        k += np.int32(1)
    return k


def test_functions_call_functions(driver):
    def calls(x):
        return helper(helper(x), 3) + helper(x)

    check(calls, SOME.astype("f4"))


def test_kernels_with_loops_are_called_in_loops(looping):
    def total(n):
        k = np.int32(0)
        for i in range(1, 9):
            if halves(n) > np.int32(i):
                k += halves(n + np.int32(i))
        return k

    def by_scalars(n):
        k = np.int32(0)
        for i in range(1, 9):
            if halves.__wrapped__(n) > np.int32(i):
                k += halves.__wrapped__(n + np.int32(i))
        return k

    given = np.arange(0, 70, 3, dtype=np.int32)
    ours = gp.kernel(total)(gp.asarray(given))
    np.testing.assert_array_equal(ours, by_point(by_scalars, given)[0])


SCALE = np.float32(2)


def test_what_is_outside_is_looked_up_again(driver, monkeypatch):
    offset = np.float32(1)

    @gp.kernel
    def scaled(x):
        return x * SCALE + offset

    x = gp.asarray(SOME.astype("f4"))
    np.testing.assert_array_equal(scaled(x), SOME.astype("f4") * 2 + 1)
    monkeypatch.setitem(globals(), "SCALE", np.float32(5))
    np.testing.assert_array_equal(scaled(x), SOME.astype("f4") * 5 + 1)
    offset = np.float32(3)
    np.testing.assert_array_equal(scaled(x), SOME.astype("f4") * 5 + 3)


def test_calls_are_those_of_a_ufunc(driver):
    @gp.kernel
    def plus(x, y=2):
        """Adds."""
        return x + y

    assert plus.__name__ == "plus" and plus.__doc__ == "Adds." and plus.nin == 2
    a, b = np.arange(3, dtype="f4"), np.arange(2, dtype="f4")[:, None]
    np.testing.assert_array_equal(plus(gp.asarray(a), b), a + b)
    np.testing.assert_array_equal(plus(a), a + 2)
    assert plus(a).dtype == np.float32
    np.testing.assert_array_equal(plus(y=a, x=np.float32(1)), a + 1)
    np.testing.assert_array_equal(plus(gp.asarray(a)[::-2], 1), a[::-2] + 1)
    out = gp.zeros(3, "f4")
    assert plus(a, out=out) is out
    np.testing.assert_array_equal(out, a + 2)
    plus(a, 10, out=out, where=np.array([True, False, True]))
    np.testing.assert_array_equal(out, [10, 3, 12])
    assert plus(np.zeros((0, 3), "f4"), 1).shape == (0, 3)
    one = plus(np.float32(1), np.float32(2))
    assert one == 3 and np.ndim(one) == 0 and one.dtype == np.float32
    with pytest.raises(ValueError, match="broadcast"):
        gp.evaluate(plus(np.zeros(2, "f4"), np.zeros(3, "f4")))
    with pytest.raises(TypeError, match="argument"):
        plus()


def test_a_dtype_is_computed_in(auto):
    times = gp.kernel(lambda x, y: x * y)
    given = np.full(2, 200, np.uint8)
    assert times(given, given, dtype="i4").tolist() == [40000, 40000]
    assert times(gp.ones(2, "f4"), 2, dtype="f8").dtype == np.float64
    with pytest.raises(TypeError, match="same kind"):
        times(np.ones(2), 1, dtype="i4")


def test_lambdas_wherever_they_stand(driver):
    both = [gp.kernel(lambda x: x if x > 1 else -x), gp.kernel(lambda x: 2 * x if x > 1 else x)]
    assert [kernel(gp.ones(1, "f4"))[0] for kernel in both] == [-1, 1]
    assert gp.reduction(lambda x: x, lambda x, y: x if x > y else y)(gp.arange(5, dtype="f4")) == 4
    outer = gp.kernel(lambda x: (lambda y: y)(x))  # noqa: PLC3002
    with pytest.raises(gp.KernelError, match="line"):
        outer(gp.ones(1, "f4"))


def test_constants_are_computed_as_numpy_does(auto):
    def constants(x):
        return x + 1 / 0.0, x + 7 // 0, x * 0 + 2**62 * 4, math.sqrt(-1.0) + x

    by_ours = gp.kernel(constants)(gp.ones(2))
    assert [part.tolist()[0] for part in by_ours[:3]] == [np.inf, 1, 2.0**64]
    assert np.isnan(by_ours[3]).all()


def test_reductions(driver):
    @gp.kernel(identity=0)
    def plus(x, y):
        return x + y

    a = gp.asarray(np.arange(21).reshape(3, 7).astype("i4"))
    np.testing.assert_array_equal(plus.reduce(a), np.add.reduce(a, dtype="i4"))
    np.testing.assert_array_equal(plus.reduce(a, axis=1), np.add.reduce(a, axis=1, dtype="i4"))
    assert plus.reduce(a, axis=None) == 210
    np.testing.assert_array_equal(plus.accumulate(a, axis=1), np.add.accumulate(a, axis=1, dtype="i4"))
    np.testing.assert_array_equal(plus.reduce(a[:0]), np.zeros(7))
    with pytest.raises(ValueError, match="no identity"):
        gp.kernel(lambda x, y: x + y).reduce(a[:0])
    with pytest.raises(ValueError, match="only two"):
        gp.kernel(lambda x: x).reduce(a)


def test_complex_numbers(auto):
    def square(z):
        w = 0j
        for _ in range(3):
            w = w * w + z
        return w, w.real, w.imag

    z = SOME.astype("c8")[:6] * np.complex64(0.1 + 0.2j)
    check(square, z)


def test_a_function_without_source_is_traced(driver):
    names = {"np": np}
    exec("def traced(x, y):\n    return x * 2 + np.sqrt(y)", names)
    x = SOME.astype("f4")
    ours = gp.kernel(names["traced"])(gp.asarray(x), gp.asarray(abs(x)))
    np.testing.assert_array_equal(ours, x * 2 + np.sqrt(abs(x)))
    exec("def branching(x):\n    return 1 if x > 0 else x", names)
    with pytest.raises(gp.KernelError, match="has no source"):
        gp.kernel(names["branching"])(gp.asarray(x))


def behind_a_condition(x, flag):
    if flag:
        n = np.int32(0)
        while n < 3:
            n += np.int32(1)
        x = x + n
        for _ in range(2):
            x = x * np.int32(2)
    return x


def leaves_by_return(x):
    while True:
        if x > 10:
            return x
        x = x + np.int32(3)


@pytest.mark.parametrize("flag", [0, 1, True, False])
def test_loops_behind_a_known_condition(looping, flag):
    given = np.arange(4, dtype=np.int32)
    ours = gp.kernel(behind_a_condition)(gp.asarray(given), flag)
    np.testing.assert_array_equal(ours, by_point(lambda x: behind_a_condition(x, flag), given)[0])


def test_a_loop_that_only_return_leaves(looping):
    check(leaves_by_return, WHOLE.astype(np.int32))


def test_ints_outside_a_dtype_compare_as_they_are(auto):
    def compares(x):
        c = np.int32(0)
        for i in range(-2, 400, 100):
            if x > i:
                c = c + np.int32(1)
        return c, x < 300, x >= -1, x == 2**70

    check(compares, np.array([0, 3, 199, 255], dtype=np.uint8))
    ours = gp.kernel(lambda x: min(x, -1))(gp.asarray(np.array([3], dtype=np.uint8)))
    assert ours.tolist() == [-1]
    with pytest.raises(gp.KernelError, match="300 out of bounds for uint8"):
        gp.kernel(lambda x: x + 300)(gp.zeros(2, np.uint8))


def test_more_ints_than_variants(driver):
    @gp.kernel
    def chosen(x, n):
        return (x, x + 1, x + 2)[n % 3]

    x = gp.zeros(2, np.float32)
    assert [chosen(x, n).tolist()[0] for n in range(40)] == [n % 3 for n in range(40)]


def test_attributes_outside_are_looked_up_again(driver):
    settings = types.SimpleNamespace(scale=2)

    @gp.kernel
    def scaled(x):
        return x * settings.scale

    assert scaled(gp.ones(2, "f4")).tolist() == [2, 2]
    settings.scale = 5
    assert scaled(gp.ones(2, "f4")).tolist() == [5, 5]


def test_a_decorated_function_is_what_its_decorator_made_of_it(driver):
    def doubled(function):
        @functools.wraps(function)
        def twice(x):
            return 2 * function(x)

        return twice

    @gp.kernel
    @doubled
    def plus_one(x):
        return x + 1

    assert plus_one(gp.ones(2, "f4")).tolist() == [4, 4]


def test_kernels_are_pickled_by_their_name():
    assert pickle.loads(pickle.dumps(halves)) is halves


def test_a_loop_without_end_ends(looping):
    @gp.kernel(most_turns=1000)
    def forever(x):
        while x > 0:
            x = x + np.float32(0)
        return x

    with pytest.raises(RuntimeError, match="`forever` has not ended after 1000 turns"):
        forever(gp.ones(4, "f4"))
    np.testing.assert_array_equal(forever(gp.zeros(4, "f4")), np.zeros(4))


def test_elements_of_other_dtypes_are_refused(auto):
    with pytest.raises(gp.KernelError, match="takes numbers"):
        gp.kernel(helper)(np.array(["a"]))
    with pytest.raises(gp.KernelError, match="made of a Python function"):
        gp.kernel(math.sin)(gp.ones(3))


def test_threads_compile_at_once(auto):
    kernel = gp.kernel(countdown)
    wanted = by_point(countdown, WHOLE)[0]
    found = []

    def call():
        found.append(np.array_equal(kernel(gp.asarray(WHOLE)), wanted))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4
