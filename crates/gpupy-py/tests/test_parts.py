"""Reading computes and moves what is read: parts of large arrays are values of their own, until they cost
as much as the whole.

Counts of launches and bytes on every driver; where a driver works in host memory, arrays that have no room
say that no more was computed. Exports of parts share the memory of their base: random programs beside NumPy.
Not here: reads of elements that are there (``test_small.py``), exports of whole bases (``test_exports.py``).
"""

import gc

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpupy as np

N = 1 << 20
# Of each driver's numbers of bytes, launches and kernels.
COUNTED = ("launches", "bytes_downloaded", "kernels_compiled", "nodes_walked")
fresh = iter(range(3, 10**9))


def since(before):
    after = np.stats()
    return {name: after[name] - before[name] for name in COUNTED}


def counted(read, array):
    before = np.stats()
    result = read(array)
    return result, since(before)


def pending(shape=(N,), dtype="f4"):
    """An array that no other test has had, and NumPy's."""
    number = next(fresh)

    def made(xp):
        return (xp.arange(numpy.prod(shape, dtype=int), dtype=dtype) % 251 * 3 + number).reshape(shape)

    return made(np), made(numpy)


def kernels():
    """How many launches the driver in use needs for such an array, of which one may be a copy."""
    return counted(np.evaluate, pending((100_000,))[0])[1]["launches"]


def text(print_):
    """As NumPy prints it."""
    return lambda a: print_(a).replace("gpupy.", "")


# What is read, how many elements these are, and launches.
READS = {
    "tolist": (lambda a: a[5:10].tolist(), 5, 1),
    "tolist of steps": (lambda a: a[5 : N // 2 : 70001].tolist(), 8, 1),
    "tolist backwards": (lambda a: a[40:20:-3].tolist(), 7, 1),
    "asarray": (lambda a: numpy.asarray(a[7:20]).tolist(), 13, 1),
    "array": (lambda a: numpy.array(a[7:20]).tolist(), 13, 1),
    "memoryview": (lambda a: bytes(memoryview(a[7:20])), 13, 1),
    "float": (lambda a: float(a[77]), 1, 1),
    "item": (lambda a: a.item(78), 1, 1),
    "element": (lambda a: a[79] + 0, 1, 1),
    "truth": (lambda a: bool(a[80] > 5), 1, 1),
    "iteration": (lambda a: [float(x) for x in a[90:94]], 4, 4),
    "repr": (text(repr), 8, 2),
    "str": (text(str), 8, 2),
    "repr of a part": (lambda a: text(repr)(a[100:20000]), 8, 2),
    "repr of rows": (lambda a: text(repr)(a.reshape(1024, -1)), 64, 4),
    "rows": (lambda a: a.reshape(1024, -1)[3:5, 7:9].tolist(), 4, 1),
    "columns": (lambda a: a.reshape(1024, -1)[3:5, 7:9].T.tolist(), 4, 1),
    "half": (lambda a: a[: N // 2].tolist()[::1000], N // 2, 1),
    "tobytes": (lambda a: a[3:9].tobytes(), 6, 1),
    "index": (lambda a: a[numpy.array([5, 9, 1])].tolist(), 3, 1),
}


@pytest.mark.parametrize("name", READS)
def test_a_part_is_computed_and_moved_alone(driver, name):
    read, elements, launches = READS[name]
    ours, theirs = pending()
    each = kernels()
    found, counts = counted(read, ours)
    assert found == read(theirs)
    assert counts["launches"] <= launches * each + ("index" in name or "element" in name or "truth" in name)
    assert counts["bytes_downloaded"] <= 4 * elements


@pytest.mark.parametrize("name", [name for name in READS if name not in ("half", "index")])
def test_a_part_of_what_a_device_has_is_moved_alone(driver, name):
    read, elements, launches = READS[name]
    ours, theirs = pending()
    np.evaluate(ours)
    found, counts = counted(read, ours)
    assert found == read(theirs)
    assert counts["launches"] <= launches
    if not counts["launches"]:
        # What lies between the elements came with them, rather than to launch a copy.
        elements += 4 * (1024 if "row" in name or "col" in name else 20) * launches
    assert counts["bytes_downloaded"] <= 4 * elements


HUGE = {
    "print of a part": lambda a: str(a[:2]),
    "print": str,
    "repr": repr,
    "tolist": lambda a: a[77, 5:9].tolist(),
    "asarray": lambda a: float(numpy.asarray(a[3:4]).sum()),
    "element": lambda a: float(a[3, 4]),
    "sum of rows": lambda a: a[5:7].sum(axis=1).tolist(),
    "part of a sum": lambda a: a.sum(axis=1)[3:5].tolist(),
}


# Views that NumPy's functions give, and rows that few numbers name.
HUGE_VIEWS = {
    "diagonal": lambda np, a: a.diagonal(3)[:2],
    "diag": lambda np, a: np.diag(a)[5:7],
    "split": lambda np, a: np.split(a, 10)[3][1, :2],
    "array_split": lambda np, a: np.array_split(a, 7, axis=1)[1][:2, 0],
    "squeeze": lambda np, a: a[None].squeeze()[4, :2],
    "squeeze, turned": lambda np, a: np.squeeze(a.T[:, None, ::2])[:2, 1],
    "broadcast_to": lambda np, a: np.broadcast_to(a, (2, *a.shape))[1, 5, :2],
    "moveaxis": lambda np, a: np.moveaxis(a, 0, -1)[1, 3:5],
    "rot90": lambda np, a: np.rot90(a)[:2, 7],
    "mT": lambda np, a: a.mT[:2, 1],
    "expand_dims": lambda np, a: np.expand_dims(a, 1)[4, 0, :2],
    "windows": lambda np, a: np.lib.stride_tricks.sliding_window_view(a, 3, axis=0)[2, :2, 1],
    "strides": lambda np, a: np.lib.stride_tricks.as_strided(a[3:], (2,), a[3:].strides[:1]),
    "take": lambda np, a: a.take([4, 1], axis=0)[:, 1],
    "take along": lambda np, a: np.take(a, np.array([4, 1]), axis=-1)[3],
    "rows": lambda np, a: a[[7, 0, 7]][:, 2],
}


@pytest.mark.parametrize("name", HUGE_VIEWS)
@pytest.mark.parametrize("made", ["constant", "pending"])
def test_a_view_needs_no_room_for_what_it_is_of(driver, name, made):
    n = 10**5
    # What a device has no room for has more elements than an int32 counts.
    array = np.ones((n, n), dtype="f4")
    column = numpy.ones(n, dtype="f4")
    if made == "pending":
        column = numpy.arange(n, dtype="f4")
        array = array * np.arange(n, dtype="f4")[:, None]
    small = numpy.lib.stride_tricks.as_strided(column, (n, n), (4, 0))
    if name in ("take", "take along", "rows"):
        # NumPy copies all elements first.
        small = small[:10]
    assert HUGE_VIEWS[name](np, array).tolist() == HUGE_VIEWS[name](numpy, small).tolist()


# Reads of the first rows and columns by index arrays and masks.
HUGE_KEYS = {
    "grid": lambda np, a: a[np.ix_([0, 5], [1, 2])],
    "points": lambda np, a: a[[0, 5, 5], [1, 2, 1]],
    "rows and a slice": lambda np, a: a[np.arange(3), :4],
    "a slice and columns": lambda np, a: a[1:7:2, np.array([3, 0, 9])],
    "a row's": lambda np, a: a[2, np.arange(9, 3, -2)],
    "mask of rows": lambda np, a: a[np.arange(len(a)) < 3][:, 4:6],
    "new axes": lambda np, a: a[None, [2, 1], None, 3:5],
    "many": lambda np, a: a[np.arange(500) % 11, np.arange(500) % 7],
    "take along": lambda np, a: np.take_along_axis(a, np.arange(len(a))[:, None] % 5, 1)[:9, 0],
    "diagonal by einsum": lambda np, a: np.einsum("ii->i", a)[:5],
    "turned by einsum": lambda np, a: np.einsum("ij->ji", a)[1:3, 2:9],
    "product": lambda np, a: a[:2, :9] @ a[:9, :2],
    "filled": lambda np, a: (np.copyto(a, 9), a[:2, 3])[1],
}
# Writes to the first rows and columns.
HUGE_WRITES = {
    "element": lambda np, a: a.__setitem__((0, 0), 3),
    "last of a corner": lambda np, a: a.__setitem__((7, 7), 3),
    "through a view": lambda np, a: a[2:4].__setitem__((1, 1), 3),
    "elements": lambda np, a: [a.__setitem__((k % 7, k % 5), k) for k in range(40)],
    "rows": lambda np, a: [a.__setitem__(k % 6, k) for k in range(30)],
    "columns": lambda np, a: [a.__setitem__((slice(None), k % 6), k) for k in range(30)],
    "boxes": lambda np, a: [a[k % 5 : k % 7 + 2, k % 3 :].__imul__(k % 3 - 1) for k in range(20)],
    "every third": lambda np, a: a.__setitem__((slice(1, None, 3), slice(2, 8, 2)), 5),
    "backwards": lambda np, a: a[7::-1, 7::-1].__setitem__((slice(0, 4), slice(2, 4)), [8, 9]),
    "turned": lambda np, a: a.T.__setitem__((slice(1, 3), slice(0, 4)), np.arange(8).reshape(2, 4)),
    "of itself": lambda np, a: a.__setitem__(slice(3, 5), a[1:3] * 2),
    "points": lambda np, a: a.__setitem__(([0, 2, 2], [1, 1, 3]), 7),
    "grid": lambda np, a: a.__setitem__(np.ix_([0, 5], [1, 2]), 7),
    "some rows": lambda np, a: a.__setitem__([6, 1], np.array([[4], [5]])),
}
HUGE_CORNERS = {
    "corner": lambda a: a[:8, :8],
    "sum": lambda a: (a[:8, :8] + a[1:9, 2:10]).sum(axis=1),
    "steps": lambda a: a[7::-2, 1:8:3] * 2,
    "windows": lambda a: a[1, :8] + a[:8, 1:2],
}


def _huge(made):
    """An array that has no room, and its first rows and columns."""
    n, rows = 10**5, np.arange(10**5, dtype="f4")[:, None]
    array = np.ones((n, n), dtype="f4")
    if made == "pending":
        array = array * rows + np.arange(n, dtype="f4")
    corner = numpy.ones((20, 20), dtype="f4")
    if made == "pending":
        corner *= numpy.arange(20, dtype="f4")[:, None]
        corner += numpy.arange(20, dtype="f4")
    return array, corner


@pytest.mark.parametrize("made", ["constant", "pending"])
def test_index_arrays_need_no_room_for_what_they_pick_from(driver, made, some):
    for name in some(HUGE_KEYS, 4):
        array, corner = _huge(made)
        found, wanted = HUGE_KEYS[name](np, array), HUGE_KEYS[name](numpy, corner)
        assert found.shape == wanted.shape, name
        assert found.tolist() == wanted.tolist(), name


@pytest.mark.parametrize("made", ["constant", "pending"])
def test_a_part_of_what_was_written_needs_no_room_for_the_rest(driver, made, some):
    for name in some(HUGE_WRITES, 5):
        array, corner = _huge(made)
        HUGE_WRITES[name](np, array)
        HUGE_WRITES[name](numpy, corner)
        for look, of in HUGE_CORNERS.items():
            assert of(array).tolist() == of(corner).tolist(), (name, look)


def test_elements_that_are_put_need_no_room_for_the_others(driver):
    array, corner = _huge("pending")
    np.put(array[0], [0, 3], [5, 6])
    numpy.put(corner[0], [0, 3], [5, 6])
    assert array[0, :8].tolist() == corner[0, :8].tolist()


def test_sums_of_one_array_by_einsum_need_no_room_for_it(driver):
    array, _ = _huge("constant")
    assert float(np.einsum("ii", array)) == float(np.einsum("ii->", array)) == 10**5
    assert np.einsum("ij->j", array)[:2].tolist() == [10**5] * 2


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("made", ["constant", "pending"])
def test_no_more_room_is_taken_than_what_is_read_needs(driver, name, made):
    n = 10**5
    array = np.ones((n, n), dtype="f4")
    if made == "pending":
        array = array + np.arange(n, dtype="f4")[:, None] * 0
    found = HUGE[name](array)
    small = numpy.lib.stride_tricks.as_strided(numpy.ones(1, dtype="f4"), (n, n), (0, 0))
    if name in ("print", "repr"):
        assert "..." in found and found.count("1.") == 36
    else:
        assert found == HUGE[name](small)


def test_going_through_all_elements_costs_little_more_than_all_at_once(driver):
    ours, theirs = pending()
    found, counts = counted(lambda a: [float(a[k * 3]) for k in range(5000)], ours)
    assert found == theirs[: 3 * 5000 : 3].tolist()
    assert counts["launches"] <= 1000
    assert counts["bytes_downloaded"] <= 4 * N + 4 * 5000
    _, rest = counted(lambda a: [float(a[k * 3 + 1]) for k in range(5000)], ours)
    assert rest["launches"] == rest["bytes_downloaded"] == 0


def test_rows_one_by_one_cost_little_more_than_all_at_once(driver):
    ours, theirs = pending((1024, 1024))
    found, counts = counted(lambda a: [a[k].tolist() for k in range(1024)], ours)
    assert found == theirs.tolist()
    assert counts["launches"] <= 256
    assert counts["bytes_downloaded"] <= 3 * 4 * N


def test_a_loop_that_reads_an_element_a_step_does_not_plan_ever_longer_chains(driver):
    def run(steps):
        x, _ = pending()
        seen = []
        for _ in range(steps):
            x = x * 0.5 + 1
            seen.append(float(x[3]))
        return seen

    _, counts = counted(run, 200)
    # A chain of one step more each time would be 40,000 nodes, and 200 kernels.
    assert counts["nodes_walked"] <= 200 * 15
    assert counts["kernels_compiled"] <= 40
    assert counts["launches"] <= 4 * 200


def test_what_is_more_than_half_comes_whole(driver):
    ours, theirs = pending()
    assert ours[: N // 2 + 1].tolist() == theirs[: N // 2 + 1].tolist()
    _, counts = counted(lambda a: a[-5:].tolist(), ours)
    assert counts["launches"] == counts["bytes_downloaded"] == 0


def test_small_arrays_come_whole(driver):
    ours = np.arange(33_000, dtype="f4") + next(fresh)
    first = ours[:5].tolist()
    _, counts = counted(lambda a: a[5:10].tolist(), ours)
    assert len(first) == 5 and counts["launches"] == counts["bytes_downloaded"] == 0


def test_what_is_written_to_an_exported_part_is_in_the_array(driver):
    ours, _ = pending()
    before = float(ours[3])
    shown = numpy.asarray(ours[2:9])
    read_before = ours * 2
    shown[1] = -7
    assert float(ours[3]) == -7
    assert float((ours + 1)[3]) == -6
    assert float(read_before[3]) == 2 * before
    ours[2] = 5
    assert shown[0] == 5
    ours += 1
    assert shown.tolist()[:2] == [6, -6]
    assert numpy.shares_memory(shown, numpy.asarray(ours))


def test_an_export_of_a_part_needs_no_room_for_the_rest(driver):
    n = 10**5
    array = np.ones((n, n), dtype="f4") + np.arange(n, dtype="f4")
    shown = numpy.asarray(array[:2])
    shown[0, :3] = 0
    assert array[0, :5].tolist() == [0, 0, 0, 4, 5]
    # A write needs the rest.
    with pytest.raises(MemoryError):
        array[50, 50] = 1
    assert float(array[50, 50]) == 51 and shown[1, 3] == 4


def test_the_memory_of_a_part_is_the_arrays_until_it_is_gone(driver):
    ours, _ = pending()
    shown = numpy.asarray(ours[2:9])
    assert np.stats()["pins"] >= 1
    with pytest.raises(ValueError, match=r"resize|refer"):
        ours.resize(5)
    shown[0] = 77
    del shown
    gc.collect()
    assert float(ours[2]) == 77
    ours[2] = 78
    assert float(ours[2]) == 78


def test_many_exports_of_parts_end_as_one_of_all(driver):
    ours, theirs = pending((1024, 1024))
    _, counts = counted(lambda a: [numpy.asarray(a[k]).sum() for k in range(1024)], ours)
    assert counts["launches"] <= 300
    kept = [numpy.asarray(ours[k]) for k in range(1024)]
    for k, row in enumerate(kept):
        row[0] = k
    theirs[:, 0] = numpy.arange(1024)
    assert ours.tolist() == theirs.tolist()


SIZE = 300_000
SLICES = st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(1, 3), st.booleans())


def _slice(numbers, near_end):
    start, count, step, _ = numbers
    start += SIZE - 200 if near_end else 0
    return slice(start, start + count * step, step)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            "export write_export write read sum_part inplace drop mask index bits expression copy "
            "swap scalar".split()
        ),
        SLICES,
        st.integers(-9, 9),
    ),
    min_size=3,
    max_size=14,
)


def _run(xp, operations):
    base = xp.arange(SIZE, dtype="i4") * 3 + 1
    exports, kept, seen = [], [], []
    for name, numbers, value in operations:
        cut = _slice(numbers, numbers[3])
        if name == "export":
            exports.append(numpy.asarray(base[cut]))
        elif name == "write_export" and exports:
            exports[value % len(exports)][: numbers[1]] = value
        elif name == "write":
            base[cut] = value
        elif name == "scalar":
            base[cut.start] = value
        elif name == "read":
            seen.append(base[cut].tolist())
        elif name == "sum_part":
            seen.append(int(base[cut].sum()))
        elif name == "inplace":
            base += value
        elif name == "drop" and exports:
            exports.pop(value % len(exports))
        elif name == "mask":
            base[base % 1000 == value % 1000] = value
        elif name == "index":
            base[xp.asarray([cut.start, cut.start + 5])] = value
        elif name == "bits":
            base.view("u4")[cut] = abs(value)
        elif name == "expression":
            kept.append(base[cut] * 2 + value)
        elif name == "copy":
            kept.append(base.copy()[cut])
        elif name == "swap":
            base = base * 1 + value
        seen.append([export.tolist() for export in exports])
    seen.append([one.tolist() for one in kept])
    seen.append(numpy.asarray(base).tolist())
    return seen


@settings(max_examples=60)
@given(OPERATIONS)
def test_random_programs_with_exported_parts_are_numpys(driver, operations):
    assert _run(np, operations) == _run(numpy, operations)


ROWS, COLUMNS = 640, 800
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            "add row column square where shift reverse transpose flatten cut write cast roll join sum "
            "gather again".split()
        ),
        st.integers(1, 7),
    ),
    min_size=1,
    max_size=7,
)
PARTS = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from([1, 2, -1, 37]), st.integers(1, 5)),
    min_size=1,
    max_size=4,
)


def _expression(xp, steps):
    a = xp.arange(ROWS * COLUMNS, dtype="i4").reshape(ROWS, COLUMNS) % 9973
    b = a
    for name, k in steps:
        rows, columns = a.shape
        if name == "add":
            a = a + k
        elif name == "row":
            a = a * xp.arange(columns, dtype="i4")
        elif name == "column":
            a = a - xp.arange(rows, dtype="i4")[:, None] * k
        elif name == "square":
            a = a * a + b.reshape(a.shape)
        elif name == "where":
            a = xp.where(a % (k + 1) == 0, a, b.reshape(a.shape))
        elif name == "shift":
            a = xp.concatenate([a[:, k:], a[:, :k]], axis=1)
        elif name == "reverse":
            a = a[::-1]
        elif name == "transpose":
            a = a.T
        elif name == "flatten":
            a = a.reshape(-1)[::-1].reshape(columns, rows)
        elif name == "cut":
            a = a[k:-k, k:-k]
            b = a
        elif name == "write":
            a = a.copy()
            a[k::2, ::k] += 1
        elif name == "cast":
            a = a.astype("i2").astype("i4")
        elif name == "roll":
            a = xp.roll(a, k, axis=0)
        elif name == "join":
            a = xp.concatenate([a, a[:k]])[k:]
        elif name == "sum":
            a = a + a.sum(axis=1, dtype="i4", keepdims=True)
        elif name == "gather":
            a = a[xp.arange(rows, dtype="i4")[::-1]]
        elif name == "again":
            b = a
    return a


def _parts(array, parts):
    found = []
    for at, count, step, columns in parts:
        rows, wide = array.shape
        row, column = at % (rows - 20), at % (wide - 200)
        cut = slice(row, row + count) if abs(step) == 37 else slice(row, row + count * abs(step), step)
        cut = slice(row + 9, row, step) if step < 0 else cut
        found.append(array[cut, column : column + columns * abs(step) : abs(step)].tolist())
        found.append(array[row].reshape(-1)[::step][:count].tolist())
        found.append(array.reshape(-1)[at % array.size])
        found.append(numpy.asarray(array.T[column, :count]).tolist())
    return found


@settings(max_examples=60)
@given(STEPS, PARTS)
def test_random_parts_of_random_expressions_are_numpys(driver, steps, parts):
    ours, theirs = _expression(np, steps), _expression(numpy, steps)
    assert _parts(ours, parts) == _parts(theirs, parts)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("made", ["pending", "constant"])
def test_bools_with_an_exported_part_are_the_bytes_of_a_view(driver, made):
    n = 1_000_000
    ours, theirs = ((xp.arange(n) % 3 > 0 if made == "pending" else xp.ones(n, bool)) for xp in (np, numpy))

    def run(array):
        shown, view = numpy.asarray(array[:5]), array.view("u1")
        shown[0] = True
        array[1] = False
        view[2] = 0
        return array[:5].tolist(), view[:5].tolist(), shown.tolist()

    assert run(ours) == run(theirs)


SHOWN = {
    "nothing": lambda a: a[:0],
    "a column": lambda a: a.reshape(1000, -1)[:, 5],
    "every fourth": lambda a: a[: N // 2 : 4],
    "the same again": lambda a: (
        numpy.broadcast_to(a[5:8], (4, 3))
        if isinstance(a, numpy.ndarray)
        else np.broadcast_to(a[5:8], (4, 3))
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_parts_of_any_layout_are_exported(driver, name):
    ours, theirs = pending((1_000_000,))
    shown, counts = counted(lambda a: numpy.asarray(SHOWN[name](a)), ours)
    assert shown.tolist() == SHOWN[name](theirs).tolist()
    assert counts["bytes_downloaded"] <= 4 * shown.size
    ours[8], theirs[8] = -1, -1
    assert shown.tolist() == SHOWN[name](theirs).tolist()
    assert ours.tolist() == theirs.tolist()


def test_two_parts_with_gaps_are_completed_in_linear_time(driver):
    """With each gap moved again, half a million of them would take minutes."""
    ours, theirs = pending((4_000_000,))
    half = ours.size // 2
    later, sooner = numpy.asarray(ours[half::16]), numpy.asarray(ours[:half:16])
    ours[1], theirs[1] = 5, 5
    sooner[0], theirs[0] = 7, 7
    assert later.tolist() == theirs[half::16].tolist()
    assert ours.tolist() == theirs.tolist()


def test_looks_at_a_base_with_an_exported_part_end_in_an_export_of_all(driver):
    ours, theirs = pending()
    shown = numpy.asarray(ours[:200_000])
    for k in range(200):
        assert ((ours[k : k + 3] * 2) + 0).tolist() == (theirs[k : k + 3] * 2).tolist()
    # Nothing is compared any more: what is pinned has another version at each look.
    assert ours._is_pinned
    shown[5] = -3
    assert float(ours[5]) == -3
