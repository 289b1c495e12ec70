"""Stored counts of instructions are complete, and 8 % more is an error. Nothing is counted here."""

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
        ({"a": [1000, 3000], "b": [2000, 2000]}, True, "2 operations counted, of which none need too many"),
        ({"a": [1080, 3840], "b": [2000, 2000]}, True, "2 operations counted"),
        (
            {"a": [1081, 3000], "b": [2000, 2000]},
            False,
            "a: 1081 instructions of its own, 8.1% more than the 1000",
        ),
        (
            {"a": [1000, 3841], "b": [2000, 2000]},
            False,
            "a: 3841 instructions of all, 28.0% more than the 3000 kept",
        ),
        (
            {"a": [900, 3000], "b": [2000, 2000]},
            True,
            "a: 900 instructions of its own, 10.0% fewer than the 1000",
        ),
        ({"a": [1000, 3000], "c": [1, 1]}, False, "c: 1 instructions, and none are kept"),
    ],
)
def test_eight_per_cent_more_than_what_is_kept_is_an_error(instructions, capsys, found, right, said):
    assert instructions.compare({"a": [1000, 3000], "b": [2000, 2000]}, found) is right
    assert said in capsys.readouterr().out


def test_without_valgrind_all_counts_are_skipped_and_said_so(instructions, capsys, monkeypatch):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["instructions.py"])
    assert instructions.main() == 0
    number = len(small.EXPRESSIONS) + len(small.STATEMENTS)
    assert f"skipped: {number} counts of instructions" in capsys.readouterr().out


FILE = """events: Ir
summary: 7

ob=(2) /usr/lib/libc.so.6
fl=(1) ???
fn=(1) malloc
0 5
+3 6

ob=(1) /elsewhere/MODULE
fn=(2) add
0 100
cob=(2)
cfn=(1)
calls=3 0
0 1000
* 10
cob=(3) /usr/bin/python3.11
cfn=(3) of_python
calls=1 0
* 2000

ob=(3)
fn=(3)
0 30
totals: TOTAL
"""


def test_instructions_are_told_apart_by_the_file_of_their_code(instructions, tmp_path):
    path = tmp_path / "counts.1"
    path.write_text(FILE.replace("MODULE", instructions.MODULE).replace("TOTAL", "151"))
    assert instructions.of_file(path) == (110, 151)
    path.write_text(FILE.replace("MODULE", instructions.MODULE).replace("TOTAL", "152"))
    with pytest.raises(SystemExit, match="has 152 instructions, of which 151 were read"):
        instructions.of_file(path)


def test_what_is_kept_has_a_line_for_each_operation(instructions):
    kept = {"Python": {"x + y": [1, 2], "x[3]": [3, 4]}, "PyPy": {"x": [5, 6]}}
    assert instructions.json.loads(instructions.text(kept)) == kept
    assert '\n  "x[3]": [3, 4]\n' in instructions.text(kept)


def test_a_count_is_kept_of_each_operation(instructions):
    kept = instructions.json.loads(instructions.KEPT.read_text())
    assert kept
    for counts in kept.values():
        assert list(counts) == instructions.operations()
