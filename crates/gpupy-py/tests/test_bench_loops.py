"""`benches/loops.py`: its options, its table, and that nothing wrong goes unseen. No time is judged."""

import importlib
import pathlib
import subprocess
import sys

import apart
import numpy as np
import pytest

from gpupy._bench import drivers

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "benches"


MODULES = ("loops", "loop_run", "loop_nodes", "loop_texts")


@pytest.fixture(scope="module")
def scripts():
    """The modules of the benchmark, by name; a module of the tests has one of the names, too."""
    others = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(FOLDER))
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(others)


def loops(*options):
    """Starts the script as a person does."""
    command = [sys.executable, str(FOLDER / "loops.py"), *options]
    return subprocess.run(
        command, env=drivers.environment(), capture_output=True, text=True, timeout=10 * apart.LIMIT
    )


@pytest.mark.parametrize(
    "options, said",
    [
        (["--programs", "heat,tetris"], "no program has `tetris` in its name; there are: "),
        (["--sizes", "10,0"], "--sizes takes positive numbers, got `10,0`"),
        (["--sizes", "4"], "--sizes: the loops need at least 8"),
        (["--steps", "x"], "--steps takes a positive number, got `x`"),
        (["--readings", "end,never"], "there is no reading `never`; there are each, tenth, end"),
        (["--driver", "vulcan"], "there is no driver `vulcan`; there are "),
        (["--nodes", "--programs", "heat"], "no program has `heat` in its name; there are: chain"),
        (["--nodes", "--quick"], "--nodes takes --driver, --programs and --threads alone"),
    ],
)
def test_a_wrong_option_is_told(options, said):
    done = loops(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_row_of_each_reading_is_measured_and_right():
    done = loops("--programs", "heat,rule", "--sizes", "16", "--steps", "20", "--rounds", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1:6] for line in done.stdout.splitlines() if " 16 |" in line]
    read = [(name, reading) for name in ("heat", "rule 30") for reading in ("each", "tenth", "end")]
    assert sorted((row[0].strip(), row[3].strip()) for row in rows) == sorted(read)


@pytest.mark.parametrize("name", ["grids", "cells", "matrices", "rows"])
def test_every_loop_gives_what_numpy_gives(scripts, name):
    texts = [text for text in scripts["loop_run"].TEXTS.values() if text.run.__module__.endswith(name)]
    assert texts
    for text in texts:
        data = [begin(17) for begin in text.begin]
        for every in (0, 3):
            _, *wanted = scripts["loop_run"].run(text, np, data, 13, every)
            _, *got = scripts["loop_run"].run(text, sys.modules["gpupy"], data, 13, every)
            assert scripts["loop_run"].is_right(text, wanted, got), text.name
            assert bool(wanted[1]) == bool(every), text.name


def test_a_wrong_result_is_seen(scripts):
    run = scripts["loop_run"]
    exact, inexact = run.TEXTS["heat"], run.TEXTS["leapfrog"]
    one = np.ones(3)
    assert run.is_right(exact, ([one], [1.0]), ([one.copy()], [1.0]))
    assert not run.is_right(exact, ([one], [1.0]), ([one], [1.0 + 2**-52]))
    assert not run.is_right(exact, ([one], []), ([one.astype("f4")], []))
    assert not run.is_right(exact, ([one], []), ([one[:2]], []))
    assert run.is_right(inexact, ([one], []), ([one * (1 + 2**-52)], []))
    assert not run.is_right(inexact, ([one], []), ([one * (1 + 1e-6)], []))


def test_missed_aims_are_named(scripts):
    task = {"steps": 10}
    for theirs, first, warm, wanted in [
        (2e-3, 5e-3, 2e-3, []),
        (2e-3, 5.1e-3, 2e-3, ["first"]),
        (2e-3, 1e-3, 2.1e-3, ["warm"]),
        (1e-3, 1e-3, 1.1e-3, []),
        (1e-3, 9e-3, 1.2e-3, ["warm", "first"]),
    ]:
        measured = {"numpy": theirs, "first": first, "warm": warm}
        assert scripts["loops"].misses(task, measured) == wanted, measured


def test_a_process_that_fails_is_a_row_that_says_so(scripts):
    options = scripts["loops"].parsed(["--programs", "heat"])
    said = scripts["loops"].started("loop_run.py", {"program": "tetris"}, options)
    assert said == "status 1: KeyError: 'tetris'"
    (*_, remark) = scripts["loops"].cells({"program": "heat", "size": 8, "steps": 1, "reading": "end"}, said)
    assert remark == "FAILED: status 1: KeyError: 'tetris'"


def test_every_kind_of_node_is_right_and_has_so_many_operations(scripts):
    nodes = scripts["loop_nodes"]
    base = sys.modules["gpupy"].linspace(0, 1, nodes.WIDTH)
    for name, kind in nodes.KINDS.items():
        *_, right = nodes.once(kind, 100, base, 1)
        assert right, name
