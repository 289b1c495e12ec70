"""Exports are pointers into the memory of a pinned base: a write on either side is seen on the other."""

import ctypes
import gc
import io
import weakref

import numpy as np
import pytest
from exported import EXPORTS, OWNERS, VIEWS, same

import gpupy

# Elements that lie in the base itself, that a read copies, that are computed at once, and beyond.
SIZES = [1, 8, 9, 64, 1024, 1025, 32768, 32769, 70_000]


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


def test_a_dtype_view_shows_what_an_export_wrote_before_it_went(device):
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
        a = gpupy.arange(60_000.0) + 1
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
