"""Regressions that NumPy's own tests found: layouts, parts, iterators, errors at the line, other classes.

The oracle is NumPy. Not here: NumPy's tests themselves (``crates/gpupy-py/numpy_tests``).
"""

import asyncio
import contextlib
import operator
import pickle
import threading
import warnings

import numpy as np
import pytest
from pairs import check

import gpupy


@pytest.fixture(autouse=True)
def on_the_cpu():
    gpupy._gpupy.reconfigure("cpu", strict=False)


def test_ufunc_at_changes_its_array_and_nothing_that_shares_its_memory():
    mine = gpupy.arange(6.0)
    copy, pending = mine.copy(), mine * 2
    gpupy.add.at(mine, [1, 1, 4], 10)
    assert mine.tolist() == [0, 21, 2, 3, 14, 5]
    assert copy.tolist() == [0, 1, 2, 3, 4, 5]
    assert pending.tolist() == [0, 2, 4, 6, 8, 10]


def test_parts_of_complex_numbers_are_written_through():
    mine, theirs = gpupy.array([1 + 2j, 3 - 1j]), np.array([1 + 2j, 3 - 1j])
    for z in (mine, theirs):
        z.imag[0] = 7
        part = z.real
        part *= 3
        z.imag += 1
    assert mine.tolist() == theirs.tolist()


def test_bits_under_another_dtype_are_written_through():
    mine, theirs = gpupy.ones(3), np.ones(3)
    for x in (mine, theirs):
        x.view(np.uint64)[1:] = 0
        x.view(np.uint8)[3] = 64
    assert mine.tolist() == theirs.tolist()


def test_other_ways_of_writing_parts_reach_the_array():
    mine, theirs = gpupy.array([1 + 2j, 3 - 1j]), np.array([1 + 2j, 3 - 1j])
    for z in (mine, theirs):
        z.imag.reshape(1, 2)[0] = 5
        np.add(z.real, 1, out=z.real)
    assert mine.tolist() == theirs.tolist() == [2 + 5j, 4 + 5j]


def test_views_under_numpys_own_dtypes_are_views():
    a = gpupy.arange(3)
    seen = a.view("M8[s]")
    seen[1] = np.datetime64(7, "s")
    assert a.tolist() == [0, 7, 2]
    seen.reshape(1, 3)[0] = np.datetime64(5, "s")
    assert a.tolist() == [5, 5, 5]
    a[2] = 8
    assert seen[2] == np.datetime64(8, "s")


@pytest.mark.parametrize("shape", [(3, 4), (30, 400), (20, 30, 40)])
def test_results_of_numpys_functions_keep_their_layout(shape):
    theirs = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape))
    mine = gpupy.pad(gpupy.array(theirs), 1, "mean")
    wanted = np.pad(theirs, 1, "mean")
    assert mine.flags.f_contiguous == wanted.flags.f_contiguous
    assert mine.strides == wanted.strides
    assert mine.tolist() == wanted.tolist()


def test_an_iterator_writes_to_its_operands_at_its_end():
    mine = gpupy.arange(6).reshape(2, 3)
    with gpupy.nditer(mine, op_flags=["readwrite"]) as iterator:
        for x in iterator:
            x[...] = 2 * x
        assert iterator.operands[0] is mine
    assert mine.tolist() == [[0, 2, 4], [6, 8, 10]]
    for x in gpupy.nditer(mine, op_flags=["readwrite"]):
        x[...] = 1
    assert mine.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_mistakes_are_told_at_the_line_where_a_program_asks_for_them():
    zero, one = gpupy.zeros(3), gpupy.ones(3)
    with gpupy.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            one / zero
        with gpupy.errstate(divide="ignore"):
            assert (one / zero).tolist() == [np.inf] * 3
        with pytest.raises(FloatingPointError):
            gpupy.divide(one, zero)
    with gpupy.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="invalid value"):
        zero / zero
    assert (one / zero).tolist() == [np.inf] * 3


def test_the_mode_of_errors_ends_with_its_context_and_function():
    @gpupy.errstate(over="raise")
    def big():
        return gpupy.full(3, 1e308) * 10

    with pytest.raises(FloatingPointError, match="overflow"):
        big()
    assert (gpupy.full(3, 1e308) * 10).tolist() == [np.inf] * 3
    before = gpupy.seterr(divide="raise")
    try:
        with pytest.raises(FloatingPointError):
            gpupy.ones(2) / gpupy.zeros(2)
    finally:
        gpupy.seterr(**before)
    assert (gpupy.ones(2) / gpupy.zeros(2)).tolist() == [np.inf] * 2


ERRORS = {
    "a quotient": (lambda: gpupy.ones(3) / gpupy.zeros(3), "divide by zero"),
    "a quotient of many": (lambda: gpupy.ones(40_000) / gpupy.zeros(40_000), "divide by zero"),
    "one of integers": (lambda: gpupy.ones(3, int) // gpupy.zeros(3, int), "divide by zero"),
    "a function": (lambda: gpupy.log(-gpupy.ones(3)), "invalid value"),
    "a product": (lambda: gpupy.full(3, 1e308) * 10, "overflow"),
    "a sum": (lambda: gpupy.full(9, 1e308).sum(), "overflow"),
    "a power": (lambda: gpupy.zeros(3) ** -1.0, "divide by zero"),
    "an output": (lambda: gpupy.divide(1, gpupy.zeros(3), out=gpupy.ones(3)), "divide by zero"),
    "in place": (lambda: operator.itruediv(gpupy.ones(3), gpupy.zeros(3)), "divide by zero"),
    "an outer quotient": (lambda: gpupy.divide.outer(gpupy.ones(3), gpupy.zeros(3)), "divide by zero"),
}


@contextlib.contextmanager
def _set_for_good(**modes):
    before = np.seterr(**modes)
    try:
        yield
    finally:
        np.seterr(**before)


@pytest.mark.parametrize("asking", [np.errstate, gpupy.errstate, _set_for_good])
@pytest.mark.parametrize("mistake", ERRORS)
def test_mistakes_are_told_whoever_asks_numpy_or_gpupy(asking, mistake):
    make, words = ERRORS[mistake]
    with asking(all="raise"), pytest.raises(FloatingPointError, match=words):
        make()
    with asking(all="raise"), np.errstate(all="ignore"):
        make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make()
        with np.errstate(all="ignore"):
            make()


def test_a_warning_and_a_call_that_numpys_errstate_asks_for_are_made_at_the_line():
    one, zero, told = gpupy.ones(3), gpupy.zeros(3), []
    with np.errstate(divide="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
        one / zero
    with np.errstate(divide="call", call=lambda words, flag: told.append(words)):
        one / zero
    assert told == ["divide by zero"]

    @np.errstate(divide="raise")
    def quotient():
        return one / zero

    with pytest.raises(FloatingPointError):
        quotient()
    assert not gpupy._gpupy.eager()


def test_what_numpys_own_functions_set_asks_for_nothing():
    told = []
    with np.errstate(invalid="ignore"):
        gpupy.linalg.inv(gpupy.eye(3) * 2)
        np.linalg.solve(np.eye(3), np.ones(3))
        told.append(gpupy._gpupy.eager())
    with np.errstate(invalid="raise"):
        np.linalg.inv(np.eye(3))
        told.append(gpupy._gpupy.eager())
    assert told == [False, True]


def test_a_task_that_asks_is_told_whatever_others_do_meanwhile():
    async def asks():
        with np.errstate(all="raise"):
            for _ in range(3):
                with pytest.raises(FloatingPointError):
                    gpupy.ones(2) / gpupy.zeros(2)
                await asyncio.sleep(0)

    async def ignores():
        for modes in ("ignore", "raise", "ignore"):
            with np.errstate(all=modes):
                await asyncio.sleep(0)

    async def both():
        await asyncio.gather(asks(), ignores(), asks())

    asyncio.run(both())
    assert not gpupy._gpupy.eager()


def test_a_thread_that_ended_asks_for_nothing():
    thread = threading.Thread(target=np.seterr, kwargs={"all": "raise"})
    thread.start()
    thread.join()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        gpupy.ones(2) / gpupy.zeros(2)
    assert not gpupy._gpupy.eager()


def test_a_cast_that_loses_imaginary_parts_warns():
    z = gpupy.array([1 + 2j])
    target = gpupy.zeros(1)
    for lose in (lambda: z.astype(float), lambda: target.__setitem__(slice(None), z)):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            lose()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z.astype(np.complex64)
        z.astype(bool)


def test_masks_are_kept_by_our_functions():
    masked = np.ma.array([1.0, 2.0, 30.0], mask=[0, 0, 1])
    assert gpupy.mean(masked) == 1.5
    assert gpupy.sum(masked) == 3
    assert gpupy.expand_dims(masked, 0).mask.tolist() == [[False, False, True]]
    ours = gpupy.asanyarray(masked)
    assert type(ours) is gpupy.ma.MaskedArray
    assert ours.mask.tolist() == [False, False, True]
    assert type(gpupy.asarray(masked)) is gpupy.ndarray


class Other:
    """A class that says by itself what ufuncs do with it."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, [type(x) for x in inputs], sorted(kwargs)


def test_another_class_decides_about_ufuncs():
    mine, other = gpupy.arange(3), Other()
    kinds = [gpupy.ndarray, Other]
    assert gpupy.add(mine, other) == ("add", "__call__", kinds, [])
    assert gpupy.hypot(mine, other) == ("hypot", "__call__", kinds, [])
    assert mine + other == ("add", "__call__", kinds, [])
    assert gpupy.add(mine, mine, out=other)[3] == ["out"]


def test_a_scalar_is_no_output():
    with pytest.raises(TypeError, match="ArrayType"):
        gpupy.logaddexp2(gpupy.ones(3)[0], 1, out=gpupy.ones(3).sum())


def test_an_ellipsis_as_output_keeps_an_array_without_axes():
    made = gpupy.add(gpupy.array(1.0), 2, out=...)
    assert type(made) is gpupy.ndarray
    assert made.shape == ()


def test_flat_takes_the_keys_that_numpys_takes():
    mine, theirs = gpupy.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
    for key in (3, [1, 4], slice(1, 5, 2), ...):
        assert np.array_equal(mine.flat[key], theirs.flat[key])
    for key in ((1, 2), np.zeros((2, 2), bool)):
        for a in (mine, theirs):
            with pytest.raises(IndexError):
                a.flat[key]


PARTS = {
    "a slice in place": lambda z: operator.iadd(z.real[1:], 5),
    "a slice of a slice": lambda z: z.imag[1:][::2].__setitem__(..., 7),
    "all": lambda z: z.real[...].fill(2),
    "other bits": lambda z: z.view("f8")[2:].__imul__(3),
}


@pytest.mark.parametrize("way", PARTS)
def test_parts_of_parts_are_written_through(way):
    def written(xp):
        z = xp.arange(6) * (1 + 2j)
        seen = z.real
        PARTS[way](z)
        return [z.tolist(), z.real.tolist(), seen.shape]

    assert written(gpupy) == written(np)


def _reduced(xp):
    """The sum by an output that the iterator allocates."""
    with xp.nditer(
        [xp.arange(6), None], ["reduce_ok"], [["readonly"], ["readwrite", "allocate"]], op_axes=[[0], [-1]]
    ) as i:
        i.operands[1][...] = 0
        for x, y in i:
            y[...] += x
        return i.operands[1].tolist()


def _cast(xp):
    """Writes to the copy in another dtype that the iterator works on."""
    a = xp.arange(6.0).reshape(2, 3)
    with xp.nditer(a, [], [["readwrite", "updateifcopy"]], op_dtypes=["f4"], casting="same_kind") as i:
        i.operands[0][1:] = 14
    return a.tolist()


def _set(xp):
    a, b = xp.arange(3), xp.arange(3)
    with xp.nditer([a, b], [], ["readwrite"]) as i:
        i[0:2] = (3, 4)
        return [a.tolist(), b.tolist()]


def _nested(xp):
    a = xp.zeros((2, 3))
    i, j = xp.nested_iters(a, [[0], [1]], op_flags=["readwrite"])
    for n, _ in enumerate(i):
        for y in j:
            y[...] = n + 1
    return a.tolist()


@pytest.mark.parametrize("program", [_reduced, _cast, _set, _nested])
def test_what_an_iterator_writes_reaches_its_operands(program):
    assert program(gpupy) == program(np)


@pytest.mark.parametrize("name", ["array", "arange", "zeros", "empty"])
def test_a_function_that_is_an_attribute_of_a_class_binds_as_numpys_does(name):
    class Holder:
        make = getattr(gpupy, name)

    assert Holder().make(3).shape == getattr(np, name)(3).shape
    assert pickle.loads(pickle.dumps(Holder.make)) is Holder.make


@pytest.mark.parametrize("ask", ["shares_memory", "may_share_memory"])
def test_shared_memory_is_told_as_numpy_tells_it(ask):
    class Other:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    def told(xp):
        x, y, asked = xp.arange(10), xp.arange(10), getattr(xp, ask)
        pairs = [(x[::2], x[1::2]), (x[:3], x[5:]), (x, y), (x[1:4], x[3:]), (Other(x[::2]), x[1::2])]
        return [bool(asked(a, b)) for a, b in pairs]

    assert told(gpupy) == told(np)


AXES = (
    "all any argmax argmin argsort average concatenate count_nonzero cumprod cumsum diff flip max mean "
    "median min nanmean ptp prod repeat roll sort squeeze stack std sum take unstack var"
).split()


@pytest.mark.parametrize("axis", [0.5, "a", None, (0, 0.5), (0, 0), (0, -3), 5, -4, (), 2**70])
@pytest.mark.parametrize("name", AXES)
def test_what_is_no_axis_is_refused_in_numpys_words(name, axis):
    more = {"repeat": (2,), "roll": (1,), "take": ([0],)}.get(name, ())

    def called(xp):
        a = xp.ones((2, 3), "f4")
        first = [a] if name in ("concatenate", "stack") else a
        result = getattr(xp, name)(first, *more, axis=axis)
        return list(result) if name == "unstack" else result

    check(called, f"{name}(axis={axis})")


MISTAKES = {
    "an extent beyond any": lambda xp: xp.empty(2**64),
    "extents beyond any": lambda xp: xp.zeros((2**64, 2)),
    "one limit": lambda xp: xp.clip(xp.arange(5), 2),
    "the other limit": lambda xp: xp.clip(xp.arange(5), a_max=2),
    "limits twice": lambda xp: xp.clip(xp.arange(5), 1, 2, min=1),
    "a bool for an axis": lambda xp: xp.ones((2, 3)).sum(axis=True),
    "conjugate text": lambda xp: xp.ones(3, "U").conj(),
    "too many arguments": lambda xp: xp.hypot(xp.ones(2), 2, 3, 4),
    "an ellipsis for an output": lambda xp: xp.add(xp.ones(2), 2, ...),
    "a number's astype": lambda xp: xp.astype(1, int),
    "a copy in words": lambda xp: xp.array([1], copy="a"),
    "delete an element": lambda xp: xp.arange(3).flat.__delitem__(0),
    "one axis too many": lambda xp: xp.ones((1,) * 64)[None],
    "one axis too many, written": lambda xp: xp.ones((1,) * 64).__setitem__(None, 1),
    "axes of two": lambda xp: xp.add.outer(xp.ones((1,) * 33), xp.ones((1,) * 33)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_refused_in_numpys_words(mistake):
    check(MISTAKES[mistake], mistake)


def test_an_array_without_axes_has_a_conjugate():
    check(lambda xp: xp.array("a").conj())
    check(lambda xp: xp.array(1 + 2j).conj())
