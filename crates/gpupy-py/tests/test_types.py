"""The stubs describe dictionaries correctly, which stubtest does not check, and typed programs run."""

import ast
import pathlib
import subprocess
import sys

import pytest

import gpupy

HERE = pathlib.Path(__file__).parent
PROGRAMS = sorted(path.name for path in (HERE / "typing").glob("*.py") if path.name != "wrong.py")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_without_an_error_of_types_runs(name):
    subprocess.run([sys.executable, HERE / "typing" / name], check=True, capture_output=True, timeout=300)


def fields(stub, name):
    """The names that a class of a stub declares."""
    tree = ast.parse((pathlib.Path(gpupy.__file__).parent / stub).read_text())
    kind = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.target.id for node in kind.body if isinstance(node, ast.AnnAssign)}


def test_the_stub_of_a_driver_has_every_key():
    declared = fields("_gpupy.pyi", "_Driver")
    assert all(driver.keys() == declared for driver in gpupy.drivers())


def test_the_counts_that_are_attributes_are_declared():
    # A dictionary has `values` itself.
    counts = {name for name in gpupy.stats() if not hasattr(dict, name)}
    assert fields("_program/drivers.py", "Stats") == counts
    tables = {"drivers", "groups", "fallback_sites", "flushes_not_kept"}
    assert all(type(gpupy.stats()[name]) is int for name in counts - tables)
