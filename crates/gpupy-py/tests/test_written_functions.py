"""Functions that are written as kernels are: of ints, and the error and gamma functions.

Values of these are those of mpmath with 40 digits.
"""

import importlib
import math
import sys

import numpy as np
import pytest

import gpupy as gp

POINTS = {
    "erf": [
        (1e-300, 1.1283791670955126e-300),
        (0.3, 0.3286267594591274),
        (-0.99, -0.8385080695553698),
        (1.0, 0.8427007929497149),
        (2.5, 0.999593047982555),
        (-6.5, -1.0),
    ],
    "erfc": [
        (-5.0, 1.9999999999984626),
        (-0.7, 1.6778011938374184),
        (0.4999, 0.4795880048386134),
        (0.5, 0.4795001221869535),
        (3.3, 3.0577097964381654e-06),
        (12.0, 1.3562611692059042e-64),
        (26.0, 5.663192408856143e-296),
        (27.2, 1e-323),
    ],
    "gamma": [
        (1e-10, 9999999999.422785),
        (0.3, 2.991568987687591),
        (0.5, 1.772453850905516),
        (1.25, 0.906402477055477),
        (2.5, 1.329340388179137),
        (7.0, 720.0),
        (23.0, 1.1240007277776077e21),
        (23.75, 1.1757060793284421e22),
        (24.5, 1.2599063430729375e23),
        (100.5, 9.320963104082716e156),
        (171.5, 9.4833675668248e307),
        (-0.5, -3.544907701811032),
        (-2.25, -1.7428148657282527),
        (-20.125, -2.3123088525059488e-18),
        (-171.5, 1.9316265431712e-310),
    ],
    "lgamma": [
        (1e-300, 690.7755278982137),
        (0.25, 1.2880225246980774),
        (0.75, 0.20328095143129538),
        (1.0001, -5.771334222047127e-05),
        (1.9999, -4.227520877215346e-05),
        (2.0001, 4.2281658112919945e-05),
        (2.75, 0.47521466691493713),
        (11.9, 17.25847745059552),
        (12.1, 17.74700727079874),
        (100000.0, 1051287.7089736569),
        (1e305, 7.012884533631839e307),
        (-0.5, 1.2655121234846454),
        (-3.75, -1.3172679424463636),
        (-50.5, -149.29649894115255),
    ],
}
BOUNDS = {"erf": 2, "erfc": 8, "gamma": 16, "lgamma": 8}
KERNELS = {
    "erf": lambda x: math.erf(x),
    "erfc": lambda x: math.erfc(x),
    "gamma": lambda x: math.gamma(x),
    "lgamma": lambda x: math.lgamma(x),
}


@pytest.mark.parametrize("name", POINTS)
def test_values_are_within_the_bounds(auto, name):
    points, wanted = (np.array(part) for part in zip(*POINTS[name], strict=True))
    ours = np.asarray(gp.kernel(KERNELS[name])(gp.asarray(points)))
    far = np.abs(ours - wanted) / np.spacing(np.abs(wanted))
    assert far.max() <= BOUNDS[name], list(zip(points, ours, wanted, far, strict=True))


@pytest.mark.parametrize("name", POINTS)
def test_many_values_are_pythons(auto, name):
    # Python's gamma function is as far off as ours, and its logarithm farther where it is near 0.
    r = np.random.default_rng(1)
    points = np.concatenate([r.uniform(-30, 30, 2000), r.uniform(-1, 3, 500), 10 ** r.uniform(-300, 2, 500)])
    wanted = np.array([getattr(math, name)(point) for point in points.tolist()])
    ours = gp.kernel(KERNELS[name])(gp.asarray(points))
    np.testing.assert_allclose(ours, wanted, rtol=24 * 2.0**-52, atol=4e-15 if name == "lgamma" else 1e-307)


def test_special_numbers(auto):
    points = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 172.0, -300.5, -301.5])
    ours = {name: np.asarray(gp.kernel(kernel)(gp.asarray(points))) for name, kernel in KERNELS.items()}
    np.testing.assert_array_equal(ours["erf"][:5], [0, 0, 1, -1, np.nan])
    assert list(np.signbit(ours["erf"][:4])) == [False, True, False, True]
    np.testing.assert_array_equal(ours["erfc"][:5], [1, 1, 0, 2, np.nan])
    np.testing.assert_array_equal(
        ours["gamma"], [np.inf, -np.inf, np.inf, np.nan, np.nan, np.nan, np.nan, np.inf, 0, 0]
    )
    np.testing.assert_array_equal(ours["lgamma"][:7], [np.inf] * 4 + [np.nan, np.inf, np.inf])


def test_factorials_and_gamma_of_ints_are_exact(auto):
    n = np.arange(21)
    wanted = [math.factorial(k) for k in range(21)]
    np.testing.assert_array_equal(gp.kernel(lambda n: math.factorial(n))(gp.asarray(n)), wanted)
    np.testing.assert_array_equal(
        gp.kernel(lambda x: math.gamma(x))(gp.asarray(n + 1)), np.array(wanted, float)
    )


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u4", "u8"])
def test_powers_of_ints_by_ints_wrap_as_numpys(auto, dtype):
    limits = np.iinfo(dtype)
    bases = np.array([0, 1, 2, 3, 5, 10, limits.max, limits.min, limits.max // 2], dtype)
    exponents = np.array([0, 1, 2, 3, 7, 8, 31, 63, 64, 65, 100, 127], dtype)
    x, e = (part.ravel() for part in np.meshgrid(bases, exponents))
    for kernel in (lambda x, e: x**e, lambda x, e: np.power(x, e), lambda x, e: pow(x, e)):
        ours = gp.kernel(kernel)(gp.asarray(x), gp.asarray(e))
        assert ours.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(ours, np.power(x, e))


def test_powers_of_mixed_dtypes(auto):
    x, e = np.arange(-4, 5, dtype=np.int16), np.arange(9, dtype=np.int32)
    for given in ((x, e), (x, 3), (2, e), (x.astype("f4"), e), (x.astype("f8"), e / 2)):
        taken = [gp.asarray(one) if isinstance(one, np.ndarray) else one for one in given]
        ours = gp.kernel(lambda x, e: x**e)(*taken)
        with np.errstate(all="ignore"):
            want = np.power(*given)
        assert ours.dtype == want.dtype
        np.testing.assert_allclose(ours, want, rtol=1e-6)

    def in_place(x, e):
        x **= e
        return x

    np.testing.assert_array_equal(gp.kernel(in_place)(gp.asarray(x), gp.asarray(e)), np.power(x, e))


def test_powers_by_negative_ints_have_the_part_before_the_point(auto):
    x = np.array([-2, -1, -1, 0, 1, 2])
    e = np.array([-1, -1, -2, -1, -5, -3])
    np.testing.assert_array_equal(
        gp.kernel(lambda x, e: x**e)(gp.asarray(x), gp.asarray(e)), [0, -1, 1, 0, 1, 0]
    )


def test_divisors_and_roots_of_ints(auto):
    r = np.random.default_rng(2)
    a = np.concatenate([r.integers(-50, 50, 200), r.integers(0, 2**31, 50), [0, 0, 7, 2971215073, 2**62]])
    b = np.concatenate([r.integers(-50, 50, 200), r.integers(0, 2**31, 50), [0, 7, 0, 1836311903, 2**40]])
    for name in ("gcd", "lcm"):
        wanted = [getattr(math, name)(*both) for both in zip(a.tolist(), b.tolist(), strict=True)]
        wanted = [(one + 2**63) % 2**64 - 2**63 for one in wanted]
        python, numpys = {
            "gcd": (lambda a, b: math.gcd(a, b), lambda a, b: np.gcd(a, b)),
            "lcm": (lambda a, b: math.lcm(a, b), lambda a, b: np.lcm(a, b)),
        }[name]
        np.testing.assert_array_equal(gp.kernel(python)(gp.asarray(a), gp.asarray(b)), wanted)
        small = gp.kernel(numpys)(gp.asarray(a[:200].astype("i2")), gp.asarray(b[:200].astype("i2")))
        assert small.dtype == np.int16
        np.testing.assert_array_equal(small, wanted[:200])
    roots = [0, 1, 2, 46341, 94906265, 94906266, 94906267, 3037000498, 3037000499]
    n = [root * root + by for root in roots for by in (-1, 0, 1) if root * root + by >= 0] + [2**63 - 1]
    ours = gp.kernel(lambda n: math.isqrt(n))(gp.asarray(np.array(n)))
    np.testing.assert_array_equal(ours, [math.isqrt(one) for one in n])


def test_rounding_and_closeness(auto):
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.4999, 1e15 + 0.5])
    np.testing.assert_array_equal(
        gp.kernel(lambda x: round(x))(gp.asarray(x)), [round(one) for one in x.tolist()]
    )
    a, b = (
        np.array([1.0, 1.0, 0.0, np.inf, np.inf, np.nan]),
        np.array([1 + 1e-10, 1.1, 1e-12, np.inf, 1, np.nan]),
    )
    for kernel in (
        lambda a, b: math.isclose(a, b),
        lambda a, b: math.isclose(a, b, abs_tol=1e-11),
        lambda a, b: math.isclose(a, b, rel_tol=0.2),
    ):
        wanted = [kernel(*both) for both in zip(a.tolist(), b.tolist(), strict=True)]
        np.testing.assert_array_equal(gp.kernel(kernel)(gp.asarray(a), gp.asarray(b)), wanted)


def test_vectorize_has_pythons_errors_of_them(auto):
    whole, small = np.array([0, 1, 3, 5, 12]), np.array([2, 0, 3, 1, 7])
    for function in (
        lambda a, b: a**b,
        lambda a, b: math.gcd(a, b) + math.isqrt(a),
        lambda a, b: math.factorial(b),
        lambda a, b: round(a / (b + 1)),
    ):
        compiled, numpys = gp.vectorize(function), np.vectorize(function)
        with gp.fallback("error"):
            np.testing.assert_array_equal(
                compiled(gp.asarray(whole), gp.asarray(small)), numpys(whole, small)
            )
    for function, at in (
        (lambda a: math.isqrt(a), -1),
        (lambda a: math.factorial(a), 21),
        (lambda a: 10**a, 19),
        (lambda a: 2**a, -1),
        (lambda a: math.gamma(a), 0),
        (lambda a: math.gcd(a, 0.5), 1),
    ):
        with gp.fallback("error"), pytest.raises(gp.FallbackError):
            gp.vectorize(function)(gp.asarray(np.array([at])))


def test_functions_of_modules_are_inlined(auto, tmp_path, monkeypatch):
    (tmp_path / "helpers_of_kernels.py").write_text("def scaled(x, by=3):\n    return x * by\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "helpers_of_kernels", raising=False)
    helpers = importlib.import_module("helpers_of_kernels")
    kernel = gp.kernel(lambda x: helpers.scaled(x))
    assert kernel(gp.ones(2))[0] == 3
    helpers.scaled = lambda x: x - 1
    assert kernel(gp.ones(2))[0] == 0
