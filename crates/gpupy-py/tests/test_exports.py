"""Exports are pointers into the memory of a pinned base: a write on either side is seen on the other."""

import ctypes
import gc
import io
import weakref

import numpy as np
import pytest

import gpupy

# Elements that lie in the base itself, that a read copies, that are computed at once, and beyond.
SIZES = [1, 8, 9, 64, 1024, 1025, 16384, 16385, 70_000]

OWNERS = {
    "given": lambda xp, n: xp.array(list(range(min(n, 50))) + [7.0] * (n - min(n, 50))),
    "constant": lambda xp, n: xp.ones(n),
    "zeros": lambda xp, n: xp.zeros(n),
    "computed": lambda xp, n: xp.arange(float(n)) * 2 + 1,
    "reduced": lambda xp, n: xp.ones((n, 3)).sum(axis=1),
    "copied": lambda xp, n: (xp.arange(float(n)) + 3).copy(),
}
VIEWS = {
    "whole": lambda a: a,
    "slice": lambda a: a[a.size // 3 :],
    "strided": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "reversed strided": lambda a: a[::-3],
    "row": lambda a: a.reshape(1, -1)[0],
    "columns": lambda a: a[: a.size // 2 * 2].reshape(-1, 2).T,
    "second column": lambda a: a[: a.size // 2 * 2].reshape(-1, 2)[:, 1],
    "bits": lambda a: a.view("i8"),
    "halves": lambda a: a.view("u4"),
    "pairs": lambda a: a[: a.size // 2 * 2].view("c16"),
    "new axes": lambda a: a[None, :, None],
    "spread": lambda a: (np if isinstance(a, np.ndarray) else gpupy).broadcast_to(a, (2, a.size)),
    "nothing": lambda a: a[:0],
}
EXPORTS = {
    "asarray": np.asarray,
    "__array__": lambda a: a.__array__(),
    "memoryview": lambda a: np.asarray(memoryview(a)) if a.dtype.kind != "c" else np.asarray(a),
    "data": lambda a: np.asarray(a.data) if a.dtype.kind != "c" else np.asarray(a),
    "dlpack": lambda a: np.from_dlpack(a) if a.flags.writeable else np.asarray(a),
    "__array_struct__": lambda a: np.asarray(Struct(a)),
}


class Struct:
    def __init__(self, array):
        self.__array_struct__ = array.__array_struct__


def same(ours, theirs):
    """Ours, read without an export, beside NumPy's."""
    got = np.array(ours.tolist(), theirs.dtype).reshape(theirs.shape)
    np.testing.assert_array_equal(got, theirs)


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("owner", OWNERS)
def test_an_export_is_the_memory_itself_with_numpys_strides(owner, view, export):
    gpupy._gpupy.reconfigure("cpu")
    for n in SIZES:
        a, b = OWNERS[owner](gpupy, n), OWNERS[owner](np, n)
        v, w = VIEWS[view](a), VIEWS[view](b)
        shown = EXPORTS[export](v)
        assert shown.flags.writeable == w.flags.writeable == v.flags.writeable, n
        assert shown.shape == w.shape and shown.dtype == w.dtype
        if export not in ("memoryview", "data") and w.size > 1:
            assert shown.strides == w.strides, (n, shown.strides, w.strides)
        np.testing.assert_array_equal(shown, w)
        if not w.size or not w.flags.writeable:
            continue
        shown[(0,) * shown.ndim] = w[(0,) * w.ndim] = 77
        same(a, b)
        same(v, w)
        v[(-1,) * v.ndim] = w[(-1,) * w.ndim] = 5
        np.testing.assert_array_equal(shown, w)
        a[:] = b[:] = 2
        np.testing.assert_array_equal(shown, w)
        assert np.may_share_memory(np.asarray(a), v) and gpupy.may_share_memory(np.asarray(v), a)


@pytest.mark.parametrize("n", [5, 3000])
def test_bools_and_their_bytes_are_one_memory(n):
    gpupy._gpupy.reconfigure("cpu")
    for first in (True, False):
        results = []
        for xp in (gpupy, np):
            b = xp.zeros(n, bool)
            export = np.asarray(b) if first else None
            v = b.view("i1")
            export = np.asarray(b) if export is None else export
            v[0] = 5
            b[1] = True
            export[2] = True
            results.append((v.tolist(), b[1:].tolist(), export[1:].tolist(), np.asarray(v).tolist()))
        assert results[0] == results[1]


def test_a_face_shows_what_an_export_wrote_before_it_went(device):
    for n in (6, 3000):
        results = []
        for xp in (gpupy, np):
            a = xp.arange(2.0 * n).view("c16")
            parts, bits = a.imag, a.view("u8")
            seen = [parts.tolist(), bits.tolist()]
            np.asarray(a)[1] = 5 + 7j
            seen += [(parts * 2).tolist(), bits[::-1].tolist()]
            np.place(parts, parts > 3, [1, 2])
            parts *= 2
            seen += [parts.tolist(), bits.tolist(), a.real.tolist()]
            results.append(seen)
        assert results[0] == results[1]


def test_two_exports_are_one_memory(device):
    a = gpupy.arange(100.0) + 1
    assert np.shares_memory(np.asarray(a), np.asarray(a[3:]))
    assert not np.shares_memory(np.asarray(a[:3]), np.asarray(a[3:]))
    assert np.asarray(a[3:]).ctypes.data == np.asarray(a).ctypes.data + 24


WRITES = {
    "an element": lambda xp, a: a.__setitem__(3, 9),
    "an element, last": lambda xp, a: a.__setitem__(-1, -2.5),
    "a slice by a number": lambda xp, a: a.__setitem__(slice(1, None, 2), 4),
    "a slice by itself": lambda xp, a: a.__setitem__(slice(1, None), a[:-1]),
    "a slice, reversed": lambda xp, a: a.__setitem__(slice(None), a[::-1]),
    "all by an expression": lambda xp, a: a.__setitem__(slice(None), a * 3 + xp.arange(float(a.size))),
    "a mask": lambda xp, a: a.__setitem__(a > 5, 1),
    "a mask by elements": lambda xp, a: a.__setitem__(a > 5, a[a > 5] * 2),
    "an index array": lambda xp, a: a.__setitem__(xp.array([0, 2, 2, -1]), xp.array([5.0, 6, 7, 8])),
    "+=": lambda xp, a: a.__iadd__(1),
    "*= of a part": lambda xp, a: a[2:].__imul__(a[:-2]),
    "**=": lambda xp, a: a.__ipow__(2),
    "out=": lambda xp, a: xp.add(a, a[::-1], out=a),
    "fill": lambda xp, a: a.fill(3),
    "sort": lambda xp, a: a.sort(),
    "flat": lambda xp, a: a.flat.__setitem__(2, 6),
    "flat slice": lambda xp, a: a.flat.__setitem__(slice(1, 4), [6, 7, 8]),
    "copyto": lambda xp, a: xp.copyto(a, 8),
    "copyto where": lambda xp, a: xp.copyto(a, 8, where=a > 2),
    "put": lambda xp, a: xp.put(a, [1, 3], [20, 30]),
    "place": lambda xp, a: xp.place(a, a > 3, [1, 2]),
    "putmask": lambda xp, a: xp.putmask(a, a > 3, a * 2),
    "bits": lambda xp, a: a.view("u8").__setitem__(slice(0, 3), 0),
    "half of the bits": lambda xp, a: a.view("u4").__setitem__(slice(1, None, 2), 0),
    "bits by an index array": lambda xp, a: a.view("i8").__setitem__(xp.array([1, 2]), 0),
    "a part of pairs": lambda xp, a: a[: a.size // 2 * 2].view("c16").real.__setitem__(slice(None), 4),
    "nan_to_num": lambda xp, a: xp.nan_to_num(a, copy=False, posinf=1.0),
    "cumsum out": lambda xp, a: xp.cumsum(a, out=a),
    "matmul out": lambda xp, a: xp.matmul(xp.eye(4), a[:4].copy(), out=a[:4]),
    "a row from python": lambda xp, a: a.__setitem__(slice(0, 3), [1, 2, 3]),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("n", [8, 1025, 20_000])
def test_every_way_of_writing_reaches_the_exports_and_no_earlier_expression(device, n, write):
    results = {}
    for xp in (gpupy, np):
        a = (xp.arange(float(n)) * 7) % 11
        before, pending = a + 0, a * 2 + 1
        export = np.asarray(a)
        during = a * 3
        export[1] = 100
        WRITES[write](xp, a)
        after = a * 5
        export[2] = 50
        results[xp] = [np.array(x.tolist()) for x in (before, pending, during, after, a, a[::-2])]
        assert export.tolist() == a.tolist()
    for got, want in zip(*results.values(), strict=True):
        np.testing.assert_array_equal(got, want)


INTO = {
    "itself": lambda xp, a, v: v.__iadd__(1),
    "itself twice": lambda xp, a, v: xp.add(v, v, out=v),
    "several operations": lambda xp, a, v: xp.hypot(v, v, out=v),
    "others": lambda xp, a, v: xp.multiply(xp.arange(float(v.size)), 2, out=v),
    "by a scalar of the base": lambda xp, a, v: xp.multiply(v, a[0], out=v),
    "reversed": lambda xp, a, v: xp.add(v, v[::-1], out=v),
    "moved": lambda xp, a, v: xp.add(v[1:], v[:-1], out=v[1:]),
    "moved back": lambda xp, a, v: xp.add(v[1:], v[:-1], out=v[:-1]),
    "spread": lambda xp, a, v: xp.add(v, v[:1], out=v),
    "other elements": lambda xp, a, v: xp.add(v[: v.size // 2], 1, out=v[v.size // 2 :][: v.size // 2]),
    "bits": lambda xp, a, v: v.view("i8").__iand__(-2) if v.strides == (8,) else v.__imul__(3),
    "bits of what is written": lambda xp, a, v: xp.add(v, a.view("i8")[: v.size], out=v),
    "bits moved": lambda xp, a, v: xp.add(v[1:], a.view("i8")[: v.size - 1], out=v[1:]),
    "halves moved": lambda xp, a, v: xp.add(v[1:], a.view("u4")[: v.size - 1], out=v[1:]),
    "a mask": lambda xp, a, v: v.__setitem__(v > 5, 3),
    "a mask, by the base": lambda xp, a, v: v.__setitem__(a[: v.size] > 5, a[1]),
    "places": lambda xp, a, v: v.__setitem__(xp.arange(0, v.size, 3), 8),
    "places, by the base": lambda xp, a, v: v.__setitem__(
        xp.arange(0, v.size // 2), v[v.size // 2 :][: v.size // 2]
    ),
    "nothing to do": lambda xp, a, v: xp.multiply(v, 1, out=v),
    "another dtype": lambda xp, a, v: xp.add(v, xp.arange(v.size), out=v),
}


@pytest.mark.parametrize("into", INTO)
def test_an_operation_writes_into_pinned_memory_itself(driver, into):
    views = ["whole", "slice", "strided", "reversed", "reversed strided", "second column"]
    sizes = [40_000, 1026, 16_386]
    for view, n in zip(views, sizes * 2, strict=True):
        got = {}
        for xp in (gpupy, np):
            a = (xp.arange(float(n)) * 7) % 11 + 1
            export = np.asarray(a)
            where = export.__array_interface__["data"]
            INTO[into](xp, a, VIEWS[view](a))
            assert np.asarray(a).__array_interface__["data"] == where
            got[xp] = [export.tolist(), a.tolist(), (a * 2).tolist()]
        assert got[gpupy] == got[np], (view, n)


def test_foreign_memory_that_overlaps_is_read_before_it_is_written(driver):
    for n in (1026, 40_000):
        for shift in (1, 700):
            got = []
            for xp in (gpupy, np):
                memory = np.arange(float(n))
                x = xp.asarray(memory[:-shift], copy=False)
                y = xp.asarray(memory[shift:], copy=False)
                xp.add(x, 1, out=y)
                xp.multiply(y, 2, out=x)
                got.append(memory.tolist())
            assert got[0] == got[1], (n, shift)


@pytest.mark.parametrize("write", ["+=", "a mask", "out"])
def test_large_work_on_pinned_memory_makes_no_copy(write):
    gpupy._gpupy.reconfigure("cpu")
    a = gpupy.arange(1e6) * 2
    b = gpupy.arange(1e6)
    export = np.asarray(a)
    gpupy.evaluate(b)
    before = gpupy.stats().in_place
    WRITES.get(write, lambda xp, a: xp.add(a, b, out=a))(gpupy, a)
    assert gpupy.stats().in_place > before
    assert export.tolist() == a.tolist()


OPERATIONS = {
    "map": lambda xp, a: xp.sqrt(a) * 2 + a,
    "itself": lambda xp, a: a * 1,
    "itself, shown": lambda xp, a: +a,
    "copy": lambda xp, a: a.copy(),
    "copy of a part": lambda xp, a: a[5:].copy(),
    "reversed": lambda xp, a: a[::-1] + a,
    "sum": lambda xp, a: a.sum(),
    "max": lambda xp, a: a[1:].max(),
    "cumsum": lambda xp, a: a.cumsum(),
    "sorted": lambda xp, a: xp.sort(a),
    "argsort": lambda xp, a: xp.argsort(a, kind="stable"),
    "argmax": lambda xp, a: a.argmax(),
    "joined": lambda xp, a: xp.concatenate([a, a[::-1]]),
    "picked": lambda xp, a: a[xp.array([1, 5, -1])],
    "masked": lambda xp, a: a[a > 4],
    "where": lambda xp, a: xp.where(a > 4, a, -a),
    "product": lambda xp, a: xp.dot(a, a),
    "matrix": lambda xp, a: a[:1000].reshape(10, -1) @ a[:1000].reshape(10, -1).T,
    "cast": lambda xp, a: a.astype("f4"),
    "bits": lambda xp, a: a.view("i8") >> 1,
    "rolled": lambda xp, a: xp.roll(a, 3),
    "square power": lambda xp, a: a.astype("i8") ** 3,
    "by numpy": lambda xp, a: xp.median(a),
    "einsum": lambda xp, a: xp.einsum("i,i", a, a),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("n", [1000, 20_000])
def test_an_operation_on_a_pinned_base_has_its_elements_of_then(device, n, operation):
    results = []
    for xp in (gpupy, np):
        a = (xp.arange(float(n)) * 7) % 11
        export = np.asarray(a)
        first = OPERATIONS[operation](xp, a)
        export[:] = export[::-1] + 1
        second = OPERATIONS[operation](xp, a)
        export[:] = 0
        results.append([np.array(x.tolist()) for x in (first, second)])
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def pins():
    gc.collect()
    return gpupy.stats()["pins"]


@pytest.mark.parametrize("export", EXPORTS)
def test_the_last_export_that_goes_brings_laziness_back(export):
    gpupy._gpupy.reconfigure("cpu")
    before = pins()
    a = gpupy.arange(100_000.0) + 1
    shown = EXPORTS[export](a[1:])
    assert pins() == before + 1
    other = np.asarray(a)
    assert pins() == before + 2
    b = a * 2
    done = gpupy.stats()["launches"]
    float(b[5])
    assert gpupy.stats()["launches"] == done, "computed before it returned"
    del shown, other
    assert pins() == before
    b = a * 2 + 1
    assert gpupy.stats()["launches"] == done, "recorded alone"
    assert float(b[5]) == 13 and gpupy.stats()["launches"] > done


def test_addresses_pin_for_the_life_of_the_base():
    gpupy._gpupy.reconfigure("cpu")
    for address in (lambda a: a.ctypes.data, lambda a: a.__array_interface__["data"][0]):
        a = gpupy.arange(30_000.0) + 1
        c = a.copy()
        float(a[0])
        at = address(a[1:])
        pending = a + 1
        (ctypes.c_double * 1).from_address(at)[0] = -5.0
        assert a[1] == -5.0 and c[1] == 2.0 and pending[1] == 3.0
        a[1] = 4
        assert (ctypes.c_double * 1).from_address(at)[0] == 4.0
        assert address(a[1:]) == at


def test_reading_ctypes_leaves_earlier_views_views(device):
    a = gpupy.arange(30.0)
    early = a[3:]
    assert a.ctypes.data and a.ctypes.shape[0] == 30
    a[3] = 9
    early[1] = 8
    assert early[0] == 9 and a[4] == 8


def test_memory_outlives_its_array(device):
    shown = np.asarray(gpupy.arange(5000.0) + 1)
    for _ in range(10):
        np.asarray(gpupy.arange(5000.0) * 7)
    np.testing.assert_array_equal(shown, np.arange(5000.0) + 1)


def test_read_only_arrays_are_exported_so(device):
    for v in (gpupy.broadcast_to(gpupy.arange(3.0), (2, 3)), gpupy.arange(3.0)):
        v.setflags(write=False)
        shown = np.asarray(v)
        assert not shown.flags.writeable and memoryview(v).readonly
        with pytest.raises((BufferError, ValueError, TypeError)):
            (ctypes.c_char * 4).from_buffer(v)
    base = gpupy.arange(3.0)
    view = base.view()
    view.setflags(write=False)
    shown = np.asarray(view)
    base[0] = 7
    assert shown[0] == 7


def test_readinto_and_masked_arrays_write_to_the_array(device):
    a = gpupy.zeros(40, "u1")
    assert io.BytesIO(bytes(range(40))).readinto(a) == 40
    assert a.tolist() == list(range(40))
    b = gpupy.zeros(5)
    np.ma.array(b, copy=False)[0] = 9
    assert b[0] == 9


def test_strided_views_are_views(device):
    for n in (12, 3000):
        a, b = gpupy.arange(float(n)), np.arange(float(n))
        v, w = a[::2], b[::2]
        ours = gpupy.lib.stride_tricks.as_strided(v, (n // 2 - 2, 3), (v.strides[0], v.strides[0]))
        theirs = np.lib.stride_tricks.as_strided(w, (n // 2 - 2, 3), (w.strides[0], w.strides[0]))
        by_numpy = np.lib.stride_tricks.as_strided(v, (n // 2 - 2, 3), (v.strides[0], v.strides[0]))
        np.testing.assert_array_equal(by_numpy, theirs)
        v[2] = w[2] = 50
        same(ours, theirs)
        ours[0, 0] = theirs[0, 0] = 60
        same(a, b)
        np.testing.assert_array_equal(by_numpy, theirs)
        a, b = a.reshape(3, -1), b.reshape(3, -1)
        ours = gpupy.lib.stride_tricks.sliding_window_view(a[:, 1:], 2, axis=0)
        theirs = np.lib.stride_tricks.sliding_window_view(b[:, 1:], 2, axis=0)
        assert ours.strides == theirs.strides and not ours.flags.writeable
        a[1, 2] = b[1, 2] = -1
        same(ours, theirs)
    with pytest.raises(ValueError, match="outside"):
        gpupy.lib.stride_tricks.as_strided(gpupy.arange(3, dtype="f4"), (4,), (4,))
    odd = gpupy.lib.stride_tricks.as_strided(gpupy.arange(4, dtype="i4"), (3,), (2,))
    assert odd.tolist() == np.lib.stride_tricks.as_strided(np.arange(4, dtype="i4"), (3,), (2,)).tolist()


def test_iteration_sees_what_is_written_meanwhile(device):
    for n in (6, 3000):
        results = []
        for xp in (gpupy, np):
            a, b = xp.arange(float(n)), xp.arange(float(n))
            for i, x in enumerate(a[: n - 1]):
                a[i + 1] = x
            for i, x in enumerate(b.flat):
                if i + 1 < n:
                    b.flat[i + 1] = x + 1
            c = xp.arange(float(n))
            ahead = iter(c[::-1])
            next(ahead)
            c[:] = c * 2
            results.append((a.tolist(), b.tolist(), list(ahead)))
        assert results[0] == results[1]


def test_iteration_over_a_little_of_much_brings_only_that(device):
    a = gpupy.arange(1_000_000.0) + 1
    gpupy.reset_stats()
    seen = []
    for i, x in enumerate(a[:5]):
        a[i + 1] = x
        seen.append(float(x))
    assert seen == [1.0] * 5


def test_nditer_writes_to_the_arrays(device):
    a = gpupy.arange(6.0).reshape(2, 3)
    with gpupy.nditer(a, op_flags=["readwrite"]) as it:
        for x in it:
            x[...] = 2 * x
    assert a.tolist() == (np.arange(6.0) * 2).reshape(2, 3).tolist()


def test_foreign_memory_is_pinned_where_no_copy_may_be(device):
    h = np.arange(20, dtype="f4").reshape(4, 5)
    for view in (lambda x: x, lambda x: x[::-1], lambda x: x[:, 1::2], lambda x: x.T):
        g = gpupy.asarray(view(h), copy=False)
        assert g._lazy and g.strides == view(h).strides and g.flags.writeable
        pending = g + 1
        h[1, 1] = 50
        np.testing.assert_array_equal(np.array(g.tolist()), view(h))
        g[0, 0] = -3
        np.testing.assert_array_equal(np.array(g.tolist()), view(h))
        assert 51 not in np.array(pending.tolist())
        h[:] = np.arange(20).reshape(4, 5)
    read_only = np.arange(3, dtype="f4")
    read_only.flags.writeable = False
    assert not gpupy.asarray(read_only, copy=False).flags.writeable
    g = gpupy.from_dlpack(h, copy=False)
    h[2, 2] = 77
    assert g[2, 2] == 77
    with pytest.raises(ValueError):
        gpupy.asarray([1.0, 2.0], copy=False)
    with pytest.raises(ValueError):
        gpupy.asarray(h, dtype="f8", copy=False)
    copied = gpupy.asarray(h)
    h[0, 0] = 1000
    assert copied[0, 0] != 1000


def test_foreign_memory_is_kept(device):
    g = gpupy.asarray(np.arange(50_000.0), copy=False)
    gc.collect()
    np.empty(50_000).fill(3)
    assert float(g.sum()) == sum(range(50_000))


def test_threads_read_and_write_pinned_arrays(driver):
    import threading

    a = gpupy.arange(50_000.0)
    export = np.asarray(a)
    failed = []

    def work(k):
        try:
            for _ in range(20):
                b = a * 2
                export[k] += 1
                a[k + 10] = b[k + 10]
                float(b.sum())
                float(a[::-1][k])
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and export[0] == 20 and np.array_equal(np.array(a.tolist()), export)


@pytest.mark.parametrize("dtype", ["M8[ms]", "m8[7s]", "M8[D]", "M8"])
def test_an_export_of_times_keeps_their_unit(dtype):
    for owner in (gpupy.zeros(3, dtype), gpupy.arange(3).view(dtype)):
        for made in (np.array(owner), np.asarray(owner), np.array(owner[1:])):
            assert made.dtype == np.dtype(dtype) and type(made) is np.ndarray


def test_the_interface_of_times_tells_their_unit():
    class Other:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__

    assert not hasattr(gpupy.zeros(3, "M8[ms]"), "__array_struct__")
    assert np.asarray(Other(gpupy.zeros(3, "M8[ms]"))).dtype == "M8[ms]"


def test_a_pointer_of_ctypes_keeps_the_array():
    for array in (gpupy.arange(3.0), gpupy.array([["a", "b"]]), gpupy.zeros(0), gpupy.arange(9.0)[::2]):
        kept, elements = weakref.ref(array), array.tolist()
        pointer = array.ctypes.data_as(ctypes.c_void_p)
        del array
        gc.collect()
        assert kept() is not None and kept().tolist() == elements
        del pointer
