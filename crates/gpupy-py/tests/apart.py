"""Runs programs in an interpreter of their own, which must not hang."""

import os
import subprocess
import sys
import textwrap

import pytest

import gpupy

# The longest that any program of a test may take; on a busy machine a hundred times what it does.
LIMIT = 60

STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]

on_each_driver = pytest.mark.parametrize("name", STARTING)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

# A program that hangs shows where, in each of its threads.
PROLOGUE = f"""
import faulthandler, signal
# In the background of a script it is ignored, and what a program starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
faulthandler.dump_traceback_later({LIMIT}, exit=True)
import gpupy, numpy
"""


def start(code, name, *options, first="", setup="", **more):
    """Starts a program on the driver `name`: `first` goes before gpupy is imported, `more` is environment."""
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path, "GPUPY_DRIVER": name, **more}
    return subprocess.Popen(
        [sys.executable, *options, "-c", first + PROLOGUE + setup + textwrap.dedent(code)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(program):
    """The output of a program that ends well and prints no errors."""
    out, err = program.communicate(timeout=2 * LIMIT)
    assert (program.returncode, err) == (0, ""), out
    return out.split()


def run(code, name, *options, **more):
    """The output of a program; the arguments are those of `start`."""
    return output(start(code, name, *options, **more))
