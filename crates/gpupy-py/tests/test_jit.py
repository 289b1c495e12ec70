"""``gpupy.jit``: repeated calls of a traced function have its results, and run no Python.

Not here: what is refused (``test_refused_jit.py``), random functions (``test_random_jit.py``).
"""

import collections
import copy
import functools
import inspect
import pickle
import threading

import numpy as np
import pytest

import gpupy as gp

Pair = collections.namedtuple("Pair", "first second")
K = 3.0
W = None
runs = []


def same(one, other):
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (gp.ndarray, np.ndarray, gp._gpupy.scalar, np.generic, float)):
        a, b = np.asarray(one), np.asarray(other)
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return one == other


def copied(value):
    if isinstance(value, gp.ndarray):
        return value.copy()
    if isinstance(value, (tuple, list)):
        items = [copied(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def agree(jitted, *args, **kwargs):
    """A call returns and writes the same as the function."""
    function = jitted.__wrapped__
    own, theirs = copied(args), copied(args)
    own_named, theirs_named = copied(kwargs), copied(kwargs)
    wanted = function(*theirs, **theirs_named)
    found = jitted(*own, **own_named)
    assert same(found, wanted), (found, wanted)
    assert same(own, theirs) and same(own_named, theirs_named)
    return found


def counts(jitted):
    stats = jitted.stats()
    return stats["recordings"], stats["replays"]


def test_a_function_runs_once(driver):
    calls = []

    @gp.jit
    def step(u, v):
        w = u * 2 + v
        return w - gp.sqrt(v), w

    u = gp.arange(10, dtype="f4")
    for turn in range(4):
        agree(step, u + turn, u + 1)
    assert counts(step) == (1, 3)
    assert step.stats()["plain"] == {} and not calls


def test_a_call_is_one_launch_at_once(auto):
    @gp.jit
    def chain(a, b, c):
        for _ in range(7):
            a = a * b + c
            c = c - a
        return a

    a, b, c = gp.linspace(0, 1, 10), gp.ones(10), gp.zeros(10) + 1
    for _ in range(2):
        agree(chain, a, b, c)
    gp.reset_stats()
    chain(a, b, c)
    stats = gp.stats()
    assert (stats["launches"], stats["computed_at_once"]) == (1, 1)
    assert "1 launch at once" in chain.explain()


def test_arguments_are_written(device):
    @gp.jit
    def step(x, y):
        x[1:] += y[:-1]
        y *= 2
        x[0] = 7
        return x.sum()

    x = gp.arange(40, dtype="f4")
    for _ in range(3):
        agree(step, x, x + 1)
    assert counts(step) == (1, 2)


def test_arrays_on_one_base_stay_so(driver):
    @gp.jit
    def step(x, part):
        part += 1
        x *= 2
        return part

    def plain():
        base = gp.arange(12, dtype="f4")
        return base, base[2:9:2]

    for _ in range(3):
        a, b = plain(), plain()
        step.__wrapped__(*a)
        step(*b)
        assert same(a, b)
    apart = gp.arange(12, dtype="f4")
    agree(step, apart, apart[2:9:2].copy())
    assert counts(step) == (2, 2)


def test_results_alias_as_the_functions_do(driver):
    @gp.jit
    def parts(x):
        y = x + 1
        return x, x[1:], y, y[::2], x.copy(), gp.zeros(3, "f4")

    for _ in range(3):
        x = gp.arange(8, dtype="f4")
        own, tail, y, part, copy_, zeros = parts(x)
        assert own is x and tail.base is x and part.base is y
        tail[0] = 50
        part[1] = 60
        zeros[0] = copy_[0] = 70
        assert (x[1], y[2], x[0]) == (50, 60, 0)
    assert counts(parts) == (1, 2)


def test_shapes_of_results(driver):
    @gp.jit
    def shapes(x):
        return {"sum": x.sum(), "both": [x, (x.T, None)], "pair": Pair(x * 2, "text")}, x[0, 0], 5

    for _ in range(3):
        agree(shapes, gp.ones((2, 3), "f4"))
    assert counts(shapes) == (1, 2)
    assert isinstance(shapes(gp.ones((2, 3), "f4"))[0]["pair"], Pair)


def test_arguments_in_containers_and_by_name(driver):
    @gp.jit
    def step(state, *more, rate=1.0, **rest):
        u, v = state["u"], state["pair"][1]
        u += v * gp.float32(rate)
        return Pair(u + more[0], rest["last"] if rest else v)

    u = gp.ones(4, "f4")
    for _ in range(3):
        agree(step, {"u": u, "pair": Pair(0, u + 1)}, u)
        agree(step, {"u": u, "pair": Pair(0, u + 1)}, u, rate=2.0, last=u)
    assert counts(step) == (2, 4)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: gp.concatenate([x, x]),
        lambda x: x.astype("i4"),
        lambda x: gp.concatenate([x, x])[::2],
        lambda x: x.reshape(2, -1),
        lambda x: x[1:],
        lambda x: x[::-1],
        lambda x: x[:0],
        lambda x: x[0],
    ],
)
def test_other_arrays_are_recorded_anew(driver, change):
    @gp.jit
    def double(x):
        return x + x

    x = gp.arange(8, dtype="f4")
    for _ in range(2):
        agree(double, x)
        found, wanted = double(change(x)), change(x) + change(x)
        assert same(found, wanted)
    assert counts(double)[0] == 2


def test_flags_are_guarded(driver):
    @gp.jit
    def put(x):
        x[0] = 1

    x = gp.zeros(3, "f4")
    put(x)
    put(x)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        put(x)


def test_a_decision_chooses_what_comes_next(driver):
    @gp.jit
    def turn(x, y):
        if x.sum() > 10:
            x = x - y
        elif (x == 0).all():
            return y
        if not x[0] < 0:
            return x * 2
        return x

    y = gp.full(4, 2, dtype="f4")
    for _ in range(3):
        for start in (-3, 0, 1, 2, 3, 9):
            agree(turn, gp.full(4, start, dtype="f4"), y)
    stats = turn.stats()
    assert stats["variants"] == 1 and stats["ways"] == 4, stats
    assert stats["recordings"] == 4 and stats["missed"]["a decision that went another way"] == 3


def test_loops_go_on_as_long_as_they_would(driver):
    @gp.jit
    def root(x):
        guess, turns = x, 0
        while (abs(guess * guess - x) > 1e-3).any():
            guess = (guess + x / guess) * gp.float32(0.5)
            turns += 1
        return guess, turns

    for _ in range(2):
        for most in (1, 2, 50, 3000):
            agree(root, gp.linspace(1, most, 9, dtype="f4"))
    assert counts(root)[1] >= 4
    # Turns that do the same are one segment.
    assert root.stats()["plain"] == {}


def test_what_a_function_reads_is_guarded(driver):
    globals().update(K=3.0, W=gp.ones(4, "f4"))
    outer = gp.float32(2)
    rates = {"one": [1, 2]}

    class Model:
        rate = 5

        def __init__(self):
            self.shift = 1

        @property
        def both(self):
            return self.shift + self.rate

    model = Model()

    def helper(x):
        return x * model.both

    @gp.jit
    def read(x, by=(1, 2)):
        return helper(x) + W * gp.float32(K) + outer + rates["one"][0] * by[0]

    x = gp.arange(4, dtype="f4")
    agree(read, x)
    recordings = 1
    changes = [
        lambda: globals().update(K=4.0),
        lambda: globals().update(W=gp.zeros(4, "f4")),
        lambda: setattr(model, "shift", 10),
        lambda: setattr(Model, "rate", 50),
        lambda: rates["one"].__setitem__(0, 7),
        lambda: rates.update(one=[9]),
    ]
    for change in changes:
        agree(read, x)
        assert counts(read)[0] == recordings
        change()
        agree(read, x)
        recordings += 1
        assert counts(read)[0] == recordings, read.stats()["missed"]
    outer = gp.float32(-2)
    agree(read, x)
    assert counts(read)[0] == recordings + 1
    # Elements of arrays that are read are read anew.
    elements = W
    elements += 5
    agree(read, x)
    assert counts(read)[0] == recordings + 1


def test_methods_write_to_what_their_objects_have(driver):
    class Model:
        def __init__(self):
            self.u = gp.zeros(5, "f4")
            self.by = 1.0

        @gp.jit
        def step(self):
            self.u += gp.float32(self.by)
            return self.u

    one, other = Model(), Model()
    for turn in range(1, 4):
        assert one.step() is one.u and (one.u == turn).all()
    assert counts(Model.step) == (1, 2)
    other.by = 10.0
    assert (other.step() == 10).all() and (one.u == 3).all()
    one.by = 0.5
    assert (one.step() == 3.5).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_numbers_that_differ_stand_open(auto, dtype):
    @gp.jit
    def step(u, h, *, k=1.0):
        half = h * 0.5
        if h > 10:
            half = -half / 4
        return u + half * u, k * u, half

    u = gp.arange(6).astype(dtype)
    for h in (
        0.1,
        0.2,
        0.3,
        11.0,
        12.0,
        0.4,
        np.float32(0.5),
        np.float32(0.7),
        np.float64(13),
        np.float64(14),
    ):
        for k in (1.0, 2.0):
            found = agree(step, u, h, k=k)
            assert type(found[2]) is type(step.__wrapped__(u, h, k=k)[2])
    assert counts(step)[1] > 8


def test_numbers_that_are_read_are_known(auto):
    import math

    @gp.jit
    def wave(u, phase):
        return u * math.sin(phase)

    for phase in (0.1, 0.2, 0.1, 0.2, 0.2):
        agree(wave, gp.ones(3), phase)
    assert counts(wave) == (2, 3)


def test_scalars_as_arguments(driver):
    @gp.jit
    def scale(x, by):
        return x * by, by

    x = gp.arange(300, dtype="f4")
    for turn in range(3):
        by = (x + turn).sum()
        found, given = scale(x, by)
        assert given is by
        assert same(found, x * by)


def test_segments_of_one_call_see_its_own_writes(driver):
    @gp.jit
    def turns(x, y):
        while x.sum() < 100:
            x += y
            y = y * 2
        x[0] = -1
        return y

    for _ in range(3):
        agree(turns, gp.ones(5, "f4"), gp.ones(5, "f4"))
    assert counts(turns) == (1, 2)


def test_constants_are_made_anew(driver):
    @gp.jit
    def counter():
        count = gp.zeros(3, "i4")
        count += gp.array([1, 2, 3], "i4")
        return count, gp.arange(3, dtype="i4")

    for _ in range(3):
        found, _ = agree(counter)
        found += 100
    assert counts(counter)[1] >= 2


def test_functions_inside_are_part_of_it(driver):
    @gp.jit
    def inner(x):
        return x + 1

    @gp.jit
    def outer(x):
        return inner(inner(x)) * 2

    for turn in range(3):
        assert (outer(gp.full(3, turn, dtype="f4")) == 2 * turn + 4).all()
    assert counts(outer) == (1, 2) and inner.stats()["calls"] == 0


def test_another_driver_is_another_recording():
    @gp.jit
    def double(x):
        return x * 2

    for name in ("cpu", "soft", "cpu"):
        gp._gpupy.reconfigure(name, strict=False)
        for _ in range(2):
            agree(double, gp.arange(5, dtype="f4"))


def test_an_exception_leaves_what_was_done(driver):
    @gp.jit
    def fails(x, limit):
        x += 1
        if x.sum() > limit:
            raise KeyError("too much")
        return x * 2

    x = gp.zeros(3, "f4")
    assert (fails(x, 100) == 2).all()
    with pytest.raises(KeyError):
        fails(x, 0)
    assert (x == 2).all()
    assert (fails(x, 100) == 6).all() and (x == 3).all()


def test_it_is_a_function():
    @gp.jit
    def named(x, *, y=2):
        """Says what it does."""
        return x * y

    assert (named.__name__, named.__doc__) == ("named", "Says what it does.")
    assert str(inspect.signature(named)) == "(x, *, y=2)"
    assert repr(named) == "<jit 'named'>"
    assert named.explain() == "nothing is recorded\n"
    assert copy.copy(runs) == []
    partial = functools.partial(named, y=5)
    assert (partial(gp.ones(2)) == 5).all()
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    named.clear()
    assert named.stats()["variants"] == 0


@gp.jit
def module_level(x):
    return x


def test_threads_call_it_together(auto):
    @gp.jit
    def work(x):
        y = x
        for _ in range(5):
            y = y * 2 + x
        if y[0] > 50:
            return y
        return -y

    wrong = []

    def run(seed):
        for turn in range(60):
            x = gp.full(20, float(seed + turn % 3))
            if not same(work(x), work.__wrapped__(x)):
                wrong.append((seed, turn))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    stats = work.stats()
    assert stats["calls"] == stats["replays"] + stats["recordings"] + sum(stats["plain"].values())


@pytest.mark.parametrize(
    "write",
    [
        lambda x, m: x.__setitem__(m, gp.sqrt(abs(x[m])) * 2 + 1),
        lambda x, m: x.__setitem__(m, x[m] ** 2 - x[m]),
        lambda x, m: (x.__setitem__(m, -x[m]), x.__setitem__(~m, x[~m] * 3 - 1)),
    ],
)
def test_what_a_mask_selects_goes_on_with_all_elements(driver, write):
    @gp.jit
    def step(x, m):
        write(x, m)
        x[m] += 1
        return x.sum()

    for turn in range(4):
        x = gp.arange(12, dtype="f4").reshape(3, 4) + turn
        agree(step, x, gp.asarray((np.arange(12) * (turn + 2) % 3 == 0).reshape(3, 4)))
    assert counts(step) == (1, 3)


@pytest.mark.parametrize(
    "use",
    [
        lambda y, x, m: (y.sum(), y, [y]),
        lambda y, x, m: (len(y), y.shape, y[1:], [v for v in y.tolist()]),
        lambda y, x, m: (y.__setitem__(0, 9), x.__setitem__(m, y), y, x),
        lambda y, x, m: (m.__setitem__(0, ~m[0]), x.__setitem__(m, 5), y),
        lambda y, x, m: (gp.add(y, y, out=y), gp.concatenate([y, x]), y @ y),
        lambda y, x, m: (gp.where(y > 3, 1, 0), gp.maximum(y, 2), 2 - y, gp.float32(2) * y),
        lambda y, x, m: x.__setitem__(gp.arange(12) < y.size, y),
    ],
)
def test_what_a_mask_selects_is_an_array(driver, use):
    @gp.jit
    def uses(x, m):
        return use(x[m], x, m)

    for turn in range(3):
        x = gp.arange(12, dtype="f4") + turn
        agree(uses, x, gp.asarray(np.arange(12) * (turn + 2) % 3 == 0))
    assert uses.stats()["plain"] and uses.stats()["replays"] == 0


@pytest.mark.parametrize("size", [100, 4096, 20_000])
def test_what_a_mask_selects_is_counted_where_more_is_decided_after_it(driver, size):
    @gp.jit
    def means(x, centres):
        for k in range(3):
            mine = x % 3 == k
            if mine.any():
                centres[k] = x[mine].mean()
        return centres.sum()

    for turn in range(3):
        agree(means, gp.arange(size, dtype="f4") + turn, gp.zeros(3, dtype="f4"))
