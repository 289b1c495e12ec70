"""Programs run unmodified: `python -m gpupy -m MODULE`, `-c`, `-`, and `gpupy.install()` at their top.

Not here: `python -m gpupy program.py` (`test_script.py`).
"""

import os
import subprocess
import sys

import pytest

import gpupy
from gpupy._program import imports


def run(folder, *arguments, given=None):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, input=given)


def on_gpupy(folder, *arguments, given=None):
    return run(folder, "-m", "gpupy", *arguments, given=given)


# The array library behind a name: the module of its arrays' class.
SAYS = "print(type(np.ones(2)).__module__)"


def test_a_module_of_the_folder_runs_with_its_arguments_as_the_main_one(tmp_path):
    (tmp_path / "helper.py").write_text("import numpy\nONES = numpy.ones(2)\n")
    (tmp_path / "program.py").write_text(
        "import sys, pickle, helper\nimport numpy as np\nclass C: pass\npickle.loads(pickle.dumps(C()))\n"
        f"{SAYS}\nif __name__ == '__main__': print(type(helper.ONES).__module__, sys.argv, __spec__.name)\n"
    )
    done = on_gpupy(tmp_path, "-m", "program", "--size", "3")
    wanted = f"gpupy\ngpupy {[str(tmp_path / 'program.py'), '--size', '3']} program\n"
    assert (done.stdout, done.returncode) == (wanted, 0), done.stderr
    plain = run(tmp_path, "-m", "program", "--size", "3")
    assert plain.stdout == wanted.replace("gpupy", "numpy"), plain.stderr


def test_arrays_that_libraries_give_are_instances_to_the_programs_own_code(tmp_path):
    site = tmp_path / "site"
    (site).mkdir()
    (site / "library.py").write_text(
        "import numpy\ndef give(): return numpy.ones(2)\ndef asks(x, kind): return isinstance(x, kind)\n"
    )
    own = "import sys; sys.path.insert(1, SITE)\nimport library\nimport numpy as np\nx = library.give()\n"
    own += "print(isinstance(x, np.ndarray), issubclass(type(x), np.ndarray), isinstance([], np.ndarray))\n"
    own += "print(isinstance(np.ones(2), np.ndarray), type(np.ones(2)) is np.ndarray)\n"
    own += "print(library.asks(x, np.ndarray), library.asks(np.ones(2), np.ndarray), type(x).__module__)\n"
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "main.py").write_text(own.replace("SITE", repr(str(site))))
    done = on_gpupy(tmp_path / "program", "main.py")
    assert done.stdout == "True True False\nTrue True\nFalse True numpy\n", done.stderr
    plain = run(tmp_path, "-c", "import gpupy, numpy; print(isinstance(numpy.ones(2), gpupy.ndarray))")
    assert plain.stdout == "False\n", plain.stderr


def test_the_version_is_numpys_to_the_program_and_gpupys_to_others(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "library.py").write_text("import gpupy\nSAYS = gpupy.__version__\n")
    program = f"import sys; sys.path.insert(1, {str(site)!r})\nimport library\nimport numpy as np\n"
    program += "from numpy import __version__\nprint(np.__version__, __version__, library.SAYS)\n"
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "main.py").write_text(program)
    done = on_gpupy(tmp_path / "program", "main.py")
    numpys = gpupy.version.version
    assert done.stdout == f"{numpys} {numpys} {gpupy.__version__}\n", done.stderr


def test_pythons_own_modules_ask_for_the_program(tmp_path):
    (tmp_path / "program.py").write_text(
        "import unittest\nimport numpy as np\nclass Test(unittest.TestCase):\n"
        "    def test_one(self):\n"
        "        self.assertIsInstance(np.matrix([1]).A1.__array__(), np.ndarray)\n"
        "        self.assertNotIsInstance([], np.ndarray)\n"
        "        self.assertIsInstance(np.ma.getdata(np.ma.array([1])), np.ndarray)\n"
        "unittest.main()\n"
    )
    done = on_gpupy(tmp_path, "program.py")
    assert done.returncode == 0, done.stderr


def test_only_a_class_of_classes_can_be_that_of_arrays():
    for kind in (int, object):
        with pytest.raises(TypeError):
            gpupy._gpupy.give_kind(kind)
    assert type(gpupy.ndarray) is type


def test_a_package_runs_by_its_main_module_with_relative_imports(tmp_path):
    package = tmp_path / "tool"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("import numpy as np\nKIND = type(np.ones(1)).__module__\n")
    (package / "__main__.py").write_text(
        "import sys\nfrom .inner import KIND\nprint(KIND, __package__)\nsys.exit(3)"
    )
    done = on_gpupy(tmp_path, "-m", "tool")
    assert (done.stdout, done.returncode) == ("gpupy tool\n", 3), done.stderr


def test_a_package_that_was_installed_is_the_program_where_it_is_named(tmp_path):
    site = tmp_path / "lib" / "site-packages"
    for name in ("tool", "library"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("import numpy as np\nKIND = type(np.ones(1)).__module__\n")
    (site / "tool" / "__main__.py").write_text("import tool, library\nprint(tool.KIND, library.KIND)\n")
    code = f"import sys; sys.path.insert(1, {str(site)!r})\nfrom gpupy._program import running\n"
    code += "import sysconfig; paths = sysconfig.get_paths()\n"
    code += f"sysconfig.get_paths = lambda: {{**paths, 'purelib': {str(site)!r}}}\n"
    done = run(tmp_path, "-c", f"{code}running.module('tool', [])")
    assert done.stdout == "gpupy numpy\n", done.stderr


def test_tests_of_the_program_run_by_pytest_and_leave_nothing_behind_for_numpys(tmp_path):
    (tmp_path / "code_of_ours.py").write_text("import numpy as np\ndef ones():\n    return np.ones(2)\n")
    (tmp_path / "conftest.py").write_text("import numpy, pytest\n@pytest.fixture\ndef np(): return numpy\n")
    (tmp_path / "test_kinds.py").write_text(
        "import os, numpy, code_of_ours\n"
        "def test_kind(np):\n"
        "    kinds = {type(a).__module__ for a in (np.ones(1), numpy.ones(1), code_of_ours.ones())}\n"
        "    assert kinds == {os.environ['WANTED']}\n"
    )
    for start, wanted in (["-m", "gpupy", "-m", "pytest"], "gpupy"), (["-m", "pytest"], "numpy"):
        done = subprocess.run(
            [sys.executable, *start, "-q", "-p", "no:cacheprovider"],
            cwd=tmp_path,
            env={**os.environ, "WANTED": wanted},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def test_tests_elsewhere_are_the_programs_where_its_arguments_name_them(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    test = tmp_path / "there" / "test_kind.py"
    test.write_text("import numpy\ndef test_kind(): assert type(numpy.ones(1)).__module__ == 'gpupy'\n")
    done = on_gpupy(tmp_path / "here", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{test}::test_kind")
    assert done.returncode == 0, done.stdout


def test_a_program_inside_one_of_pythons_own_modules_runs(tmp_path):
    (tmp_path / "program.py").write_text(f"import numpy as np\n{SAYS}\n")
    done = on_gpupy(tmp_path, "-m", "cProfile", "program.py")
    assert done.stdout.startswith("gpupy\n") and "function calls" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["nothing", "nothing.inside", "json.nothing"])
def test_a_module_that_is_not_there_is_one_line(tmp_path, name):
    done = on_gpupy(tmp_path, "-m", name)
    assert done.stderr == f"python -m gpupy: no module named `{name}` that can be run\n"
    assert (done.stdout, done.returncode) == ("", 1)


def test_an_error_inside_a_module_is_its_own(tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\n\nnp.ones(3)[7]\n")
    done = on_gpupy(tmp_path, "-m", "program")
    assert done.returncode == 1 and 'program.py", line 3' in done.stderr and "IndexError" in done.stderr


def test_a_text_runs_as_python_runs_it(tmp_path):
    text = f"import sys, numpy as np\n{SAYS}\nprint(sys.argv, __name__, repr(sys.path[0]))"
    for start in (["-c", text], ["-"]):
        given = text if start == ["-"] else None
        done, plain = (f(tmp_path, *start, "a", "-b", given=given) for f in (on_gpupy, run))
        assert done.returncode == 0, done.stderr
        assert done.stdout == plain.stdout.replace("numpy", "gpupy", 1)


def test_what_is_wanted_behind_a_letter_is_said(tmp_path):
    for letter, words in ("-m", "the name of a module"), ("-c", "a program"):
        done = on_gpupy(tmp_path, letter)
        assert (done.stderr, done.returncode) == (f"python -m gpupy: `{letter}` wants {words} behind it\n", 2)


def test_the_versions_are_told(tmp_path):
    done = on_gpupy(tmp_path, "--version")
    version = sys.version.split()[0]
    assert done.stdout == f"gpupy {gpupy.__version__}, NumPy {gpupy.version.version}, Python {version}\n"


STATEMENTS = {
    "import numpy": "numpy",
    "import numpy as np": "np",
    "import numpy.fft": "numpy",
    "import numpy._core": "numpy",
    "from numpy import *\nimport numpy as np": "np",
    "def f():\n    import numpy as np\n    return np\nnp = f()": "np",
    "import importlib\nnp = importlib.import_module('numpy')": "np",
    "np = __import__('numpy')": "np",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_after_install_every_import_of_the_programs_own_gives_gpupy(tmp_path, statement):
    name = STATEMENTS[statement]
    program = (
        f"import gpupy; gpupy.install()\n{statement}\n{SAYS.replace('np', name)}\nprint({name}.__name__)\n"
    )
    (tmp_path / "program.py").write_text(program)
    done = run(tmp_path, "program.py")
    assert done.stdout == "gpupy\ngpupy\n", done.stderr


def test_after_install_names_and_submodules_are_gpupys(tmp_path):
    (tmp_path / "program.py").write_text(
        "import gpupy; gpupy.install()\nfrom numpy.fft import fft\nfrom numpy import ones, linalg\n"
        "import numpy.random as r\n"
        "print(fft.__module__, type(ones(2)).__module__, linalg.__name__, r.__name__)\n"
    )
    done = run(tmp_path, "program.py")
    assert done.stdout.split()[1:] == ["gpupy", "gpupy.linalg", "gpupy.random"], done.stderr


def test_after_install_libraries_keep_numpy(tmp_path):
    program = tmp_path / "program"
    library = tmp_path / "libraries"
    for folder in (program, library):
        folder.mkdir()
    text = "import importlib, numpy\nKINDS = numpy.__name__, importlib.import_module('numpy').__name__\n"
    (program / "own.py").write_text(text)
    (library / "foreign.py").write_text(text)
    (program / "program.py").write_text(
        f"import sys; sys.path.append({str(library)!r})\nimport gpupy; gpupy.install()\n"
        "import own, foreign, numpy.testing\nprint(own.KINDS, foreign.KINDS)\n"
    )
    done = run(program, "program.py")
    assert done.stdout == "('gpupy', 'gpupy') ('numpy', 'numpy')\n", done.stderr


def test_modules_outside_of_the_program_that_keep_numpy_are_said_once_for_each_folder(tmp_path):
    program, outside = tmp_path / "program", tmp_path / "outside"
    for folder in (program, outside, outside / "package"):
        folder.mkdir()
    (program / "own.py").write_text("import numpy\n")
    for name in ("first.py", "second.py", "package/__init__.py", "package/inner.py"):
        (outside / name).write_text("import numpy\nimport numpy.linalg\n")
    (outside / "by_name.py").write_text("import importlib\nimportlib.import_module('numpy')\n")
    (outside / "private.py").write_text("import numpy._core\n")
    begin = f"import sys; sys.path.append({str(outside)!r})\nimport gpupy; gpupy.install()\n"
    for names, told in [
        ("first, second", ["first.py"]),
        ("package.inner, second", ["package/__init__.py", "second.py"]),
        ("by_name", ["by_name.py"]),
        ("private, json", []),
    ]:
        (program / "program.py").write_text(f"{begin}import numpy, own, {names}\n")
        for command in (["program.py"], ["-m", "gpupy", "program.py"]):
            done = run(program, *command)
            said = [line for line in done.stderr.splitlines() if "UserWarning" in line]
            assert done.returncode == 0 and len(said) == len(told), done.stderr
            for name, line in zip(told, said, strict=True):
                assert line.startswith(f"{outside / name}:") and f"`{outside / name}` keeps NumPy" in line


def test_a_program_may_lie_in_the_folder_of_its_environment(tmp_path):
    own = imports.Own()
    own.add(str(tmp_path))
    inside = {"__name__": "m", "__file__": str(tmp_path / "deep" / "m.py")}
    assert own.has(inside)
    assert not own.has({"__name__": "m", "__file__": os.__file__})
    assert not own.has({"__name__": "m"}) and not own.has(None) and not own.has({"__name__": "__main__"})
    own.main = True
    assert own.has({"__name__": "__main__"})
    own.add(os.path.dirname(os.path.dirname(os.__file__)))
    assert not own.has({"__name__": "m", "__file__": os.__file__})
    # gpupy itself, and NumPy, even where the program lies around them.
    for file in (imports.__file__, imports.np.__file__):
        own.add(os.path.dirname(os.path.dirname(file)))
        assert not own.has({"__name__": "m", "__file__": file})


def test_nothing_of_python_is_replaced_before_install():
    program = "import builtins, importlib; before = builtins.__import__, importlib.import_module\n"
    program += "import gpupy; print(before == (builtins.__import__, importlib.import_module))"
    assert run(None, "-c", program).stdout == "True\n"


def test_cells_of_ipython_get_gpupy_until_it_is_unloaded(tmp_path):
    pytest.importorskip("IPython")
    cells = f"%load_ext gpupy\nimport numpy as np\n{SAYS}\n%unload_ext gpupy\nimport numpy as np\n{SAYS}\n"
    (tmp_path / "cells.ipy").write_text(cells)
    command = [
        "-m",
        "IPython",
        "--quick",
        "--no-banner",
        "--colors=NoColor",
        "--HistoryManager.enabled=False",
    ]
    done = run(tmp_path, *command, "cells.ipy")
    assert done.stdout.split() == ["gpupy", "numpy"], (done.stdout, done.stderr)
