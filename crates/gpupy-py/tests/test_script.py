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
