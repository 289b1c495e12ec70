"""The page of which functions are recorded is as the module is, and names each function."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "coverage.md").read_text()
SERIES = PAGE.split("with NumPy ")[1].split(" ")[0]


@pytest.mark.skipif(not np.__version__.startswith(SERIES + "."), reason=f"the page is of NumPy {SERIES}")
def test_the_page_is_as_it_would_be_written():
    write = REPOSITORY / "crates" / "gpupy-py" / "coverage" / "write.py"
    subprocess.run([sys.executable, str(write), "--check"], check=True)


def test_at_least_so_many_functions_compute_nothing_in_numpy():
    rows = [line for line in PAGE.split("## Ufuncs")[0].splitlines() if line.startswith("| `")]
    ours = [row for row in rows if row.endswith("| recorded |") or row.endswith("| computes nothing |")]
    assert len(rows) >= 280 and len(ours) >= 250
    assert sum(row.endswith("| recorded |") for row in rows) >= 190


def test_each_name_of_numpys_namespace_is_in_the_page():
    assert not [name for name in np.__all__ if f"`{name}`" not in PAGE]
