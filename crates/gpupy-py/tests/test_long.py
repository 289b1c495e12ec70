"""Axes longer than devices run loops: Mesa's software devices end an invocation's loops after 65,535 steps.

All elements are whole and small, so that sums are exact in any order, unless a test says otherwise.
"""

import numpy as np
import pytest

import gpupy as gp

LENGTH = 100_003
DTYPES = "bool int8 int32 int64 uint16 float16 float32 float64 complex64".split()


def _row(xp, n, dtype, first=0):
    return ((xp.arange(n) + first) % 5 - 2).astype(dtype)


def _same(results):
    for got, want in zip(results(gp), results(np), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_long_sums_are_numpys(driver, dtype):
    n = LENGTH

    def products(xp):
        a, b = _row(xp, n, dtype), _row(xp, n, dtype, 1)
        return [xp.dot(a, b), xp.stack([a, b]) @ b[::-1]]

    _same(products)


def test_every_function_of_products_has_long_sums(driver):
    n = LENGTH

    def products(xp):
        a, b = _row(xp, n, "float32"), _row(xp, n, "float32", 1)
        two = xp.stack([a, b])
        return [
            b[::-1] @ two.T,
            xp.matmul(two, two.T),
            xp.einsum("i,ji->j", a, two),
            xp.tensordot(two, two, axes=(1, 1)),
            xp.vecdot(two, a),
        ]

    _same(products)


def test_what_goes_along_long_rows_is_numpys(driver):
    n = LENGTH

    def results(xp):
        a = _row(xp, n, "int32")
        f = a.astype("float32")
        two = xp.stack([f, f[::-1]])
        far = (xp.arange(n) * 7919) % n
        return [
            a.sum(),
            f.max(),
            two.sum(axis=1),
            two.T.sum(axis=0),
            (two * two + 1).sum(axis=1),
            two.argmax(axis=1),
            xp.cumsum(a),
            xp.cumsum(two, axis=1),
            xp.maximum.accumulate(f),
            f[far],
            two[:, far].sum(axis=1),
            a[far % 5 == 0].sum(),
        ]

    _same(results)


def test_a_float32_product_of_more_ones_than_it_counts_is_their_number():
    n = (1 << 24) + (1 << 20)
    for name, limits in [("soft", {}), ("cpu", {}), ("cpu", {"block_bytes": 1 << 20})]:
        gp._gpupy.reconfigure(name, **limits)
        ones = gp.ones(n, "float32") * 1
        assert float(gp.dot(ones, ones)) == n, (name, limits)


def test_float32_products_larger_than_a_block_are_within_their_bound(driver):
    gp._gpupy.reconfigure(driver, block_bytes=1 << 16)
    n = 40_001
    rng = np.random.default_rng(7)
    # Ones that a running sum does not see beside the first number; and any numbers.
    seen = np.concatenate([[2.0**25], np.ones(n - 1)]).astype("float32")
    for left, right in [(seen, np.ones(n, "float32")), rng.random((2, n), "float32")]:
        want = np.dot(left.astype("float64"), right.astype("float64"))
        got = float(gp.dot(gp.array(left), gp.array(right)))
        bound = (4096 + n / 4096) * 2.0**-24 * np.dot(np.abs(left).astype("float64"), np.abs(right))
        assert abs(got - want) <= bound
