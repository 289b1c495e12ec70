"""The type of a number does not depend on how large its array is, nor on the driver.

Programs are texts, written to files and imported, as a number may stay pending only where its uses are
read in the source. Not here: the class of pending numbers (``test_scalars.py``), known ones
(``test_known_scalars.py``).
"""

import importlib.util
import itertools
import pathlib
import random
import runpy
import subprocess
import sys
import textwrap

import numpy
import pytest

import gpupy

LARGE = 200_000
_names = itertools.count()


@pytest.fixture
def written(tmp_path):
    """Imports a text as a module."""

    def imported(text):
        path = tmp_path / f"program_{next(_names)}.py"
        path.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return imported


def elements(xp, size=LARGE):
    return xp.asarray((numpy.arange(size) % 97 / 8 - 3).astype("float32"))


def types(found):
    """The types in what a program gives, all the way down; those of arrays by their dtype."""
    if isinstance(found, dict):
        return {key: types(value) for key, value in found.items()}
    if isinstance(found, list | tuple | set | frozenset):
        return type(found).__name__, [types(item) for item in found]
    if isinstance(found, numpy.ndarray | gpupy.ndarray):
        found = numpy.asarray(found)
        return "array", found.dtype, found.shape, [types(item) for item in found.ravel()[:1].tolist()]
    return type(found)


# What other code does with a number: it sees NumPy's own.
USES = {
    "returned": "return x.sum()",
    "of two": "return x.min(), x.max()",
    "named and returned": "m = x.mean(); n = m; return n",
    "in a list": "found = []\n for k in range(3): found.append((x * k).sum())\n return found",
    "in a list made at once": "return [(x * k).sum() for k in range(3)]",
    "in a dictionary": "return {'mean': x.mean(), 'std': x.std()}",
    "an attribute": "class Row: pass\n Row.mean = x.mean(); return type(Row.mean)",
    "asked for its type": "m = x.mean(); return type(m).__name__, isinstance(m, float)",
    "given to a function": "return (lambda m: m)(x.max())",
    "given by a name": "m = x.max(); return identity(m)",
    "of an operation": "m = x.mean() * 2 + 1; return m - x.min()",
    "of a function of NumPy's": "return np.sqrt(abs(x.min())), np.maximum(x.max(), 1)",
    "added to": "t = 0\n for k in range(4): t += (x * k).sum()\n return t",
    "unpacked": "low, high = x.min(), x.max(); return high - low, low",
    "an element": "y = x * 2; return y[3], y[-1]",
    "of a choice": "m = x.max() if x.min() < 0 else 0; return m",
    "of and": "m = x.min() and x.max(); return m",
    "the larger one": "return max(x.max(), x.min() * 2)",
    "a walrus": "return (m := x.mean()), m",
    "a default": "def f(m=x.mean()): return m\n return f()",
    "of a closure": "m = x.mean()\n def f(): return m\n return f()",
    "yielded": "return list((lambda: (yield x.mean()))())",
    "by locals": "m = x.mean(); return locals()['m']",
    "by eval": "m = x.mean(); return eval('m')",
    "as a key": "m = x.argmax(); return [*{m: 1}], {m}",
    "sorted": "return sorted([x.max(), x.min()])",
    "mapped": "return list(map(np.sum, [x, x * 2]))",
    "of reduce": "import functools; return functools.reduce(np.add, [x.sum(), x.max(), x.min()])",
    "of the builtin": "return max(x[:3] * 2), sum(x[:3] * 1), sorted(x[:3] + 1)",
    "of iteration": "return [v for v in (x * 2)[:3]], next(iter(x + 1))",
    "matched": "match x.mean():\n  case float(): return 'a float'\n  case m: return type(m)",
    "a comparison": "return x.max() > 1, x.min() == x.max(), not x.any()",
    "json": "import json; return json.dumps({'m': float(x.mean()), 'n': x.astype('f8').mean()})",
    "timedelta": "import datetime; return datetime.timedelta(seconds=x.astype('f8').max())",
    "Decimal": "import decimal; return decimal.Decimal(x.astype('f8').sum())",
    "statistics": "import statistics; return statistics.mean([x.astype('f8').sum(), 1.0])",
    "sqlite3": "import sqlite3; m = x.astype('f8').max()\n"
    " return sqlite3.connect(':memory:').execute('select ?', (m,)).fetchall()",
    "struct": "import struct; m = x.max(); return struct.pack('<f', m)",
    "with timedelta": "import datetime; return x.astype('f8').max() * datetime.timedelta(1)",
    "with Decimal": "import decimal; m = x.argmax(); return decimal.Decimal(3) + int(m)",
    "with Fraction": "import fractions; return fractions.Fraction(1, 3) + x.astype('f8').max()",
    "with a list": "m = x.argmax() - x.argmax() + 2; return [1, 2] * m",
    "with text": "m = x.mean(); return '%.3f %d' % (m, 3), f'{m:.2f} {m!r}', 'a' + str(m)",
    "compared with others": "m = x.mean(); return m == 'a', m == None, m != [1, 2][0], m in [1, 2]",
    "written": "out = np.zeros(3)\n for k in range(3): out[k] = (x * k).sum()\n return out, out[1]",
    "set in an object array": "out = np.empty(2, object); out[0] = x.sum(); return out[0], out.tolist()",
    "a name that is bound anew": "m = x.mean(); p = x; p = 3.0; return m * p",
    "a method": "m = x.mean(); return m.item(), m.astype('f8'), m.dtype, m.real",
    "math": "import math; m = x.mean(); return math.sqrt(abs(m)), math.floor(m), math.trunc(m.astype('f8'))",
    "rounded": "m = x.mean(); return round(m, 2), round(m), abs(m), -m, int(m), float(m), bool(m)",
    "deleted": "m = x.mean(); n = m + 1; del m; return n",
    "of an argument": "def f(m): return m\n return f(x.mean())",
    "with shadowed names": "float = lambda m: m\n return float(x.mean())",
    "of a set of several": "a = b = x.mean(); return a, b",
    "starred": "m, *rest = x.mean(), 1, 2; return m, rest",
    "in an exception": "try: raise ValueError(x.mean())\n except ValueError as it: return it.args",
    "of a coroutine": "import asyncio\n async def f(): m = x.mean(); return m\n return asyncio.run(f())",
    "beside an object of the program's": "class Tally:\n  kept = []\n  def __add__(self, n):"
    "\n   self.kept.append(n)\n   return self\n t = Tally(); t = t + x.mean(); t += x.max(); return t.kept",
    "of a subscript": "m = x.mean(); return m[()], m[...]",
}


def module(body):
    """A module with a function of `np` and `x`."""
    statements = []
    for line in body.split("\n"):
        statements.append("    " + line.removeprefix(" ") if line.startswith(" ") else "    " + line)
    return "def identity(m):\n    return m\n\n\ndef program(np, x):\n" + "\n".join(statements) + "\n"


@pytest.mark.parametrize("name", USES)
def test_other_code_sees_numpys_numbers(auto, written, name):
    text = module(USES[name])
    want = types(written(text).program(numpy, elements(numpy)))
    assert types(written(text).program(gpupy, elements(gpupy))) == want
    # With names of the module in the place of arguments.
    for xp, library in ((gpupy, "gpupy"), (numpy, "numpy")):
        found = written(f"import {library} as np\n" + text.replace("(np, x)", "(x)"))
        assert types(found.program(elements(xp))) == want


# What stays pending until its value is needed.
PENDING = {
    "of a sum": "t = 0\n for k in range(4): t = t + (x * k).sum()\n looked(); return float(t)",
    "added to": "t = x.sum()\n for k in range(4): t += (x * k).sum()\n looked(); return float(t)",
    "named": "m = x.mean(); s = x.std(); y = (x - m) / s; looked(); return y",
    "of a function": "y = x / np.sqrt((x * x).sum()); looked(); return y",
    "a truth": "m = x.max(); looked()\n if m > 0: return 1",
    "text": "m = x.max(); looked(); return f'{m}', '%s' % m, str(m)",
    "unpacked": "low, high = x.min(), x.max(); looked(); return (x - low) / (high - low)",
    "in two steps": "r = (x * x).sum(); n = r; p = x * (n / 2); looked(); return p",
}


@pytest.mark.parametrize("name", PENDING)
def test_what_is_only_an_operand_stays_pending(device, written, name):
    text = "def looked(): pass\n" + module(PENDING[name]).replace("(np, x)", "(x)")
    found = written("import gpupy as np\n" + text)
    array, launches = elements(gpupy, 5000), []
    found.looked = lambda: launches.append(gpupy.stats().launches)
    got = found.program(array)
    assert launches == [0]
    want = written("import numpy as np\n" + text).program(elements(numpy, 5000))
    if not isinstance(want, tuple):
        numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_a_result_of_passing_values_is_computed_without_storing_them(driver, written):
    found = written("def program(np, x): return np.abs(x * 3).sum()\n").program
    array = elements(gpupy)
    gpupy.evaluate(array)
    counts = []
    for total in (
        lambda: found(gpupy, array),
        lambda: gpupy.evaluate(gpupy.abs(array * 5).sum(keepdims=True)),
    ):
        gpupy.reset_stats()
        total()
        counts.append((gpupy.stats().launches, gpupy.stats().blocks_evaluated))
    assert counts[0] == counts[1]


def test_a_value_that_a_name_holds_is_stored_with_the_first_number_of_it(driver, written):
    found = written("def program(np, x):\n    y = np.sin(np.exp(x))\n    low = y.min()\n    return low, y\n")
    low, y = found.program(gpupy, elements(gpupy))
    gpupy.reset_stats()
    assert type(low) is numpy.float32 and y.max() >= low
    # No exponentials again.
    want = numpy.sin(numpy.exp(elements(numpy)))
    numpy.testing.assert_allclose(y, want, rtol=1e-3, atol=1e-3)


def test_a_global_that_is_bound_anew_is_seen(auto, written):
    found = written("import gpupy as np\nfrom gpupy import sqrt\ndef program(x):\n    return sqrt(x.sum())\n")
    array = abs(elements(gpupy))
    assert type(found.program(array)) is numpy.float32
    found.sqrt = lambda number: number
    assert type(found.program(array)) is numpy.float32
    found = written("def program(x):\n    m = x.sum()\n    return float(m)\n")
    assert type(found.program(array)) is float
    found.float = lambda number: number
    assert type(found.program(array)) is numpy.float32


SCRIPT = """
import sys, {library} as np
x = np.asarray((__import__("numpy").arange({size}) % 97 / 8 - 3))
total = 0
for k in range(3):
    total = total + (x * k).sum()
m = x.mean()
if m > 0:
    print("above")
print(m, total)
rows = [x.min(), x.max()]
def shown(number):
    print(type(number).__name__, isinstance(number, float))
shown(total)
shown(m)
shown(rows[0])
"""


@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_a_script_prints_the_same(tmp_path, size):
    printed = []
    for library in ("numpy", "gpupy"):
        path = tmp_path / f"{library}_script.py"
        path.write_text(SCRIPT.format(library=library, size=size))
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0].splitlines()[2:] == printed[1].splitlines()[2:]


def test_names_that_others_run_are_seen(tmp_path, auto):
    path = tmp_path / "run.py"
    path.write_text("import gpupy as np\nx = np.ones(200_000) * 2\nm = x.mean()\nn = m + 1\n")
    found = runpy.run_path(str(path), run_name="a module")
    assert type(found["m"]) is type(found["n"]) is numpy.float64


@pytest.mark.parametrize("cut", ["\n    return (m + 1", "", "\n    return '''", "\n  return 1"])
def test_a_source_that_has_changed_meanwhile_is_no_error(auto, written, cut):
    found = written("def program(x):\n    m = x.mean()\n    return m + 1\n")
    path = pathlib.Path(found.__file__)
    path.write_text(path.read_text()[:33] + cut)
    assert type(found.program(elements(gpupy))) is numpy.float32


def test_code_without_a_source_gets_numpys_numbers(auto):
    names = {"x": elements(gpupy)}
    exec(compile("def f():\n    m = x.mean()\n    return m + 1\ny = x.sum()", "<none>", "exec"), names)
    assert type(names["y"]) is type(names["f"]()) is numpy.float32


OPERATIONS = """
{} + {}
{} * {}
{} - 1
max({}, {})
-{}
abs({})
({} if {} > 0 else 1)
np.tanh({})
""".strip().split("\n")
SINKS = """
found.append({})
held[0] = {}
held.append({})
box.number = {}
yes = {} > 0
text = f'{{{}}}'
found.append(float({}))
found.append(keep({}))
{name} = {}
{name} += {}
{name}, other = {}, 1
found.append(({},))
found.extend(map(keep, [{}]))
y = y * {}
found.append([{} for _ in '12'])
found.append(np.add({}, 1))
found.append({} and 2)
""".strip().split("\n")


def random_program(chance):
    """Statements that get numbers, compute with them and store them."""
    names, lines = ["a", "b", "c"], ["a, b, c, y = x.sum(), x.min(), x.max(), x * 1", "other = 0"]
    for _ in range(chance.randrange(3, 12)):
        value = chance.choice([*names, "x.mean()", "(y * 2).sum()", "y[3]", "np.mean(y)", "(x @ y)"])
        for _ in range(chance.randrange(3)):
            value = chance.choice(OPERATIONS).format(value, chance.choice([*names, "x.min()"]))
        line = chance.choice(SINKS).format(value, name=chance.choice(names))
        kind = chance.randrange(5)
        lines.append(
            f"for _ in range(2): {line}" if kind == 0 else f"if x.max() > 0: {line}" if kind == 1 else line
        )
    lines.append(
        chance.choice(["return found, held, box.number", "return a, found", "return [*found, a, b], held"])
    )
    head = "def keep(n):\n    return n\nclass Box:\n    number = None\n"
    body = "".join(f"    {line}\n" for line in ["found, held, box = [], [0], Box()", *lines])
    return head + "def program(np, x):\n" + body


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_see_the_same_types(auto, written, seed):
    text = random_program(random.Random(seed))
    with numpy.errstate(all="ignore"):
        want = types(written(text).program(numpy, elements(numpy) * 0.001))
        got = types(written(text).program(gpupy, elements(gpupy) * numpy.float32(0.001)))
    assert got == want, text
