"""Guards of ``gpupy.jit``: all reads of a function besides its arguments' elements.

Each case changes something between two calls; the recorded function gives what the function gives. Not here:
what is recorded (``test_jit.py``), what is refused (``test_refused_jit.py``).
"""

import collections
import functools
import gc
import operator
import time

import numpy as np
import pytest

import gpupy as gp


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


def x():
    return gp.arange(1.0, 4.0)


def agree(jitted, *args):
    found, wanted = jitted(*args), jitted.__wrapped__(*args)
    assert np.array_equal(np.asarray(found), np.asarray(wanted)), (found, wanted, jitted.stats())


class Thing:
    k = 1.0


def inherited():
    class Child(Thing):
        pass

    one = Child()
    yield gp.jit(lambda x: x * one.k), (x(),)
    Child.k = 5.0
    yield
    one.k = 7.0
    yield
    one.__dict__ = {"k": 9.0}
    yield
    one.__class__ = type("Other", (), {})
    del one.__dict__["k"]
    type(one).k = 11.0


def cells():
    k, one = 1.0, Thing()
    yield gp.jit(lambda x: sum(map(lambda v: v * k * one.k, [x, x]))), (x(),)
    k = 3.0
    yield
    one.k = 4.0


def closures_of_one_code():
    def make(value):
        def get(x):
            return x * value

        def put(new):
            nonlocal value
            value = new

        return get, put

    (one, put_one), (other, put_other) = make(1.0), make(2.0)
    yield gp.jit(lambda x: one(x) + 100 * other(x)), (x(),)
    put_one(5.0)
    yield
    put_other(7.0)


def defaults():
    def helper(x, k=2.0, *, j=3.0):
        return x * k * j

    yield gp.jit(lambda x: helper(x)), (x(),)
    helper.__defaults__ = (5.0,)
    yield
    helper.__kwdefaults__ = {"j": 7.0}
    yield
    helper.__code__ = (lambda x, k, *, j: x + k + j).__code__


def either():
    one, other = Thing(), Thing()
    one.k, other.k = 2.0, 3.0

    def read(x, a, b):
        chosen = a or b
        return x * chosen.k * (a if x.ndim else b).k

    yield gp.jit(read), (x(), one, other)
    one.k = 50.0


def special_methods():
    class Special:
        def __len__(self):
            return 1

        def __call__(self):
            return 2.0

        def __getitem__(self, item):
            return 3.0

        def __bool__(self):
            return True

        def __iter__(self):
            return iter([4.0])

    class Sub(Special):
        pass

    one = Sub()
    yield gp.jit(lambda x: x * len(one) * one() * one[0] * (2 if one else 3) * sum(one)), (x(),)
    Special.__len__ = lambda self: 5
    yield
    Sub.__call__ = lambda self: 7.0
    yield
    Special.__getitem__ = lambda self, item: 9.0
    yield
    Sub.__bool__ = lambda self: False
    yield
    Sub.__iter__ = lambda self: iter([11.0])


def classes():
    class Meta(type):
        k = 2.0

    class Made(metaclass=Meta):
        j = 3.0

        def get(self, x):
            return x * 5

    yield gp.jit(lambda x, c: c().get(x) * c.k * c.j * Made.j), (x(), Made)
    Meta.k = 7.0
    yield
    Made.j = 9.0
    yield
    Made.get = lambda self, x: x * 11


def containers():
    numbers, named, chosen, nested = [1.0, 2.0], {"k": 3.0}, {4.0, 36.0}, [[5.0], (Thing(),)]

    def read(x):
        for number in chosen:
            x = x * 2 + number
        return x * numbers[0] * named["k"] * nested[0][0] * nested[1][0].k

    yield gp.jit(read), (x(),)
    numbers[0] = 6.0
    yield
    named.update(k=7.0)
    yield
    nested[0][0] = 8.0
    yield
    nested[1][0].k = 9.0
    yield
    chosen.clear()
    chosen.update([36.0, 4.0])
    yield
    chosen.add(1.0)


def partial():
    def scale(x, k):
        return x * k

    part = functools.partial(scale, k=2.0)
    yield gp.jit(lambda x: part(x)), (x(),)
    part.keywords["k"] = 5.0


def read_by_others():
    one = Thing()
    read = operator.attrgetter("k")
    yield gp.jit(lambda x: x * read(one) * float("{.k}".format(one))), (x(),)  # noqa: UP032  (not an f-string)
    one.k = 3.0


def missing():
    one = Thing()

    def read(x):
        try:
            return x * one.later
        except AttributeError:
            return x + (1 if hasattr(one, "later") else 2)

    yield gp.jit(read), (x(),)
    one.later = 5.0


def slots_and_properties():
    class Slotted:
        __slots__ = ("k", "part")

        @property
        def twice(self):
            return 2 * self.part.k

        @functools.cached_property
        def never(self):
            return 1

    del Slotted.never
    one = Slotted()
    one.k, one.part = 2.0, Thing()
    yield gp.jit(lambda x: x * one.k * one.twice), (x(),)
    one.k = 3.0
    yield
    one.part.k = 5.0
    yield
    one.part = Thing()


def ordered():
    named = collections.OrderedDict(a=1.0, b=2.0)

    def read(x):
        for value in named.values():
            x = x * 2 + value
        return x

    yield gp.jit(read), (x(),)
    named.move_to_end("a")


CASES = [
    *(inherited, cells, closures_of_one_code, defaults, either, special_methods, classes, containers),
    *(partial, read_by_others, missing, slots_and_properties, ordered),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_is_read_is_watched(case):
    steps = case()
    jitted, args = next(steps)
    agree(jitted, *args)
    agree(jitted, *args)
    for _ in steps:
        agree(jitted, *args)
        agree(jitted, *args)
    agree(jitted, *args)


def test_which_arrays_are_one_is_watched():
    shown, other = x(), x() + 10

    @gp.jit
    def adds(a, b):
        a += b
        return a * 2 + b, a is b, a is shown

    @gp.jit
    def writes(a):
        shown[...] += a
        return a is shown

    for first, second in ((shown, shown), (shown, other), (other, shown), (other, other)):
        pairs = [first.copy() if first is not shown else shown, second]
        before = [array.copy() for array in (shown, other)]
        found = adds(*pairs) if first is not second else adds(first, first)
        kept = [array.copy() for array in (shown, other)]
        shown[...], other[...] = before
        pairs = [first.copy() if first is not shown else shown, second]
        wanted = adds.__wrapped__(*pairs) if first is not second else adds.__wrapped__(first, first)
        assert (found[0] == wanted[0]).all() and found[1:] == wanted[1:]
        assert all((one == two).all() for one, two in zip(kept, (shown, other), strict=True))
    for array in (shown, other, shown, other):
        before = shown.copy()
        assert writes(array) is (array is shown)
        assert (shown == before + (before if array is shown else other)).all()


def test_nothing_is_given_for_a_number_that_stands_open():
    two = 2.0

    @gp.jit
    def scales(a, k):
        a *= k
        return None if k is None else [None, two, k]

    for k in (1.5, two, 1.5, 7.0):
        array = x()
        assert scales(array, k) == [None, two, k]
        assert (array == x() * k).all()


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a + a * 1j,
        lambda a: (a > 1) + (a > 2),
        lambda a: type(a).__name__,
        lambda a: a.__class__.__name__,
        lambda a: repr(a) + f"{a:.2f}",
        lambda a: np.result_type(a, np.float32).name,
        lambda a: (a**0.5, a % 2, a // 2, divmod(a, 2)),
        lambda a: [a, float(a), int(a), round(a), hash(a), a.real, a.is_integer()],
        lambda a: getattr(a, "shape", "none"),
        lambda a: {a: 1}[a],
        lambda a: gp.sin(a),
        lambda a: max(a, 2.0),
        lambda a: isinstance(a, np.generic),
        lambda a: 1 / a if a else "none",
        lambda a: gp.asarray(a, dtype="i4"),
        lambda a: -a + abs(a) * 3 - a / 4,
        lambda a: True * a,
        lambda a: gp.full(2, a),
        lambda a: gp.array([a, 1.0]),
        lambda a: x() ** a,
        lambda a: gp.clip(x().astype("f4"), 0, a).dtype.name,
    ],
)
def test_a_number_that_stands_open_is_a_float(use):
    jitted = gp.jit(lambda a: use(a))

    def of(function, a):
        try:
            return function(a)
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            return repr(error)

    for a in (1.0, 2.0, 3.5, 0.0, -0.0, float("nan"), 1e300):
        found, wanted = of(jitted, a), of(jitted.__wrapped__, a)
        assert type(found) is type(wanted), (a, found, wanted)
        if isinstance(wanted, (str, list, tuple)):
            assert repr(found) == repr(wanted)
        else:
            assert np.array_equal(np.asarray(found), np.asarray(wanted), equal_nan=True)


@pytest.fixture
def always_collects():
    """The collector of garbage runs as often as it can, and tells another of it."""
    clock = {}

    def tell(phase, info):
        clock[phase] = time.perf_counter()

    before = gc.get_threshold()
    gc.callbacks.insert(0, tell)
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(tell)


# Lists that die between the calls shift where the collector runs.
@pytest.mark.parametrize("lists", range(12))
def test_what_the_collector_runs_is_not_the_functions(always_collects, lists):
    class Garbage:
        def __init__(self):
            self.itself, self.array = self, gp.ones(3)

        def __del__(self):
            self.array += 1
            assert self.array.sum() == 6

    @gp.jit
    def work(x):
        parts = [x * number for number in range(3)]
        return parts[0] + parts[1] + parts[2]

    for _ in range(4):
        Garbage()
        shift = [[] for _ in range(lists)]
        agree(work, x())
        del shift
    stats = work.stats()
    assert (stats["recordings"], stats["replays"], stats["plain"]) == (1, 3, {})
    assert gc.isenabled()
