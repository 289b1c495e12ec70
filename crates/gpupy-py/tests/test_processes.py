"""Child processes: arrays keep their elements across a fork, and devices open again on both sides."""

import os
import pickle
import subprocess
import sys

import numpy
import pytest
from apart import needs_fork, on_each_driver, run

import gpupy

# Each of these arrays holds its elements in another way.
ARRAYS = """
import os, threading, time

base = gpupy.asarray(numpy.arange(1000, dtype="f4"))
pending = base * 2 + 1
device = base * 3
gpupy.evaluate(device)
assert gpupy.stats().bytes_downloaded == 0
written = device.copy()
written[::2] = -1
scalar = device.sum()
want = numpy.arange(1000, dtype="f4")
want_written = want * 3
want_written[::2] = -1

def right():
    return bool(
        (numpy.asarray(pending) == want * 2 + 1).all()
        and (numpy.asarray(device) == want * 3).all()
        and (numpy.asarray(written) == want_written).all()
        and scalar == (want * 3).sum()
        and ((base + device).max() == 999 * 4)
    )

def in_child(work):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@needs_fork
@on_each_driver
def test_a_forked_child_has_all_values_and_the_driver(name):
    code = """
        driver = gpupy.current_driver()
        print(in_child(lambda: right() and gpupy.current_driver() == driver))
        print(right(), gpupy.current_driver() == driver, gpupy.stats().driver_fallbacks)
        print(in_child(lambda: in_child(right) == 0 and right()))
        for _ in range(10):
            assert in_child(right) == 0
            assert float((base + 1).sum()) == 500500
        """
    assert run(code, name, setup=ARRAYS) == ["0", "True", "True", "0", "0"]


@needs_fork
@on_each_driver
def test_what_was_computed_before_a_fork_is_not_computed_again(name):
    code = """
        def no_launch():
            gpupy.reset_stats()
            return (numpy.asarray(device) == want * 3).all() and gpupy.stats().launches == 0

        print(in_child(no_launch), no_launch())
        """
    assert run(code, name, setup=ARRAYS) == ["0", "True"]


@needs_fork
@on_each_driver
def test_a_fork_while_other_threads_evaluate_disturbs_nobody(name):
    code = """
        def work(seed):
            x = base + gpupy.float32(seed)
            n = 0
            while not done.is_set():
                n += 1
                x = gpupy.sqrt(x * x) + gpupy.float32(1)
                if n % 10 == 0 and float(x[-1]) != 999 + seed + n:
                    wrong.append((seed, n, float(x[-1])))
            rounds.append(n)

        done, wrong, rounds = threading.Event(), [], []
        threads = [threading.Thread(target=work, args=[seed]) for seed in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(8):
            assert in_child(right) == 0
            time.sleep(0.01)
        done.set()
        for thread in threads:
            thread.join()
        print(wrong, min(rounds) > 0, right())
        """
    assert run(code, name, setup=ARRAYS) == ["[]", "True", "True"]


@needs_fork
@on_each_driver
def test_a_pool_of_forked_processes_computes(name):
    code = """
        import multiprocessing

        def total(k):
            return float((device[k:] * 2).sum())

        with multiprocessing.get_context("fork").Pool(3) as pool:
            got = pool.map(total, range(20), chunksize=1)
            arrays = pool.map(gpupy.sqrt, [base, base * 4])
        print(got == [float((want[k:] * 6).sum()) for k in range(20)])
        print(type(arrays[1]) is gpupy.ndarray, (arrays[1] == gpupy.sqrt(base) * 2).all(), right())
        """
    assert run(code, name, setup=ARRAYS) == ["True"] * 4


@on_each_driver
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_spawned_processes_take_and_give_arrays(name, method, tmp_path):
    if method == "forkserver" and not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    program = tmp_path / "program.py"
    program.write_text(f"""
import multiprocessing
import gpupy

def doubled(a):
    assert gpupy.current_driver() == {name!r}
    return a * 2

if __name__ == "__main__":
    a = gpupy.arange(50, dtype=gpupy.float32)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        got = pool.map(doubled, [a, a + 1, a.reshape(5, 10).T])
    print([bool((g == w).all()) for g, w in zip(got, [a * 2, a * 2 + 2, a.reshape(5, 10).T * 2])])
""")
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path, "GPUPY_DRIVER": name}
    command = [sys.executable, str(program)]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("[True, True, True]\n", "")


def test_arrays_and_scalars_are_pickled_with_every_protocol(device):
    a = gpupy.arange(40, dtype=gpupy.float32).reshape(5, 8) + 1
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for given in [a, a[1:, ::2], a.astype(gpupy.int32), a > 3, a.astype("f8"), a.sum(), a[0, 0]]:
            got = pickle.loads(pickle.dumps(given, protocol))
            assert isinstance(got, gpupy.ndarray) == isinstance(given, gpupy.ndarray)
            assert got.dtype == given.dtype and numpy.array_equal(got, numpy.asarray(given))


@on_each_driver
def test_running_programs_closes_no_device(name):
    code = """
        import subprocess

        gpupy.evaluate(pending)
        for run in [
            lambda: subprocess.run(["true"], check=True),
            lambda: os.system("true"),
            lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
        ]:
            run()
        gpupy.reset_stats()
        gpupy.evaluate(base * 2 + 5)
        print(gpupy.stats().launches > 0, gpupy.stats().bytes_uploaded)
        """
    if sys.platform == "win32":
        pytest.skip("the programs are POSIX's")
    # The operand was still on the device.
    assert run(code, name, setup=ARRAYS) == ["True", "0"]


@needs_fork
@on_each_driver
def test_a_handler_may_fork_while_its_thread_waits(name):
    code = """
        import signal

        def fork(*_):
            statuses.append(in_child(right))

        statuses = []
        signal.signal(signal.SIGALRM, fork)
        x = gpupy.arange(1 << 20, dtype=gpupy.float32)
        for _ in range(200):
            x = gpupy.sqrt(x * x) + gpupy.float32(1)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        print(float(x[-1]) == (1 << 20) - 1 + 200)
        while not statuses:
            time.sleep(0.01)
        print(statuses, right())
        """
    more = {"GPUPY_BLOCK_BYTES": "256K"}
    assert run(code, name, setup=ARRAYS, **more) == ["True", "[0]", "True"]


@needs_fork
@on_each_driver
def test_other_hooks_of_a_fork_may_use_arrays(name):
    code = """
        seen = []
        for when in ["before", "after_in_parent", "after_in_child"]:
            os.register_at_fork(**{when: lambda: seen.append(float(device[2]))})
        print(in_child(lambda: seen == [6.0, 6.0] and right()), seen, right())
        """
    first = "import os; os.register_at_fork(before=lambda: seen.append(float(device[2])))"
    assert run(code, name, setup=ARRAYS) == ["0", "[6.0,", "6.0]", "True"]
    # A hook that was there before gpupy's runs when the devices are closed.
    assert run(code, name, setup=ARRAYS, first=first)[1:] == ["[6.0,", "6.0,", "6.0]", "True"]
