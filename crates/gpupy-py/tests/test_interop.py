"""Other libraries take our arrays as NumPy's."""

import copy
import ctypes
import io
import pickle
import weakref

import numpy
import numpy as np
import pytest

import gpupy


def image(xp):
    return xp.fromfunction(lambda x, y: x * 4 + y, (3, 4), dtype=xp.float32)


def test_asarray_is_a_view(device):
    a = image(gpupy)
    view = np.asarray(a)
    assert type(view) is np.ndarray and view.flags.writeable
    np.testing.assert_array_equal(view, image(np))
    a[0, 0] = 100
    assert view[0, 0] == 100 and np.asarray(a)[0, 0] == 100


def test_array_is_a_writable_copy(device):
    a = image(gpupy)
    b = np.array(a)
    b[0, 0] = 5
    assert a[0, 0] == 0
    assert np.asarray(a, dtype=np.float64).dtype == np.float64
    assert np.array(a, copy=None).dtype == np.float32
    assert np.asarray(gpupy.ones(2, np.longdouble)).flags.writeable


def test_the_buffer_protocol_gives_the_elements(device):
    a = image(gpupy)
    view = memoryview(a)
    assert view.format == "f" and view.shape == (3, 4) and not view.readonly
    assert bytes(a) == image(np).tobytes()
    assert a.data.tobytes() == image(np).tobytes()
    (ctypes.c_float * 4).from_buffer(a)[1] = 70.0
    assert a[0, 1] == 70.0
    assert memoryview(a[:, 1]).tolist() == [70.0, 5.0, 9.0]


def test_an_exported_view_outlives_the_array(device):
    view = np.asarray(image(gpupy) + 1)
    for _ in range(10):
        np.asarray(image(gpupy) * 7)
    np.testing.assert_array_equal(view, image(np) + 1)


def test_the_array_interface_keeps_its_memory(device):
    a = image(gpupy)
    interface = a.__array_interface__
    address, read_only = interface["data"]
    assert not read_only and interface["typestr"] == "<f4"
    a += 1
    assert (ctypes.c_float * 12).from_address(address)[5] == 6.0


def test_pillow_reads_arrays(device):
    Image = pytest.importorskip("PIL.Image")
    a = image(gpupy)
    made = Image.frombuffer("F", (4, 3), a, "raw", "F", 0, 1)
    assert made.getpixel((1, 2)) == 9.0
    assert Image.fromarray(a).getpixel((3, 1)) == 7.0
    assert Image.fromarray(a.astype(gpupy.uint8)).getpixel((3, 1)) == 7


def test_matplotlib_draws_arrays(driver):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    axes[0].imshow(image(gpupy))
    axes[1].plot(gpupy.arange(5, dtype=gpupy.float32), gpupy.arange(5, dtype=gpupy.float32) ** 2)
    figure.savefig(io.BytesIO(), format="png")
    plt.close(figure)


def test_arrays_pickle_and_copy(device):
    for a in (image(gpupy), gpupy.arange(3), gpupy.ones((2, 2), bool).T):
        for again in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), copy.copy(a)):
            assert type(again) is gpupy.ndarray
            assert again.dtype == a.dtype and again.tolist() == a.tolist()
            again[...] = 0
        assert a.any()


def test_files_round_trip(device, tmp_path):
    a = image(gpupy)
    gpupy.save(tmp_path / "a.npy", a)
    assert type(gpupy.load(tmp_path / "a.npy")) is gpupy.ndarray
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), image(np))
    a.tofile(tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == image(np).tobytes()


def test_dlpack_gives_the_memory(device):
    a = image(gpupy)
    again = np.from_dlpack(a)
    np.testing.assert_array_equal(again, image(np))
    a[1, 1] = 9
    assert again[1, 1] == 9 and np.from_dlpack(a, copy=True)[1, 1] == 9


def test_arrays_can_be_referenced_weakly(device):
    a = image(gpupy)
    seen = weakref.ref(a)
    assert seen() is a
    del a
    assert seen() is None


def test_submodules_import():
    import gpupy.linalg
    from gpupy import random
    from gpupy.fft import fft

    assert gpupy.linalg.norm([3.0, 4.0]) == 5.0
    assert type(random.rand(2)) is gpupy.ndarray
    assert type(fft([1.0, 2.0])) is gpupy.ndarray
    assert isinstance(gpupy.random.default_rng(), gpupy.random.Generator)
    assert isinstance(gpupy.random.default_rng(), numpy.random.Generator)


def test_threads_share_arrays(device):
    import threading

    a = gpupy.arange(1000, dtype=gpupy.float32)
    sums = []

    def work(i):
        sums.append(float((a * i).max()))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sums) == [999.0 * i for i in range(8)]


def test_archives_give_our_arrays(device, tmp_path):
    path = tmp_path / "two.npz"
    gpupy.savez(path, a=image(gpupy), b=image(gpupy) * 2)
    with gpupy.load(path) as archive:
        given = [archive["a"], archive.f.b, archive.get("a"), *archive.values()]
        assert all(type(array) is gpupy.ndarray for array in given)
        assert list(archive) == archive.files == list(archive.keys()) and "b" in archive
        np.testing.assert_array_equal(given[1], image(np) * 2)
        with pytest.raises(KeyError):
            archive["c"]


@pytest.mark.parametrize("name", ["poly1d", "polynomial.Polynomial", "polynomial.Chebyshev"])
def test_polynomials_give_our_arrays(device, name):
    import operator

    x = gpupy.arange(5, dtype=gpupy.float32)
    theirs = operator.attrgetter(name)(np)([1, 2, 3])
    ours = operator.attrgetter(name)(gpupy)([1, 2, 3])
    again = pickle.loads(pickle.dumps(ours))
    roots, wanted = (p.roots if name == "poly1d" else p.roots() for p in (ours, theirs))
    assert type(roots) is gpupy.ndarray
    np.testing.assert_array_equal(roots, wanted)
    for p, q in ((ours, theirs), (ours * ours + 1, theirs * theirs + 1), (again.deriv(), theirs.deriv())):
        assert type(p(x)) is gpupy.ndarray
        np.testing.assert_array_equal(p(x), q(np.arange(5, dtype=np.float32)))
        assert type(p(2)) is type(q(2)) and repr(p) == repr(q)


def test_to_numpy_shares_the_memory_unless_a_copy_or_another_dtype_is_wanted(device):
    a = image(gpupy)
    shared, copied, cast = a.to_numpy(), a.to_numpy(copy=True), a.to_numpy("f8")
    assert type(shared) is type(copied) is type(cast) is np.ndarray and cast.dtype == np.float64
    a[0, 0] = 100
    assert (shared[0, 0], copied[0, 0], cast[0, 0]) == (100, 0, 0)


def test_c_code_that_wants_a_sequence_takes_an_array(device):
    import bisect

    for xp in (np, gpupy):
        a = xp.arange(6, dtype="i4")
        assert list(reversed(a)) == [5, 4, 3, 2, 1, 0]
        assert [row.tolist() for row in reversed(a.reshape(3, 2))] == [[4, 5], [2, 3], [0, 1]]
        assert (bisect.bisect(a, 2), bisect.bisect_left(a, 2), bisect.bisect(a[::-2], 9)) == (3, 2, 3)
        assert len(a) == a.__len__() == 6 and len(a[:0]) == 0 and bool(a[1:2])
        assert list(reversed(a[:0])) == []
        for wrong in (len, reversed):
            with pytest.raises(TypeError):
                list(wrong(xp.zeros(())))
