"""Interpreters beside the main one are refused in one line, and hang nothing."""

import importlib.util

import pytest
from apart import run

WAYS = {
    "_xxsubinterpreters": "import _xxsubinterpreters as subs; number = subs.create(); "
    "subs.run_string(number, {code!r})",
    "_interpreters": "import _interpreters as subs; number = subs.create(); subs.exec(number, {code!r})",
    "_testcapi": "import _testcapi; _testcapi.run_in_subinterp({code!r})",
}

# The other interpreter's error goes to the output, which the two share.
TRIED = """
import os, sys
sys.path[:] = {path!r}
try:
    import gpupy
    print((gpupy.arange(10**6) * 2.5 + 1).sum())
except ImportError as error:
    os.write(1, (str(error) + "\\n").encode())
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", ["", "print(float(gpupy.arange(5.).sum()))"])
def test_another_interpreter_is_refused_and_the_main_one_goes_on(way, first):
    if importlib.util.find_spec(way) is None:
        pytest.skip("this Python has no such module")
    words = "gpupy does not support sub-interpreters: import it in the main interpreter"
    tried = WAYS[way].replace("{code!r}", "TRIED.format(path=sys.path)")
    setup = f"import os, sys\nTRIED = {TRIED!r}\n"
    after = "sys.stdout.flush(); print(float((gpupy.arange(10**6) * 2.5).sum()))"
    # Before the main interpreter has imported it, and after.
    if first:
        found = run(f"{first}\nsys.stdout.flush()\n{tried}\n{after}", "cpu", setup=setup)
        assert " ".join(found) == f"10.0 {words} 1249998750000.0"
    else:
        found = run(after, "cpu", first=f"{setup}{tried}\n")
        assert " ".join(found) == f"{words} 1249998750000.0"
