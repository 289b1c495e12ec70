"""Masked arrays of ours in other code: numpy.ma, pandas, matplotlib, SciPy. The oracle is NumPy's there.

Not here: masked chunks of Dask's (``test_dask_masked.py``).
"""

import numpy
import pytest
from steps import Steps
from test_matplotlib import drawn

import gpupy

of_pandas, of_matplotlib, of_scipy = Steps("pandas"), Steps("matplotlib"), Steps("scipy.stats")


def masked(np):
    """Some of 400 numbers masked."""
    values = numpy.random.RandomState(0).rand(20, 20)
    return np.ma.array(np.asarray(values), mask=np.asarray(values > 0.7))


@of_pandas
def a_series(np, pandas):
    return pandas.Series(masked(np)[0])


@of_pandas
def a_series_of_ints(np, pandas):
    return pandas.Series(np.ma.array([1, 2, 3], mask=[0, 1, 0]))


@of_pandas
def a_table(np, pandas):
    return pandas.DataFrame(masked(np))


@of_pandas
def columns_of_a_table(np, pandas):
    return pandas.DataFrame({"a": np.ma.array(np.arange(3), mask=[0, 1, 0])}).assign(b=masked(np)[0, :3])


PICTURES = {
    "a line": lambda axes, m: axes.plot(m[0]),
    "a line over masked places": lambda axes, m: axes.plot(m[1], m[0]),
    "an image": lambda axes, m: axes.imshow(m),
    "a mesh": lambda axes, m: axes.pcolormesh(m),
    "contours": lambda axes, m: axes.contour(m),
    "filled contours": lambda axes, m: axes.contourf(m),
    "points": lambda axes, m: axes.scatter(m[0], m[1]),
    "colours of points": lambda axes, m: axes.scatter(range(20), range(20), c=m[0]),
    "error bars": lambda axes, m: axes.errorbar(range(20), m[0], yerr=0.1),
    "an area": lambda axes, m: axes.fill_between(range(20), m[0]),
    "arrows": lambda axes, m: axes.quiver(m, m),
    "bars": lambda axes, m: axes.bar(range(20), m[0]),
    "steps": lambda axes, m: axes.step(range(20), m[0]),
}


def _picture(draw):
    def picture(np, matplotlib):
        return drawn(matplotlib, lambda axes: str(type(draw(axes, masked(np)))))

    return picture


for name, draw in PICTURES.items():
    picture = _picture(draw)
    picture.__name__ = name
    of_matplotlib(picture)


STATISTICS = {
    "a geometric mean": lambda stats, m: stats.mstats.gmean(m),
    "the same of statistics of all arrays": lambda stats, m: stats.gmean(m[0]),
    "scores": lambda stats, m: stats.mstats.zscore(m),
    "a mode": lambda stats, m: tuple(stats.mstats.mode(m)),
    "extremes cut": lambda stats, m: stats.mstats.winsorize(m[0], limits=0.1),
    "a correlation": lambda stats, m: tuple(stats.mstats.pearsonr(m[0], m[1])),
    "quantiles": lambda stats, m: stats.mstats.mquantiles(m),
    "ranks": lambda stats, m: stats.mstats.rankdata(m),
    "ends cut": lambda stats, m: stats.mstats.trim(m[0], (0.1, 0.9)),
    "a fitted line": lambda stats, m: tuple(stats.mstats.linregress(m[0], m[1])),
}


def _statistic(compute):
    def plain(value):
        return value.filled(-1.0) if hasattr(value, "filled") else value

    def statistic(np, stats):
        made = compute(stats, masked(np))
        return tuple(map(plain, made)) if isinstance(made, tuple) else plain(made)

    return statistic


for name, compute in STATISTICS.items():
    statistic = _statistic(compute)
    statistic.__name__ = name
    of_scipy(statistic)


test_pandas = of_pandas.tests()
test_matplotlib = of_matplotlib.tests()
test_scipy = of_scipy.tests()


def test_numpy_takes_the_mask_along_where_it_takes_other_classes():
    m = masked(gpupy)
    made = numpy.asanyarray(m)
    assert type(made) is numpy.ma.MaskedArray and type(numpy.asarray(m)) is numpy.ndarray
    assert type(numpy.array(m)) is numpy.ndarray and type(numpy.array(m, subok=True)) is numpy.ma.MaskedArray
    wanted = masked(numpy)
    numpy.testing.assert_array_equal(made.mask, wanted.mask)
    numpy.testing.assert_array_equal(numpy.asarray(m), wanted.data)
    # One memory, as with NumPy's.
    made[0, 0] = 5.0
    made[0, 1] = numpy.ma.masked
    assert m[0, 0] == 5.0 and m[0, 1] is gpupy.ma.masked
    m[0, 2] = gpupy.ma.masked
    assert made[0, 2] is numpy.ma.masked


def test_what_makes_masked_arrays_of_numpys_makes_them_of_ours():
    m, wanted = masked(gpupy), masked(numpy)
    for make in (numpy.ma.array, numpy.ma.asarray, numpy.ma.asanyarray, numpy.ma.MaskedArray):
        made = make(m)
        assert type(made) is numpy.ma.MaskedArray and type(made.data) is numpy.ndarray
        numpy.testing.assert_array_equal(made.mask, wanted.mask)
        assert made.sum() == pytest.approx(wanted.sum())
    assert numpy.ma.array([m[0], m[1]]).mask.sum() == wanted.mask[:2].sum()


@pytest.mark.parametrize(
    "line",
    [
        "masked_invalid(m)", "masked_greater(m, 0.5)", "masked_where(m > 0.5, m)", "fix_invalid(m)",
        "median(m, axis=0)", "sort(m)", "mean(m)", "mean(m, axis=1)", "count(m)", "count(m, axis=0)",
        "compressed(m)", "average(m)", "average(m, axis=0)", "getmaskarray(m)", "getmask(m)", "getdata(m)",
        "filled(m, 0)", "add(m, 1)", "add(1, m)", "add.reduce(m)", "multiply.outer(m[0], m[1])",
        "maximum(m, 0.5)", "minimum.reduce(m)", "sqrt(m)", "divide(m, m)", "concatenate([m, m])",
        "vstack((m, m))",
        "cov(m)", "where(m > 0.5, m, 0)", "is_masked(m)", "isMaskedArray(m)", "isMA(m)", "allclose(m, m)",
        "sum(m, axis=0)", "std(m)", "cumsum(m, axis=0)", "diff(m)", "notmasked_edges(m)", "dot(m, m)",
        "anom(m)", "argmax(m)", "ravel(m)", "transpose(m)", "take(m, [1, 2])", "power(m, 2)", "unique(m)",
    ],
)  # fmt: skip
def test_a_function_of_numpy_ma_gives_of_ours_what_gpupys_gives(line):
    theirs, ours = (eval(f"ma.{line}", {"ma": numpy.ma, "m": masked(np)}) for np in (numpy, gpupy))
    for own, other in zip(
        *([x] if not isinstance(x, (list, tuple)) else x for x in (ours, theirs)), strict=True
    ):
        if isinstance(other, numpy.ndarray):
            assert isinstance(own, gpupy.ndarray)
            assert isinstance(own, gpupy.ma.MaskedArray) == isinstance(other, numpy.ma.MaskedArray)
        mask = numpy.ma.getmaskarray(other)
        numpy.testing.assert_array_equal(numpy.asarray(gpupy.ma.getmaskarray(own)), mask)
        values = (numpy.asarray(gpupy.ma.filled(own, 0)), numpy.ma.filled(other, 0))
        numpy.testing.assert_allclose(*values, rtol=1e-6)


def test_masked_arrays_of_both_meet():
    ours, theirs = masked(gpupy), masked(numpy)
    for made in (
        theirs * ours,
        ours * theirs,
        numpy.ma.multiply(theirs, ours),
        gpupy.ma.multiply(theirs, ours),
    ):
        assert type(made) is gpupy.ma.MaskedArray and repr(made).startswith("masked_array(")
        numpy.testing.assert_array_equal(numpy.asarray(made.mask), theirs.mask)
    assert repr(gpupy.ma.array(theirs)).startswith("masked_array(")
    numpy.testing.assert_array_equal(numpy.asarray(gpupy.ma.compressed(theirs)), theirs.compressed())
    made = numpy.ma.masked * ours
    assert type(made) is gpupy.ma.MaskedArray and bool(made.mask.all())


def test_code_that_asks_for_memory_alone_gets_the_data():
    m = masked(gpupy)
    with pytest.raises(BufferError, match="more than memory"):
        memoryview(m)
    for array in (m, m[:, 1:]):
        numpy.asanyarray(array)
        described = array.__array_interface__
        assert described["shape"] == array.shape and described["strides"] in (None, array.strides)
    assert memoryview(m.data).nbytes == m.nbytes


def test_a_function_of_numpy_ma_that_writes_reaches_the_array_of_either():
    for own in (numpy, gpupy):
        m = masked(own)
        for other in (numpy, gpupy):
            numpy.ma.putmask(m, masked(other) > 0.5, 2.0)
            numpy.ma.put(m, [0, 1], masked(other)[0, :2])
        wanted = masked(numpy)
        numpy.ma.putmask(wanted, wanted > 0.5, 2.0)
        numpy.ma.put(wanted, [0, 1], masked(numpy)[0, :2])
        numpy.testing.assert_array_equal(numpy.asarray(own.ma.getmaskarray(m)), wanted.mask)
        numpy.testing.assert_allclose(numpy.asarray(m.filled(0)), wanted.filled(0))
