"""Ufuncs that are compositions: bits, exponents, divisors, products of vectors are NumPy's, on any driver."""

import numpy as np
import pytest
from pairs import check

import gpupy

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


def integers(dtype, seed):
    """Integers of all lengths, small ones, and those at the ends."""
    rng, ends = np.random.default_rng(seed), np.iinfo(dtype)
    made = rng.integers(ends.min, ends.max, 200, dtype=dtype, endpoint=True)
    made[:50] = rng.integers(0, 30, 50)
    made[50:56] = rng.permutation(np.array([ends.min, ends.max, 0, 0, ends.min, 1], dtype))
    return made


def floats(dtype, driver):
    """Floats of any exponent, with and without digits, and those that are no numbers."""
    rng, form = np.random.default_rng(1), np.finfo(dtype)
    bits = rng.integers(0, 2 ** (form.bits - 1) - 1, 500, dtype=f"u{form.bits // 8}").view(dtype)
    some = [0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 0.5, 2.5, -3.5, form.max, form.min, form.tiny]
    small = [form.smallest_subnormal, -form.tiny / 3, form.tiny * 0.75]
    with np.errstate(all="ignore"):
        drawn = rng.normal(size=100) * 10.0 ** rng.integers(-5, 5, 100)
        made = np.concatenate([drawn.astype(dtype), np.array(some + small, dtype), bits, -bits])
    if flushes(driver):
        made = made[(np.abs(made) >= form.tiny) | (made == 0) | np.isnan(made)]
    return made


def flushes(driver):
    """Whether results that are subnormal may be zero."""
    return any(row["name"] == driver and row["flushes_subnormals"] for row in gpupy.drivers())


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_and_divisors(forbidding, dtype):
    x, y = integers(dtype, 1), integers(dtype, 2)
    check(lambda xp: xp.bitwise_count(xp.asarray(x)))
    check(lambda xp: xp.bitwise_count(xp.asarray(x).reshape(20, 10).T[::-1]))
    for name in ("gcd", "lcm"):
        check(lambda xp: getattr(xp, name)(xp.asarray(x), xp.asarray(y)), name)
        check(lambda xp: getattr(xp, name)(xp.asarray(x), 12), name)
        check(lambda xp: getattr(xp, name)(xp.asarray(x)[:, None], xp.asarray(y).astype("int32")[:5]), name)
        # What NumPy refuses.
        check(lambda xp: getattr(xp, name)(xp.asarray(x), xp.asarray(y)[:3]), name)
        check(lambda xp: getattr(xp, name)(xp.asarray(x), 2.5), name)
    check(lambda xp: xp.bitwise_count(xp.asarray([True, False])))
    check(lambda xp: xp.bitwise_count(xp.asarray([1.0])))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_exponents(forbidding, dtype):
    x, form = floats(dtype, forbidding), np.finfo(dtype)
    check(lambda xp: xp.modf(xp.asarray(x)))
    check(lambda xp: xp.frexp(xp.asarray(x)))
    rng = np.random.default_rng(2)
    for least, most in ((-30, 30), (-200, 200), (-2500, 2500), (-(2**31), 2**31 - 1)):
        exponent = rng.integers(least, most, x.size)
        if flushes(forbidding):
            with np.errstate(all="ignore"):
                exponent = np.where(np.abs(np.ldexp(x, exponent)) < form.tiny, 0, exponent)
        for kind in ("int32", "int64", *(["int8"] if most == 30 else [])):
            check(lambda xp: xp.ldexp(xp.asarray(x), xp.asarray(exponent.astype(kind))), f"{most} {kind}")
    check(lambda xp: xp.ldexp(xp.asarray(x), 3))
    check(lambda xp: xp.ldexp(2.0, xp.asarray([1, 2])))
    check(lambda xp: xp.frexp(xp.asarray([1, 2, 3])))
    check(lambda xp: xp.modf(xp.asarray(2.5)))
    check(lambda xp: xp.modf(xp.asarray([1j])))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool", "float64", "complex128"])
def test_products_of_vectors(forbidding, dtype):
    rng = np.random.default_rng(3)
    a, b = rng.integers(-3, 4, (2, 1, 4)).astype(dtype), rng.integers(-3, 4, (3, 4)).astype(dtype)
    if dtype[0] == "c":
        a, b = a + 1j * a[::-1], b - 2j
    check(lambda xp: xp.vecdot(xp.asarray(a), xp.asarray(b)))
    check(lambda xp: xp.vecdot(xp.asarray(b[0]), xp.asarray(b[1])))
    check(lambda xp: xp.vecdot(xp.asarray(a)[..., :0], xp.asarray(b)[..., :0]))
    check(lambda xp: xp.matvec(xp.asarray(b), xp.asarray(a)))
    check(lambda xp: xp.matvec(xp.asarray(b), xp.asarray(b[0])))
    check(lambda xp: xp.vecmat(xp.asarray(a), xp.asarray(b.T)))
    check(lambda xp: xp.vecmat(xp.asarray(b[:, 0]), xp.asarray(b)))
    # What NumPy refuses.
    check(lambda xp: xp.vecdot(xp.asarray(a), xp.asarray(b)[:, :3]))
    check(lambda xp: xp.matvec(xp.asarray(a)[0, 0], xp.asarray(b)))
    check(lambda xp: xp.vecmat(xp.asarray(b), xp.asarray(b)))
    check(lambda xp: xp.vecdot(xp.asarray(a), 2))


def test_calls_with_more_arguments_are_numpys(auto):
    x = np.arange(6.0) - 2.5

    def into(xp):
        parts = xp.zeros(6), xp.zeros(6)
        xp.modf(xp.asarray(x), out=parts)
        return parts

    check(into)
    check(lambda xp: xp.frexp(xp.asarray(x), where=xp.asarray(x) > 0, out=(xp.ones(6), xp.ones(6, "i4"))))
    check(lambda xp: xp.gcd(xp.asarray([4, 6]), 2, dtype="int16"))
    check(lambda xp: xp.vecdot(xp.asarray(x).reshape(2, 3), xp.asarray(x).reshape(2, 3), axis=0))
    check(lambda xp: xp.gcd.reduce(xp.asarray([4, 6, 10])))
    check(lambda xp: xp.gcd.outer(xp.asarray([4, 6, 10]), xp.asarray([3, 4])))
