"""Counts by value, histograms and flat indices: they are NumPy's to the bit, on any driver."""

import numpy as np
import pytest
from pairs import check

import gpupy

INTEGERS = "bool int8 uint8 int16 uint16 int32 uint32 int64".split()


def numbers(dtype, size=300, seed=0):
    rng = np.random.default_rng(seed)
    return (
        (rng.normal(size=size) * 9).astype(dtype) if np.dtype(dtype).kind == "f" else drawn(dtype, size, seed)
    )


def drawn(dtype, size=300, seed=0):
    return np.random.default_rng(seed).integers(0, 9, size).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_counts_by_value(forbidding, dtype):
    values = drawn(dtype)
    for length in (0, 4, 30):
        check(lambda xp: xp.bincount(xp.asarray(values), minlength=length))
        check(lambda xp: xp.bincount(xp.asarray(values)[:0], minlength=length))
    check(lambda xp: xp.bincount(xp.asarray(values)[::-3]))
    if dtype.startswith("int"):
        check(lambda xp: xp.bincount(xp.asarray(values) - 5))


BINS = {
    "ten": {},
    "equal": {"bins": 33},
    "in a range": {"bins": 7, "range": (-1, 5.5)},
    "of bytes": {"bins": 256, "range": (0, 256)},
    "edges": {"bins": [-2, -1, 0, 0.5, 3]},
    "no width": {"bins": [1, 1, 2, 2]},
    "density": {"bins": 12, "density": True},
    "none": {"bins": 0},
    "no order": {"bins": [3, 1, 2]},
    "no range": {"range": (3, 1)},
    "too many": {"bins": 5, "range": (1.0, np.nextafter(1.0, 2.0))},
}


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_histograms(forbidding, bins):
    for dtype in ("float64", "float32", "int64", "uint8", "int8", "bool"):
        values = numbers(dtype)
        check(lambda xp: xp.histogram(xp.asarray(values), **bins), dtype)
        check(lambda xp: xp.histogram(xp.asarray(values).reshape(20, 15)[::-1, ::2], **bins), dtype)
    for odd in (np.nan, np.inf):
        values = np.append(numbers("float64"), odd)
        check(lambda xp: xp.histogram(xp.asarray(values), **bins), f"{odd}")
    check(lambda xp: xp.histogram(xp.asarray(values)[:0], **bins))
    check(lambda xp: xp.histogram(xp.full(9, 2.0), **bins))
    check(lambda xp: xp.histogram_bin_edges(xp.asarray(numbers("float64")), **{**bins, "density": None}))


@pytest.mark.parametrize("seed", range(20))
def test_edges_decide_of_numbers_beside_them(auto, seed):
    rng = np.random.default_rng(seed)
    dtype, number = rng.choice(["float32", "float64"]), int(rng.integers(1, 400))
    ends = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-5, 6, 2)).astype(dtype)
    edges = np.histogram_bin_edges(ends, number)
    beside = [np.nextafter(edges, edges.dtype.type(to)) for to in (-np.inf, np.inf)]
    values = np.concatenate([edges, *beside])
    with gpupy.fallback("error"):
        check(lambda xp: xp.histogram(xp.asarray(values), number, (ends[0], ends[1])))


@pytest.mark.parametrize("bins", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "best"])
def test_chosen_bins(auto, bins):
    for dtype in ("float64", "int32"):
        check(lambda xp: xp.histogram(xp.asarray(numbers(dtype)), bins))
        if bins != "stone":
            with gpupy.fallback("error"):
                check(lambda xp: xp.histogram(xp.asarray(numbers(dtype)), bins))


def test_histograms_of_several_axes(forbidding):
    x, y, few = numbers("float64"), numbers("float64", seed=1), drawn("int32")
    flat = lambda made: (made[0], *made[1])
    for given in ({}, {"bins": 5, "density": True}, {"bins": [4, [-1, 0, 2]], "range": [[-1, 1], [0, 1]]}):
        check(lambda xp: xp.histogram2d(xp.asarray(x), xp.asarray(y), **given), given)
        check(lambda xp: flat(xp.histogramdd((xp.asarray(x), xp.asarray(few)), **given)), given)
    check(lambda xp: flat(xp.histogramdd(xp.asarray(x).reshape(-1, 3), bins=(3, 4, 5))))
    check(lambda xp: flat(xp.histogramdd(xp.asarray(x)[:0].reshape(0, 2))))


def test_flat_indices(forbidding):
    i, j = drawn("int64"), drawn("int16", seed=1) % 4
    for order in "CF":
        check(lambda xp: xp.ravel_multi_index((xp.asarray(i), xp.asarray(j)), (9, 4), order=order))
        check(lambda xp: xp.unravel_index(xp.asarray(i).reshape(6, 50).T, (2, 3, 4), order=order))
        check(lambda xp: xp.unravel_index(xp.asarray(i), 9, order=order))
    modes = ("wrap", "clip")
    check(lambda xp: xp.ravel_multi_index((xp.asarray(i) * 3 - 7, xp.asarray(j) * 5 - 3), (9, 4), mode=modes))
    check(lambda xp: xp.ravel_multi_index(xp.asarray([[1, 2], [3, 0]]), (9, 4)))
    check(lambda xp: xp.ravel_multi_index((xp.asarray(i), xp.asarray(j)), (9, 3)))
    check(lambda xp: xp.unravel_index(xp.asarray(i) + 2, (3, 3)))
    check(lambda xp: xp.unravel_index(xp.asarray(i) - 1, (3, 3)))
    check(lambda xp: xp.unravel_index(xp.asarray(i).argmax(), (20, 20)))


CALLS = {
    "weights": lambda xp, a: xp.bincount(a, weights=a * 0.3),
    "a negative length": lambda xp, a: xp.bincount(a, minlength=-1),
    "matrices": lambda xp, a: xp.bincount(a.reshape(3, 100)),
    "floats": lambda xp, a: xp.bincount(a * 1.0),
    "unsigned": lambda xp, a: xp.bincount(a.astype("uint64")),
    "a histogram of weights": lambda xp, a: xp.histogram(a, weights=a * 0.3),
    "complex": lambda xp, a: xp.histogram(a * 1j),
    "short floats": lambda xp, a: xp.histogram(a.astype("float16"), 700),
    "unlike axes": lambda xp, a: xp.histogramdd((a, a), bins=(3,)),
    "no axes": lambda xp, a: xp.ravel_multi_index((a, a), (9,)),
    "broadcast": lambda xp, a: xp.ravel_multi_index((a, a[:1]), (9, 9)),
    "a mode": lambda xp, a: xp.ravel_multi_index((a, a), (9, 9), mode="turn"),
    "an order": lambda xp, a: xp.unravel_index(a, (9, 9), order="K"),
    "no indices": lambda xp, a: xp.unravel_index(a[:0], (9, 9)),
    "no extent": lambda xp, a: xp.unravel_index(a, (0, 9)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_other_calls_are_numpys(auto, call):
    check(lambda xp: call(xp, xp.asarray(drawn("int64"))))


def test_ends_of_ranges_have_dtypes(auto):
    pairs = [(np.float32(0.1), np.float32(7.3)), (np.float32(0.1), 3), (np.int8(-100), np.int8(100))]
    pairs += [(np.uint8(3), 2.5), (np.int64(2**60 + 1), np.int64(2**62 + 3)), (0.1, np.float64(3))]
    with gpupy.fallback("error"):
        for start, stop in pairs:
            for number in (2, 3, 50, 1001):
                for dtype in (None, "f4", "f8", "i4"):
                    given = {"endpoint": number % 2 == 0, "dtype": dtype, "retstep": True}
                    check(lambda xp: xp.linspace(start, stop, number, **given), f"{start} {stop} {given}")


def test_counts_where_a_driver_lacks_the_sort(driver):
    # A pending array, on drivers that sort fewer dtypes.
    values = drawn("int64", 40)
    check(lambda xp: xp.bincount(xp.asarray(values) * (xp.asarray(values) > 2), minlength=12))
    check(lambda xp: xp.histogram(xp.asarray(values) + xp.asarray(values), bins=5)[0])
