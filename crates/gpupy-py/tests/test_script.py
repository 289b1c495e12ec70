"""`python -m gpupy program.py` runs a NumPy program with gpupy in NumPy's place."""

import subprocess
import sys

import pytest


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "gpupy", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "statement, name",
    [
        ("import numpy", "numpy"),
        ("import numpy as np", "np"),
        ("import numpy.fft", "numpy"),
        ("import sys, numpy as np, os", "np"),
        ("from numpy import *\nimport numpy as np", "np"),
    ],
)
def test_every_way_to_import_numpy_gives_gpupy(tmp_path, statement, name):
    (tmp_path / "program.py").write_text(
        f"{statement}\nprint(type({name}.arange(3)).__module__, {name}.__name__)\n"
    )
    done = run(tmp_path, "program.py")
    assert (done.stdout, done.returncode) == ("gpupy gpupy\n", 0), done.stderr


def test_names_and_submodules_are_gpupys(tmp_path):
    text = "from numpy.fft import fft\nfrom numpy import ones\nimport numpy.linalg as l\n"
    text += "print(fft.__module__, type(ones(2)).__module__, l.__name__)\n"
    (tmp_path / "program.py").write_text(text)
    done = run(tmp_path, "program.py")
    assert done.stdout.split()[1:] == ["gpupy", "gpupy.linalg"], done.stderr


def test_a_program_is_the_main_module_with_its_arguments_and_its_folder(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "helper.py").write_text("import numpy as np\nONES = np.ones(2)\n")
    (folder / "program.py").write_text(
        "import sys, pickle, helper\nclass C: pass\npickle.loads(pickle.dumps(C()))\n"
        "if __name__ == '__main__': print(sys.argv, type(helper.ONES).__module__, __file__)\n"
    )
    done = run(tmp_path, "elsewhere/program.py", "--size", "3")
    # As Python itself: arguments as they were given, an absolute path.
    wanted = f"['elsewhere/program.py', '--size', '3'] gpupy {folder / 'program.py'}\n"
    assert (done.stdout, done.returncode) == (wanted, 0), done.stderr


def test_what_others_import_stays_numpy(tmp_path):
    text = "import importlib, numpy\nKINDS = numpy.__name__, importlib.import_module('numpy').__name__\n"
    for folder in ("program", "library"):
        (tmp_path / folder).mkdir()
    (tmp_path / "program" / "own.py").write_text(text)
    (tmp_path / "library" / "foreign.py").write_text(text)
    (tmp_path / "program" / "program.py").write_text(
        f"import sys; sys.path.append({str(tmp_path / 'library')!r})\n"
        "import numpy as np, fractions, numpy.testing, own, foreign, importlib\n"
        "print(own.KINDS, foreign.KINDS, importlib.import_module('numpy') is np)\n"
    )
    done = run(tmp_path / "program", "program.py")
    assert done.stdout == "('gpupy', 'gpupy') ('numpy', 'numpy') True\n", done.stderr


# Each is an expression whose value is the module that the name of NumPy's is imported as.
MADE = {
    "exec": "made('import numpy as it', globals())",
    "exec of a new namespace": "made('import numpy as it', {})",
    "exec of a namespace with a name": "made('import numpy as it', {'__name__': 'other'})",
    "exec of a module's names": "made('import numpy as it', types.ModuleType('other').__dict__)",
    "exec of compiled code": "made(compile('import numpy as it', 'other.py', 'exec'), {})",
    "from": "made('from numpy import linalg as it', {})",
    "a submodule": "made('import numpy.fft as it', {})",
    "a function": "made('def f():\\n import numpy as n\\n return n\\nit = f()', {})",
    "eval": "eval(\"__import__('numpy')\", {})",
    "the function of imports": "__import__('numpy')",
    "the library's function of imports": "importlib.__import__('numpy')",
    "called by others": "list(map(__import__, ['numpy']))[0]",
    "by name": "importlib.import_module('numpy')",
    "by a relative name": "importlib.import_module('.fft', 'numpy')",
    "by name, in code": "eval('importlib.import_module(\"numpy\")')",
    "a file that is run": "runpy.run_path('made.py')['it']",
    "a file that is run as the program": "runpy.run_path('made.py', run_name='__main__')['it']",
    "a module that is run": "runpy.run_module('made')['it']",
    "code that is timed": "timed('import numpy as it')",
    "a line of an interpreter": "typed('import numpy as it')",
}
MAKERS = """
import code, importlib, runpy, sys, timeit, types

def made(text, names):
    exec(text, names)
    return names["it"]

def timed(text):
    found = []
    timeit.timeit("found.append(it)", text, number=1, globals={"found": found})
    timeit.timeit("assert numpy", "import numpy", number=1)
    return found[0]

def typed(text):
    interpreter = code.InteractiveInterpreter({})
    interpreter.runsource(text)
    return interpreter.locals["it"]
"""


@pytest.mark.parametrize("way", ["file", "module", "code"])
def test_code_that_a_program_makes_while_it_runs_gets_gpupy_and_that_of_others_numpy(tmp_path, way):
    for folder in ("program", "library"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "made.py").write_text("import numpy as it\n")
    own, library = tmp_path / "program", tmp_path / "library"
    asked = "def names(): return [" + ", ".join(f"({made}).__name__" for made in MADE.values()) + "]\n"
    (library / "foreign.py").write_text(MAKERS + asked)
    (own / "own.py").write_text(MAKERS + asked)
    (own / "program.py").write_text(
        MAKERS
        + f"sys.path.append({str(library)!r})\nimport own, foreign\n{asked}"
        + "for found in (names(), own.names(), foreign.names()): print(found)\n"
    )
    given = {"file": ["program.py"], "module": ["-m", "program"]}
    done = run(own, *given.get(way, ["-c", (own / "program.py").read_text()]))
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stderr
    for line, package in zip(lines, ("gpupy", "gpupy", "numpy"), strict=True):
        found = dict(zip(MADE, eval(line), strict=True))
        strays = {name: it for name, it in found.items() if it.partition(".")[0] != package}
        # A file that is run is one of the folder it is run from: the program's.
        runs = {name for name in strays if "run" in name and package == "numpy"}
        assert not strays.keys() - runs, strays


def test_errors_name_the_programs_line_and_its_status_is_pythons(tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\n\nnp.ones(3)[7]\n")
    done = run(tmp_path, "program.py")
    assert done.returncode == 1
    assert 'program.py", line 3' in done.stderr and "IndexError" in done.stderr
    (tmp_path / "leaves.py").write_text("raise SystemExit(7)\n")
    assert run(tmp_path, "leaves.py").returncode == 7


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    done = run(tmp_path, "nothing.py")
    assert done.returncode == 2
    assert done.stderr == "python -m gpupy: cannot read `nothing.py`: No such file or directory\n"


def test_a_view_by_the_class_of_arrays_of_what_a_library_gives_is_ours_over_the_same_memory(tmp_path):
    text = "import numpy as np, tempfile\nwith tempfile.NamedTemporaryFile() as file:\n"
    text += "    map = np.memmap(file.name, dtype=float, mode='w+', shape=(3,))\n"
    text += "    view = map.view(np.ndarray)\n    view[0] = 5\n"
    text += "    print(type(view) is np.ndarray, map[0] == 5, (view + 1).tolist())\n"
    text += "matrix = np.asmatrix([[1.0, 2.0]])\n"
    text += "print(matrix.view(type=np.ndarray).tolist(), np.arange(2.0).view(np.int64).dtype)\n"
    text += "print(np.arange(2).view(np.ndarray).base is None)\n"
    text += "records = np.rec.array([(1, 2.0)], dtype=[('a', 'i4'), ('b', 'f8')])\n"
    text += "view = records.view(np.ndarray)\nview['a'] = 7\n"
    text += "read = np.asmatrix(np.frombuffer(bytes(8))).view(np.ndarray)\n"
    text += "print(type(view) is np.ndarray is type(read), records.a, read.flags.writeable)\n"
    (tmp_path / "program.py").write_text(text)
    done = run(tmp_path, "program.py")
    wanted = "True True [6.0, 1.0, 1.0]\n[[1.0, 2.0]] int64\nFalse\nTrue [7] False\n"
    assert done.stdout == wanted, done.stderr


def test_a_class_of_the_program_gives_arrays_to_code_in_c(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "library.py").write_text("import numpy\ndef total(x): return float(numpy.asarray(x).sum())\n")
    text = f"import sys; sys.path.insert(1, {str(site)!r})\nimport library\nimport numpy as np\n"
    text += "class Own:\n    def __array__(self, dtype=None, copy=None):\n        'Words.'\n"
    text += "        return np.arange(4.0)\n"
    text += "print(library.total(Own()), type(np.asarray(Own())) is np.ndarray, Own.__array__.__doc__)\n"
    program = tmp_path / "program"
    program.mkdir()
    (program / "main.py").write_text(text)
    done = run(program, "main.py")
    assert done.stdout == "6.0 True Words.\n", done.stderr


PROGRAMS_THAT_FAIL = {
    "in a function": "import numpy as np\ndef f(x):\n    return x[5]\nf(np.ones(3))\n",
    "one after another": "try:\n    {}[1]\nexcept KeyError as error:\n    raise ValueError(2) from error\n",
    "no Python": "x = (1,\n",
    "no Python elsewhere": "import ast\nast.parse('x = (')\n",
    "in an import": "import json\njson.loads('{')\n",
    "an exit": "raise SystemExit('ends')\n",
    "a group": "raise ExceptionGroup('several', [ValueError(1), KeyError(2)])\n",
    "its own way": "import sys\nsys.excepthook = lambda kind, *more: print(kind, file=sys.stderr)\n1/0\n",
    "in a thread": "import threading\nthreading.excepthook = lambda it: print(it.exc_type)\n"
    "one = threading.Thread(target=lambda: 1/0)\none.start()\none.join()\n",
}


@pytest.mark.parametrize("name", PROGRAMS_THAT_FAIL)
def test_an_error_that_ends_a_program_is_shown_as_by_python(tmp_path, name):
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS_THAT_FAIL[name])
    done = run(tmp_path, str(path))
    wanted = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout) == (wanted.stderr, wanted.stdout)
    assert done.returncode == wanted.returncode


def test_an_error_in_a_text_or_a_module_begins_with_its_line(tmp_path):
    (tmp_path / "named.py").write_text("1 / 0\n")
    for way, first in (("-c", '"<string>", line 1'), ("-m", 'named.py", line 1')):
        lines = run(tmp_path, way, "1 / 0" if way == "-c" else "named").stderr.splitlines()
        assert lines[0] == "Traceback (most recent call last):" and first in lines[1]
        assert lines[-1] == "ZeroDivisionError: division by zero"
