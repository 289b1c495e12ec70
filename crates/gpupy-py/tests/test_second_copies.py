"""Programs whose loops have sites do what they do without: closed, and left in the middle of a loop.

Not here: which loops get a site (`test_found_loops.py`).
"""

import ast
import copy
import linecache
import marshal
import pickle
import random
import re
import subprocess
import sys
import threading
import traceback
import types
import warnings

import pytest
from partial_loop import Locals, Partial

from gpupy._loops import second_copy
from gpupy._loops.sites import Leave, Site

FILE = "of_sites.py"


def both(text):
    """A program's code as written, and with sites."""
    return compile(text, FILE, "exec", dont_inherit=True), second_copy.compiled(ast.parse(text), FILE)


def outcome(code, text, around=None):
    """What a program leaves behind: names, the error with its lines and carets, what it noted."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names, error = {"__name__": "of_sites"}, None
    try:
        if around is None:
            exec(code, names)
        else:
            around(lambda: exec(code, names))
    except Exception as raised:
        trace = raised.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
            trace = trace.tb_next
        error = "".join(traceback.format_exception(type(raised), raised, trace))
        inside = traceback.walk_tb(trace)
        error += repr([sorted(shown(frame.f_locals)) for frame, _ in inside])
    return sorted(shown(names)), error


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def shown(names):
    for name, value in names.items():
        if not isinstance(value, types.FunctionType | types.GeneratorType) and name != "__builtins__":
            yield name, type(value).__name__, without_addresses(repr(value))


def traced(code, text):
    """The events of tracing, with lines and the values of names."""
    events = []

    def trace(frame, event, _):
        if frame.f_code.co_filename != FILE:
            return None
        events.append((frame.f_code.co_name, event, frame.f_lineno, sorted(shown(frame.f_locals))))
        return trace

    def around(run):
        sys.settrace(trace)
        try:
            run()
        finally:
            sys.settrace(None)

    return outcome(code, text, around), events


def profiled(code, text):
    """The events of profiling."""
    events = []

    def profile(frame, event, given):
        if frame.f_code.co_filename == FILE:
            events.append((frame.f_code.co_name, event, frame.f_lineno, getattr(given, "__name__", None)))

    def around(run):
        sys.setprofile(profile)
        try:
            run()
        finally:
            sys.setprofile(None)

    return outcome(code, text, around), events


SIMPLE = """\
a = b + i
b += 1
s = s + x[i]
s -= y[j % 5]
y[i] = s
y[-1] *= 0.5
a, b = b, a
x[i], a = a, 2
s = a // b
s = s / (a - 3)
s = x[a]
a = z
s = 1 if i > j else z
a = g(b)
s = max(a, len(x)) + abs(K)
b = a and not s or i
pass
if a > 2: break
if b > 3: continue
if s == 1: return s
s = i in (1, 3)
a = math.sqrt(abs(s))
a = math.sqrt(s)
s = 'text' + a
y[1:3] = x[:2]
box[0] += 1
z = a
return a
""".splitlines()
OUTSIDE = [
    "print(a)",
    "out.append((i, s))",
    "b = [a, s]",
    "del a",
    "assert s < 50",
    "out.append(sorted(locals().items()))",
]
HEADS = [
    "for i in range({n}):",
    "for j in range(i):",
    "for i, a in enumerate(x):",
    "for a, (i, b) in zip(y, enumerate(x)):",
    "for j in reversed(x):",
    "for s in x[{n}:]:",
    "for i in (1, 2):",
    "for j in [0, K]:",
    "for i in range(a, b):",
    "for i in z:",
]


class Drawn:
    """A random program that ends."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = ["import math", "K = 3", "out, box = [], [0]"]
        self.lines += ["def g(v):", "    for k in range(2): v += k", "    return v"]
        self.whiles = 0
        for name in ("first", "second"):
            self.function(name)
        self.lines += ["x, y, a, b, s, i, j = [3, 1, 4, 1, 5], [.5, 1.5, 2, 0, 7], 0, 1, 2, 0, 0"]
        self.block(0, 2, True)
        for name in ("first", "second"):
            self.lines += ["try:", f"    out.append({name}(x, y, 4))", "except ZeroDivisionError as error:"]
            self.lines += ["    out.append(str(error))"]

    def function(self, name):
        kind = self.rng.choice(["plain", "plain", "cells", "globals", "generator", "unbound"])
        self.lines.append(f"def {name}(x, y, n):")
        if kind == "globals":
            self.line(1, "global a, s, z")
        if kind != "unbound":
            self.line(1, "a, b, s, i, j = 0, 1, 2, 0, 0")
        if kind == "cells":
            self.line(1, "def inner():\n    nonlocal b\n    b += 1\n    return a + i")
        for _ in range(self.rng.randrange(1, 4)):
            self.block(1, 2, True)
            if kind == "cells":
                self.line(1, "out.append(inner())")
            if kind == "generator":
                self.line(1, "yield s")
            if self.rng.random() < 0.3:
                self.line(1, "out.append(sorted(locals().items()))")
        if kind == "generator":
            self.lines += [f"generator_{name} = {name}", f"def {name}(x, y, n):"]
            self.line(1, f"return list(generator_{name}(x, y, n))")

    def line(self, depth, text):
        self.lines += ["    " * depth + line for line in text.splitlines()]

    def block(self, depth, most, is_outside, is_in_loop=False):
        is_function = self.lines[-1] != "" and depth > 0 and self.is_in_function()
        for _ in range(self.rng.randrange(1, 4)):
            draw = self.rng.random()
            if draw < 0.5 or most == 0:
                self.line(depth, self.simple(is_outside, is_in_loop, is_function))
            elif draw < 0.85:
                self.loop(depth, most, is_outside)
            else:
                self.line(depth, self.rng.choice(["if a > b:", "if i % 2:", "if not s:"]))
                self.block(depth + 1, most - 1, is_outside, is_in_loop)
                if self.rng.random() < 0.4:
                    self.line(depth, self.rng.choice(["else:", "elif j:"]))
                    self.block(depth + 1, most - 1, is_outside, is_in_loop)

    def is_in_function(self):
        return not any(line.startswith("x, y") for line in self.lines)

    def simple(self, is_outside, is_in_loop, is_function):
        while True:
            # Few loops hold what keeps them in Python.
            text = self.rng.choice(OUTSIDE if is_outside and self.rng.random() < 0.15 else SIMPLE)
            if ("break" in text or "continue" in text) and not is_in_loop:
                continue
            if "return" in text and (not is_function or (text == "return a" and self.rng.random() < 0.8)):
                continue
            return text

    def loop(self, depth, most, is_outside):
        is_outside &= self.rng.random() < 0.2
        if self.rng.random() < 0.2:
            self.whiles += 1
            name = f"w{self.whiles}"
            self.line(depth, f"{name} = {self.rng.randrange(4)}")
            self.line(depth, f"while {name} > 0:")
            self.line(depth + 1, f"{name} -= 1")
        else:
            self.line(depth, self.rng.choice(HEADS).format(n=self.rng.randrange(5)))
        self.block(depth + 1, most - 1, is_outside, True)
        if self.rng.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, most - 1, is_outside)

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


SEEDS = range(80)
# To see what kinds of programs there are.
MORE = range(160)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Programs print."""
    monkeypatch.setattr("builtins.print", lambda *args: None)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_with_closed_sites_is_the_one_as_written(seed):
    text = Drawn(seed).text
    plain, code = both(text)
    assert without_place(outcome(code, text)) == without_place(outcome(plain, text)), text
    assert traced(code, text) == traced(plain, text), text
    assert profiled(code, text) == profiled(plain, text), text


@pytest.mark.parametrize("seed", SEEDS)
def test_codes_are_alike_to_those_who_look_at_them(seed):
    text = Drawn(seed).text
    for plain, code in zip(*map(every_code, both(text)), strict=True):
        for (
            name
        ) in "name qualname filename firstlineno flags argcount varnames freevars cellvars nlocals".split():
            assert getattr(code, f"co_{name}") == getattr(plain, f"co_{name}"), name
        # A jump may have no line, and what the compiler leaves out of a loop may be in its copy.
        lines = [{line for _, _, line in one.co_lines() if line} for one in (code, plain)]
        assert lines[0] >= lines[1]
        docs = [types.FunctionType(one, {}, closure=cells(one)).__doc__ for one in (code, plain)]
        assert docs[0] == docs[1]


def cells(code):
    return tuple(types.CellType() for _ in code.co_freevars)


def every_code(code):
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from every_code(one)


def test_random_programs_have_sites_and_end_in_many_ways():
    counts, ends = 0, set()
    for seed in MORE:
        text = Drawn(seed).text
        _, code = both(text)
        counts += len(second_copy.sites(code))
        error = outcome(code, text)[1]
        ends.add(error and error.rsplit("\n", 1)[0].rsplit("\n", 1)[-1].split(":")[0])
    assert counts > len(MORE)
    assert ends >= {
        None,
        "ZeroDivisionError",
        "IndexError",
        "TypeError",
        "NameError",
        "UnboundLocalError",
        "ValueError",
    }


def loops_of(text):
    """The loops of a text by their places."""
    every = ast.walk(ast.parse(text))
    return {(node.lineno, node.col_offset): node for node in every if isinstance(node, ast.For | ast.While)}


def without_place(found):
    """An outcome without the line at which a local name had no value.

    Once a function is warm, Python 3.11 says that of the statement before, if that ends with a store and
    nothing is between the two: a site or a test of the second copy is.
    """
    names, error = found
    place = r'  File "of_sites.py", line \d+, in \w+\n    [^\n]*\n(?: +\^+\n)?(?=UnboundLocalError)'
    return names, error and re.sub(place, "", error)


def opened(code, text, enter):
    """The outcome of a program whose sites are all open."""
    sites = second_copy.sites(code)
    for site in sites:
        site.open(lambda site=site: enter(site))
    try:
        return without_place(outcome(code, text))
    finally:
        for site in sites:
            site.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_second_copy_alone_is_the_loop(seed):
    text = Drawn(seed).text
    plain, code = both(text)
    wanted = without_place(outcome(plain, text))
    assert opened(code, text, lambda site: Leave(0)) == wanted, text
    assert opened(code, text, lambda site: None) == wanted, text
    rng = random.Random(seed)
    assert opened(code, text, lambda site: rng.choice([None, Leave(0)])) == wanted, text


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [4, 30])
def test_the_second_copy_goes_on_where_another_run_left(seed, most):
    text = Drawn(seed).text
    plain, code = both(text)
    loops = loops_of(text)
    rng = random.Random(seed)

    def enter(site):
        frame = sys._getframe(3)
        assert frame.f_code.co_filename == FILE
        loop = loops[site.nest.place.line, site.nest.place.column]
        partial = Partial(loop, Locals(frame), frame.f_globals, rng.randrange(most + 1))
        return partial.leave(site.nest.facts.writes)

    assert opened(code, text, enter) == without_place(outcome(plain, text)), text


def test_leaves_are_at_statements_of_every_kind():
    targets = set()
    given = {"a": 3, "b": 5, "s": 3, "i": 0, "j": 1, "n": 4, "K": 3, "x": [1, 2, 3], "y": [1, 2, 3.0]}
    for seed in MORE:
        text = Drawn(seed).text
        loops = loops_of(text)
        for site in second_copy.sites(both(text)[1]):
            for steps in range(12):
                partial = Partial(loops[site.nest.place.line, site.nest.place.column], dict(given), {}, steps)
                kinds = {number: type(node).__name__ for node, number in partial.numbers.items()}
                leave = partial.leave(())
                targets.add(kinds.get(leave.target))
                targets.update((kinds[number], block) for number, block in leave.blocks.items())
    assert targets >= {
        None,
        "For",
        "While",
        "If",
        "Assign",
        "AugAssign",
        "Return",
        "Break",
        "Continue",
        "Pass",
    }
    assert targets >= {(kind, block) for kind in ("For", "While", "If") for block in ("body", "orelse")}


LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"


def function(text=LOOP):
    names = {}
    exec(both(text)[1], names)
    return names["f"]


def test_what_marshal_and_pickle_make_of_a_site_runs_the_loop_as_written():
    f = function()
    (site,) = second_copy.sites(f.__code__)
    site.open(lambda: Leave(None, names={"s": 7}))
    assert f(4) == 7
    code = marshal.loads(marshal.dumps(f.__code__))
    assert types.FunctionType(code, {})(4) == 6 and second_copy.sites(code) == []
    for made in (pickle.loads(pickle.dumps(site)), copy.copy(site), copy.deepcopy(site)):
        assert type(made) is bytes and made == b""
        consts = tuple(made if one is site else one for one in f.__code__.co_consts)
        assert types.FunctionType(f.__code__.replace(co_consts=consts), {})(4) == 6
    site.close()
    assert f(4) == 6 and repr(site) == "b''" and isinstance(site, Site)


def test_names_that_have_no_value_stay_so():
    f = function("def f(n):\n    for i in range(n): s = i\n    return sorted(locals())\n")
    assert f(0) == ["n"] and f(1) == ["i", "n", "s"]
    (site,) = second_copy.sites(f.__code__)
    site.open(lambda: Leave(None, names={"i": 3}))
    assert f(0) == ["i", "n"]


def test_a_leave_belongs_to_its_thread_and_to_its_call():
    f = function(
        "def g(v):\n    for k in range(3): v += k\n    return v\ndef f(n):\n    s = 0\n"
        "    for i in range(n): s += g(i)\n    return s\n"
    )
    sites = [*second_copy.sites(f.__code__), *second_copy.sites(f.__globals__["g"].__code__)]
    wanted = [f(n) for n in range(60)]
    assert len(sites) == 2
    for site in sites:
        site.open(lambda: Leave(0))
    found = {}

    def work(thread):
        found[thread] = [f(n) for n in range(60)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [wanted] * 4
    assert all(site._leaves == {} for site in sites)


def test_a_program_that_is_none_has_its_own_error_and_warnings():
    with pytest.raises(SyntaxError, match="'return' outside function"):
        second_copy.compiled(ast.parse("for i in x: return i\n"), FILE)
    text = "for i in x:\n    s = i is 3\nfor i in x:\n    s = 'a'[i], (1, 2)['b']\n"
    text += "for i in x: s = i is None\ny = s is 4\n"
    for compiled in (
        lambda: compile(text, FILE, "exec"),
        lambda: second_copy.compiled(ast.parse(text), FILE),
    ):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            compiled()
        assert [one.lineno for one in heard] == [2, 4, 6]


def test_a_loop_that_is_nested_too_deep_with_its_copy_is_as_written():
    chain = "if s == 0: pass\n" + "".join(f"    elif s == {k}: pass\n" for k in range(1, 400))
    text = f"s = 5\nfor i in range(3):\n    {chain}"
    plain, code = both(text)
    assert outcome(code, text) == outcome(plain, text)


def test_a_program_runs_by_the_import_hook_with_its_loops_sites(tmp_path):
    text = "import numpy as np\nimport helper\nx = np.arange(5.0)\nfor i in range(4): x[i] += x[i + 1]\n"
    text += "print(x, helper.f(3))\n"
    (tmp_path / "program.py").write_text(text + "print(1 / 0)\n")
    (tmp_path / "helper.py").write_text(LOOP)
    start = "from gpupy._program import script, uncaught\nuncaught.begin()\n"
    start += "script.HAS_SITES = SITES\nscript.run('program.py', [])\n"
    done = [
        subprocess.run(
            [sys.executable, "-c", start.replace("SITES", sites)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for sites in ("True", "False")
    ]
    assert done[0].stdout == done[1].stdout == "[1. 3. 5. 7. 4.] 3\n", done[0].stderr
    assert done[0].stderr == done[1].stderr and "line 6" in done[0].stderr
