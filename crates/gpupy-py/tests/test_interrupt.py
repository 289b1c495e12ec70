"""Signals during an evaluation: their handlers run, and their exceptions end the wait."""

import signal
import sys

import pytest
from apart import on_each_driver, output, run, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

# An evaluation of many blocks and pieces: half a second or more. A test that waits for longer begins another.
# There are not so many operations that one begins by itself.
LONG = """
import os, signal, threading, time

def long(seed=0, size=1 << 23, steps=480):
    x = gpupy.arange(size, dtype=gpupy.float32) + gpupy.float32(seed)
    for _ in range(steps):
        x = x * gpupy.float32(0.999) + gpupy.float32(1)
        x = gpupy.sqrt(x * x)
    return x
"""
SMALL = {"GPUPY_BLOCK_BYTES": "512K"}


@on_each_driver
def test_ctrl_c_ends_a_long_evaluation_and_loses_nothing(name):
    # The signal is sent once something was launched: how long a driver takes to open, and its compiler to
    # make the first kernels, depends on what else the machine does. So does how long the kernels take that
    # an interruption leaves to be compiled: there are few.
    code = """
        def tell():
            while not gpupy.stats().launches:
                time.sleep(0.01)
            print("launching", flush=True)

        made = (long(steps=96), 0)
        watching = threading.Thread(target=tell, daemon=True)
        try:
            watching.start()
            while True:
                gpupy.evaluate(made[0])
                made = (long(made[1] + 1, steps=96), made[1] + 1)
        except KeyboardInterrupt:
            print("interrupted", gpupy.stats().launches > 0)
        # This array again, an element and its block.
        x, wanted = made[0], numpy.float32(7 + made[1])
        for _ in range(96):
            wanted = numpy.sqrt((wanted * numpy.float32(0.999) + numpy.float32(1)) ** 2)
        print(abs(float(x[7]) - float(wanted)) < 1e-3)
        """
    program = start(code, name, setup=LONG, **SMALL)
    assert program.stdout.readline() == "launching\n"
    program.send_signal(signal.SIGINT)
    assert output(program) == ["interrupted", "True", "True"]


@on_each_driver
def test_the_exception_is_the_handlers_and_comes_in_the_middle(name):
    code = """
        class Late(Exception):
            pass

        def launches():
            return gpupy.stats().launches

        def late(*_):
            came.append(launches())
            raise Late

        # The launches of one block of 32.
        gpupy.evaluate(long(size=1 << 18))
        whole = 32 * launches()
        came, done = [], []
        signal.signal(signal.SIGALRM, late)
        waits = [
            gpupy.evaluate,
            numpy.asarray,
            memoryview,
            gpupy.ndarray.tolist,
            lambda x: float(x.sum()),
            lambda x: numpy.sort(x),
        ]
        for number, wait in enumerate(waits):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                while True:
                    begun = launches()
                    wait(long(number))
                    number += len(waits)
            except Late:
                done.append(came[-1] - begun)
                print(launches() == came[-1])
        print(len(came))
        # One may come when its evaluation is about to end.
        print(sum(launches < whole for launches in done) >= 5)
        """
    assert run(code, name, setup=LONG, **SMALL) == ["True"] * 6 + ["6", "True"]


@on_each_driver
def test_handlers_may_use_arrays_and_when_they_do_not_raise_nothing_happens(name):
    code = """
        small = gpupy.arange(100, dtype=gpupy.float32) + 1

        def look(*_):
            seen.append(float((small * 2).sum()))

        seen = []
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        count, right = 0, []
        while len(seen) < 3:
            count += 1
            x = gpupy.arange(1 << 17, dtype=gpupy.float32) + gpupy.float32(count)
            for _ in range(50):
                x = gpupy.sqrt(x * x) + gpupy.float32(1)
            wanted = numpy.arange(50 + count, (1 << 17) + 50 + count, dtype="f4")
            right.append((numpy.asarray(x) == wanted).all())
        print(all(right))
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(set(seen) == {10100.0})
        """
    assert run(code, name, setup=LONG, **SMALL) == ["True"] * 2


@on_each_driver
def test_recording_that_evaluates_by_itself_is_interrupted_too(name):
    code = """
        def stop(*_):
            raise TimeoutError

        signal.signal(signal.SIGALRM, stop)
        gpupy._gpupy.reconfigure(os.environ["GPUPY_DRIVER"], block_bytes=1 << 14, flush_operations=500)
        x = gpupy.zeros(1 << 17, gpupy.float32) + gpupy.arange(1 << 17, dtype=gpupy.float32)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        count = 0
        try:
            while True:
                x = x + gpupy.float32(1)
                count += 1
        except TimeoutError:
            print("stopped")
        print(float(x[0]) in (count, count + 1))
        """
    assert run(code, name, setup=LONG) == ["stopped", "True"]


@on_each_driver
def test_a_thread_that_is_not_the_main_one_goes_on_when_that_is_interrupted(name):
    code = """
        x = gpupy.arange(1 << 18, dtype=gpupy.float32)
        for _ in range(100):
            x = gpupy.sqrt(x * x) + gpupy.float32(1)
        got = []
        worker = threading.Thread(target=lambda: got.append(float(x[0]) + float(x[(1 << 18) - 1])))
        worker.start()
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted")
        worker.join()
        print(got[0] == 200 + (1 << 18) - 1)
        """
    assert run(code, name, setup=LONG, **SMALL) == ["interrupted", "True"]


def test_programs_are_interrupted_also_where_the_tests_run_in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = """
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(30)
            except KeyboardInterrupt:
                print("interrupted")
            """
        assert run(code, "cpu", setup=LONG) == ["interrupted"]
    finally:
        signal.signal(signal.SIGINT, before)
