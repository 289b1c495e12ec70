"""Arrays of files and of readers: the values that memory gives, within little memory; errors that name the
place.
"""

import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import weakref

import numpy
import pytest

import gpupy

NUMBERS = numpy.random.default_rng(5).random((90, 71), numpy.float32)

CASES = {
    "chain and sum": lambda np, x: (x * 2 + 1).sum(),
    "sums of columns": lambda np, x: x.sum(axis=0),
    "sums of rows": lambda np, x: (x + 1).max(axis=1),
    "centred": lambda np, x: ((x - x.mean(axis=0)) ** 2).mean(axis=0),
    "transposed": lambda np, x: x.T + 1,
    "a column": lambda np, x: x[:, 3],
    "steps": lambda np, x: x[::-7, 5::3] * 2,
    "a stencil": lambda np, x: np.sqrt(x[1:] + x[:-1])[:, 1:-1],
    "several at once": lambda np, x: [x.sum(), x.max(), (x * x).sum(axis=1)],
    "joined": lambda np, x: np.concatenate([x, x[:3] * 2]),
    "a product": lambda np, x: x @ x[:71, :4],
    "sorted": lambda np, x: np.sort(x, axis=1),
    "running sums": lambda np, x: np.cumsum(x[:, :5], axis=0),
    "rows by numbers": lambda np, x: x[[5, 80, 5]],
    "by a mask": lambda np, x: x[x > 0.9],
    "another dtype": lambda np, x: (x * 100).astype(np.int32),
    "rolled": lambda np, x: np.roll(x, 4, axis=0) - x,
    "one element": lambda np, x: x[17, 4],
}


@pytest.fixture
def path(tmp_path):
    numpy.save(tmp_path / "numbers.npy", NUMBERS)
    return tmp_path / "numbers.npy"


def check(got, want):
    got, want = (list(each) if isinstance(each, list) else [each] for each in (got, want))
    for ours, theirs in zip(got, want, strict=True):
        host = numpy.asarray(ours)
        assert (host.dtype, host.shape) == (numpy.asarray(theirs).dtype, numpy.shape(theirs))
        numpy.testing.assert_allclose(host, theirs, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("name", CASES)
def test_a_file_has_the_values_that_memory_has(limited, path, name):
    check(CASES[name](gpupy, gpupy.open_memmap(path)), CASES[name](numpy, NUMBERS))


def test_bits_are_those_of_the_same_elements_in_memory(driver, path):
    outside, inside = gpupy.open_memmap(path), gpupy.asarray(NUMBERS)
    for name, case in CASES.items():
        ours, theirs = (case(gpupy, x) for x in (outside, inside))
        for one, other in zip(
            *([each] if not isinstance(each, list) else each for each in (ours, theirs)), strict=True
        ):
            assert numpy.asarray(one).tobytes() == numpy.asarray(other).tobytes(), name


def test_nothing_is_read_before_it_is_needed_and_then_once(driver, path):
    made = gpupy.open_memmap(path) * 2
    assert gpupy.stats().bytes_read == 0
    made.sum().item()
    assert gpupy.stats().bytes_read == NUMBERS.nbytes


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "f8", "c8", "c16"])
def test_each_dtype_is_read_as_it_lies(auto, tmp_path, dtype):
    want = (numpy.arange(3000) % 7 * 1.5).astype(dtype)
    want.tofile(tmp_path / "raw")
    got = gpupy.open_memmap(tmp_path / "raw", dtype, offset=10 * want.itemsize)
    assert got.dtype == want.dtype
    assert numpy.array_equal(numpy.asarray(got + got), want[10:] + want[10:])


def test_a_file_in_fortrans_order_is_seen_so(auto, tmp_path):
    numpy.save(tmp_path / "f.npy", numpy.asfortranarray(NUMBERS))
    got = gpupy.open_memmap(tmp_path / "f.npy")
    assert got.flags.f_contiguous
    check(got.sum(axis=0), NUMBERS.sum(axis=0))


def test_a_bool_of_any_byte_is_true(auto, tmp_path):
    (tmp_path / "raw").write_bytes(bytes([0, 1, 2, 255]))
    assert gpupy.open_memmap(tmp_path / "raw", bool).sum().item() == 3


@pytest.mark.parametrize(
    "view",
    [
        lambda m: m,
        lambda m: m.T,
        lambda m: m[100:, 7:900],
        lambda m: m[::2],
        lambda m: m[::-1],
        lambda m: m[5, 100:],
    ],
    ids=["whole", "transposed", "box", "steps", "backwards", "row"],
)
@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_memory_maps_of_numpys_have_their_elements(auto, tmp_path, view, mode):
    want = numpy.random.default_rng(1).random((700, 1001))
    numpy.save(tmp_path / "map.npy", want)
    mapped = numpy.load(tmp_path / "map.npy", mmap_mode=mode)
    got = gpupy.asarray(view(mapped))
    is_read = mode == "r" and view(want).nbytes >= 1 << 20 and min(view(want).strides) > 0
    assert ("read of" in str(gpupy.explain(got.base if got.base is not None else got))) == is_read
    assert numpy.array_equal(numpy.asarray(got * 2), view(want) * 2)
    copied = gpupy.array(view(mapped))
    copied[0] = 7
    assert copied[0].max() == 7 and numpy.array_equal(numpy.asarray(got), view(want))


def test_what_lies_outside_is_not_written_to(auto, path):
    outside = gpupy.open_memmap(path)
    with pytest.raises(ValueError, match="read-only"):
        outside[0] = 1
    assert not numpy.asarray(outside).flags.writeable
    copied = outside.copy()
    copied[0] = 1
    assert numpy.array_equal(numpy.asarray(outside), NUMBERS) and copied[0].sum() == 71


def test_text_is_of_corners_and_reads_little(auto, tmp_path):
    want = numpy.arange(8 << 20, dtype=numpy.int32).reshape(-1, 1 << 10)
    numpy.save(tmp_path / "long.npy", want)
    outside = gpupy.open_memmap(tmp_path / "long.npy")
    for ours, theirs in [
        (outside, want),
        (outside[:, 3] * 2, want[:, 3] * 2),
        (outside[:2, :2], want[:2, :2]),
    ]:
        assert repr(ours) == repr(theirs)
        assert str(ours) == str(theirs)
    assert gpupy.stats().bytes_read < want.nbytes


def test_a_file_that_shrinks_or_changes_is_an_error_that_names_the_place(auto, path):
    outside = gpupy.open_memmap(path)
    os.truncate(path, 5000)
    with pytest.raises(OSError, match=re.escape(str(path)) + r".*offset: 128") as caught:
        outside.sum().item()
    assert "\n" not in str(caught.value)
    numpy.save(path, NUMBERS)
    outside = gpupy.open_memmap(path)
    made = outside + 1
    os.utime(path, (1, 1))
    with pytest.raises(OSError, match="changed since it was opened"):
        made.sum().item()
    # A file that is opened again is read, and an array that failed fails again.
    check(gpupy.open_memmap(path).sum(), NUMBERS.sum())
    with pytest.raises(OSError, match="changed"):
        made.sum().item()


def test_what_is_no_array_is_refused_at_once(auto, tmp_path, path):
    with pytest.raises(FileNotFoundError):
        gpupy.open_memmap(tmp_path / "none.npy")
    with pytest.raises(OSError, match=r"cannot be opened.*none"):
        gpupy.open_memmap(tmp_path / "none", "f4", 3)
    with pytest.raises(OSError, match=r"shorter than the array.*numbers"):
        gpupy.open_memmap(path, "f8", (1 << 30,))
    numpy.save(tmp_path / "words.npy", numpy.array(["a", "b"]))
    with pytest.raises(TypeError, match="<U1"):
        gpupy.open_memmap(tmp_path / "words.npy")
    os.truncate(path, 200)
    with pytest.raises(OSError, match="shorter"):
        gpupy.open_memmap(path)


class Chunked:
    """An array in chunks, which notes what it is asked for."""

    def __init__(self, array, chunks):
        self.array, self.chunks, self.asked = array, chunks, []
        self.shape, self.dtype, self.name = array.shape, array.dtype, "the chunked one"

    def __getitem__(self, box):
        self.asked.append(box)
        return self.array[box]


@pytest.mark.parametrize("chunks", [(30, 71), (7, 10), (90, 1), None])
@pytest.mark.parametrize("name", ["chain and sum", "sums of columns", "centred", "a column", "a stencil"])
def test_readers_have_the_values_that_memory_has(limited, name, chunks):
    reader = Chunked(NUMBERS, chunks)
    check(CASES[name](gpupy, gpupy.from_chunks(reader)), CASES[name](numpy, NUMBERS))
    assert reader.asked


def test_whole_chunks_are_asked_for_and_each_once(auto, monkeypatch):
    monkeypatch.setattr("gpupy._outside.arrays._MOST", 8 * 71 * 4)
    reader = Chunked(NUMBERS, (4, 71))
    check(gpupy.from_chunks(reader).sum(), NUMBERS.sum())
    rows = [(box[0].start, box[0].stop) for box in reader.asked]
    assert sorted(rows) == [(row, min(row + 8, 90)) for row in range(0, 90, 8)]


def test_a_function_reads(auto):
    made = gpupy.from_chunks(lambda box: numpy.ones([part.stop - part.start for part in box]), (5, 6), float)
    assert (made + 1).sum().item() == 60
    empty = gpupy.from_chunks(lambda box: 1 / 0, (0, 6), float)
    assert empty.sum().item() == 0


def test_what_a_reader_raises_is_raised_with_its_place(auto):
    def read(box):
        raise KeyError("no such chunk")

    made = gpupy.from_chunks(read, (5, 6), float, (5, 6)) + 1
    with pytest.raises(KeyError, match="no such chunk") as caught:
        made.sum().item()
    assert caught.value.__notes__ == ["while reading elements 0 to 30 of `read`"]
    with pytest.raises(ValueError, match=r"gave \(2,\) for \[0:5, 0:6\]"):
        gpupy.from_chunks(lambda box: numpy.ones(2), (5, 6), float).sum().item()


def test_a_reader_that_would_wait_for_itself_is_told(auto):
    other = gpupy.asarray(NUMBERS)

    def read(box):
        return (numpy.asarray(other @ other.T @ other)[box]).astype(numpy.float32)

    with pytest.raises(RuntimeError, match="may not compute"):
        gpupy.from_chunks(read, NUMBERS.shape, numpy.float32).sum().item()


ASKED = """
import os, pickle, numpy, gpupy
elements = numpy.ones(3_000_000, numpy.float32)
g = gpupy.ones(100_000, numpy.float32) * 1
gpupy.evaluate(g)
recorded = gpupy.jit(lambda x: gpupy.sqrt(x) * 2 + 1)
recorded(g)
def write():
    g[0] = 5
def write_all():
    g[:] = g[::-1]
def choose():
    with gpupy.driver("cpu"):
        pass
def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
asked = [write, write_all, choose, fork, gpupy.current_driver, gpupy.drivers]
asked += [gpupy.trim, gpupy.reset_stats, gpupy.stats]
words = [
    "gpupy.use('soft')", "gpupy._gpupy.reconfigure('cpu')", "gpupy._gpupy.wanted_driver()",
    "g.pending_extents", "g.pending_data", "g + 1", "g.sum()", "gpupy.evaluate(g + 1)",
    "gpupy.explain(g)", "repr(g)",
    "gpupy.zeros(5, numpy.float16)", "gpupy.zeros(5, numpy.complex128)", "gpupy.asarray(elements)",
    "numpy.asarray(g)", "g.copy()", "g[3]", "g[g > 0]", "g[[1, 2]]", "gpupy.sort(g)", "recorded(g)",
    "pickle.dumps(g)", "g.tobytes()", "bool(g[0])", "gpupy.from_chunks(elements)[5].item()",
    "read_by_itself[5].item()", "read_by_itself.copy()", "numpy.asarray(read_by_itself[:3])", "g.dispose()",
]
for call in asked + words:
    name = call if isinstance(call, str) else call.__name__
    said = []
    def read(box):
        try:
            said.append((eval(call) if isinstance(call, str) else call(), "works")[1])
        except RuntimeError as error:
            said.append("is told" if "may not compute" in str(error) else str(error))
        return elements[box]
    read_by_itself = gpupy.from_chunks(read, elements.shape, numpy.float32)
    print(name, end=": ", flush=True)
    assert read_by_itself.sum() == len(elements)
    print(*sorted(set(said)), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize("driver", ["cpu", "vulkan"])
def test_whatever_a_reader_asks_works_or_says_that_it_does_not(driver):
    """What waits for itself ends by the limit of time."""
    if not {row["name"]: row["starts"] for row in gpupy.drivers()}[driver]:
        pytest.skip(f"{driver} cannot start")
    words = [sys.executable, "-W", "ignore", "-c", ASKED]
    environment = dict(os.environ, GPUPY_DRIVER=driver)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    answers = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    assert len(answers) == 37 and done.returncode == 0, done.stdout + done.stderr
    assert set(answers.values()) == {"works", "is told"}, done.stdout
    told, works = ["gpupy.use('soft')", "trim", "g.sum()"], ["stats", "g[3]", "numpy.asarray(g)", "fork"]
    assert {answers[call] for call in told} == {"is told"}, done.stdout
    assert {answers[call] for call in works} == {"works"}, done.stdout


@pytest.mark.parametrize("way", ["dispose", "weak"])
def test_a_reader_that_has_its_own_array_is_freed_as_the_page_says(auto, way):
    class Reader:
        shape, dtype = NUMBERS.shape, NUMBERS.dtype

        def __init__(self):
            self.made = gpupy.from_chunks(self)
            if way == "weak":
                self.made = weakref.ref(self.made)

        def __getitem__(self, box):
            return NUMBERS[box]

    reader = Reader()
    seen = weakref.ref(reader)
    if way == "dispose":
        assert reader.made.max().item() == NUMBERS.max()
        reader.made.dispose()
    del reader
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("last", [0, 1, 2])
def test_results_of_readers_are_written_in_place(driver, last):
    """From two million elements on they lie in several tiles, and what was written in one."""
    theirs = numpy.arange(4_500_000, dtype=numpy.float32)
    made = gpupy.from_chunks(theirs) + 1
    want = theirs + 1
    gpupy.evaluate(made)
    made[5] = want[5] = 7
    if last > 0:
        made[2_000_000:] = want[2_000_000:] = 8
    if last > 1:
        gpupy.evaluate(made)
        made[1:] *= 2
        want[1:] *= 2
        made[:-1] += made[1:]
        want[:-1] += want[1:]
    assert numpy.array_equal(numpy.asarray(made * 2), want * 2)
    assert numpy.array_equal(numpy.asarray(made), want)


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_computed_together_is_cut_alike(driver, order):
    """Of results of one shape, with a part in common, one reads a file and the other does not."""
    theirs = numpy.arange(6_000_000, dtype=numpy.float32) % 100
    there = gpupy.asarray(theirs) + 1
    gpupy.evaluate(there)
    shared = gpupy.sqrt(there * 4) * gpupy.floor(there / 3) + there
    want = numpy.sqrt((theirs + 1) * 4) * numpy.floor((theirs + 1) / 3) + theirs + 1
    made = [shared * 2, shared + gpupy.from_chunks(theirs)]
    gpupy.evaluate(*made[::order])
    for mine, each in zip(made, [want * 2, want + theirs], strict=True):
        assert numpy.allclose(numpy.asarray(mine * 3), each * 3, rtol=1e-5)
    rows, there = theirs.reshape(-1, 2), there.reshape(-1, 2)
    made = [(there * 2).sum(axis=1), (there * 2 + gpupy.from_chunks(rows)).sum(axis=1)]
    gpupy.evaluate(*made[::order])
    for mine, each in zip(made, [(rows + 1) * 2, rows * 3 + 2], strict=True):
        assert numpy.array_equal(numpy.asarray(mine * 3), each.sum(axis=1) * 3)


@pytest.mark.parametrize("is_read_first", [False, True])
def test_what_is_replayed_fits_how_an_array_is_cut(driver, is_read_first):
    """Results of readers lie in several tiles, and those of as many elements in memory in one."""
    theirs = numpy.arange(4_500_000, dtype=numpy.float32)
    arrays = [gpupy.asarray(theirs) + 1, gpupy.from_chunks(theirs) + 1]
    gpupy.evaluate(*arrays)
    for array in arrays[::-1] if is_read_first else arrays:
        made = array.copy()
        made[1:] = made[:-1] * 2
        assert numpy.array_equal(numpy.asarray(made)[1:], (theirs[:-1] + 1) * 2)
        made = array * 2 + array
        assert numpy.array_equal(numpy.asarray(made), (theirs + 1) * 3)


def test_results_are_stored_part_by_part(limited, tmp_path, path, monkeypatch):
    monkeypatch.setattr("gpupy._outside.storing._PART", 9 * 71 * 4)
    made = gpupy.sqrt(gpupy.open_memmap(path) * 2)
    want = numpy.sqrt(NUMBERS * 2)
    gpupy.store(made, tmp_path / "out.npy")
    check(numpy.load(tmp_path / "out.npy"), want)
    target = Chunked(numpy.zeros_like(want), (10, 71))
    written = []
    target.__class__.__setitem__ = lambda self, box, part: (
        written.append(box) or self.array.__setitem__(box, part)
    )
    gpupy.store(made, target)
    check(target.array, want)
    assert len(written) > 5
    for few in [numpy.float32(3), numpy.zeros((0, 4)), numpy.arange(3)]:
        gpupy.store(few, tmp_path / "few.npy")
        assert numpy.array_equal(numpy.load(tmp_path / "few.npy"), few)
    with pytest.raises(ValueError, match="shape"):
        gpupy.store(made, numpy.zeros((3, 3)))


def run(tmp_path, program, *args, **options):
    (tmp_path / "program.py").write_text(program)
    environment = dict(os.environ, GPUPY_DRIVER="cpu")
    words = [sys.executable, "program.py", *args]
    return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, **options)


BIG = """
import resource, sys
import numpy, gpupy
n, cols = 1 << 28, 1000
with open("big", "wb") as file:
    file.truncate(n * 8)
    file.seek(12_345 * 8); file.write(numpy.array([3.0, 5.0]).tobytes())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x = gpupy.open_memmap("big", "f8", (n // cols, cols))
if sys.argv[1] == "sum":
    found = (x * 2 + 1).sum().item() - x.size
elif sys.argv[1] == "columns":
    found = (x.mean(axis=0) * len(x)).sum().item() * 2
elif sys.argv[1] == "deviations":
    found = ((x - x.mean(axis=0)) ** 2).sum().item()
elif sys.argv[1] == "product":
    found = (x @ numpy.ones((cols, 2))).sum().item()
elif sys.argv[1] == "stored":
    gpupy.store((gpupy.sqrt(x) * 2)[: n // cols // 4], "out.npy")
    found = numpy.load("out.npy", mmap_mode="r")[12].sum() + 16 - 2 * (3**0.5 + 5**0.5)
print(found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux tells it")
@pytest.mark.parametrize("what", ["sum", "columns", "deviations", "product", "stored"])
def test_two_gigabytes_are_computed_with_in_a_quarter_of_that(tmp_path, what):
    done = run(tmp_path, BIG, what)
    assert done.returncode == 0, done.stderr
    found, megabytes = done.stdout.split()
    want = 34 if what == "deviations" else 16
    assert float(found) == pytest.approx(want, rel=1e-3)
    assert int(megabytes) < 512


INTERRUPTED = """
import signal
import gpupy
# A shell's background job ignores the signal, and so would this.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
gpupy.store(gpupy.open_memmap("big", "f8") + 1, "out.npy")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_a_store_that_is_interrupted_leaves_what_is_written(tmp_path):
    with open(tmp_path / "big", "wb") as file:
        file.truncate(4 << 30)
    (tmp_path / "program.py").write_text(INTERRUPTED)
    words = [sys.executable, "program.py"]
    environment = dict(os.environ, GPUPY_DRIVER="cpu")
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        while not (tmp_path / "out.npy").exists() or os.path.getsize(tmp_path / "out.npy") < 50 << 20:
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        error = child.stderr.read()
    assert "KeyboardInterrupt" in error
    count = int(re.search(r"store: (\d+) of 536870912 elements are written to `out.npy`", error)[1])
    raw = numpy.fromfile(tmp_path / "out.npy", "f8", offset=128)
    assert 0 < count <= len(raw) < 1 << 29
    assert (raw == 1).all()


FULL = """
import resource, signal, gpupy
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, 50_000_000))
gpupy.store(gpupy.open_memmap("big", "f8") + 1, "out.npy")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits files")
def test_where_no_room_is_left_the_error_names_file_and_offset(tmp_path):
    with open(tmp_path / "big", "wb") as file:
        file.truncate(1 << 28)
    done = run(tmp_path, FULL)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-2:]
    assert re.fullmatch(r"OSError: \[Errno \d+\] .*, at byte 50000000: 'out.npy'", last[0]), done.stderr
    assert last[1].startswith("store: 4194304 of 33554432 elements are written to `out.npy`")


PAGE = pathlib.Path(__file__).parents[3] / "docs/files.md"


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_a_program_of_the_page_runs(tmp_path, block):
    done = run(tmp_path, block)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr


def test_progress_is_shown_and_changes_nothing(auto, tmp_path, path, capsys):
    with gpupy.progress():
        gpupy.store(gpupy.open_memmap(path) + 1, tmp_path / "out.npy")
    shown = capsys.readouterr().err
    assert "store" in shown and "read" in shown
    check(numpy.load(tmp_path / "out.npy"), NUMBERS + 1)


def test_what_a_device_lets_go_of_is_read_again_and_not_kept(path):
    starts = {row["name"]: row["starts"] for row in gpupy.drivers()}
    if not starts["vulkan"]:
        pytest.skip("vulkan cannot start")
    gpupy._gpupy.reconfigure("vulkan", block_bytes=1024, device_bytes=8192)
    gpupy.reset_stats()
    outside = gpupy.open_memmap(path)
    for _ in range(3):
        check(outside.sum(axis=1), NUMBERS.sum(axis=1))
        check((outside * 2).max(axis=0), (NUMBERS * 2).max(axis=0))
    assert gpupy.stats().evictions > 0
    # Results come back, and nothing else.
    assert gpupy.stats().bytes_downloaded < NUMBERS.nbytes
