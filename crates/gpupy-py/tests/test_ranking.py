"""Partial orders, medians and quantiles: the elements are NumPy's, also with NaN, on any driver."""

import warnings

import numpy as np
import pytest
from pairs import bits, check

import gpupy

DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64".split()
METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


def numbers(shape, dtype, seed=3, nan=0.0):
    """Few numbers, many times each; of floats also infinities, and as many NaN as are asked for."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 12, shape).astype(dtype)
    if made.dtype.kind == "f":
        made = np.where(
            rng.random(shape) < 0.1, rng.choice(np.array([np.inf, -np.inf, 3.5], dtype), shape), made
        )
        made = np.where(rng.random(shape) < nan, np.array(np.nan, dtype), made)
    return made


def check_order(call, values, kth, axis):
    """A partial order: elements at wanted places are those of the sorted rows, the others on their side."""
    got = np.asarray(call(gpupy.asarray(values)))
    want = np.sort(values, axis)
    assert got.dtype == want.dtype and got.shape == want.shape
    rows, wanted = (x.reshape(1, -1) if axis is None else np.moveaxis(x, axis, -1) for x in (got, want))
    for row, expected in zip(
        rows.reshape(-1, rows.shape[-1]), wanted.reshape(-1, rows.shape[-1]), strict=True
    ):
        for k in np.atleast_1d(kth):
            at = k % len(row)
            assert (bits(row[at]) == bits(expected[at])).all()
            assert (bits(np.sort(row[:at])) == bits(expected[:at])).all()


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
def test_partial_orders(forbidding, dtype):
    for shape, axis in (((7,), -1), ((5, 6), 0), ((5, 6), 1), ((4, 3, 5), None), ((4, 3, 5), -2)):
        values = numbers(shape, dtype, nan=0.2)
        length = values.size if axis is None else values.shape[axis]
        for kth in (0, length - 1, -2, [1, 2], (length // 2,)):
            check_order(lambda a: gpupy.partition(a, kth, axis), values, kth, axis)
            if axis is not None:

                def in_place(a):
                    assert a.partition(kth, axis) is None
                    return a

                def by_places(a):
                    return np.take_along_axis(a, a.argpartition(kth, axis), axis)

                check_order(in_place, values, kth, axis)
                check_order(by_places, values, kth, axis)


def test_refused_partial_orders(forbidding):
    a = np.arange(6.0)[::-1]
    for name in ("partition", "argpartition"):
        for given in ((6,), (-7,), ([1, 9],)):
            check(lambda xp: getattr(xp, name)(xp.asarray(a), *given))
            check(lambda xp: getattr(xp.asarray(a), name)(*given))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nan", [0, 0.15])
def test_medians(forbidding, dtype, nan):
    for shape in ((1,), (2,), (9,), (8,), (3, 4), (4, 3, 5)):
        values = numbers(shape, dtype, nan=nan)
        for axis in (None, -1, 0, tuple(range(len(shape)))):
            for keepdims in (False, True):
                for name in ("median", "nanmedian"):
                    given = {"axis": axis, "keepdims": keepdims}
                    check(
                        lambda xp: getattr(xp, name)(xp.asarray(values), **given), f"{name} {shape} {given}"
                    )
        check(lambda xp: xp.median(xp.asarray(values).T[..., ::-1], axis=0, overwrite_input=True))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("nan", [0, 0.15])
def test_quantiles(auto, dtype, nan):
    with gpupy.fallback("error"):
        for shape, axis in (((9,), None), ((4, 3, 5), (0, 2))):
            values = numbers(shape, dtype, nan=nan)
            for method in METHODS:
                for q in (0.5, 0, 1, [0.1, 0.62], np.float32(0.3), np.array([[0.25, 1]])):
                    if method not in ("linear", "hazen") and type(q) is not list:
                        continue
                    given = {"axis": axis, "method": method, "keepdims": method < "l"}
                    said = f"{q} {shape} {given}"
                    check(lambda xp: xp.quantile(xp.asarray(values), q, **given), said)
                    check(lambda xp: xp.nanquantile(xp.asarray(values), xp.asarray(q), **given), said)
            for q in (30, 99.5, [0, 100], (25, 50.0)):
                for name in ("percentile", "nanpercentile"):
                    check(lambda xp: getattr(xp, name)(xp.asarray(values), q, axis), f"{name} {q} {shape}")


def test_rows_of_many_elements_are_not_numpys(auto):
    values = np.random.default_rng(1).normal(size=(1 << 15, 16))
    gpupy.reset_stats()
    check(lambda xp: xp.median(xp.asarray(values), axis=1))
    check(lambda xp: xp.percentile(xp.asarray(values), [20, 30], 1))
    assert gpupy.stats().fallbacks == 0, gpupy.stats().fallback_sites


def test_a_few_quantiles_on_each_driver(forbidding):
    values = numbers((5, 20), "float32", nan=0.05)
    for name in ("percentile", "nanpercentile"):
        check(lambda xp: getattr(xp, name)(xp.asarray(values), [5, 50, 95], axis=1))
        check(lambda xp: getattr(xp, name)(xp.asarray(values), 30, method="higher"))


def test_outputs(auto):
    def into(name, *given, **more):
        def call(xp):
            out = xp.zeros(4)
            made = getattr(xp, name)(
                xp.asarray(numbers((4, 9), "float64", nan=0.1)), *given, axis=1, out=out, **more
            )
            assert made is out
            return out

        return call

    for name, given in (("median", ()), ("nanmedian", ()), ("percentile", (30,)), ("nanquantile", (0.7,))):
        check(into(name, *given))
        with gpupy.fallback("error"):
            check(into(name, *given))


CALLS = {
    "no median": lambda xp, a: xp.median(a[:0]),
    "no medians": lambda xp, a: xp.median(a.reshape(2, 6)[:, :0], axis=1),
    "no nanmedian": lambda xp, a: xp.nanmedian(a[:0]),
    "all nan": lambda xp, a: xp.nanmedian(a * xp.nan),
    "all nan rows": lambda xp, a: xp.nanmedian(a.reshape(2, 6) * xp.nan, axis=1),
    "no quantile": lambda xp, a: xp.quantile(a[:0], 0.5),
    "a quantile of nan": lambda xp, a: xp.nanquantile(a * xp.nan, 0.5),
    "q above": lambda xp, a: xp.quantile(a, 1.5),
    "percent below": lambda xp, a: xp.percentile(a, -1),
    "a method": lambda xp, a: xp.quantile(a, 0.5, method="best"),
    "an axis": lambda xp, a: xp.median(a, axis=3),
    "complex": lambda xp, a: xp.quantile(a * 1j, 0.5),
    "complex median": lambda xp, a: xp.median(a * 1j),
    "weights": lambda xp, a: xp.quantile(a, [0.2, 0.5], weights=a, method="inverted_cdf"),
    "weights in rows": lambda xp, a: xp.percentile(
        a.reshape(3, 4), 30, axis=1, weights=xp.arange(4), method="inverted_cdf"
    ),
    "weights of another method": lambda xp, a: xp.quantile(a, 0.5, weights=a),
    "a place that is no int": lambda xp, a: xp.partition(a, 1.5),
    "places of no axis": lambda xp, a: xp.partition(a, 2, axis=4),
    "a kind": lambda xp, a: xp.partition(a, 2, kind="quick"),
    "bools": lambda xp, a: xp.quantile(a > 3, 0.5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_words_and_warnings_are_numpys(auto, call):
    told = []
    for xp in (np, gpupy):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                call(xp, xp.arange(12.0))
            except Exception:
                pass
        told.append([(each.category, str(each.message)) for each in caught])
    assert told[0] == told[1]
    check(lambda xp: call(xp, xp.arange(12.0)))
