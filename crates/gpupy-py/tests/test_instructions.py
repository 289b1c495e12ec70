"""Stored counts of instructions are complete, and 5 % more is an error. Nothing is counted here."""

import importlib.util
import pathlib

import pytest

from gpupy._bench import small

PATH = pathlib.Path(__file__).resolve().parents[3] / "benches" / "instructions.py"


@pytest.fixture(scope="module")
def instructions():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("instructions", PATH)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize(
    "found, right, said",
    [
        ({"a": 1000, "b": 2000}, True, "2 operations counted, of which none need too many"),
        ({"a": 1050, "b": 2000}, True, "2 operations counted"),
        ({"a": 1051, "b": 2000}, False, "a: 1051 instructions, 5.1% more than the 1000 kept"),
        ({"a": 900, "b": 2000}, True, "a: 900 instructions, 10.0% fewer than the 1000 kept"),
        ({"a": 1000, "c": 1}, False, "c: 1 instructions, and none are kept"),
    ],
)
def test_five_per_cent_more_than_what_is_kept_is_an_error(instructions, capsys, found, right, said):
    assert instructions.compare({"a": 1000, "b": 2000}, found) is right
    assert said in capsys.readouterr().out


def test_without_valgrind_all_counts_are_skipped_and_said_so(instructions, capsys, monkeypatch):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["instructions.py"])
    assert instructions.main() == 0
    number = len(small.EXPRESSIONS) + len(small.STATEMENTS)
    assert f"skipped: {number} counts of instructions" in capsys.readouterr().out


def test_the_total_of_callgrinds_file_is_read(instructions, tmp_path):
    path = tmp_path / "counts.1"
    path.write_text("events: Ir\nsummary: 7\n\nfn=(1)\n0 5\ntotals: 12345\n")
    assert instructions.total(path) == 12345


def test_a_count_is_kept_of_each_operation(instructions):
    kept = instructions.json.loads(instructions.KEPT.read_text())
    assert kept
    for counts in kept.values():
        assert list(counts) == instructions.operations()
