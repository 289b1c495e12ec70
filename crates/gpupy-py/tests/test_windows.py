"""Windows of a long flush: a loop is compiled once, whatever its length, and its values are NumPy's.

Random loops have a body that is drawn once and repeated, as a program's is; it reads slices, writes to them,
turns, joins and reduces. The numbers are small integers, so that all are exact. Not here: loops of
programs, pauses (`test_loops.py`), random programs that repeat nothing (`test_random_programs.py`).
"""

import random

import loops
import numpy
import pytest

import gpupy

N = 12
# Where kernels are not compiled, a loop takes some milliseconds.
COUNT = {"cpu": 150, "soft": 150}
COUNT_COMPILED = 6

STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]
on_drivers = pytest.mark.parametrize("driver", STARTING)


def _slices(r):
    places = [
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (slice(2, -1), slice(1, -2)),
    ]
    return r.choice(places)


def _update(r):
    into, read = _slices(r)
    a, b, axis = r.randrange(3), r.randrange(3), r.randrange(2)

    def step(np, state, k):
        to, of = (into, read) if axis == 0 else ((slice(None), into), (slice(None), read))
        state[a][to] += state[b][of]

    return step


def _expression(r):
    a, b, c = (r.randrange(3) for _ in range(3))
    factor = r.choice([1, 2, None])

    def step(np, state, k):
        state[a] = state[b] * (factor if factor is not None else k % 3) - state[c]

    return step


def _turned(r):
    a, b, by, axis = r.randrange(3), r.randrange(3), r.choice([-1, 1, 3]), r.randrange(2)

    def step(np, state, k):
        state[a] = np.roll(state[b], by, axis) + state[a]

    return step


def _written(r):
    a, at, value = r.randrange(3), r.choice([0, -1, slice(2, 5)]), r.choice([0, 3, None])

    def step(np, state, k):
        state[a][at] = value if value is not None else k % 5

    return step


def _rows(r):
    a, b = r.randrange(3), r.randrange(3)

    def step(np, state, k):
        state[a][k % N] = state[b][(k + 1) % N] + 1

    return step


def _masked(r):
    a, b, bound = r.randrange(3), r.randrange(3), r.choice([0, 2])

    def step(np, state, k):
        state[a][state[b] > bound] -= 1

    return step


def _reduced(r):
    a, b = r.randrange(3), r.randrange(3)
    name, axis = r.choice(["max", "min", "sum"]), r.choice([0, 1, None])

    def step(np, state, k):
        state[a] = state[a] - getattr(state[b], name)(axis)

    return step


def _joined(r):
    a, b = r.randrange(3), r.randrange(3)

    def step(np, state, k):
        state[a] = np.concatenate([state[b][1:], state[a][:1]])

    return step


def _swapped(r):
    a, b = r.sample(range(3), 2)

    def step(np, state, k):
        state[a], state[b] = state[b], state[a]

    return step


def _copied(r):
    a, b = r.randrange(3), r.randrange(3)

    def step(np, state, k):
        state[a] = state[b].copy()

    return step


KINDS = [_update, _update, _expression, _expression, _turned, _written, _rows, _masked, _reduced, _joined]
KINDS += [_swapped, _copied]


def _wrapped(np, state, k):
    """Keeps the numbers small, whatever the loop makes of them."""
    for place in range(3):
        state[place] = state[place] % 1024


def random_loop(seed):
    """A loop's text as functions, its length, when something is read, and which states are kept."""
    r = random.Random(seed)
    body = [r.choice(KINDS)(r) for _ in range(r.randint(1, 6))] + [_wrapped]
    steps = r.choice([3, 40, 97, 150])
    every, kept = r.choice([0, 0, 0, 50]), r.choice([0, 0, 7, 31])
    dtype = r.choice(["i4", "f4", "f8"])

    def run(np):
        start = numpy.random.default_rng(seed).integers(0, 5, (3, N, N))
        state = [np.asarray(part.astype(dtype)) for part in start]
        seen = []
        for k in range(steps):
            for step in body:
                step(np, state, k)
            if every and k % every == every - 1:
                seen.append(numpy.array(state[k % 3][k % N, 2:5]))
            if kept and k % kept == 0:
                seen.append(state[k % 3] + 1)
        return [numpy.array(value) for value in (seen[::-1] + state if r.random() < 0.5 else state + seen)]

    return run


@on_drivers
def test_random_loops_are_numpys(driver):
    gpupy._gpupy.reconfigure(driver, strict=True)
    for seed in range(COUNT.get(driver, COUNT_COMPILED)):
        loop = random_loop(seed)
        wanted = random_loop(seed)(numpy)
        for one, other in zip(loop(gpupy), wanted, strict=True):
            numpy.testing.assert_array_equal(one, other, err_msg=f"seed {seed}")


@pytest.mark.parametrize(
    "limits", [{"block_bytes": 1000}, {"slice": 0.0005}, {"flush_operations": 300}], ids=str
)
def test_random_loops_are_numpys_under_limits(limits):
    gpupy._gpupy.reconfigure("cpu", strict=True, **limits)
    for seed in range(COUNT["cpu"], COUNT["cpu"] + 60):
        wanted = random_loop(seed)(numpy)
        for one, other in zip(random_loop(seed)(gpupy), wanted, strict=True):
            numpy.testing.assert_array_equal(one, other, err_msg=f"seed {seed}")


REPEATING = [loops.wave, loops.shallow_water, loops.heat]


def walked(loop, steps, **limits):
    """How many values are planned for a loop, the first time."""
    gpupy._gpupy.reconfigure("cpu", strict=True, **limits)
    gpupy.reset_stats()
    for result in loop(gpupy, steps, lambda _: None):
        numpy.array(result)
    return gpupy.stats().nodes_walked


@pytest.mark.parametrize("loop", REPEATING, ids=lambda loop: loop.__name__)
def test_a_long_loop_is_compiled_as_a_short_one_is(loop):
    # One flush, however long.
    limits = {"flush_operations": 1 << 20}
    short, long = walked(loop, 150, **limits), walked(loop, 600, **limits)
    # The last window may be a part of one, and is another structure then.
    assert long <= 1.5 * short


@pytest.mark.parametrize("loop", REPEATING, ids=lambda loop: loop.__name__)
def test_the_same_loop_is_not_compiled_again(loop):
    first = walked(loop, 200)
    gpupy.reset_stats()
    for result in loop(gpupy, 200, lambda _: None):
        numpy.array(result)
    # What a flush had computed in passing is no structure: a last one without windows may be compiled again.
    assert gpupy.stats().nodes_walked <= (first / 50 if loop is loops.shallow_water else 0)


def test_a_flush_with_a_scalar_of_its_own_takes_what_another_with_that_scalar_does():
    """`e[0] = k` gives the kernel a number that no value of the flush is known to have given."""
    gpupy._gpupy.reconfigure("cpu", strict=True)

    def step(np, e, k):
        e[1:-1] += 0.5 * (e[:-2] - e[1:-1])
        e[0] = k
        e[-1] = k + 1
        return e * 2

    ours, theirs = gpupy.ones(50), numpy.ones(50)
    for k in [1, 1, 1, 2, 1, 3, 3, 3, 0]:
        numpy.testing.assert_array_equal(numpy.array(step(gpupy, ours, k)), step(numpy, theirs, k))


def test_what_is_not_needed_is_not_computed():
    gpupy._gpupy.reconfigure("cpu", strict=True)
    large = gpupy.ones(1_000_000, "f4")
    x = large
    for _ in range(300):
        x = x[1:] + x[:-1] * 0.5
    gpupy.reset_stats()
    numpy.array(x[:4])
    assert gpupy.stats().blocks_evaluated * 4 < 1_000_000
    assert gpupy.stats().block_bytes < 8_000_000


def _laplace(v):
    lap = -4 * v
    lap[1:] += v[:-1]
    lap[:, 1:] += v[:, :-1]
    return v + 0.125 * lap


def _every_second(v):
    v[::2] += v[1::2]
    return v


def _turned_and_added(v):
    return 0.5 * gpupy.roll(v, 1, 0) + 0.25 * v


def _centred(v):
    return v - v.mean(1, keepdims=True) + v[::-1]


@pytest.mark.parametrize("blocks, arrays", [(1, 40), (8, 7)])
@pytest.mark.parametrize("step", [_laplace, _every_second, _turned_and_added, _centred])
@on_drivers
def test_a_loop_takes_the_memory_of_some_turns(driver, step, blocks, arrays):
    """Also where arrays are cut into blocks, as those larger than the device are."""
    cut = {"block_bytes": 4 * 256 * 256 // blocks} if blocks > 1 else {}
    gpupy._gpupy.reconfigure(driver, strict=True, flush_operations=1 << 20, **cut)
    v = gpupy.ones((256, 256), "f4")
    for _ in range(120):
        v = step(v)
    numpy.array(v)
    stats = gpupy.stats()
    assert stats.pool_bytes + stats.block_bytes <= arrays * v.nbytes


@pytest.mark.parametrize("driver, dtype", [("cpu", "c16"), *((driver, "f4") for driver in STARTING)])
def test_an_automatic_flush_leaves_nothing_to_be_computed_again(driver, dtype):
    """It comes in the middle of a statement, whose operands are wanted once more."""
    steps = 120
    gpupy._gpupy.reconfigure(driver, strict=True, flush_operations=50)

    def newton(np):
        z = np.asarray((numpy.random.default_rng(3).random((20, 20)) + 0.5).astype(dtype))
        for _ in range(steps):
            z = z - (z * z * z - 1) / (3 * z * z)
        return numpy.asarray(z)

    numpy.testing.assert_allclose(newton(gpupy), newton(numpy), rtol=1e-4)
    gpupy.reset_stats()
    newton(gpupy)
    stats = gpupy.stats()
    assert stats.automatic_flushes >= 5
    # Seven operations a step; of complex numbers each is some.
    assert stats.instructions <= (9 if dtype == "f4" else 60) * steps


def _swapped_and_wrapped(np, n, steps):
    a, b = (np.asarray(numpy.random.default_rng(k).integers(0, 1000, (n, n))) for k in range(2))
    for _ in range(steps):
        a, b = b, a
        a[:, :-1] += abs(b[:, :-1] * 3)
        a %= 1001
        b %= 1001
    return [a, b]


def _three_in_turns(np, n, steps):
    a, b, c = (np.asarray(numpy.random.default_rng(k).random((n, n))) for k in range(3))
    for _ in range(steps):
        a += c
        a[1:-1, 1:-1] += 0.1 * (b[:-2, 1:-1] - b[2:, 1:-1])
        a, b, c = b, c, a
        c *= 0.5
    return [a, b, c]


@on_drivers
@pytest.mark.parametrize("loop", [_swapped_and_wrapped, _three_in_turns], ids=lambda loop: loop.__name__)
def test_what_a_step_computes_beside_a_value_that_nothing_needs_is_computed(driver, loop):
    """A step whose value came otherwise is left out, but not what was promised with it."""
    for steps in [27, 31, 49] if driver not in COUNT else [*range(20, 60), 100]:
        gpupy._gpupy.reconfigure(driver, strict=True)
        for one, other in zip(loop(gpupy, 8, steps), loop(numpy, 8, steps), strict=True):
            numpy.testing.assert_array_equal(one, other, err_msg=f"{steps} steps")


def _fire(np, n, steps):
    """A forest that burns: the chance that trees grow is compared before the loop, by an equal expression."""
    chance = np.asarray(numpy.random.default_rng(7).random((n, n)))
    forest = (chance < 0.7).astype(np.int8)
    forest[0] *= 2
    for _ in range(steps):
        burns = forest == 2
        near = np.zeros(forest.shape, bool)
        near[1:] |= burns[:-1]
        near[:-1] |= burns[1:]
        near[:, 1:] |= burns[:, :-1]
        near[:, :-1] |= burns[:, 1:]
        forest[(forest == 1) & near] = 2
        forest[burns] = 0
        forest[(forest == 0) & (chance > 0.99)] = 1
    return forest


def _held_back(np, n, steps):
    """Values that are made before the loop, and pending still, are read in each turn."""
    x = np.asarray(numpy.random.default_rng(8).integers(0, 9, (n, n)).astype(np.int32))
    most, edge = x * 3 + 1, x[::-1] > 4
    for _ in range(steps):
        x[1:] += x[:-1]
        x[:, :-1] -= x[:, 1:]
        x = np.where(edge, np.minimum(x, most), x - 2)
        x[2:-2] += most[2:-2]
    return x


@pytest.mark.parametrize("loop", [_fire, _held_back], ids=lambda loop: loop.__name__)
def test_what_is_made_before_a_loop_is_read_by_turns_that_are_alike(loop):
    gpupy._gpupy.reconfigure("cpu", pauses=False)
    steps = 60
    gpupy.reset_stats()
    numpy.testing.assert_array_equal(numpy.asarray(loop(gpupy, 256, steps)), loop(numpy, 256, steps))
    stats = gpupy.stats()
    # Unlike turns took 980 nodes each (the forest), and cut elsewhere two launches.
    assert stats["nodes_walked"] < 100 * steps, stats["nodes_walked"]
    assert stats["launches"] <= (1.5 if loop is _fire else 3) * steps, stats["launches"]


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 8, 30])
def test_a_part_that_is_looked_at_in_each_step_is_not_computed_from_the_first_one(rows):
    """Twice the steps are about twice the operations, whatever part it is."""

    def planned(steps):
        gpupy._gpupy.reconfigure("cpu", strict=True)
        gpupy.reset_stats()
        v, looked = gpupy.ones((rows, 31)), 0.0
        for k in range(steps):
            v = v + v * 0.25
            v = gpupy.where(v > 0.5, v - 0.5, v)
            looked += float(v[k % rows].max())
        return gpupy.stats().instructions

    assert planned(400) <= 3 * planned(200)
