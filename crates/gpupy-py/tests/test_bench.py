"""`python -m gpupy bench`: its options, its files, and that nothing wrong goes unseen. No time is judged."""

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree

import apart
import numpy as np
import pytest

from gpupy._bench import catalogue, command, difference, drivers, small

SVG = "{http://www.w3.org/2000/svg}"


def bench(folder, *options):
    """Starts the command as a person does, with its files in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "gpupy", "bench", *options],
        cwd=folder,
        env=drivers.environment(),
        capture_output=True,
        text=True,
        timeout=10 * apart.LIMIT,
    )


@pytest.mark.parametrize("name", [name for name in apart.STARTING if name != "gl"])
def test_every_program_is_timed_and_right_and_both_files_are_written(tmp_path, name):
    done = bench(tmp_path, "--driver", name, "--quick", "--rounds", "1", "--json", "times.json")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    results = json.loads((tmp_path / "times.json").read_text())
    (seen,) = results["drivers"]
    wanted = [f"2.5*x + y, {n}" for n in results["sizes"]] + results["programs"]
    assert [row["program"] for row in seen["rows"]] == wanted
    assert len(results["programs"]) == 17
    for row in seen["rows"]:
        assert f"| {row['program']} " in done.stdout
        assert all(len(row[side]) == 1 and row[side][0] > 0 for side in ("numpy_s", "left_s", "read_s"))
    assert seen["costs"]["new_s"] > 0
    picture = xml.etree.ElementTree.parse(tmp_path / "gpupy-bench.svg").getroot()
    # A dot for each size and each program, and one for the driver's name.
    assert len(picture.findall(f"{SVG}circle")) == len(wanted) + 1


@pytest.mark.parametrize(
    "options, said",
    [
        (["--driver", "vulcan"], "there is no driver `vulcan`; there are cpu, vulkan, wgpu, gl, soft"),
        (["--rounds", "0"], "--rounds must be at least 1, got 0"),
        (["--rounds", "x"], "invalid int value: 'x'"),
        (["--sizes", "10,0"], "--sizes takes positive numbers with commas between, got `10,0`"),
        (["--sizes", "-3"], "--sizes"),
        (["--programs", "life,tetris"], "no program has `tetris` in its name; there are: distance map"),
        (["--out", "nowhere/a.svg"], "there is no folder"),
        (["--json", "."], "`.` is a folder; give the name of a file"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_a_wrong_option_is_named_before_anything_runs(tmp_path, options, said):
    done = bench(tmp_path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_size_without_memory_is_left_out_and_said(tmp_path):
    done = bench(
        tmp_path, "--driver", "cpu", "--sizes", "1,1000000000000", "--programs", "none", "--rounds", "1"
    )
    assert done.returncode == 0, done.stderr
    assert "Skipped: 2.5*x + y, 10¹²: it takes" in done.stdout
    assert "| 2.5*x + y, 1 " in done.stdout


def test_a_driver_that_cannot_start_is_left_out_and_said(monkeypatch, tmp_path, capsys):
    rows = [{"name": "cpu", "starts": True}, {"name": "gl", "starts": False, "reason": "no EGL"}]
    monkeypatch.setattr(command.gpupy, "drivers", lambda: rows)
    status, text = told(monkeypatch, tmp_path, capsys, ("row", ROW), options=[])
    assert status == 0
    assert "Skipped: driver gl, which cannot start: no EGL" in text


ROW = {
    "program": "Life 50²",
    "first_s": 1e-3,
    "numpy_s": [2e-3],
    "left_s": [1e-3],
    "read_s": [1e-3],
    "busy": {"numpy_s": [2e-3], "left_s": [2e-3], "read_s": [2e-3]},
    "fallbacks": 0,
    "fallback_functions": [],
    "difference": 0.0,
    "tolerance": 0.0,
}


def told(monkeypatch, folder, capsys, *said, options=("--driver", "cpu")):
    """The status and the text of the command when the driver's process says this; an exception is raised."""

    def messages(name, task):
        for pair in (("device", "a device"), *said):
            if isinstance(pair, BaseException):
                raise pair
            yield pair

    monkeypatch.setattr(drivers, "messages", messages)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["gpupy", "bench", *options, "--quick", "--rounds", "1"])
    from gpupy import __main__

    status = __main__.main()
    assert (folder / "gpupy-bench.svg").exists()
    out, err = capsys.readouterr()
    return status, out + err


def test_an_interrupt_keeps_what_there_is(monkeypatch, tmp_path, capsys):
    status, text = told(monkeypatch, tmp_path, capsys, ("row", ROW), KeyboardInterrupt())
    assert status == 130
    assert "| Life 50² " in text and "Interrupted" in text


def test_a_wrong_value_is_loud(monkeypatch, tmp_path, capsys):
    status, text = told(monkeypatch, tmp_path, capsys, ("row", ROW | {"difference": 0.25}))
    assert status == 1
    assert "0.2 WRONG |" in text and "WRONG: Life 50² is 0.25 apart" in text


def test_a_failed_program_and_a_driver_that_ends_early_are_said(monkeypatch, tmp_path, capsys):
    failed = {"program": "Life 50²", "error": "ValueError: no"}
    status, text = told(monkeypatch, tmp_path, capsys, ("failed", failed), ("ended", "status -11"))
    assert status == 1
    assert "FAILED: Life 50²: ValueError: no" in text and "FAILED: the rest: status -11" in text


def test_fallbacks_are_named(monkeypatch, tmp_path, capsys):
    row = ROW | {"fallbacks": 2, "fallback_functions": ["roll"]}
    status, text = told(monkeypatch, tmp_path, capsys, ("row", row))
    assert status == 0
    assert "fallbacks: Life 50² calls roll of NumPy" in text


def test_a_process_that_ends_badly_says_why():
    said = list(drivers.messages("nonesuch", {"sizes": [], "programs": [], "quick": True, "rounds": 1}))
    ((kind, words),) = said
    assert kind == "ended"
    assert re.search("status 1: .*nonesuch", words)


@pytest.mark.parametrize(
    "reference, value, apart",
    [
        ([1.0, 4.0], [1.0, 4.0], 0.0),
        ([1.0, 4.0], [1.5, 4.0], 0.125),
        ([np.nan, np.inf, -np.inf], [np.nan, np.inf, -np.inf], 0.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([np.inf, 1.0], [-np.inf, 1.0], np.inf),
        ([0.0], [1e-30], np.inf),
        ([], [], 0.0),
        ([1.0], [[1.0]], np.inf),
    ],
)
def test_the_largest_difference_is_a_part_of_the_largest_value(reference, value, apart):
    assert difference.largest(np.float32(reference), np.float32(value)) == apart


def test_a_dtype_that_is_not_numpys_differs():
    assert difference.largest(np.float32([1]), np.float64([1])) == np.inf


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, wanted in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        progress = command.Progress(2)
        progress.show("cpu: Life 50²: round 1 of 7")
        progress.close()
        assert ("[1/2] cpu: Life 50²" in stream.getvalue()) == wanted
        assert "\n" not in stream.getvalue()


def test_names_are_short_and_no_two_are_equal():
    for quick in (False, True):
        names = [program.name for program in catalogue.catalogue(quick)]
        names += [catalogue.swept(size).name for size in (1, 10, 100, 999)]
        assert len(set(names)) == len(names)
        assert max(map(len, names)) <= 32


def test_importing_gpupy_imports_no_benchmark():
    assert apart.run("import sys; print(any('_bench' in name for name in sys.modules))", "cpu") == ["False"]


def test_small_work_is_timed_and_right(tmp_path):
    done = bench(tmp_path, "--small", "--driver", "cpu", "--rounds", "1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line.startswith("|")]
    for operation in (*small.EXPRESSIONS, *small.STATEMENTS):
        assert rows.count(operation) == len(small.SIZES) + (operation in small.RARER), operation
    assert all(
        rows.count(operation) == 1
        for operation in (*small.LOOPS, *small.RARER)
        if operation not in small.EXPRESSIONS
    )
    assert "wrong" not in done.stdout
