"""Several devices that share the work: the same bits as one, whatever happens to them."""

import signal
import sys

import numpy
import pytest
from apart import LIMIT, STARTING, needs_fork, output, run, start

import gpupy

# A group of one device twice, which every machine has; two of different drivers.
PAIRS = [f"{name},{name}" for name in ("cpu", "vulkan") if name in STARTING]
PAIRS += ["vulkan,cpu"] if "vulkan" in STARTING else []


def members(pair):
    return gpupy.stats().groups[pair]


@pytest.fixture(params=PAIRS)
def pair(request):
    gpupy._gpupy.reconfigure(request.param)
    gpupy.reset_stats()
    return request.param


def grid(rows, columns, seed=0):
    return numpy.random.default_rng(seed).standard_normal((rows, columns)).astype("f4")


def steps(np, x):
    """Maps, shifts, joins, reductions and products of more points than a group leaves to one device."""
    y = np.asarray(x)
    polynomial = ((y * 0.5 + 1) * y - 2) * y + 3
    moved = np.roll(y, 7, 0) + np.roll(y, -5, 1) + polynomial
    joined = np.concatenate([moved[10:], y, y[:, ::-1]])
    for _ in range(3):
        y[1:-1, 1:-1] = (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) * 0.25
    square = y[:200, :400] @ y[:200, :400].T
    return [polynomial, moved, joined, y, square, moved.sum(1), joined.max(0), polynomial.sum()]


def test_results_have_the_bits_of_one_device(pair):
    x = grid(700, 900)
    found = [numpy.asarray(value) for value in steps(gpupy, x)]
    assert all(member["slabs"] > 0 for member in members(pair)), members(pair)
    assert sum(member["share"] for member in members(pair)) == pytest.approx(1)
    gpupy._gpupy.reconfigure(pair.split(",")[0])
    for got, want in zip(found, steps(gpupy, x), strict=True):
        numpy.testing.assert_array_equal(got.view("u4"), numpy.asarray(want).view("u4"))
    for got, want in zip(found, steps(numpy, x.astype("f8")), strict=True):
        numpy.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-3)


@pytest.mark.parametrize("limits", [{"block_bytes": 4 << 20}, {"device_bytes": 16 << 20}])
def test_arrays_beyond_a_device_have_them_too(pair, limits):
    gpupy._gpupy.reconfigure(pair, **limits)
    gpupy.reset_stats()
    x = grid(1500, 1500)
    found = [numpy.asarray(value) for value in steps(gpupy, x)]
    assert all(member["slabs"] > 0 for member in members(pair)), members(pair)
    # The sums of a product depend on its tiles.
    gpupy._gpupy.reconfigure(pair.split(",")[0], **limits)
    for got, want in zip(found, steps(gpupy, x), strict=True):
        numpy.testing.assert_array_equal(got.view("u4"), numpy.asarray(want).view("u4"))


def test_a_loop_is_replayed(pair):
    x = grid(1000, 1200)
    y = gpupy.asarray(x)
    for _ in range(6):
        y = y * 0.5 + x
        gpupy.evaluate(y)
    assert gpupy.stats().flushes_replayed > 0
    want = x
    for _ in range(6):
        want = want * numpy.float32(0.5) + x
    numpy.testing.assert_array_equal(numpy.asarray(y), want)


def test_auto_is_no_driver_of_a_group():
    with pytest.raises(ValueError, match="`auto` is no driver of a group; choose of `cpu`"):
        gpupy.use("auto,cpu")


def test_words_choose_devices_and_wrong_ones_are_named():
    with gpupy.driver("cpu,soft"):
        assert gpupy._gpupy.current_driver() == "cpu,soft"
        numpy.testing.assert_array_equal(gpupy.arange(5) * 2, [0, 2, 4, 6, 8])
        row = next(row for row in gpupy.drivers() if row["name"] == "cpu,soft")
        assert row["starts"] and row["findings"]["soft"] in row["device"]
        assert "cpu,soft: " in gpupy.info()
    with gpupy.driver("cpu:0"):
        assert gpupy._gpupy.current_driver() == "cpu:0"
    for words in ["cpu,cuda", "cuda:1"]:
        with pytest.raises(ValueError, match="there is no driver `cuda`; choose one of `cpu`"):
            gpupy.use(words)
    if "gl" in STARTING and gpupy._gpupy.drivers()[STARTING.index("gl")]["flushes_subnormals"]:
        with pytest.raises(Exception, match="cannot share work, as only one of them keeps subnormal"):
            gpupy.use("cpu,gl")


def test_a_group_that_is_asked_to_share_a_renderer_stays_as_it_was():
    gpupy.use("cpu,cpu")
    shares = [device["share"] for device in gpupy.stats().groups["cpu,cpu"]]
    for words in ("cpu,cpu", "soft:0", "cpu,soft"):
        with pytest.raises(gpupy.DriverError, match="no renderer"):
            gpupy.use(words, share=True)
    assert gpupy.current_driver() == "cpu,cpu" and sum(shares) == 1
    assert [device["share"] for device in gpupy.stats().groups["cpu,cpu"]] == shares


def test_a_group_does_not_become_a_part_of_auto():
    code = """
        gpupy.use("soft,soft")
        gpupy.use("auto")
        x = gpupy.ones(1 << 20) * 3
        print(gpupy._gpupy.current_driver() in ("soft,soft",), float(x.sum()) == 3 * 2**20)
        """
    assert run(code, "auto") == ["False", "True"]


def test_the_environment_chooses_a_group():
    code = """
        x = gpupy.arange(1 << 20, dtype="f4")
        y = numpy.asarray(x * x + 1)
        (members,) = gpupy.stats().groups.values()
        print(gpupy._gpupy.current_driver(), [m["name"] for m in members] == ["cpu:0", "cpu"])
        print((y == numpy.arange(1 << 20, dtype="f4") ** 2 + 1).all())
        """
    assert run(code, "cpu:0,cpu") == ["cpu:0,cpu", "True", "True"]


@needs_fork
@pytest.mark.parametrize("words", PAIRS)
def test_both_sides_of_a_fork_have_the_group_and_all_values(words):
    code = """
        import os
        x = numpy.arange(1 << 21, dtype="f4")
        y = gpupy.asarray(x) * 2 + 1
        gpupy.evaluate(y)
        def right():
            z = numpy.asarray(y * y)
            return (z == (x * 2 + 1) ** 2).all() and gpupy.current_driver() == driver
        driver = gpupy.current_driver()
        child = os.fork()
        if child == 0:
            os._exit(0 if right() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), right())
        """
    assert run(code.replace("gpupy.current_driver", "gpupy._gpupy.current_driver"), words) == ["0", "True"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("words", PAIRS)
def test_ctrl_c_ends_a_shared_evaluation_and_loses_nothing(words):
    code = """
        def long(seed):
            x = gpupy.arange(1 << 22, dtype=gpupy.float32) + gpupy.float32(seed)
            for _ in range(1000):
                x = x * gpupy.float32(0.999) + gpupy.float32(1)
            return x
        made = (long(0), 0)
        print("begun", flush=True)
        try:
            while True:
                gpupy.evaluate(made[0])
                made = (long(made[1] + 1), made[1] + 1)
        except KeyboardInterrupt:
            print("interrupted")
        x, wanted = made[0], numpy.float32(7 + made[1])
        for _ in range(1000):
            wanted = wanted * numpy.float32(0.999) + numpy.float32(1)
        print(float(x[7]) == float(wanted))
        print(all(member["slabs"] for member in gpupy.stats().groups[gpupy._gpupy.current_driver()]))
        """
    program = start(code, words, GPUPY_BLOCK_BYTES="4M")
    assert program.stdout.readline() == "begun\n"
    with pytest.raises(Exception, match="timed out"):
        program.wait(timeout=min(3, LIMIT))
    program.send_signal(signal.SIGINT)
    assert output(program) == ["interrupted", "True", "True"]
