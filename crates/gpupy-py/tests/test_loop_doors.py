"""Loops are compiled wherever a program lets gpupy in: `gpupy.jit`, `gpupy.install`, the cells of a notebook.

Not here: what compiled loops leave behind (`test_compiled_loops.py`), programs of `python -m gpupy`
(`test_loop_report.py`, `test_compiled_loops.py`), what is traced (`test_jit.py`).
"""

import functools
import os
import pickle
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import gpupy
from gpupy._jit import compiled_loops
from gpupy._loops import entries, readers
from gpupy._program import module_loops, texts
from gpupy._session import written_code


@pytest.fixture(autouse=True)
def always(compiles_loops, monkeypatch):
    # Other tests ask what there is.
    monkeypatch.setattr(entries, "functions", {})


N = 2000


def entry_of(function, number=0):
    """The entry of a loop of a function."""
    code = function.__code__
    lines = [line for _, _, line in code.co_lines() if line is not None]
    found = [one for place, one in entries.places.items() if place[0] == code.co_filename]
    found = [one for one in found if min(lines) <= one._site.nest.place.line <= max(lines)]
    return sorted(found, key=lambda one: one._site.nest.place.line)[number]


def recurrence(x, y):
    for i in range(1, x.shape[0]):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y[-1]


def test_a_loop_over_elements_runs_compiled_from_the_first_call_on():
    function = types.FunctionType(recurrence.__code__, globals(), "recurrence")
    traced = gpupy.jit(function)
    x = gpupy.asarray(np.random.default_rng(0).random(N))
    wanted = np.zeros(N)
    last = recurrence(np.asarray(x), wanted)
    for call in range(1, 4):
        y = gpupy.zeros(N)
        found = traced(x, y)
        assert found == last and type(found) is type(recurrence(x, gpupy.zeros(N)))
        assert y.tolist() == wanted.tolist()
        assert entry_of(function).runs == call
    [(why, count)] = traced.stats()["plain"].items()
    assert why.startswith("a loop over elements, ") and count == 3 and "may run compiled" in why


def test_a_short_loop_and_one_over_rows_stay_traced():
    @gpupy.jit
    def short(x):
        s = 0.0
        for i in range(5):
            s += x[i]
        return s

    @gpupy.jit
    def rows(x):
        for i in range(1, 30):
            x[i] += x[i - 1]
        return x

    for traced, x in ((short, gpupy.arange(9.0)), (rows, gpupy.ones((30, 100)))):
        before = [traced(x.copy()) for _ in range(3)]
        assert np.array_equal(before[0], before[2])
        assert traced.stats()["plain"] == {} and traced.stats()["recordings"] == 1


def twice(function):
    @functools.wraps(function)
    def both(*args):
        return function(*args), function(*args)

    return both


def made_closure(scale):
    @gpupy.jit
    @twice
    def total(x, start=1.0, *, step=2):
        s = start
        for i in range(0, len(x), step):
            s += scale * float(x[i])
        return s

    return total


def test_closures_defaults_and_decorators_below():
    x = gpupy.arange(float(N))
    one, other = made_closure(2.0), made_closure(3.0)
    for _ in range(2):
        assert one(x) == (2.0 * sum(range(0, N, 2)) + 1.0,) * 2
        assert other(x) == (3.0 * sum(range(0, N, 2)) + 1.0,) * 2
    assert entry_of(one.__wrapped__.__wrapped__).runs == 8


class Grid:
    scale = 0.5

    def __init__(self, n):
        self.u = gpupy.ones(n)

    @gpupy.jit
    def smooth(self, steps):
        u = self.u
        for _ in range(steps):
            for i in range(1, len(u) - 1):
                u[i] = (u[i - 1] + u[i + 1]) * 0.5 + 0.25
        return self

    @gpupy.jit
    def total(self, n):
        u, s = self.u, 0.0
        for i in range(len(u)):
            s += int(u[i])
        return s if n == 0 else s + self.total(n - 1)


def test_methods_and_recursion():
    grid, wanted = Grid(N), np.ones(N)
    for _ in range(2):
        assert grid.smooth(3) is grid
        for _ in range(3):
            for i in range(1, N - 1):
                wanted[i] = (wanted[i - 1] + wanted[i + 1]) * 0.5 + 0.25
        assert grid.u.tolist() == wanted.tolist()
    once = sum(int(v) for v in wanted)
    assert [grid.total(0), grid.total(2), grid.total(0)] == [once, 3 * once, once]
    assert entry_of(Grid.total.__wrapped__).runs >= 3


def test_functions_without_source_run_as_written():
    text = "def f(x):\n    s = 0.0\n    for i in range(len(x)): s += float(x[i])\n    return s\n"
    names = {}
    exec(text, names)
    # A text of another file by the same name.
    exec(compile(text.replace("0.0", "1.0"), __file__, "exec"), names := {"g": names["f"]})
    for name in ("f", "g"):
        code = names[name].__code__
        traced = gpupy.jit(names[name])
        for _ in range(2):
            assert traced(gpupy.ones(N)) == N + (name == "f")
        assert names[name].__code__ is code


def test_exceptions_are_pythons_with_their_line():
    @gpupy.jit
    def beyond(x, seen):
        for i in range(len(x) + 1):
            x[i] = i
        return x

    x = gpupy.zeros(N)
    for _ in range(3):
        with pytest.raises(IndexError, match=f"index {N} is out of bounds") as told:
            beyond(x, 0)
        assert x.tolist() == list(range(N)) and told.value.__context__ is None
        lines = [entry.lineno for entry in told.traceback if entry.name == "beyond"]
        assert [line + 1 - beyond.__wrapped__.__code__.co_firstlineno for line in lines] == [3]
    assert entry_of(beyond.__wrapped__).leaves > 0


def test_an_exception_of_a_function_that_is_not_recorded_has_no_other_context():
    @gpupy.jit
    def divides(x, n):
        return x.tolist()[0] // n

    for x in (gpupy.ones(3, int), np.ones(3, int)):
        for _ in range(3):
            with pytest.raises(ZeroDivisionError) as told:
                divides(x, 0)
            assert told.value.__context__ is None


def test_what_happened_before_a_loop_does_not_happen_twice(capsys):
    @gpupy.jit
    def tells(x, told):
        print("once")
        told.append(len(x))
        s = 0
        for i in range(len(x)):
            s += int(x[i])
        return s

    @gpupy.jit
    def guarded(x):
        try:
            s = 0
            for i in range(len(x)):
                s += int(x[i])
            return s
        finally:
            print("end")

    told = []
    for call in range(1, 3):
        assert tells(gpupy.ones(N), told) == guarded(gpupy.ones(N)) == N
        assert told == [N] * call and capsys.readouterr().out == "once\nend\n"


def test_a_tracer_sees_the_code_as_written():
    def plain(x):
        s = 0
        for i in range(len(x)):
            s += int(x[i])
        return s

    code, lines = plain.__code__, []
    traced = gpupy.jit(plain)

    def seen(frame, event, _):
        if frame.f_code.co_name == "plain":
            lines.append(event)
        return seen

    sys.settrace(seen)
    try:
        assert traced(gpupy.ones(N)) == N
    finally:
        sys.settrace(None)
    assert lines.count("line") >= 2 * N and plain.__code__ is code
    assert traced(gpupy.ones(N)) == N and entry_of(plain).runs == 1
    # Those that read code get it as written.
    written_code.as_written(plain)
    assert plain.__code__ is code and traced(gpupy.ones(N)) == N


def test_threads_have_their_own_runs():
    @gpupy.jit
    def total(x, k):
        s = 0
        for _ in range(20):
            for i in range(len(x)):
                s += int(x[i]) * k
        return s

    found = {}
    threads = [
        threading.Thread(target=lambda k=k: found.update({k: [total(gpupy.ones(N), k) for _ in range(5)]}))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: [20 * N * k] * 5 for k in range(4)}


def test_a_traced_function_is_pickled_by_its_place():
    assert pickle.loads(pickle.dumps(at_top)) is at_top
    assert at_top(gpupy.ones(N)) == N
    assert pickle.loads(pickle.dumps(at_top)) is at_top


@gpupy.jit
def at_top(x):
    s = 0
    for i in range(len(x)):
        s += int(x[i])
    return s


def test_the_report_has_the_loops_of_traced_functions_alone():
    @gpupy.jit
    def local(x):
        s = 0
        for i in range(len(x)):
            s += int(x[i])
        return s

    local(gpupy.ones(N))
    told = str(gpupy.loops())
    assert f"{__file__}: 1 loop, 1 would" in told
    assert "in local: `for i in range(len(x)):` ran compiled once" in told
    assert "in test_methods_and_recursion" not in told


PROGRAM = """\
import gpupy; gpupy.install()
import numpy as np, other, helper
print(type(helper.total(np.ones(300_000))).__name__, helper.total(np.ones(300_000)), helper.Kept.total)
print(gpupy.loops())
"""
HELPER = """\
import numpy as np
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s
class Kept:
    total = 0
    for total in range(3): pass
    def __init__(self): self.n = [i for i in range(3)]
async def waits(x):
    for i in range(3): await x
def yields(x):
    for i in range(len(x)): yield x[i]
"""


def run(folder, *arguments, **variables):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("is_on", ["1", "0"])
@pytest.mark.parametrize("way", [["program.py"], ["-m", "gpupy", "-m", "program"]])
def test_modules_that_are_imported_after_install_run_compiled(tmp_path, way, is_on):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "other.py").write_text("text = 'no loops'\n")
    for _ in range(2):
        first, *rest = run(tmp_path, *way, GPUPY_LOOPS=is_on).splitlines()
        assert first == "float64 300000.0 2"
        told = "\n".join(rest)
        ran = "in total: `for i in range(len(x)):` ran compiled twice" in told.replace("2 times", "twice")
        assert ran == (is_on == "1"), told
    # A module without loops is loaded as ever.
    assert any(file.startswith("other.") for file in os.listdir(tmp_path / "__pycache__"))


def test_modules_of_others_are_left_alone(tmp_path):
    text = "import gpupy, sys; gpupy.install()\nimport json, statistics, helper\n"
    text += "for m in (json, statistics, helper): print(type(m.__loader__).__module__)\n"
    text += "gpupy.unload_ipython_extension(None)\nprint([f for f in sys.meta_path if 'gpupy' in str(f)])\n"
    (tmp_path / "program.py").write_text(text)
    (tmp_path / "helper.py").write_text(HELPER)
    first, second, third, last = run(tmp_path, "program.py").splitlines()
    assert first == second and "importlib" in first and third == module_loops.__name__
    assert "module_loops" not in last


class Compiler:
    """As IPython's: what compiles the statements of a cell."""

    def __call__(self, source, filename, symbol):
        return compile(source, filename, symbol, dont_inherit=True)


class Notebook:
    """As IPython's shell, as far as it is looked at."""

    def __init__(self):
        self.compile, self.user_ns, self._count = Compiler(), {"__name__": "__main__"}, 0

    def run(self, text, symbol="exec"):
        """Runs a cell statement by statement."""
        import ast
        import linecache

        self._count += 1
        name = f"<cell {self._count} of {id(self)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        for node in ast.parse(text).body:
            tree = ast.Module([node], []) if symbol == "exec" else ast.Interactive([node])
            exec(self.compile(tree, name, symbol), self.user_ns)


@pytest.fixture
def notebook():
    made = Notebook()
    module_loops.put_in_cells(made)
    yield made
    module_loops.forget_cells()
    assert type(made.compile) is Compiler


def entries_of(notebook):
    end = f"of {id(notebook)}>"
    found = [(place, one) for place, one in entries.places.items() if place[0].endswith(end)]
    return [one for _, one in sorted(found, key=lambda item: item[0])]


@pytest.mark.parametrize("symbol", ["exec", "single"])
def test_cells_run_compiled_with_names_of_earlier_cells(notebook, symbol):
    notebook.run("import gpupy as np, math\nfrom math import sqrt\nx = np.ones(100)", symbol)
    notebook.run("s = 0.0\nfor i in range(len(x)):\n    s += sqrt(np.sqrt(x[i]) + math.sin(0.0))\n", symbol)
    assert notebook.user_ns["s"] == 100.0 and notebook.user_ns["i"] == 99
    notebook.run("def f(x):\n    for i in range(len(x)): x[i] += math.sin(i)\n    return x\nf(x)", symbol)
    assert notebook.user_ns["x"][1] == 1 + np.sin(1.0)
    assert [one.runs for one in entries_of(notebook)] == [1, 1]
    # Another meaning of a name.
    notebook.run("class math:\n    sin = staticmethod(lambda v: 2.0)\nf(x)", symbol)
    assert notebook.user_ns["x"][0] == 3.0 and [one.runs for one in entries_of(notebook)] == [1, 1]


def test_errors_and_warnings_of_cells_are_pythons(notebook):
    with pytest.raises(SyntaxError, match="outside function"):
        notebook.run("for i in range(3):\n    return i\n")
    with pytest.warns(SyntaxWarning) as heard:
        notebook.run("def f():\n    for i in range(3): pass\n    return 'text' is 'text'\nf()")
    assert len(heard) == 1
    with pytest.raises(IndexError):
        notebook.run("import gpupy\nx = gpupy.zeros(3)\nfor i in range(5):\n    x[i] = i\n")
    assert notebook.user_ns["i"] == 3 and notebook.user_ns["x"].tolist() == [0, 1, 2]


def test_a_notebooks_own_threads_do_not_keep_loops_in_python(notebook, monkeypatch):
    stop = threading.Event()
    kind = type("Saving", (threading.Thread,), {"__module__": "IPython.core.history"})
    others = [kind(target=stop.wait)]
    others[0].start()
    text = "s = 0\nfor i in range(100): s += i\n"
    notebook.run(text)
    assert [one.runs for one in entries_of(notebook)] == [1]
    others.append(threading.Thread(target=stop.wait))
    others[1].start()
    notebook.run(text)
    stop.set()
    for one in others:
        one.join()
    assert [one.runs for one in entries_of(notebook)] == [1, 0] and notebook.user_ns["s"] == 4950


def test_the_report_has_what_became_of_cells(notebook):
    cell = "total = 0\nfor i in range(1000): total += i\n"
    notebook.run(cell)
    notebook.history_manager = types.SimpleNamespace(input_hist_parsed=["", cell])
    texts.note_notebook(notebook)
    try:
        assert "line 2, in <module>: `for i in range(1000): total += i` ran compiled once" in str(
            gpupy.loops()
        )
    finally:
        texts.forget_notebook()


IPYTHON = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in (
    "%load_ext gpupy",
    "import numpy as np; x = np.ones(300_000); s = 0.0",
    "for i in range(len(x)):\\n    s += np.sqrt(x[i])\\n",
    "def total(x):\\n    s = 0.0\\n    for v in x: s += v\\n    return s\\nprint(total(x), s)",
    "%time total(x)",
    "print(np.loops())",
    "%unload_ext gpupy",
    "import numpy; print(numpy.__name__)",
):
    shell.run_cell(cell, store_history=True).raise_error()
"""


def test_cells_of_ipython_run_compiled(tmp_path):
    pytest.importorskip("IPython")
    told = run(tmp_path, "-c", IPYTHON)
    assert "300000.0 300000.0" in told and told.splitlines()[-1] == "numpy"
    assert "in <module>: `for i in range(len(x)):` ran compiled once" in told
    assert "in total: `for v in x: s += v` ran compiled 2 times" in told


def test_a_variable_turns_all_doors_off(tmp_path):
    text = "import gpupy\n" + HELPER.replace("def total", "@gpupy.jit\ndef total") + "x = np.ones(3000)\n"
    text += "print([total(gpupy.asarray(x)) for _ in range(2)], gpupy.loops())\n"
    (tmp_path / "program.py").write_text(text)
    assert "GPUPY_LOOPS is `0`" in run(tmp_path, "program.py", GPUPY_LOOPS="0")
    assert "in total: `for" in run(tmp_path, "program.py")


def test_texts_without_loops_are_told_at_once():
    with_loops = [
        "for i in x: pass",
        "\r while x: pass",
        "if x:\n\t for i in x: pass",
        "\ufefffor i in x: pass",
    ]
    without = ["x = [i for i in y]", "# for\nformat = 'while'", "form()\nfor_ = 1", ""]
    for given in (str, str.encode):
        assert all(module_loops.may_have_loops(given(text)) for text in with_loops)
        assert not any(module_loops.may_have_loops(given(text)) for text in without)


def test_a_decorator_that_is_no_function_is_followed_as_far_as_it_can_be():
    partial = functools.partial(recurrence, gpupy.ones(N))
    assert [one.__name__ for one in compiled_loops._wrapped(partial)] == ["recurrence"]
    assert list(compiled_loops._wrapped(len)) == [] and list(compiled_loops._wrapped(Grid)) == []


def test_what_a_signal_raises_while_a_functions_loops_are_placed_is_raised(monkeypatch):
    class Alarm(Exception):
        pass

    def looks(tree):
        raise Alarm

    monkeypatch.setattr(readers, "may_read", looks)
    traced = gpupy.jit(types.FunctionType(recurrence.__code__, globals(), "recurrence"))
    monkeypatch.setattr(compiled_loops, "_known", {})
    with pytest.raises(Alarm):
        traced(gpupy.zeros(N), np.zeros(N))
    monkeypatch.undo()
    assert traced(gpupy.zeros(N), np.zeros(N)) == 0
