"""What a stranger does with a wheel, in an environment that has nothing else: ``trial.py README``.

Runs the README's program by the module that is installed and by NumPy, and times the import. Invariant: gpupy
is imported from the environment, not from a checkout. Not here: the environment (``wheel_trial.rs``).
"""

import pathlib
import re
import statistics
import subprocess
import sys
import time

_IMPORTS = 5


def seconds(program: str) -> float:
    """The median of a few starts of Python with a program."""
    times = []
    for _ in range(_IMPORTS):
        start = time.perf_counter()
        said(program)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def said(program: str) -> str:
    """What a program prints."""
    command = [sys.executable, "-I", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Ends with words where something is not as it should be."""
    place = said("import gpupy; print(gpupy.__file__)").strip()
    if not place.startswith(sys.prefix):
        sys.exit(f"gpupy was imported from {place}")
    readme = pathlib.Path(sys.argv[1]).read_text("utf-8")
    program = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    ours, numpys = said(program), said(program.replace("import gpupy as", "import numpy as"))
    if not ours or ours != numpys:
        sys.exit(f"the README's program prints {ours!r}, with NumPy {numpys!r}")
    print("   the README's program:", ours, end="")
    numpy, gpupy = seconds("import numpy"), seconds("import gpupy")
    print(f"   a start with `import gpupy`: {gpupy:.2f} s, with `import numpy`: {numpy:.2f} s")


if __name__ == "__main__":
    main()
