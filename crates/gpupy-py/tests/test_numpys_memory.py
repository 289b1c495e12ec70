"""Memory that NumPy or other code owns: records, buffers and memory for C are shared, not copied."""

import ctypes
import tracemalloc

import numpy
import pytest
from pairs import check

import gpupy


def records(xp):
    return xp.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("n", "i4"), ("x", "f8")])


WAYS = {
    "element": lambda xp, a: a["x"].__setitem__(1, 9),
    "slice": lambda xp, a: a["x"][1:].__setitem__(slice(None), 7),
    "in place": lambda xp, a: a["n"].__imul__(2),
    "out": lambda xp, a: xp.add(a["x"], 1, out=a["x"]),
    "copyto": lambda xp, a: xp.copyto(a["n"], [7, 8, 9]),
    "putmask": lambda xp, a: xp.putmask(a["x"], [True, False, True], 10),
    "sort": lambda xp, a: a["x"][::-1].sort(),
    "fields": lambda xp, a: a[["n"]].__setitem__(0, (4,)),
    "reshaped": lambda xp, a: a["x"].reshape(3, 1).T.__setitem__((0, 2), -1),
    "flat": lambda xp, a: a["x"].flat.__setitem__(1, 5),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_field_of_records_is_a_view_of_them(way):
    def written(xp):
        a = records(xp)
        seen = a["x"]
        WAYS[way](xp, a)
        return [a.tolist(), seen.tolist(), (a["x"] + 1).tolist()]

    check(written, way)


@pytest.mark.parametrize("xp", [numpy, gpupy])
def test_an_array_over_a_buffer_shares_its_memory(xp):
    for make in (lambda memory: xp.frombuffer(memory, "i2"), lambda memory: xp.ndarray(3, "i2", memory)):
        memory = bytearray(6)
        a = make(memory)
        memory[2] = 5
        a[2], a[0] = 7, 3
        a += 1
        assert a.tolist() == [4, 6, 8] and memory == b"\4\0\6\0\10\0"
        assert (a * 2).tolist() == [8, 12, 16]


@pytest.mark.parametrize("xp", [numpy, gpupy])
def test_memory_that_nobody_may_write_to_stays_so(xp):
    for a in (xp.frombuffer(b"abc", "u1"), xp.ndarray(3, "u1", b"abc")):
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        assert (a + 1).tolist() == [98, 99, 100]


CHANGES = {
    "sort": lambda xp, a: a.sort(),
    "sort along an axis": lambda xp, a: a.sort(axis=0, kind="stable"),
    "sort of NumPy's class": lambda xp, a: xp.ndarray.sort(a),
    "partition": lambda xp, a: a.partition(1),
    "fill": lambda xp, a: a.fill(3),
    "put": lambda xp, a: a.put([0, 1], 9),
    "place": lambda xp, a: xp.place(a, a > 2, [8]),
    "bytes": lambda xp, a: a.byteswap(True),
    "shuffle": lambda xp, a: xp.random.default_rng(0).shuffle(a),
    "diagonal": lambda xp, a: xp.fill_diagonal(a, 7),
    "along an axis": lambda xp, a: xp.put_along_axis(a, a.astype(int) * 0, 4, 0),
    "repeated": lambda xp, a: xp.add.at(a, [0, 0], 1),
    # These give new arrays.
    "sorted": lambda xp, a: xp.sort(a, axis=0),
    "parted": lambda xp, a: xp.partition(a, 1),
    "places": lambda xp, a: a.argpartition(1, axis=0),
}
# Drivers read the fields of the first two.
KINDS = {
    "numbers of four bytes": [("x", "f4"), ("n", "i4")],
    "numbers of eight bytes": [("x", "f8"), ("n", "i8")],
    "packed": [("x", "f8"), ("n", "i1")],
    "of other bytes": [("x", ">f4"), ("n", "i4")],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_a_field_changes_its_records(driver, change, kind):
    def run(xp, is_writable):
        a = xp.zeros((3, 3), KINDS[kind])
        a["x"] = [[3, 1, 2], [5, 4, 0], [2, 9, 7]]
        field = a["x"].T
        field.flags.writeable = is_writable
        try:
            made = CHANGES[change](xp, field)
        except (ValueError, TypeError) as error:
            made = type(error).__name__
        return [numpy.asarray(value).tolist() for value in (a["x"], field, made)]

    for is_writable in (True, False):
        assert run(gpupy, is_writable) == run(numpy, is_writable)


@pytest.mark.parametrize("xp", [numpy, gpupy])
def test_what_c_writes_is_seen(xp):
    a = xp.zeros(3, "i4")
    ctypes.memset(a.ctypes.data, 1, 4)
    ctypes.cast(a.ctypes.data_as(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int32))[2] = 6
    assert a.tolist() == [0x1010101, 0, 6]


MIXED = {
    "aligned": [("n", "i4"), ("m", "u4", 3), ("x", "f8", (2,)), ("y", "c8")],
    "packed": [("n", "i1"), ("x", "f8")],
    "nested": [("p", [("x", "f4"), ("n", "i4")], 2), ("x", "f4")],
    "with text": [("s", "S4"), ("n", "i4")],
}


@pytest.mark.parametrize("kind", MIXED)
def test_what_fields_are_computed_to_is_what_they_held_then(driver, kind):
    def run(xp):
        a = xp.zeros((4, 3), MIXED[kind])
        results = []
        for step in range(5):
            for name in a.dtype.names:
                field = a[name]
                if field.dtype.names:
                    field = field["n" if step % 2 else "x"]
                if field.dtype.kind == "S":
                    continue
                results += [field + 1, field[1:] * 2, field.T[::-1] - field.T]
                field[step % 4 :] += step
                field[0, step % 3] = 5
                field[...] = field[::-1]
                results.append(xp.sqrt(field[step % 4]))
            a[step % 4] = a[0]
        # Equal records in other memory.
        a = xp.ones(3, MIXED[kind])
        for size in (3, 9, 2):
            a.resize(size, refcheck=False)
            last = a[a.dtype.names[-1]]
            results += [last + 1] if last.dtype.names is None else []
            del last
        return results

    for mine, theirs in zip(run(gpupy), run(numpy), strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        numpy.testing.assert_array_equal(mine, theirs)


def test_a_field_has_its_records_for_its_base():
    for xp in (numpy, gpupy):
        a = records(xp)
        assert a["x"].base is a and a["x"][1:].base is a and a[1:]["n"].base is a


def test_reductions_of_fields_are_the_drivers(driver):
    sides = [xp.ones((4, 3), [("n", "i4"), ("x", "f4", 2)]) for xp in (gpupy, numpy)]
    for step in range(3):
        gpupy.reset_stats()
        pending = []
        for xp, a in zip((gpupy, numpy), sides, strict=True):
            x, n = a["x"], a["n"]
            pending.append([x.sum(), x.mean(axis=1), xp.max(x[1:], axis=-1), n.min(), xp.all(n)])
            a["x"][step] += 3
            a["n"][:, step % 3] = step - 1
        for mine, theirs in zip(*pending, strict=True):
            assert mine.dtype == theirs.dtype
            numpy.testing.assert_array_equal(mine, theirs)
        functions = {site[0] for site in gpupy.stats().fallback_sites}
        assert not functions & {"sum", "mean", "max", "min", "all"}


N = 50_000
# Functions of NumPy's that copy what is read-only, though they only read.
READERS = {
    "bincount": lambda xp, x, i: xp.bincount(i, weights=x, minlength=9),
    "convolve": lambda xp, x, i: xp.convolve(x, [1.0, 2.0], "valid"),
    "correlate": lambda xp, x, i: xp.correlate(x, [1.0, 2.0]),
    "interp": lambda xp, x, i: xp.interp([0.5], x, x),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("given", ["whole", "part", "exported", "computed"])
def test_functions_that_only_read_are_lent_what_they_need_not_copy(name, given):
    def arrays(xp):
        x, i = xp.arange(float(N)) % 7, xp.arange(N) % 8
        return (x[: N // 2], i[: N // 2]) if given == "part" else (x, i)

    wanted = READERS[name](numpy, *arrays(numpy))
    x, i = arrays(gpupy)
    if given != "computed":
        gpupy.evaluate(x, i)
    kept = (numpy.asarray(x), numpy.asarray(i)) if given == "exported" else ()
    READERS[name](gpupy, x, i)
    tracemalloc.start()
    found = READERS[name](gpupy, x, i)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # What NumPy allocates is traced: the result, and no copy of an operand.
    assert most < wanted.nbytes + 2 * N
    assert isinstance(found, gpupy.ndarray)
    numpy.testing.assert_array_equal(numpy.asarray(found), wanted)
    # No function gets memory that may be written for longer than its call.
    for array, own in zip((x, i), arrays(numpy), strict=True):
        numpy.testing.assert_array_equal(array, own)
    assert not kept or all(array.flags.writeable for array in kept)


def test_a_result_of_numpys_is_written_and_exported_where_it_lies():
    x = gpupy.arange(float(N))
    found = gpupy.convolve(x, [1.0, 1.0])
    tracked = found + 1
    found[3] = -1
    seen = numpy.asarray(found)
    seen[4] = -2
    assert found[3:6].tolist() == [-1, -2, 9] and tracked[3:6].tolist() == [6, 8, 10]
    del found, x
    assert seen[:6].tolist() == [0, 1, 3, -1, -2, 9]
