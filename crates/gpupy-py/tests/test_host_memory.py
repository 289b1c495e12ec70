"""Values beyond a limit of host memory are spilled and read back; others are a MemoryError."""

import os
import signal
import subprocess
import sys

import numpy
import pytest

import gpupy

MANY = 1 << 20
LIMIT = 48 << 20


@pytest.fixture(params=["cpu", "soft", "vulkan"])
def little(request):
    """A driver with the host driver beside it, and 48 MiB of host memory for values."""
    starts = {row["name"]: row["starts"] for row in gpupy.drivers()}
    if not starts[request.param]:
        pytest.skip(f"{request.param} cannot start")
    gpupy._gpupy.reconfigure(request.param, strict=False, host_bytes=LIMIT)
    gpupy.reset_stats()
    yield request.param
    gpupy._gpupy.reconfigure("cpu", strict=False)


def parts(count):
    return [numpy.random.default_rng(number).random((1024, 1024)) for number in range(count)]


def test_arrays_of_four_times_the_limit_keep_their_elements(little):
    theirs = parts(24)
    ours = [gpupy.asarray(part) for part in theirs]
    assert gpupy.stats().bytes_spilled > 0
    for _ in range(2):
        for mine, want in zip(ours, theirs, strict=True):
            assert numpy.array_equal(
                numpy.asarray(mine.sum(axis=1)), numpy.asarray(gpupy.asarray(want).sum(axis=1))
            )
    for mine, want in zip(reversed(ours), reversed(theirs), strict=True):
        assert mine[500, 3] == want[500, 3]
        assert numpy.array_equal(numpy.asarray(mine[::100, 7]), want[::100, 7])


def test_results_of_four_times_the_limit_keep_their_elements(little):
    start = gpupy.arange(float(MANY)).reshape(1024, 1024)
    made = []
    for number in range(24):
        made.append(start * number + 1)
        gpupy.evaluate(made[-1])
    want = numpy.arange(float(MANY)).reshape(1024, 1024)
    for number, each in enumerate(made):
        assert numpy.array_equal(numpy.asarray(each), want * number + 1)
    total = sum(made[1:], made[0])
    assert numpy.array_equal(numpy.asarray(total), want * sum(range(24)) + 24)
    if little == "cpu":
        assert gpupy.stats().bytes_spilled > 0


def test_what_is_written_to_was_not_left_behind(little):
    theirs = parts(16)
    ours = [gpupy.asarray(part) for part in theirs]
    for mine, want in zip(ours, theirs, strict=True):
        mine[3] = want[3] = 7
        mine[4:] *= 2
        want[4:] *= 2
        mine[:, 5] += mine[:, 4]
        want[:, 5] += want[:, 4]
    for mine, want in zip(ours, theirs, strict=True):
        assert numpy.array_equal(numpy.asarray(mine), want)


def test_what_others_look_at_stays(little):
    theirs = parts(3)
    ours = [gpupy.asarray(part) * 1 for part in theirs]
    lent = [numpy.asarray(mine) for mine in ours]
    more = [gpupy.asarray(part) + 1 for part in parts(12)]
    gpupy.evaluate(*more)
    for seen, want in zip(lent, theirs, strict=True):
        assert numpy.array_equal(seen, want)


def test_sorts_scans_products_and_joins_within_the_limit(little):
    theirs = parts(4)
    ours = [gpupy.asarray(part) for part in theirs]
    cases = [
        lambda np, x: np.sort(x, axis=1),
        lambda np, x: np.cumsum(x, axis=0),
        lambda np, x: x[:200] @ x,
        lambda np, x: np.concatenate([x[:300], x[500:]]),
        lambda np, x: x.T.copy(),
        lambda np, x: x[[1000, 3, 5]],
        lambda np, x: x[x > 0.99],
    ]
    for case in cases:
        for mine, want in zip(ours, theirs, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(case(gpupy, mine)), case(numpy, want), rtol=1e-9)


def test_a_loop_of_writes_to_slices_of_what_is_cut_into_blocks_stays_within_the_limit():
    """Each turn lets go of the one before, though no block has all that the next turn reads."""
    gpupy._gpupy.reconfigure("cpu", block_bytes=64 << 10, host_bytes=8 << 20)
    given = numpy.arange(60000.0).reshape(50, 1200) % 5
    x, wanted = gpupy.array(given), given.copy()
    for _ in range(100):
        x[::2] += x[1::2]
        wanted[::2] += wanted[1::2]
    numpy.testing.assert_array_equal(x, wanted)
    gpupy._gpupy.reconfigure("cpu", strict=False)


def test_what_has_to_stay_is_a_memory_error_and_nothing_is_lost(little):
    kept = gpupy.asarray(parts(1)[0])
    with pytest.raises(MemoryError):
        gpupy.asarray(numpy.ones(LIMIT // 8 + 1000))
    lent = []
    with pytest.raises(MemoryError):
        for number in range(20):
            lent.append(numpy.asarray(kept + number))
    assert 0 < len(lent) < 8
    for number, seen in enumerate(lent):
        assert numpy.array_equal(seen, parts(1)[0] + number)
    lent.clear()
    assert numpy.array_equal(numpy.asarray(kept + 50), parts(1)[0] + 50)


PROGRAM = """
import os, resource, signal, sys, tempfile
import numpy, gpupy
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
gpupy.evaluate(gpupy.ones((512, 512)) + 1)
before = peak()
x = [gpupy.asarray(numpy.full(2 << 20, float(k))) for k in range(32)]
y = [gpupy.sqrt(x[k]) + x[k - 1] for k in range(32)]
gpupy.evaluate(*y)
z = sum(float(each.sum()) for each in y)
want = sum((k**0.5 + (k - 1) % 32) * (2 << 20) for k in range(32))
print(abs(z - want) < 1e-6 * want, gpupy.stats().bytes_spilled > 0, peak() - before, flush=True)
print(os.listdir(tempfile.gettempdir()), flush=True)
os.kill(os.getpid(), getattr(signal, sys.argv[1]) if sys.argv[1] != "none" else 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux tells it")
@pytest.mark.parametrize("end", ["none", "SIGKILL"])
def test_a_program_of_ten_times_the_limit_ends_right_and_leaves_no_file(tmp_path, end):
    (tmp_path / "folder").mkdir()
    environment = dict(
        os.environ, GPUPY_DRIVER="cpu", GPUPY_HOST_BYTES="100M", TMPDIR=str(tmp_path / "folder")
    )
    words = [sys.executable, "-c", PROGRAM, end]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == (-signal.SIGKILL if end == "SIGKILL" else 0), done.stderr
    is_right, is_spilled, megabytes = done.stdout.splitlines()[0].split()
    assert (is_right, is_spilled) == ("True", "True")
    assert int(megabytes) < 200
    assert done.stdout.splitlines()[1] == "[]" and os.listdir(tmp_path / "folder") == []


WRITES = """
import numpy, gpupy
gpupy.use("soft")
chance = numpy.random.default_rng(0)
want = [numpy.full(1 << 20, k + 1, numpy.float32) for k in range(6)]
ours = [gpupy.asarray(each - 1) + 1 for each in want]
gpupy.evaluate(*ours)
is_right = True
for turn in range(30):
    i = turn % 6
    places = chance.integers(0, 1 << 20, 50)
    ours[i][gpupy.asarray(places)] = want[i][places] = turn
    gpupy.evaluate(ours[i])
    for j in [*range(i + 1, 6), *range(i)]:
        is_right &= numpy.asarray(ours[j])[5] == want[j][5]
    is_right &= float((ours[i] * 2).sum()) == float((gpupy.asarray(want[i]) * 2).sum())
is_right &= all(bool((numpy.asarray(a) == b).all()) for a, b in zip(ours, want))
counts = gpupy.stats()
print(is_right, counts.bytes_spilled > 0, counts.extents_uploaded > 0)
"""


def test_what_is_stale_on_a_device_comes_back_from_the_disk(tmp_path):
    environment = dict(os.environ, GPUPY_PLACEMENT="strict", GPUPY_HOST_BYTES="14M", TMPDIR=str(tmp_path))
    words = [sys.executable, "-c", WRITES]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr


FORKS = """
import os, sys, numpy, gpupy
MANY = 1 << 20
def make(first):
    return [gpupy.asarray(numpy.full(MANY, float(first + k))) for k in range(10)]
def are(arrays, first):
    return all(bool((numpy.asarray(x) == first + k).all()) for k, x in enumerate(arrays))
def work(old, first, forks):
    # What was there before is read, written, and let go of, while the others do the same.
    new, others, right = make(first), first + 100, are(old, 0)
    for x in old[::2]:
        x += 1
    child = os.fork() if forks else None
    if child == 0:
        others += 500
    del old[5:]
    more = make(others)
    for _ in range(2):
        right &= are(new, first) and are(more, others)
        right &= all(bool((numpy.asarray(x) == k + (k % 2 == 0)).all()) for k, x in enumerate(old))
    if child:
        right &= os.waitpid(child, 0)[1] == 0
    return right and gpupy.stats().bytes_spilled > 0
old = make(0)
assert gpupy.stats().bytes_spilled > 0
child = os.fork()
if child == 0:
    os._exit(not work(old, 1000, True))
right = work(old, 3000, False)
print(right, os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize("driver", ["cpu", "soft"])
def test_parent_and_children_spill_into_files_of_their_own(tmp_path, driver):
    environment = dict(os.environ, GPUPY_DRIVER=driver, GPUPY_HOST_BYTES="40M", TMPDIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", FORKS], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0"], done.stderr


def test_a_folder_that_is_not_there_is_said_in_one_line(tmp_path):
    environment = dict(
        os.environ, GPUPY_DRIVER="cpu", GPUPY_HOST_BYTES="20M", TMPDIR=str(tmp_path / "none"), TEMP="", TMP=""
    )
    program = "import gpupy, numpy; x = [gpupy.asarray(numpy.ones(1 << 20)) for k in range(5)]"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("OSError: spill: ") and "set TMPDIR" in last
