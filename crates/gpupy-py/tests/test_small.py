"""Small work is eager, with NumPy's results; it does not delay other work."""

import math
import random
import subprocess
import sys
import threading

import numpy
import pytest
from pairs import check

import gpupy


def small(seed, shape=(10,)):
    return numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32)


PROGRAMS = {
    "operators": lambda xp, x, y: 2.5 * x + y / 3 - x * y,
    "comparisons": lambda xp, x, y: (x < y) | (x >= 1) & ~(y == x),
    "ufuncs": lambda xp, x, y: xp.sqrt(xp.abs(x)) + xp.floor(y),
    "views": lambda xp, x, y: x[1:] - x[:-1] * y[::-1][1:],
    "strides": lambda xp, x, y: x[::3] + y[1::3][:3].sum() + x[::3][::-1],
    "broadcasting": lambda xp, x, y: x[:, None] * y[None, :] + x,
    "reductions": lambda xp, x, y: xp.stack([x.max(), y.min(), (x > 0).any().astype("f4")]),
    "integers": lambda xp, x, y: (x * 100).astype("int32") // 7 % 5 + xp.arange(10, dtype="int32"),
    "ranges": lambda xp, x, y: xp.arange(10, dtype="float32") * 2 + xp.zeros(10, "float32"),
    "selections": lambda xp, x, y: xp.where(x > y, x, y),
    "joins": lambda xp, x, y: xp.concatenate([x[2:5] * 2, y, x[::-1]]),
    "scalars": lambda xp, x, y: x * x[3] + float(y[2]) - int(y[1] * 10),
    "copies": lambda xp, x, y: x.reshape(2, 5).T.copy() + y.reshape(5, 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_small_programs_give_what_numpy_gives(auto, name):
    x, y = small(1), small(2)
    want = PROGRAMS[name](numpy, x, y)
    for _ in range(3):
        found = PROGRAMS[name](gpupy, gpupy.array(x), gpupy.array(y))
        assert found.dtype == want.dtype
        numpy.testing.assert_array_equal(numpy.asarray(found), want)
    assert gpupy.stats().computed_at_once > 0
    assert gpupy.stats().blocks_evaluated == gpupy.stats().fallbacks == 0


def test_writes_give_what_numpy_gives(auto):
    def program(xp):
        a, b = xp.array(small(1)), xp.array(small(2))
        before, row = a * 1, a[2:5]
        a[2:5] = b[:3]
        a[1:] = a[:-1]
        a[::2] = -1
        a[3] = b[3]
        a += b
        a *= 2
        row -= 0.5
        return [numpy.array(v) for v in (a, b, before, row)]

    for found, want in zip(program(gpupy), program(numpy), strict=True):
        numpy.testing.assert_array_equal(found, want)
    assert gpupy.stats().blocks_evaluated == 0


def test_what_was_asked_for_before_a_write_stays(auto):
    a = gpupy.array(small(1))
    element, double, total = a[3], a * 2, a.sum()
    a[:] = 0
    want = small(1)
    assert element == want[3] and (numpy.asarray(double) == want * 2).all()
    assert total != 0 and a.sum() == 0


def test_mistakes_are_numpys_at_their_line(auto):
    x = gpupy.array(small(1))
    with pytest.raises(ValueError, match="could not be broadcast together"):
        x + gpupy.array(small(2, (3,)))
    with pytest.raises(ValueError, match="read-only"):
        gpupy.broadcast_to(x, (3, 10))[0] += 1
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        x.astype("int32").__iadd__(0.5)


def test_an_element_does_not_keep_its_array(auto):
    x = gpupy.array(small(1))
    element = x[3]
    x.dispose()
    assert float(element) == small(1)[3]


def test_threads_compute_at_once_beside_an_evaluation(auto):
    large = gpupy.array(small(3, (3_000_000,)))
    wrong = []

    def evaluate():
        for k in range(4):
            numpy.asarray(gpupy.sqrt(large * large + k)[:1])

    def compute():
        x = gpupy.array(small(4))
        for k in range(300):
            if not (numpy.asarray(2.5 * x + k) == numpy.float32(2.5) * small(4) + k).all():
                wrong.append(k)

    threads = [threading.Thread(target=t) for t in (evaluate, compute, compute)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_explanation_says_so(auto):
    x = gpupy.array(small(1))
    assert "computed at once" in str(gpupy.explain(2.5 * x))


def test_large_work_stays_lazy(auto):
    x = gpupy.array(small(1, (100_000,)))
    y = 2.5 * x + x
    assert gpupy.stats().computed_at_once == gpupy.stats().launches == 0
    numpy.testing.assert_array_equal(numpy.asarray(y), numpy.float32(2.5) * numpy.asarray(x) + x)


def test_strict_placement_computes_nothing_at_once():
    gpupy._gpupy.reconfigure("cpu")
    gpupy.reset_stats()
    x = 2.5 * gpupy.array(small(1))
    assert gpupy.stats().computed_at_once == gpupy.stats().launches == 0
    assert (numpy.asarray(x) == numpy.float32(2.5) * small(1)).all()


def step(xp, dice, arrays, seen):
    """One step of a random program on small arrays; NumPy and gpupy take the same ones for one seed."""
    a, b = (arrays[dice.randrange(len(arrays))] for _ in range(2))
    n, kind = a.shape[0], dice.randrange(16)
    start, stop, stride = dice.randrange(n), dice.randrange(n + 1), dice.choice([1, 1, 2, -1])
    part = a[::-1][start:stop] if stride < 0 else a[start:stop:stride]
    number = dice.choice([0.5, -2.0, 3.0, 1])
    if kind < 3 and part.shape[0]:
        arrays.append(part)
    elif kind == 3:
        a[dice.randrange(-n, n)] = number
    elif kind == 4:
        a[start:stop] = number
    elif kind == 5 and part.shape == b[: part.shape[0]].shape:
        part[:] = b[: part.shape[0]]
    elif kind == 6 and n > 1:
        a[1:] = a[:-1]
    elif kind == 7 and a.shape == b.shape:
        arrays.append(a * number + b)
    elif kind == 8 and a.shape == b.shape:
        a += b
    elif kind == 9:
        a *= xp.float32(0.5)
    elif kind == 10:
        seen.append(numpy.asarray(a))
    elif kind == 11:
        seen.append(a[dice.randrange(n)])
    elif kind == 12:
        arrays.append(a.copy())
    elif kind == 13:
        arrays.append(xp.concatenate([a, b]))
    elif kind == 14:
        arrays.append(a[xp.asarray(numpy.array([dice.randrange(-n, n) for _ in range(3)]))])
    elif kind == 15 and bool(a.max() > 1) and not bool(a[0] > 2):
        arrays.append(a[a > a[0]] if bool((a > a[0]).any()) else a.copy())
    seen.append(a.sum())
    while len(arrays) > 7:
        del arrays[dice.randrange(len(arrays))]
    arrays[:] = [array for array in arrays if 0 < array.shape[0] < 60]


def result(xp, seed):
    dice, seen = random.Random(seed), []
    arrays = [xp.asarray(small(seed, (size,))) for size in (10, 10, 25, 1)]
    if xp is numpy:
        arrays = [array.copy() for array in arrays]
    # The elements seen now are not those of later.
    for _ in range(40):
        step(xp, dice, arrays, seen)
        seen[-2:] = [numpy.array(value) for value in seen[-2:]]
    return [numpy.array(value) for value in (*seen, *arrays)]


@pytest.mark.parametrize("seed", range(60))
def test_views_and_writes_alias_as_numpys(auto, seed):
    for found, want in zip(result(gpupy, seed), result(numpy, seed), strict=True):
        numpy.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


def test_pending_expressions_keep_the_elements_of_small_arrays(auto):
    x = gpupy.array(small(1))
    view = x[2:5]
    pending = gpupy.zeros((40_000, 3), "float32") + view
    x[3] = 99
    view[0] = 98
    want = small(1)[2:5]
    assert (numpy.asarray(pending[7]) == want).all()
    assert list(view) == [98, 99, want[2]] and x[3] == 99


def test_what_was_given_out_is_the_array_itself(auto):
    x = gpupy.array(small(1))
    shown, lent = numpy.asarray(x), memoryview(x)
    x[:] = 0
    assert not shown.any() and not any(lent)
    assert not lent.readonly and lent.format == "f" and lent.shape == (10,)
    numpy.frombuffer(x, "f4")[3] = 5
    assert x[3] == shown[3] == lent[3] == 5


def test_dtypes_given_out_are_numpys_own(auto):
    for dtype in (bool, "int32", "int64", "uint64", "float32", float, complex):
        assert numpy.asarray(gpupy.zeros(3, dtype)).dtype.char == numpy.zeros(3, dtype).dtype.char


@pytest.mark.parametrize("dtype", "? b h i q B H I Q e f d F D".split())
def test_buffers_tell_shape_strides_and_dtype(auto, dtype):
    want = numpy.arange(24).reshape(4, 6).astype(dtype)
    x = gpupy.array(want)
    for of in (lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a[1], lambda a: a[:0]):
        found = numpy.asarray(of(x))
        assert found.dtype == want.dtype and found.flags.writeable
        numpy.testing.assert_array_equal(found, of(want))
        assert (
            bytes(numpy.ascontiguousarray(memoryview(of(x)))) == numpy.ascontiguousarray(of(want)).tobytes()
        )


def test_known_scalars_compute_as_numpys(auto):
    want = small(1)
    x = gpupy.array(want)
    for a, b in [(x[3], want[3]), (x.sum(), numpy.float32(x.sum())), (x.max(), want.max())]:
        for operate in (
            *(
                lambda s: s + 1,
                lambda s: 2.5 * s,
                lambda s: s / 3,
                lambda s: s - s,
                lambda s: s * 1e30 * 1e30,
            ),
            *(
                lambda s: s**2,
                lambda s: -s,
                lambda s: abs(s),
                lambda s: s // 2,
                lambda s: s % 2,
                lambda s: s > 0,
            ),
            *(
                lambda s: s == s + 0,
                lambda s: s != s + 0,
                lambda s: s < 1e40,
                lambda s: round(float(s), 3),
                numpy.sqrt,
            ),
        ):
            with numpy.errstate(all="ignore"):
                found, wanted = operate(a), operate(b)
            assert numpy.array(found).dtype == numpy.array(wanted).dtype
            numpy.testing.assert_array_equal(numpy.array(found), numpy.array(wanted))
    with numpy.errstate(all="raise"), pytest.raises(FloatingPointError):
        x[3] / (x[3] - x[3])
    assert gpupy.sqrt(abs(x[3])) == numpy.sqrt(abs(want[3])) and gpupy.stats().fallbacks == 0


def test_few_elements_are_picked_as_numpy_picks_them(auto):
    want = small(1, (6, 4))
    x = gpupy.array(want)
    for key in ([[1, -2], [0, 5]], [3], [[0] * 3] * 2):
        for dtype in ("int64", "int8", "uint16"):
            if min(numpy.ravel(key)) < 0 and dtype == "uint16":
                continue
            index = numpy.array(key, dtype)
            numpy.testing.assert_array_equal(numpy.asarray(x[gpupy.array(index)]), want[index])
    numpy.testing.assert_array_equal(numpy.asarray(x[x > 0]), want[want > 0])
    numpy.testing.assert_array_equal(numpy.asarray(x.T[gpupy.array([3, 0])]), want.T[[3, 0]])
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        x[gpupy.array([6])]
    assert gpupy.stats().launches <= 20


def test_a_chain_of_larger_results_becomes_one_kernel():
    gpupy._gpupy.reconfigure("cpu", strict=False)
    gpupy.reset_stats()
    want = x = small(1, (30_000,))
    y = x = gpupy.array(x)
    for _ in range(10):
        y, want = y * 0.5 + x, want * numpy.float32(0.5) + numpy.asarray(x)
    stats = gpupy.stats()
    assert stats.computed_at_once < 8
    numpy.testing.assert_array_equal(numpy.asarray(y), want)
    assert gpupy.stats().launches - stats.launches <= 2


def test_what_each_turn_computes_anew_belongs_to_the_kernel_of_a_chain():
    """The same operands in each turn would be as many operands of its kernel."""
    gpupy._gpupy.reconfigure("cpu", strict=False)

    def smoothed(np, x):
        s = trend = np.zeros_like(x)
        for _ in range(40):
            before = s
            s = 0.3 * x + 0.7 * (s + trend)
            trend = 0.1 * (s - before) + 0.9 * trend
        return s, trend

    x = small(1, (10_000,))
    given = gpupy.array(x)
    gpupy.reset_stats()
    for got, want in zip(smoothed(gpupy, given), smoothed(numpy, x), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(got), want, rtol=1e-5)
    # Some turns of eight operations, and a few kernels.
    assert gpupy.stats().launches <= 30


COMPOSED = {
    "floor_divide remainder fmax fmin heaviside logaddexp logaddexp2 nextafter": 2,
    "logical_and logical_or logical_xor": 2,
    "logical_not square reciprocal degrees radians spacing": 1,
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("name", " ".join(COMPOSED).split())
def test_several_operations_are_one_launch_with_the_bits_of_many_elements(auto, name, dtype):
    arity = next(arity for names, arity in COMPOSED.items() if name in names.split())
    chance = numpy.random.default_rng(4)
    given = [chance.integers(-9, 9, 70_000).astype(dtype) for _ in range(arity)]
    for values in given:
        if values.dtype.kind == "f":
            values[1::2] += chance.normal(0, 1, 35_000).astype(dtype)
            values[:4] = 0.0, -0.0, numpy.inf, numpy.nan
    function = getattr(gpupy, name)
    with numpy.errstate(all="ignore"):
        many = numpy.asarray(function(*map(gpupy.array, given)))[:60]
        few = [gpupy.array(values[:60]) for values in given]
        function(*few)
        gpupy.reset_stats()
        made = function(*few)
        stats = gpupy.stats()
        for part in (few, [values.reshape(6, 10).T for values in few]):
            want = many if part is few else many.reshape(6, 10).T
            numpy.testing.assert_array_equal(numpy.asarray(function(*part)), want, strict=True)
    # Quotients of ints are float64 first, which are cast.
    if (name, dtype) != ("reciprocal", "int32"):
        assert stats.launches <= 1, (made, stats)
    if arity == 2:
        weak = [few[0], 2]
        wide = [gpupy.array(given[0]), 2]
        with numpy.errstate(all="ignore"):
            numpy.testing.assert_array_equal(
                numpy.asarray(function(*weak)), numpy.asarray(function(*wide))[:60], strict=True
            )


@pytest.mark.parametrize("xp", [numpy, gpupy])
def test_arrays_from_little_are_numpys(auto, xp):
    made = [
        *(
            xp.zeros(3),
            xp.zeros((2, 3), "int8"),
            xp.ones((), bool),
            xp.ones(4, xp.float32),
            xp.empty((2, 0), int),
        ),
        *(xp.arange(10), xp.arange(3, 20, 4), xp.arange(5, -6, -3), xp.arange(7, 7), xp.arange(2, 9.5)),
        *(
            xp.array([1.5, 2.5]),
            xp.array([3, -4]),
            xp.array([1, 2.5]),
            xp.array([True, 2]),
            xp.array([2**63]),
        ),
        *(
            xp.concatenate([xp.arange(2), xp.arange(3)]),
            xp.concatenate([xp.zeros((2, 1)), xp.ones((2, 2))], 1),
        ),
    ]
    assert [(str(a.dtype), a.shape) for a in made] == [
        *(("float64", (3,)), ("int8", (2, 3)), ("bool", ()), ("float32", (4,)), ("int64", (2, 0))),
        *(("int64", (10,)), ("int64", (5,)), ("int64", (4,)), ("int64", (0,)), ("float64", (8,))),
        *(("float64", (2,)), ("int64", (2,)), ("float64", (2,)), ("int64", (2,)), ("uint64", (1,))),
        *(("int64", (5,)), ("float64", (2, 3))),
    ]
    assert [a.tolist() for a in made[5:8]] == [list(range(10)), [3, 7, 11, 15, 19], [5, 2, -1, -4]]
    assert made[-1].tolist() == [[0, 1, 1], [0, 1, 1]] and made[10].tolist() == [1.5, 2.5]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_places_of_extremes_of_few_elements_are_numpys(auto, dtype, axis):
    values = (numpy.random.default_rng(3).integers(0, 4, (7, 9)) - (dtype != "uint64")).astype(dtype)
    if values.dtype.kind == "f":
        values[2, 3] = values[2, 5] = values[4, 5] = numpy.nan
        values[0, 1], values[1, 1] = numpy.inf, -numpy.inf
    for given in (values, values[::-1, ::2], values.T):
        ours = gpupy.array(values)
        ours = {(7, 9): ours, (7, 5): ours[::-1, ::2], (9, 7): ours.T}[given.shape]
        for name in ("argmin", "argmax"):
            found, want = getattr(ours, name)(axis), getattr(given, name)(axis)
            assert found.dtype == want.dtype
            numpy.testing.assert_array_equal(numpy.asarray(found), want)


@pytest.mark.parametrize("axis", [None, 0, -1, 1, -2, 2, -3, True, 2**40, -(2**40), 0.5])
def test_running_sums_and_sorts_take_an_axis_as_numpys_do(auto, axis):
    for shape in [(), (4,), (3, 4)]:
        for dtype in ("float16", "float32", "int8"):
            values = numpy.arange(12)[: math.prod(shape)][::-1].reshape(shape).astype(dtype)
            check(lambda xp: xp.asarray(values).cumsum(axis), f"{shape} {dtype}")
            check(lambda xp: xp.sort(xp.asarray(values), axis), f"{shape} {dtype}")
            check(lambda xp: xp.argsort(xp.asarray(values), axis, kind="stable"), f"{shape} {dtype}")


@pytest.mark.parametrize("order", [None, "C", "F", "A", "K", "f", "bogo"])
def test_a_copy_lies_in_memory_as_numpys(auto, order):
    values = numpy.arange(12.0).reshape(3, 4)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1]):
        for args, named in (((), {}), ((order,), {}), ((), {"order": order})):

            def copied(xp, view=view, args=args, named=named):
                return view(xp.asarray(values)).copy(*args, **named)

            check(copied, str(order))
            check(lambda xp, copied=copied: xp.array(copied(xp).strides), str(order))


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16"])
def test_masks_of_every_length_pick_and_write_as_numpys(auto, dtype):
    chance = numpy.random.default_rng(7)
    for n in [*range(1, 40), 300, 1000]:
        for part in (0.0, 0.1, 0.5, 0.9, 1.0):
            mask = chance.random(n) < part
            source = (chance.random((n, 3)) * 100).astype(dtype)
            results = []
            for xp in (numpy, gpupy):
                whole, chosen = xp.asarray(source.copy()), xp.asarray(mask)
                column, apart = whole[:, 0].copy(), whole[:, 1]
                picked = column[chosen], whole[chosen], apart[chosen]
                column[chosen] = picked[2]
                apart[chosen] = 3
                results.append([*picked, column, whole])
            for wanted, found in zip(*results, strict=True):
                numpy.testing.assert_array_equal(numpy.asarray(found), wanted)


@pytest.mark.parametrize("shape", [(40,), (30, 40), (3, 5, 40), (70, 3), (2, 0, 3), (5, 1, 4)])
@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
def test_operations_on_few_rows_are_numpys(auto, shape, dtype):
    """Once there is machine code for them, too: the same again and again."""
    given = (numpy.random.default_rng(3).random((*shape[:-1], shape[-1] + 2)) * 100).astype(dtype)
    theirs, ours = given[..., 1:-1], gpupy.asarray(given)[..., 1:-1]
    wanted = theirs + theirs * theirs[..., :1] - (theirs > theirs[..., ::-1])
    for _ in range(12):
        found = ours + ours * ours[..., :1] - (ours > ours[..., ::-1])
        numpy.testing.assert_array_equal(numpy.asarray(found), wanted)


def test_rows_of_an_array_are_views_of_it(auto):
    a = gpupy.zeros((3, 4, 2), "float32")
    for number, row in enumerate(a):
        assert row.base is a and row.shape == (4, 2)
        row[...] = number
    first, *rest = a
    assert len(rest) == 2 and float(first.sum()) == 0
    numpy.testing.assert_array_equal(numpy.asarray(a), numpy.arange(3)[:, None, None] * numpy.ones((3, 4, 2)))
    rows = iter(a)
    next(rows)
    assert rows.__length_hint__() == 2 and list(map(numpy.shape, rows)) == [(4, 2)] * 2
    assert next(rows, None) is None


@pytest.mark.parametrize("dtype", [None, "f4", "f8", "f2", "i4", "c16"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), 2])
def test_means_along_axes_are_numpys(auto, axis, dtype):
    for own in ("f4", "f8", "f2", "i4", "?"):
        check(lambda xp, own=own: xp.asarray(numpy.arange(35).reshape(5, 7).astype(own)).mean(axis, dtype))


@pytest.mark.parametrize(
    "key", [[3, -1, 0], [True, False, True, True, False], [1.5], [2**70], [], [[1, 2], [3, 0]], [5]], ids=str
)
@pytest.mark.parametrize("is_array", [False, True])
def test_little_keys_of_numpys_and_lists_are_as_numpys(auto, key, is_array):
    a = numpy.arange(10, dtype="f4").reshape(5, 2)
    key = numpy.array(key) if is_array else key
    for view in (numpy.s_[:], numpy.s_[:, 0], numpy.s_[::-1]):
        whole = gpupy.asarray(a)
        try:
            wanted = a[view][key]
        except (IndexError, OverflowError) as error:
            with pytest.raises(type(error)):
                whole[view][key]
            continue
        found = whole[view][key]
        assert found.shape == wanted.shape
        numpy.testing.assert_array_equal(found, wanted)
        # A copy, as NumPy's is.
        found[...] = -1
        numpy.testing.assert_array_equal(whole, a)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "float16"])
@pytest.mark.parametrize(
    "key", [[3, -1, 0], [1, 1, 1, 2], [5], [[1, 2], [3, 0]], [-6, 5], [-7], [True] * 3 + [False] * 3], ids=str
)
def test_little_keys_write_as_numpys(auto, key, dtype):
    def views(array):
        return [array, array[:, 0], array[::-1], array[::2], array.T, array[1:, 1]]

    for number in range(6):
        for value in ("one", "rows", "wide", "itself"):
            results = []
            for xp, index in (
                (numpy, numpy.array(key)),
                (gpupy, gpupy.asarray(numpy.array(key))),
                (gpupy, key),
            ):
                array = xp.asarray((numpy.arange(36).reshape(6, 6) % 5).astype(dtype))
                before, view, error = array * array, views(array)[number], None
                try:
                    rows = view[index]
                    given = {"one": 1, "rows": rows[::-1].copy(), "wide": numpy.arange(99), "itself": rows}[
                        value
                    ]
                    view[index] = given
                except (IndexError, ValueError) as raised:
                    error = type(raised)
                results.append((error, numpy.asarray(array).tobytes(), numpy.asarray(before).tobytes()))
            assert results[0] == results[1] == results[2]


def test_writes_by_little_keys_need_nothing_computed_before():
    program = """
import numpy, gpupy
x, at = gpupy.asarray(numpy.zeros(100)), gpupy.asarray(numpy.array([3, 1, 4]))
for turn in range(50):
    x[at] = 1.0
assert gpupy.stats().launches == 0, gpupy.stats()
assert x.sum() == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["exp", "tanh", "log1p", "cbrt", "arctan", "isnan", "floor", "arctan2", "hypot"]
)
def test_functions_of_known_elements_are_those_of_arrays_to_the_bit(auto, name, dtype):
    numbers = numpy.array([0.3, -0.7, 0.0, -0.0, 1e30, 1e-40, numpy.inf, -numpy.inf, numpy.nan, 100.0], dtype)
    array, function = gpupy.asarray(numbers), getattr(gpupy, name)
    for at in range(len(numbers)):
        places = [at, (at * 7 + 3) % len(numbers)][: getattr(numpy, name).nin]
        with numpy.errstate(all="ignore"):
            wanted = numpy.asarray(function(*[array[place : place + 1] for place in places]))[0]
            # The first call finds out how it is done, the second does it so.
            for _ in range(2):
                found = numpy.asarray(function(*[array[place] for place in places]))
                assert found.dtype == wanted.dtype
                numpy.testing.assert_array_equal(found, wanted)
                assert numpy.signbit(found) == numpy.signbit(wanted)


@pytest.mark.parametrize("name", ["absolute", "divide", "rint", "less", "add", "multiply", "negative"])
@pytest.mark.parametrize("size", [3, 40_000])
def test_an_operation_that_is_asked_again_is_the_same_operation(name, size):
    """The second time a ufunc knows the way, which is that of the first time for complex numbers too."""
    given = (numpy.arange(size) - 7.5 + 1j * numpy.arange(size)[::-1]).astype(numpy.complex64)
    ufunc, operands = getattr(numpy, name), [given, given[::-1].copy()][: getattr(numpy, name).nin]
    wanted = ufunc(*operands)
    for _ in range(3):
        found = getattr(gpupy, name)(*[gpupy.array(operand) for operand in operands])
        assert found.dtype == wanted.dtype
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("size", [3, 40_000])
def test_complex_numbers_of_numpy_and_python_are_operands(auto, dtype, size):
    given = (numpy.arange(size) - 7.5 + 1j * numpy.arange(size)[::-1]).astype(dtype)
    numbers = [2 - 3j, 0.5, -3, True, numpy.dtype(dtype).type(1.5 + 2j), numpy.float32(3), numpy.bool_(True)]
    for name in ("add", "subtract", "multiply"):
        for number in numbers:
            for pair in ((given, number), (number, given)):
                wanted = getattr(numpy, name)(*pair)
                for _ in range(3):
                    own = [gpupy.array(p) if p is given else p for p in pair]
                    found = getattr(gpupy, name)(*own)
                    assert found.dtype == wanted.dtype
                    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-6)
