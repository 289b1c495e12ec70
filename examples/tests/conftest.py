"""Shared by the tests of the examples: starts a program like a user."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture
def start(tmp_path):
    """Starts Python with some arguments in a folder of its own, and returns what it printed."""

    def run(*arguments, **variables):
        done = subprocess.run(
            [sys.executable, *(str(argument) for argument in arguments)],
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
