"""The same program does the same in every process: with cold and full caches, on a busy machine, with pauses.

Each process runs 30 programs, a loop's steps or one evaluation each, and prints what it planned and did:
counts of two runs, fingerprints of results, and the commands of a run that is explained. Only times may
differ.
"""

import hashlib
import json
import os
import subprocess
import sys

import loops
import numpy
import pytest
import test_launches
from test_schedules import steady

import gpupy

STEPS = 25
STARTING = [row["name"] for row in gpupy.drivers() if row["starts"]]
# What is planned and done; which kernels are on disk is no part of it.
COUNTED = (
    *("launches", "instructions", "nodes_walked", "plans_replayed", "flushes_replayed", "blocks_evaluated"),
    *("in_place", "bytes_uploaded", "bytes_downloaded", "automatic_flushes", "flushes_not_kept"),
)
# Emulated GPUs take long: of every kind of program one.
FEW = ("heat", "double_buffer", "gram_schmidt", "relaxation", "means", "three_reductions", "bodies")


def _looped(loop):
    return lambda np: loop(np, STEPS, lambda array: None)


PROGRAMS = {loop.__name__: _looped(loop) for loop in loops.LOOPS} | {
    text.__name__.strip("_"): text for text in test_launches.WRITTEN_HERE
}
# The variants of a process: its environment, and whether another one takes the processor's time.
VARIANTS = {
    "cold caches": ({}, False),
    "full caches": ({}, False),
    "other hashes": ({"PYTHONHASHSEED": "7"}, False),
    "pauses": ({"DETERMINISTIC_SLICE": "1"}, False),
    "a busy machine": ({}, True),
}


def _results(program):
    found = program(gpupy)
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _counted(program):
    """Counts of a run, and the fingerprint of its results."""
    gpupy.reset_stats()
    results = _results(program)
    gpupy.evaluate(*results)
    stats = gpupy.stats()
    read = hashlib.sha256(b"".join(numpy.asarray(array).tobytes() for array in results))
    return {name: stats[name] for name in COUNTED}, read.hexdigest()


def _done(program):
    """What two runs of a program did, and the commands of one more."""
    counts = [_counted(program) for _ in range(2)]
    return counts, steady(str(gpupy.explain(*_results(program))))


def child(driver):
    """Prints what each program does on a driver."""
    limits = {"slice": 0.0} if os.environ.get("DETERMINISTIC_SLICE") else {}
    gpupy._gpupy.reconfigure(driver, strict=True, **limits)
    names = PROGRAMS if driver in ("cpu", "soft") else FEW
    print(json.dumps({name: _done(PROGRAMS[name]) for name in names}))


def _process(driver, variables, folder):
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder), MESA_SHADER_CACHE_DIR=str(folder)) | variables
    script = f"import test_deterministic as tests\ntests.child({driver!r})"
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=os.path.dirname(__file__),
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.parametrize("driver", STARTING)
def test_a_program_does_the_same_in_every_process(driver, tmp_path):
    known = None
    for variant, (variables, is_busy) in VARIANTS.items():
        beside = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if is_busy else None
        try:
            found = json.loads(_process(driver, variables, tmp_path))
        finally:
            if beside:
                beside.kill()
                beside.wait()
        known = known or found
        assert len(found) == len(PROGRAMS) or driver not in ("cpu", "soft")
        for name, done in found.items():
            assert done == known[name], f"{name}: {variant}"


def test_there_are_thirty_programs():
    assert len(PROGRAMS) >= 30
