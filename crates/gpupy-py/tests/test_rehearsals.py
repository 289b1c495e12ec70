"""``explain(run=False)`` tells what a flush will do, before it is done, and does nothing itself.

Not here: the words of an explanation (``test_explain.py``), schedules as text (``test_schedules.py``).
"""

import random
import re

import numpy
import pytest
import test_random_programs as programs
import test_schedules as schedules

import gpupy

STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]
LATER = re.compile("and [0-9]+ windows?, each compiled|what is left is compiled when")


def _kernels(text):
    """The kernels of an explanation: what each does, over what, and what it reads and writes."""
    lines = re.findall(r"^    \d+\. kernel \d+ on \w+: (.*)$", text, re.MULTILINE)
    return [re.sub(r", compiled now|; \d+ launches", "", line) for line in lines]


def _told_and_done(*arrays):
    """The kernels of a rehearsal, and those that run, and whether more was to come."""
    before = gpupy.stats()
    told = gpupy.explain(*arrays, run=False).text
    after = gpupy.stats()
    for name in ("launches", "instructions", "bytes_uploaded", "blocks_evaluated", "kernels_compiled"):
        assert before[name] == after[name], name
    done = gpupy.explain(*arrays).text
    assert ", not run" in told.split("\n", 1)[0] or "  schedule:" not in told
    assert ", not run" not in done.split("\n", 1)[0]
    return _kernels(told), _kernels(done), LATER.search(told)


def _check(told, done, later):
    assert told == (done[: len(told)] if later else done)


@pytest.mark.parametrize("driver", ["cpu", "soft"])
@pytest.mark.parametrize("name", schedules.PROGRAMS)
def test_a_schedule_is_told_before_it_is_done(name, driver):
    function, limits = schedules.PROGRAMS[name]
    gpupy._gpupy.reconfigure(driver, pauses=False, **({"strict": True} | limits))
    wanted = function()
    _check(*_told_and_done(*(wanted if isinstance(wanted, tuple) else (wanted,))))


@pytest.mark.parametrize("driver", STARTING)
def test_random_programs_do_what_was_told(driver):
    gpupy._gpupy.reconfigure(driver, pauses=False, strict=True)
    count = 150 if driver in ("cpu", "soft") else 8
    told_of = 0
    for seed in range(9000, 9000 + count):
        given = programs._given(seed)
        theirs, ours = (programs._run(np, seed, given) for np in (numpy, gpupy))
        order = list(range(len(ours)))
        random.Random(seed).shuffle(order)
        for number in order:
            told, done, later = _told_and_done(ours[number])
            _check(told, done, later)
            told_of += bool(told)
            numpy.testing.assert_array_equal(ours[number], theirs[number], err_msg=f"{seed}, {number}")
    assert told_of > count


@pytest.mark.parametrize("driver", ["cpu", "soft"])
def test_with_little_room_what_is_told_is_done_first(driver):
    """What is behind a remedy is not told, and telling raises nothing."""
    gpupy._gpupy.reconfigure(driver, pauses=False, strict=True, block_bytes=1024, device_bytes=8192)
    for seed in range(9500, 9560):
        given = programs._given(seed)
        theirs, ours = (programs._run(np, seed, given) for np in (numpy, gpupy))
        for got, want in zip(ours, theirs, strict=True):
            gpupy.explain(got, run=False)
            numpy.testing.assert_array_equal(got, want, err_msg=str(seed))


@pytest.mark.parametrize("driver", STARTING)
def test_what_is_told_again_and_known_is_the_same(driver):
    gpupy._gpupy.reconfigure(driver, strict=True)
    x = gpupy.asarray(numpy.linspace(0, 1, 500, dtype="f4"))

    def made():
        y = x * 2 + 1
        return (y[1:] * y[:-1]).sum(keepdims=True) / abs(y).max()

    texts = [gpupy.explain(made(), run=False).text for _ in range(2)]
    assert texts[0] == texts[1]
    _check(*_told_and_done(made()))
    # A flush that is known is told as it will be done again.
    _check(*_told_and_done(made()))


def test_a_long_loop_tells_its_first_window():
    gpupy._gpupy.reconfigure("cpu", strict=True)
    v = gpupy.asarray(numpy.eye(40, dtype="f4"))
    for _ in range(200):
        v[1:-1, 1:-1] += 0.1 * (v[:-2, 1:-1] + v[2:, 1:-1] - 2 * v[1:-1, 1:-1])
    told, done, later = _told_and_done(v)
    assert told and len(done) > 5 * len(told)
    assert later
    _check(told, done, later)


def test_what_needs_nothing_says_so():
    gpupy._gpupy.reconfigure("cpu", strict=True)
    x = gpupy.asarray(numpy.ones(5, "f4"))
    assert "nothing to evaluate" in gpupy.explain(x, run=False).text
    y = x + 1
    gpupy.evaluate(y)
    assert "evaluated already" in gpupy.explain(y, run=False).text
    assert "nothing" in gpupy.explain(x, y, run=False).text
    assert "held by NumPy" in gpupy.explain(numpy.ones(3), run=False).text
