"""What a stranger does with a wheel, on the Python that runs this: ``trial.py WHEEL``.

Owns the environment, which has nothing but the wheel, what it asks for, and later the tools of the tests.
Invariant: nothing is imported from the checkout, whose tests are copied out of it. Not here: what is in the
wheel (``contents.py``), and on which Pythons it is tried (``wheel_trial.rs`` and the workflow).
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv

ROOT = pathlib.Path(__file__).parents[2]
_PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)
_IMPORTS = 5

# Tests that need nothing of the checkout but themselves, on drivers that every machine has.
_TESTS = ("test_creation.py", "test_reduce.py", "test_views.py")
_DRIVERS = "not gl- and not vulkan- and not wgpu-"
_TOOLS = ("pytest", "pytest-xdist", "hypothesis")


class Environment:
    """An environment made anew, in a folder of its own."""

    def __init__(self, place: pathlib.Path) -> None:
        self.place = place
        venv.create(place, with_pip=True)
        self._programs = place / ("Scripts" if os.name == "nt" else "bin")
        # Of the caller's environment no module may be found.
        self._variables = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}

    def run(self, program: str, *arguments: str, folder: str = ".") -> None:
        """Runs a program of the environment, whose output is shown; where it fails, so does the trial."""
        print("   $", program, *arguments, flush=True)
        command = [self._programs / program, *arguments]
        subprocess.run(command, cwd=self.place / folder, env=self._variables, check=True)

    def said(self, program: str) -> str:
        """What Python prints for a program."""
        command = [self._programs / "python", "-c", program]
        done = subprocess.run(
            command, cwd=self.place, env=self._variables, stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout

    def seconds(self, program: str) -> float:
        """The median of a few starts of Python with a program."""
        times = []
        for _ in range(_IMPORTS):
            start = time.perf_counter()
            self.said(program)
            times.append(time.perf_counter() - start)
        return statistics.median(times)


def trial(wheel: str, fresh: Environment) -> None:
    """Ends with words where something is not as it should be."""
    start = time.perf_counter()
    fresh.run("python", "-m", "pip", "install", "--quiet", wheel)
    program = _PROGRAM.search((ROOT / "README.md").read_text("utf-8"))[1]
    ours = fresh.said(program)
    print(f"   {time.perf_counter() - start:.1f} s from `pip install` to the README's result: {ours}", end="")
    numpys = fresh.said(program.replace("import gpupy as", "import numpy as"))
    if not ours or ours != numpys:
        sys.exit(f"the README's program prints {ours!r}, with NumPy {numpys!r}")
    numpy, gpupy = fresh.seconds("import numpy"), fresh.seconds("import gpupy")
    print(f"   a start with `import gpupy`: {gpupy:.2f} s, with `import numpy`: {numpy:.2f} s")
    fresh.run("gpupy", "info")
    fresh.run("gpupy", "cache", "info")
    (fresh.place / "program.py").write_text("import numpy\nprint(type(numpy.ones(9)))\n")
    fresh.run("gpupy", "program.py")
    fresh.run("python", "-m", "pip", "install", "--quiet", *_TOOLS, f"gpupy-array[ml-dtypes] @ {uri(wheel)}")
    tests = fresh.place / "tests"
    tests.mkdir()
    for file in (ROOT / "crates/gpupy-py/tests").glob("*.py"):
        shutil.copy(file, tests)
    options = ("-q", "-n", "2", "-p", "no:cacheprovider", "-k", _DRIVERS)
    fresh.run("python", "-m", "pytest", *options, *_TESTS, folder="tests")


def uri(wheel: str) -> str:
    """A file as requirements name it."""
    return pathlib.Path(wheel).resolve().as_uri()


def main() -> None:
    """Tries the wheel in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="gpupy-trial-") as place:
        # A relative path would be looked for in there.
        trial(str(pathlib.Path(sys.argv[1]).resolve()), Environment(pathlib.Path(place)))


if __name__ == "__main__":
    main()
