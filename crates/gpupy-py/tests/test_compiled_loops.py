"""Loops that run compiled leave behind what they leave in Python: values, types, errors, warnings, all names.

Not here: the second copy (`test_second_copies.py`), which loops qualify (`test_found_loops.py`).
"""

import ast
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from drawn_loops import FILE, Drawn, DrawnOfEdges, DrawnOfRows, outcome

import gpupy
from gpupy._loops import entries, readers, running
from gpupy._session import written_code

SEEDS = int(os.environ.get("LOOP_PROGRAMS", "240"))
MODES = ["compiled", "interpreted"]


pytestmark = pytest.mark.usefixtures("compiles_loops")


def both(text):
    """The code of a text as written, and with sites."""
    plain = compile(text, FILE, "exec", dont_inherit=True)
    entries.places.clear()
    code = running.with_sites(ast.parse(text), FILE, lambda: plain) or plain
    return plain, code, list(entries.places.values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", [Drawn, DrawnOfRows, DrawnOfEdges])
def test_random_loops_leave_behind_what_they_leave_in_python(kind, part, mode, monkeypatch):
    monkeypatch.setattr(entries, "is_interpreted", mode == "interpreted")
    for seed in range(part, SEEDS, 8):
        drawn = kind(seed)
        plain, code, _ = both(drawn.text)
        for again in range(3):
            arguments, strict = drawn.arguments(), again == 2
            wanted = outcome(plain, drawn.text, arguments, strict)
            assert outcome(code, drawn.text, arguments, strict) == wanted, f"{seed}.{again}\n{drawn.text}"


@pytest.mark.parametrize("kind", [Drawn, DrawnOfRows, DrawnOfEdges])
def test_random_loops_run_compiled_and_are_left_in_all_ways(kind):
    found = {"runs": 0, "sites": 0, "leaves": 0}
    for seed in range(120):
        drawn = kind(seed)
        _, code, sites = both(drawn.text)
        for _ in range(2):
            outcome(code, drawn.text, drawn.arguments())
        found["sites"] += len(sites)
        found["runs"] += sum(site.runs > 0 for site in sites)
        found["leaves"] += sum(site.leaves > 0 for site in sites)
    assert found["runs"] > 0.6 * found["sites"] > 0
    assert found["leaves"] > 20


SUM = """\
def f(x, n):
    s = 0.0
    for k in range(n):
        for i in range(len(x)):
            s += x[i]
    return s
"""


def made(text, **shared):
    """The function `f` of a text with sites, and these."""
    _, code, sites = both(text)
    names = {"__name__": "of_loops"} | shared
    exec(code, names)
    return names["f"], sites


def test_arrays_of_gpupys_are_read_and_written_in_place():
    text = "def f(x, y):\n    for i in range(1, len(x)):\n        x[i] += x[i - 1]\n        y[i, -1] = x[i]\n"
    f, (site,) = made(text)
    x, y = gpupy.arange(5.0) * 2, gpupy.zeros((5, 2))
    view, before = x[1:], x + 1
    f(x, y.T[::-1].T)
    assert site.runs == 1
    assert x.tolist() == [0, 2, 6, 12, 20] and view.tolist() == [2, 6, 12, 20]
    assert before.tolist() == [1, 3, 5, 7, 9] and y[:, 0].tolist() == [0, 2, 6, 12, 20]
    x += 1
    assert view.tolist() == [3, 7, 13, 21]


def test_a_loop_is_entered_without_running_code_of_the_values():
    calls = []

    class Own:
        def __len__(self):
            calls.append("len")
            return 4000

        shape = property(lambda self: (calls.append("shape"), 4000)[1:])
        __class__ = property(lambda self: calls.append("class") or int)

    f, _ = made(
        "def f(x, o):\n    for i in range(len(o)): x[i] = 1\n    for i in range(o.shape[0]): x[i] = 1\n"
    )
    for _ in range(3):
        calls.clear()
        f(np.zeros(4000), Own())
        assert calls == ["len", "shape"]


def test_what_the_handler_of_a_signal_raises_while_steps_are_counted_is_raised():
    f, (site,) = made(SUM)
    f(np.ones(100), 100)

    def handler(*_):
        raise ValueError("of the handler")

    def steps(_):
        signal.raise_signal(signal.SIGUSR1)
        return [].pop()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        site._steps = steps
        with pytest.raises(ValueError, match="of the handler"):
            f(np.ones(100), 100)
    finally:
        signal.signal(signal.SIGUSR1, before)
    site._steps = None
    assert f(np.ones(100), 100) == 10_000


def test_writes_to_what_was_broadcast_warn():
    f, _ = made("def f(x):\n    for i in range(len(x)): x[i] = 1\n")
    with pytest.warns(DeprecationWarning):
        f(np.broadcast_arrays(np.zeros(1), np.zeros(3))[0])


@pytest.mark.parametrize(
    "test, step",
    [
        ("i < n", "i += 1"),
        ("n > i", "i += 1"),
        ("i != n and s < 1e9", "i += 1"),
        ("n > 0", "n -= 1"),
        ("i + 1 <= n", "i += 1"),
        ("i < n", "i += 2"),
    ],
)
def test_a_while_with_a_counter_is_compiled_at_its_first_call_if_it_has_many_rounds(test, step, monkeypatch):
    monkeypatch.setattr(entries, "_WORTH_COMPILING", 100_000)
    monkeypatch.setattr(entries, "_WORTH_ENTERING", 600)
    loop = f"    while {test}:\n        s += x[i % 7]\n        {step}\n"
    text = f"def f(x, n):\n    i, s = 0, 0.0\n{loop}    return s\n"
    for count, runs in ((100, 0), (100_000, 1)):
        f, (site,) = made(text)
        f(np.ones(7), count)
        assert site.runs == runs, count


def test_what_is_left_soon_begins_anew_if_it_stored_nothing():
    text = "def f(x, n):\n    s = 1\n    for i in range(n): s *= 3\n    return s\n"
    f, (site,) = made(text)
    assert f(None, 500) == 3**500 and site.runs == 0 and "left soon" in site.words
    f, (site,) = made(text.replace("s *= 3", "s *= 3; x[0] += 1"))
    x = np.zeros(1)
    assert f(x, 500) == 3**500 and site.runs == site.leaves == 1 and x[0] == 500


def test_what_a_site_refuses_for_its_kinds_is_closed():
    f, (site,) = made(SUM)
    for _ in range(6):
        assert f([1, 2], 3) == 9.0
    assert site.runs == 0 and site.refusals == 4 and site.words and site._site.isascii is True


@pytest.mark.parametrize("watch", [sys.settrace, sys.setprofile])
def test_watched_programs_run_as_written(watch):
    f, (site,) = made(SUM)
    lines = []

    def seen(frame, event, _):
        if frame.f_code.co_filename == FILE:
            lines.append((event, frame.f_lineno))
        return seen

    watch(seen)
    try:
        assert f(np.ones(2), 2) == 4.0
    finally:
        watch(None)
    assert site.runs == 0 and lines


KERNELS = {
    "cholesky": """\
for i in range(1, x.shape[0]):
        for j in range(i):
            x[i, j] -= np.dot(x[i, :j], x[j, :j])
            x[i, j] /= x[j, j]
        x[i, i] -= np.dot(x[i, :i], x[i, :i])
        x[i, i] = np.sqrt(x[i, i])
""",
    "columns": """\
for k in range(x.shape[1]):
        y[k] = x[:, k] @ x[:, 0]
        x[:, k] /= np.sqrt(np.abs(y[k])) + 1
        for j in range(k + 1, x.shape[1]):
            x[::-1, j] -= x[::-1, k] * (np.sum(x[:, k] * x[:, j]) / (x[:, k].dot(x[:, k]) + 1))
""",
    "neighbours": """\
for t in range(3):
        for i in range(1, len(y) - 1):
            x[i, 1:-1] += x[i - 1, :-2] + x[i + 1, 2:] - 0.5 * x[i, 1:-1]
            y[i:] -= x[i, i:] / (y[i:] + 2.0)
""",
}


@pytest.mark.parametrize("size", [2, 5, 17, 64, 230, 300])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_have_the_bits_of_the_loop_as_written(kernel, dtype, size):
    text = f"import gpupy as np\ndef f(x, y):\n    {KERNELS[kernel]}"
    plain, code, (site,) = both(text)
    rng = np.random.default_rng(size)
    x, y = (rng.random((size, size)) + np.eye(size) * size).astype(dtype), rng.random(size).astype(dtype)
    found = []
    for one in (plain, code):
        names = {}
        exec(one, names)
        given = gpupy.asarray(x.copy()), gpupy.asarray(y.copy())
        names["f"](*given)
        found.append([np.asarray(part).tobytes() for part in given])
    assert found[0] == found[1]
    assert site.runs == 1 and site.leaves == 0, site.words


@pytest.mark.parametrize("make", [np.array, gpupy.array])
@pytest.mark.parametrize(
    "line", ["x[:, -1] = x[i, :]", "x[i, 1:] = x[i, :-1]", "x[i, ::-1] = x[i]", "x[i] = y[:4]"]
)
def test_rows_that_overlap_are_copied_as_their_library_copies_them(make, line):
    plain, code, (site,) = both(f"def f(x, y):\n    for i in range(4): {line}\n")
    found = []
    for one in (plain, code):
        names = {}
        exec(one, names)
        x, y = make(np.arange(16.0).reshape(4, 4)), make(np.arange(7.0))
        names["f"](x, y)
        found.append(np.asarray(x).tolist())
    assert found[0] == found[1] and site.runs == 1


def test_numbers_that_rows_cannot_hold_raise_where_there_are_no_elements():
    f, (site,) = made("def f(x, n):\n    for i in range(n): x[:i] += -1\n")
    with pytest.raises(OverflowError):
        f(gpupy.zeros(3, "u1"), 1)
    x = gpupy.zeros(3)
    f(x, 3)
    assert x.tolist() == [-2, -1, 0] and site.runs == 2


def test_functions_of_the_module_are_those_that_its_text_defines():
    text = "K = 2\ndef g(v):\n    if v > 3: return v * K\n    v += 1\n    return v\n"
    text += "def f(n):\n    s = 0\n    for i in range(n): s += g(i)\n    return s\n"
    text += "def h(n):\n    K = s = 0\n    for i in range(n): s += g(i)\n    return s, K\n"
    f, sites = made(text)
    site, hidden = sorted(sites, key=lambda one: one._site.nest.place.line)
    assert f(9) == 70 and site.runs == 1
    # Its variable hides the module's, which the function reads.
    assert f.__globals__["h"](9) == (70, 0) and hidden.runs == 0
    f.__globals__["K"] = 3
    assert f(9) == 100 and site.runs == 2
    f.__globals__["g"] = lambda v: 1
    assert f(9) == 9 and site.runs == 2


def test_functions_that_are_given_no_value_raise_where_they_are_called():
    text = "def g(z, v, u):\n    if v > 9: return z[0] + u\n    return v\n"
    text += "def f(n, is_bound):\n    s = 0\n    if is_bound: z = [1]\n"
    text += "    for i in range(n): s += g(z, i, 1)\n    return s\n"
    f, (site,) = made(text)
    with pytest.raises(UnboundLocalError):
        f(3, False)
    assert f(3, True) == 3 and site.runs == 1


def test_what_is_iterated_goes_on_where_the_nest_was_left():
    text = "def f(x, y):\n    s = 1\n    for k, (v, w) in enumerate(zip(x, reversed(y)), 3):\n"
    text += "        s = s * 3 + k\n        x[0] += w\n    return s, k, v, w\n"
    f, (site,) = made(text)
    x, y = gpupy.arange(60), np.arange(60) * 2
    s = 1
    for k in range(60):
        s = s * 3 + k + 3
    assert f(x, y) == (s, 62, 59, 0)
    assert site.runs == site.leaves == 1


class Interrupted(Exception):
    """Raised by a handler."""


def test_a_signal_is_raised_in_the_midst_with_all_names():
    text = "def f(x, n, error):\n    i = s = 0\n    try:\n        for i in range(n):\n            s += 1\n"
    text += "            x[0] += 1\n    except error:\n        return i, s, x[0]\n"
    f, (site,) = made(text)

    def handle(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        i, s, element = f(np.zeros(1, int), 2**39, Interrupted)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert site.runs == 1 and s in (i, i + 1) and element in (s, s - 1) and s > 1000


def test_other_threads_run_and_names_of_the_module_are_read_anew():
    text = "stop = 0\ndef f(x):\n    n = 0\n    while not stop:\n        n += 1\n        x[0] = n\n"
    text += "    return n\n"
    f, (site,) = made(text)
    x = np.zeros(1, int)
    thread = threading.Thread(target=lambda: (time.sleep(0.05), f.__globals__.update(stop=1)))
    thread.start()
    assert f(x) == x[0] > 1000
    thread.join()
    assert site.runs == 1


def test_names_that_others_may_see_stay_as_written_while_there_are_threads():
    text = "def f(n):\n    global s\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
    f, (site,) = made(text)
    assert f(10) == 45 and site.runs == 1
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    assert f(10) == 45 and site.runs == 1
    done.set()
    thread.join()
    assert f(10) == 45 and site.runs == 2


def test_functions_by_other_names_run_as_written():
    f, (site,) = made(
        "import math\ndef f(n):\n    s = 0.0\n    for i in range(n): s += math.sqrt(i)\n    return s\n"
    )
    assert f(4) == pytest.approx(4.146, 1e-3) and site.runs == 1

    class Other:
        sqrt = staticmethod(lambda v: 1)

    f.__globals__["math"] = Other
    assert f(4) == 4.0 and site.runs == 1
    f.__globals__["range"] = lambda n: [5]
    assert f(4) == 1.0 and site.runs == 1


def test_calls_within_calls_have_their_own_runs():
    text = "def f(x, n):\n    s = 0\n    for i in range(n): s += x[i]\n"
    text += "    if n: s += f(x, n - 1)\n    for i in range(n): s += x[i]\n    return s\n"
    f, sites = made(text)
    assert f(np.arange(9), 8) == 2 * sum(sum(range(n)) for n in range(9))
    assert all(site.runs > 4 for site in sites)


def test_errstate_that_hears_of_small_numbers_runs_as_written():
    f, (site,) = made("def f(x):\n    for i in range(len(x)): x[i] *= 1e-300\n")
    with np.errstate(under="raise"), pytest.raises(FloatingPointError):
        f(np.full(3, 1e-300))
    assert site.runs == 0


def test_those_that_read_code_get_it_as_written():
    text = "def g(f): return f\n@g\ndef f(x):\n    for i in range(3): x += i\n    return x\n"
    text += "def h(x):\n    for i in range(3): x += i\n    return x\n"
    plain, code, (site,) = both(text)
    names, wanted = {}, {}
    exec(code, names)
    exec(plain, wanted)
    assert names["f"].__code__ == wanted["f"].__code__
    assert names["h"].__code__ != wanted["h"].__code__
    assert names["h"](0) == 3 and site.runs == 1
    written_code.as_written(names["h"])
    assert names["h"].__code__ == wanted["h"].__code__ and names["h"](0) == 3
    exec(code, names)
    written_code.withdraw("a library")
    assert names["h"].__code__ == wanted["h"].__code__ and names["h"](0) == 3 and site.runs == 1


@pytest.mark.parametrize("text", ["import numba.core", "def f():\n    from torch.x import jit"])
def test_a_text_that_imports_what_reads_code_has_no_sites(text, monkeypatch):
    monkeypatch.undo()
    # Other tests may have used one.
    monkeypatch.setattr(written_code, "_readers", [])
    assert readers.may_read(ast.parse(text))
    assert not readers.may_read(ast.parse("import math\nfrom . import numba"))


REFUSED = {
    "for v in x[1:]: s += v": "a `for` over another thing than ranges and arrays by their names",
    "for v in zip(x, range(3)): s += 1": "a `for` over another thing than ranges and arrays by their names",
    "for v in enumerate(x): s += 1": "a `for` with a name for a tuple",
    "for a, b in x: s += a": "a `for` that takes elements apart",
    "for a, b in range(n): s += a": "a `for` over a range that binds several names",
    "for i, v in enumerate(x, n): s += v": "an `enumerate` from another number",
    "for i in reversed(range(0, n, 2)): s += i": "a `range` with a step that is reversed",
    "for i in range(n): x[None, i] = 0": "`None` or `...` in an index",
    "for i in range(n): s = x[1:][i]": "a slice of a slice",
    "for i in range(n): x @= y": "`@` in place",
    "for i in range(n): s += g.u[i]": "an element of what is no name",
    "for i in range(n): x.fill(0)": "an expression as a statement",
    "for i in range(n): s = 'text'": "a constant of type `str`",
    "for i in range(n): s = x.real": "an attribute",
    "for i in range(n): s = x is None": "`is` or `in`",
    "for i in range(n): s = divmod(i, 2)": "a call of `divmod`",
    "for i in range(n): s = np.var(x)": "a call of `np.var`",
    "for i in range(n): s = x.sum(0)": "a call of `sum` with 2 rows",
    "for i in range(n): s = abs(i, i)": "a call of `abs` with 2 arguments",
    "for i in range(n): s = max(x, key=n)": "a call of `max` with keywords",
    "for i in range(n): s = np.sum(x, axis=0)": "a call of `np.sum` with keywords",
    "for i in range(n): a, b = x": "a tuple that is not written out",
    "for i in range(n): i, x[i] = i, i": "targets that depend on each other",
    "for i in range(n): (a, b), s = i, i": "tuples in tuples",
    "for i in range(n):\n        s = (i, i)": "an expression `Tuple`",
    "for i in range(n): s = math.e + math": "a function or module by a name that is a variable too",
    "for i in range(n): s = h(i)": "a call of `h` with other arguments than it names",
    "for i in range(n): s = k(i)": "a call of `k`, which has other statements",
    "for i in range(n): s = o(i)": "a call of `o`, which has too many statements, or an end without",
}
OWN = """\
def h(v, w=1): return v
def k(v):
    a, b = v, 1
    return a
def o(v):
    if v: return 1
"""


@pytest.mark.parametrize("loop", REFUSED)
def test_what_is_not_compiled_yet_is_said(loop):
    from gpupy._program import loop_report

    text = f"import numpy as np, math\n{OWN}def f(x, n, g, s, y):\n    {loop}\n"
    told = str(loop_report._found(FILE, text))
    assert REFUSED[loop] in told, told
    assert both(text)[2] == []


PROGRAM = """\
import numpy as np
import helper
x = np.arange(100_000.0)
s = 0.0
for k in range(3):
    for i in range(len(x)):
        s += x[i] * 0.5
print(type(s).__name__, s, helper.f(x, 300_000))
kernel = np.kernel(helper.square)
print(kernel(np.arange(3.0)), np.vectorize(helper.square)(np.arange(3.0)))
print(np.loops())
"""
HELPER = """\
def f(x, n):
    for i in range(1, n):
        x[i % 7] = x[i % 5] + 1
    return x[3]
def square(v):
    s = 0.0
    for k in range(2):
        s += v
    return s * v
"""


@pytest.mark.parametrize("is_on", ["1", "0"])
def test_a_program_runs_with_its_loops_compiled_and_is_told_so(tmp_path, is_on):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text(HELPER)
    done = subprocess.run(
        [sys.executable, "-m", "gpupy", "program.py"],
        cwd=tmp_path,
        env=os.environ | {"GPUPY_LOOPS": is_on},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second, *rest = done.stdout.splitlines()
    assert first.startswith("float64 7499925000.0 ") and second == "[0. 2. 8.] [0. 2. 8.]"
    told = "\n".join(rest)
    if is_on == "1":
        assert told.count("ran compiled once") == 2, told
    else:
        assert "ran compiled" not in told


# Names that are int in some rounds and float in others, and that are left in the midst of a round.
OF_TWO_KINDS = [
    "for i in range(len(x)):\n  s = max(s, x[i])\n  if x[i] > 3: break\n  s, t = t, x[i]",
    "for i in range(len(x)):\n  t = min(t, x[i])\n  if x[i] > 3: break\n  s, t, u = t, u, x[i]",
    "for i in range(len(x)):\n  u = u if u > 0.5 else 0.5\n  if x[i] < 0: break\n  u, t, s = t, s, x[i]",
    "for i in range(len(x)):\n  u = min(u, t)\n  t, u = min(t, y[i]), t\n  if i == 3: break\n  t = 0.5",
    "for i in range(len(x)):\n  t = -1.5\n  if y[i] >= s: u = i\n  else: t -= 0.5\n  s = min(1, 2.5)\n"
    "  t = 2.5 if u == s else u",
    "for i in range(2):\n  if s > 0.1: s = 0.0\n  x[i - 1] = 3 // t\n  t = 0",
    "for i in range(2):\n  if s: s = 0.0\n  x[i - 1] = z",
    "for i in range(len(x)):\n  s = max(s, x[i])\n  x[i + u] = s\n  s, t = t, x[i]",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("loop", OF_TWO_KINDS, ids=range(len(OF_TWO_KINDS)))
def test_names_of_two_kinds_are_what_python_leaves_them(loop, mode, monkeypatch):
    monkeypatch.setattr(entries, "is_interpreted", mode == "interpreted")
    body = "".join(f"    {line}\n" for line in loop.splitlines())
    text = f"def f(x, y, s, t, u):\n{body}    return locals()\n"
    plain, code, _ = both(text)
    # The first, a middle, or no element ends the loop.
    for end in (0, 2, 5, 6):
        x = np.ones(7)
        x[end:] = 4.0
        numbers = [(5, 6, 1), (0.5, 3, 0), (True, 2, 4), (np.int64(5), 0.5, 3)]
        for given in numbers:
            found = []
            for each in (plain, code):
                for _ in range(2):
                    last = outcome(each, text, lambda given=given: [x.copy(), np.arange(7) % 3, *given])
                found.append(last)
            assert found[0] == found[1], (end, given)
