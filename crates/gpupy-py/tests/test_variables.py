"""A mistyped variable of the environment, or a device that is not there, is said once."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import gpupy
from gpupy._session import variables

WORK = "import gpupy as np\nfor _ in range(3): assert (np.arange(100000.0) * 2).sum() > 0\n"


def said(**variables):
    """The warnings on standard error of a program under these variables, one a line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUPY_")}
    command = [sys.executable, "-W", "always", "-c", WORK]
    done = subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, check=True, timeout=120
    )
    return [line.partition("UserWarning: ")[2] for line in done.stderr.splitlines() if "UserWarning" in line]


def test_a_mistyped_variable_is_said_once_with_the_one_that_is_alike():
    assert said(GPUPY_DRIVERS="cpu") == [
        "gpupy reads no variable `GPUPY_DRIVERS`; did you mean `GPUPY_DRIVER`?"
    ]
    (words,) = said(GPUPY_ZZZ="1")
    assert words.startswith("gpupy reads no variable `GPUPY_ZZZ`; there are GPUPY_BLOCK_BYTES, ")


def test_the_variables_that_are_read_are_known():
    assert said(GPUPY_DRIVER="cpu", GPUPY_TRACE="0", GPUPY_THREADS="1", GPUPY_DIFFERENTIAL="3") == []
    page = (pathlib.Path(__file__).parents[3] / "docs/environment.md").read_text()
    assert set(re.findall(r"^\| `(GPUPY_\w+)` \|", page, re.MULTILINE)) == variables.VARIABLES


def test_every_count_is_on_the_page_of_the_environment_and_no_other():
    page = (pathlib.Path(__file__).parents[3] / "docs/environment.md").read_text().partition("## Counts")[2]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(gpupy.stats())


@pytest.mark.parametrize("name", ["cpu", "soft"])
def test_a_device_is_said_once_where_the_driver_has_none_to_choose_from(name):
    (words,) = said(GPUPY_DRIVER=name, GPUPY_DEVICE="nvidia")
    assert words.startswith(f"GPUPY_DEVICE is `nvidia`, and driver `{name}` has no devices to choose from; ")


def test_a_driver_that_is_not_there_is_an_error_that_names_those_that_are():
    command = [sys.executable, "-c", WORK]
    done = subprocess.run(
        command, env=os.environ | {"GPUPY_DRIVER": "cpuu"}, capture_output=True, text=True, check=False
    )
    assert "ValueError: there is no driver `cpuu`; choose one of `cpu`, " in done.stderr
