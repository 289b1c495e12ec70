"""`gpupy.loops()` tells of the program's own loops, and changes nothing of the program.

Not here: which loops of a text qualify (`test_found_loops.py`).
"""

import os
import random
import subprocess
import sys
import types
import warnings
import zipfile

import pytest

import gpupy
from gpupy._loops import entries
from gpupy._program import loop_report, texts

PROGRAM = """\
import numpy as np
import helper

def smooth(a):
    n = a.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            a[i, j] = (a[i - 1, j] + a[i, j - 1]) / 2

def main():
    x = np.ones((5, 5))
    for step in range(3):
        smooth(x)
        print(step, helper.total(x[0]))

main()
"""
HELPER = "def total(v):\n    s = 0.0\n    for item in v[:]: s += item\n    return s\n"
OUTPUT = "0 5.0\n1 5.0\n2 5.0\n"
LOOPS = """\
Loops of the program: those that qualify by their text may run compiled, others run in Python.

{0}program.py: 3 loops, 2 would qualify
  line 6, in smooth: `for i in range(1, n - 1):` {1}
  line 12, in main: `for step in range(3):` runs in Python: a call of `print`, which is on no list (line 14)

{0}helper.py: 1 loop, 1 would qualify
  line 3, in total: `for item in v[:]: s += item` runs in Python, as it has {2} (line 3)
"""
# A program that installs gpupy was compiled before.
SITE, NONE = "may run compiled; it did not: it has few steps", "would qualify, with 1 loop in it"
OTHER = "a `for` over another thing than ranges and arrays by their names"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + "print(np.loops())\n")
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


def run(folder, *arguments, given=None, **variables):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | variables,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("way", [["program.py"], ["-m", "program"]])
def test_the_programs_own_modules_are_told_of(folder, way):
    assert run(folder, "-m", "gpupy", *way) == OUTPUT + LOOPS.format(f"{folder}/", SITE, OTHER)


def test_a_program_that_installs_gpupy_is_told_of(folder):
    text = "import gpupy; gpupy.install()\n" + PROGRAM + "print(np.loops())\n"
    (folder / "program.py").write_text(text)
    found = run(folder, "program.py")
    wanted = LOOPS.format(f"{folder}/", NONE, OTHER).replace("line 6", "line 7").replace("line 12", "line 13")
    assert found == OUTPUT + wanted.replace("line 14", "line 15")


@pytest.mark.parametrize("name", ["<string>", "<stdin>"])
def test_a_program_without_a_file_is_told_of(folder, name):
    text = "import gpupy\nfor i in range(3): i += 1\nprint(gpupy.loops())\n"
    given, way = (None, ["-c", text]) if name == "<string>" else (text, ["-"])
    rows = run(folder, "-m", "gpupy", *way, given=given).splitlines()[2:]
    assert rows == [
        f"{name}: 1 loop, 1 would qualify",
        f"  line 2, in <module>: `for i in range(3): i += 1` {SITE}",
    ]


def test_a_program_is_told_of_as_it_was_compiled(folder):
    (folder / "program.py").write_text("open('program.py', 'w').close()\n" + PROGRAM + "print(np.loops())\n")
    assert "program.py: 3 loops, 2 would qualify" in run(folder, "-m", "gpupy", "program.py")


def test_code_that_a_program_makes_is_not_told_of(folder):
    text = "import gpupy\nexec('for i in range(3): pass')\nprint(len(gpupy.loops().loops))\n"
    assert run(folder, "-m", "gpupy", "-c", text) == "0\n"


def test_a_variable_turns_it_off(folder):
    found = run(folder, "-m", "gpupy", "program.py", GPUPY_LOOPS="0")
    assert found == OUTPUT + "GPUPY_LOOPS is `0`: loops are not looked for.\n"
    text = "import gpupy; report = gpupy.loops(); print(report.is_on, report.loops, report.modules)"
    assert run(folder, "-m", "gpupy", "-c", text, GPUPY_LOOPS="0") == "False () ()\n"
    done = subprocess.run(
        [sys.executable, "-c", "import gpupy"],
        env=os.environ | {"GPUPY_LOOPS": "on"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ValueError: GPUPY_LOOPS is `0` or `1`, not `on`" in done.stderr


def test_without_a_program_the_report_says_how_to_run_one(folder):
    found = run(folder, "-c", "import gpupy; print(gpupy.loops())")
    assert "python -m gpupy program.py" in found and found.count("\n") == 1


def test_of_a_program_without_loops_nothing_is_read_before_it_is_asked_for(folder):
    (folder / "program.py").write_text("import sys\nprint('gpupy._loops' in sys.modules)\n")
    assert run(folder, "-m", "gpupy", "program.py") == "False\n"


def test_modules_that_lie_in_archives_or_have_no_source(folder):
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("packed.py", "for i in range(3): pass\n")
    (folder / "compiled.py").write_text("for i in range(3): pass\n")
    text = "import py_compile, sys, os\npy_compile.compile('compiled.py', 'compiled.pyc')\n"
    text += "os.remove('compiled.py')\nsys.path.append('archive.zip')\nimport gpupy, packed, compiled\n"
    text += "class Odd:\n    pass\nsys.modules['odd'] = Odd()\nsys.modules['none'] = None\n"
    found = run(folder, "-m", "gpupy", "-c", text + "print(gpupy.loops())\n")
    assert "packed.py: 1 loop, 1 would qualify\n" in found
    assert "compiled.pyc: its source is not to be had\n" in found


def test_a_module_that_is_loaded_at_its_first_use_is_not_loaded(folder):
    text = "import importlib.util as u, sys, gpupy\nspec = u.find_spec('helper')\n"
    text += "spec.loader = u.LazyLoader(spec.loader)\nmodule = u.module_from_spec(spec)\n"
    text += "sys.modules['helper'] = module\nspec.loader.exec_module(module)\ngpupy.loops()\n"
    text += "print(type(module).__name__)\n"
    assert run(folder, "-m", "gpupy", "-c", text) == "_LazyModule\n"


def test_the_cells_of_a_notebook_are_told_of(monkeypatch):
    cells = ["", "import numpy as np\nfor i in range(3): print(i)", "for i in [1, 2]: pass", "%oops"]
    notebook = types.SimpleNamespace(history_manager=types.SimpleNamespace(input_hist_parsed=cells))
    # Of traced functions of other tests.
    monkeypatch.setattr(entries, "functions", {})
    for given in (notebook, None, types.SimpleNamespace(history_manager=None)):
        texts.note_notebook(given)
        report = gpupy.loops()
        texts.forget_notebook()
        if given is notebook:
            first, second, third = report.modules
            assert [first.file, second.file, third.file] == ["In [1]", "In [2]", "In [3]"]
            assert [loop.qualifies for loop in report.loops] == [False, True]
            assert "SyntaxError" in str(third)
        else:
            assert report.modules == ()
    assert gpupy.loops().modules == ()


# Texts that are no Python, or hardly.
BAD = {
    "a mistake": "for i in x\n    pass\n",
    "no encoding": b"# coding: nothing\nfor i in x: pass\n",
    "another encoding": b"x = '\xe9'\n",
    "zeros": b"x = 0\0\n",
    "nested": "x = " + "(" * 5000 + ")" * 5000,
    "a long sum": "for i in x:\n    y = " + "+".join(["1"] * 100_000),
    "signs": "x = " + "-" * 100_000 + "1",
    "functions that call functions": "".join(f"def f{k}(a): return f{k + 1}(a)\n" for k in range(3000))
    + "def f3000(a): return a\nfor i in x: f0(i)\n",
    "indented": "".join(f"{' ' * k}while 1:\n" for k in range(200)) + " " * 200 + "pass",
    "a surrogate": "for i in x: y = '\udc80'\n",
}


@pytest.mark.parametrize("name", BAD)
def test_a_text_that_cannot_be_read_is_said_in_one_line(name):
    found = loop_report._found("text.py", BAD[name])
    assert found.loops == () and str(found).startswith("text.py: its source cannot be read: ")
    assert "\n" not in str(found)


def test_texts_with_marks_encodings_and_odd_ends_of_lines_are_read():
    loop = "for i in range(3): s = 'é'\r\n"
    given = {
        "mark": b"\xef\xbb\xbf" + loop.encode(),
        "latin": b"# coding: latin-1\r" + loop.encode("latin-1"),
        "form feed": b"x = 1\n\x0c" + loop.encode(),
        "text": loop,
    }
    for name, text in given.items():
        found = loop_report._found(name, text)
        assert "`for i in range(3): s = 'é'` runs in Python, as it has a constant" in str(found), found
    separated = loop_report._found("text.py", "s = 'a\u2028b\x0c'\nfor i in range(3): pass\n")
    assert "line 2, in <module>: `for i in range(3): pass` would qualify" in str(separated)


def test_warnings_of_the_parser_are_not_heard_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = loop_report._found("text.py", "for i in x: s = '\\d' is 3\n")
    assert found.problem is None and len(found.loops) == 1


def test_a_long_line_is_cut():
    text = str(loop_report._found("text.py", f"for i in range({'9' * 100}): pass\n"))
    assert (
        "9…` runs in Python, as it has a constant of type `int`" in text and len(text.splitlines()[1]) < 170
    )


@pytest.mark.parametrize("seed", range(20))
def test_texts_with_random_mistakes_are_read_or_refused(seed):
    rng, whole = random.Random(seed), PROGRAM + HELPER
    for _ in range(100):
        start = rng.randrange(len(whole))
        end = start + rng.choice([1, 3, 20])
        piece = rng.choice(["", " ", "\n", ":", "(", "lambda", "*", "await ", "\t", whole[:end][-30:], "\0"])
        found = loop_report._found("text.py", whole[:start] + piece + whole[end:])
        assert found.problem or found.loops, found
        assert str(found)
