"""Arrays that are lent to a renderer: its reads, its writes, and the array meanwhile."""

import os
import threading

import numpy as np
import pytest
from renderer import FORMATS, Renderer

import gpupy

SHAPES = [(1,), (3,), (4,), (1000,), (4099,), (37, 53), (130, 70), (64, 64), (300, 333), (100_001,)]


@pytest.fixture
def renderer():
    try:
        made = Renderer()
    except OSError as error:
        pytest.skip(str(error))
    gpupy._gpupy.reconfigure("gl")
    yield made
    gpupy._gpupy.reconfigure("cpu")
    made.make_current()
    made.close()


@pytest.fixture
def joined(renderer):
    gpupy.use("gl", share=True)
    gpupy.reset_stats()
    return renderer


def numbers(shape, dtype):
    values = np.arange(np.prod(shape, dtype=int)) % 120
    return (values % 2 == 0 if dtype == "bool" else values).astype(dtype).reshape(shape)


@pytest.mark.parametrize("kind", ["texture", "buffer"])
@pytest.mark.parametrize("dtype", sorted(FORMATS))
def test_what_is_lent_has_the_elements(joined, kind, dtype):
    for shape in SHAPES:
        model = numbers(shape, dtype)
        array = gpupy.asarray(model)
        with array.lend(kind) as lent:
            assert (lent.size, lent.dtype) == (model.size, model.dtype)
            assert joined.read(lent).tolist() == model.reshape(-1).tolist()
        assert array.tolist() == model.tolist()


@pytest.mark.parametrize("kind", ["texture", "buffer"])
def test_what_is_pending_is_computed_first_and_nothing_passes_host_memory(joined, kind):
    for shape in SHAPES:
        model = numbers(shape, "float32")
        array = gpupy.asarray(model)
        gpupy.evaluate(array + 0.5)
        gpupy.reset_stats()
        # Rows of a matrix are padded where a kernel walks along them.
        result = gpupy.sqrt(array + 1) * 2 - array
        with result.lend(kind) as lent:
            read = joined.read(lent)
        stats = gpupy.stats()
        assert (stats.bytes_downloaded, stats.bytes_uploaded) == (0, 0)
        np.testing.assert_array_equal(read, (np.sqrt(model + 1) * 2 - model).reshape(-1))


def test_what_a_renderer_writes_replaces_the_elements(joined):
    array = gpupy.zeros((30, 40), np.float32) + 1
    before, recorded, seen = array.copy(), array * 2, np.array(array)
    for number in range(1, 20):
        with array.lend(write=True) as lent:
            joined.fill(lent, number)
            # Until it comes back the array has what it had.
            assert array[0, 0] == max(1, number - 1)
        assert (array + 1).tolist() == [[number + 1] * 40] * 30
    assert before.tolist() == seen.tolist() == [[1] * 40] * 30 and recorded[3, 4] == 2
    with array.lend("buffer", write=True) as lent:
        joined.write(lent, np.arange(1200, dtype=np.float32))
    assert array.tolist() == np.arange(1200).reshape(30, 40).tolist()
    assert np.asarray(array).sum() == 1199 * 600


@pytest.mark.parametrize("shape", SHAPES)
def test_a_buffer_that_is_written_fits_every_layout(joined, shape):
    array = gpupy.sqrt(gpupy.asarray(numbers(shape, "float32")))
    values = np.arange(array.size, dtype=np.float32)
    with array.lend("buffer", write=True) as lent:
        joined.write(lent, values)
    assert (array * 2).reshape(-1).tolist() == (values * 2).tolist()


def test_views_are_lent_as_copies_and_not_to_be_written(joined):
    model = numbers((20, 30), "float32")
    array = gpupy.asarray(model)
    for key in [np.s_[3:9], np.s_[::-2, 5], np.s_[:, ::3], np.s_[4, 7]]:
        view = array[key] if key != np.s_[4, 7] else array[4:5, 7:8]
        shown = np.atleast_1d(model[key])
        with view.lend() as lent:
            assert joined.read(lent).tolist() == shown.reshape(-1).tolist()
        with pytest.raises(gpupy.DriverError, match="a view is only lent to be read"), view.lend(write=True):
            pass
    with array.T.lend() as lent:
        assert joined.read(lent).tolist() == model.T.reshape(-1).tolist()


def test_a_pinned_base_is_copied_each_time_and_not_written(joined):
    array = gpupy.zeros(100, np.float32) + 1
    memory = np.asarray(array)
    for number in range(3):
        memory[7] = number
        with array.lend() as lent:
            memory[7] = 99
            assert joined.read(lent)[7] == number
    refused = pytest.raises(gpupy.DriverError, match="other code has the array's memory")
    with refused, array.lend(write=True):
        pass
    assert array[7] == 99


def test_a_lent_block_stays_while_the_array_is_written_and_memory_is_short(renderer):
    gpupy._gpupy.reconfigure("gl", device_bytes=1 << 20)
    gpupy.use("gl", share=True)
    array = gpupy.asarray(numbers((40_000,), "float32"))
    with array.lend() as lent:
        array += 1
        array[5] = 3
        kept = [gpupy.sqrt(array[::-1] + number) + array for number in range(12)]
        for result in kept:
            gpupy.evaluate(result)
        assert gpupy.stats().evictions > 0
        assert renderer.read(lent).tolist() == numbers((40_000,), "float32").tolist()
    assert array[5] == 3 and array[6] == 7


def test_blocks_come_back_however_it_ends(joined):
    array = gpupy.zeros(1000, np.float32) + 1
    gpupy.evaluate(array)
    before = gpupy.stats().blocks
    for write in (False, True, False, True):
        with pytest.raises(KeyError), array.lend(write=write) as lent:
            raise KeyError(lent.id)
        with array.lend(write=write) as first, array.lend("buffer") as second:
            assert first.id != second.id or first.target != second.target
        lent = array.lend(write=write)
        lent.__enter__()
        del lent
    with pytest.raises(RuntimeError, match="between `with` and its end"):
        first.id  # noqa: B018
    assert gpupy.stats().blocks <= before + 1 and array.sum() == 1000


@pytest.mark.parametrize("driver_name", ["gl", "cpu", "soft"])
def test_without_a_current_context_nothing_is_joined(renderer, driver_name):
    array = gpupy.arange(5, dtype=np.float32)
    renderer.make_current(False)
    with pytest.raises(gpupy.DriverError) as caught:
        gpupy.use(driver_name, share=True)
    words = "no OpenGL context of EGL is current" if driver_name == "gl" else "no renderer"
    assert words in str(caught.value) and "\n" not in str(caught.value)
    # The driver of before goes on.
    assert gpupy.current_driver() == "gl" and (array + 1).tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(gpupy.DriverError, match="shares its objects with no renderer"), array.lend():
        pass


def test_a_block_is_lent_only_where_the_context_is_current(joined):
    array = gpupy.arange(5, dtype=np.float32) + 1
    caught = []

    def elsewhere():
        try:
            with array.lend():
                pass
        except gpupy.DriverError as error:
            caught.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(caught) == 1 and "is not the current one of this thread" in caught[0]
    with pytest.raises(gpupy.DriverError, match="not the current one"), array.lend(write=True):
        joined.make_current(False)
    joined.make_current()
    with array.lend() as lent:
        assert joined.read(lent).tolist() == [1, 2, 3, 4, 5]


def test_what_cannot_be_lent_says_why(joined):
    with pytest.raises(ValueError, match='kind is `vbo`, and has to be "texture" or "buffer"'):
        gpupy.zeros(3).lend("vbo")
    for array, words in [
        (gpupy.zeros(0, np.float32), "only an array of one block is lent"),
        (gpupy.arange(3, dtype=np.float64), "float32"),
        (gpupy.arange(3, dtype=np.int64), "float32"),
    ]:
        with pytest.raises(gpupy.DriverError, match=words), array.lend():
            pass
    with pytest.raises(TypeError, match=r"lend a field|lend `x\.real`"):
        gpupy.zeros(3, np.complex64).lend()
    with pytest.raises(TypeError, match="NumPy's own"):
        gpupy.zeros(3, "S3").lend()
    constant = gpupy.broadcast_to(gpupy.zeros(1, np.float32), (3,))
    with pytest.raises(ValueError, match="read-only"):
        constant.lend(write=True)


def test_an_array_of_many_blocks_is_not_lent(renderer):
    gpupy._gpupy.reconfigure("gl", block_bytes=4096)
    gpupy.use("gl", share=True)
    array = gpupy.zeros((1 << 16,), np.float32) + 1
    with pytest.raises(gpupy.DriverError, match="only an array of one block is lent"), array.lend():
        pass
    assert array.sum() == 1 << 16


def test_the_driver_goes_on_without_the_renderer(renderer):
    other = Renderer()
    gpupy.use("gl", share=True)
    array = gpupy.arange(1000, dtype=np.float32) + 1
    with array.lend() as lent:
        assert other.read(lent)[999] == 1000
    other.close()
    assert (array * 2).sum() == 1001 * 1000
    with pytest.raises(gpupy.DriverError, match="not the current one"), array.lend():
        pass
    # And joins another one, with all arrays.
    renderer.make_current()
    gpupy.use("gl", share=True)
    with array.lend() as lent:
        assert renderer.read(lent)[999] == 1000


def test_a_driver_that_closes_meanwhile_says_what_is_lost(joined):
    array = gpupy.arange(10, dtype=np.float32) + 1
    with array.lend():
        gpupy._gpupy.reconfigure("cpu")
    assert array.sum() == 55
    gpupy._gpupy.reconfigure("gl")
    gpupy.use("gl", share=True)
    lost = pytest.raises(gpupy.DriverError, match="what was written is lost")
    with lost, array.lend(write=True):
        gpupy._gpupy.reconfigure("cpu")
    assert array.sum() == 55


def test_a_reshaped_array_is_written(joined):
    for array in [
        (gpupy.arange(2500, dtype=np.float32) + 1).reshape(50, 50),
        gpupy.zeros((50, 50), np.float32).reshape(2500) + 0,
        gpupy.zeros((10, 250), np.float32).reshape(2, 5, 250)[None],
    ]:
        with array.lend("buffer", write=True) as lent:
            joined.write(lent, np.arange(2500, dtype=np.float32))
        assert array.reshape(-1).tolist() == list(range(2500))
        assert (array * 2).sum() == 2499 * 2500


def test_an_array_is_lent_to_be_written_once_at_a_time(joined):
    array, other = gpupy.arange(12, dtype=np.float32) + 1, gpupy.zeros(12, np.float32) + 1
    with array.lend("buffer", write=True) as lent:
        for same in [array, array.reshape(3, 4), array[:]]:
            refused = pytest.raises(gpupy.DriverError, match="lent to be written already")
            with refused, same.lend(write=True):
                pass
        with array.lend() as seen, other.lend("buffer", write=True) as more:
            assert joined.read(seen)[3] == 4
            joined.write(more, np.full(12, 5, np.float32))
        joined.write(lent, np.full(12, 6, np.float32))
    assert array.tolist() == [6] * 12 and other.tolist() == [5] * 12
    with pytest.raises(KeyError), array.lend(write=True):
        raise KeyError
    # Neither an error nor what is never given back locks it.
    array.lend(write=True).__enter__()
    with array.lend("buffer", write=True) as lent:
        joined.write(lent, np.full(12, 7, np.float32))
    assert array.tolist() == [7] * 12


def test_what_is_written_meanwhile_is_not_lost_silently(joined):
    array = gpupy.arange(12, dtype=np.float32) + 1
    lost = pytest.raises(gpupy.DriverError, match="was written while it was lent")
    for write in [lambda: array.fill(3), lambda: array[::2].fill(4), lambda: np.asarray(array).fill(5)]:
        with lost, array.lend("buffer", write=True) as lent:
            joined.write(lent, np.zeros(12, np.float32))
            write()
            want = array.tolist()
        assert array.tolist() == want
    # What leaves the elements as they are is no write.
    with array.lend("buffer", write=True) as lent:
        joined.write(lent, np.zeros(12, np.float32))
        assert np.asarray(array).sum() == 60
        array[:] = 5
    assert array.tolist() == [0] * 12


def test_a_field_of_records_is_lent_to_be_read(joined):
    records = gpupy.zeros(5, np.dtype([("at", "f4", 3), ("id", "i4")]))
    records["at"] = np.arange(15).reshape(5, 3)
    for kind in ["texture", "buffer"]:
        with records["at"].lend(kind) as lent:
            assert joined.read(lent).tolist() == list(range(15))
    with pytest.raises(TypeError, match="only lent to be read"):
        records["at"].lend(write=True)


def test_masked_arrays_are_lent_by_their_data(joined):
    masked = gpupy.ma.masked_greater(gpupy.arange(5, dtype=np.float32), 2)
    with pytest.raises(TypeError, match=r"lend `x\.data`"):
        masked.lend()
    with masked.filled(9).lend() as lent:
        assert joined.read(lent).tolist() == [0, 1, 2, 9, 9]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork_the_driver_says_that_it_shares_no_more(joined):
    array = gpupy.arange(5, dtype=np.float32) + 1
    with array.lend():
        pass
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(gpupy.DriverError, match="closed, as before a fork"), array.lend():
        pass
    gpupy.use("gl", share=True)
    with array.lend() as lent:
        assert joined.read(lent).tolist() == [1, 2, 3, 4, 5]
    gpupy.use("gl")
    assert array.sum() == 15
