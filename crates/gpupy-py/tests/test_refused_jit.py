"""Operations that ``gpupy.jit`` does not record: it raises with the line, or runs each time with a reason.

Not here: what it records (``test_jit.py``).
"""

import itertools
import time

import numpy as np
import pytest

import gpupy as gp

kept = []
count = 0
held = None


def reasons(jitted):
    return list(jitted.stats()["plain"])


def line_of(jitted, text):
    source = open(__file__).read().splitlines()
    first = jitted.__wrapped__.__code__.co_firstlineno
    return next(number for number, line in enumerate(source[first:], first + 1) if text in line)


@pytest.fixture(autouse=True)
def cpu():
    gp._gpupy.reconfigure("cpu", strict=False)


@pytest.mark.parametrize("make", [repr, str, "{}".format, lambda x: f"{x.sum():.3f}", print])
def test_text_of_an_array_raises_with_the_line(make):
    @gp.jit
    def tell(x):
        y = x + 1
        make(y)  # here
        return y

    with pytest.raises(gp.JitError, match="text is made of an array") as error:
        tell(gp.ones(3))
    assert f"{__file__}:" in str(error.value)


def test_an_array_that_is_left_elsewhere_raises_with_the_line():
    class Model:
        pass

    model = Model()

    @gp.jit
    def leaves_attribute(x):
        model.last = x + 1  # here
        return x

    @gp.jit
    def leaves_global(x):
        global held  # noqa: PLW0603  (what is refused)
        held = x[1:]  # here
        return x

    @gp.jit
    def leaves_item(x):
        kept.append(x * 2)
        return x

    for jitted in (leaves_attribute, leaves_global):
        with pytest.raises(gp.JitError, match="leaves an array elsewhere") as error:
            jitted(gp.ones(3))
        assert f":{line_of(jitted, '# here')}" in str(error.value)
    with pytest.raises(gp.JitError, match="leaves an array elsewhere"):
        leaves_item(gp.ones(3))
    # The stored array has its elements.
    assert (model.last == 2).all() and (held == 1).all() and (kept.pop() == 2).all()


@pytest.mark.parametrize(
    "read",
    [
        lambda x: float(x.sum()),
        lambda x: x.sum().item(),
        lambda x: x.tolist()[0],
        lambda x: x[x > 1][0],
        lambda x: np.asarray(x)[1],
        lambda x: gp.linalg.svd(x.reshape(2, 2))[1][0],
        lambda x: int(x[2]),
        lambda x: memoryview(x)[0],
    ],
)
def test_elements_that_are_read_are_read_each_time(read):
    @gp.jit
    def reads(x):
        return read(x) + x * 0

    for turn in range(4):
        x = gp.arange(4.0) + turn
        assert (reads(x) == reads.__wrapped__(x)).all()
    assert all("it reads elements" in reason for reason in reasons(reads))
    assert reads.stats()["replays"] == 0


@pytest.mark.parametrize(
    "read",
    [
        lambda x, k: x * float(k),
        lambda x, k: x * float(x.sum()) + k,
        lambda x, k: x if k is None else x[int(k)],
    ],
)
def test_scalars_that_are_arguments_are_read_each_time(read):
    reads = gp.jit(read)
    for turn in range(4):
        x = gp.arange(4.0) + turn
        k = gp.arange(3).sum() if turn % 2 else (x * 0 + 1).max()
        assert (reads(x, k) == read(x, k)).all()


def test_what_would_not_happen_again_happens_each_time():
    class Model:
        turns = 0

    model = Model()
    state = {"turns": 0}
    listed = []

    @gp.jit
    def counts(x):
        global count  # noqa: PLW0603  (what is refused)
        count += 1
        return x

    @gp.jit
    def stores(x):
        model.turns += 1
        return x

    @gp.jit
    def puts(x):
        state["turns"] += 1
        return x

    @gp.jit
    def appends(x):
        listed.append(1)
        return x

    @gp.jit
    def sets(x):
        setattr(model, "last", 1)  # noqa: B010  (what is refused)
        return x

    @gp.jit
    def says(x):
        print("turn")
        return x

    @gp.jit
    def asks(x):
        return x + time.perf_counter() * 0

    for jitted in (counts, stores, puts, appends, sets, says, asks):
        for _ in range(3):
            assert (jitted(gp.ones(2)) == 1).all()
        assert len(reasons(jitted)) == 1 and jitted.stats()["replays"] == 0, jitted.stats()
    assert (count, model.turns, state["turns"], listed) == (3, 3, 3, [1, 1, 1])
    assert "changes" in reasons(stores)[0] and "turns" in reasons(stores)[0]


def test_random_numbers_are_drawn_each_time():
    @gp.jit
    def draws(x):
        return x + gp.random.rand(3)

    generator = gp.random.default_rng(1)

    @gp.jit
    def draws_from(x):
        return x + generator.random(3)

    for jitted in (draws, draws_from):
        first, second = jitted(gp.zeros(3)), jitted(gp.zeros(3))
        assert (first != second).all() and reasons(jitted)


def test_iterators_and_numpys_arrays_are_no_constants():
    numbers, theirs = itertools.count(), np.ones(3)

    @gp.jit
    def goes_on(x):
        return x + next(numbers)

    @gp.jit
    def reads(x):
        return x + theirs

    @gp.jit
    def takes(x, y):
        return x + y

    for turn in range(3):
        assert (goes_on(gp.zeros(2)) == turn).all()
        theirs[:] = turn
        assert (reads(gp.zeros(3)) == turn).all()
        assert (takes(gp.zeros(3), theirs) == turn).all()
    assert "iterator" in reasons(goes_on)[0]
    assert "array of NumPy's" in reasons(reads)[0] and "array of NumPy's" in reasons(takes)[0]


def test_errors_of_arithmetic_come_at_their_line():
    @gp.jit
    def divides(x):
        return 1 / x

    divides(gp.ones(2))
    with gp.errstate(divide="raise"), pytest.raises(FloatingPointError):
        divides(gp.zeros(2))
    assert np.isinf(divides(gp.zeros(2))).all()


def test_memory_that_others_have_is_no_arrays_alone():
    @gp.jit
    def adds(x):
        x += 1
        return x * 2

    x = gp.zeros(100)
    adds(x)
    shown = np.asarray(x)
    for turn in range(2, 4):
        assert (adds(x) == 2 * turn).all() and (shown == turn).all()
    del shown
    assert (adds(x) == 8).all()


def test_what_is_no_function_is_refused():
    def generator(x):
        yield x

    async def later(x):
        return x

    for function in (generator, later, 5):
        with pytest.raises(TypeError, match="jit takes"):
            gp.jit(function)


def test_functions_that_never_come_back_to_a_recording_rest():
    @gp.jit
    def power(x, n):
        return x * n

    for n in range(60):
        assert (power(gp.ones(3), n) == n).all()
    stats = power.stats()
    assert stats["recordings"] < 45 and stats["variants"] <= 16 and stats["plain"]


def test_a_swallowed_error_changes_nothing():
    @gp.jit
    def tries(x):
        try:
            return x * float(x.sum())
        except Exception:
            return x * 0

    for _ in range(2):
        assert (tries(gp.ones(3)) == 3).all()


def test_an_attribute_that_is_deleted_is_deleted_each_time():
    class Slotted:
        __slots__ = ("k",)

    one = Slotted()

    @gp.jit
    def deletes(x):
        x = x * one.k
        del one.k
        return x

    for turn in range(1, 4):
        one.k = turn
        assert (deletes(gp.ones(2)) == turn).all() and not hasattr(one, "k")
    assert "changes" in reasons(deletes)[0]
