"""Warnings are NumPy's, of numbers that are few and known when they are cast."""

import warnings

import numpy
import numpy as np
import pytest

import gpupy
from gpupy._session import errstate


def known(x):
    """An array itself; if it was pending, its elements are in host memory now."""
    x.tolist()
    return x


WAYS = {
    "astype": lambda xp, x, to: x.astype(to),
    "astype of F order": lambda xp, x, to: x.astype(to, order="F"),
    "assignment": lambda xp, x, to: xp.zeros(x.shape, to).__setitem__(..., x),
    "a part": lambda xp, x, to: xp.zeros((3, *x.shape), to).__setitem__(1, x),
    "copyto": lambda xp, x, to: xp.copyto(xp.zeros(x.shape, to), x, casting="unsafe"),
    "copyto where": lambda xp, x, to: xp.copyto(
        xp.zeros(x.shape, to), x, casting="unsafe", where=xp.ones(x.shape, bool)
    ),
    "flat": lambda xp, x, to: xp.zeros(x.shape, to).flat.__setitem__(slice(None), x),
    "index array": lambda xp, x, to: xp.zeros(x.shape, to).__setitem__(xp.arange(len(x)), x),
    "mask": lambda xp, x, to: xp.zeros(x.shape, to).__setitem__(xp.ones(x.shape, bool), known(x.ravel())),
}

NUMBERS = {
    "nothing": ([1.0, -0.0, 3.5], ("i1", "i8", "f2", "c8")),
    "NaN": ([1.0, np.nan, 2.0], ("i1", "i4", "i8", "u8", "f2", "f4", "?")),
    "infinity": ([-np.inf, 0.0], ("i2", "i8", "f2", "f4", "c8")),
    "next to the limit": (np.array([2**31, 1], "f4"), ("i4", "u4", "i8")),
    "far above": (np.array([2.0**64, 1], "f4"), ("i8", "u8", "i4")),
    "large": ([1e300, 1.0], ("i4", "i8", "f2", "f4", "c8", "f8", "c16")),
    "above float16": (np.array([70000, 1], "i4"), ("f2", "f4", "i2")),
    "large parts": (np.array([1 + 1e300j, 2]), ("c8",)),
    "complex NaN": (np.array([np.nan + 2j, 2]), ("c8", "i4")),
    "strided": (np.array([[1e300, 1.0], [2.0, np.nan]])[:, ::-1], ("f4", "i4")),
    "none": (np.zeros((0, 2)), ("i4", "f2")),
}


def told(xp, way, numbers, to):
    """The warnings, except for complex numbers that lose a part."""
    x = xp.array(numbers) if isinstance(numbers, list) else xp.asarray(numbers)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        way(xp, x, to)
    return {str(each.message) for each in found if each.category is RuntimeWarning}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("way", WAYS)
def test_casts_of_numbers_that_do_not_fit_warn_as_numpys(driver, way, name):
    numbers, dtypes = NUMBERS[name]
    for to in dtypes:
        wanted, got = (told(xp, WAYS[way], numbers, to) for xp in (numpy, gpupy))
        assert got == wanted, to


def test_casts_warn_once_and_by_the_modes_in_force(driver):
    x = gpupy.array([np.nan, np.inf, np.nan])
    with pytest.warns(RuntimeWarning, match="invalid value encountered in cast") as found:
        x.astype("i4")
    assert len(found) == 1
    with warnings.catch_warnings(), gpupy.errstate(invalid="ignore"):
        warnings.simplefilter("error")
        x.astype("i4")
    with gpupy.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        x.astype("i4")


def test_a_warning_computes_nothing(driver):
    x = gpupy.full(100000, np.nan, "f4") * gpupy.arange(100000, dtype="f4")
    before = gpupy.stats().blocks_evaluated
    x.astype("i4")
    assert gpupy.stats().blocks_evaluated == before


def test_python_integers_beyond_float16_warn_as_numpys(driver):
    for write in (
        lambda a: a.__setitem__(0, 70000),
        lambda a: a.fill(-70000),
        lambda a: a.__setitem__(..., 65504),
    ):
        told_of = []
        for xp in (numpy, gpupy):
            a = xp.zeros(3, "f2")
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                write(a)
            told_of.append(([str(each.message) for each in found], a.tolist()))
        assert told_of[0] == told_of[1]


@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_a_warning_about_numbers_that_is_an_exception_comes_at_its_line(driver, size):
    def lines(xp):
        ones = xp.asarray(np.ones(size))
        seen = []
        for step in range(3):
            try:
                if step == 0:
                    ratio = ones.sum() / (ones - 1).sum()
                elif step == 1:
                    ratio = ones.max() * 1e200 * 1e200
                else:
                    ratio = ones.max() // (ones.min() - 1)
                seen.append(float(ratio))
            except (RuntimeWarning, FloatingPointError) as error:
                seen.append((type(error), str(error), error.__traceback__.tb_lineno))
        return seen

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lines(gpupy) == lines(numpy)
    with np.errstate(all="raise"):
        assert lines(gpupy) == lines(numpy)


@pytest.mark.parametrize("size", [1_000, 1_000_000])
@pytest.mark.parametrize("action", ["always", "default", "ignore"])
def test_a_warning_about_numbers_that_a_filter_asks_for_comes_at_its_line(driver, size, action):
    def given(xp):
        ones = xp.asarray(np.ones(size))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            ratio = ones.sum() / (ones - 1).sum()
            large = ones.max() * 1e200 * 1e200
            difference = large - ratio
            root = np.sqrt(-ones.sum())
            texts = f"{ratio} {large} {difference} {root}"
        return texts, [(str(each.message), each.lineno, each.filename) for each in found]

    assert given(gpupy) == given(numpy)


QUIET = {"all": "ignore"}, {"divide": "ignore", "invalid": "ignore"}, {}


def raises(xp):
    """Whether division by zero is an exception, and NumPy's modes say so."""
    try:
        made = xp.ones(3) / xp.asarray([0.0, 1, 2])
        gpupy.evaluate(made) if xp is gpupy else made
    except FloatingPointError:
        return True, numpy.geterr()
    return False, numpy.geterr()


@pytest.mark.parametrize("quiet", QUIET)
def test_modes_inside_of_modes_that_ask_for_nothing_count_until_they_end(driver, quiet):
    def seen(xp):
        found = []
        quiet_modes = numpy.errstate(**quiet)
        with quiet_modes:
            found.append(raises(xp))
            with numpy.errstate(divide="raise"):
                found.append(raises(xp))
                with numpy.errstate(divide="ignore"):
                    found.append(raises(xp))
                found.append(raises(xp))
            found.append(raises(xp))
            with pytest.raises(TypeError, match="twice"), quiet_modes:
                pass
            numpy.seterr(divide="raise")
            found.append(raises(xp))
        found.append(raises(xp))
        with pytest.raises(KeyError), numpy.errstate(**quiet):
            numpy.seterr(all="raise")
            raise KeyError
        return [*found, raises(xp)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seen(gpupy) == seen(numpy)


def test_modes_that_ask_for_nothing_are_set_by_numpy_alone(monkeypatch):
    told = []
    monkeypatch.setattr(errstate.Told, "set", lambda self, modes: told.append(modes))
    monkeypatch.setattr(errstate.Told, "reset", lambda self, before: told.append(before))
    with numpy.errstate(all="ignore"), numpy.errstate(divide="ignore", over="ignore"):
        assert numpy.geterr()["divide"] == "ignore"
    assert not told


@pytest.mark.parametrize("how", ["filter", "raise"])
@pytest.mark.parametrize("dtype", ["u1", "i4", "u8", "f2", "f4", "c8"])
@pytest.mark.parametrize(
    "value",
    [np.float64("nan"), np.float64(1e300), np.float32("inf"), np.int64(70000), 1e300, 1e300 + 2j, 2**70],
)
def test_what_an_assignment_stores_before_its_warning_is_raised_is_numpys(dtype, value, how):
    def stored(xp, write):
        made, said = xp.ones(4, dtype=dtype), None
        with warnings.catch_warnings(), np.errstate(all="raise" if how == "raise" else "warn"):
            warnings.simplefilter("error")
            try:
                write(xp, made)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
        return np.asarray(made).tobytes(), said

    def element(xp, made):
        made[1] = value

    def slice_of_number(xp, made):
        made[1:3] = value

    def slice_of_array(xp, made):
        made[1:3] = np.array([value, 2], dtype=None if isinstance(value, np.generic) else complex)

    def whole(xp, made):
        made[...] = value

    def picked(xp, made):
        made[[0, 2]] = value

    def masked(xp, made):
        made[xp.array([True, False, True, False])] = value

    def filled(xp, made):
        made.fill(value)

    for write in (element, slice_of_number, slice_of_array, whole, picked, masked, filled):
        assert stored(gpupy, write) == stored(np, write), write.__name__
