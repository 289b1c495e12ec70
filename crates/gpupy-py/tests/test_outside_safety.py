"""Arrays of files and of readers keep what they were made of: files that are replaced or written, maps that
may be written, answers of readers that do not fit, and files that a result is stored to.

Not here: their values (``test_outside.py``).
"""

import os

import numpy
import pytest

import gpupy

COUNT = 300_000
NUMBERS = numpy.arange(float(COUNT))


@pytest.fixture
def path(tmp_path):
    numpy.save(tmp_path / "numbers.npy", NUMBERS)
    return tmp_path / "numbers.npy"


def test_numpys_array_of_a_part_reads_and_keeps_that_part(auto, tmp_path):
    with open(tmp_path / "big.bin", "wb") as file:
        file.truncate(80_000_000)
    x = gpupy.open_memmap(tmp_path / "big.bin", float, (10_000, 1000))
    views = [lambda: numpy.asarray(x[5]), lambda: numpy.array(x[:, 3][:100]), lambda: memoryview(x[7:9])]
    before = gpupy.stats()["bytes_read"]
    for view in views:
        given = view()
        assert not numpy.asarray(given).any()
    assert gpupy.stats()["bytes_read"] - before < 20_000_000
    assert memoryview(x[5]).readonly and not numpy.asarray(x[5]).flags.writeable


def test_a_map_whose_file_was_replaced_shows_the_old_one(auto, tmp_path):
    NUMBERS.tofile(tmp_path / "x.bin")
    (-NUMBERS).tofile(tmp_path / "y.bin")
    m = numpy.memmap(tmp_path / "x.bin", dtype=float, mode="r")
    os.replace(tmp_path / "y.bin", tmp_path / "x.bin")
    assert gpupy.asarray(m).sum() == m.sum() == NUMBERS.sum()


@pytest.mark.parametrize("mode", ["c", "r+"])
def test_a_read_only_view_of_a_map_that_is_written_is_a_copy(auto, tmp_path, mode):
    NUMBERS.tofile(tmp_path / "z.bin")
    m = numpy.memmap(tmp_path / "z.bin", dtype=float, mode=mode)
    m[:] = 7
    view = m[:]
    view.flags.writeable = False
    ours = gpupy.asarray(view)
    m[:] = 3
    assert ours.sum() == 7 * COUNT


def test_a_copy_is_what_the_file_was_when_it_was_made(auto, path):
    copies = [
        gpupy.open_memmap(path).copy(),
        gpupy.array(numpy.load(path, mmap_mode="r")),
        gpupy.open_memmap(path)[::2].copy(),
    ]
    written = numpy.load(path, mmap_mode="r+")
    written[:] = 0
    written.flush()
    assert [copy.sum() for copy in copies] == [NUMBERS.sum(), NUMBERS.sum(), NUMBERS[::2].sum()]


def test_an_array_of_a_file_stays_read_only(auto, path):
    x = gpupy.open_memmap(path)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        x.setflags(write=True)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        x.flags.writeable = True


def test_a_result_may_be_stored_to_the_file_that_it_reads(auto, path):
    mode = path.stat().st_mode
    gpupy.store(gpupy.open_memmap(path) + 1, path)
    numpy.testing.assert_array_equal(numpy.load(path), NUMBERS + 1)
    assert path.stat().st_mode == mode and os.listdir(path.parent) == [path.name]


def test_what_fails_costs_nothing_that_was_in_the_file(auto, path):
    def fails(box):
        raise LookupError("no such chunk")

    for bad in (numpy.array([1, None], object), gpupy.from_chunks(fails, (COUNT,), float)):
        with pytest.raises((TypeError, LookupError)):
            gpupy.store(bad, path)
    with pytest.raises(TypeError, match="store: masked arrays"):
        gpupy.store(gpupy.ma.masked_greater(gpupy.arange(5.0), 2), path)
    numpy.testing.assert_array_equal(numpy.load(path), NUMBERS)
    assert os.listdir(path.parent) == [path.name]


def test_parts_stay_beside_a_file_that_they_would_have_replaced(auto, path, monkeypatch):
    monkeypatch.setattr("gpupy._outside.storing._PART", 8 * 1000)
    monkeypatch.setattr("gpupy._outside.arrays._MOST", 8 * 1000)

    def read(box):
        if box[0].stop > 100_000:
            raise LookupError("no such chunk")
        return NUMBERS[box] + 1

    with pytest.raises(LookupError) as caught:
        gpupy.store(gpupy.from_chunks(read, (COUNT,), float, chunks=(1000,)), path)
    numpy.testing.assert_array_equal(numpy.load(path), NUMBERS)
    beside = [name for name in os.listdir(path.parent) if name != path.name]
    assert len(beside) == 1 and any(beside[0] in note for note in caught.value.__notes__)
    parts = numpy.fromfile(path.parent / beside[0], float, offset=128)
    assert len(parts) >= 1000 and (parts == NUMBERS[: len(parts)] + 1).all()


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ms]", "U3", "S2", "i4,f8", ">f8"])
def test_every_dtype_without_objects_is_stored(auto, tmp_path, dtype):
    values = numpy.arange(6).astype(dtype) if "," not in dtype else numpy.zeros(6, dtype)
    gpupy.store(values, tmp_path / "s.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "s.npy"), values)


@pytest.mark.parametrize("there", [False, True])
def test_a_store_that_fails_before_its_first_part_makes_no_file(auto, tmp_path, there):
    def fails(box):
        raise LookupError("no elements")

    path = tmp_path / "x.npy"
    if there:
        numpy.save(path, numpy.arange(3))
    with pytest.raises(LookupError) as caught:
        gpupy.store(gpupy.from_chunks(fails, (100, 2), "f4", (10, 2)) + 1, path)
    assert "0 of 200 elements are written" in caught.value.__notes__[-1]
    assert [file.name for file in tmp_path.iterdir()] == ["x.npy"] * there
    assert not there or numpy.load(path).tolist() == [0, 1, 2]


def test_a_store_of_elements_that_the_target_shares_takes_them_as_they_were(auto, monkeypatch):
    monkeypatch.setattr("gpupy._outside.storing._PART", 8 * 1000)
    t = gpupy.arange(50_000.0)
    gpupy.store(t[::-1], t)
    assert (t == gpupy.arange(50_000.0)[::-1]).all()
    host = numpy.arange(50_000.0)
    gpupy.store(gpupy.asarray(host, copy=False)[::-1], host)
    numpy.testing.assert_array_equal(host, numpy.arange(50_000.0)[::-1])


def test_a_reader_is_stored_into_memory_part_by_part(auto, monkeypatch):
    monkeypatch.setattr("gpupy._outside.storing._PART", 8 * 1000)
    monkeypatch.setattr("gpupy._outside.arrays._MOST", 8 * 1000)
    target, written = numpy.zeros(50_000), []

    def read(box):
        written.append(numpy.count_nonzero(target))
        return NUMBERS[box] + 1

    gpupy.store(gpupy.from_chunks(read, target.shape, float), target)
    numpy.testing.assert_array_equal(target, NUMBERS[:50_000] + 1)
    assert max(written) > 40_000


def test_targets_that_are_none_are_refused(auto, tmp_path):
    for target in ([0, 0], 5, open(tmp_path / "f", "wb")):
        with pytest.raises(TypeError, match=r"store: .* is neither a path nor an array"):
            gpupy.store(gpupy.ones(2), target)
    gpupy.store(gpupy.ones(2), os.fsencode(tmp_path / "b.npy"))
    assert (numpy.load(tmp_path / "b.npy") == 1).all()


BOX = numpy.arange(12.0).reshape(3, 4)
ANSWERS = {
    "another shape": (lambda box: BOX[box].T, ValueError, r"gave \(4, 3\) for"),
    "flat": (lambda box: BOX[box].ravel(), ValueError, r"gave \(12,\) for"),
    "complex numbers": (lambda box: BOX[box] * 1j, TypeError, "does not hold"),
    "masked elements": (lambda box: numpy.ma.masked_greater(BOX, 5)[box], TypeError, "masked"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_that_do_not_fit_are_refused(auto, name):
    reader, kind, words = ANSWERS[name]
    with pytest.raises(kind, match=words):
        gpupy.evaluate(gpupy.from_chunks(reader, (3, 4), float) + 0)


def test_fractions_are_no_integers(auto):
    with pytest.raises(TypeError, match=r"float64 .* int64 does not hold"):
        gpupy.evaluate(gpupy.from_chunks(lambda box: BOX[box] + 0.5, (3, 4), "int64") * 2)


def test_a_reader_of_one_element_has_an_empty_box(auto):
    assert gpupy.from_chunks(lambda box: numpy.float64(3.5), (), float) + 1 == 4.5


def test_extents_are_taken_as_numpy_takes_them(auto, tmp_path):
    NUMBERS[:10].tofile(tmp_path / "p.bin")
    path = tmp_path / "p.bin"
    assert gpupy.open_memmap(path, float, numpy.int64(3)).shape == (3,)
    assert gpupy.open_memmap(os.fsencode(path), float).shape == (10,)
    assert gpupy.from_chunks(lambda box: NUMBERS[box], 10, float, chunks=4).sum() == 45
    for bad in ({"offset": -3}, {"offset": 81}, {"offset": 3}):
        with pytest.raises(ValueError, match="open_memmap: "):
            gpupy.open_memmap(path, float, **bad)
    with pytest.raises(TypeError, match="open_memmap: drivers have no elements of dtype"):
        gpupy.open_memmap(path, "S0")
