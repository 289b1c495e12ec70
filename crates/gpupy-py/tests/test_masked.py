"""Masked arrays: NumPy's ways over our arrays, lazily; the oracle is ``numpy.ma``."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import numpy.ma.mrecords
import pytest

import gpupy as gp

MASK_A = np.arange(24).reshape(4, 6) % 7 == 0
MASK_B = np.arange(24).reshape(4, 6) % 5 == 0


def pair(xp):
    """Two masked arrays of float32 with masks of their own, and values of which functions have none."""
    a = np.linspace(-2, 3, 24, dtype=np.float32).reshape(4, 6)
    b = np.linspace(3, -1, 24, dtype=np.float32).reshape(4, 6)
    b[1, 2] = 0
    masked = [xp.ma.array(xp.array(x), mask=xp.array(m)) for x, m in ((a, MASK_A), (b, MASK_B))]
    return {"np": xp, "ma": xp.ma, "a": masked[0], "b": masked[1], "x": xp.array(a)}


def same(ours, theirs):
    """Whether two results mask the same elements, and have the same elsewhere."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for own, other in zip(ours, theirs, strict=True):
            same(own, other)
        return
    if theirs is np.ma.masked:
        assert ours is gp.ma.masked
        return
    assert isinstance(ours, gp.ma.MaskedArray) == isinstance(theirs, np.ma.MaskedArray)
    mask = np.ma.getmaskarray(theirs)
    np.testing.assert_array_equal(np.asarray(gp.ma.getmaskarray(ours)), mask)
    values = [np.asarray(x.data if hasattr(x, "mask") else x)[~mask] for x in (ours, theirs)]
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    np.testing.assert_allclose(*values, rtol=2e-5, atol=1e-6)


LINES = [
    "a + b", "a - 1", "2 * a", "a * b", "a / b", "a // b", "a % b", "a ** 2", "-a", "abs(a)", "a > b",
    "a == b", "a != 1", "~(a > 0)", "(a > 0) & (b > 0)", "a + x", "x + a", "np.sqrt(a)", "np.exp(a)",
    "ma.sqrt(a)", "ma.log(a)", "ma.exp(a)", "ma.arctan2(a, b)", "ma.hypot(a, b)", "ma.maximum(a, b)",
    "ma.minimum(a, b)", "ma.where(a > 0, a, b)", "ma.power(a, 2)", "a.sum()", "a.sum(axis=0)",
    "a.mean(axis=1)", "a.mean()", "a.std()", "a.var(axis=0)", "a.min()", "a.max(axis=1)", "a.prod()",
    "a.count()", "a.count(axis=0)", "a.any()", "a.all(axis=0)", "a.argmin()", "a.argmax(axis=1)",
    "a.cumsum(axis=1)", "a.ptp()", "a.filled(0)", "a.compressed()", "a.filled()", "a[1]", "a[1:, ::2]",
    "a[a > 0]", "a[0, 0]", "a[[0, 2]]", "a.T", "a.ravel()", "a.reshape(3, 8)", "a.copy()",
    "a.astype(np.int32)", "a.anom()", "a.clip(-1, 1)", "a.round(1)", "a.take([1, 2])", "a.repeat(2)",
    "ma.sort(a, axis=1)", "a.argsort(axis=1)", "ma.concatenate([a, b])", "ma.vstack([a, b])",
    "ma.stack([a, b])", "ma.diff(a)", "ma.median(a)", "ma.median(a, axis=0)",
    "ma.average(a, weights=abs(x) + 1)", "ma.cov(a)", "ma.corrcoef(a)", "ma.dot(a, b.T)",
    "ma.mask_rowcols(a)", "ma.compress_rows(a)", "ma.masked_where(x > 1, x)",
    "ma.masked_invalid(1 / (x - x[0]))", "a.trace()", "ma.masked_inside(x, 0, 1)",
    "ma.masked_equal(x, x[0, 0])", "ma.fix_invalid(a)", "ma.unique(a)", "ma.notmasked_edges(a)",
    "np.sum(a)", "np.mean(a, axis=0)", "np.concatenate([x, x])", "ma.apply_along_axis(ma.sum, 0, a)",
    "ma.outer(a[0], b[0])",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_numpys_values_and_mask(driver, line):
    with np.errstate(all="ignore"):
        same(eval(line, pair(gp)), eval(line, pair(np)))


@pytest.mark.parametrize(
    "lines",
    [
        "a += b", "a -= 1", "a *= b", "a /= b", "a **= 2", "a[1] = 5", "a[0, 0] = 3", "a[a > 0] = ma.masked",
        "a[2] = ma.masked", "a.mask = b.mask", "a.mask[1] = True", "a.harden_mask(); a[:] = 1",
        "a.soften_mask(); a[:] = 1", "a.fill_value = 7; a = a.filled()", "a.put([0, 1], [5, 6])",
        "ma.putmask(a, x > 0, 0)", "a.sort(axis=1)", "b = a[1:]; b[0] = 9", "b = a.view(); b.mask[0] = True",
        "a = a.copy(); a.unshare_mask(); a[0] = ma.masked", "a.shape = (6, 4)", "np.add(a, b, out=a)",
        "np.copyto(a, 1)", "a.data[0] = 4", "a.flat[3] = 2",
    ],
)  # fmt: skip
def test_what_is_written_is_numpys(driver, lines):
    found = []
    for xp in (gp, np):
        names = pair(xp)
        with np.errstate(all="ignore"):
            exec(lines, names)
        found.append([names["a"], names["b"], names["x"]])
    for own, other in zip(*found, strict=True):
        same(own, other)


def test_data_and_mask_are_ours_and_operations_evaluate_nothing(driver):
    if driver == "soft":
        pytest.skip("the driver does one operation at a time")
    names = pair(gp)
    a, b = names["a"], names["b"]
    gp.evaluate(a.data, b.data, a.mask, b.mask)
    assert type(a.data) is gp.ndarray and type(a.mask) is gp.ndarray and isinstance(a, gp.ndarray)
    wide = [(np.tile(np.asarray(x.data), (60, 60)), np.tile(np.asarray(x.mask), (60, 60))) for x in (a, b)]
    big = [gp.ma.array(gp.asarray(data), mask=gp.asarray(mask)) for data, mask in wide]
    gp.evaluate(*[part for x in big for part in (x.data, x.mask)])
    gp.reset_stats()
    made = gp.ma.sqrt(big[0] * big[0] + big[1]) / (big[1] - 2)
    made += 1
    assert gp.stats()["launches"] == 0 and gp.stats()["fallbacks"] == 0
    theirs = [np.ma.array(data, mask=mask) for data, mask in wide]
    with np.errstate(all="ignore"):
        wanted = np.ma.sqrt(theirs[0] * theirs[0] + theirs[1]) / (theirs[1] - 2) + 1
    same(made, wanted)
    assert gp.stats()["fallbacks"] == 0


def test_masked_is_one_and_nomask_is_numpys(driver):
    a = pair(gp)["a"]
    assert a[0, 0] is gp.ma.masked and gp.ma.masked is gp.ma.masked_singleton
    assert gp.ma.array([1, 2]).mask is gp.ma.nomask and gp.ma.nomask is np.ma.nomask
    assert (
        pickle.loads(pickle.dumps(gp.ma.masked)) is gp.ma.masked
        and copy.deepcopy(gp.ma.masked) is gp.ma.masked
    )
    assert gp.ma.array([1.0], mask=[True]).sum() is gp.ma.masked


def test_masked_arrays_pickle_copy_and_print_as_numpys(driver):
    ours, theirs = (xp.ma.array([1, 2, 3], mask=[0, 1, 0], fill_value=9) for xp in (gp, np))
    assert repr(ours) == repr(theirs) and str(ours) == str(theirs) and f"{ours}" == f"{theirs}"
    for made in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert type(made) is gp.ma.MaskedArray and made.fill_value == 9
        same(made, theirs)
    assert type(ours).__module__ == "gpupy.ma"


def test_records_have_masks_of_their_fields(driver):
    found = []
    for xp in (gp, np):
        a = xp.ma.array([(1, 2.0), (3, 4.0)], mask=[(0, 1), (0, 0)], dtype=[("k", int), ("v", float)])
        a["k"][1] = xp.ma.masked
        found.append((a["k"], a["v"], str(a), a[0].tolist(), a.filled((7, 8.0)).tolist()))
    (own, other), (words, theirs) = zip(found[0][:2], found[1][:2], strict=True), (found[0][2:], found[1][2:])
    same(*own)
    same(*other)
    assert words == theirs


def test_a_masked_array_of_numpys_becomes_one_of_ours(driver):
    theirs = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    made = gp.ma.array(theirs)
    assert type(made) is gp.ma.MaskedArray and type(made.data) is gp.ndarray
    same(made, theirs)


def test_masked_records_share_their_fields_and_pickle(driver):
    found = []
    for xp, records in ((np, np.ma.mrecords), (gp, gp.ma.mrecords)):
        made = records.fromarrays([xp.ma.array([1, 2, 3]), xp.ma.array([1.0, 2.0, 3.0])], names="a,f")
        made.a[1] = 5
        made["f"][0] = 9
        made["f"][2] = xp.ma.masked
        of_records = records.fromrecords(np.rec.fromrecords([(1, 2.0)], names="a,b"))
        empty = records.mrecarray((2,), dtype=[("a", int)])
        copied = pickle.loads(pickle.dumps(made))
        assert type(copied) is records.MaskedRecords
        found.append((str(made), str(copied), str(of_records), of_records.dtype, empty.shape, empty.dtype))
    assert found[0] == found[1]


def test_masks_and_arrays_of_numpys_are_taken(auto):
    fields = np.array([(0, 1), (0, 0)], dtype="?,?")
    for given in (fields, [True, False], np.array([0, 1]), np.ma.array([True, False], mask=[0, 1])):
        made = gp.ma.make_mask(given)
        np.testing.assert_array_equal(np.asarray(made), np.ma.make_mask(given))
    assert gp.ma.array([1, 2], mask=np.array([True, False])).mask.tolist() == [True, False]
    arrays = [np.arange(4.0) for _ in range(2)]
    for xp, array in zip((np, gp), arrays, strict=True):
        xp.ma.putmask(array, array > 1, 9.0)
    np.testing.assert_array_equal(*arrays)


def test_a_function_that_asks_for_masks_runs_no_module_for_arrays_without_one():
    text = """
import sys, gpupy as np
assert np.unique(np.asarray([3, 1, 1])).tolist() == [1, 3] and not np.ma.is_masked(np.arange(3))
assert "_gpupy_is_loaded" not in vars(sys.modules["gpupy.ma.core"])
masked = np.ma.masked_array([1, 2], [0, 1])
assert np.ma.is_masked(masked) and not np.ma.is_masked(np.ma.masked_array([1, 2]))
assert np.ma.is_masked is np.ma.core.is_masked
"""
    subprocess.run([sys.executable, "-c", text], check=True)
