"""The interpreter ends cleanly, whatever is pending."""

import pytest
from apart import LIMIT, on_each_driver, run, start

SOME = """
import atexit, os, sys, threading, time

def much():
    x = gpupy.arange(1 << 19, dtype=gpupy.float32)
    for _ in range(200):
        x = gpupy.sqrt(x * x) + gpupy.float32(1)
    return x

x = gpupy.arange(1000, dtype=gpupy.float32) * 2
gpupy.evaluate(x)
"""
SMALL = {"GPUPY_BLOCK_BYTES": "256K"}

PROGRAMS = {
    "pending expressions, in globals and in cycles": """
        pending = x + 1, much()
        cycle = [x * 3]
        cycle.append(cycle)
        x.sum()
        """,
    "an evaluation that has only been queued": """
        gpupy.evaluate((x + 1)[:5])
        y = much() + 1
        y[:100].max() > 3
        """,
    "a daemon thread that evaluates": """
        def work():
            while True:
                float(much().sum())

        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        """,
    "many daemon threads that evaluate small things": """
        def work(k):
            while True:
                float((x[k:] * 2 + 1).sum())

        for k in range(6):
            threading.Thread(target=work, args=[k], daemon=True).start()
        time.sleep(0.2)
        """,
    "a thread that is not joined": """
        threading.Thread(target=lambda: float(much().sum())).start()
        """,
    "sys.exit in the middle of a function": """
        def inner(a):
            b = a + much()[:1000]
            sys.exit()

        inner(x)
        """,
    "an atexit handler that still evaluates": """
        late = x + 5
        atexit.register(lambda: print(float(late[3]), float(much()[7])))
        """,
    "a finaliser that still evaluates": """
        class Holder:
            def __del__(self, sqrt=gpupy.sqrt):
                float(sqrt(self.array + 1)[3])

        holder = Holder()
        holder.array = x
        """,
    "os._exit with an evaluation in another thread": """
        threading.Thread(target=lambda: float(much().sum()), daemon=True).start()
        time.sleep(0.05)
        os._exit(0)
        """,
    "modules taken down with arrays in them": """
        import types

        module = types.ModuleType("held")
        module.array, module.scalar, module.ufunc = much(), x.sum(), gpupy.sqrt
        sys.modules["held"] = module
        """,
    "nothing but the import": "del x",
}


@on_each_driver
@pytest.mark.parametrize("what", PROGRAMS)
def test_the_end_is_clean_with(what, name):
    options = ["-X", "dev"] if len(what) % 2 else []
    printed = run(PROGRAMS[what], name, *options, setup=SOME, **SMALL)
    assert printed == (["11.0", "207.0"] if "atexit" in what else [])


@on_each_driver
def test_an_exception_at_the_top_is_all_that_is_printed(name):
    program = start("held = much()\nraise KeyError(7)", name, setup=SOME, **SMALL)
    out, err = program.communicate(timeout=LIMIT)
    assert (program.returncode, out) == (1, "")
    assert err.startswith("Traceback") and err.endswith("KeyError: 7\n") and err.count("\n") == 3


@on_each_driver
def test_ctrl_c_that_nobody_catches_ends_the_program_as_python_does(name):
    code = """
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0.3)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        while True:
            numpy.asarray(much())
        """
    program = start(code, name, setup=SOME, **SMALL)
    _, err = program.communicate(timeout=LIMIT)
    assert program.returncode in (-2, 130) and err.endswith("KeyboardInterrupt\n")
