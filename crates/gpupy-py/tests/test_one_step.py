"""A handler of a signal that raises finds a state before a change or after it, at whatever moment it comes.

Programs are interrupted by a timer at random moments: of each many times. Not here: interrupted evaluations
(``test_interrupt.py``).
"""

import sys

import pytest
from apart import run

import gpupy

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

# `interrupted(work, n)` does some work `n` times, each interrupted once at a random moment, or soon after.
SETUP = """
import random, signal, sys

class Stop(KeyboardInterrupt):
    pass

def stop(*_):
    raise Stop

signal.signal(signal.SIGALRM, stop)
R = random.Random(7)

def interrupted(work, times, longest):
    count = 0
    for _ in range(times):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + R.random() * longest)
            work()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            count += 1
        finally:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stop:
                pass
    return count
"""


def test_scopes_give_names_back(driver):
    code = """
        import types
        np = numpy
        shared = np.zeros(4)
        bad = set()

        def plain(x):
            return type(x) is numpy.ndarray

        def check(word, *arrays):
            if not all(map(plain, arrays)) or not plain(shared) or type(np).__name__ != "module":
                bad.add(word)

        def body():
            x = np.arange(5.0)
            y = x[1:]
            def inside():
                return x
            try:
                with gpupy.accelerator():
                    x += 1
                    y *= 2
                    shared[0] += 1
                    z = x + y[0]
            finally:
                check("body", x, y, inside())

        def nested():
            x = np.arange(5.0)
            try:
                with gpupy.accelerator():
                    try:
                        with gpupy.accelerator(immutable=True):
                            z = x + 1
                    finally:
                        if not x.flags.writeable:
                            bad.add("immutable")
            finally:
                check("nested", x)

        c = np.zeros(3)
        def made():
            kept = np.zeros(3)
            @gpupy.accelerator()
            def called(x):
                kept[0] += 1
                x += 1
                return x[1:]
            return called, called.__wrapped__.__closure__[0]

        def call():
            called, cell = made()
            try:
                called(c)
            finally:
                check("call", c, cell.cell_contents)

        def generator():
            x = np.arange(3.0)
            def steps():
                nonlocal x
                try:
                    with gpupy.accelerator():
                        x += 1
                        yield
                        x += 1
                finally:
                    check("generator", x)
            for _ in steps():
                pass

        gpupy._gpupy.evaluate()
        for work in (body, nested, call, generator):
            work()
            print(interrupted(work, 150, 1e-3) > 0)
        exec(compile("with gpupy.accelerator():\\n    pass", "x", "exec"), globals())
        from gpupy._scopes import scope
        inside = [frame for frame, scopes in scope._inside.items() if scopes]
        print(sorted(bad), inside, type(np).__name__, plain(shared))
        """
    found = run(code, driver, setup=SETUP)
    assert found == ["True"] * 4 + ["[]", "[]", "module", "True"]


def test_typed_lists_are_as_before_or_as_after(driver):
    code = """
        L = gpupy.TypedList
        old = [[1, 1], [2, 2, 2], [3], [], [4, 4, 4, 4]]

        def fill(typed):
            for k in range(70):
                typed.append([k] * 9)
                typed.tolist()

        def set_every_second(typed):
            typed[::2] = [[7], [8, 8], [9] * 5]

        edits = {
            "del": lambda typed: typed.__delitem__(0),
            "del slice": lambda typed: typed.__delitem__(slice(1, 3)),
            "del step": lambda typed: typed.__delitem__(slice(0, None, 2)),
            "insert": lambda typed: typed.insert(1, [5, 6]),
            "append": lambda typed: typed.append([5, 6]),
            "extend": lambda typed: typed.extend([[5], [6, 6]] * 20),
            "set longer": lambda typed: typed.__setitem__(1, [9] * 7),
            "set slice": lambda typed: typed.__setitem__(slice(1, 3), [[9] * 7]),
            "set step": set_every_second,
            "set numbers": lambda typed: typed.__setitem__(slice(None, None, 2), 6),
            "pop": lambda typed: typed.pop(2),
            "clear": lambda typed: typed.clear(),
        }
        for word, edit in edits.items():
            for dtype in (None, "c16", "f2"):
                after = L(old, dtype=dtype)
                edit(after)
                expected = [L(old, dtype=dtype).tolist(), after.tolist()]
                typed = None

                def work():
                    global typed
                    typed = L(old, dtype=dtype)
                    edit(typed)

                for _ in range(60):
                    typed = None
                    interrupted(work, 1, 3e-4)
                    if typed is not None and typed.tolist() not in expected:
                        print(word, dtype, typed.tolist())
        grown = L()
        print(interrupted(lambda: fill(grown), 10, 2e-2) > 0)
        print(all(item == [item[0]] * 9 for item in grown.tolist()))
        """
    assert run(code, driver, setup=SETUP) == ["True", "True"]


def test_a_drivers_choice_ends_with_its_block():
    code = """
        before = gpupy._gpupy.wanted_driver()

        def work():
            with gpupy.driver("soft"):
                with gpupy.fallback("error"):
                    pass

        for _ in range(300):
            interrupted(work, 1, 3e-4)
            gpupy.fallback("allow")
            if gpupy._gpupy.wanted_driver() != before:
                print("the driver stays")
        print(gpupy._gpupy.wanted_driver() == before)
        """
    assert run(code, "cpu", setup=SETUP) == ["True"]


def test_the_mode_of_fallbacks_is_one(monkeypatch):
    with gpupy.fallback("error"):
        assert gpupy._fallback.policy._mode == "error"
        with gpupy.fallback("warn"):
            assert gpupy._fallback.policy._mode == "warn"
        assert gpupy._fallback.policy._mode == "error"
    assert gpupy._fallback.policy._mode == "allow"


def test_the_calls_of_a_step_end_with_the_first_that_fails():
    done = []
    with pytest.raises(ZeroDivisionError):
        gpupy._gpupy.in_one_step((done.append, 1), (divmod, 1, 0), (done.append, 2))
    assert done == [1]


def test_a_bracket_changes_back_whatever_fails():
    done = []

    class Block(gpupy._gpupy.Bracket):
        _lock = None

        def _begin(self, frame):
            off = ((done.append, "off"), (divmod, 1, 0), (done.append, "last"))
            return ((done.append, "on"),), end, off, frame

    def end(is_again):
        done.append(is_again)
        raise LookupError

    with pytest.raises(LookupError):
        with Block() as frame:
            assert frame is sys._getframe()
            done.append("body")
    assert done == ["on", "body", False, True, "off", "last"]
    with pytest.raises(RuntimeError, match="not begun"):
        Block().__exit__(None, None, None)
    # One that is left without its end, as Python may where a signal comes.
    block = Block()
    block.__enter__()
    done.clear()
    del block
    assert done == ["off", "last"]
