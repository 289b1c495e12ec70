"""Decisions for a whole flush: values that one launch gives, and values stored because they are read again.

Counted are launches, compilations and operations, which no other load changes, where no evaluation pauses.
Not here: the counts of the timed programs (``test_launches.py``).
"""

import apart
import numpy
import pytest

import gpupy

SIZE = 100_000

# The driver `soft` does one operation at a time.
FUSING = pytest.mark.parametrize("name", [name for name in apart.STARTING if name != "soft"])


def _counted(driver, compute):
    """The evaluated result of ``compute``, and the counts of the evaluation."""
    gpupy._gpupy.reconfigure(driver, pauses=False)
    gpupy.reset_stats()
    found = compute()
    gpupy.evaluate(*found)
    stats = gpupy.stats()
    return [numpy.asarray(array) for array in found], stats


def _loop(np, turns):
    """Steps of three statements and a reduction, whose number stays pending."""
    x, v = np.linspace(0, 1, 4000, dtype=np.float32), np.zeros(4000, np.float32)
    total = np.zeros((), np.float32)
    for _ in range(turns):
        force = -x * np.float32(0.01)
        v = v * np.float32(0.999) + force
        x = x + v
        total = total + np.abs(x).sum()
    return x, total


def _loop_in_a_scope(turns):
    with gpupy.accelerator():
        return _loop(gpupy, turns)


def _given(size=SIZE):
    return numpy.random.default_rng(7).random(size, dtype=numpy.float32)


def test_a_long_loop_compiles_no_more_than_a_short_one(driver):
    _, short = _counted(driver, lambda: _loop_in_a_scope(1000))
    (x, total), long = _counted(driver, lambda: _loop_in_a_scope(2000))
    assert long["kernels_compiled"] <= short["kernels_compiled"]
    assert long["launches"] <= 2.05 * short["launches"]
    # The result of a turn is stored, and never recomputed for the next one.
    assert long["instructions"] <= 2.05 * short["instructions"]
    wanted_x, wanted_total = _loop(numpy, 2000)
    numpy.testing.assert_allclose(x, wanted_x, rtol=1e-4, atol=1e-4)
    numpy.testing.assert_allclose(total, wanted_total, rtol=1e-4)


def test_what_two_reductions_read_is_computed_once(driver):
    given = _given()

    def both():
        costly = gpupy.sin(gpupy.exp(gpupy.asarray(given)))
        return costly.sum(), (costly * costly).max()

    (total, most), stats = _counted(driver, both)
    wanted = numpy.sin(numpy.exp(given.astype(numpy.float64)))
    numpy.testing.assert_allclose(total, wanted.sum(), rtol=1e-5)
    numpy.testing.assert_allclose(most, (wanted * wanted).max(), rtol=1e-5)
    one, _ = _counted(driver, lambda: (gpupy.sin(gpupy.exp(gpupy.asarray(given))).sum(),))
    alone = gpupy.stats()["instructions"]
    numpy.testing.assert_array_equal(one[0], total)
    # The second reduction adds its own operations, not those of the map.
    assert stats["instructions"] <= alone + 8


@pytest.mark.parametrize("size", [1, 255, 256, 257, 4096, SIZE])
def test_arrays_evaluated_together_have_the_bits_that_they_have_alone(driver, size):
    given = _given(size)

    def arrays():
        m = gpupy.asarray(given)
        shared = gpupy.exp(m) * gpupy.cos(m)
        return [
            m * 2 + 1,
            m * m - 3,
            shared,
            shared * 2,
            shared[::-1] + m,
            shared.sum(),
            gpupy.cumsum(shared),
            (shared > 1).sum(),
            gpupy.where(m > 0.5, shared, m),
        ]

    together, _ = _counted(driver, arrays)
    for number, array in enumerate(together):
        alone = numpy.asarray(arrays()[number])
        numpy.testing.assert_array_equal(array, alone)


def test_what_is_wanted_together_is_written_to_views_in_order(driver):
    gpupy._gpupy.reconfigure(driver, pauses=False)
    ours, theirs = gpupy.asarray(_given(5000)), _given(5000).copy()
    for np, m in ((gpupy, ours), (numpy, theirs)):
        first = m * 2 + 1
        m[1:] = m[:-1] * np.float32(3)
        second = m * m - 3
        if np is gpupy:
            gpupy.evaluate(second, first, m)
            got = [numpy.asarray(array) for array in (first, second, m)]
        else:
            wanted = [first, second, m]
    for mine, other in zip(got, wanted, strict=True):
        numpy.testing.assert_array_equal(mine, other)


FUNCTIONS = "abs arctan cbrt cos cosh exp expm1 log1p sin sinh sqrt square tan tanh".split()


@pytest.mark.parametrize("size", [255, 257, 1000, 5000])
def test_sums_have_the_same_bits_whether_what_they_add_is_stored_or_not(driver, some, size):
    gpupy._gpupy.reconfigure(driver, pauses=False)
    for dtype, name in some([(dtype, name) for dtype in ("float32", "float64") for name in FUNCTIONS], 4):
        given = numpy.random.default_rng(size).random(size).astype(dtype)
        function = getattr(gpupy, name)
        # What a driver computes at once may change when it has seen a program often enough.
        for _ in range(3):
            fused = float((function(gpupy.asarray(given) + 1)).sum())
            stored = numpy.asarray(function(gpupy.asarray(given) + 1)).copy()
            assert fused == float(gpupy.asarray(stored).sum()), (dtype, name)


@FUSING
def test_a_sum_a_maximum_and_a_sum_of_squares_read_a_million_elements_once(name):
    given = _given(1_000_000)

    def three():
        x = gpupy.asarray(given)
        return x.sum(keepdims=True), x.max(keepdims=True), (x * x).sum(keepdims=True)

    found, stats = _counted(name, three)
    # Chunks of 256, chunks of these, and one more of what is left.
    assert stats["launches"] == 3
    wanted = given.astype(numpy.float64)
    wanted = [[wanted.sum()], [wanted.max()], [(wanted * wanted).sum()]]
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6)
    # As one after another asks for them: numbers, too, that stay pending until then.
    gpupy.reset_stats()
    x = gpupy.asarray(given)
    total, most, squares = x.sum(), x.max(), (x * x).sum()
    asked = float(total), float(most), float(squares)
    assert gpupy.stats()["launches"] == 3
    assert asked == tuple(array.item() for array in found)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@FUSING
def test_sums_and_extremes_of_many_columns_are_read_at_once(name, dtype):
    given = (1000 * _given()).reshape(500, 200).astype(dtype)

    def four():
        x = gpupy.asarray(given)
        return x.sum(axis=0), x.max(axis=0), x.min(axis=0), (x * x).sum(axis=0)

    together, _ = _counted(name, four)
    for number, array in enumerate(together):
        numpy.testing.assert_array_equal(array, numpy.asarray(four()[number]))


@FUSING
def test_what_is_scaled_by_its_extremes_is_read_for_both_at_once(name):
    given = _given().reshape(250, 400)

    def scaled():
        x = gpupy.asarray(given)
        return ((x - x.min(axis=1, keepdims=True)) / numpy.ptp(x, axis=1, keepdims=True),)

    (found,), stats = _counted(name, scaled)
    # Rows of two chunks, and the map.
    assert stats["launches"] == 3
    low, high = given.min(axis=1, keepdims=True), given.max(axis=1, keepdims=True)
    numpy.testing.assert_allclose(found, (given - low) / (high - low), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1,), (257,), (5000,), (300, 7), (7, 300), (3, 256, 5)])
def test_reductions_evaluated_together_have_the_bits_that_they_have_alone(driver, some, shape):
    size = int(numpy.prod(shape))
    given = _given(size).reshape(shape)

    def reductions():
        x = gpupy.asarray(given)
        of = [x, x * x, x[::-1], x > 0.5, gpupy.exp(x), x.astype("int32"), x - x.mean()]
        axes = [None, *range(len(shape))]
        return [
            reduced
            for array in of
            for axis in axes
            for reduced in (array.sum(axis=axis), array.max(axis=axis), array.any(axis=axis))
        ]

    together, _ = _counted(driver, reductions)
    for number in some(range(0, len(together), 5), 3):
        alone = reductions()[number]
        numpy.testing.assert_array_equal(together[number], numpy.asarray(alone))


@pytest.mark.parametrize("block_bytes", [64, 128, 4096])
@pytest.mark.parametrize("name", ["mod", "fmod", "floor_divide", "arctan2"])
def test_what_is_read_at_two_accesses_stays_until_both_have_read_it(name, block_bytes):
    gpupy._gpupy.reconfigure("soft", block_bytes=block_bytes, device_bytes=1 << 16)

    def shifted(np):
        x = np.arange(1, 211, dtype=np.float32).reshape(3, 70)
        return getattr(np, name)(x[:, 1:], x[:, :-1])

    numpy.testing.assert_allclose(numpy.asarray(shifted(gpupy)), shifted(numpy), rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in ("cpu", "soft") if name in apart.STARTING])
def test_a_step_finds_nothing_that_only_those_behind_it_give(name):
    # The numbers are converted after the sums of chunks, which convert them too; the scan reads both.
    gpupy._gpupy.reconfigure(name, block_bytes=256, device_bytes=16384)

    def counted(np):
        return np.count_nonzero(np.cumsum(np.arange(999).astype(np.uint16)) <= 20)

    assert counted(gpupy) == counted(numpy)


def test_windows_and_repetitions_of_what_is_costly_compute_it_once():
    gpupy._gpupy.reconfigure("cpu", strict=True)
    x = numpy.linspace(0, 1, 100_000)

    def instructions(made):
        before = gpupy.stats()["instructions"]
        given = gpupy.asarray(x.copy())
        numpy.testing.assert_allclose(made(gpupy, given), made(numpy, x), rtol=1e-14)
        return gpupy.stats()["instructions"] - before

    once = instructions(lambda xp, x: xp.sin(x))
    assert once > 50

    def window(xp, x, length):
        return xp.lib.stride_tricks.sliding_window_view(x, length)

    for made in (
        lambda xp, x: window(xp, xp.sin(x), 20).max(-1),
        lambda xp, x: window(xp, xp.sin(x), 20) + 0.0,
        lambda xp, x: xp.concatenate([xp.sin(x)] * 20),
        lambda xp, x: xp.stack([xp.sin(x), xp.sin(x) + 1, xp.sin(x) - 1]),
        lambda xp, x: xp.tile(xp.sin(x), 20),
        lambda xp, x: xp.sin(x)[:, None] * xp.ones(20),
    ):
        assert instructions(made) < once + 20


def test_a_loop_is_planned_in_its_first_turns():
    """A loop that reads a total in each turn flushes the same structure in each."""
    gpupy._gpupy.reconfigure("cpu", pauses=False)
    x, v = gpupy.linspace(0, 1, 40_000, dtype=numpy.float32), gpupy.zeros(40_000, numpy.float32)
    planned = []
    for _ in range(100):
        gpupy.reset_stats()
        force = -x * numpy.float32(0.01)
        v = v * numpy.float32(0.999) + force
        x = x + v
        total = gpupy.abs(x).sum()
        gpupy.evaluate(x, v, total)
        stats = gpupy.stats()
        planned.append(stats["flushes_replayed"] == 0)
    assert sum(planned) <= 3, planned
    assert not any(planned[3:]), planned


@pytest.mark.parametrize("columns", [2048, 2051])
def test_large_rows_that_are_normalised_have_the_bits_of_few_of_them(columns):
    gpupy._gpupy.reconfigure("cpu", pauses=False)
    given = numpy.random.default_rng(3).random((4200, columns), dtype=numpy.float32)

    def normalised(x):
        return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)

    def evaluated(rows):
        gpupy.reset_stats()
        found = numpy.asarray(normalised(gpupy.asarray(rows)))
        return found, gpupy.stats()["launches"]

    found, launches = evaluated(given)
    few, alone = evaluated(given[100:200])
    # Strips of rows that stay in a cache.
    assert launches >= 4 * alone
    numpy.testing.assert_array_equal(found[100:200], few)
    wanted = normalised(given[100:200].astype(numpy.float64))
    numpy.testing.assert_allclose(few, wanted, rtol=1e-4, atol=1e-4)
    again, _ = evaluated(given)
    numpy.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("kept", [None, 3])
def test_what_only_strips_read_takes_their_memory(kept):
    """Sixteen images that one kernel reads are computed some rows at a time, and have NumPy's bits."""
    gpupy._gpupy.reconfigure("cpu", pauses=False)
    x, y = numpy.random.default_rng(5).random((2, 1100, 1030), dtype=numpy.float32)

    def least(x, y, xp):
        images, found = [], None
        for shift in range(16):
            image = (x[:, 16:] - y[:, shift : shift + 1014]) ** 2
            sums = sum(image[k : k + 1094] for k in range(7))
            # Read at several places of a row, so that they are stored.
            cost = sum(sums[:, k : k + 1008] for k in range(7))
            found = cost if found is None else xp.minimum(found, cost)
            images.append(sums)
        return found, images[kept] if kept is not None else None

    wanted, wanted_sums = least(x, y, numpy)
    given = gpupy.asarray(x), gpupy.asarray(y)
    for _ in range(3):
        gpupy.reset_stats()
        found, sums = least(*given, gpupy)
        gpupy.evaluate(found)
        stats = gpupy.stats()
        numpy.testing.assert_array_equal(found, wanted)
        if kept is None:
            assert stats["launches"] >= 4 * 9
            assert stats["pool_bytes"] <= wanted.nbytes * 16 / 4
        else:
            # The one that the program keeps is whole.
            numpy.testing.assert_array_equal(sums, wanted_sums)


FOLDED = {
    "repeated": lambda np, x: np.repeat(np.repeat(x, 3, axis=0), 5, axis=1) * 0.5 + 1,
    "tiles apart": lambda np, x: (
        x.reshape(3, 4, 2, 15).transpose(0, 2, 1, 3).reshape(6, 60) - x.reshape(6, 60)
    ),
    "of a row": lambda np, x: np.repeat(x[0], 4) + np.arange(120, dtype=np.float32),
    "rows of it": lambda np, x: np.sqrt(np.repeat(x + 1, 2, axis=0).reshape(6, 120)) * 2,
}


@FUSING
@pytest.mark.parametrize("name_of", FOLDED)
def test_what_reads_a_value_with_other_axes_is_one_kernel_with_it(name, name_of):
    given = numpy.linspace(0, 1, 12 * 30, dtype=numpy.float32).reshape(12, 30)
    found, stats = _counted(name, lambda: [FOLDED[name_of](gpupy, gpupy.asarray(given) + 0)])
    numpy.testing.assert_allclose(found[0], FOLDED[name_of](numpy, given), rtol=1e-6)
    assert stats["launches"] == 1


# Shapes of which steps along one axis leave others, or axes whose ends do not meet.
CROSSED = [
    ((16, 64, 48), (2, 0, 1), (1, 2, 16, 3, 512, 1)),
    ((48, 101, 3), (1, 0, 2), (48, 101, 3)),
    ((4, 465, 3), (1, 0, 2), (1116, 5, 1)),
    ((6, 10), (1, 0), (15, 4)),
    ((2, 3, 5, 7), (3, 1, 2, 0), (21, 10)),
]


@pytest.mark.parametrize("name", apart.STARTING)
@pytest.mark.parametrize(("shape", "axes", "seen"), CROSSED)
def test_values_whose_axes_cross_are_read_right(name, shape, axes, seen):
    given = numpy.arange(numpy.prod(shape), dtype=numpy.float32).reshape(shape)

    def found(np, x):
        x = x + 1
        turned = x.transpose(axes).reshape(seen)
        return [turned * turned - 2, turned + x.reshape(seen)]

    tiny = {"block_bytes": 256, "device_bytes": 16384}
    for limits in ({}, tiny) if given.size < 1000 else ({},):
        gpupy._gpupy.reconfigure(name, **limits)
        for ours, theirs in zip(found(gpupy, gpupy.asarray(given)), found(numpy, given), strict=True):
            numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)
