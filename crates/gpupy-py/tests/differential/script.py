"""A program as a Python script that shows the results of NumPy and gpupy."""

_BEFORE = """\
import warnings
import numpy
import gpupy

warnings.simplefilter("ignore")
{opening}

def run(np):
"""
_LINE = """\
    try:
        {text}
    except Exception as error:
        print({text!r}, "->", repr(error))
"""
_AFTER = """\
    for name, value in sorted(locals().items()):
        print(name, repr(value))

run(numpy)
run(gpupy)
"""


def script(program, at, opening=""):
    """The lines up to the one at ``at`` behind ``opening``: refusals are caught, results printed."""
    body = [_LINE.format(text=line.text) for line in program.lines[: at + 1]]
    return "".join([_BEFORE.format(opening=opening), *body, _AFTER])
