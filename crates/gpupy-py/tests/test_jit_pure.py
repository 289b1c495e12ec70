"""``gpupy.jit`` keeps traces of what is listed as pure, and of nothing else: all else runs as it is written.

Each case reads what no guard knows. Not here: guards of what is read (``test_jit_guards.py``,
``test_jit_state.py``), refusals that raise (``test_refused_jit.py``).
"""

import collections
import contextvars
import datetime
import functools
import gc
import itertools
import math
import operator
import os
import random
import signal
import sys
import time

import numpy as np
import pytest

import gpupy as gp


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


def x():
    return gp.arange(1.0, 4.0)


VARIABLE = contextvars.ContextVar("variable", default=1.0)
FILE = []


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(8)))
    FILE[:] = [str(path)]


def clock(*_):
    return time.perf_counter_ns()


class Later(datetime.datetime):
    pass


class Dice(random.Random):
    pass


CLOCKS = [
    lambda: time.time(),
    lambda: datetime.datetime.now().microsecond,
    lambda: datetime.date.today().day,
    lambda: Later.now().microsecond,
    lambda: int(np.datetime64("now").astype(int)),
    lambda: gp.datetime64("today").astype(int),
    lambda: sum(map(clock, [0])),
    lambda: next(iter(time.perf_counter, None)),
    lambda: sorted([1, 2], key=lambda _: time.monotonic())[0],
    lambda: functools.reduce(lambda a, b: a + time.process_time(), [0, 1]),
    lambda: functools.partial(time.time)(),
    lambda: next(map(time.gmtime, [None])).tm_sec,
    lambda: int(np.array("now", "M8[us]").astype(int)),
    lambda: int(gp.asarray(["today"]).astype("M8[s]").astype(int)[0]),
    lambda: max([1.0], key=time.gmtime),
    lambda: {"now": time.time}["now"](),
    lambda: [time.time][0](),
    lambda: operator.call(time.time) if sys.version_info >= (3, 11) else time.time(),
    lambda: operator.methodcaller("now")(datetime.datetime).second,
    lambda: random.random(),
    lambda: Dice().random(),
    lambda: os.getpid(),
    lambda: os.stat(".").st_mtime,
    lambda: os.path.getsize("."),
    lambda: sys.getrefcount(None),
    lambda: len(gc.get_objects()),
    lambda: VARIABLE.get(),
    lambda: globals()["x"]()[0],
    lambda: vars(time)["time"](),
    lambda: time.__dict__["time"](),
    lambda: clock.__globals__["time"].time(),
    lambda: len(object.__subclasses__()),
    lambda: gp.fromfile(FILE[0], dtype="u1").sum(),
    lambda: np.loadtxt([str(len(FILE))]).sum(),
    lambda: np.memmap(FILE[0], dtype="u1", mode="r")[0],
    lambda: gp.random.default_rng().random(),
    lambda: np.random.rand(),
    lambda: np.geterr()["over"] == "warn",
    lambda: gp.get_printoptions()["precision"],
    lambda: np.frompyfunc(clock, 1, 1)(0),
    lambda: np.vectorize(clock)(0),
    lambda: exec("pass") or 1.0,
    lambda: eval("time.time()"),
    lambda: getattr(time, "time")(),  # noqa: B009  (what is refused)
    lambda: id([]) % 7,
]


@pytest.mark.parametrize("number", range(len(CLOCKS)))
def test_what_is_not_listed_runs_each_time(file, number):
    read = CLOCKS[number]
    calls = []

    def read_and_count():
        calls.append(1)
        return float(read()) * 0

    @gp.jit
    def adds(x):
        return x + read() * 0.0

    for _ in range(5):
        found = adds(x())
        assert np.asarray(found).shape == (3,)
    stats = adds.stats()
    assert stats["replays"] == 0 and stats["recordings"] == 0, stats
    assert len(stats["plain"]) >= 1, stats


PURE = [
    lambda x: x * math.sin(2.0) + math.sqrt(2.0) * math.pi,
    lambda x: x * max(2.0, 3.0) + min([1, 2]) + sum([1.0, 2.0]) + abs(-3) + round(2.5) + divmod(7, 2)[1],
    lambda x: functools.reduce(operator.add, [x, x, x]),
    lambda x: sum(map(lambda v: v * 2, [x, x])) + len("abc".upper()),
    lambda x: gp.where(x > 1, np.sin(x), gp.linalg.norm(x)) + gp.fft.fftfreq(3),
    lambda x: x + sum(k * v for k, v in zip([1, 2], [3.0, 4.0], strict=True)),
    lambda x: x * dict(a=2.0)["a"] + list(itertools.accumulate([1, 2, 3]))[-1] + tuple(range(4))[3],
    lambda x: x + np.float32(2) + np.finfo("f4").eps + gp.pi + np.e,
    lambda x: np.stack([x, x]).astype(np.float32).sum(axis=0) if isinstance(x, gp.ndarray) else x,
    lambda x: (print("no"), x)[1] if x.ndim > 7 else x * 2,
    lambda x: x + collections.OrderedDict(a=1.0)["a"] + collections.deque([2.0])[0],
    lambda x: np.add.reduce(x) + np.add.outer(x, x).sum(axis=0),
    lambda x: sorted([x.sum(), 2, 3], key=lambda v: 1.0)[1] + x,
]


@pytest.mark.parametrize("number", range(len(PURE)))
def test_what_is_listed_is_repeated(number):
    pure = gp.jit(PURE[number])
    for turn in range(4):
        given = x() + turn
        assert np.array_equal(np.asarray(pure(given)), np.asarray(pure.__wrapped__(given)))
    stats = pure.stats()
    assert stats["plain"] == {} and stats["replays"] == 3, stats


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.timedelta64(1, "s"), np.timedelta64(1, "m")),
        (np.timedelta64(1, "s"), np.timedelta64(1)),
        (np.datetime64(1, "s"), np.datetime64(1, "D")),
        (np.zeros(1, [("a", "i8")])[0], np.zeros(1, [("a", "f8")])[0]),
        (np.zeros(1, [("a", "i8")])[0], np.zeros(1, [("b", "i8")])[0]),
        (slice(0, 2), slice(False, 2.0)),
        (slice(0, 1), slice(False, True)),
        (range(0), range(1, 1)),
        (1, True),
        (1, 1.0),
        (1.0, np.float64(1)),
        (0.0, -0.0),
        (np.float32(1), np.float64(1)),
        (np.bytes_(b"a"), np.bytes_(b"a\0")),
        ("a", np.str_("a")),
        ((1, 2), (1, 2.0)),
        ((1, 2), [1, 2]),
        (np.dtype("l"), np.dtype("q")),
        (np.dtype("f4"), np.float32),
        (np.dtype("m8[s]"), np.dtype("m8[m]")),
        ({"a": 1}, {"a": True}),
    ],
)
def test_arguments_of_other_kinds_are_other_arguments(first, second):
    def word(value):
        dtype = getattr(value, "dtype", None)
        parts = [getattr(value, part, None) for part in ("start", "stop", "step", "char")]
        return f"{type(value).__name__} {dtype} {value!r} {parts!r}"

    @gp.jit
    def tells(x, value):
        return x * 2, word(value)

    for value in (first, second, first, second):
        assert tells(x(), value)[1] == word(value), tells.stats()


def test_a_record_that_is_written_is_another_argument():
    record = np.zeros(1, [("a", "f8")])[0]

    @gp.jit
    def scales(x, record):
        return x * record["a"]

    for turn in range(4):
        record["a"] = turn
        assert (scales(x(), record) == x() * turn).all()


def test_interruptions_leave_the_collector_and_the_profiler_as_they_were():
    class Stop(KeyboardInterrupt):
        pass

    def stop(*_):
        raise Stop

    draw = random.Random(1)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for turn in range(1500):
            jitted = gp.jit(lambda x: x + 1)
            given = gp.arange(5.0)
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + draw.random() * 0.0006)
                jitted(given)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stop:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert gc.isenabled() and sys.getprofile() is None, turn
            assert (jitted(given) == gp.arange(1.0, 6.0)).all()
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.enable()
        sys.setprofile(None)


def test_a_collector_that_the_function_switches_off_stays_off():
    @gp.jit
    def off(x):
        gc.disable()
        return x + 1

    try:
        for _ in range(3):
            gc.enable()
            off(x())
            assert not gc.isenabled()
    finally:
        gc.enable()
