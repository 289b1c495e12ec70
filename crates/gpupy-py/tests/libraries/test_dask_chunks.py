"""Our chunks in Dask: sizes, names, when they are computed, and transfers between processes."""

import pickle
import subprocess
import sys

import numpy
import programs
import pytest

import gpupy

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
base = pytest.importorskip("dask.base")

ROWS = 1000
LARGE = 1 << 20


@pytest.fixture(autouse=True)
def ours():
    with dask.config.set({"array.backend": "gpupy", "scheduler": "threads"}):
        yield


def launches():
    return gpupy.stats()["launches"]


@pytest.fixture
def nothing_is_computed():
    before = launches()
    yield
    assert launches() == before


def pending():
    return gpupy.sqrt(gpupy.arange(float(LARGE))) + 1


# Sizes.


def test_the_size_of_what_is_pending_is_that_of_its_elements(nothing_is_computed):
    array = pending()
    assert dask.sizeof.sizeof(array) == array.nbytes == 8 * LARGE
    assert dask.sizeof.sizeof(array[::2]) == 4 * LARGE
    assert dask.sizeof.sizeof(array.reshape(2, -1).T) == 8 * LARGE
    assert 0 < dask.sizeof.sizeof(array.sum(keepdims=True)) < 1000


def test_what_an_axis_repeats_counts_once():
    row = gpupy.asarray(numpy.arange(5.0))
    assert dask.sizeof.sizeof(gpupy.broadcast_to(row, (LARGE, 5))) == row.nbytes
    assert dask.sizeof.sizeof(gpupy.zeros((3, 0))) == 0


# Random numbers.


def test_a_generator_of_ours_gives_chunks_of_ours_whatever_the_back_end_is():
    with dask.config.set({"array.backend": "numpy"}):
        x = da.random.default_rng(gpupy.random.default_rng(1)).normal(size=10, chunks=5)
        y = da.random.default_rng(numpy.random.default_rng(1)).normal(size=10, chunks=5)
        assert type(x._meta) is type(x.compute()) is gpupy.ndarray
        assert type(y._meta) is type(y.compute()) is numpy.ndarray
        assert x.compute().tolist() == y.compute().tolist()
    x = da.random.default_rng(1).normal(size=10, chunks=5)
    assert type(x._meta) is type(x.compute()) is gpupy.ndarray
    assert x.compute().tolist() == y.compute().tolist()


# Tokens.


def test_equal_elements_have_equal_tokens_and_others_do_not():
    def made(change=0.0):
        array = numpy.arange(float(LARGE))
        array[LARGE // 2] += change
        return gpupy.asarray(array)

    assert base.tokenize(made()) == base.tokenize(made())
    assert base.tokenize(made()) != base.tokenize(made(1))
    assert base.tokenize(made()) != base.tokenize(made().reshape(2, -1))
    assert base.tokenize(made()) != base.tokenize(made().astype("f4"))
    assert base.tokenize(made()) != base.tokenize(numpy.asarray(made())), "chunks are of another class"


def test_what_is_pending_has_a_token_of_its_own(nothing_is_computed):
    one, other = pending(), pending() * 2
    sums = [one.sum(keepdims=True), other.astype("f4").sum(keepdims=True)]
    names = [one, other, one[1:], one[:-1], one.reshape(2, -1), one[::-1], *sums]
    tokens = [base.tokenize(name) for name in names]
    assert len(set(tokens)) == len(names)
    assert [base.tokenize(name) for name in names] == tokens


def test_what_is_written_has_another_token():
    array = pending()
    before = base.tokenize(array)
    array[3] = 0
    assert base.tokenize(array) != before


def test_all_elements_alike_have_a_token_without_memory(nothing_is_computed):
    size = (1 << 20, 1 << 20)
    assert base.tokenize(gpupy.zeros(size)) == base.tokenize(gpupy.zeros(size))
    assert base.tokenize(gpupy.zeros(size)) != base.tokenize(gpupy.ones(size))
    assert base.tokenize(gpupy.zeros(size)) != base.tokenize(gpupy.zeros(size, "f4"))


def test_a_token_that_must_be_the_same_in_each_process_is_not_made_up():
    with pytest.raises(Exception, match="pending; evaluate it first"):
        base.tokenize(pending(), ensure_deterministic=True)
    array = pending()
    numpy.asarray(array)
    assert base.tokenize(array, ensure_deterministic=True)


# Tasks.


def test_what_a_task_gives_is_computed_by_the_task():
    array = da.arange(4.0 * LARGE, chunks=LARGE).map_blocks(numpy.sqrt).persist()
    parts = dask.compute(*array.to_delayed())
    before = launches()
    for part in parts:
        assert type(part) is gpupy.ndarray
        float(part[-1])
    assert launches() == before


def test_what_a_task_gives_is_computed_inside_of_tuples_lists_and_dictionaries():
    def give():
        many = [pending() + n for n in range(50)]
        return {"a": [pending(), (pending() * 2, 3)], "b": pending().sum(), "many": many}

    found = dask.delayed(give)().compute()
    before = launches()
    assert [float(array[0]) for array in found["many"]] == [n + 1 for n in range(50)]
    assert float(found["a"][0][-1]) * 2 == float(found["a"][1][0][-1])
    assert float(found["b"]) > 0
    assert launches() == before


def test_a_list_that_is_inside_of_itself_is_a_result_as_any():
    def give():
        inside = [pending()]
        inside.append(inside)
        for _ in range(5000):
            inside = [inside]
        return inside

    found = dask.delayed(give)().compute()
    before = launches()
    while len(found) == 1:
        (found,) = found
    assert found[1] is found and float(found[0][0]) == 1
    assert launches() == before


def test_an_error_of_what_was_pending_is_the_tasks():
    with pytest.raises(MemoryError, match="Unable to allocate"):
        dask.delayed(lambda: gpupy.arange(2.0**45) * 2)().compute()


def test_a_progress_bar_ends_with_the_work():
    diagnostics = pytest.importorskip("dask.diagnostics")

    class Bar(diagnostics.ProgressBar):
        def _finish(self, *rest):
            seen.append(launches())
            super()._finish(*rest)

    seen = []
    before = launches()
    with Bar(minimum=0, dt=0.01):
        found = da.sqrt(da.arange(4.0 * LARGE, chunks=LARGE)).compute()
    assert seen[0] - before >= 4
    # The chunks were joined afterwards, and are only read.
    assert float(found[-1]) == float(numpy.sqrt(4.0 * LARGE - 1))


def test_a_graph_is_made_without_computing_the_array_that_it_is_of(nothing_is_computed):
    array = da.from_array(pending(), chunks=LARGE // 4)
    assert (array + 1).sum().dask
    assert type(array._meta) is gpupy.ndarray


# Imports.


@pytest.mark.parametrize("order", ["gpupy, dask.array", "dask.array, gpupy"])
def test_it_does_not_matter_which_is_imported_first(order):
    first, second = order.split(", ")
    code = f"""
import warnings
warnings.simplefilter("error", ImportWarning)
import {first}
import {second}
import dask
with dask.config.set({{"array.backend": "gpupy"}}):
    print(type(dask.array.ones(3)._meta).__module__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("gpupy\n", "")


def test_the_wheels_entry_point_finds_the_back_end_of_who_does_not_import_gpupy(tmp_path):
    code = """
import sys
import dask, dask.array as da
assert "gpupy" not in sys.modules
with dask.config.set({"array.backend": "gpupy"}):
    print(type(da.ones(3)._meta).__module__)
"""
    assert programs.run(tmp_path, "-c", code) == "gpupy\n"


# Files.


def test_zarr_arrays_come_and_go(tmp_path):
    pytest.importorskip("zarr")
    elements = numpy.random.default_rng(0).random((ROWS, 30))
    written = da.from_array(gpupy.asarray(elements), chunks=(300, 30)) * 2
    da.to_zarr(written, str(tmp_path / "made.zarr"))
    found = da.from_zarr(str(tmp_path / "made.zarr")).to_backend()
    assert type(found._meta) is gpupy.ndarray
    assert type((found + 1).compute()) is gpupy.ndarray
    numpy.testing.assert_array_equal(found.compute(), elements * 2)


def test_arrays_of_numpys_become_ours():
    elements = numpy.random.default_rng(0).random((ROWS, 30))
    found = da.from_array(elements, chunks=(300, 30)).to_backend()
    assert type(found.mean(axis=0).compute()) is gpupy.ndarray
    numpy.testing.assert_allclose(found.mean(axis=0).compute(), elements.mean(axis=0))
    # Chunks are copies, as those of NumPy's are not.
    kept = found.persist()
    elements[:] = 0
    assert float(kept.sum()) > 0


# Between processes.


@pytest.fixture(scope="module")
def protocol():
    return pytest.importorskip("distributed.protocol")


def received(frames):
    """Frames as a socket gives them: memory that may be written to."""
    return [bytearray(memoryview(frame).cast("B")) for frame in frames]


def chunks():
    elements = gpupy.asarray(numpy.arange(6.0 * ROWS).reshape(6, ROWS))
    return {
        "rows": elements,
        "columns": elements.T,
        "a part": elements[1:4, ::2],
        "pending": elements * 2,
        "truth values": elements > 5,
        "complex": elements * 1j,
        "no elements": elements[:0],
        "no axes": gpupy.asarray(numpy.array(3.5)),
        "names": gpupy.asarray(numpy.array(["a", "bcd"])),
        "dates": gpupy.asarray(numpy.arange(3).astype("M8[s]")),
        "records": gpupy.asarray(numpy.zeros(3, "i4,f8")),
    }


@pytest.mark.parametrize("name", chunks())
@pytest.mark.parametrize("serializer", ["dask", "pickle"])
def test_each_serializer_gives_the_array_back(protocol, name, serializer):
    array = chunks()[name]
    header, frames = protocol.serialize(array, serializers=[serializer])
    assert header["serializer"] == serializer
    # As they go along: what is empty is left out by no comm, and headers are of plain things.
    assert pickle.dumps(header)
    found = protocol.deserialize(header, received(frames))
    assert type(found) is gpupy.ndarray and found.dtype == array.dtype
    numpy.testing.assert_array_equal(found, numpy.asarray(array))
    wanted = numpy.asarray(found).copy()
    if wanted.size and wanted.dtype.kind in "fc":
        found[...] = 7
        wanted[...] = 7
        numpy.testing.assert_array_equal(found + 1, wanted + 1)


@pytest.mark.parametrize("serializer", ["dask", "pickle"])
def test_elements_are_not_copied_on_either_side(protocol, serializer):
    array = gpupy.asarray(numpy.arange(float(LARGE)))
    header, frames = protocol.serialize(array, serializers=[serializer])
    elements = max(frames, key=lambda frame: memoryview(frame).nbytes)
    assert numpy.frombuffer(elements).ctypes.data == array._host().ctypes.data
    arrived = received(frames)
    found = protocol.deserialize(header, arrived)
    there = max(arrived, key=len)
    assert found._host().ctypes.data == numpy.frombuffer(there).ctypes.data
    assert float((found + 1)[-1]) == LARGE


def test_what_an_axis_repeats_goes_once(protocol):
    row = gpupy.asarray(numpy.arange(5.0))
    array = gpupy.broadcast_to(row, (LARGE, 5))
    header, frames = protocol.serialize(array)
    assert sum(memoryview(frame).nbytes for frame in frames) == row.nbytes
    found = protocol.deserialize(header, received(frames))
    assert found.shape == array.shape and dask.sizeof.sizeof(found) == row.nbytes
    numpy.testing.assert_array_equal(found[-1], row)


def test_what_is_sent_is_not_what_is_written_later(protocol):
    array = gpupy.asarray(numpy.arange(float(LARGE))) + 0
    gpupy.evaluate(array)
    header, frames = protocol.serialize(array)
    array += 1
    array[0] = 99
    numpy.testing.assert_array_equal(protocol.deserialize(header, received(frames)), numpy.arange(LARGE))
