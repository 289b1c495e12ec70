"""Arrays of Zarr and HDF5, read where they are computed with, and written part by part."""

import numpy
import pytest

import gpupy

NUMBERS = numpy.random.default_rng(3).random((300, 41))


@pytest.fixture(params=["h5py", "zarr"])
def made(request, tmp_path):
    """A function that makes an array in a file, in chunks of these extents."""
    library = pytest.importorskip(request.param)
    if request.param == "zarr":
        count = iter(range(9))

        def make(chunks):
            where = str(tmp_path / f"{next(count)}.zarr")
            return library.create_array(where, shape=NUMBERS.shape, chunks=chunks, dtype="f8")

        yield make
        return
    with library.File(tmp_path / "file.h5", "w") as file:
        count = iter("abcdefgh")

        def make(chunks):
            return file.create_dataset(next(count), NUMBERS.shape, "f8", chunks=chunks, compression="gzip")

        yield make


@pytest.mark.parametrize("chunks", [(100, 41), (7, 10)])
def test_an_array_in_a_file_is_computed_with_and_stored(made, chunks):
    source, target = made(chunks), made((50, 20))
    source[:] = NUMBERS
    x = gpupy.from_chunks(source)
    assert (x.shape, x.dtype) == (NUMBERS.shape, NUMBERS.dtype)
    numpy.testing.assert_allclose(numpy.asarray((x * 2).sum(axis=0)), (NUMBERS * 2).sum(axis=0))
    assert numpy.array_equal(numpy.asarray(x[250:, ::3]), NUMBERS[250:, ::3])
    gpupy.store(gpupy.sqrt(x), target)
    assert numpy.array_equal(target[:], numpy.sqrt(NUMBERS))
