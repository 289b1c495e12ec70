"""Every kind of write changes its target, all views of it, and nothing else."""

import operator
import warnings

import numpy as np
import pytest
from pairs import assert_same, check

import gpupy

WAYS = {
    "element": lambda xp, a: a.__setitem__(2, 7),
    "slice": lambda xp, a: a.__setitem__(slice(1, None, 2), 11),
    "mask": lambda xp, a: a.__setitem__(a > 2, 0),
    "index array": lambda xp, a: a.__setitem__([0, -1, 2], xp.array([8, 9, 10], a.dtype)),
    "overlap": lambda xp, a: a.__setitem__(slice(1, None), a[:-1]),
    "in-place operator": lambda xp, a: a.__imul__(3),
    "in-place operator on a view": lambda xp, a: a[::-1].__iadd__(a),
    "out": lambda xp, a: xp.add(a, 1, out=a),
    "out and where": lambda xp, a: xp.negative(a, out=a, where=a > 1),
    "accumulate into": lambda xp, a: xp.add.accumulate(a.copy(), out=a),
    "copyto": lambda xp, a: xp.copyto(a, 4, where=a < 3),
    "fill": lambda xp, a: a.fill(5),
    "put": lambda xp, a: xp.put(a, [1, 3], [6, 7]),
    "put that wraps": lambda xp, a: a.put([1, 30], [6, 7], mode="wrap"),
    "place": lambda xp, a: xp.place(a, a > 1, [1, 2]),
    "putmask": lambda xp, a: xp.putmask(a, a > 1, [1, 2]),
    "put_along_axis": lambda xp, a: xp.put_along_axis(a, xp.array([4, 0]), 9, 0),
    "at": lambda xp, a: xp.add.at(a, [0, 0, 3], 2),
    "unary at": lambda xp, a: xp.negative.at(a, [1, 2]),
    "sort": lambda xp, a: a.sort(),
    "partition": lambda xp, a: (a.partition(2), a.sort()),
    "flat": lambda xp, a: a.flat.__setitem__(slice(0, 4), [1, 2]),
    "all of flat": lambda xp, a: setattr(a, "flat", [3, 1]),
    "real": lambda xp, a: setattr(a, "real", 2),
    "shuffle": lambda xp, a: np.random.default_rng(1).shuffle(a),
}


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "uint8"])
@pytest.mark.parametrize("way", WAYS)
def test_writing_changes_the_array_and_its_views_and_nothing_else(device, way, dtype):
    def after(xp):
        base = xp.array([3, 1, 4, 1, 5, 9, 2, 6], dtype)
        array, view, copy = base[1:7], base[::2], base.copy()
        taken, pending, kept = base[[1, 2]], base * 2 - 1, array + base[:6]
        WAYS[way](xp, array)
        return base, array, view, array[::-1], copy, taken, pending, kept

    for got, want in zip(after(gpupy), after(np), strict=True):
        assert_same(got, want, way)


def test_writes_one_after_another_over_many_blocks(device):
    """A block is made of some of the blocks before, not of those between them."""

    def after(xp):
        kept = xp.asarray((np.arange(119) % 50).astype("f4").reshape(17, 7))
        a = kept.copy()
        a[:, 3] = 5
        a[:] = a[::-1] - xp.roll(a, 1)
        a[1:] += a[:-1]
        a[:, 1:] = a[:, :-1] + a[:, 1:]
        return a, kept

    for got, want in zip(after(gpupy), after(np), strict=True):
        assert_same(got, want)


@pytest.mark.parametrize("columns", [250, 300, 1000])
def test_a_reduction_of_written_neighbours_in_little_memory_ends(device, columns):
    """What each part of a row needs is found part by part, and does not go before the last one is found."""

    def after(xp):
        a = xp.asarray(np.arange(5 * columns).reshape(5, columns)).copy()
        a[:, 1:] &= a[:, :-1]
        a[:, 1:] -= a[:, :-1]
        return (a[:, 1:] + a[:, :-1] + a[:, :1]).max(-1)

    assert_same(after(gpupy), after(np))


WHOLE_WRITES = {
    "all": lambda a, b: a.__setitem__(slice(None), b),
    "reshaped": lambda a, b: a.reshape(2, -1).__setitem__(..., b.reshape(2, -1)),
    "a result": lambda a, b: a.__setitem__(..., b * 1),
    "a view of a result": lambda a, b: a.__setitem__(..., (b * 1).reshape(2, -1).ravel()),
    "copyto": lambda a, b: np.copyto(a, b),
}


@pytest.mark.parametrize("way", WHOLE_WRITES)
@pytest.mark.parametrize("size", [100, 8190, 8192, 8194, 32768, 40000])
def test_an_array_that_got_all_elements_of_another_is_written_by_itself(driver, way, size):
    def after(xp):
        a, b = xp.zeros(size), xp.arange(float(size))
        view, backwards, before = a[3:], a[::-1], a + 0
        WHOLE_WRITES[way](a, b)
        seen = a[:5] * 1, view[:5] * 1
        a[4] = -1
        b[5] = -2
        view += 10
        WHOLE_WRITES[way](b, a)
        b *= 2
        a[::2] = 0
        return a, b, view, backwards, before, *seen

    for got, want in zip(after(gpupy), after(np), strict=True):
        assert_same(got, want, way)


@pytest.mark.parametrize("size", [100, 9000, 40000])
def test_exports_show_what_replaces_all_elements(driver, size):
    a, b = gpupy.zeros(size), gpupy.arange(float(size))
    gpupy.evaluate(a, b)
    of_a = np.asarray(a)
    a[:] = b
    np.testing.assert_array_equal(of_a, np.arange(float(size)))
    of_a[3] = -1
    assert a[3] == -1 and b[3] == 3
    of_b = np.asarray(b)
    a[:] = b
    of_b[4] = -2
    assert b[4] == -2 and a[4] == 4 and of_a[4] == 4
    memory = np.arange(float(size))
    shared = gpupy.from_dlpack(memory)
    a = gpupy.zeros(size)
    a[:] = shared
    memory[5] = -3
    assert a[5] == 5
    # What old versions of NumPy give out by DLPack is not to be written.
    if shared.flags.writeable:
        shared[:] = a
        a[6] = -4
        assert shared[6] == 6


def test_what_is_copied_shares_nothing_that_at_writes_to(driver):
    values = gpupy.arange(6.0)
    copy = values.copy()
    gpupy.add.at(copy, [0, 0], 1)
    np.testing.assert_array_equal(values, np.arange(6.0))
    assert copy[0] == 2


UPDATES = {
    "element": lambda a, i: a.__setitem__(i % 100, 1),
    "slice": lambda a, i: a.__setitem__(slice(1, -1), 2),
    "in-place operator": lambda a, i: a.__imul__(np.float32(0.99)),
    "in-place operator on a slice": lambda a, i: operator.setitem(
        a, slice(2, -2), operator.iadd(a[2:-2], np.float32(1))
    ),
    "chain on a slice": lambda a, i: operator.setitem(a, slice(2, None), a[2:] * np.float32(0.5) + 1),
    "mask": lambda a, i: operator.setitem(a, a > 1, 1),
}


@pytest.mark.parametrize("update", UPDATES)
def test_a_loop_of_1000_updates_copies_nothing(update):
    gpupy._gpupy.reconfigure("cpu")
    # More than is computed at once.
    want = np.ones(60_000, np.float32)
    array = gpupy.asarray(want) + 1
    want = want + 1
    gpupy.evaluate(array)
    gpupy.reset_stats()
    for i in range(1000):
        UPDATES[update](array, i)
        UPDATES[update](want, i)
        gpupy.evaluate(array)
    counts = gpupy.stats()
    # A copy would be a launch of its own.
    assert (counts.launches, counts.bytes_downloaded, counts.fallbacks) == (1000, 0, 0)
    assert counts.blocks <= 2
    assert_same(array, want)


def test_a_loop_of_updates_by_a_mask_copies_nothing():
    gpupy._gpupy.reconfigure("cpu")
    want = np.linspace(-4.5, 0.2, 60_000)
    z = gpupy.asarray(want) + 1
    want = want + 1
    gpupy.evaluate(z)
    gpupy.reset_stats()
    for _ in range(30):
        for array in (z, want):
            inside = abs(array) < 3
            array[inside] = array[inside] ** 2 - 0.5
    counts = gpupy.stats()
    # A mask and an update in each step; where the mask is true was never looked up.
    assert (counts.launches, counts.in_place, counts.bytes_downloaded, counts.fallbacks) == (60, 30, 0, 0)
    assert_same(z, want)


def swap(array, times):
    """Swaps pairs of elements, which reads each before the other is written."""
    for i in range(times):
        array[i], array[-2 - i] = array[-2 - i], array[i]


def test_a_pending_array_that_is_written_element_by_element_settles_in_host_memory():
    gpupy._gpupy.reconfigure("cpu", strict=False)
    want = np.arange(60_000) * 2
    array = gpupy.arange(60_000) * 2
    before = array + 1
    swap(array, 300)
    gpupy.reset_stats()
    swap(array, 1000)
    # From there on a write is a move.
    assert gpupy.stats().launches == 0
    assert_same(before, want + 1)
    swap(want, 300)
    swap(want, 1000)
    assert_same(array, want)
    # Pending values may be written to an array in host memory all the same.
    array[5] = (array + 1)[7:8].sum()
    want[5] = want[7] + 1
    assert_same(array, want)


def columns(xp, start):
    """A filter that goes from column to column, as many programs do."""
    source = xp.asarray(np.linspace(0, 1, 60_000).reshape(300, 200))
    array = start(xp, source)
    array[:, 0] = source[:, 0]
    for j in range(1, 200):
        array[:, j] = 0.5 * source[:, j] + 0.25 * array[:, j - 1]
    return array


@pytest.mark.parametrize("start", ["zeros", "full", "computed"])
def test_an_array_that_is_written_column_by_column_settles_in_host_memory(start):
    gpupy._gpupy.reconfigure("cpu", strict=False)
    starts = {
        "zeros": lambda xp, source: xp.zeros((300, 200)),
        "full": lambda xp, source: xp.full((300, 200), 3.5),
        "computed": lambda xp, source: source + 1.0,
    }
    check(lambda xp: columns(xp, starts[start]))
    gpupy.reset_stats()
    columns(gpupy, starts[start])
    counts = gpupy.stats()
    # Beyond some columns, each operation is computed at once, and each write is a move.
    assert counts.launches - counts.computed_at_once <= 32 and counts.fallbacks == 0


def test_fields_of_records_are_views():
    def program(xp):
        records = xp.zeros((3, 3), [("position", np.float32, 2), ("color", np.float32, 3), ("n", np.int8)])
        records["position"][0, 0] = 0.5, 1.5
        records["position"][1, 1] = 2.5, 3.5
        color = records["color"]
        color[1:, ::2] += 1
        color *= 2
        row = records[2]
        row["n"] = 7
        records["n"][0] = [1, 2, 3]
        more = color[1] * 2 + records["position"][1, 1, 0]
        records["color"] = 4
        return records, color, row, more, records["position"].sum(axis=0), records["n"].T

    for got, want in zip(program(gpupy), program(np), strict=True):
        assert_same(got, want)


# Views that show an element several times: of each row one, of each column one, diagonals, a single one.
REPEATED = {"rows": (1, 0), "columns": (0, 1), "diagonals": (2, 2), "one": (0, 0)}


@pytest.mark.parametrize(
    "source", ["array", "scalar", "computed", "of the base", "by a mask", "one by a mask"]
)
@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("shape", [(5, 7), (300, 400)])
def test_what_is_written_several_times_is_written_last_and_nothing_else_changes(driver, shape, name, source):
    def written(xp):
        base = xp.arange(shape[0] * shape[1]).reshape(shape) * 0.5
        other = xp.arange(base.size).reshape(shape)[::-1] * 3.0
        row, column = base.strides
        first, second = REPEATED[name]
        steps = {0: 0, 1: row, 2: column}[first], {0: 0, 1: column, 2: column}[second]
        view = xp.lib.stride_tricks.as_strided(base, shape, steps)
        given = {"array": other, "scalar": 2.5, "computed": other * 2 + 1, "of the base": base[:, ::-1] + 1}
        if source in given:
            view[...] = given[source]
        else:
            xp.copyto(view, other if source == "by a mask" else 7, where=other % 2 == 0)
        return base

    assert_same(written(gpupy), written(np))


@pytest.fixture(params=["at once", "recorded"])
def how(request):
    """The driver `cpu` as users have it, and where all work is recorded."""
    gpupy._gpupy.reconfigure("cpu", strict=request.param == "recorded")


@pytest.mark.parametrize("size", [40, 40_000])
def test_a_mask_that_changes_names_other_elements(how, size):
    def program(xp):
        values = xp.arange(size, dtype=np.float32).reshape(-1, 8) % 5
        mask = values > 2
        first = values[mask]
        values[mask] = first + 1
        mask[:, 2] = True
        second = values[mask]
        values[mask] = second * 2
        values.T[mask.T] -= 1
        values[::-1][mask] = 7
        mask[...] = False
        values[mask] = 9
        return values, first, second, values[mask]

    for got, want in zip(program(gpupy), program(np), strict=True):
        assert_same(got, want)


MASKED = {
    "number": lambda a, m: operator.setitem(a, m, 3),
    "array": lambda a, m: operator.setitem(a, m, a[m] * 2),
    "one element": lambda a, m: operator.setitem(a, m, a[:1, 0]),
    "in place": lambda a, m: operator.setitem(a, m, operator.iadd(a[m], 1)),
    "column": lambda a, m: operator.setitem(a[:, 1], m[:, 1], 4),
    "backwards": lambda a, m: operator.setitem(a[::-1, ::2], m[:, ::2], 5),
    "too few": lambda a, m: operator.setitem(a, m, a[0, :2]),
    "too many axes": lambda a, m: operator.setitem(a, m, a),
    "other extents": lambda a, m: operator.setitem(a, m[1:], 1),
    "rows": lambda a, m: operator.setitem(a, slice(0, 2), a[m[:, 0]][:2]),
}


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("way", MASKED)
def test_few_elements_are_written_by_masks_as_numpy_writes_them(how, way, dtype):
    def program(xp):
        array = (xp.arange(24) % 7).reshape(4, 6).astype(dtype)
        mask = xp.asarray((np.arange(24) % 3 == 0).reshape(4, 6))
        pending, kept = array + 1, array.copy()
        try:
            MASKED[way](array, mask)
            said = ""
        except (IndexError, TypeError, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
        return said, array, pending, kept

    (said, *got), (wanted, *want) = program(gpupy), program(np)
    assert said == wanted
    for ours, theirs in zip(got, want, strict=True):
        assert_same(ours, theirs, way)


@pytest.mark.parametrize("number", [1e300, float("nan"), 2.0**40, -1.5])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, "ours"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_floats_that_do_not_fit_into_integers_are_refused_as_numpy_refuses_them(number, kind, dtype):
    def outcome(xp):
        array = xp.zeros((2, 3), dtype)
        value = xp.array([number])[0] if kind == "ours" else kind(number)
        try:
            array[1, 2] = value
        except (OverflowError, ValueError) as error:
            return str(error)
        return array.tolist()

    with np.errstate(all="ignore"):
        assert outcome(gpupy) == outcome(np)


NUMBERS = [
    *[2**63, 2**64, -(2**63) - 1, 10**30, 300, -1, 1e300, 1e300 + 0j, 1e20, float("nan")],
    *[np.complex128(1e300), np.complex128(1 + 2j), np.complex64(3), np.float64(1e300), np.longdouble(1e30)],
    *[
        np.uint64(2**64 - 1),
        np.int64(-1),
        np.float16(7),
        np.True_,
        np.datetime64(3, "s"),
        np.timedelta64(3, "s"),
    ],
    *[None, "7", "x", [1, 2], np.array([5]), np.array(2.5), np.array(1e300 + 1j)],
]
DOORS = {
    "element": lambda xp, a, v: a.__setitem__(1, v),
    "slice": lambda xp, a, v: a.__setitem__(slice(1, None), v),
    "nothing": lambda xp, a, v: a.__setitem__(slice(0, 0), v),
    "list": lambda xp, a, v: a.__setitem__([0, 2], v),
    "mask": lambda xp, a, v: a.__setitem__(xp.array([True, False, True]), v),
    "fill": lambda xp, a, v: a.fill(v),
    "flat": lambda xp, a, v: setattr(a, "flat", v),
    "put": lambda xp, a, v: xp.put(a, [0], v),
    "copyto": lambda xp, a, v: xp.copyto(a, v),
    "copyto unsafe": lambda xp, a, v: xp.copyto(a, v, casting="unsafe"),
    "copyto nothing cast": lambda xp, a, v: xp.copyto(a, v, casting="no", where=[True, True, True]),
    "copyto safely": lambda xp, a, v: xp.copyto(a, v, casting="safe", where=[True, False, True]),
    "putmask": lambda xp, a, v: xp.putmask(a, xp.array([True, False, True]), v),
    "full": lambda xp, a, v: xp.full(3, v, a.dtype),
    "full of none": lambda xp, a, v: xp.full(0, v, a.dtype),
    "full_like": lambda xp, a, v: xp.full_like(a, v),
    "array": lambda xp, a, v: xp.array(v, a.dtype),
    "where": lambda xp, a, v: xp.where(xp.array([True, False, True]), a, v),
}


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "complex64"]
)
@pytest.mark.parametrize("door", DOORS)
def test_numbers_that_do_not_fit_are_taken_or_refused_through_every_door_as_by_numpy(door, dtype):
    def told(xp, number):
        array = xp.zeros(3, dtype)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                made = DOORS[door](xp, array, number)
            except Exception as error:
                made = (type(error), str(error))
        said = {(each.category, str(each.message)) for each in found}
        made = made if isinstance(made, tuple) or made is None else (str(made.dtype), made.tolist())
        # Of a NaN, which is not equal to itself.
        return repr(made), repr(array.tolist()), said

    for number in NUMBERS:
        assert told(gpupy, number) == told(np, number), repr(number)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
@pytest.mark.parametrize("size", [32_769, 131_072, 131_073])
def test_many_elements_are_written_by_masks_as_numpy_writes_them(driver, size, dtype):
    numbers = np.random.default_rng(7).integers(0, 100, size)

    def after(xp):
        x = xp.asarray(numbers.astype(dtype))
        mask = x.real > 30
        values = xp.asarray(np.arange(np.count_nonzero(numbers > 30)).astype(dtype))
        pending = x + 1
        pending[mask] = values
        computed, apart = x * 2, xp.zeros(2 * size, dtype)[::2]
        kept = computed + 0
        if xp is gpupy:
            gpupy.evaluate(computed, kept, apart, mask)
        copy, view = computed.copy(), computed[5:]
        computed[mask] = values
        apart[mask] = values
        apart[::-1][mask] = values
        kept[mask] += values
        kept[mask] = kept[mask] * 2
        before = kept - 1
        kept[~mask] = 7
        return pending, computed, copy, view, apart, kept, before, mask, values

    for got, want in zip(after(gpupy), after(np), strict=True):
        assert_same(got, want)


def test_copyto_writes_and_refuses_as_numpys_does():
    def outcome(xp):
        a, told = xp.arange(12.0).reshape(3, 4), []
        read_only = a.view()
        read_only.setflags(write=False)
        for dest, source, given in [
            (a[::-1], xp.arange(4), {}),
            (a, a.T[:, 1:], {}),
            (a, xp.ones((1, 3)), {}),
            (a[:, 0], xp.ones((1, 3)), {}),
            (a[0], xp.ones((1, 3)), {}),
            (xp.zeros(3, xp.int32), a[:, 0], {}),
            (xp.zeros(3, xp.int32), a[:, 0] * 2, {"casting": "unsafe"}),
            (a, 7, {"where": a > 8}),
            (read_only, a[0], {}),
            (read_only, read_only, {}),
        ]:
            try:
                xp.copyto(dest, source, **given)
                told.append(numpy_of(dest).tolist())
            except (ValueError, TypeError) as error:
                told.append(str(error))
        return told

    numpy_of = np.asarray
    assert outcome(gpupy) == outcome(np)
